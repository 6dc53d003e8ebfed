/* One program, one machine, one answer: what unified memory costs is the same whichever engine is asked, the uvm
 * engine, zero-copy's baseline or placement's managed memory. Prints the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/testing.h"

static const char *const programs[] = {"conv2d,n=257",
                                       "fdtd2d,n=129,steps=2",
                                       "bicg,n=500",
                                       "nw,bytes=2MiB",
                                       "triad,bytes=6MiB",
                                       "stencil,n=300",
                                       "strided,bytes=2MiB",
                                       "array,bytes=6MiB",
                                       "rodinia-btree,n=3000,fan=17,queries=9,ranges=7",
                                       "rodinia-lavamd,boxes=3",
                                       "rodinia-nw,n=256",
                                       "rodinia-lud,n=128",
                                       "rodinia-nn,n=5120",
                                       "rodinia-pathfinder,cols=1024,rows=6",
                                       "rodinia-gaussian,n=64,iterations=3",
                                       "rodinia-hotspot,n=128,iterations=6",
                                       "rodinia-bfs,n=3000",
                                       "rodinia-streamcluster,n=700,dim=7,launches=2",
                                       "rodinia-backprop,n=496",
                                       "rodinia-srad-v2,rows=64,cols=48,iterations=1",
                                       "bfs,scale=10,roots=2",
                                       "bfs,scale=10,roots=1,kernel=naive,element=4",
                                       "cc,scale=8,kernel=merged",
                                       "sssp,scale=8,roots=2,weights=1:9,kernel=merged",
                                       "pagerank,scale=8,kernel=merged,iterations=3",
                                       "gather,count=300,table_rows=4000,row_bytes=512"};
/* Every one has [uvm] and [pcie]; [placement] is made up: no GPU with a link of its own has it. */
static const char *const platforms[] = {"v100", "titanv", "a100", "h200", "rtx3090", "titanxp"};
/* Prefetcher and eviction as each engine takes them, and settings that all of them have. */
static const struct {
    const char *paging, *sets;
} ways[] = {{"tree", NULL},
            {"tree", "oversubscription_pct=150"},
            {"none+random:seed=2", "oversubscription_pct=150"},
            {"fixed:granularity=64KiB", "advise=all:read-mostly,copy_engines=1"}};
enum {
    PROGRAMS = sizeof programs / sizeof *programs,
    PLATFORMS = sizeof platforms / sizeof *platforms,
    WAYS = sizeof ways / sizeof *ways
};

struct answer {
    double time_ns, h2d_bytes, d2h_bytes;
};

static double value(const struct replay_result *r, const char *name)
{
    const struct metric_value *v = outcome_get(&r->runs[0], name);
    ck_assert_msg(v && v->known && !v->interval, "%s is unknown", name);
    return v->real;
}

static struct answer ask(const char *engine, const char *policy, const char *const *sets, size_t set_count,
                         const struct input *input, const char *platform)
{
    struct err err = {""};
    struct replay_result result;
    bool usage;
    struct replay_request request = {.engine = engine_find(engine),
                                     .platform = platform,
                                     .policy_list = policy,
                                     .sets = sets,
                                     .set_count = set_count,
                                     .inputs = input,
                                     .input_count = 1,
                                     .threads = 2};
    ck_assert_msg(replay_run(&request, &result, &usage, &err) == 0, "%s: %s: %s", engine, input->spec, err.msg);
    bool roots = strcmp(engine, "zerocopy") == 0; /* whose numbers are means */
    double by = roots ? value(&result, "roots") : 1;
    struct answer a = {value(&result, "time_ns") * by, value(&result, "h2d_bytes") * by,
                       value(&result, "d2h_bytes") * by};
    replay_release(&result);
    return a;
}

/* The largest difference in % of the smallest. */
static double spread(double a, double b, double c)
{
    double low = fmin(a, fmin(b, c)), high = fmax(a, fmax(b, c));
    return low > 0 ? 100 * (high / low - 1) : high > 0 ? INFINITY : 0;
}

static double returned; /* bytes from the GPU, of all rows: some must be */

/* Returns the largest spread of time and of the bytes both ways. */
static double compare(const struct input *input, const char *file, const char *platform, int way)
{
    char paging[128];
    const char *given = ways[way].sets;
    const char *sets[] = {"cut=1000", paging, given};
    const char *uvm = testing_text("uvm:paging=[%s]", ways[way].paging);
    (void)snprintf(paging, sizeof paging, "paging=[%s]", ways[way].paging);
    size_t n = given != NULL;
    struct answer u = ask("uvm", ways[way].paging, &given, n, input, file);
    struct answer z = ask("zerocopy", uvm, &given, n, input, file);
    struct answer p = ask("placement", "managed", sets, 2 + n, input, file);
    double time = spread(u.time_ns, z.time_ns, p.time_ns), in = spread(u.h2d_bytes, z.h2d_bytes, p.h2d_bytes),
           out = spread(u.d2h_bytes, z.d2h_bytes, p.d2h_bytes);
    (void)printf("%-62s %-8s %-24s %10.1f %10.1f %10.1f %6.2f %8.0f %6.2f %8.0f %6.2f\n", input->spec, platform,
                 ways[way].paging, u.time_ns / 1e3, z.time_ns / 1e3, p.time_ns / 1e3, time, u.h2d_bytes / 1024, in,
                 u.d2h_bytes / 1024, out);
    returned += u.d2h_bytes;
    return fmax(time, fmax(in, out));
}

/* The worst of all programs on a platform, each under one of the ways in turn. */
static double compare_all(const char *platform, int turn)
{
    char text[256];
    const char *name = testing_text("%s.ini", platform);
    int n = snprintf(text, sizeof text,
                     "[platform]\nname = %s-placed\nbase = %s\nsummary = made up\n[placement]\nas = tx2 | 0.5..2: made "
                     "up\n",
                     platform, platform);
    const char *path = testing_text("%s", testing_write(name, text, (size_t)n));
    double worst = 0;
    for (int i = turn % testing_step(); i < PROGRAMS; i += testing_step()) {
        struct input input;
        WORKS(input_open(&input, testing_text("synth:%s", programs[i]), "", false, &err));
        worst = fmax(worst, compare(&input, path, platform, (i + turn) % WAYS));
        input_close(&input);
    }
    return worst;
}

START_TEST(every_engine_says_the_same_of_unified_memory)
{
    double worst = 0;
    (void)printf("%-62s %-8s %-24s %10s %10s %10s %6s %8s %6s %8s %6s\n", "program", "platform", "paging", "uvm, us",
                 "zerocopy", "placement", "%", "KiB in", "%", "KiB out", "%");
    for (int i = 0; i < PLATFORMS; i++)
        worst = fmax(worst, compare_all(platforms[i], i));
    (void)printf("at most %.2f %%\n", worst);
    (void)fflush(stdout);
    ck_assert_double_le(worst, 2);
    ck_assert(testing_step() > 1 || returned > 0);
}
END_TEST

TEST_MAIN("one_answer")
