/* placement_record: a recording of a CUDA program as a task to be placed.
 *
 * Recorded: kernels, durations, copies, allocations, and of managed memory what migrated. Bounded: how many bytes
 * kernels touch, and which launches find a dirty CPU cache. Not there: L2 figures, so pinned memory cannot be judged.
 *
 * Of managed memory:
 *     bytes_hd, bytes_dh   what migrated each way, at most all that was allocated; where pages were evicted, which come
 * back for no other reason, at least the pages that ever moved copies               one for each direction that
 * anything moved in, at most one for each allocation S_i, N_c             at least what migrated to the GPU, in the
 * kernels in which it did; at most everything, always compute_ms           the kernels' recorded time holds the service
 * of their faults: at least the time in which nothing was served or moved, at most all of it. What waits for a service
 * to begin counts as computing. A recording that has managed allocations and could not see migrations is refused. On a
 * GPU without page faults nothing migrates: everything in between 0 and what is allocated. Worked example
 * (placement_record_test.c): a kernel of 10 ms, in it two migrations of 64 KiB from 1 to 2 and 3 to 5 ms and a fault
 * from 0.5 to 1.5: 128 KiB, 1 dirty launch, 10 - 3.5 = 6.5 to 10 ms of computing. */
#include "replay/placement/placement_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* Stretches of time, or of addresses: from first to end. */
struct stretch {
    uint64_t first, end;
};

struct stretches {
    struct stretch *list;
    size_t count, cap;
};

struct reading {
    struct placement_task *task;
    struct stretches kernels, served, moved; /* run; faults served and pages moved; addresses ever moved */
    struct stretches to_gpu;                 /* times */
    int64_t managed, allocations;            /* bytes, how many */
    int64_t migrated_hd, migrated_dh;
    bool evicted, blind; /* pages were; a stream with managed allocations and no view of migrations */
};

static int add(struct stretches *s, uint64_t first, uint64_t length, struct err *err)
{
    if (mem_grow((void **)&s->list, &s->cap, s->count + 1, sizeof *s->list, err))
        return -1;
    s->list[s->count++] = (struct stretch){first, first + length < first ? UINT64_MAX : first + length};
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Sort, and join what overlaps. */
static void join(struct stretches *s)
{
    size_t n = 0;
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, by_first);
    for (size_t i = 0; i < s->count; i++)
        if (n && s->list[i].first <= s->list[n - 1].end)
            s->list[n - 1].end = s->list[i].end > s->list[n - 1].end ? s->list[i].end : s->list[n - 1].end;
        else
            s->list[n++] = s->list[i];
    s->count = n;
}

static uint64_t length(const struct stretches *joined)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < joined->count; i++)
        sum += joined->list[i].end - joined->list[i].first;
    return sum;
}

/* How long joined stretches a and b coincide. */
static uint64_t common(const struct stretches *a, const struct stretches *b)
{
    uint64_t sum = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct stretch *x = &a->list[i], *y = &b->list[j];
        uint64_t first = x->first > y->first ? x->first : y->first, end = x->end < y->end ? x->end : y->end;
        sum += end > first ? end - first : 0;
        if (x->end < y->end)
            i++;
        else
            j++;
    }
    return sum;
}

/* How many of `kernels` (as recorded) have the start of one of `moves` (joined) in them, or are begun while it lasts.
 */
static int64_t kernels_with(const struct stretches *kernels, const struct stretches *moves)
{
    int64_t n = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        size_t low = 0, high = moves->count;
        while (low < high) { /* the first that ends after the kernel's start */
            size_t mid = (low + high) / 2;
            if (moves->list[mid].end > kernels->list[i].first)
                high = mid;
            else
                low = mid + 1;
        }
        n += low < moves->count && moves->list[low].first < kernels->list[i].end;
    }
    return n;
}

/* --- records --- */

/* Foreign sizes may be anything: no sum overflows. */
static void sum_up(int64_t *sum, uint64_t bytes)
{
    const int64_t limit = INT64_C(1) << 60;
    *sum = bytes > (uint64_t)limit || *sum > limit - (int64_t)bytes ? limit : *sum + (int64_t)bytes;
}

static int on_migration(struct reading *r, const struct record *m, struct err *err)
{
    bool hd = m->kind == RECORD_MIGRATE_H2D;
    sum_up(hd ? &r->migrated_hd : &r->migrated_dh, m->bytes);
    r->evicted |= m->flags == RECORD_CAUSE_EVICTION;
    return add(&r->served, (uint64_t)m->time, (uint64_t)m->duration, err) || add(&r->moved, m->addr, m->bytes, err) ||
                   (hd && add(&r->to_gpu, (uint64_t)m->time, (uint64_t)m->duration, err))
               ? -1
               : 0;
}

static int on_record(struct reading *r, const struct record *m, bool sees_migrations, struct err *err)
{
    struct placement_keys *lo = &r->task->lo;
    if (m->kind == RECORD_KERNEL) {
        lo->kernels++;
        lo->compute_ms += (double)m->duration / 1e6;
        return add(&r->kernels, (uint64_t)m->time, (uint64_t)m->duration, err);
    }
    if (m->kind == RECORD_COPY && (m->flags == RECORD_COPY_H2D || m->flags == RECORD_COPY_D2H)) {
        lo->copies++;
        sum_up(m->flags == RECORD_COPY_H2D ? &lo->bytes_hd : &lo->bytes_dh, m->bytes);
    } else if (m->kind == RECORD_ALLOC && m->flags == RECORD_ALLOC_MANAGED) {
        sum_up(&r->managed, m->bytes);
        r->allocations++;
        r->blind |= !sees_migrations;
    } else if (m->kind == RECORD_ALLOC && m->flags == RECORD_ALLOC_DEVICE) {
        sum_up(&lo->private_bytes, m->bytes);
    } else if (m->kind == RECORD_MIGRATE_H2D || m->kind == RECORD_MIGRATE_D2H) {
        return on_migration(r, m, err);
    } else if (m->kind == RECORD_FAULT) {
        return add(&r->served, (uint64_t)m->time, (uint64_t)m->duration, err);
    }
    r->evicted |= m->kind == RECORD_EVICT;
    return 0;
}

static int read_streams(struct reading *r, struct store *store, struct err *err)
{
    for (int s = 0; s < store_stream_count(store); s++) {
        const struct stream *stream = store_stream(store, s);
        if (stream->unit != TIME_NS)
            continue;
        char key[80];
        (void)snprintf(key, sizeof key, "kinds.%s", stream->name);
        const char *kinds = store_origin_get(store, key);
        bool sees = !kinds || strstr(kinds, "MIGRATE_H2D") || (stream->kinds >> RECORD_MIGRATE_H2D & 1);
        struct store_cursor *cursor = store_cursor_open(store, s, err);
        const struct record *records;
        size_t n;
        int more = cursor ? 1 : -1, rc = 0;
        while (!rc && more == 1 && (more = store_cursor_next(cursor, &records, NULL, &n, err)) == 1)
            for (size_t i = 0; i < n && !rc; i++)
                rc = on_record(r, &records[i], sees, err);
        store_cursor_close(cursor);
        if (more < 0 || rc)
            return -1;
    }
    return 0;
}

/* --- the task --- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What was copied was a buffer of its own, on top of what is private; managed memory is copied as a whole. */
static void bound_sizes(struct reading *r, int64_t pages)
{
    struct placement_keys *lo = &r->task->lo, *hi = &r->task->hi;
    lo->shared_bytes = most(lo->bytes_hd, lo->bytes_dh);
    lo->private_bytes = most(lo->private_bytes - lo->shared_bytes, 0);
    *hi = *lo;
    int64_t managed = most(r->managed, pages);
    lo->bytes_hd += r->evicted ? least(pages, r->migrated_hd) : r->migrated_hd;
    hi->bytes_hd += most(managed, r->migrated_hd);
    lo->bytes_dh += r->evicted ? 0 : r->migrated_dh;
    hi->bytes_dh += most(managed, r->migrated_dh);
    lo->copies += (r->migrated_hd > 0) + (r->migrated_dh > 0);
    hi->copies += managed ? 2 * most(r->allocations, 1) : 0;
    lo->shared_bytes += r->managed ? r->managed : pages;
    hi->shared_bytes += managed;
}

static void bound_kernels(struct reading *r, int64_t pages)
{
    struct placement_keys *lo = &r->task->lo, *hi = &r->task->hi;
    int64_t reach = hi->shared_bytes;
    lo->dirty_kernels = r->migrated_hd ? 1 : 0;
    if (r->migrated_hd && !r->evicted)
        lo->dirty_kernels = most(1, kernels_with(&r->kernels, &r->to_gpu));
    lo->dirty_bytes = r->evicted ? least(pages, r->migrated_hd) : r->migrated_hd;
    lo->kernel_bytes = lo->dirty_bytes / lo->kernels;
    hi->kernel_bytes = hi->written_bytes = reach;
    hi->dirty_kernels = hi->kernels;
    hi->dirty_bytes = -1;
    join(&r->kernels);
    uint64_t served = common(&r->kernels, &r->served);
    if (r->managed && !r->migrated_hd && !r->migrated_dh)
        lo->compute_ms = 0; /* mapping is in the kernels' time, and nothing tells it */
    lo->compute_ms = lo->compute_ms > (double)served / 1e6 ? lo->compute_ms - (double)served / 1e6 : 0;
}

static void describe(struct reading *r, char *out, size_t size)
{
    struct placement_task *t = r->task;
    if (!r->migrated_hd && !r->migrated_dh && !r->managed)
        (void)snprintf(out, size,
                       "task %s: copies, kernels and durations are recorded; bytes touched by kernels and dirty "
                       "launches are bounded; L2 figures are not in a recording",
                       t->name);
    else
        (void)snprintf(
            out, size,
            "task %s: of managed memory %lld bytes migrated to the GPU and %lld back; device memory would "
            "copy %lld to %lld there, %lld to %lld back; kernels compute between %.4g ms, while no fault was "
            "served and nothing moved, and all of their %.4g ms; L2 figures are not in a recording",
            t->name, (long long)r->migrated_hd, (long long)r->migrated_dh, (long long)t->lo.bytes_hd,
            (long long)t->hi.bytes_hd, (long long)t->lo.bytes_dh, (long long)t->hi.bytes_dh, t->lo.compute_ms,
            t->hi.compute_ms);
}

static int make_task(struct placement_tasks *tasks, struct reading *r, struct err *err)
{
    char text[640];
    join(&r->moved);
    join(&r->served);
    join(&r->to_gpu);
    uint64_t moved = length(&r->moved);
    int64_t pages = moved < 1ull << 60 ? (int64_t)moved : INT64_C(1) << 60;
    bound_sizes(r, pages);
    bound_kernels(r, pages);
    r->task->recorded = r->task->bounded = r->task->no_l2 = true;
    r->task->migrated_hd = (double)r->migrated_hd;
    r->task->migrated_dh = (double)r->migrated_dh;
    describe(r, text, sizeof text);
    r->task->note = placement_tasks_keep(tasks, text, err);
    return r->task->note ? 0 : -1;
}

static int refuse(const struct reading *r, struct store *store, struct err *err)
{
    const char *path = store_path(store);
    if (r->blind)
        return err_set(
            err,
            "'%s' has managed allocations and no record of migrations: what they cost cannot be told; record "
            "the program with 'offchip record'",
            path);
    if (r->task->lo.kernels)
        return 0;
    if (store_stream_find(store, "accesses") >= 0)
        return err_set(err,
                       "'%s' holds accesses, which say nothing of copies and have no times: nothing to place; record "
                       "the program without --accesses",
                       path);
    return err_set(err, "'%s' holds no kernel with a time in ns: nothing to place", path);
}

int placement_tasks_record(struct placement_tasks *tasks, struct store *store, struct err *err)
{
    memset(tasks, 0, sizeof *tasks);
    const char *path = store_path(store), *slash = strrchr(path, '/');
    struct reading r = {.task = placement_tasks_add(tasks, slash ? slash + 1 : path, err)};
    if (!r.task)
        return -1;
    r.task->lo.kernels = 0;
    int rc = read_streams(&r, store, err) || refuse(&r, store, err) || make_task(tasks, &r, err) ? -1 : 0;
    free(r.kernels.list);
    free(r.served.list);
    free(r.moved.list);
    free(r.to_gpu.list);
    if (rc)
        placement_tasks_release(tasks);
    return rc;
}
