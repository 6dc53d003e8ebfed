/* What is said of a recording, against the closed loop that it is of: every program, small, runs under every policy, is
 * recorded as `replay --recording` does, and the recording is asked about every policy. What stands as a number must be
 * the closed loop's, every interval must hold it; what has no bound says so. Prints how often each happened.
 * OFFCHIP_RECORDED=all takes every program recorded under every policy, OFFCHIP_RECORDED=NAME those whose name holds
 * NAME; without it every second program is taken, recorded under three policies in turn. */
#include <math.h>

#include "replay/run/engine.h"
#include "replay/uvm/uvm_recorded.h"
#include "trace/base/testing.h"
#include "trace/store/writer.h"

static const char *const programs[] = {"array,bytes=9MiB,blocks=16",
                                       "conv2d,n=700",
                                       "fdtd2d,n=300,steps=2",
                                       "bicg,n=1024",
                                       "nw,bytes=3MiB",
                                       "triad,bytes=5MiB,unroll=4",
                                       "strided,bytes=4000000,chunk=33,threads=100",
                                       "array,bytes=24MiB,pattern=random,blocks=64",
                                       "array,bytes=16MiB,pattern=sparse,pages_per_block=9",
                                       "array,bytes=4MiB,pattern=chain,step=5000",
                                       "array,bytes=8MiB,pattern=chunk,blocks=2,threads=64,launches=2",
                                       "array,bytes=8MiB,pattern=chunk-random,blocks=2,threads=64",
                                       "array,bytes=3MiB,offset=77,element=8",
                                       "array,bytes=6MiB,host=0",
                                       "stencil,n=700",
                                       "rodinia-nw,n=400",
                                       "rodinia-lud,n=384",
                                       "rodinia-srad-v1,rows=200,columns=121,iterations=2",
                                       "rodinia-nn,n=50000",
                                       "rodinia-pathfinder,cols=8000,rows=12",
                                       "rodinia-gaussian,n=400,iterations=2",
                                       "rodinia-hotspot,n=300,iterations=4",
                                       "rodinia-bfs,n=30000",
                                       "rodinia-streamcluster,n=3000,dim=17,launches=2",
                                       "rodinia-btree,n=50000,fan=17,queries=40,ranges=17",
                                       "rodinia-lavamd,boxes=3",
                                       "rodinia-hotspot3d,nx=128,ny=64,nz=7,iterations=2",
                                       "rodinia-srad-v2,rows=256,cols=256,iterations=1",
                                       "rodinia-backprop,n=9600",
                                       "rodinia-kmeans,n=7000,features=16,clusters=2,iterations=2",
                                       "rodinia-cfd,n=5000,iterations=1",
                                       "rodinia-huffman,blocks=16,runs=2,sms=2",
                                       "rodinia-dwt2d,width=400,height=300,levels=2",
                                       "rodinia-heartwall,template=3,area=7,points=3,frames=4",
                                       "rodinia-mummergpu,bases=30000,queries=1300",
                                       "bfs,scale=12,roots=2",
                                       "cc,scale=11,kernel=merged",
                                       "sssp,scale=11,roots=2,weights=1:9,kernel=merged",
                                       "pagerank,scale=11,kernel=merged,iterations=3",
                                       "gather,count=900,table_rows=4000,row_bytes=1000"};

#define POLICIES                                                                                                       \
    "tree,tree:threshold=20,tree:threshold=100,none,fixed:granularity=64KiB,fixed:granularity=2MiB,adaptive,"          \
    "adaptive-literal,stride,markov"

enum { POLICY_COUNT = 10 };
static const char *const policies[POLICY_COUNT] = {"tree",     "tree:threshold=20",       "tree:threshold=100",
                                                   "none",     "fixed:granularity=64KiB", "fixed:granularity=2MiB",
                                                   "adaptive", "adaptive-literal",        "stride",
                                                   "markov"};

static struct counts {
    uint64_t numbers, intervals, open, unknown, refused;
    double width; /* of intervals: 1 - lower / upper end, summed */
} counts;

static const struct engine *uvm_engine(void)
{
    return engine_find("uvm");
}

static struct replay_result run(const struct input *input, const char *policy_list, const char *set,
                                const struct replay_recording *recording, const struct input *touches)
{
    struct replay_result result;
    struct err err = {""};
    bool usage;
    struct replay_request request = {.engine = uvm_engine(),
                                     .platform = "titanv",
                                     .policy_list = policy_list,
                                     .sets = &set,
                                     .set_count = set != NULL,
                                     .inputs = input,
                                     .input_count = 1,
                                     .threads = 1,
                                     .recording = recording,
                                     .touches = touches};
    ck_assert_msg(replay_run(&request, &result, &usage, &err) == 0, "%s, %s: %s", input->spec, policy_list, err.msg);
    return result;
}

/* Whether a run says that a metric has no bound. */
static bool is_open(const struct outcome *o, const char *metric)
{
    for (size_t n = 0; n < o->note_count; n++) {
        const char *list = o->notes[n];
        if (strncmp(list, UVM_NO_BOUND, strlen(UVM_NO_BOUND)) != 0)
            continue;
        list += strlen(UVM_NO_BOUND);
        const char *end = strchr(list, ':'), *found = strstr(list, metric);
        size_t length = strlen(metric);
        if (found && found < end && (found[length] == ',' || found[length] == ':'))
            return true;
    }
    return false;
}

/* One answer against the closed loop. */
static void compare(const char *what, const struct outcome *answer, const struct outcome *truth)
{
    bool none = true;
    for (size_t m = 0; m < answer->count; m++) {
        const struct metric_value *v = &answer->values[m], *t = &truth->values[m];
        const char *name = answer->metrics[m].name;
        none &= !v->known && !v->interval;
        if (strcmp(name, "speedup_ratio") == 0) { /* of an exact run to another, or 1 */
            ck_assert_msg(!v->known || v->real == 1 || is_open(answer, name), "%s: a speed-up of %g", what, v->real);
            continue;
        }
        if (is_open(answer, name)) {
            ck_assert_msg(v->known && !v->interval, "%s: %s is said to have no bound, and has one", what, name);
            counts.open++;
        } else if (v->interval) {
            ck_assert_msg(!t->known || (v->lo <= t->real * (1 + 1e-12) && t->real <= v->hi * (1 + 1e-12)),
                          "%s: %s is %.9g, outside of [%.9g, %.9g]", what, name, t->real, v->lo, v->hi);
            counts.intervals++;
            counts.width += v->hi > 0 ? 1 - v->lo / v->hi : 0;
        } else if (v->known) {
            ck_assert_msg(!t->known || fabs(v->real - t->real) <= 1e-12 * fabs(t->real), "%s: %s is %.9g, not %.9g",
                          what, name, t->real, v->real);
            counts.numbers++;
        } else {
            counts.unknown++;
        }
    }
    counts.refused += none;
}

static void compare_all(const char *program, const char *recorded, const struct input *input,
                        const struct replay_result *truth)
{
    struct replay_result answers = run(input, POLICIES, NULL, NULL, NULL);
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        char what[256];
        (void)snprintf(what, sizeof what, "%s recorded under %s, asked about %s", program, recorded, policies[p]);
        compare(what, &answers.runs[p], &truth[p].runs[0]);
    }
    replay_release(&answers);
}

/* As CUPTI's rows have it: no allocations. */
static struct store *without_allocations(struct store *from)
{
    struct err err = {""};
    struct store *to = store_create_memory(&err);
    struct writer w;
    const struct record *records;
    size_t n;
    int stream = writer_stream(to, "uvm", TIME_NS, NULL, 0, &err);
    ck_assert_int_eq(writer_open(&w, to, stream, 0, &err), 0);
    struct store_cursor *cursor = store_cursor_open(from, store_stream_find(from, "uvm"), &err);
    while (store_cursor_next(cursor, &records, NULL, &n, &err) > 0)
        for (size_t i = 0; i < n; i++)
            if (records[i].kind != RECORD_ALLOC)
                ck_assert_int_eq(writer_add(&w, &records[i], NULL, &err), 0);
    store_cursor_close(cursor);
    ck_assert_int_eq(writer_flush(&w, &err), 0);
    writer_close(&w);
    ck_assert_int_eq(store_origin(to, "simulated.policy", store_origin_get(from, "simulated.policy"), &err), 0);
    ck_assert_int_eq(store_flush(to, &err), 0);
    return to;
}

/* One program under all policies; recorded under the first `recorded_under` of them, beginning at `first`. */
static void check_program(const char *program, size_t first, size_t recorded_under)
{
    char spec[160];
    struct input input = {0};
    struct err err = {""};
    struct replay_result truth[POLICY_COUNT];
    struct store *stores[POLICY_COUNT];
    (void)snprintf(spec, sizeof spec, "synth:%s", program);
    ck_assert_msg(input_open(&input, spec, "", false, &err) == 0, "%s", err.msg);
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        stores[p] = store_create_memory(&err);
        ck_assert_msg(stores[p] != NULL, "%s", err.msg);
        truth[p] = run(&input, policies[p], NULL, &(struct replay_recording){.store = stores[p]}, NULL);
        ck_assert_int_eq(store_flush(stores[p], &err), 0);
    }
    for (size_t i = 0; i < recorded_under; i++) {
        size_t p = (first + i) % POLICY_COUNT;
        struct input recording = {.spec = "recording", .store = stores[p]};
        const struct metric_value *moved = outcome_get(&truth[p].runs[0], "h2d_bytes");
        if (moved->real == 0)
            continue; /* nothing to be recorded: no migration */
        compare_all(program, policies[p], &recording, truth);
        recording.store = without_allocations(stores[p]);
        compare_all(program, policies[p], &recording, truth);
        store_close(recording.store);
    }
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        replay_release(&truth[p]);
        store_close(stores[p]);
    }
    input_close(&input);
}

START_TEST(every_answer_holds_the_closed_loop)
{
    const char *wanted = getenv("OFFCHIP_RECORDED");
    bool all = wanted && strcmp(wanted, "all") == 0;
    size_t n = sizeof programs / sizeof *programs;
    for (size_t i = 0; i < n; i++)
        if (wanted ? all || strstr(programs[i], wanted) : i % 2 == 0)
            check_program(programs[i], i, wanted ? POLICY_COUNT : 3);
    uint64_t given = counts.numbers + counts.intervals + counts.open;
    printf(
        "recordings: %.1f %% numbers, %.1f %% intervals (mean width %.2f of the upper end), %.1f %% without a bound; "
        "%llu answers refused; %llu values not given\n",
        100.0 * (double)counts.numbers / (double)given, 100.0 * (double)counts.intervals / (double)given,
        counts.width / (double)counts.intervals, 100.0 * (double)counts.open / (double)given,
        (unsigned long long)counts.refused, (unsigned long long)counts.unknown);
    ck_assert_uint_gt(counts.numbers, 0);
    ck_assert_uint_gt(counts.intervals, 0);
}
END_TEST

TEST_MAIN("uvm_recorded_property", every_answer_holds_the_closed_loop)
