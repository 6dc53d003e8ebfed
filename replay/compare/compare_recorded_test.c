#include <math.h>

#include "models/gpu/launch.h"
#include "models/zerocopy/link.h"
#include "replay/compare/compare_testing.h"
#include "replay/run/measured.h"
#include "replay/uvm/second_run.h"
#include "trace/derived/limits.h"

static struct store *created(void)
{
    struct store *store = store_create(testing_file("t.db"), true, "", &err);
    ck_assert_msg(store && store_origin(store, "command_line", "offchip record -f -- ./app --mib 2", &err) == 0, "%s",
                  err.msg);
    return store;
}

static void ended(struct store *store, bool whole)
{
    ck_assert_msg((whole ? store_finish : store_keep)(store, &err) == 0, "%s", err.msg);
    store_close(store);
}

static const struct metric_value *time_of(const struct compare_row *row)
{
    return outcome_get(&row->outcome, "time_ns");
}

/* --- programs whose rows are known --- */

static void record(const char *spec)
{
    const char *set = "traced=1";
    struct replay_result run;
    struct store *store = created();
    const struct uvm_recording_output to = {.store = store};
    struct replay_request request = testing_request("uvm", "h200", "tree", &set);
    request.engine_options = &to;
    testing_replay(&run, request, spec);
    replay_release(&run);
    ended(store, true);
}

static const struct {
    const char *mechanism, *policy;
} rows[] = {{"copy", "cudaMemcpy"}, {"managed", "tree, prefetched"}};

/* What is said of a program's recording, and what of the program itself: inputs alone, outputs alone, both in one
 * array, several kernels. */
static const char *const programs[] = {"synth:triad,bytes=6MiB", "synth:conv2d,bytes=8MiB",
                                       "synth:fdtd2d,bytes=6MiB,steps=2", "synth:bicg,bytes=4MiB",
                                       "synth:nw,bytes=2MiB"};

START_LOOP(the_program_itself_lies_within_what_its_recording_says, sizeof programs / sizeof *programs)
{
    double times[2], bytes;
    compare_with(programs[_i], "h200", NULL, 1);
    for (size_t i = 0; i < 2; i++)
        times[i] = metric(row_of(rows[i].mechanism, rows[i].policy), "time_ns");
    bytes = metric(row_of(rows[1].mechanism, rows[1].policy), "h2d_bytes");
    const bool tied =
        compare_tied(row_of(rows[0].mechanism, rows[0].policy), row_of(rows[1].mechanism, rows[1].policy));
    compare_release(&result);
    record(programs[_i]);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    for (size_t i = 0; i < 2; i++) {
        const struct compare_row *row = row_of(rows[i].mechanism, rows[i].policy);
        const double low = compare_time_low(row) / (1 + measured_error(i ? "prefetched" : "copied", "h200")),
                     high = compare_time_high(row) * (1 + measured_error(i ? "prefetched" : "copied", "h200"));
        ck_assert(row->answered);
        ck_assert_msg(low <= times[i] && times[i] <= high, "%s: %.0f..%.0f, not %.0f", row->policy, low, high,
                      times[i]);
        ck_assert_double_eq(metric(row, "h2d_bytes"), bytes);
    }
    ck_assert_str_eq(result.rows[0].policy, "cudaMemcpy");
    ck_assert_int_eq(compare_tied(&result.rows[0], &result.rows[1]), tied); /* the kernels are the same in both */
    ck_assert(noted(row_of("managed", "tree"), "under the profiler"));
    compare_release(&result);
}
END_TEST

static double all_saved(const struct compare_row *row)
{
    double sum = 0;
    for (size_t i = 0; i < row->call_count; i++)
        sum += row->calls[i].saves_ns;
    return sum;
}

/* Times without the profiler are rows' times, bounds no longer; estimates of other prefetchers follow in proportion. */
START_TEST(measured_times_take_the_place_of_bounds)
{
    static const struct untraced plain = {3e6, 2.9e6, 3.3e6, 7}, resident = {2e6, 1.9e6, 2.3e6, 7},
                                 sooner = {1e6, 1e6, 1e6, 7};
    double bytes_ns[2], estimate;
    record("synth:triad,bytes=6MiB");
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const double recorded = metric(row_of("managed", "tree"), "time_ns");
    estimate = metric(row_of("managed", "fixed:granularity=64KiB"), "time_ns");
    for (size_t i = 0; i < 2; i++) /* transfers and no kernels: the same in both */
        bytes_ns[i] = compare_time_low(row_of(rows[i].mechanism, rows[i].policy));
    ck_assert(!result.measured);
    compare_release(&result);
    ck_assert_int_eq(untraced_put(testing_file("t.db"), UNTRACED_PLAIN, &plain, &err), 0);
    ck_assert_int_eq(untraced_put(testing_file("t.db"), UNTRACED_RESIDENT, &resident, &err), 0);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    ck_assert(result.measured);
    ck_assert_double_eq_tol(metric(row_of("managed", "tree"), "time_ns"), 3e6, 1);
    ck_assert_double_eq_tol(metric(row_of("managed", "fixed:granularity=64KiB"), "time_ns"), estimate * 3e6 / recorded,
                            1);
    ck_assert(noted(row_of("managed", "tree"), "measured without the profiler: 3 ms (2.9 to 3.3, runs: 7)"));
    ck_assert(!noted(row_of("managed", "tree"), "under the profiler"));
    const struct compare_row *copy = row_of(rows[0].mechanism, rows[0].policy),
                             *prefetched = row_of(rows[1].mechanism, rows[1].policy);
    ck_assert(metric(copy, "time_ns") > 2e6 && metric(copy, "time_ns") < 3e6);
    ck_assert_double_eq_tol(metric(prefetched, "time_ns") - metric(copy, "time_ns"), bytes_ns[1] - bytes_ns[0], 1);
    const double saves = all_saved(prefetched);
    ck_assert(copy->error_ratio >=
              measured_error("copied", "h200") + 2e5 / metric(copy, "time_ns") - 1e-9); /* half their spread */
    ck_assert(noted(copy, "2 ms (1.9 to 2.3, runs: 7), measured without the profiler"));
    compare_release(&result);
    ck_assert_int_eq(untraced_put(testing_file("t.db"), UNTRACED_RESIDENT, &sooner, &err), 0);
    compare_with(testing_file("t.db"), "h200", NULL, 1); /* calls save what faults cost: as much more */
    ck_assert_double_eq_tol(all_saved(row_of(rows[1].mechanism, rows[1].policy)), saves + 1e6, 1);
    compare_release(&result);
}
END_TEST

static void derive_into(const char *spec, struct store *store)
{
    const struct derive_options all = {.last = UINT64_MAX};
    struct program_counts counts;
    struct input input;
    struct derive_input in;
    ck_assert_msg(store && input_open(&input, spec, "", false, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(derive_input_open(&in, &input, VIEW_ZEROCOPY, &err), 0);
    ck_assert_msg(derive_accesses(&in.source, store, &all, &counts, &err) == 0, "%s", err.msg);
    input_close(&input);
}

/* The program's accesses as a second run, beside the recording in t.db. */
static void add_accesses(const char *spec)
{
    struct store *first = store_open(testing_file("t.db"), &err), *second = store_create_temporary("second", &err),
                 *both = store_create(testing_file("both.db"), true, "", &err);
    ck_assert(first && both);
    derive_into(spec, second);
    ck_assert_int_eq(store_flush(second, &err), 0);
    ck_assert_msg(second_run_join(first, second, false, false, both, &err) == 0, "%s", err.msg);
    ended(both, true);
    store_close(second);
    store_close(first);
}

/* Of accesses alone the copies are what kernels read and no launch before has written: an input and an output, one
 * updated in place, outputs that later launches read. */
START_TEST(copies_of_recorded_accesses_hold_those_of_the_program)
{
    static const char *const specs[] = {"synth:array,bytes=8MiB,launches=4", "synth:conv2d,bytes=4MiB",
                                        "synth:nw,bytes=2MiB", "synth:bicg,bytes=4MiB",
                                        "synth:rodinia-dwt2d,width=512,height=512"};
    const double error = measured_error("copied", "h200");
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        compare_with(specs[i], "h200", NULL, 1);
        const double time = metric(only_row("copy"), "time_ns"), bytes = metric(only_row("copy"), "h2d_bytes"),
                     back = metric(only_row("copy"), "back_ns");
        compare_release(&result);
        struct store *store = created();
        derive_into(specs[i], store);
        ended(store, true);
        compare_with(testing_file("t.db"), "h200", NULL, 1);
        const struct compare_row *row = only_row("copy");
        ck_assert_msg(compare_time_low(row) / (1 + error) <= time && time <= compare_time_high(row) * (1 + error),
                      "%s: %.0f..%.0f, not %.0f", specs[i], compare_time_low(row), compare_time_high(row), time);
        ck_assert_double_eq_tol(metric(row, "h2d_bytes"), bytes, 0.01 * bytes);
        ck_assert_double_le(fabs(metric(row, "back_ns") - back), 0.05 * back);
        ck_assert(noted(row, "the CPU's own use is not recorded") && told(row, "cudaMemcpy()") && row->answered);
        compare_release(&result);
    }
}
END_TEST

/* Accesses beside a recording of migrations are read over the link as the program itself reads. */
START_TEST(zero_copy_of_recorded_accesses_is_that_of_the_program)
{
    static const char *const specs[] = {"synth:triad,bytes=3MiB", "synth:conv2d,bytes=2MiB", "synth:nw,bytes=1MiB"};
    static const char l1[] = "as-written:reuse=l1";
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        compare_with(specs[i], "h200", NULL, 1);
        const double time = compare_time(row_of("zerocopy", l1)), bytes = metric(row_of("zerocopy", l1), "h2d_bytes");
        compare_release(&result);
        record(specs[i]);
        add_accesses(specs[i]);
        compare_with(testing_file("both.db"), "h200", NULL, 1);
        const struct compare_row *row = row_of("zerocopy", l1);
        ck_assert_msg(compare_time_low(row) <= 1.03 * time && compare_time_high(row) >= 0.97 * time,
                      "%s: %.0f..%.0f, not %.0f", specs[i], compare_time_low(row), compare_time_high(row), time);
        ck_assert_double_le(compare_time_high(row), 2.5 * compare_time_low(row));
        ck_assert_double_eq_tol(metric(row, "h2d_bytes"), bytes, 0.01 * bytes);
        compare_release(&result);
    }
}
END_TEST

/* --- a recording by hand --- */

#define BASE   (UINT64_C(0x7f) << 32)
#define OUTPUT (BASE - 4 * (uint64_t)MIB)
#define FEW    (BASE + 4 * (uint64_t)MIB) /* 4 KiB, in the last one */

enum { MIB = 1 << 20, CHANGES = 10, CHEAP = 5, READS, LEFT, ANEW = 9 };

static const struct hand {
    const char *without; /* what is changed, and so refused */
    const char *why;
} hands[CHANGES] = {{"", NULL},
                    {"end", "not whole"},
                    {"faults", "no fault of the GPU is recorded"},
                    {"names", "names no managed allocation"},
                    {"freedom", "the program's own advice"},
                    {"cost", NULL},
                    {"hurry", NULL},       /* the CPU reads 1 MiB between the kernels, by many faults */
                    {"exit", NULL},        /* the program left by _exit() */
                    {"wait", "not whole"}, /* likewise, while a kernel ran */
                    {"anew", NULL}};       /* the second array is freed behind a, and one of its size lies there */

static void put(struct writer *w, const struct hand *hand, struct record r)
{
    if ((r.kind == RECORD_FAULT && strcmp(hand->without, "faults") == 0) ||
        (r.kind == RECORD_ALLOC && strcmp(hand->without, "names") == 0))
        return;
    ck_assert_int_eq(writer_add(w, &r, NULL, &err), 0);
}

/* The CPU's faults bring the first MiB back, a sixteenth each, from the `from`-th on. */
static void cpu_takes(struct writer *w, const struct hand *hand, int64_t time, int from)
{
    for (int i = from; i < 16; i++)
        put(w, hand,
            (struct record){.kind = RECORD_MIGRATE_D2H,
                            .time = time + i * 4500,
                            .duration = 2000,
                            .addr = BASE + (uint64_t)i * MIB / 16,
                            .bytes = MIB / 16,
                            .flags = RECORD_CAUSE_FAULT});
}

/* A batch that brings so much at once, us. */
static void batch(struct writer *w, const struct hand *hand, int64_t from, int64_t to, uint64_t addr, uint64_t bytes)
{
    put(w, hand,
        (struct record){
            .kind = RECORD_FAULT, .time = from * 1000, .duration = (to - from) * 1000, .addr = addr, .bytes = 1});
    for (int i = 0; i < 2; i++)
        put(w, hand,
            (struct record){.kind = RECORD_MIGRATE_H2D,
                            .time = to * 1000 - 2000 + i * 1000,
                            .duration = 1000,
                            .addr = addr + (i ? UVM_PAGE_BYTES : 0),
                            .bytes = i ? bytes - UVM_PAGE_BYTES : UVM_PAGE_BYTES,
                            .flags = i ? RECORD_CAUSE_PREFETCH : RECORD_CAUSE_FAULT});
}

static void kernel(struct store *store, struct writer *w, const struct hand *hand, int64_t id, const char *name,
                   int64_t from, int64_t to)
{
    ck_assert_int_eq(STORE_ROW(store, "kernels", &err, STORE_V_INT(id), STORE_V_TEXT(name), STORE_V_INT(id),
                               STORE_V_INT(from * 1000), STORE_V_INT((to - from) * 1000), STORE_V_INT(8),
                               STORE_V_INT(1), STORE_V_INT(1), STORE_V_INT(64), STORE_V_INT(1), STORE_V_INT(1),
                               STORE_V_NULL, STORE_V_NULL, STORE_V_NULL, STORE_V_NULL, STORE_V_NULL),
                     0);
    put(w, hand,
        (struct record){
            .kind = RECORD_KERNEL, .time = from * 1000, .duration = (to - from) * 1000, .id = (uint64_t)id});
}

/* The CPU wrote the first of two arrays. Kernel a is disturbed by two batches of 1 MiB each, and by one for the other
 * array, which has no data; the CPU takes 64 KiB back; b is disturbed by one, then not. */
static void make(const struct hand *hand)
{
    struct store *store = created();
    struct writer w;
    ck_assert_int_eq(writer_open(&w, store, writer_stream(store, "uvm", TIME_NS, NULL, 0, &err), 0, &err), 0);
    put(&w, hand,
        (struct record){
            .kind = RECORD_ALLOC, .time = 1, .addr = BASE, .bytes = 2 * MIB, .flags = RECORD_ALLOC_MANAGED});
    put(&w, hand,
        (struct record){.kind = RECORD_ALLOC, .time = 1, .addr = OUTPUT, .bytes = MIB, .flags = RECORD_ALLOC_MANAGED});
    if (strcmp(hand->without, "cost") == 0) {
        put(&w, hand,
            (struct record){
                .kind = RECORD_ALLOC, .time = 1, .addr = FEW, .bytes = 4096, .flags = RECORD_ALLOC_MANAGED});
        put(&w, hand, (struct record){.kind = RECORD_FAULT, .time = 1493000, .duration = 1, .addr = FEW, .bytes = 1});
    }
    put(&w, hand, (struct record){.kind = RECORD_CPU_FAULT, .time = 3, .addr = BASE, .flags = RECORD_WRITE});
    if (strcmp(hand->without, "freedom") == 0)
        put(&w, hand, (struct record){.kind = RECORD_ADVISE, .time = 2, .addr = BASE, .bytes = 2 * MIB});
    if (strcmp(hand->without, "hurry") == 0) /* before any kernel: to be left alone */
        cpu_takes(&w, hand, 100000, 0);
    kernel(store, &w, hand, 0, strcmp(hand->without, "cost") == 0 ? "void a<int>(int*)" : "a", 1000, 2000);
    batch(&w, hand, 1010, 1490, BASE, MIB);
    put(&w, hand, (struct record){.kind = RECORD_FAULT, .time = 1492000, .duration = 6000, .addr = OUTPUT, .bytes = 1});
    batch(&w, hand, 1500, 1900, BASE + MIB, MIB);
    put(&w, hand, (struct record){.kind = RECORD_CPU_FAULT, .time = 2010000, .addr = BASE, .flags = RECORD_WRITE});
    put(&w, hand,
        (struct record){.kind = RECORD_MIGRATE_D2H,
                        .time = 2020000,
                        .duration = 5000,
                        .addr = BASE,
                        .bytes = MIB / 16,
                        .flags = RECORD_CAUSE_FAULT});
    if (strcmp(hand->without, "hurry") == 0)
        cpu_takes(&w, hand, 2022000, 1);
    kernel(store, &w, hand, 1, "b", 2100, 2600);
    if (strcmp(hand->without, "anew") == 0) {
        put(&w, hand,
            (struct record){
                .kind = RECORD_ALLOC, .time = 2050000, .addr = OUTPUT, .bytes = MIB, .flags = RECORD_ALLOC_MANAGED});
        put(&w, hand,
            (struct record){.kind = RECORD_FAULT, .time = 2105000, .duration = 4000, .addr = OUTPUT, .bytes = 1});
    }
    batch(&w, hand, 2110, strcmp(hand->without, "cost") == 0 ? 2150 : 2580, BASE, MIB / 16);
    kernel(store, &w, hand, 2, "b", 2602, 2650);
    if (strcmp(hand->without, "wait") == 0)
        batch(&w, hand, 2660, 2700, BASE, MIB / 16);
    ck_assert_int_eq(writer_flush(&w, &err), 0);
    writer_close(&w);
    if (strcmp(hand->without, "exit") == 0 || strcmp(hand->without, "wait") == 0)
        ck_assert_int_eq(store_origin(store, "state.why", LIMITS_NO_END, &err), 0);
    ended(store, strcmp(hand->without, "end") != 0 && strcmp(hand->without, "exit") != 0 &&
                     strcmp(hand->without, "wait") != 0);
}

static void copies(struct writer *w, int64_t from, int64_t to, uint64_t bytes, uint32_t way)
{
    put(w, &hands[0],
        (struct record){
            .kind = RECORD_COPY, .time = from * 1000, .duration = (to - from) * 1000, .bytes = bytes, .flags = way});
}

/* Two copies in, at a quarter of the link's rate or at all of it, one back between the kernels and one behind them. */
START_LOOP(a_programs_own_copies_take_what_was_recorded, 2)
{
    const double take = _i ? 190 : 1000; /* us, 10 MiB */
    struct store *store = created();
    struct writer w;
    ck_assert_int_eq(writer_open(&w, store, writer_stream(store, "uvm", TIME_NS, NULL, 0, &err), 0, &err), 0);
    copies(&w, 0, (int64_t)take, 10 * MIB, RECORD_COPY_H2D);
    kernel(store, &w, &hands[0], 0, "a", 1100, 1200);
    copies(&w, 1200, 1200 + (int64_t)take, 10 * MIB, RECORD_COPY_D2H);
    kernel(store, &w, &hands[0], 1, "a", 2300, 2400);
    copies(&w, 2400, 2900, 10 * MIB, RECORD_COPY_D2H);
    ck_assert_int_eq(writer_flush(&w, &err), 0);
    writer_close(&w);
    ended(store, true);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const struct compare_row *row = row_of("copy", "cudaMemcpy");
    ck_assert_double_eq(metric(row, "time_ns"), (2 * take + 200) * 1000);
    ck_assert_double_eq(metric(row, "h2d_bytes"), 10 * MIB);
    ck_assert_double_eq(metric(row, "d2h_bytes"), 10 * MIB);
    ck_assert_double_eq(metric(row, "back_ns"), 500000);
    ck_assert(result.copied && strstr(result.touches, "record --accesses") && row->answered);
    ck_assert(noted(row, _i ? "as recorded: copies 380 us at 55.2 GB/s, kernels 200 us" : "copies 2 ms at 10.5 GB/s"));
    if (_i == 0) {
        const struct pcie *link = platform_section_get(result.platform, "pcie");
        row = row_of("copy", "cudaMemcpy, page-locked");
        ck_assert_double_eq_tol(metric(row, "time_ns"), link_copy_ns(link, 20 * MIB, 2) + 200000, 1);
        ck_assert(row->outcome.values[0].unbound && !row->answered);
    } else {
        (void)only_row("copy");
    }
    compare_release(&result);
}
END_TEST

/* Also where the program left by _exit(). a: 10 + 2 + 2 + 100 us are left; behind the last batch half of it took 100
 * us, so beside the others it did 200 at most, and it did no more than 2.25 in any case. b is as long as where nothing
 * disturbed it. */
START_LOOP(each_end_is_what_the_recording_allows, 2)
{
    make(&hands[_i ? LEFT : 0]);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const struct launch *calls = platform_section_get(result.platform, "launch");
    const struct pcie *link = platform_section_get(result.platform, "pcie");
    const struct uvm_platform *uvm = platform_section_get(result.platform, "uvm");
    const double besides = calls->alone_ns + calls->gap_ns + 2000 + 2 * 48000,
                 low = 114000 - 3 * uvm->walk_ns + besides, high = 114000 + 200000 + besides;
    const double bytes = 2 * MIB + MIB / 16, copies = link_copy_ns(link, bytes, 2) + 2 * calls->wait_ns,
                 prefetches = 2 * (calls->prefetch_call_ns + calls->prefetch_block_ns + uvm->copy_run_ns) +
                              bytes / uvm->h2d_bytes_per_s * 1e9 + calls->prefetch_call_ns +
                              MIB / calls->zero_bytes_per_s * 1e9;
    for (size_t i = 0; i < 2; i++) {
        const struct compare_row *row = row_of(rows[i].mechanism, rows[i].policy);
        const double moves = i ? prefetches : copies;
        ck_assert_double_eq_tol(time_of(row)->lo, moves + low, 1);
        ck_assert_double_eq_tol(time_of(row)->hi, moves + high, 1);
        ck_assert_double_eq(metric(row, "h2d_bytes"), bytes);
        ck_assert_double_eq(metric(row, "gpu_bytes"), 3 * MIB);
        ck_assert(told(row, "each time") && told(row, "2 MiB at 0x7f00000000"));
        ck_assert_int_eq(noted(row, COMPARE_LOCKED), i == 0);
    }
    char command[2][256];
    for (int touches = 0; touches < 2; touches++)
        (void)snprintf(command[touches], sizeof command[touches], "offchip record --%s --with %s -- ./app --mib 2",
                       touches ? "touches" : "accesses", testing_file("t.db"));
    ck_assert(noted(only_row("zerocopy"), command[0]));
    ck_assert_str_eq(result.touches, command[1]);
    compare_release(&result);
}
END_TEST

static void expect_call(const struct compare_row *row, size_t i, const char *kernel, uint32_t launch, size_t alloc)
{
    ck_assert_uint_gt(row->call_count, i);
    ck_assert_int_eq(row->calls[i].what, COMPARE_PREFETCH);
    ck_assert_str_eq(row->calls[i].kernel, kernel);
    ck_assert_uint_eq(row->calls[i].launch, launch);
    ck_assert_uint_eq(row->calls[i].alloc, alloc);
}

/* Before the first kernel whose faults needed the data, in order, and again behind the CPU's work on them where faults
 * take more than a call. */
START_LOOP(calls_stand_where_the_recording_needed_the_data, 2)
{
    const int cheap = _i ? CHEAP : 0;
    make(&hands[cheap]);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const struct compare_row *row = row_of(rows[1].mechanism, rows[1].policy);
    ck_assert_ptr_eq(compare_plannable(&result), row);
    ck_assert_uint_eq(row->call_count, 3);
    ck_assert(strstr(row->apply[row->apply_count - 2 - (cheap != 0)], " 2 MiB") != NULL); /* the most bytes first */
    ck_assert_int_eq(told(row, "likewise 1 other, each below 1 %"), cheap != 0);
    expect_call(row, 0, cheap ? "*" : "a", 0, 0); /* by number where the name is none that a launch has */
    expect_call(row, 1, cheap ? "*" : "a", 0, 1);
    if (!cheap)
        expect_call(row, 2, "b", 0, 0);
    ck_assert_int_eq(told(row, "each time"), !cheap);
    ck_assert_int_eq(row->activity.faulted, cheap != 0);
    ck_assert(row->calls[0].saves_ns > 500000 && row->calls[0].saves_ns < 880000);
    ck_assert_double_eq(row->calls[0].bytes, 2 * MIB);
    ck_assert_uint_eq(result.allocs[0].bytes, 2 * MIB);
    compare_release(&result);
}
END_TEST

/* An allocation at the place of another, freed one has a call of its own. */
START_TEST(memory_allocated_anew_is_brought_anew)
{
    double takes[2];
    for (int anew = 0; anew < 2; anew++) {
        make(&hands[anew ? ANEW : 0]);
        compare_with(testing_file("t.db"), "h200", NULL, 1);
        const struct compare_row *row = row_of(rows[1].mechanism, rows[1].policy);
        takes[anew] = time_of(row)->hi - time_of(row_of(rows[0].mechanism, rows[0].policy))->hi;
        ck_assert_uint_eq(row->call_count, anew ? 4 : 3);
        ck_assert_double_eq(metric(row, "gpu_bytes"), 3 * MIB);
        expect_call(row, 1, "a", 0, 1);
        ck_assert_int_eq(told(row,
                              "0x7effc00000 before the first kernel that needs them, after the CPU has written them, "
                              "each time"),
                         anew);
        if (!anew)
            compare_release(&result);
    }
    const struct launch *calls = platform_section_get(result.platform, "launch");
    expect_call(row_of(rows[1].mechanism, rows[1].policy), 2, "b", 0, 2);
    ck_assert_double_eq_tol(takes[1] - takes[0], calls->prefetch_call_ns + MIB / calls->zero_bytes_per_s * 1e9, 1);
    compare_release(&result);
}
END_TEST

/* What the kernels leave open is the same in both rows: the rest decides. */
START_TEST(rows_with_kernels_in_common_tie_by_what_else_they_take)
{
    struct compare_row row[2] = {{.answered = true, .common_ns = 50}, {.answered = true, .common_ns = 50}};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(outcome_init(&row[i].outcome, compare_metrics, &err), 0);
        outcome_interval(&row[i].outcome, "time_ns", 100 + 20 * i, 160 + 20 * i);
    }
    ck_assert(!compare_tied(&row[0], &row[1])); /* 100 to 110, 120 to 130 */
    row[1].common_ns = 30;
    ck_assert(compare_tied(&row[0], &row[1]));
    for (int i = 0; i < 2; i++)
        outcome_release(&row[i].outcome);
}
END_TEST

/* What the CPU reads by 16 faults of 15.8 us goes back by one call, behind the kernel before. */
START_TEST(what_the_cpu_reads_is_prefetched_back_where_its_faults_take_longer)
{
    make(&hands[READS]);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const struct compare_row *row = row_of(rows[1].mechanism, rows[1].policy);
    const struct launch *calls = platform_section_get(result.platform, "launch");
    const struct uvm_platform *uvm = platform_section_get(result.platform, "uvm");
    ck_assert_uint_eq(row->call_count, 4);
    const struct compare_call *back = &row->calls[2];
    ck_assert(back->what == COMPARE_BACK && back->alloc == 0 && back->launch == 0 && strcmp(back->kernel, "a") == 0);
    ck_assert_double_eq(back->bytes, MIB);
    ck_assert_double_eq_tol(back->saves_ns, 16 * uvm->cpu_fault_ns - calls->prefetch_call_ns - calls->prefetch_block_ns,
                            1);
    ck_assert(told(row, "16 CPU faults fewer"));
    compare_release(&result);
}
END_TEST

START_LOOP(what_it_does_not_say_is_refused, CHANGES)
{
    if (!hands[_i].why)
        return;
    make(&hands[_i]);
    compare_with(testing_file("t.db"), "h200", NULL, 1);
    const struct compare_row *copy = only_row("copy");
    ck_assert(!copy->answered);
    ck_assert_msg(noted(copy, hands[_i].why), "%s: %s", hands[_i].without, copy->outcome.notes[0]);
    for (size_t i = 0; i < result.count; i++)
        ck_assert(!result.rows[i].prefetched);
    compare_release(&result);
}
END_TEST

TEST_MAIN("replay/compare_recorded")
