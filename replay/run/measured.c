#include "replay/run/measured.h"

#include <stddef.h>
#include <string.h>

#include "replay/run/measured_errors.h"

static double row_error(const char *mechanism, const char *platform)
{
    for (size_t i = 0; i < sizeof measured_rows / sizeof *measured_rows; i++)
        if (strcmp(measured_rows[i].mechanism, mechanism) == 0 && strcmp(measured_rows[i].platform, platform) == 0)
            return measured_rows[i].error;
    return 0;
}

double measured_error(const char *mechanism, const char *platform)
{
    const double own = mechanism && platform ? row_error(mechanism, platform) : 0;
    return own > 0 || !mechanism ? own : row_error(mechanism, "all");
}
