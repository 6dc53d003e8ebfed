#include "models/zerocopy/share.h"

#include <math.h>

double share_outstanding(double bytes_per_s, double request_bytes, double round_trip_s)
{
    return bytes_per_s / request_bytes * round_trip_s;
}

double share_of_gpu(double outstanding, double warps_per_sm, double sms, int whole)
{
    double needed = outstanding / warps_per_sm;
    return (whole ? ceil(needed) : needed) / sms;
}

double share_copy_break_even_bytes(double setup_s, double bytes_per_s)
{
    return setup_s * bytes_per_s;
}
