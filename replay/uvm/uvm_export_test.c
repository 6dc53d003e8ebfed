#include "replay/uvm/uvm_export.h"

#include "replay/run/testing_replay.h"
#include "replay/uvm/uvm_managed.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"

/* Run a program under a policy and record it. The store is the caller's. */
static struct replay_result record(const char *spec, const char *policy, const char *set, FILE *csv,
                                   struct store **store)
{
    struct replay_result result;
    struct err err = {""};
    if (store)
        *store = store_create_temporary(":memory:", &err);
    const struct uvm_recording_output to = {.csv = csv, .store = store ? *store : NULL};
    struct replay_request request = testing_request("uvm", "h200", policy, &set);
    request.engine_options = &to;
    testing_replay(&result, request, spec);
    if (store)
        ck_assert_int_eq(store_flush(*store, &err), 0);
    return result;
}

/* What the records of a stream add up to. */
struct sums {
    uint64_t records[RECORD_KINDS], bytes[RECORD_KINDS][RECORD_CAUSE_ACCESS_COUNTERS + 1];
    int64_t kernels_ns;
};

static struct sums add_up(struct store *store)
{
    struct sums sums = {0};
    struct err err = {""};
    const struct record *r;
    size_t n;
    int64_t last = 0;
    struct store_cursor *cursor = store_cursor_open(store, store_stream_find(store, "uvm"), &err);
    while (store_cursor_next(cursor, &r, NULL, &n, &err) > 0)
        for (size_t i = 0; i < n; i++) {
            ck_assert(r[i].time >= last && r[i].duration >= 0);
            last = r[i].time;
            sums.records[r[i].kind]++;
            if (r[i].kind == RECORD_MIGRATE_H2D || r[i].kind == RECORD_MIGRATE_D2H) {
                sums.bytes[r[i].kind][r[i].flags] += r[i].bytes;
                ck_assert_uint_eq(r[i].addr / UVM_BLOCK_BYTES, (r[i].addr + r[i].bytes - 1) / UVM_BLOCK_BYTES);
            }
            sums.kernels_ns += r[i].kind == RECORD_KERNEL ? r[i].duration : 0;
        }
    store_cursor_close(cursor);
    return sums;
}

static double metric(const struct replay_result *run, const char *name)
{
    return outcome_get(&run->runs[0], name)->real;
}

/* The run's own counts, by other paths through the engine, against the records; and the CPU's faults by hand: six for
 * each 2 MiB that it wrote. */
static void check(const char *spec, const char *policy, const char *set, uint64_t cpu_faults)
{
    struct store *store;
    struct replay_result run = record(spec, policy, set, NULL, &store);
    struct sums s = add_up(store);
    const uint64_t *in = s.bytes[RECORD_MIGRATE_H2D], *out = s.bytes[RECORD_MIGRATE_D2H];
    ck_assert_uint_eq(s.records[RECORD_FAULT], (uint64_t)metric(&run, "batches"));
    ck_assert_uint_eq(s.records[RECORD_MIGRATE_H2D] + s.records[RECORD_MIGRATE_D2H],
                      (uint64_t)metric(&run, "migration_records"));
    ck_assert_uint_eq(in[RECORD_CAUSE_FAULT] + in[RECORD_CAUSE_PREFETCH] + in[RECORD_CAUSE_USER],
                      (uint64_t)metric(&run, "h2d_bytes"));
    ck_assert_uint_eq(out[RECORD_CAUSE_EVICTION], (uint64_t)metric(&run, "evicted_bytes"));
    ck_assert_uint_le(in[RECORD_CAUSE_FAULT], (uint64_t)metric(&run, "faults") * UVM_PAGE_BYTES);
    const int64_t between = (int64_t)metric(&run, "time_ns") - s.kernels_ns; /* of launches alone */
    ck_assert_int_eq(between, 6430 + 2160 * (int64_t)(s.records[RECORD_KERNEL] - 1));
    ck_assert_uint_eq(s.records[RECORD_CPU_FAULT], cpu_faults);
    struct uvm_recording r;
    WORKS(uvm_recording_load(&r, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &err));
    ck_assert_uint_eq(r.evictions, (uint64_t)metric(&run, "evictions"));
    ck_assert_str_eq(r.policy, policy);
    ck_assert(r.simulated && r.known_sizes && r.known_data && !r.more_memory &&
              r.traced == (set && strstr(set, "traced")));
    uvm_recording_release(&r);
    store_close(store);
    replay_release(&run);
}

START_TEST(records_are_those_of_the_run)
{
    check("synth:array,bytes=16MiB,blocks=64", "tree", NULL, 8 * 6);
    check("synth:array,bytes=16MiB,blocks=64", "none", "traced=1", 8 * 6);
    check("synth:array,bytes=16MiB,pattern=random,blocks=64", "fixed:granularity=64KiB", NULL, 8 * 6);
    check("synth:bicg,n=2048", "tree", NULL, 8 * 6 + 2); /* and two vectors of 8 KiB */
}
END_TEST

START_TEST(evictions_are_recorded_one_by_one)
{
    check("synth:array,bytes=16MiB,pattern=chunk,launches=2", "tree", "oversubscription_pct=150", 4 * 6);
    check("synth:array,bytes=16MiB,pattern=chunk,launches=2", "tree+random", "copy_engines=1,oversubscription_pct=200",
          4 * 6);
}
END_TEST

/* Rows of CUPTI say the same as a trace, but for the allocations. */
START_TEST(rows_are_the_records)
{
    struct store *store;
    char line[256];
    uint64_t rows[10] = {0};
    FILE *csv = tmpfile();
    struct replay_result a = record("synth:conv2d,n=700", "tree", NULL, csv, NULL);
    struct replay_result b = record("synth:conv2d,n=700", "tree", NULL, NULL, &store);
    struct sums s = add_up(store);
    rewind(csv);
    ck_assert(fgets(line, sizeof line, csv) && strcmp(line, "# simulated.policy=tree\n") == 0);
    while (fgets(line, sizeof line, csv))
        rows[line[0] == 'K' ? 0 : line[0] >= '1' && line[0] <= '4' ? line[0] - '0' : 9]++;
    ck_assert_uint_eq(rows[0], s.records[RECORD_KERNEL]);
    ck_assert_uint_eq(rows[1], s.records[RECORD_MIGRATE_H2D]);
    ck_assert_uint_eq(rows[2], s.records[RECORD_MIGRATE_D2H]);
    ck_assert_uint_eq(rows[3], s.records[RECORD_CPU_FAULT]);
    ck_assert_uint_eq(rows[4], s.records[RECORD_FAULT]);
    ck_assert_uint_eq(rows[9], 2); /* the other fact, and the names of the columns */
    (void)fclose(csv);
    store_close(store);
    replay_release(&a);
    replay_release(&b);
}
END_TEST

/* As written: the lines of what is told in `x`, with these facts. */
static char *written(struct uvm_export *x, const struct uvm_export_facts *facts, int expected)
{
    struct err err = {""};
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    ck_assert_int_eq(uvm_export_csv(x, facts, to, &err), expected);
    ck_assert_int_eq(err.msg[0] != 0, expected != 0);
    (void)fclose(to);
    return text;
}

START_TEST(records_stand_by_time_a_kernel_before_what_starts_with_it)
{
    struct random random = {7};
    char *names[] = {(char *)(uintptr_t) "k"};
    const struct uvm_export_facts facts = {.policy = "tree"};
    for (int round = 0; round < 200; round++) {
        struct record told[12];
        const size_t n = random_below(&random, 13);
        for (size_t i = 0; i < n; i++)
            told[i] = (struct record){.kind = random_below(&random, 3) ? RECORD_FAULT : RECORD_KERNEL,
                                      .time = 1 + random_below(&random, 4),
                                      .duration = i + 1};
        struct uvm_export x = {.records = malloc(sizeof told), .count = n, .names = {names, 1, 0}};
        memcpy(x.records, told, n * sizeof *told);
        char *text = written(&x, &facts, 0), *line = strchr(strstr(text, "counterKind"), '\n') + 1;
        for (int64_t time = 1; time <= 4; time++)
            for (int kernels = 1; kernels >= 0; kernels--)
                for (size_t i = 0; i < n; i++) {
                    char row[80];
                    if (told[i].time != time || (told[i].kind == RECORD_KERNEL) != kernels)
                        continue;
                    const int length = snprintf(row, sizeof row, kernels ? "K,%d,%d,k\n" : "4,%d,%d,0,0,0,0,0,0,0\n",
                                                (int)time, (int)(time + told[i].duration));
                    ck_assert_msg(strncmp(line, row, (size_t)length) == 0, "%s instead of %s", line, row);
                    line += length;
                }
        ck_assert_str_eq(line, "");
        free(text);
        free(x.records);
    }
}
END_TEST

START_TEST(what_else_decides_where_pages_lie_is_said)
{
    static const uint32_t none[] = {0, 0}, second[] = {0, 2};
    const struct uvm_export_facts facts[] = {{.policy = "p"},
                                             {.policy = "p", .advice = none},
                                             {.policy = "p", .counters = true},
                                             {.policy = "p", .discards = true},
                                             {.policy = "p", .advice = second}};
    struct actor_alloc allocs[2] = {{.bytes = 4096}, {.bytes = 4096}};
    for (size_t i = 0; i < 2 * sizeof facts / sizeof *facts; i++) {
        allocs[1].advice = i % 2;
        struct uvm_export x = {.allocs = allocs, .alloc_count = 2};
        char *text = written(&x, &facts[i / 2], 0);
        ck_assert_int_eq(strstr(text, "# simulated.advised=1\n") != NULL, i / 2 > 1 || i % 2);
        free(text);
    }
    static const char *const gpus[] = {"H200", "", NULL};
    for (size_t i = 0; i < 3; i++) {
        struct err err = {""};
        struct store *store = store_create_temporary(":memory:", &err);
        struct uvm_export x = {.allocs = allocs, .alloc_count = 2};
        const struct uvm_export_facts named = {.policy = "p", .traced = i, .gpu = gpus[i]};
        ck_assert_int_eq(uvm_export_store(&x, &named, store, &err), 0);
        const char *said = store_origin_get(store, "gpu.0.name");
        ck_assert(i ? !said : said && strcmp(said, "H200") == 0);
        ck_assert_str_eq(store_origin_get(store, "simulated.traced"), i ? "1" : "0");
        store_close(store);
    }
    struct uvm_export failed = {.failed = true, .err = {"no memory for it"}};
    free(written(&failed, &facts[0], -1));
    struct uvm_export huge = {.count = (size_t)UINT32_MAX + 1};
    free(written(&huge, &facts[0], -1));
    struct err err = {""};
    struct store *store = store_create_temporary(":memory:", &err);
    ck_assert_int_eq(uvm_export_store(&failed, &facts[0], store, &err), -1);
    ck_assert_str_eq(err.msg, "no memory for it");
    store_close(store);
}
END_TEST

TEST_MAIN("uvm_export")
