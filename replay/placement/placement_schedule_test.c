#include "replay/placement/placement_schedule.h"

#include <math.h>
#include <stdint.h>

#include "replay/placement/schedule_testing.h"
#include "trace/base/testing.h"

START_TEST(a_device_kernel_hides_in_the_idle_period_of_a_managed_one)
{
    /* device: copies 2 + 1, 4 kernels of 1 ms; managed: 2 kernels, each 2.5 idle + 1 flush + 3 exec.
     * Two device kernels fit in each idle period: all 4 ms are hidden. 7 + 13 - 4 = 16. */
    struct schedule_task t[2] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 4, .exec_ms = 4, .copy_in_ms = 2, .copy_out_ms = 1, .bytes = 20},
        {.placement = PLACEMENT_MANAGED,
         .kernels = 2,
         .mappings = 2,
         .exec_ms = 6,
         .idle_ms = 5,
         .flush_ms = 2,
         .bytes = 10}};
    struct schedule s;
    ck_assert_double_eq(schedule_overlap_ms(&t[0], &t[1]), 4);
    ck_assert_double_eq(schedule_overlap_ms(&t[1], &t[0]), 4);
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL, NULL), 0);
    ck_assert_double_eq(s.end_ms, 16);
    ck_assert_double_eq(s.busy_ms, 13); /* 10 of kernels, 3 of copies */
    ck_assert_double_eq(s.peak_bytes, 30);
    ck_assert_double_eq(s.pairs, 2);
    ck_assert_double_eq(s.slots[1].finish_ms, 15);
    schedule_release(&s);
    ck_assert_int_eq(schedule_run(&s, t, 2, false, NULL, NULL), 0);
    ck_assert_double_eq(s.end_ms, 20);
    ck_assert_double_eq(s.peak_bytes, 20);
    schedule_release(&s);
}
END_TEST

START_TEST(overlap_is_where_launches_map)
{
    /* 1 GiB mapped in 1 of 512 launches, 9.2 ms, beside device kernels of 0.1 ms: 92 of them fit there; where every
     * launch maps its 512th part, 18 us, none does. */
    struct schedule_task t[2] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 1000, .exec_ms = 100},
        {.placement = PLACEMENT_MANAGED, .kernels = 512, .mappings = 1, .exec_ms = 200, .idle_ms = 0x1p30 * 8.576e-9}};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL, NULL), 0);
    ck_assert_double_eq_tol(s.slots[0].overlap_ms, 9.2, 1e-9);
    ck_assert_double_eq_tol(s.end_ms, 300 + t[1].idle_ms - 9.2, 1e-9);
    schedule_release(&s);
    t[1].mappings = 512;
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL, NULL), 0);
    ck_assert_double_eq(s.slots[0].overlap_ms, 0);
    schedule_release(&s);
}
END_TEST

START_TEST(kernels_of_several_tasks_share_an_idle_period)
{
    /* 5 ms of mapping: two kernels of 2 ms, then one of the four of 0.9 ms, which is next in the queue. */
    struct schedule_task t[3] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 2, .exec_ms = 4},
        {.placement = PLACEMENT_DEVICE, .kernels = 5, .exec_ms = 4.5},
        {.placement = PLACEMENT_MANAGED, .kernels = 1, .mappings = 1, .exec_ms = 1, .idle_ms = 5}};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, t, 3, true, NULL, NULL), 0);
    ck_assert_double_eq_tol(s.slots[0].overlap_ms, 4, 1e-12);
    ck_assert_double_eq_tol(s.slots[1].overlap_ms, 0.9, 1e-12);
    ck_assert_double_eq_tol(s.slots[0].finish_ms, 6, 1e-12);
    ck_assert_double_eq_tol(s.end_ms, 6 + 3.6, 1e-12);
    schedule_release(&s);
}
END_TEST

/* The source's example: A alone is under device memory; followed by B, one of them gets managed memory. */
START_TEST(a_task_is_placed_by_its_neighbour)
{
    const struct schedule_task device = {.placement = PLACEMENT_DEVICE, .kernels = 4, .exec_ms = 4, .copy_in_ms = 2};
    const struct schedule_task managed = {
        .placement = PLACEMENT_MANAGED, .kernels = 4, .mappings = 4, .exec_ms = 4, .idle_ms = 4, .flush_ms = 0.5};
    const struct schedule_task other[] = {device, managed, {0}, device, managed, {0}};
    struct schedule_task t[2] = {device, device};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, t, 1, true, other, NULL), 0);
    ck_assert_int_eq(t[0].placement, PLACEMENT_DEVICE);
    schedule_release(&s);
    ck_assert_int_eq(schedule_run(&s, t, 2, true, other, NULL), 0);
    ck_assert_int_ne(t[0].placement, t[1].placement);
    ck_assert_double_eq_tol(s.end_ms, 6 + 8.5 - 4, 1e-12); /* 12 as they were */
    schedule_release(&s);
    struct schedule_task three[2] = {device, managed}; /* guideline 2: 4 managed kernels, 3 device kernels */
    const struct schedule_task uneven[] = {device, managed, {0}, device, managed, {0}};
    three[0].kernels = 3;
    three[1] = three[0];
    ck_assert_int_eq(schedule_run(&s, three, 2, true, uneven, NULL), 0);
    ck_assert_int_eq(three[0].placement == PLACEMENT_MANAGED, s.slots[0].reassigned);
    schedule_release(&s);
}
END_TEST

START_TEST(what_does_not_fit_or_may_not_pair_runs_alone)
{
    struct schedule_task d = {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 3};
    struct schedule_task m = {
        .placement = PLACEMENT_MANAGED, .kernels = 1, .mappings = 1, .exec_ms = 1, .idle_ms = 2.9, .flush_ms = 5};
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 0); /* flushes are no room */
    m.idle_ms = 3;
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 3);
    ck_assert_double_eq(schedule_overlap_ms(&m, &m), 0);
    ck_assert_double_eq(schedule_overlap_ms(&d, &d), 0);
    m.placement = PLACEMENT_PINNED;
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 0);
}
END_TEST

START_TEST(late_tasks_wait_for_their_arrival)
{
    struct schedule_task t[2] = {{.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 1, .arrival_ms = 10},
                                 {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 5}};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL, NULL), 0);
    ck_assert_double_eq(s.slots[1].start_ms, 0);
    ck_assert_double_eq(s.slots[0].start_ms, 10);
    ck_assert_double_eq(s.end_ms, 11);
    ck_assert_double_eq(s.mean_response_ms, (1 + 5) / 2.0); /* from their arrival */
    schedule_release(&s);
    /* Kernels are dispatched: a shorter task that comes while another runs waits for its kernel, not for all. */
    t[1].kernels = 50;
    t[1].exec_ms = 50;
    t[0].arrival_ms = 10.5;
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL, NULL), 0);
    ck_assert_double_eq(s.slots[0].start_ms, 11);
    ck_assert_double_eq(s.slots[0].finish_ms, 12);
    ck_assert_double_eq(s.end_ms, 51);
    schedule_release(&s);
    ck_assert_int_eq(schedule_run(&s, t, 2, false, NULL, NULL), 0);
    ck_assert_double_eq(s.slots[0].start_ms, 50);
    schedule_release(&s);
}
END_TEST

/* --- the rules again, a kernel at a time, by a look at every task --- */

struct plain {
    struct schedule_task *t;
    double left[12], map[12], finish[12], overlap[12], now;
    bool begun[12];
    size_t n;
};

static bool before(const struct plain *p, size_t a, size_t b)
{
    double x = schedule_alone_ms(&p->t[a]), y = schedule_alone_ms(&p->t[b]);
    return x < y || (x == y && a < b);
}

static void begin(struct plain *p, size_t i)
{
    if (!p->begun[i])
        p->now += p->t[i].copy_in_ms;
    p->begun[i] = true;
}

static void end(struct plain *p, size_t i)
{
    if (p->left[i] > 0)
        return;
    p->now += p->t[i].copy_out_ms;
    p->finish[i] = p->now;
}

/* The first waiting task: `kind` -1 any, else of that placement with a kernel of at most `most`, a mapping of at least
 * `least`; not yet `tried`. */
static size_t first(const struct plain *p, int kind, double most, double least, const bool *tried)
{
    size_t best = p->n;
    for (size_t i = 0; i < p->n; i++) {
        const struct schedule_task *t = &p->t[i];
        if (p->left[i] <= 0 || t->arrival_ms > p->now || (kind >= 0 && (int)t->placement != kind) ||
            (tried && tried[i]))
            continue;
        if ((kind == PLACEMENT_DEVICE && t->exec_ms / t->kernels > most) ||
            (kind == PLACEMENT_MANAGED && (p->map[i] == 0 || t->idle_ms / t->mappings < least)))
            continue;
        if (best == p->n || before(p, i, best))
            best = i;
    }
    return best;
}

static void plain_round(struct plain *p, size_t head)
{
    const struct schedule_task *h = &p->t[head];
    size_t m = p->map[head] > 0 ? head : p->n;
    if (h->placement == PLACEMENT_DEVICE)
        m = first(p, PLACEMENT_MANAGED, 0, h->exec_ms / h->kernels, NULL);
    bool tried[12] = {false};
    size_t filled[12], fills = 0;
    double count[12];
    double room = m < p->n ? p->t[m].idle_ms / p->t[m].mappings : 0;
    for (size_t d; m < p->n && (d = first(p, PLACEMENT_DEVICE, room, 0, tried)) < p->n; tried[d] = true) {
        double exec = p->t[d].exec_ms / p->t[d].kernels;
        count[fills] = fmin(p->left[d], floor(room / exec));
        room -= count[fills] * exec;
        filled[fills++] = d;
    }
    for (size_t i = 0; i < fills; i++)
        begin(p, filled[i]);
    size_t run = fills ? m : head;
    const struct schedule_task *t = &p->t[run];
    double shared = t->placement == PLACEMENT_MANAGED && t->mappings ? t->mappings : t->kernels;
    begin(p, run);
    p->now += (t->exec_ms + t->flush_ms) / t->kernels;
    if (p->map[run] > 0 || shared == t->kernels)
        p->now += (t->idle_ms + t->launch_ms) / shared;
    p->map[run] -= p->map[run] > 0;
    p->left[run]--;
    end(p, run);
    for (size_t i = 0; i < fills; i++) {
        size_t d = filled[i];
        p->left[d] -= count[i];
        p->overlap[d] += count[i] * p->t[d].exec_ms / p->t[d].kernels;
        end(p, d);
    }
}

static void plain_run(struct plain *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->left[i] = p->t[i].kernels;
        p->map[i] = p->t[i].placement == PLACEMENT_MANAGED ? p->t[i].mappings : 0;
    }
    for (;;) {
        size_t head = first(p, -1, 0, 0, NULL);
        double next = INFINITY;
        for (size_t i = 0; i < p->n; i++)
            next = p->left[i] > 0 ? fmin(next, p->t[i].arrival_ms) : next;
        if (head < p->n)
            plain_round(p, head);
        else if (next < INFINITY)
            p->now = next;
        else
            return;
    }
}

START_TEST(random_sets_many_rounds_at_once_are_the_rounds_one_by_one)
{
    for (int round = 0; round < 2000; round++) {
        struct schedule_task forms[PLACEMENTS], t[12];
        size_t n = 1 + (size_t)schedule_any(11.99);
        for (size_t i = 0; i < n; i++) {
            schedule_any_forms(forms, 40);
            t[i] = forms[(int)schedule_any(2.99)];
            t[i].arrival_ms = schedule_any(1) < 0.5 ? 0 : schedule_any(30);
        }
        struct plain p = {.t = t, .n = n};
        struct schedule s;
        ck_assert_int_eq(schedule_run(&s, t, n, true, NULL, NULL), 0);
        plain_run(&p);
        for (size_t i = 0; i < n; i++) {
            ck_assert_double_eq_tol(s.slots[i].finish_ms, p.finish[i], 1e-6);
            if (t[i].placement == PLACEMENT_DEVICE)
                ck_assert_double_eq_tol(s.slots[i].overlap_ms, p.overlap[i], 1e-6);
        }
        schedule_release(&s);
    }
}
END_TEST

START_TEST(random_sets_a_corun_is_never_slower_and_only_mapping_is_overlapped)
{
    for (int round = 0; round < 2000; round++) {
        struct schedule_task forms[12 * PLACEMENTS], t[12];
        size_t n = 1 + (size_t)schedule_any(11.99);
        for (size_t i = 0; i < n; i++) {
            schedule_any_forms(&forms[PLACEMENTS * i], 9);
            t[i] = forms[PLACEMENTS * i + (size_t)schedule_any(2.99)];
        }
        struct schedule serial, corun;
        ck_assert_int_eq(schedule_run(&serial, t, n, false, NULL, NULL), 0);
        ck_assert_int_eq(schedule_run(&corun, t, n, true, NULL, NULL), 0);
        ck_assert_double_le(corun.end_ms, serial.end_ms + 1e-9);
        double sum = 0, device = 0, managed = 0;
        for (size_t i = 0; i < n; i++) {
            sum += schedule_alone_ms(&t[i]);
            double part = corun.slots[i].overlap_ms;
            ck_assert_int_eq(corun.slots[i].partner >= 0, part > 0);
            ck_assert(t[i].placement != PLACEMENT_PINNED || part == 0);
            *(t[i].placement == PLACEMENT_DEVICE ? &device : &managed) += part;
            ck_assert_double_le(part, (t[i].placement == PLACEMENT_DEVICE ? t[i].exec_ms : t[i].idle_ms) + 1e-9);
        }
        ck_assert_double_eq_tol(device, managed, 1e-9);
        ck_assert_double_eq_tol(corun.end_ms, sum - device, 1e-9);
        schedule_release(&serial);
        schedule_release(&corun);
    }
}
END_TEST

/* Nor where tasks arrive one by one: the chip never waits while there is work, and overlap only takes work away. */
START_TEST(random_arrivals_a_corun_ends_no_later)
{
    double gaps = 0;
    for (int round = 0; round < 2000; round++) {
        struct schedule_task forms[PLACEMENTS], t[12];
        size_t n = 1 + (size_t)schedule_any(11.99);
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            schedule_any_forms(forms, 40);
            t[i] = forms[(int)schedule_any(2.99)];
            t[i].arrival_ms = schedule_any(150);
            sum += schedule_alone_ms(&t[i]);
        }
        struct schedule serial, corun;
        ck_assert_int_eq(schedule_run(&serial, t, n, false, NULL, NULL), 0);
        ck_assert_int_eq(schedule_run(&corun, t, n, true, NULL, NULL), 0);
        ck_assert_double_le(corun.end_ms, serial.end_ms + 1e-9);
        gaps += serial.end_ms > sum + 1e-9;
        schedule_release(&serial);
        schedule_release(&corun);
    }
    ck_assert_double_gt(gaps, 500); /* in many of them the chip has to wait */
}
END_TEST

/* Against every placement and every way to fill the idle periods: never below the best, never above the tasks in turn;
 * how far from the best is printed. */
START_TEST(small_sets_against_the_best_by_trying_all)
{
    enum { ROUNDS = 400 };
    double given = 0, given_most = 0, all = 0, all_most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct schedule_task forms[3 * PLACEMENTS], t[3], moved[3];
        size_t n = 1 + (size_t)schedule_any(2.99);
        double alone = 0;
        for (size_t i = 0; i < n; i++) {
            struct schedule_task *f = &forms[PLACEMENTS * i];
            schedule_any_forms(f, 3);
            f[PLACEMENT_PINNED].exec_ms = 1e3; /* the schedule chooses between two */
            bool managed = schedule_alone_ms(&f[PLACEMENT_MANAGED]) < schedule_alone_ms(&f[PLACEMENT_DEVICE]);
            moved[i] = t[i] = f[managed];
            alone += schedule_alone_ms(&t[i]);
        }
        struct schedule fixed, free_;
        ck_assert_int_eq(schedule_run(&fixed, t, n, true, NULL, NULL), 0);
        ck_assert_int_eq(schedule_run(&free_, moved, n, true, forms, NULL), 0);
        double best = schedule_best_ms(t, n), best_of_all = schedule_best_of_all_ms(forms, n);
        ck_assert_double_ge(fixed.end_ms, best - 1e-9);
        ck_assert_double_ge(free_.end_ms, best_of_all - 1e-9);
        ck_assert_double_le(fixed.end_ms, alone + 1e-9);
        ck_assert_double_le(free_.end_ms, alone + 1e-9);
        given += fixed.end_ms / best / ROUNDS;
        given_most = fmax(given_most, fixed.end_ms / best);
        double end = fmin(fixed.end_ms, free_.end_ms);
        all += end / best_of_all / ROUNDS;
        all_most = fmax(all_most, end / best_of_all);
        schedule_release(&fixed);
        schedule_release(&free_);
    }
    printf("schedule / optimum: placements given: mean %.4f, most %.3f; placements free: mean %.4f, most %.3f\n", given,
           given_most, all, all_most);
    ck_assert_double_lt(given, 1.01);
    ck_assert_double_lt(all, 1.05);
}
END_TEST

START_TEST(the_worked_example)
{
    const struct schedule_task forms[PLACEMENTS] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 5, .copy_in_ms = 4},
        {.placement = PLACEMENT_MANAGED, .kernels = 1, .mappings = 1, .exec_ms = 5, .idle_ms = 1, .flush_ms = 2}};
    double bound = schedule_bound_ms(forms, 1);
    ck_assert_double_le(bound, 22.0 / 3);
    ck_assert_double_ge(bound, 22.0 / 3 - 5.0 / 64);
}
END_TEST

START_TEST(random_sets_it_is_never_above_the_best_of_all_placements_and_orders)
{
    double least = 1, sum = 0;
    enum { ROUNDS = 300 };
    for (int round = 0; round < ROUNDS; round++) {
        struct schedule_task forms[3 * PLACEMENTS];
        size_t n = 1 + (size_t)schedule_any(2.99);
        for (size_t i = 0; i < n; i++)
            schedule_any_forms(&forms[PLACEMENTS * i], 2);
        double best = schedule_best_of_all_ms(forms, n), bound = schedule_bound_ms(forms, n);
        ck_assert_double_le(bound, best + 1e-9);
        least = fmin(least, bound / best);
        sum += bound / best;
    }
    printf("bound / optimum: mean %.3f, least %.3f\n", sum / ROUNDS, least);
    ck_assert_double_gt(sum / ROUNDS, 0.9);
}
END_TEST

static uint64_t state = 3;
static double any(double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return hi * (double)(state >> 40) / 0x1p24;
}

/* Against a look at everybody, over queues of 1 to 40 with offers that come and go. */
START_TEST(the_first_that_fits_is_what_a_plain_search_finds)
{
    for (size_t count = 1; count <= 40; count++) {
        struct schedule_queue queue;
        struct schedule_offer offers[40] = {{0}};
        ck_assert_int_eq(schedule_queue_init(&queue, count, NULL), 0);
        for (int round = 0; round < 300; round++) {
            size_t at = (size_t)any((double)count - 0.01), from = (size_t)any((double)count + 1.99);
            bool device = any(1) < 0.5;
            offers[at] = (struct schedule_offer){any(1) < 0.7, device ? any(4) : INFINITY, device ? -1 : floor(any(4))};
            schedule_queue_set(&queue, at, offers[at]);
            double x = floor(any(5));
            size_t expect[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
            for (size_t i = count; i-- > from;) {
                expect[0] = offers[i].waiting ? i : expect[0];
                expect[1] = offers[i].waiting && offers[i].exec_ms <= x ? i : expect[1];
                expect[2] = offers[i].waiting && offers[i].idle_ms >= x ? i : expect[2];
            }
            ck_assert_uint_eq(schedule_queue_find(&queue, from, INFINITY, -1), expect[0]);
            ck_assert_uint_eq(schedule_queue_find(&queue, from, x, -1), expect[1]);
            ck_assert_uint_eq(schedule_queue_find(&queue, from, INFINITY, x), expect[2]);
        }
        schedule_queue_release(&queue);
    }
}
END_TEST

/* --- re-assignment, at the edges of its rules --- */

static const struct schedule_task
    on_device = {.placement = PLACEMENT_DEVICE, .kernels = 4, .exec_ms = 4, .copy_in_ms = 2},
    in_managed = {
        .placement = PLACEMENT_MANAGED, .kernels = 4, .mappings = 4, .exec_ms = 4, .idle_ms = 4, .flush_ms = 0.5};

/* The tasks run; the nth stands for one that was placed anew. */
static unsigned reassigned(struct schedule_task *tasks, size_t n, const struct schedule_task *forms)
{
    struct schedule s;
    unsigned set = 0;
    ck_assert_int_eq(schedule_run(&s, tasks, n, true, forms, NULL), 0);
    for (size_t i = 0; i < n; i++)
        set |= (unsigned)s.slots[i].reassigned << i;
    schedule_release(&s);
    return set;
}

/* As many managed kernels as before are never too many, whatever guideline 2 says; and as much time is no gain. */
START_TEST(two_tasks_change_places_where_that_is_less)
{
    struct schedule_task forms[3 * PLACEMENTS] = {on_device, in_managed, {0}, on_device, in_managed, {0}};
    const struct schedule_task pinned = {.placement = PLACEMENT_PINNED, .kernels = 100, .exec_ms = 100};
    struct schedule_task t[] = {on_device, in_managed, pinned};
    ck_assert_uint_eq(reassigned(t, 3, forms), 0);
    forms[PLACEMENT_MANAGED].flush_ms = 0.25;
    ck_assert_uint_eq(reassigned(t, 3, forms), 3);
    ck_assert(t[0].placement == PLACEMENT_MANAGED && t[1].placement == PLACEMENT_DEVICE);
}
END_TEST

/* 16 device kernels and 2 pinned ones: 4 may become managed, 4 more would be 10 beside 8. */
START_TEST(guideline_2_counts_what_was_placed_before)
{
    struct schedule_task forms[5 * PLACEMENTS] = {{0}}, t[5];
    for (int i = 0; i < 4; i++) {
        forms[PLACEMENTS * i] = t[i] = on_device;
        forms[PLACEMENTS * i + PLACEMENT_MANAGED] = in_managed;
    }
    t[4] = (struct schedule_task){.placement = PLACEMENT_PINNED, .kernels = 2, .exec_ms = 100};
    const unsigned set = reassigned(t, 5, forms);
    ck_assert_msg(set == 1 || set == 2, "%x", set);
}
END_TEST

START_TEST(what_has_begun_and_what_is_pinned_stays)
{
    const struct schedule_task rest = {.placement = PLACEMENT_DEVICE, .kernels = 100, .exec_ms = 100};
    struct schedule_task forms[3 * PLACEMENTS] = {on_device, in_managed, {0}, on_device, in_managed, {0}, rest};
    struct schedule_task t[3] = {on_device, on_device, rest}, begun[2] = {on_device, rest};
    t[0].placement = PLACEMENT_PINNED;
    t[0].exec_ms = 5.9;
    t[0].copy_in_ms = 0;
    ck_assert_uint_eq(reassigned(t, 3, forms) & 1, 0);
    t[1] = t[0]; /* nor behind a device task */
    t[0] = on_device;
    t[1].exec_ms = 6.1;
    ck_assert_uint_eq(reassigned(t, 3, forms) & 2, 0);
    /* The short one comes while the long one runs. */
    forms[3] = rest;
    forms[4] = (struct schedule_task){
        .placement = PLACEMENT_MANAGED, .kernels = 100, .mappings = 100, .exec_ms = 100, .idle_ms = 100};
    begun[0].arrival_ms = 10.5;
    forms[0].arrival_ms = forms[1].arrival_ms = 10.5;
    ck_assert_uint_eq(reassigned(begun, 2, forms), 0);
}
END_TEST

START_TEST(odd_tasks)
{
    /* No launch maps twice: of 8 mappings in 2 launches each has 4, room for both device kernels. */
    struct schedule_task d = {.placement = PLACEMENT_DEVICE, .kernels = 2, .exec_ms = 4}, twice = in_managed;
    twice.kernels = 2;
    twice.mappings = 8;
    ck_assert_double_eq(schedule_overlap_ms(&d, &twice), 4);
    /* What takes no time holds its bytes all the same; what maps is by itself no sooner done than it is. */
    struct schedule_task none = {.placement = PLACEMENT_PINNED, .kernels = 1, .bytes = 10};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, &none, 1, true, NULL, NULL), 0);
    ck_assert_double_eq(s.peak_bytes, 10);
    schedule_release(&s);
    const struct schedule_task forms[PLACEMENTS] = {{0}, in_managed, {0}};
    ck_assert_double_eq(schedule_bound_ms(forms, 1), 8.5);
    /* The partner is the first of two. */
    struct schedule_task t[3] = {in_managed, in_managed, on_device};
    for (int i = 0; i < 2; i++) {
        t[i].kernels = t[i].mappings = 1;
        t[i].idle_ms = 2;
        t[i].exec_ms = 0.1 * (1 + i);
    }
    ck_assert_int_eq(schedule_run(&s, t, 3, true, NULL, NULL), 0);
    ck_assert(s.slots[2].partner == 0 && s.slots[0].partner == 2 && s.slots[1].partner == 2);
    ck_assert_double_eq(s.slots[2].overlap_ms, 4);
    schedule_release(&s);
}
END_TEST

TEST_MAIN("placement_schedule")
