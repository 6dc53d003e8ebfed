#include "replay/placement/placement_schedule.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"

enum { FILLS = 16 }; /* tasks whose kernels share one idle period */

struct run {
    struct schedule *out;
    struct schedule_task *tasks;
    const struct schedule_task *other;
    size_t count;
    double now;
    size_t *by_rank, *rank, *by_arrival;
    size_t arrived;
    double *left; /* launches to release */
    bool *started;
    double kernels[PLACEMENTS]; /* of all tasks: guideline 2 */
    struct schedule_queue queue;
};

/* --- tasks --- */

double schedule_alone_ms(const struct schedule_task *t)
{
    return t->cpu_ms + t->copy_in_ms + t->exec_ms + t->idle_ms + t->launch_ms + t->flush_ms + t->copy_out_ms;
}

static double mappings(const struct schedule_task *t)
{
    return t->placement == PLACEMENT_MANAGED ? fmin(t->mappings, t->kernels) : 0;
}

/* With `left` launches to go, how many of them map. */
static double to_map(const struct schedule_task *t, double left)
{
    return fmax(left - (t->kernels - mappings(t)), 0);
}

/* The next launch's time; what maps nothing at all has no mapping to spread, pinned memory's is every launch's. */
static double launch_ms(const struct schedule_task *t, double left)
{
    double each = (t->exec_ms + t->flush_ms) / t->kernels;
    if (mappings(t) == 0)
        return each + (t->idle_ms + t->launch_ms) / t->kernels;
    return to_map(t, left) > 0 ? each + (t->idle_ms + t->launch_ms) / mappings(t) : each;
}

static struct schedule_offer offer(const struct schedule_task *t, double left)
{
    struct schedule_offer o = {true, INFINITY, -1};
    if (t->placement == PLACEMENT_DEVICE && t->exec_ms > 0)
        o.exec_ms = (t->exec_ms + t->flush_ms) / t->kernels;
    if (to_map(t, left) > 0)
        o.idle_ms = t->idle_ms / mappings(t);
    return o;
}

double schedule_overlap_ms(const struct schedule_task *a, const struct schedule_task *b)
{
    const struct schedule_task *device = a->placement == PLACEMENT_DEVICE ? a : b;
    const struct schedule_task *managed = device == a ? b : a;
    double exec = offer(device, device->kernels).exec_ms, idle = offer(managed, managed->kernels).idle_ms;
    if (exec > idle) /* among them all other pairs */
        return 0;
    return fmin(device->kernels, mappings(managed) * floor(idle / exec)) * exec;
}

/* --- rounds --- */

static void wait_in_queue(struct run *r, size_t t, bool waiting)
{
    struct schedule_offer o = offer(&r->tasks[t], r->left[t]);
    o.waiting = waiting;
    schedule_queue_set(&r->queue, r->rank[t], o);
}

static double next_arrival(const struct run *r)
{
    return r->arrived < r->count ? r->tasks[r->by_arrival[r->arrived]].arrival_ms : INFINITY;
}

static void start(struct run *r, size_t t)
{
    if (r->started[t])
        return;
    r->started[t] = true;
    r->out->slots[t].start_ms = r->now;
    r->now += r->tasks[t].cpu_ms + r->tasks[t].copy_in_ms;
}

/* `n` launches of a task are done at `now`. */
static void done(struct run *r, size_t t, double n)
{
    bool mapped = to_map(&r->tasks[t], r->left[t]) > 0;
    r->left[t] -= n;
    if (r->left[t] > 0) {
        if (mapped && to_map(&r->tasks[t], r->left[t]) == 0)
            wait_in_queue(r, t, true);
        return;
    }
    r->now += r->tasks[t].copy_out_ms;
    r->out->slots[t].finish_ms = r->now;
    wait_in_queue(r, t, false);
}

/* How many launches of `ms` start before somebody else arrives: at least one. */
static double undisturbed(const struct run *r, double n, double ms)
{
    double room = next_arrival(r) - r->now;
    return room < n * ms ? fmax(1, fmin(n, ceil(room / ms))) : n;
}

/* Run the rest of a task alone, or under co-run the part of it that is alike. */
static void run_alone(struct run *r, size_t t, bool corun)
{
    const struct schedule_task *task = &r->tasks[t];
    do {
        double map = to_map(task, r->left[t]), n = map > 0 ? map : r->left[t], ms = launch_ms(task, r->left[t]);
        n = corun ? undisturbed(r, n, ms) : n;
        r->now += n * ms;
        done(r, t, n);
    } while (!corun && r->left[t] > 0);
}

struct fill {
    size_t task;
    double kernels;
};

/* Device kernels for one idle period of managed task m, in order of deadline. */
static size_t find_fills(const struct run *r, size_t m, struct fill fills[FILLS])
{
    double room = offer(&r->tasks[m], r->left[m]).idle_ms;
    size_t n = 0;
    for (size_t at; n < FILLS &&
                    (at = schedule_queue_find(&r->queue, n ? r->rank[fills[n - 1].task] + 1 : 0, room, -1)) < SIZE_MAX;
         n++) {
        double exec = r->queue.node[r->queue.leaves + at].exec_ms;
        fills[n].task = r->by_rank[at];
        fills[n].kernels = fmin(r->left[fills[n].task], floor(room / exec));
        room -= fills[n].kernels * exec;
    }
    return n;
}

static void overlap(struct run *r, size_t device, size_t managed, double ms)
{
    struct schedule_slot *d = &r->out->slots[device], *m = &r->out->slots[managed];
    d->overlap_ms += ms;
    m->overlap_ms += ms;
    d->partner = d->partner < 0 ? (int)managed : d->partner;
    m->partner = m->partner < 0 ? (int)device : m->partner;
}

/* Release launches of m with device kernels in their idle periods, as often as the same kernels fill them. */
static void run_filled(struct run *r, size_t m, const struct fill fills[FILLS], size_t n)
{
    for (size_t i = 0; i < n; i++)
        start(r, fills[i].task);
    start(r, m);
    double times = to_map(&r->tasks[m], r->left[m]), ms = launch_ms(&r->tasks[m], r->left[m]);
    for (size_t i = 0; i < n; i++)
        times = fmin(times, floor(r->left[fills[i].task] / fills[i].kernels));
    times = undisturbed(r, times, ms);
    r->now += times * ms;
    r->out->pairs += times;
    done(r, m, times);
    for (size_t i = 0; i < n; i++) {
        size_t d = fills[i].task;
        overlap(r, d, m, times * fills[i].kernels * offer(&r->tasks[d], r->left[d]).exec_ms);
        done(r, d, times * fills[i].kernels);
    }
}

/* --- re-assignment --- */

/* Whether the set may have `to` kernels less under the one and more under the other. */
static bool may_move(const struct run *r, double to_device)
{
    double device = r->kernels[PLACEMENT_DEVICE] + to_device;
    double rest = r->kernels[PLACEMENT_MANAGED] + r->kernels[PLACEMENT_PINNED] - to_device;
    return to_device >= 0 || guideline_2(rest, device);
}

static void place(struct run *r, size_t t, enum placement placement)
{
    if (r->tasks[t].placement == placement)
        return;
    r->kernels[r->tasks[t].placement] -= r->tasks[t].kernels;
    r->kernels[placement] += r->tasks[t].kernels;
    r->tasks[t] = r->other[PLACEMENTS * t + placement];
    r->left[t] = r->tasks[t].kernels;
    r->out->slots[t].reassigned = true;
    wait_in_queue(r, t, true);
}

/* The head and its neighbour, neither begun: one under device, the other under managed memory, if that is less. */
static void reassign(struct run *r, size_t head)
{
    size_t at = schedule_queue_find(&r->queue, r->rank[head] + 1, INFINITY, -1),
           next = at < SIZE_MAX ? r->by_rank[at] : head;
    const struct schedule_task *a = &r->tasks[head], *b = &r->tasks[next];
    if (next == head || r->started[head] || r->started[next] || a->placement == PLACEMENT_PINNED ||
        b->placement == PLACEMENT_PINNED)
        return;
    double least = schedule_alone_ms(a) + schedule_alone_ms(b) - schedule_overlap_ms(a, b);
    int best = -1;
    for (int managed = 0; managed < 2; managed++) { /* the head under managed memory, or the other */
        const struct schedule_task *x = &r->other[PLACEMENTS * head + (managed ? PLACEMENT_MANAGED : PLACEMENT_DEVICE)],
                                   *y = &r->other[PLACEMENTS * next + (managed ? PLACEMENT_DEVICE : PLACEMENT_MANAGED)];
        double saved = schedule_overlap_ms(x, y), ms = schedule_alone_ms(x) + schedule_alone_ms(y) - saved;
        double to_device = (a->placement == PLACEMENT_MANAGED ? a->kernels : 0) +
                           (b->placement == PLACEMENT_MANAGED ? b->kernels : 0) - (managed ? a : b)->kernels;
        if (saved > 0 && ms < least * (1 - 1e-12) && may_move(r, to_device)) {
            least = ms;
            best = managed;
        }
    }
    if (best < 0)
        return;
    place(r, head, best ? PLACEMENT_MANAGED : PLACEMENT_DEVICE);
    place(r, next, best ? PLACEMENT_DEVICE : PLACEMENT_MANAGED);
}

/* --- the whole --- */

static void release_head(struct run *r, size_t head, bool corun)
{
    struct fill fills[FILLS];
    size_t m = SIZE_MAX, n = 0;
    if (corun && r->other)
        reassign(r, head);
    if (corun && r->tasks[head].placement == PLACEMENT_MANAGED)
        m = head;
    else if (corun && offer(&r->tasks[head], r->left[head]).exec_ms < INFINITY) {
        size_t at = schedule_queue_find(&r->queue, 0, INFINITY, offer(&r->tasks[head], r->left[head]).exec_ms);
        m = at < SIZE_MAX ? r->by_rank[at] : SIZE_MAX;
    }
    n = m < SIZE_MAX ? find_fills(r, m, fills) : 0;
    if (n) {
        run_filled(r, m, fills, n);
        return;
    }
    start(r, head);
    run_alone(r, head, corun);
}

static void run(struct run *r, bool corun)
{
    for (;;) {
        while (next_arrival(r) <= r->now)
            wait_in_queue(r, r->by_arrival[r->arrived++], true);
        size_t head = schedule_queue_find(&r->queue, 0, INFINITY, -1);
        if (head < SIZE_MAX)
            release_head(r, r->by_rank[head], corun);
        else if (r->arrived < r->count)
            r->now = next_arrival(r);
        else
            return;
    }
}

struct key {
    double value, tie;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return ORDER_OF(x->value, y->value) ?: ORDER_OF(x->tie, y->tie) ?: ORDER_OF(x->index, y->index);
}

static void sort(struct run *r, struct key *keys)
{
    for (size_t i = 0; i < r->count; i++)
        keys[i] = (struct key){schedule_alone_ms(&r->tasks[i]), 0, i};
    sort_items(keys, r->count, sizeof *keys, by_value);
    for (size_t i = 0; i < r->count; i++) {
        r->by_rank[i] = keys[i].index;
        r->rank[keys[i].index] = i;
    }
    for (size_t i = 0; i < r->count; i++)
        keys[i] = (struct key){r->tasks[i].arrival_ms, 0, i};
    sort_items(keys, r->count, sizeof *keys, by_value);
    for (size_t i = 0; i < r->count; i++)
        r->by_arrival[i] = keys[i].index;
}

/* Bytes held at once: at one time, what is freed goes before what is taken. keys: two for each task. */
static double peak(const struct run *r, struct key *keys)
{
    double most = 0, held = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct schedule_slot *s = &r->out->slots[i];
        keys[2 * i] = (struct key){s->start_ms, 1, i};
        keys[2 * i + 1] = (struct key){s->finish_ms, s->finish_ms > s->start_ms ? 0 : 2, i};
    }
    sort_items(keys, 2 * r->count, sizeof *keys, by_value);
    for (size_t i = 0; i < 2 * r->count; i++) {
        held += (keys[i].tie == 1 ? 1 : -1) * r->tasks[keys[i].index].bytes;
        most = fmax(most, held);
    }
    return most;
}

static void sum_up(struct run *r, struct key *keys)
{
    struct schedule *s = r->out;
    s->end_ms = r->now;
    for (size_t i = 0; i < r->count; i++) {
        s->busy_ms += r->tasks[i].exec_ms + r->tasks[i].copy_in_ms + r->tasks[i].copy_out_ms;
        s->mean_response_ms += (s->slots[i].finish_ms - r->tasks[i].arrival_ms) / (double)r->count;
    }
    s->peak_bytes = peak(r, keys);
}

int schedule_run(struct schedule *schedule, struct schedule_task *tasks, size_t count, bool corun,
                 const struct schedule_task *other, struct err *err)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->slots = mem_zalloc(count, sizeof *schedule->slots, err);
    struct run r = {.out = schedule, .tasks = tasks, .other = other, .count = count};
    r.by_rank = mem_zalloc(3 * count, sizeof *r.by_rank, err);
    r.left = mem_zalloc(count, sizeof *r.left, err);
    r.started = mem_zalloc(count, sizeof *r.started, err);
    struct key *keys = mem_zalloc(2 * count, sizeof *keys, err);
    int rc =
        schedule_queue_init(&r.queue, count, err) || !schedule->slots || !r.by_rank || !r.left || !r.started || !keys
            ? -1
            : 0;
    if (!rc) {
        r.rank = r.by_rank + count;
        r.by_arrival = r.rank + count;
        for (size_t i = 0; i < count; i++) {
            r.left[i] = tasks[i].kernels;
            r.kernels[tasks[i].placement] += tasks[i].kernels;
            schedule->slots[i].partner = -1;
        }
        sort(&r, keys);
        run(&r, corun);
        sum_up(&r, keys);
    } else {
        schedule_release(schedule);
    }
    schedule_queue_release(&r.queue);
    free(r.by_rank);
    free(r.left);
    free(r.started);
    free(keys);
    return rc;
}

void schedule_release(struct schedule *schedule)
{
    free(schedule->slots);
    memset(schedule, 0, sizeof *schedule);
}

/* --- the bound --- */

enum { GRID = 64 };

/* The least part of one task where `share` of the bound is without device kernels, the rest without mapping. */
static double least(const struct schedule_task forms[PLACEMENTS], double share)
{
    double best = INFINITY;
    for (int p = 0; p < PLACEMENTS; p++) {
        const struct schedule_task *t = &forms[p];
        double hidden = p == PLACEMENT_DEVICE    ? share * (t->exec_ms + t->flush_ms)
                        : p == PLACEMENT_MANAGED ? (1 - share) * t->idle_ms
                                                 : 0;
        if (t->kernels > 0)
            best = fmin(best, schedule_alone_ms(t) - hidden);
    }
    return best;
}

double schedule_bound_ms(const struct schedule_task *forms, size_t count)
{
    double bound = 0;
    for (int step = 0; step <= GRID; step++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += least(&forms[PLACEMENTS * i], (double)step / GRID);
        bound = fmax(bound, sum);
    }
    return bound;
}

/* --- the queue --- */

static const struct schedule_offer nobody = {.exec_ms = INFINITY, .idle_ms = -1};

int schedule_queue_init(struct schedule_queue *queue, size_t count, struct err *err)
{
    queue->leaves = 1;
    while (queue->leaves < count)
        queue->leaves *= 2;
    queue->node = mem_zalloc(2 * queue->leaves, sizeof *queue->node, err);
    for (size_t i = 0; queue->node && i < 2 * queue->leaves; i++)
        queue->node[i] = nobody;
    return queue->node ? 0 : -1;
}

void schedule_queue_release(struct schedule_queue *queue)
{
    free(queue->node);
    memset(queue, 0, sizeof *queue);
}

void schedule_queue_set(struct schedule_queue *queue, size_t rank, struct schedule_offer offer)
{
    size_t i = queue->leaves + rank;
    queue->node[i] = offer.waiting ? offer : nobody;
    for (i /= 2; i; i /= 2) {
        const struct schedule_offer *a = &queue->node[2 * i], *b = a + 1;
        queue->node[i] = (struct schedule_offer){a->waiting || b->waiting, fmin(a->exec_ms, b->exec_ms),
                                                 fmax(a->idle_ms, b->idle_ms)};
    }
}

/* Whether a node offers kernels of at most `room` and mappings of at least `idle`; neutral where irrelevant. */
static bool offers(const struct schedule_offer *o, double room, double idle)
{
    return o->waiting && o->exec_ms <= room && o->idle_ms >= idle;
}

/* Up from the leaf to the first subtree to the right that offers it, then down its left side. */
size_t schedule_queue_find(const struct schedule_queue *queue, size_t from, double room, double idle)
{
    if (from >= queue->leaves)
        return SIZE_MAX;
    size_t i = queue->leaves + from;
    while (!offers(&queue->node[i], room, idle)) {
        while (i & 1) { /* a right child: its parent's right neighbour is next */
            i /= 2;
            if (i <= 1)
                return SIZE_MAX;
        }
        i++;
    }
    while (i < queue->leaves)
        i = offers(&queue->node[2 * i], room, idle) ? 2 * i : 2 * i + 1;
    return i - queue->leaves;
}
