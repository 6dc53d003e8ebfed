/* A program's traffic by launch, without time, on platform gv100 with 80 multiprocessors; and how long that takes.
 * usage: functional SPEC [LAUNCHES [to-the-end|in-turn]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/base/platform.h"
#include "models/gpu/functional.h"
#include "trace/workloads/workload.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double share(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static int print(void *ctx, uint32_t number, const struct program_launch *l, const struct functional_counts *c,
                 struct err *err)
{
    (void)err;
    uint64_t *instructions = ctx;
    *instructions += c->instructions;
    printf("%4u %-18s %9llu %6.2f %6.3f %9llu %9llu %8llu %6.3f %9llu %8llu %9llu %5.1f\n", number, l->kernel,
           (unsigned long long)c->loads, share(c->load_sectors, c->loads), share(c->hits, c->load_sectors),
           (unsigned long long)c->reads, (unsigned long long)c->writes, (unsigned long long)c->atomics,
           share(c->read_hits, c->reads + c->atomics), (unsigned long long)c->dram_reads,
           (unsigned long long)c->lines_back, (unsigned long long)c->sectors_back, c->camp);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = {""};
    struct workload w;
    struct program program;
    struct platform *platform = platform_load("gv100", &err);
    const char *spec = argc > 1 ? argv[1] : "triad,bytes=48MiB,blocks=4096";
    if (!platform || workload_open(&w, spec, &err) || w.type->program(w.state, &program, &err)) {
        printf("functional %-28s %s\n", spec, err.msg);
        return 1;
    }
    struct l2_shape l2 = {.bytes = 6 << 20,
                          .ways = 24,
                          .slices = 64,
                          .slice_bits = 0x3f00,
                          .hash = L2_HASH_IPOLY,
                          .misses = 192,
                          .merges = 4};
    uint64_t instructions = 0;
    struct functional how = {.gpu = platform_section_get(platform, "gpu"),
                             .program = &program,
                             .sms = 80,
                             .l2 = &l2,
                             .channel_bits = 0x1f00,
                             .stretch = 20000,
                             .launches = argc > 2 ? (uint64_t)atoll(argv[2]) : 0,
                             .to_the_end = argc > 3 && strcmp(argv[3], "to-the-end") == 0,
                             .in_turn = argc > 3 && strcmp(argv[3], "in-turn") == 0,
                             .launch = print,
                             .ctx = &instructions};
    printf("   # kernel                 loads sec/ld L1 hit     reads    writes  atomics L2 hit DRAM reads lines back  "
           "sectors  camp\n");
    double start = seconds();
    if (functional_run(&how, &err)) {
        printf("functional %-28s %s\n", spec, err.msg);
        return 1;
    }
    double spent = seconds() - start;
    printf("functional %-28s %.2f M instructions/s\n", spec, 1e-6 * (double)instructions / spent);
    workload_close(&w);
    platform_free(platform);
    return 0;
}
