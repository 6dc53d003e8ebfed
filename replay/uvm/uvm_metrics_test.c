#include "replay/uvm/uvm_metrics.h"

#include "trace/base/testing.h"

/* Two kernels, one of them asked for twice, and one allocation. */
static void fill(struct breakdown *parts)
{
    static const char *const names[] = {"a", "b", "a"};
    for (int i = 0; i < 3; i++) {
        struct uvm_part *kernel = GIVES(breakdown_kernel(parts, names[i], &err));
        kernel->account.faults += 2;
        kernel->account.h2d += 16;
        kernel->batches++;
        kernel->time_ns += 100;
    }
    struct uvm_part *allocation = GIVES(breakdown_add(parts, OUTCOME_BY_ALLOCATION, "x", &err));
    allocation->account = (struct uvm_account){.faults = 6, .h2d = 48, .prefetched_used = 5};
    allocation->structure_bytes = 48 * 4096 / 3;
    allocation->touched_pages = 12;
}

START_TEST(parts_that_do_not_add_up_are_an_error)
{
    struct breakdown parts = {0};
    fill(&parts);
    const struct uvm_account total = {.faults = 6, .h2d = 48, .prefetched_used = 5};
    ck_assert_uint_eq(parts.by[OUTCOME_BY_KERNEL].count, 2);
    WORKS(breakdown_check(&parts, &total, 3, 300, &err));
    FAILS(breakdown_check(&parts, &total, 4, 300, &err));
    FAILS(breakdown_check(&parts, &total, 3, 301, &err));
    parts.by[OUTCOME_BY_ALLOCATION].items[0].account.h2d--;
    FAILS_WITH(breakdown_check(&parts, &total, 3, 300, &err), "by allocation");
    parts.by[OUTCOME_BY_ALLOCATION].items[0].account.h2d++;
    parts.by[OUTCOME_BY_KERNEL].items[1].account.evictions++;
    FAILS_WITH(breakdown_check(&parts, &total, 3, 300, &err), "by kernel");
    breakdown_release(&parts);
}
END_TEST

START_TEST(each_part_has_the_metrics_that_mean_something_of_it)
{
    static const struct uvm_metrics no_metrics;
    struct breakdown parts = {0};
    struct outcome o;
    fill(&parts);
    WORKS(outcome_init(&o, uvm_metric_table, &err));
    WORKS(uvm_metrics_report(&no_metrics, &parts, &o, &err));
    const struct outcome *a = outcome_find_part(&o, OUTCOME_BY_KERNEL, "a");
    ck_assert_int_eq(outcome_get(a, "faults")->whole, 4);
    ck_assert_int_eq(outcome_get(a, "h2d_bytes")->whole, 32 * 4096);
    ck_assert_int_eq(outcome_get(a, "time_ns")->whole, 200);
    ck_assert(!outcome_get(a, "structure_bytes")->known);
    const struct outcome *x = outcome_find_part(&o, OUTCOME_BY_ALLOCATION, "x");
    ck_assert_double_eq(outcome_get(x, "read_amplification_ratio")->real, 3);
    ck_assert_double_eq(outcome_get(x, "overfetch_ratio")->real, 4);
    ck_assert(!outcome_get(x, "prefetched_used_ratio")->known); /* nothing was prefetched */
    ck_assert(!outcome_get(x, "time_ns")->known);
    outcome_release(&o);
    breakdown_release(&parts);
}
END_TEST

/* Numbers that are all different, value `from`, `from` + 1 and so on. */
static struct uvm_numbers numbers_from(double from, bool sure)
{
    enum { COUNT = sizeof(struct uvm_numbers) / sizeof(struct uvm_value) };
    struct uvm_numbers n;
    struct uvm_value values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        values[i] = uvm_value(from + (double)i, sure);
    memcpy(&n, values, sizeof n);
    return n;
}

static struct outcome report(struct uvm_numbers n)
{
    struct outcome o;
    WORKS(outcome_init(&o, uvm_metric_table, &err));
    uvm_numbers_report(n, &o);
    return o;
}

/* The rows of today; what a metric is made of, by its place. */
static const struct {
    const char *metric;
    size_t over, under;
} rows[] = {
#define NUMBER(name)                                                                                                   \
    {                                                                                                                  \
#name, offsetof(struct uvm_numbers, name), SIZE_MAX                                                            \
    }
#define RATIO(name, over, under)                                                                                       \
    {                                                                                                                  \
#name, offsetof(struct uvm_numbers, over), offsetof(struct uvm_numbers, under)                                 \
    }
    NUMBER(time_ns),
    NUMBER(faults),
    NUMBER(batches),
    NUMBER(fault_handler_runs),
    NUMBER(services),
    NUMBER(h2d_bytes),
    NUMBER(d2h_bytes),
    NUMBER(prefetched_bytes),
    NUMBER(evictions),
    NUMBER(structure_bytes),
    NUMBER(touched_bytes),
    NUMBER(blocks_per_batch_median),
    NUMBER(blocks_per_batch_p25),
    NUMBER(blocks_per_batch_p75),
    NUMBER(granularity_final_bytes),
    NUMBER(migration_records),
    NUMBER(evicted_bytes),
    NUMBER(refetched_bytes),
    NUMBER(evicted_unused_ratio),
    NUMBER(remote_bytes),
    NUMBER(counter_notifications),
    NUMBER(throttles),
    NUMBER(pinned_pages),
    NUMBER(mapped_faults),
    RATIO(prefetched_used_ratio, prefetched_used_bytes, prefetched_bytes),
    RATIO(read_amplification_ratio, h2d_bytes, structure_bytes),
    RATIO(overfetch_ratio, h2d_bytes, touched_bytes)};

static struct uvm_value *number(struct uvm_numbers *n, size_t at)
{
    return (struct uvm_value *)((char *)n + at);
}

START_TEST(each_metric_is_worked_out_as_its_row_says)
{
    struct uvm_numbers n = numbers_from(1000, true);
    struct outcome o = report(n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct metric_value *v = outcome_get(&o, rows[i].metric);
        const double under = rows[i].under == SIZE_MAX ? 1 : number(&n, rows[i].under)->value;
        ck_assert_msg(v && v->known && !v->unbound && v->real == number(&n, rows[i].over)->value / under, "%s",
                      rows[i].metric);
    }
    ck_assert(!outcome_get(&o, "speedup_ratio")->known);
    outcome_release(&o);
}
END_TEST

START_TEST(what_is_unknown_makes_its_metrics_unknown_and_no_others)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int part = 0; part < 2; part++) {
            const size_t at = part ? rows[i].under : rows[i].over;
            struct uvm_numbers n = numbers_from(1000, true);
            if (at == SIZE_MAX)
                continue;
            number(&n, at)->known = false;
            struct outcome o = report(n);
            for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
                ck_assert_msg(outcome_get(&o, rows[k].metric)->known == (rows[k].over != at && rows[k].under != at),
                              "%s without a number of %s", rows[k].metric, rows[i].metric);
            outcome_release(&o);
        }
    struct outcome o = report((struct uvm_numbers){.h2d_bytes = uvm_value(NAN, true)});
    for (size_t i = 0; i < o.count; i++)
        ck_assert_msg(!o.values[i].known && !o.values[i].unbound, "%s", o.metrics[i].name);
    outcome_release(&o);
}
END_TEST

START_TEST(what_is_made_of_an_estimate_is_an_estimate)
{
    struct uvm_numbers n = numbers_from(1000, false);
    struct outcome o = report(n);
    for (size_t i = 0; i < o.count; i++)
        ck_assert_msg(o.values[i].unbound == o.values[i].known, "%s", o.metrics[i].name);
    outcome_release(&o);
    for (int part = 0; part < 2; part++) {
        n = numbers_from(1000, true);
        (part ? &n.touched_bytes : &n.h2d_bytes)->estimate = true;
        o = report(n);
        ck_assert(outcome_get(&o, "overfetch_ratio")->unbound);
        ck_assert_int_eq(outcome_get(&o, "read_amplification_ratio")->unbound, !part);
        ck_assert(!outcome_get(&o, "prefetched_used_ratio")->unbound);
        outcome_release(&o);
    }
}
END_TEST

START_TEST(a_ratio_to_nothing_is_unknown)
{
    for (int count = 0; count < 2; count++) {
        struct outcome o = report(
            (struct uvm_numbers){.h2d_bytes = uvm_count((uint64_t)count, false), .touched_bytes = uvm_count(0, true)});
        ck_assert(outcome_get(&o, "touched_bytes")->known && outcome_get(&o, "h2d_bytes")->known);
        ck_assert(!outcome_get(&o, "overfetch_ratio")->known && !outcome_get(&o, "overfetch_ratio")->unbound);
        outcome_release(&o);
    }
}
END_TEST

static void add(struct locality_windows *w, const char *kernel, uint64_t first, size_t n)
{
    struct uvm_batch_block blocks[64];
    for (size_t i = 0; i < n; i++)
        blocks[i] = (struct uvm_batch_block){first + i, 1, 1};
    struct uvm_batch batch = {.blocks = blocks, .block_count = n};
    ck_assert_int_eq(locality_windows_add(w, kernel, &batch, NULL), 0);
}

START_TEST(one_block_seen_in_twenty_batches_gives_a_twentieth)
{
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 40; i++)
        add(&w, "k", 3, 1);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_double_eq(m.r.median, 0.05);
    ck_assert_uint_eq(m.kernels[0].windows, 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(kernels_have_windows_of_their_own)
{
    static const char one[] = "one", two[] = "two";
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 20; i++)
        add(&w, one, 0, 1);
    for (int i = 0; i < 20; i++)
        add(&w, two, 0, 40);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_uint_eq(m.kernel_count, 2);
    ck_assert_double_eq(m.kernels[0].r.median, 0.05);
    ck_assert_double_eq(m.kernels[1].r.median, 2);
    ck_assert_double_eq(m.r.median, (0.05 + 2) / 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(a_short_run_has_one_short_window)
{
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 5; i++)
        add(&w, "k", 0, 10);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_double_eq(m.r.median, 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(quartiles_interpolate)
{
    double v[] = {4, 1, 3, 2, 5};
    struct uvm_quartiles q = locality_windows_quartiles(v, 5);
    ck_assert_double_eq(q.p25, 2);
    ck_assert_double_eq(q.median, 3);
    ck_assert_double_eq(q.p75, 4);
    double w[] = {1, 2};
    ck_assert_double_eq(locality_windows_quartiles(w, 2).p25, 1.25);
    ck_assert_double_nan(locality_windows_quartiles(w, 0).median);
}
END_TEST

TEST_MAIN("replay/uvm_metrics")
