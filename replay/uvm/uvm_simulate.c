#include "replay/uvm/uvm_simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_driver.h"
#include "replay/uvm/uvm_gpu.h"
#include "replay/uvm/uvm_metrics.h"
#include "trace/base/mem.h"

/* Duplicates among the entries of a batch over which the flush reads PUT again: uvm_perf_fault_replay_update_put_ratio
 * of drivers 525.60.13 to 595.45.04. */
enum { UPDATE_PUT_PCT = 50 };

/* --- what is pending: pages that come, and replays, each at its time --- */

/* In an arrival's block: none comes, the GPU replays. */
#define PENDING_REPLAY UINT32_MAX

/* With replay_policy=batch-flush the driver waits for each replay, so nothing is left behind a batch; otherwise it goes
 * on while copies and replays of earlier ones are still to come. */
struct pending {
    struct uvm_arrival *events; /* [head, count), in order of time; what was added first, first */
    size_t head, count, cap;
};

/* Pages that come again have gone meanwhile: they come now, not when they would have. */
static void come_again(struct pending *p, const struct uvm_arrival *event)
{
    for (size_t i = p->head; i < p->count; i++)
        if (p->events[i].block == event->block)
            page_mask_andnot(&p->events[i].pages, &p->events[i].pages, &event->pages);
}

/* Pages come, or with PENDING_REPLAY a replay does. */
static int pending_add(struct pending *p, const struct uvm_arrival *event, struct err *err)
{
    if (event->block != PENDING_REPLAY)
        come_again(p, event);
    if (p->head == p->count)
        p->head = p->count = 0;
    if (p->head && p->count == p->cap) {
        memmove(p->events, p->events + p->head, (p->count - p->head) * sizeof *p->events);
        p->count -= p->head;
        p->head = 0;
    }
    if (mem_grow((void **)&p->events, &p->cap, p->count + 1, sizeof *p->events, err))
        return -1;
    size_t i = p->count++;
    for (; i > p->head && p->events[i - 1].time_ns > event->time_ns; i--)
        p->events[i] = p->events[i - 1];
    p->events[i] = *event;
    return 0;
}

static int pending_add_replay(struct pending *p, int64_t time_ns, struct err *err)
{
    return pending_add(p, &(struct uvm_arrival){.time_ns = time_ns, .block = PENDING_REPLAY}, err);
}

static void happen(struct uvm_gpu *g, const struct uvm_arrival *event)
{
    if (event->block == PENDING_REPLAY)
        uvm_gpu_replay(g, event->time_ns);
    else
        uvm_memory_map(g->memory, event->block, &event->pages);
}

/* No actor runs: all of it happens. Returns when the last of it does, or `time_ns` if that is later. */
static int64_t pending_settle(struct pending *p, struct uvm_gpu *g, int64_t time_ns)
{
    for (; p->head < p->count; p->head++) {
        const struct uvm_arrival *event = &p->events[p->head];
        time_ns = event->time_ns > time_ns ? event->time_ns : time_ns;
        happen(g, event);
    }
    return time_ns;
}

/* --- a run --- */

struct simulation {
    const struct uvm_run *run;
    struct uvm_memory memory;
    struct uvm_driver driver;
    struct uvm_gpu gpu;
    struct locality_windows windows;
    struct pending pending;
    uint32_t *pages; /* of the current batch */
    struct uvm_fetched fetched;
    struct uvm_time *times;     /* of this run alone */
    struct actor_alloc *allocs; /* the workload's, with the run's advice */
    uint64_t routines;
    bool stopped;
    int64_t cpu_ns, prefetch_ns;
    struct uvm_account credited; /* to kernels, so far; and until when */
    int64_t credited_ns;
    struct err *err;
};

/* Memory for managed data in 2 MiB chunks for a footprint of `blocks` VA blocks; 0: unlimited. */
static uint64_t chunks_of(const struct uvm_run *run, uint64_t blocks)
{
    uint64_t chunks;
    if (run->gpu_memory_bytes > 0)
        chunks = (uint64_t)run->gpu_memory_bytes / ACTOR_BLOCK_BYTES;
    else if (run->oversubscription_pct > 0)
        chunks = blocks * 100 / (uint64_t)run->oversubscription_pct;
    else
        return 0;
    return chunks ? chunks : 1;
}

/* --- parts --- */

/* What moved since the last call is the kernel's. */
static int credit_moves(struct simulation *s, const char *kernel, uint64_t batches)
{
    struct uvm_part *part = s->run->parts ? breakdown_kernel(s->run->parts, kernel, s->err) : NULL;
    if (!part)
        return s->run->parts ? -1 : 0;
    uvm_account_add(&part->account, &s->memory.total, &s->credited);
    part->account.prefetched_used = 0; /* found out when pages leave */
    part->batches += batches;
    s->credited = s->memory.total;
    return 0;
}

/* The time since the last call is the kernel's. */
static int credit_time(struct simulation *s, const char *kernel, int64_t until_ns)
{
    struct uvm_part *part = s->run->parts ? breakdown_kernel(s->run->parts, kernel, s->err) : NULL;
    if (part)
        part->time_ns += until_ns - s->credited_ns;
    s->credited_ns = until_ns;
    return !part && s->run->parts ? -1 : 0;
}

/* What the program discards behind a kernel. The call's own time is not known, and nobody waits for it. */
static int discard(struct simulation *s, const char *kernel)
{
    struct uvm_memory *m = &s->memory;
    if (!s->run->discard)
        return 0;
    for (uint32_t i = 0; i < m->block_count; i++)
        if (s->run->discard[m->blocks[i].alloc])
            uvm_memory_discard(m, i);
    return credit_moves(s, kernel, 0);
}

static int on_launch_end(void *ctx, const char *kernel, int64_t end_ns)
{
    struct simulation *s = ctx;
    if (discard(s, kernel))
        return -1;
    if (s->run->observer)
        s->run->observer->kernel(s->run->observer->ctx, kernel, s->gpu.launch_start_ns, end_ns);
    return credit_time(s, kernel, s->gpu.launch_end_ns);
}

static int fill_allocations(struct simulation *s)
{
    const struct uvm_memory *m = &s->memory;
    for (size_t a = 0; s->run->parts && a < m->alloc_count; a++) {
        struct uvm_part *part = breakdown_add(s->run->parts, OUTCOME_BY_ALLOCATION, m->allocs[a].name, s->err);
        if (!part)
            return -1;
        part->account = m->account[a];
        part->touched_pages = uvm_memory_touched(m, a);
        part->structure_bytes = part->touched_pages ? m->allocs[a].bytes : 0;
    }
    return 0;
}

/* As kind 4 has it: from the batch's first entry, at its lowest page, with that page's entries. */
static void tell_batch(const struct simulation *s, int64_t end_ns)
{
    const uint32_t page = s->fetched.page & ~UVM_FAULT_WRITE;
    const struct uvm_memory_block *b = &s->memory.blocks[page / ACTOR_BLOCK_PAGES];
    s->run->observer->batch(s->run->observer->ctx, s->fetched.first_ns, end_ns,
                            uvm_block_addr(&b->block, uvm_memory_page(b, page)), s->fetched.instances);
}

/* --- the run --- */

/* Runs the GPU until `until_ns` with what is pending by then, or, with interrupts on, until g->stop_ns. */
static int run_until(struct simulation *s, int64_t until_ns)
{
    struct pending *p = &s->pending;
    for (;;) {
        bool more = p->head < p->count && p->events[p->head].time_ns <= until_ns;
        int64_t stop_ns = more ? p->events[p->head].time_ns : until_ns;
        if (uvm_gpu_run(&s->gpu, stop_ns, s->err))
            return -1;
        if (!more || s->gpu.stop_ns < stop_ns)
            return 0;
        happen(&s->gpu, &p->events[p->head++]);
    }
}

/* The flush of a batch of n entries, for which PUT is read again if too many were duplicates, and the replay. */
static int flush_and_replay(struct simulation *s, uint32_t n, int64_t end_ns)
{
    if (run_until(s, s->driver.flush_ns))
        return -1;
    if ((n - s->driver.distinct) * 100 > n * UPDATE_PUT_PCT)
        (void)fault_buffer_flush_again(&s->gpu.ring, s->driver.flush_ns);
    else
        (void)fault_buffer_flush(&s->gpu.ring);
    return pending_add_replay(&s->pending, end_ns, s->err) || run_until(s, end_ns) ? -1 : 0;
}

/* The end of a batch of n entries, fetched at *time. *time: when the driver comes back to the fault buffer. Where it
 * waits for no replay that is at once: what a push costs the CPU cannot be told from batch_after_ns. But a batch that
 * evicts is waited for, or the next ones could evict what it brings before an access has found it, for ever. */
static int end_batch(struct simulation *s, uint32_t n, bool evicted, int64_t end_ns, int64_t *time)
{
    const struct uvm_driver *d = &s->driver;
    int64_t free_ns = evicted ? end_ns : d->flush_ns;
    int rc = 0;
    for (size_t i = 0; i < d->arrival_count && rc == 0; i++)
        rc = pending_add(&s->pending, &d->arrivals[i], s->err);
    if (rc == 0 && d->replay == UVM_REPLAY_BATCH_FLUSH) {
        *time = end_ns + (int64_t)s->run->platform->poll_ns;
        return flush_and_replay(s, n, end_ns);
    }
    for (size_t i = 0; i < d->replay_count && rc == 0; i++)
        rc = pending_add_replay(&s->pending, d->replays[i], s->err);
    if (rc == 0 && d->replay == UVM_REPLAY_BATCH)
        rc = pending_add_replay(&s->pending, end_ns, s->err);
    *time = free_ns > *time ? free_ns : *time + 1;
    return rc;
}

/* One batch fetched at *time: service it, let the others run on meanwhile, replay. *time: the next fetch. */
static int run_batch(struct simulation *s, uint32_t n, int64_t *time)
{
    int64_t fetch_ns = *time, end_ns;
    uint64_t evictions = s->memory.total.evictions;
    struct uvm_driver *d = &s->driver;
    uint32_t launch = s->gpu.launch < s->gpu.launch_count ? s->gpu.launch : s->gpu.launch_count - 1;
    const char *kernel = s->gpu.current.kernel;
    if (uvm_driver_batch(d, s->pages, n, fetch_ns, &end_ns, s->err) ||
        locality_windows_add(&s->windows, kernel, &d->batch, s->err) || credit_moves(s, kernel, 1))
        return -1;
    if (s->run->observer)
        tell_batch(s, end_ns);
    if (s->run->on_batch) {
        struct uvm_finished_batch seen = {fetch_ns, end_ns,    n,           d->faults,  d->moved,  launch,
                                          kernel,   &d->batch, d->distinct, s->fetched, d->records};
        s->run->on_batch(s->run->ctx, &seen);
    }
    if (end_batch(s, n, s->memory.total.evictions != evictions, end_ns, time))
        return -1;
    progress_add(s->run->progress, d->moved);
    if (s->run->progress && atomic_load_explicit(&s->run->progress->cancelled, memory_order_relaxed))
        return err_set(s->err, "cancelled");
    return 0;
}

/* Take entries. PUT is read if GET has come to the driver's copy of it, as it has after every flush. */
static uint32_t fetch(struct simulation *s, int64_t time)
{
    if (s->gpu.ring.get == s->gpu.ring.put)
        fault_buffer_read_put(&s->gpu.ring, time);
    s->fetched = fault_buffer_fetch(&s->gpu.ring, (uint32_t)s->run->platform->batch_faults, s->pages);
    return s->fetched.raw;
}

/* A routine is over without a replay, or with the only one still to come: behind all that it set going. That too is
 * waited for if something was evicted. *time: when the driver goes to sleep. */
static int replay_once(struct simulation *s, bool none, bool evicted, int64_t *time)
{
    const struct uvm_driver *d = &s->driver;
    double done = d->copies_free_ns > (double)*time ? d->copies_free_ns : (double)*time;
    int64_t replay_ns = (int64_t)(done + s->run->platform->batch_after_ns + 0.5);
    if (d->replay != UVM_REPLAY_ONCE && (d->replay == UVM_REPLAY_BATCH_FLUSH || !none))
        return 0;
    if (pending_add_replay(&s->pending, replay_ns, s->err))
        return -1;
    if (!evicted)
        return 0;
    *time = replay_ns;
    return run_until(s, replay_ns);
}

/* Batch after batch, to the limit of a routine. *time: the first fetch; then when the driver has gone to sleep. */
static int run_routine(struct simulation *s, int64_t *time)
{
    const struct uvm_platform *p = s->run->platform;
    s->routines++;
    uint32_t n = fetch(s, *time);
    uint64_t evictions = s->memory.total.evictions;
    bool none = n == 0;
    int throttled = 0;
    for (int64_t b = 1; n; b++) {
        if (run_batch(s, n, time))
            return -1;
        throttled += s->driver.throttled;
        if (run_until(s, *time))
            return -1;
        n = b < p->routine_batches && throttled < UVM_THRASHING_BATCHES ? fetch(s, *time) : 0;
        s->driver.batch.routine_end = n == 0;
        if (s->driver.policy->on_batch_end)
            s->driver.policy->on_batch_end(s->driver.policy_state, &s->driver.batch);
    }
    return replay_once(s, none, s->memory.total.evictions != evictions, time);
}

/* A launch of the CPU: its actors one after the other, while the GPU waits. */
static int run_cpu_phase(struct simulation *s, int64_t *time)
{
    struct uvm_gpu *g = &s->gpu;
    struct actor_step step;
    /* From the end of the launch before on: what the driver still does then is no kernel's time. */
    int64_t start = s->credited_ns ? s->credited_ns : *time;
    for (uint32_t actor = 0; actor < g->current.actors; actor++) {
        struct actor_at at = {0};
        int rc;
        while ((rc = g->ops->step(g->run, g->launch, actor, &at, &step, s->err)) == 1) {
            for (uint32_t i = 0; i < step.count + step.stores; i++) {
                s->driver.cpu_access = i < step.count ? RECORD_READ : RECORD_WRITE;
                uvm_driver_cpu_touch(&s->driver, step.page[i], *time, time);
            }
            if (step.compute_ns != ACTOR_COMPUTE_AUTO) /* the CPU's own computing is not modelled */
                *time += (int64_t)step.compute_ns * step.turns;
        }
        if (rc < 0)
            return -1;
    }
    s->cpu_ns += *time - start;
    if (credit_time(s, g->current.kernel, start) || credit_moves(s, g->current.kernel, 0))
        return -1;
    s->credited_ns = *time;
    return 0;
}

/* Notifications of access counters that wait: at most a batch of them, one after the other. */
static int serve_counters(struct simulation *s, int64_t *time)
{
    struct uvm_remote *r = &s->gpu.remote;
    uint32_t block, regions;
    for (int n = 0; n < UVM_REMOTE_BATCH && uvm_remote_take(r, &block, &regions); n++) {
        int64_t end;
        if (uvm_driver_notification(&s->driver, block, regions, *time, &end, s->err))
            return -1;
        *time = end;
    }
    return credit_moves(s, s->gpu.current.kernel, 0);
}

/* The bottom half of an interrupt at *time begins, then at *time. A top half that is there before the fault's entry is
 * valid reads PUT, as it tells by that whether something is pending; the first fetch takes what lies before it. Else
 * PUT is read by the fetch. */
static int wake(struct simulation *s, int64_t *time)
{
    const struct uvm_platform *p = s->run->platform;
    bool top = uvm_gpu_top_half(&s->gpu);
    s->gpu.interrupt_ns = UVM_GPU_NEVER;
    if (!top)
        return 0;
    fault_buffer_read_put(&s->gpu.ring, *time);
    *time += (int64_t)fmax(0, p->interrupt_ns - p->top_half_ns);
    return run_until(s, *time);
}

/* What the program prefetches before launch `first`, which begins it or is behind the CPU's work: nothing before that,
 * which would undo it, and nothing that only the CPU touches. *time: when it is there. */
static int prefetch_before(struct simulation *s, uint32_t first, int64_t *time)
{
    const struct actor_ops *ops = s->gpu.ops;
    const uint32_t launches = ops->launches(s->run->state);
    const int64_t from = *time;
    struct actor_launch launch = {0};
    uint32_t end = first;
    for (; end < launches; end++) {
        ops->launch(s->run->state, end, &launch);
        if (launch.cpu)
            break;
    }
    if (!s->run->prefetch || end == first)
        return 0;
    bool *due = mem_zalloc(s->memory.alloc_count, sizeof *due, s->err);
    if (!due)
        return -1;
    const bool all = first == 0 && end == launches;
    int rc = all ? 0 : actor_touched(ops, s->run->state, first, end, due, s->err);
    for (size_t a = 0; a < s->memory.alloc_count; a++)
        due[a] = s->run->prefetch[a] && (all || due[a]);
    rc = rc ? rc : uvm_driver_prefetch(&s->driver, due, from, time, s->err);
    free(due);
    s->prefetch_ns += *time - from;
    return rc;
}

static int begin_launch(struct simulation *s, int64_t *time)
{
    if (prefetch_before(s, s->gpu.launch + 1, time) || uvm_gpu_next_launch(&s->gpu, *time, s->err))
        return -1;
    return s->run->prefetch && !s->gpu.finished ? credit_moves(s, s->gpu.current.kernel, 0) : 0;
}

static int run_all(struct simulation *s, int64_t *end_ns)
{
    const struct uvm_platform *p = s->run->platform;
    int64_t time = 0;
    if (begin_launch(s, &time))
        return -1;
    for (;;) {
        while (s->gpu.cpu_phase) {
            int64_t from = time > s->gpu.launch_end_ns ? time : s->gpu.launch_end_ns;
            from = pending_settle(&s->pending, &s->gpu, from);
            if (run_cpu_phase(s, &from))
                return -1;
            s->gpu.host_ns = (double)from;
            if (begin_launch(s, &from))
                return -1;
            s->gpu.launch_end_ns = from;
        }
        if (s->gpu.finished && !fault_buffer_any(&s->gpu.ring))
            break;
        /* Whether the kernels so far and the one that runs take longer than they may. */
        s->stopped = s->run->stop_ns && !s->gpu.finished && s->gpu.now - s->cpu_ns > s->run->stop_ns;
        if (s->stopped)
            return 0;
        s->gpu.interrupt_ns = (int64_t)p->interrupt_ns;
        s->gpu.awake_ns = s->routines ? time + (int64_t)p->awake_ns : UVM_GPU_ASLEEP;
        s->gpu.answer_ns = time; /* what was written while the driver was at work is answered from now on */
        int64_t unpin = uvm_driver_unpin(&s->driver, s->gpu.now > time ? s->gpu.now : time);
        if (run_until(s, unpin))
            return -1;
        if (!fault_buffer_any(&s->gpu.ring) && unpin != UVM_GPU_NEVER && s->gpu.now >= unpin && !s->gpu.finished)
            continue; /* mappings of pinned pages go */
        if (!fault_buffer_any(&s->gpu.ring) && s->gpu.remote.pending_count) {
            time = s->gpu.stop_ns == UVM_GPU_NEVER ? s->gpu.now : s->gpu.stop_ns;
            if (serve_counters(s, &time))
                return -1;
            continue;
        }
        if (!fault_buffer_any(&s->gpu.ring)) {
            if (s->gpu.finished || s->gpu.cpu_phase)
                continue;
            return err_set(s->err, "check violated: actors wait, but no fault is pending");
        }
        time = s->gpu.stop_ns;
        if (wake(s, &time) || run_routine(s, &time) || (s->gpu.remote.pending_count && serve_counters(s, &time)))
            return -1;
    }
    (void)pending_settle(&s->pending, &s->gpu, time);
    *end_ns = s->gpu.launch_end_ns;
    return 0;
}

static int fill_metrics(struct simulation *s, int64_t end_ns, struct uvm_metrics *m)
{
    struct uvm_memory *memory = &s->memory;
    const struct uvm_driver *d = &s->driver;
    const struct uvm_run *run = s->run;
    const struct uvm_account *total = &memory->total;
    uvm_memory_close_account(memory);
    if (fill_allocations(s))
        return -1;
    m->time_ns = end_ns - s->cpu_ns;
    m->cpu_ns = s->cpu_ns;
    m->prefetch_ns = s->prefetch_ns;
    m->faults = total->faults + total->mapped;
    m->raw_faults = d->raw_faults;
    m->cpu_faults = d->cpu_faults;
    m->batches = d->batches;
    m->fault_handler_runs = s->routines;
    m->services = total->services;
    m->h2d_bytes = total->h2d * UVM_PAGE_BYTES;
    m->d2h_bytes = total->d2h * UVM_PAGE_BYTES;
    m->prefetched_bytes = total->prefetched * UVM_PAGE_BYTES;
    m->prefetched_used_bytes = total->prefetched_used * UVM_PAGE_BYTES;
    m->dropped_bytes = total->dropped * UVM_PAGE_BYTES;
    m->evictions = total->evictions;
    m->evicted_bytes = memory->evictions.back * UVM_PAGE_BYTES;
    m->refetched_bytes = memory->evictions.returned * UVM_PAGE_BYTES;
    m->evicted_unused_ratio =
        memory->evictions.pages ? (double)memory->evictions.unused / (double)memory->evictions.pages : NAN;
    for (size_t a = 0; a < memory->alloc_count; a++) {
        uint64_t pages = uvm_memory_touched(memory, a);
        m->touched_bytes += pages * UVM_PAGE_BYTES;
        m->structure_bytes += pages ? memory->allocs[a].bytes : 0;
    }
    m->touches = s->gpu.touches;
    m->remote_touches = s->gpu.remote.touches;
    m->remote_bytes = s->gpu.remote.bytes;
    m->throttles = d->thrashing.throttles;
    m->pinned_pages = d->thrashing.pins;
    m->counter_notifications = s->gpu.remote.notifications;
    m->mapped_faults = total->mapped;
    m->chunks = memory->chunks;
    m->migration_records = d->records;
    m->dropped_requests = d->requests.dropped;
    m->work = d->work;
    if (d->policy->granularity)
        m->granularity_final_bytes = d->policy->granularity(d->policy_state);
    if (run->parts && breakdown_check(run->parts, total, m->batches, m->time_ns, s->err))
        return -1;
    return locality_windows_close(&s->windows, m, s->err);
}

/* What the GPU has from the beginning, touched. Nobody waits for it; it counts as prefetched. */
static int put_there(struct simulation *s)
{
    static const struct page_mask none;
    struct uvm_memory *m = &s->memory;
    struct uvm_evicted out;
    for (uint32_t i = 0; s->run->later && i < m->block_count; i++) {
        struct page_mask pages = {{0}}, later = {{0}}, copied;
        uint32_t pieces;
        if (s->run->later[i].first < s->run->later[i].end)
            page_mask_set_region(&later, s->run->later[i].first, s->run->later[i].end);
        later = uvm_memory_from_flat(&m->blocks[i], &later);
        page_mask_set_region(&pages, m->blocks[i].block.first, m->blocks[i].block.end);
        page_mask_andnot(&pages, &pages, &later);
        if (!page_mask_any(&pages))
            continue;
        if (uvm_memory_take(m, i, &pages, &pieces, &out, s->err) != 1)
            return err_set(s->err, "what lies on the GPU from the beginning does not fit its memory");
        if (uvm_memory_migrate(m, i, &none, &pages, &copied, s->err))
            return -1;
        m->used[i] = m->access[i];
    }
    return 0;
}

/* The workload's allocations with the run's advice; NULL with *err set. */
static const struct actor_alloc *advise(struct simulation *s, size_t *n)
{
    const struct actor_alloc *allocs = s->run->ops->allocs(s->run->state, n);
    if (!s->run->advice)
        return allocs;
    s->allocs = mem_zalloc(*n, sizeof *s->allocs, s->err);
    for (size_t i = 0; s->allocs && i < *n; i++) {
        s->allocs[i] = allocs[i];
        s->allocs[i].advice |= s->run->advice[i];
    }
    return s->allocs;
}

static int simulate(struct simulation *s, struct uvm_metrics *m)
{
    const struct uvm_run *run = s->run;
    size_t n;
    const struct actor_alloc *allocs = advise(s, &n);
    if (!allocs)
        return -1;
    uint64_t blocks = actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES;
    s->pages = mem_zalloc((size_t)run->platform->batch_faults, sizeof *s->pages, s->err);
    int64_t end = 0;
    if (!s->pages || uvm_memory_init(&s->memory, allocs, n, chunks_of(run, blocks), s->err) ||
        uvm_memory_evict_by(&s->memory, run->evict, run->evict_params, s->err) || put_there(s) ||
        uvm_driver_init(&s->driver, &s->memory, run->platform, run->policy, run->policy_params, run->traced, s->err) ||
        locality_windows_init(&s->windows, s->err) ||
        uvm_gpu_init(&s->gpu, run->ops, run->state, run->gpu, run->platform, &s->memory, s->err))
        return -1;
    bool counters = run->access_counters || s->memory.remote_after_eviction;
    if (uvm_remote_init(&s->gpu.remote, run->pcie, run->gpu, counters ? s->memory.block_count : 0, s->err))
        return -1;
    s->gpu.times = run->times;
    if (!run->times)
        s->gpu.times = s->times = mem_zalloc(s->gpu.launch_count + 1, sizeof *s->times, s->err);
    if (!s->gpu.times)
        return -1;
    s->gpu.calls = run->calls;
    s->driver.calls = run->calls;
    s->driver.two_engines = run->two_engines;
    s->driver.defers = true;
    s->driver.replay = run->replay;
    if (run->replay != UVM_REPLAY_BATCH_FLUSH)
        s->gpu.ring.exact = SIZE_MAX;
    if (run->thrashing && uvm_driver_detect_thrashing(&s->driver, run->lapse, s->err))
        return -1;
    s->gpu.on_launch_end = on_launch_end;
    s->driver.observer = run->observer;
    s->gpu.ctx = s;
    if (run_all(s, &end) || uvm_memory_check(&s->memory, s->err))
        return -1;
    m->stopped = s->stopped;
    if (m->stopped)
        return 0;
    return fill_metrics(s, end, m);
}

int uvm_simulate(const struct uvm_run *run, struct uvm_metrics *metrics, struct err *err)
{
    memset(metrics, 0, sizeof *metrics);
    struct simulation *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return -1;
    s->run = run;
    s->err = err;
    int rc = simulate(s, metrics);
    uvm_gpu_release(&s->gpu);
    locality_windows_release(&s->windows);
    free(s->pending.events);
    uvm_driver_release(&s->driver);
    uvm_memory_release(&s->memory);
    free(s->pages);
    free(s->allocs);
    free(s->times);
    free(s);
    return rc;
}
