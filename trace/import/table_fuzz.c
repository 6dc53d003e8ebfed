/* Any bytes as a table of a profiler's, with named and with numbered columns: a trace or an error, never a crash. */
#include "trace/base/param_value.h"

#include "trace/import/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const columns[] = {"[time=t,dur=d,addr=a,kind=k,name=k,bytes=b]",
                                          "time=1,addr=2..,kind=3,device=2"};
    char options[256]; /* the reader's own */
    struct err err;
    fuzzing_read(&read_table, "/nowhere/fuzz", NULL, data, n);
    for (int i = 0; i < 2; i++) {
        param_defaults(read_table.options, options);
        if (read_table.options_size > sizeof options ||
            param_set(read_table.options, options, "columns", columns[i], &err) ||
            param_set(read_table.options, options, "kinds", "R=DRAM_READ,*=KERNEL", &err) ||
            param_set(read_table.options, options, "time_unit", "us", &err))
            abort();
        fuzzing_read(&read_table, "/nowhere/fuzz", options, data, n);
    }
    return 0;
}
