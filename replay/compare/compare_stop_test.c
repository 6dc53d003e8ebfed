#include "replay/compare/compare_rows.h"

#include <math.h>

#include "replay/compare/compare_testing.h"
#include "trace/base/param.h"
#include "trace/workloads/workload.h"

/* A size for each program that any mechanism but one has a row for; at least one, or the test fails. */
static const char *const specs[] = {"conv2d,bytes=2MiB",
                                    "fdtd2d,bytes=2MiB,steps=2",
                                    "bicg,bytes=4MiB",
                                    "nw,bytes=1MiB",
                                    "rodinia-nw,n=240",
                                    "rodinia-lud,n=256,steps=2",
                                    "rodinia-srad-v1,rows=80,columns=80,iterations=2",
                                    "rodinia-nn,n=80000",
                                    "rodinia-pathfinder,cols=8192,rows=20",
                                    "rodinia-gaussian,n=256",
                                    "rodinia-cfd,n=5760,iterations=1",
                                    "rodinia-kmeans,n=4000,iterations=2",
                                    "rodinia-huffman,blocks=64,runs=1,sms=8",
                                    "rodinia-srad-v2,rows=64,cols=64",
                                    "rodinia-hotspot3d,nx=64,ny=64,iterations=2",
                                    "rodinia-hotspot,n=128",
                                    "rodinia-bfs,n=3000",
                                    "rodinia-streamcluster,n=3000",
                                    "rodinia-btree,n=5000,fan=17,queries=9,ranges=7",
                                    "rodinia-lavamd,boxes=3",
                                    "rodinia-backprop,n=2400",
                                    "rodinia-dwt2d,width=192,height=192",
                                    "rodinia-heartwall,template=3,area=7,points=3,frames=11",
                                    "rodinia-mummergpu,bases=4000,queries=400",
                                    "triad,bytes=2MiB",
                                    "matmul,n=256",
                                    "strided,bytes=2MiB",
                                    "stencil,n=256",
                                    "launch-touch,pages=1024",
                                    "array,bytes=2MiB",
                                    "bfs,scale=10,roots=1",
                                    "cc,scale=10",
                                    "sssp,scale=9,roots=2",
                                    "pagerank,scale=10,iterations=2",
                                    "gather,count=512,table_rows=2048",
                                    "embedding,lookups=2048,rows=4096",
                                    "kv-load,blocks=128"};

static const struct compare_row *same_row(const struct compare_result *of, const struct compare_row *row)
{
    for (size_t i = 0; i < of->count; i++)
        if (of->rows[i].mechanism == row->mechanism && strcmp(of->rows[i].policy, row->policy) == 0)
            return &of->rows[i];
    ck_abort_msg("no row %s (%s)", compare_mechanisms[row->mechanism], row->policy);
    return NULL;
}

/* Launches and calls that cost nothing: with what they do, all of so little data is near the best, and none stops. */
static const char *const free_calls[] = {"enqueue_ns=0,gap_ns=0,alone_ns=0,launch.wait_ns=0,prefetch_call_ns=0",
                                         "prefetch_block_ns=0,zero_bytes_per_s=1e15,lock_bytes_per_s=4e9",
                                         "pageable_bytes_per_s=7e9"};

static struct compare_result asked(const char *spec, uint64_t stop_from, int threads)
{
    compare_asked((struct compare_request){.spec = spec,
                                           .platform = "h200",
                                           .sets = free_calls,
                                           .set_count = 3,
                                           .stop_from = stop_from,
                                           .threads = threads});
    return result;
}

static bool near(double a, double b, double off)
{
    return !(fabs(a - b) > off * fabs(b));
}

/* A row that was run to its end, in both; of zero-copy launches that weigh the same one may have been. */
static void check_same(const char *spec, const struct compare_row *a, const struct compare_row *b)
{
    double off = 0;
    for (size_t n = 0; n < a->outcome.note_count; n++)
        off = strstr(a->outcome.notes[n], "take what others that read") ? 0.01 : off;
    for (size_t m = 0; m < a->outcome.count; m++) {
        const struct metric_value *x = &a->outcome.values[m], *y = &b->outcome.values[m];
        ck_assert_msg(x->known == y->known && x->interval == y->interval && x->lower_bound == y->lower_bound &&
                          near(x->real, y->real, off) && near(x->lo, y->lo, off) && near(x->hi, y->hi, off),
                      "%s, %s: %s", spec, a->policy, compare_metrics[m].name);
    }
}

/* The rows that were stopped, of which zero-copy's. */
static size_t check(const char *spec, const struct compare_result *whole, const struct compare_result *near,
                    size_t *zerocopy)
{
    size_t stopped = 0, at = 0;
    ck_assert_uint_eq(whole->count, near->count);
    for (size_t i = 0; i < near->count; i++) {
        const struct compare_row *row = &near->rows[i], *full = same_row(whole, row);
        const struct metric_value *v = &row->outcome.values[0];
        if (!v->lower_bound || compare_is_bound(testing_text("tiered (%s)", row->policy))) {
            check_same(spec, row, full);
            continue;
        }
        stopped++;
        *zerocopy += row->mechanism == COMPARE_ZEROCOPY;
        ck_assert(!row->answered);
        ck_assert_msg(v->lo < compare_time_low(full), "%s, %s (%s): %g is said to be over %g", spec,
                      compare_mechanisms[row->mechanism], row->policy, compare_time_low(full), v->lo);
        ck_assert_double_ge(v->lo, COMPARE_NEAR * compare_time(&near->rows[0]));
    }
    for (size_t i = 0; i < whole->count && whole->rows[i].answered; i++) { /* the same order, without the stopped */
        const struct compare_row *row = same_row(near, &whole->rows[i]);
        if (row->outcome.values[0].lower_bound)
            continue;
        ck_assert_msg(row == &near->rows[at++], "%s: %s stands elsewhere", spec, row->policy);
    }
    return stopped;
}

START_LOOP(no_row_is_stopped_below_its_time_or_within_three_times_of_the_best, sizeof specs / sizeof *specs)
{
    size_t zerocopy = 0;
    const char *spec = testing_text("synth:%s", specs[_i]);
    struct compare_result whole = asked(spec, 0, 2), near = asked(spec, 1, 2);
    size_t stopped = check(spec, &whole, &near, &zerocopy);
    compare_release(&near);
    if (strncmp(specs[_i], "rodinia-lud", 11) == 0) { /* and on one thread, and not of nothing */
        near = asked(spec, 1, 1);
        ck_assert_uint_eq(check(spec, &whole, &near, &zerocopy), stopped);
        compare_release(&near);
        ck_assert_uint_ge(stopped, 2);
        ck_assert_uint_ge(zerocopy, 2); /* in both */
    }
    compare_release(&whole);
}
END_TEST

/* One row of the two is as it was: its time counts, and its error. */
START_TEST(a_row_that_is_as_it_was_stops_others_too)
{
    struct compare_result of = {0}, was = {0};
    struct compare_row rows[2] = {{.mechanism = COMPARE_COPY, .policy = "cudaMemcpy", .error_ratio = 0.05}};
    struct compare_row first = {.mechanism = COMPARE_COPY};
    struct compare_request request = {.stop_from = 10};
    struct compare_program facts = {
        .request = &request, .only = rows, .only_count = 1, .same_count = 1, .first = &first};
    outcome_real(&compare_add(&of, COMPARE_COPY, "cudaMemcpy", &err)->outcome, "time_ns", 100);
    struct compare_row *same = compare_add(&was, COMPARE_MANAGED, "tree", &err);
    outcome_real(&same->outcome, "time_ns", 110);
    rows[1] = *same;
    rows[1].error_ratio = 0.3;
    ck_assert_double_eq_tol(compare_stop_drawn_ns(&facts, COMPARE_MANAGED, &of), 130, 1e-9);
    outcome_at_least(&rows[1].outcome, "time_ns", 110);
    ck_assert_double_eq(compare_stop_drawn_ns(&facts, COMPARE_MANAGED, &of), 0);
    compare_release(&of);
    compare_release(&was);
}
END_TEST

START_TEST(every_program_has_a_size_here)
{
    for (size_t i = 0; workload_types[i]; i++) {
        const struct workload_type *t = workload_types[i];
        const bool found = testing_names(specs, sizeof specs / sizeof *specs, t->name);
        ck_assert_msg(found || t->alias || !t->program || t->produces == WORKLOAD_LAUNCHES || !(t->views & VIEW_UVM),
                      "%s has no row in specs[]", t->name);
    }
}
END_TEST

START_TEST(what_asks_for_more_than_the_table_has_each_row_whole)
{
    const struct compare_request same = {
        .spec = "synth:nw,bytes=1MiB", .platform = "h200", .stop_from = 1, .threads = 2};
    struct compare_request requests[] = {same, same, same};
    requests[0].stop_from = 1 << 22;
    requests[1].top = 2;
    requests[2].mixed = true;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        compare_asked(requests[i]);
        for (size_t r = 0; r < result.count; r++)
            ck_assert(!result.rows[r].outcome.values[0].lower_bound);
        compare_release(&result);
    }
}
END_TEST

/* Those in which a row that is read over the link is drawn and not the first, and one in which it is; and graphs, whose
 * lists are advised. */
static const char *const drawn[] = {"triad,bytes=512KiB",
                                    "array,bytes=512KiB",
                                    "conv2d,bytes=512KiB",
                                    "rodinia-nn,n=40000",
                                    "bfs,scale=7,roots=1",
                                    "rodinia-srad-v1,rows=80,columns=80,iterations=1",
                                    "gather,count=128,table_rows=1024"};

static struct compare_result drawn_with(const char *spec, uint64_t stop_from)
{
    compare_asked((struct compare_request){.spec = spec,
                                           .platform = "h200",
                                           .sets = free_calls,
                                           .set_count = 3,
                                           .stop_from = stop_from,
                                           .threads = 2,
                                           .draws = 3});
    return result;
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

START_LOOP(rows_that_stop_in_draws_change_nothing_of_what_comes_of_them, sizeof drawn / sizeof *drawn)
{
    const char *spec = testing_text("synth:%s", drawn[_i]);
    struct compare_result all = drawn_with(spec, 0), near = drawn_with(spec, 1);
    const struct robust *a = &all.robust, *b = &near.robust;
    ck_assert_uint_eq(a->answers, b->answers);
    ck_assert_mem_eq(a->wins, b->wins, a->answers * sizeof *a->wins);
    ck_assert_mem_eq(a->ties, b->ties, a->answers * sizeof *a->ties);
    ck_assert_uint_eq(a->best, b->best);
    ck_assert_uint_eq(a->none, b->none);
    ck_assert(same_real(a->margin, b->margin));
    ck_assert_uint_eq(a->number_count, b->number_count);
    for (size_t i = 0; i < a->number_count; i++)
        for (int end = 0; end < 2; end++) {
            ck_assert_uint_eq(a->numbers[i].best[end], b->numbers[i].best[end]);
            ck_assert_msg(same_real(a->numbers[i].margin[end], b->numbers[i].margin[end]), "%s: %s: %.17g, %.17g", spec,
                          a->numbers[i].axis.row ? a->numbers[i].axis.row->name : "as", a->numbers[i].margin[end],
                          b->numbers[i].margin[end]);
        }
    ck_assert_uint_eq(a->flip_count, b->flip_count);
    for (size_t i = 0; i < a->flip_count; i++) {
        ck_assert(a->flips[i].number == b->flips[i].number && a->flips[i].answer == b->flips[i].answer);
        ck_assert(a->flips[i].at == b->flips[i].at && a->flips[i].best == b->flips[i].best);
    }
    compare_release(&all);
    compare_release(&near);
}
END_TEST

/* Rows of 100 and 110 ns, with errors of 20 %: a third is beaten over 120 ns, whatever is not drawn. */
START_TEST(a_row_of_a_draw_stops_when_it_is_beaten_and_the_third)
{
    static const struct {
        const char *policy[3];
        double time[3], error;
        double most;
    } cases[] = {{{"cudaMemcpy", "tree", "none"}, {100, 110, 90}, 0.2, 120},
                 {{"cudaMemcpy", "tree", "none"}, {100, 150, 90}, 0.2, 150},
                 {{"tree", "cudaMemcpy", "none"}, {150, 100, 90}, 0.6, 160},
                 {{"cudaMemcpy", "none", "none"}, {100, 90, 90}, 0.2, 0}};
    static const enum compare_mechanism stopping[] = {COMPARE_MANAGED, COMPARE_ZEROCOPY};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct compare_result of = {0};
        struct compare_row only[2] = {{.mechanism = COMPARE_COPY, .policy = "cudaMemcpy", .error_ratio = 0.05},
                                      {.mechanism = COMPARE_COPY, .policy = "tree", .error_ratio = cases[c].error}};
        struct compare_row first = {.mechanism = COMPARE_COPY};
        struct compare_request request = {.stop_from = 10};
        struct compare_program facts = {.request = &request, .only = only, .only_count = 2, .first = &first};
        for (int i = 0; i < 3; i++)
            outcome_real(&compare_add(&of, COMPARE_COPY, cases[c].policy[i], &err)->outcome, "time_ns",
                         cases[c].time[i]);
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq_tol(compare_stop_drawn_ns(&facts, stopping[k], &of), cases[c].most, 1e-9);
        request.stop_from = 0;
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq(compare_stop_drawn_ns(&facts, stopping[k], &of), 0);
        request.stop_from = 10;
        static const struct {
            enum compare_mechanism mechanism;
            bool prefetched, stops[2];
        } firsts[] = {{COMPARE_ZEROCOPY, false, {true, false}},
                      {COMPARE_TIERED, false, {true, false}},
                      {COMPARE_MANAGED, false, {false, true}},
                      {COMPARE_MANAGED, true, {true, true}}};
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
            for (int k = 0; k < 2; k++) {
                first = (struct compare_row){.mechanism = firsts[i].mechanism, .prefetched = firsts[i].prefetched};
                ck_assert_double_eq_tol(compare_stop_drawn_ns(&facts, stopping[k], &of),
                                        firsts[i].stops[k] ? cases[c].most : 0, 1e-9);
            }
        facts.only = NULL;
        ck_assert_double_eq(compare_stop_drawn_ns(&facts, COMPARE_MANAGED, &of), 0);
        compare_release(&of);
    }
}
END_TEST

TEST_MAIN("compare_stop")
