/* What is said of a recording, against the closed loop that it is of: every program, small, runs under every policy, is
 * recorded as `replay --recording` does, and the recording is asked about every policy. Of its own policy what is no
 * estimate must be the closed loop's; of another everything is marked as an estimate; what fault service leaves of the
 * kernels is no more than any policy takes; with touches beside, all is the closed loop's.
 * OFFCHIP_RECORDED=all takes every program recorded under every policy, OFFCHIP_RECORDED=NAME those whose name holds
 * NAME; without it every fourth program is taken, recorded under two policies in turn. */
#include <math.h>

#include "replay/run/engine.h"
#include "replay/uvm/random_actors_testing.h"
#include "replay/uvm/uvm_managed.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/testing.h"
#include "trace/event/actor.h"
#include "trace/program/pages.h"
#include "trace/store/store.h"

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

/* Every policy, and settings of two of them; as one list besides. */
enum { POLICIES_MAX = 64 };
static const char *policies[POLICIES_MAX];
static size_t policy_count;
static char policy_list[2048];

static void list_policies(void)
{
    static const char *const settings[] = {"tree:threshold=20", "tree:threshold=100", "fixed:granularity=64KiB"};
    size_t length = 0;
    for (policy_count = 0; uvm_policy_of(uvm_policies[policy_count]); policy_count++)
        policies[policy_count] = uvm_policies[policy_count]->name;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        policies[policy_count++] = settings[i];
    for (size_t p = 0; p < policy_count; p++)
        length += (size_t)snprintf(policy_list + length, sizeof policy_list - length, p ? ",%s" : "%s", policies[p]);
    ck_assert(policy_count <= POLICIES_MAX && length < sizeof policy_list);
}

static struct counts {
    uint64_t exact, estimates, ceilings;
} counts;

static const struct engine *uvm_engine(void)
{
    return engine_find("uvm");
}

static struct replay_result run(const struct input *input, const char *list, const char *set,
                                const struct uvm_recording_output *recording, const struct input *touches)
{
    struct replay_result result;
    struct err err = {""};
    bool usage;
    const struct input inputs[] = {*input, touches ? *touches : *input};
    /* A recorder sees kernels, not what lies between them; that a recording's answers read no [launch] is no matter. */
    static const char *const sections[] = {"uvm", "gpu", "launch", NULL};
    const char *sets[] = {"enqueue_ns=0,gap_ns=0,alone_ns=0,launch.wait_ns=0", set};
    struct replay_request request = {.engine = uvm_engine(),
                                     .platform = "titanv",
                                     .policy_list = list,
                                     .sets = sets,
                                     .set_count = set ? 2 : 1,
                                     .set_sections = sections,
                                     .inputs = inputs,
                                     .input_count = touches ? 2 : 1,
                                     .threads = 1,
                                     .engine_options = recording};
    ck_assert_msg(replay_run(&request, &result, &usage, &err) == 0, "%s, %s: %s", input->spec, list, err.msg);
    return result;
}

static bool is_exact(const struct outcome *o)
{
    return o->note_count && strncmp(o->notes[0], "exact:", 6) == 0;
}

/* One answer of a recording against the closed loop. */
static void compare(const char *what, const struct outcome *answer, const struct outcome *truth)
{
    const bool exact = is_exact(answer);
    for (size_t m = 0; m < answer->count; m++) {
        const struct metric_value *v = &answer->values[m], *t = &truth->values[m];
        const char *name = answer->metrics[m].name;
        ck_assert_msg(!v->interval, "%s: %s is an interval", what, name);
        if (!v->known || strcmp(name, "speedup_ratio") == 0) /* of an exact run to another */
            continue;
        counts.exact += !v->unbound;
        counts.estimates += v->unbound;
        ck_assert_msg(exact || v->unbound, "%s: %s is no estimate", what, name);
        ck_assert_msg(v->unbound || !t->known || fabs(v->real - t->real) <= 1e-12 * fabs(t->real),
                      "%s: %s is %.9g, not %.9g", what, name, t->real, v->real);
    }
}

/* An estimate of a kernel's time is one that could be, or none. */
static void parts_could_be(const char *what, const struct outcome *o)
{
    const struct outcome_parts *kernels = &o->parts[OUTCOME_BY_KERNEL];
    for (size_t i = 0; i < kernels->count; i++) {
        const struct metric_value *ns = outcome_get(&kernels->items[i].outcome, "time_ns");
        ck_assert_msg(!ns->known || ns->real >= 0, "%s: %s takes %.0f ns", what, kernels->items[i].name, ns->real);
    }
}

/* Every metric is the closed loop's, but for those that relate two runs. */
static void same(const char *what, const struct outcome *answer, const struct outcome *truth)
{
    for (size_t m = 0; m < answer->count; m++) {
        const struct metric_value *v = &answer->values[m], *t = &truth->values[m];
        if (strcmp(answer->metrics[m].name, "speedup_ratio") != 0)
            ck_assert_msg(v->known == t->known && !v->interval && !v->unbound && v->real == t->real, "%s: %s", what,
                          answer->metrics[m].name);
    }
}

/* The recording alone, asked about all policies; it is exact of the one that it was made under. */
static void compare_all(const char *program, size_t recorded, const struct input *input,
                        const struct replay_result *truth)
{
    struct replay_result answers = run(input, policy_list, NULL, NULL, NULL);
    for (size_t p = 0; p < policy_count; p++) {
        char what[256];
        (void)snprintf(what, sizeof what, "%s recorded under %s (%s), asked about %s", program, policies[recorded],
                       input->spec, policies[p]);
        ck_assert_msg(is_exact(&answers.runs[p]) == (p == recorded), "%s: %s", what, answers.runs[p].notes[0]);
        compare(what, &answers.runs[p], &truth[p].runs[0]);
        parts_could_be(what, &answers.runs[p]);
    }
    replay_release(&answers);
}

/* No policy is faster than what fault service leaves of the recorded kernels, nor than the bytes over the link. */
static void check_ceiling(const char *program, size_t recorded, struct store *store, const struct replay_result *truth)
{
    struct uvm_recording recording;
    WORKS(uvm_recording_load(&recording, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &err));
    const struct uvm_gain gain = uvm_gain_of(&recording, truth[0].platform);
    ck_assert(gain.records && gain.kernel_ns);
    for (size_t p = 0; p < policy_count; p++, counts.ceilings++) {
        const double time = outcome_get(&truth[p].runs[0], "time_ns")->real;
        ck_assert_msg((double)gain.kernel_ns / time <= uvm_gain_most(&gain),
                      "%s recorded under %s gains %.3fx by %s, over %.3fx", program, policies[recorded],
                      (double)gain.kernel_ns / time, policies[p], uvm_gain_most(&gain));
    }
    uvm_recording_release(&recording);
}

/* Touches beside: all of them give the closed loop's numbers, first touches those of the pages. */
static void check_touches(const char *program, const struct input *recording, const struct input *all,
                          const struct input *ones, const struct replay_result *truth)
{
    struct replay_result whole = run(recording, policy_list, NULL, NULL, all),
                         first = run(recording, policy_list, NULL, NULL, ones);
    for (size_t p = 0; p < policy_count; p++) {
        const struct metric_value *v = outcome_get(&first.runs[p], "touched_bytes");
        same(program, &whole.runs[p], &truth[p].runs[0]);
        ck_assert(v->known && !v->unbound && v->real == outcome_get(&truth[p].runs[0], "touched_bytes")->real);
        ck_assert(!outcome_get(&first.runs[p], "time_ns")->unbound);
    }
    replay_release(&whole);
    replay_release(&first);
}

/* As CUPTI's rows have it: no allocations. */
static struct store *without_allocations(struct store *from)
{
    struct err err = {""};
    struct store *to = store_create_temporary(":memory:", &err);
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

/* The program's touches as `synth -o` writes them. */
static struct store *all_touches(const struct input *input)
{
    struct program program;
    struct program_pages *pages = calloc(1, sizeof *pages);
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    WORKS(input->workload.type->program(input->workload.state, &program, &err));
    WORKS(program_pages_init(pages, &program, NULL, &err));
    WORKS(touches_write(store, &program_pages_ops, pages, NULL, NULL, &err));
    WORKS(store_finish(store, &err));
    free(pages);
    return store;
}

enum { PAGES = 1 << 16 }; /* of a launch, reads and writes apart; at most half of it */

/* Whether a key (not 0) is new in the table. */
static bool is_new(uint64_t *table, uint64_t key)
{
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 48), tried = 0;
    for (; table[at] && table[at] != key; at = (at + 1) % PAGES)
        ck_assert_uint_lt(++tried, PAGES / 2);
    bool found = table[at] == key;
    table[at] = key;
    return !found;
}

/* Of these, what `record --touches` keeps: each page's first read and first write in a launch; no actors that matter.
 */
static struct store *first_touches(struct store *from)
{
    struct err err = {""};
    struct store *to = store_create_temporary(":memory:", &err);
    struct writer w;
    const struct record *records;
    size_t n;
    uint64_t *seen = calloc(PAGES, sizeof *seen);
    static const int64_t extras[ACTOR_EXTRAS] = {1, 1, 1};
    int stream = writer_stream(to, "touches", TIME_NONE, actor_extras, ACTOR_EXTRAS, &err);
    ck_assert_int_eq(writer_open(&w, to, stream, ACTOR_EXTRAS, &err), 0);
    struct store_cursor *cursor = store_cursor_open(from, 0, &err);
    while (store_cursor_next(cursor, &records, NULL, &n, &err) > 0)
        for (size_t i = 0; i < n; i++) {
            struct record r = records[i];
            if (r.kind == RECORD_KERNEL)
                memset(seen, 0, PAGES * sizeof *seen);
            if (r.kind == RECORD_TOUCH) {
                if (!r.flags || !is_new(seen, r.addr / UVM_PAGE_BYTES * 2 + (r.flags == RECORD_WRITE) + 1))
                    continue;
                r.id = 0;
                r.time = (int64_t)w.total;
            }
            ck_assert_int_eq(writer_add(&w, &r, extras, &err), 0);
        }
    store_cursor_close(cursor);
    free(seen);
    ck_assert_int_eq(writer_flush(&w, &err), 0);
    writer_close(&w);
    ck_assert_int_eq(store_origin(to, "touches", "each page's first read and first write in a launch", &err), 0);
    ck_assert_msg(store_finish(to, &err) == 0, "%s", err.msg);
    return to;
}

/* Memory is short: without all touches every policy is refused, but the one that an evicting recording is of; with
 * them every answer is the closed loop's. */
static void check_short(const char *program, const struct input *input, struct input *recording,
                        const struct input *all, const struct input *ones)
{
    static const char set[] = "oversubscription_pct=150";
    struct replay_result truth = run(input, policy_list, set, NULL, NULL),
                         answers = run(recording, policy_list, set, NULL, all),
                         first = run(recording, policy_list, set, NULL, ones);
    for (size_t p = 0; p < policy_count; p++) {
        same(program, &answers.runs[p], &truth.runs[p]);
        ck_assert(!outcome_get(&first.runs[p], "faults")->known);
    }
    replay_release(&answers);
    replay_release(&first);
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    struct replay_result evicting = run(input, policies[0], set, &(struct uvm_recording_output){.store = store}, NULL);
    WORKS(store_flush(store, &err));
    struct input evicted = {.spec = "evicting recording", .role = "", .store = store};
    if (outcome_get(&evicting.runs[0], "evictions")->real > 0) {
        answers = run(&evicted, policy_list, NULL, NULL, NULL);
        ck_assert(is_exact(&answers.runs[0]));
        compare(program, &answers.runs[0], &evicting.runs[0]);
        for (size_t p = 1; p < policy_count; p++)
            ck_assert(!outcome_get(&answers.runs[p], "h2d_bytes")->known);
        replay_release(&answers);
    }
    replay_release(&evicting);
    replay_release(&truth);
    store_close(store);
}

/* One program under all policies; recorded under the first `recorded_under` of them, beginning at `first`. */
static void check_input(const char *program, struct input input, struct store *every, size_t first,
                        size_t recorded_under)
{
    struct err err = {""};
    struct replay_result truth[POLICIES_MAX];
    struct store *stores[POLICIES_MAX];
    for (size_t p = 0; p < policy_count; p++) {
        stores[p] = store_create_temporary(":memory:", &err);
        ck_assert_msg(stores[p] != NULL, "%s", err.msg);
        truth[p] = run(&input, policies[p], NULL, &(struct uvm_recording_output){.store = stores[p]}, NULL);
        ck_assert_int_eq(store_flush(stores[p], &err), 0);
    }
    struct store *first_ones = first_touches(every);
    const struct input all = {.spec = "all touches", .role = "touches", .store = every},
                       ones = {.spec = "first touches", .role = "touches", .store = first_ones};
    for (size_t i = 0; i < recorded_under; i++) {
        size_t p = (first + i) % policy_count;
        struct input recording = {.spec = "recording", .role = "", .store = stores[p]};
        const struct metric_value *moved = outcome_get(&truth[p].runs[0], "h2d_bytes");
        if (moved->real == 0)
            continue; /* nothing to be recorded: no migration */
        compare_all(program, p, &recording, truth);
        check_ceiling(program, p, stores[p], truth);
        if (i == 0) {
            check_touches(program, &recording, &all, &ones, truth);
            check_short(program, &input, &recording, &all, &ones);
        }
        recording.store = without_allocations(stores[p]);
        recording.spec = "rows";
        compare_all(program, p, &recording, truth);
        store_close(recording.store);
    }
    store_close(first_ones);
    for (size_t p = 0; p < policy_count; p++) {
        replay_release(&truth[p]);
        store_close(stores[p]);
    }
}

static void check_program(const char *program, size_t first, size_t recorded_under)
{
    char spec[160];
    struct input input = {0};
    (void)snprintf(spec, sizeof spec, "synth:%s", program);
    WORKS(input_open(&input, spec, "", false, &err));
    struct store *every = all_touches(&input);
    check_input(program, input, every, first, recorded_under);
    store_close(every);
    input_close(&input);
}

/* Programs made at random: allocations with edges anywhere, some without data, several launches, phases of the CPU. */
static void check_random(uint64_t seed, size_t recorded_under)
{
    char name[32];
    struct random_actors actors;
    struct store *every = GIVES(store_create_temporary(":memory:", &err));
    (void)snprintf(name, sizeof name, "random %d", (int)seed);
    random_actors_init(&actors, seed, 0);
    WORKS(touches_write(every, &random_actors_ops, &actors, NULL, NULL, &err));
    WORKS(store_finish(every, &err));
    check_input(name, (struct input){.spec = name, .role = "", .store = every}, every, seed, recorded_under);
    store_close(every);
}

START_TEST(every_answer_holds_random_programs)
{
    const char *wanted = getenv("OFFCHIP_RECORDED");
    list_policies();
    uint64_t n = wanted && (strcmp(wanted, "all") == 0 || strcmp(wanted, "random") == 0) ? 200 : 12;
    for (uint64_t seed = 1; seed <= n; seed += (uint64_t)testing_step())
        check_random(seed, 2);
}
END_TEST

START_TEST(every_answer_holds_the_closed_loop)
{
    const char *wanted = getenv("OFFCHIP_RECORDED");
    list_policies();
    bool all = wanted && strcmp(wanted, "all") == 0;
    size_t n = sizeof programs / sizeof *programs;
    for (size_t i = 0; i < n; i++)
        if (wanted ? all || strstr(programs[i], wanted) : i % 4 == 0)
            check_program(programs[i], i, wanted ? policy_count : 2);
    printf("%llu exact values, %llu estimates, %llu ceilings\n", (unsigned long long)counts.exact,
           (unsigned long long)counts.estimates, (unsigned long long)counts.ceilings);
    ck_assert_uint_gt(counts.exact, 0);
    ck_assert_uint_gt(counts.ceilings, 0);
}
END_TEST

TEST_MAIN("uvm_answer_property")
