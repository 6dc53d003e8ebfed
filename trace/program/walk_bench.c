/* The walk of programs: warp accesses a second of CPU time, to a taker that adds up what it is given; one block after
 * the other, and in waves of 640 blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

static const char *const specs[] = {
    "conv2d,n=4096",
    "fdtd2d,n=2048,steps=1",
    "bicg,n=8192",
    "bicg,n=8192,kernel=1",
    "nw,bytes=64MiB",
    "triad,bytes=768MiB,blocks=256",
    "array,bytes=512MiB,offset=3",
    "array,bytes=512MiB,element=16,unroll=4",
    "array,bytes=128GiB,pattern=random",
    "array,bytes=64GiB,pattern=chunk,blocks=64",
    "array,bytes=32GiB,pattern=chunk-random,blocks=64",
    "bfs,scale=16,roots=1,kernel=merged",
    "bfs,scale=16,roots=1,kernel=naive",
    "pagerank,scale=13,iterations=1,kernel=naive",
    "gather,count=200000,table_rows=1000000",
};

static uint64_t waves(const void *ctx, const struct program_launch *launch)
{
    (void)ctx;
    return launch->cpu ? 0 : 640;
}

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    uint64_t *sum = ctx;
    (void)err;
    for (int i = 0; i < op->lines; i++)
        *sum += op->line[i].addr ^ op->line[i].sectors;
    return 0;
}

static void run(const char *spec)
{
    static const struct program_taker taker = {.op = take};
    struct workload w;
    struct program program;
    struct err err = {""};
    if (workload_open(&w, spec, &err) || w.type->program(w.state, &program, &err)) {
        (void)fprintf(stderr, "walk_bench: %s: %s\n", spec, err.msg);
        exit(1);
    }
    printf("walk %-48s", spec);
    for (int how = 0; how < 2; how++) {
        const struct program_walk order = {.resident = how ? waves : NULL};
        struct program_counts counts;
        uint64_t sum = 0;
        const clock_t start = clock();
        if (program_walk(&program, &order, &taker, &sum, &counts, &err))
            exit(1);
        const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf(" %6.1f M accesses/s %s", (double)counts.instructions / s / 1e6, how ? "in waves" : "serially,");
        if (how)
            printf(" (%.1f M, check %08x)", (double)counts.instructions / 1e6, (unsigned)(sum ^ sum >> 32));
    }
    printf("\n");
    workload_close(&w);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof specs / sizeof *specs; i++)
        run(specs[i]);
    return 0;
}
