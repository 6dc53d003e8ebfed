/* Any bytes as format csv, ours and another tool's: a trace or an error, never a crash. */
#include "trace/base/param_value.h"

#include "trace/import/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char columns[] = "[time=t,dur=d,addr=a,kind=k,extra:x=x]", kinds[] = "R=DRAM_READ,K=KERNEL";
    char options[256] = {0}; /* the reader's own */
    struct err err;
    fuzzing_read(&read_csv, "/nowhere/fuzz", NULL, data, n);
    param_defaults(read_csv.options, options);
    if (read_csv.options_size > sizeof options || param_set(read_csv.options, options, "columns", columns, &err) ||
        param_set(read_csv.options, options, "kinds", kinds, &err) ||
        param_set(read_csv.options, options, "time_unit", "us", &err))
        abort();
    fuzzing_read(&read_csv, "/nowhere/fuzz", options, data, n);
    return 0;
}
