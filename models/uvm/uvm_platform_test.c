#include "models/uvm/uvm_platform.h"

#include "models/base/sections.h"
#include "trace/base/testing.h"

/* The GPU's and the link's own; a new time of [uvm] is one of these, or the CPU's. */
static const char *const gpu[] = {"fault_gap_ns", "gpu_fault_gap_ns", "walk_gap_ns",     "walk_ns",
                                  "fresh_ns",     "copy_run_ns",      "trace_record_ns", NULL};

static bool is_gpus(const char *name)
{
    size_t i = 0;
    while (gpu[i] && strcmp(gpu[i], name) != 0)
        i++;
    return gpu[i] != NULL;
}

/* Numbers of every row that are told apart: 10, 11, ... */
static struct uvm_platform numbered(double host)
{
    struct uvm_platform p;
    double value = 10;
    memset(&p, 0, sizeof p);
    for (const struct param *row = uvm_platform_params; row->name; row++)
        param_put_number(row, &p, row->type == PARAM_CHOICE ? 1 : value++);
    p.host = host;
    return p;
}

START_TEST(the_hosts_number_moves_the_cpus_times_and_no_other)
{
    static const double hosts[] = {1, 0.4, 3};
    for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++) {
        const struct uvm_platform stated = numbered(hosts[h]), here = uvm_platform_on_host(&stated);
        ck_assert_double_eq(here.host, 1);
        for (const struct param *row = uvm_platform_params; row->name; row++) {
            const bool cpu = strcmp(row->unit, "ns") == 0 && !is_gpus(row->name);
            if (strcmp(row->name, "host") != 0)
                ck_assert_msg(param_number(row, &here) == param_number(row, &stated) * (cpu ? hosts[h] : 1),
                              "%s: is it the CPU's? Add it to uvm_platform_on_host(), or to the GPU's here", row->name);
        }
    }
}
END_TEST

TEST_MAIN("uvm_platform")
