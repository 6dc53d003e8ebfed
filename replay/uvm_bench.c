/* Speed of the unified-memory engine: page touches a second on one core, memory, and growth from 1 to 8 GiB. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "models/platform.h"
#include "replay/uvm_simulate.h"
#include "trace/workloads/workload.h"

static long peak_kib(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static int bench(const struct platform *platform, const char *name, int gib, const char *policy, int64_t pct)
{
    struct err err = {""};
    struct workload w;
    char spec[64];
    (void)snprintf(spec, sizeof spec, "%s,bytes=%dGiB", name, gib);
    if (workload_open(&w, spec, &err)) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return -1;
    }
    struct uvm_run run = {.ops = w.type->ops,
                          .state = w.state,
                          .gpu = platform_section_get(platform, "gpu"),
                          .platform = platform_section_get(platform, "uvm"),
                          .policy = uvm_policy_find(policy),
                          .oversubscription_pct = pct};
    struct uvm_metrics m;
    int rc = uvm_simulate(&run, &m, &err);
    if (rc)
        (void)fprintf(stderr, "%s\n", err.msg);
    else
        printf("%-7s %2d GiB  %-6s %4lld %%  %7.1f M touches  %6.2f s  %6.0f M touches/s  %8llu batches  %5ld KiB\n",
               name, gib, policy, (long long)pct, (double)m.touches / 1e6, m.seconds,
               (double)m.touches / 1e6 / m.seconds, (unsigned long long)m.batches, peak_kib());
    workload_close(&w);
    return rc;
}

int main(void)
{
    static const char *const names[] = {"conv2d", "fdtd2d", "bicg", "nw"};
    struct err err = {""};
    struct platform *platform = platform_load("titanv", &err);
    if (!platform) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    int rc = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++)
        for (int gib = 1; gib <= 8 && !rc; gib *= 2)
            rc = bench(platform, names[i], gib, "tree", 0);
    puts("oversubscribed:");
    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++)
        rc = bench(platform, names[i], i == 3 ? 4 : 8, "tree", i == 3 ? 150 : 200);
    platform_free(platform);
    return rc != 0;
}
