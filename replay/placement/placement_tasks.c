#include "replay/placement/placement_tasks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/launch.h"
#include "replay/placement/program_totals.h"
#include "replay/uvm/actor_input.h"
#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/sorted.h"
#include "trace/workloads/workload.h"

enum { TASKS_MAX = 100000 };

const struct param placement_task_params[] = {
    PARAM_BYTES_ROW(placement_keys, bytes_hd, 0, 0x1p50, 0, "bytes copied host to device"),
    PARAM_BYTES_ROW(placement_keys, bytes_dh, 0, 0x1p50, 0, "bytes copied device to host"),
    PARAM_INT_ROW(placement_keys, copies, "", 0, 1e12, 0, "copy calls"),
    PARAM_INT_ROW(placement_keys, kernels, "", 1, 1e12, 1, "kernel launches"),
    PARAM_INT_ROW(placement_keys, dirty_kernels, "", -1, 1e12, -1, "launches with a dirty CPU cache; -1: all"),
    PARAM_BYTES_ROW(placement_keys, kernel_bytes, 0, 0x1p50, 0, "bytes that each kernel touches"),
    PARAM_BYTES_ROW(placement_keys, dirty_bytes, -1, 0x1p50, -1,
                    "bytes that all dirty launches touch; -1: kernel_bytes each"),
    PARAM_REAL_ROW(placement_keys, l2_instructions, "", -1, 1e18, -1, "L2 instructions of all kernels; -1: unknown"),
    PARAM_REAL_ROW(placement_keys, l2_hit_ratio, "", 0, 1, 0, "L2 hit rate under device memory"),
    PARAM_REAL_ROW(placement_keys, ilp, "", 0, 1e6, 1, "instruction-level parallelism"),
    PARAM_REAL_ROW(placement_keys, tlp, "", 0, 1e6, 1, "thread-level parallelism"),
    PARAM_REAL_ROW(placement_keys, compute_ms, "ms", 0, 1e9, 0, "execution of all kernels"),
    PARAM_REAL_ROW(placement_keys, wait_ms, "ms", -1, 1e9, -1,
                   "the GPU's wait for launches between kernels; -1: of kernels alike, in a row"),
    PARAM_REAL_ROW(placement_keys, cpu_ms, "ms", 0, 1e9, 0, "CPU work before the first launch"),
    PARAM_BYTES_ROW(placement_keys, shared_bytes, -1, 0x1p50, -1, "buffers that are copied; -1: the larger direction"),
    PARAM_BYTES_ROW(placement_keys, private_bytes, 0, 0x1p50, 0, "device buffers that are not copied"),
    PARAM_REAL_ROW(placement_keys, arrival_ms, "ms", 0, 1e9, 0, "when the task arrives"),
    PARAM_REAL_ROW(placement_keys, managed_ms, "ms", -1, 1e9, -1,
                   "overhead under managed memory where faults bring its pages; -1: by equation 5"),
    PARAM_TEXT_ROW(placement_keys, source_policy, NULL, "what the source chose"),
    PARAM_TEXT_ROW(placement_keys, program, NULL, "a generated program that says what the section does not"),
    PARAM_REAL_ROW(placement_keys, measured_device_ms, "ms", -1, 1e9, -1, "measured under device memory"),
    PARAM_REAL_ROW(placement_keys, measured_managed_ms, "ms", -1, 1e9, -1, "measured under managed memory"),
    PARAM_REAL_ROW(placement_keys, measured_pinned_ms, "ms", -1, 1e9, -1, "measured under pinned memory"),
    {0}};

void placement_keys_default(struct placement_keys *keys)
{
    param_defaults(placement_task_params, keys);
}

/* One with every key at its default. */
static struct placement_task *add_task(struct placement_tasks *tasks, const char *name, struct err *err)
{
    if (tasks->count >= TASKS_MAX) {
        err_set(err, "more than %d tasks", TASKS_MAX);
        return NULL;
    }
    if (MEM_ADD(tasks->tasks, tasks->count, tasks->cap, err, (struct placement_task){.no_l2 = false}))
        return NULL;
    struct placement_task *task = &tasks->tasks[tasks->count - 1];
    (void)snprintf(task->name, sizeof task->name, "%s", name);
    placement_keys_default(&task->lo);
    placement_keys_default(&task->hi);
    return task;
}

/* LO..HI, or one value for both ends. The text is kept. */
static int set_both(struct placement_task *task, const char *key, char *text, struct err *err)
{
    const char *upper = text;
    const struct param *row = param_find(placement_task_params, key);
    char *dots = row && row->type == PARAM_TEXT ? NULL : strstr(text, "..");
    if (dots) {
        *dots = 0;
        upper = dots + 2;
        task->bounded = true;
    }
    if (param_set(placement_task_params, &task->lo, key, text, err) ||
        param_set(placement_task_params, &task->hi, key, upper, err))
        return -1;
    bool reversed = row->type == PARAM_REAL   ? param_real(row, &task->lo) > param_real(row, &task->hi)
                    : row->type != PARAM_TEXT ? param_int(row, &task->lo) > param_int(row, &task->hi)
                                              : false;
    return reversed ? err_set(err, "%s: the lower bound is above the upper one", key) : 0;
}

static int set_key(struct placement_tasks *tasks, struct placement_task *task, const char *key, const char *value,
                   struct err *err)
{
    char *text = mem_keep(&tasks->texts, value, err);
    if (!text || set_both(task, key, text, err))
        return -1;
    const char *policy = task->lo.source_policy;
    int p = 0;
    while (policy && p < PLACEMENTS && strcmp(policy, placement_name((enum placement)p)) != 0)
        p++;
    if (p == PLACEMENTS)
        return err_set(err, "source_policy is '%.40s'; expected device, managed or pinned", policy);
    const char *own_key = mem_keep(&tasks->texts, key, err), *own = mem_keep(&tasks->texts, value, err);
    return own_key && own ? MEM_ADD(tasks->given, tasks->given_count, tasks->given_cap, err,
                                    (struct placement_given){(size_t)(task - tasks->tasks), own_key, own})
                          : -1;
}

/* Key NULL: the section of a task begins. */
static int on_value(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct placement_tasks *tasks = ctx;
    if (key)
        return set_key(tasks, &tasks->tasks[tasks->count - 1], key, value, err);
    size_t n = strlen(section), most = sizeof tasks->tasks->name - 1;
    if (n > most)
        return err_set(err, "the name of task '%.60s...' has %zu bytes; expected at most %zu", section, n, most);
    return add_task(tasks, section, err) ? 0 : -1;
}

/* Conditions between keys. */
static int finish(struct placement_task *task, struct err *err)
{
    struct placement_keys *ends[] = {&task->lo, &task->hi};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i]->dirty_kernels < 0)
            ends[i]->dirty_kernels = ends[i]->kernels;
        if (ends[i]->dirty_kernels > ends[i]->kernels)
            return err_set(err, "[%s]: dirty_kernels is %lld, above kernels, %lld", task->name,
                           (long long)ends[i]->dirty_kernels, (long long)ends[i]->kernels);
        if (ends[i]->shared_bytes < 0)
            ends[i]->shared_bytes = ends[i]->bytes_hd > ends[i]->bytes_dh ? ends[i]->bytes_hd : ends[i]->bytes_dh;
    }
    task->no_l2 = task->lo.l2_instructions < 0;
    return 0;
}

/* Task t's program has filled its keys: set the given ones again. */
static int finish_filled(struct placement_tasks *tasks, size_t t, struct err *err)
{
    for (size_t i = 0; i < tasks->given_count; i++) {
        const struct placement_given *g = &tasks->given[i];
        char *text = g->task == t ? mem_keep(&tasks->texts, g->value, err) : NULL;
        if (g->task == t && (!text || set_both(&tasks->tasks[t], g->key, text, err)))
            return -1;
    }
    return finish(&tasks->tasks[t], err);
}

int placement_tasks_read(struct placement_tasks *tasks, const char *path, struct err *err)
{
    memset(tasks, 0, sizeof *tasks);
    int rc = ini_read_file(path, &(struct ini_reader){on_value, tasks}, err);
    if (!rc && !tasks->count)
        rc = err_set(err, "%s: no [task] in it", path);
    size_t kept = 0; /* only programs are overruled */
    for (size_t i = 0; i < tasks->given_count; i++)
        if (tasks->tasks[tasks->given[i].task].lo.program)
            tasks->given[kept++] = tasks->given[i];
    tasks->given_count = kept;
    for (size_t i = 0; i < tasks->count && !rc; i++)
        if (!tasks->tasks[i].lo.program && finish(&tasks->tasks[i], err))
            rc = err_at(err, "%s", path);
    if (rc)
        placement_tasks_release(tasks);
    return rc;
}

void placement_tasks_release(struct placement_tasks *tasks)
{
    mem_texts_release(&tasks->texts);
    free(tasks->given);
    free(tasks->tasks);
    memset(tasks, 0, sizeof *tasks);
}

void placement_task_inputs(const struct placement_keys *keys, struct placement_inputs *in)
{
    double dirty =
        keys->dirty_bytes >= 0 ? (double)keys->dirty_bytes : (double)keys->kernel_bytes * (double)keys->dirty_kernels;
    *in = (struct placement_inputs){.bytes_hd = (double)keys->bytes_hd,
                                    .bytes_dh = (double)keys->bytes_dh,
                                    .copies = (double)keys->copies,
                                    .kernels = (double)keys->kernels,
                                    .dirty_kernels = (double)keys->dirty_kernels,
                                    .mapped_bytes = (double)keys->kernel_bytes * (double)keys->kernels,
                                    .dirty_mapped_bytes = dirty,
                                    .l2_instructions = keys->l2_instructions > 0 ? keys->l2_instructions : 0,
                                    .l2_hit_ratio = keys->l2_hit_ratio,
                                    .parallelism = keys->ilp * keys->tlp,
                                    .faults = keys->managed_ms >= 0,
                                    .managed_ms = keys->managed_ms - keys->spared_ms};
}

enum placement placement_task_source(const struct placement_keys *keys, enum placement otherwise)
{
    for (int p = 0; p < PLACEMENTS && keys->source_policy; p++)
        if (strcmp(keys->source_policy, placement_name((enum placement)p)) == 0)
            return (enum placement)p;
    return otherwise;
}

double placement_task_bytes(const struct placement_keys *keys, enum placement placement)
{
    return (double)keys->private_bytes + (double)keys->shared_bytes * (placement == PLACEMENT_DEVICE ? 2 : 1);
}

/* --- a recording of a CUDA program as a task --- */

/* Recorded: kernels, durations, copies, allocations, and migrations of managed memory. Bounded: bytes that kernels
 * touch, and launches that find a dirty CPU cache. L2 figures are missing, so pinned memory cannot be judged.
 *
 * Of managed memory:
 *     bytes_hd, bytes_dh   bytes migrated each way, at most all that was allocated; with evictions, which bring pages
 *                          back for no other reason, at least the pages that ever moved
 *     copies               one for each direction with migrations, at most one for each allocation
 *     S_i, N_c             at least the bytes migrated to the GPU and the kernels in which they were; at most
 * everything compute_ms           at least the kernels' time in which nothing was served or moved, at most all of it
 *
 * A recording with managed allocations that could not see migrations is refused. On a GPU without page faults nothing
 * migrates, so the bounds are 0 and all that is allocated. Worked example (placement_tasks_record_test.c): a kernel of
 * 10 ms, in it two migrations of 64 KiB from 1 to 2 and 3 to 5 ms and a fault from 0.5 to 1.5: 128 KiB, 1 dirty launch,
 * 10 - 3.5 = 6.5 to 10 ms of computing. */

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
    return MEM_ADD(s->list, s->count, s->cap, err,
                   (struct stretch){first, first + length < first ? UINT64_MAX : first + length});
}

/* Sort, and join what overlaps. */
static void join(struct stretches *s)
{
    size_t n = 0;
    sort_items(s->list, s->count, sizeof *s->list, sorted_by_u64);
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

/* How many of `kernels` (as recorded) overlap one of `moves` (joined). */
static int64_t kernels_with(const struct stretches *kernels, const struct stretches *moves)
{
    int64_t n = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        size_t low = 0; /* the first that ends after the kernel\'s start */
        SORTED_FIRST(low, moves->count, k, moves->list[k].end <= kernels->list[i].first);
        n += low < moves->count && moves->list[low].first < kernels->list[i].end;
    }
    return n;
}

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
        struct store_walk w = {0};
        while (store_walk_next(&w, store, s, err))
            w.failed = on_record(r, w.r, sees, err);
        if (store_walk_end(&w))
            return -1;
    }
    return 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Bound the sizes: copied memory has a second buffer on top of private memory; managed memory is copied whole. */
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
    hi->kernel_bytes = reach;
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
    r->task->note = mem_keep(&tasks->texts, text, err);
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
    struct reading r = {.task = add_task(tasks, slash ? slash + 1 : path, err)};
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

/* --- a program as a task --- */

static void count_copies(const struct program_totals *totals, struct placement_keys *k)
{
    struct program_copies c;
    program_copies_count(&c, totals);
    k->bytes_hd = c.in_bytes;
    k->bytes_dh = c.back_bytes;
    k->copies = c.in_copies + c.back_copies;
    k->dirty_kernels = c.dirty_kernels;
    k->dirty_bytes = c.dirty_bytes;
    k->shared_bytes = 0;
    for (size_t i = 0; i < totals->alloc_count; i++)
        *(c.copied >> i & 1 || totals->allocs[i].twin ? &k->shared_bytes : &k->private_bytes) +=
            (int64_t)totals->allocs[i].bytes;
}

/* Time that kernels wait: the first for nobody; a CPU phase takes no time and waits for earlier launches. */
static double waits_ms(const struct program_totals *totals, const struct launch *calls)
{
    double host = -calls->alone_ns, end = -calls->gap_ns, idle = 0;
    for (uint32_t l = 0; l < totals->launches; l++) {
        const struct launch_totals *t = &totals->launch[l];
        if (t->cpu) {
            host = fmax(host, end);
            continue;
        }
        const double start = launch_start_ns(calls, &host, end);
        idle += start - fmax(end, 0);
        end = start + t->ms * 1e6;
        if (t->waited)
            (void)launch_wait_ns(calls, &host, end);
    }
    return idle / 1e6;
}

static void count_kernels(const struct program_totals *totals, struct placement_keys *k)
{
    uint64_t touched = 0, accesses = 0, instructions = 0, loads = 0, waits = 0;
    double warps = 0;
    k->kernels = totals->kernels;
    for (uint32_t l = 0; l < totals->launches; l++) {
        const struct launch_totals *t = &totals->launch[l];
        if (t->cpu)
            continue;
        touched += t->touched_bytes;
        accesses += t->accesses;
        instructions += t->instructions;
        loads += t->loads;
        waits += t->waits;
        warps += t->warps * (double)t->accesses;
        k->compute_ms += t->ms;
    }
    k->kernel_bytes = (int64_t)((touched + totals->kernels / 2) / totals->kernels);
    k->l2_instructions = (double)instructions;
    k->ilp = waits ? (double)loads / (double)waits : 1;
    k->tlp = accesses ? warps / (double)accesses : 1;
}

static const char *describe_program(struct placement_tasks *tasks, const char *name, const struct placement_keys *k,
                                    const struct program_hits *hits, struct err *err)
{
    char text[640], part[128] = "";
    if (hits->cut)
        (void)snprintf(part, sizeof part, " (from %" PRIu64 " memory instructions, a part of each kernel)",
                       hits->instructions);
    (void)snprintf(
        text, sizeof text,
        "task %s, from its program: %" PRId64 " kernels, %" PRId64 " of them after the CPU wrote, which touch %" PRId64
        " bytes of pages; %" PRId64 " copies; a kernel touches %" PRId64
        " bytes of pages; %.0f L2 instructions, hit rate %.3f%s; ILP %.3g, TLP %.3g; kernels take %.4g ms by the "
        "issue model and wait %.4g for launches, the CPU's own work is not in a program (cpu_ms 0)",
        name, k->kernels, k->dirty_kernels, k->dirty_bytes, k->copies, k->kernel_bytes, k->l2_instructions,
        k->l2_hit_ratio, part, k->ilp, k->tlp, k->compute_ms, k->wait_ms);
    return mem_keep(&tasks->texts, text, err);
}

/* --- managed memory on a GPU with page faults --- */

/* What demand paging adds to the kernels: task and engine have one time under managed memory. Where the closed loop's
 * kernels are faster than the sum over launches in whole waves, it takes away. */
static int page(struct placement_task *task, const struct program *program, const struct platform *platform,
                const struct placement_program_options *options, struct err *err)
{
    struct actor_input touching;
    struct uvm_metrics m;
    if (platform_whole(platform, "uvm", err) || actor_input_program(&touching, program, err))
        return -1;
    const struct uvm_managed managed = {.ops = touching.ops,
                                        .state = touching.state,
                                        .platform = platform,
                                        .policy = options->paging,
                                        .settings = options->managed};
    int rc = uvm_managed_run(&managed, &m, err);
    actor_input_close(&touching);
    if (rc)
        return -1;
    double ms = (double)m.time_ns / 1e6 - task->lo.compute_ms;
    task->lo.managed_ms = ms > 0 ? ms : 0;
    task->lo.spared_ms = ms < 0 ? -ms : 0;
    task->migrated_hd = (double)m.h2d_bytes;
    task->migrated_dh = (double)m.d2h_bytes;
    return 0;
}

static int fill(struct placement_tasks *tasks, const char *name, const struct program *program,
                const struct program_totals *totals, const struct platform *platform,
                const struct placement_program_options *options, struct err *err)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct program_hits hits;
    if (totals->kernels == 0)
        return err_set(err, "the program launches no kernel: nothing to place");
    if (program_hits_run(&hits, program, totals, gpu, options->cut, err))
        return -1;
    struct placement_task *task = add_task(tasks, name, err);
    if (!task)
        return -1;
    count_copies(totals, &task->lo);
    count_kernels(totals, &task->lo);
    const struct launch *calls = platform_section_get(platform, "launch");
    task->lo.wait_ms = platform_has(platform, "launch") ? waits_ms(totals, calls) : 0;
    task->lo.l2_hit_ratio = hits.sectors ? (double)hits.hits / (double)hits.sectors : 0;
    if (platform_has(platform, "uvm") && page(task, program, platform, options, err))
        return -1;
    task->hi = task->lo;
    task->note = describe_program(tasks, name, &task->lo, &hits, err);
    return task->note ? 0 : -1;
}

/* A task more, at the end. */
static int append(struct placement_tasks *tasks, const char *name, const struct program *program,
                  const struct platform *platform, const struct placement_program_options *options, struct err *err)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct program_totals totals = {0};
    int rc = platform_whole(platform, "gpu", err) || program_totals_init(&totals, program, gpu, err) ||
                     fill(tasks, name, program, &totals, platform, options, err)
                 ? -1
                 : 0;
    program_totals_release(&totals);
    return rc;
}

int placement_tasks_program(struct placement_tasks *tasks, const char *name, const struct program *program,
                            const struct platform *platform, const struct placement_program_options *options,
                            struct err *err)
{
    memset(tasks, 0, sizeof *tasks);
    if (!append(tasks, name, program, platform, options, err))
        return 0;
    placement_tasks_release(tasks);
    return -1;
}

/* --- what launches cost --- */

static double in_a_row_ms(const struct placement_keys *k, const struct launch *calls)
{
    const double work = k->compute_ms * 1e6;
    return (launch_row_ns(calls, (double)k->kernels, work) - calls->alone_ns - work) / 1e6;
}

void placement_tasks_calls(struct placement_tasks *tasks, const struct platform *platform)
{
    const struct launch *calls = platform_has(platform, "launch") ? platform_section_get(platform, "launch") : NULL;
    for (size_t i = 0; i < 2 * tasks->count; i++) {
        struct placement_keys *k = i % 2 ? &tasks->tasks[i / 2].hi : &tasks->tasks[i / 2].lo;
        if (k->wait_ms < 0)
            k->wait_ms = calls ? in_a_row_ms(k, calls) : 0;
    }
}

/* --- programs of a task file --- */

static int open_spec(struct workload *workload, const char *spec, struct err *err)
{
    if (workload_open(workload, strncmp(spec, "synth:", 6) == 0 ? spec + 6 : spec, err))
        return -1;
    if (workload->type->program && workload->type->views & VIEW_PLACEMENT)
        return 0;
    err_set(err, "%s has nothing to place; see 'offchip list programs'", workload->type->name);
    workload_close(workload);
    return -1;
}

/* The first task of the same program as t's. */
static size_t first_of(const struct placement_tasks *tasks, size_t t)
{
    const char *program = tasks->tasks[t].lo.program;
    size_t first = 0;
    while (first < t && (!tasks->tasks[first].lo.program || strcmp(tasks->tasks[first].lo.program, program) != 0))
        first++;
    return first;
}

/* That each task's program can be had, before the work for any begins. The first stays open, as *opened, which is
 * zeroed before and closed by the caller: to open a program may be as much work as to run it. */
static int check_specs(const struct placement_tasks *tasks, struct workload *opened, struct err *err)
{
    for (size_t t = 0; t < tasks->count; t++) {
        const char *program = tasks->tasks[t].lo.program;
        struct workload workload = {0};
        if (!program || first_of(tasks, t) < t)
            continue;
        if (open_spec(&workload, program, err))
            return err_at(err, "[%s]", tasks->tasks[t].name);
        if (opened->type)
            workload_close(&workload);
        else
            *opened = workload;
    }
    return 0;
}

/* workload: that of the spec, or none is open yet; it is closed. */
static int append_spec(struct placement_tasks *tasks, const char *spec, struct workload *workload,
                       const struct platform *platform, const struct placement_program_options *options,
                       struct err *err)
{
    struct program program;
    if (!workload->type && open_spec(workload, spec, err))
        return -1;
    int rc = workload->type->program(workload->state, &program, err) ||
                     append(tasks, workload->type->name, &program, platform, options, err)
                 ? -1
                 : 0;
    workload_close(workload);
    return rc;
}

/* Task t as its program has it, from the first task of the same program if that is filled. */
static int fill_task(struct placement_tasks *tasks, size_t t, const struct placement_task *filled,
                     struct workload *opened, const struct platform *platform,
                     const struct placement_program_options *options, struct err *err)
{
    struct placement_task own = tasks->tasks[t], got;
    if (filled) {
        got = *filled;
    } else {
        if (append_spec(tasks, own.lo.program, opened, platform, options, err))
            return -1;
        got = tasks->tasks[--tasks->count];
    }
    memcpy(got.name, own.name, sizeof got.name);
    got.lo.program = got.hi.program = own.lo.program;
    got.note = filled ? NULL : got.note;
    tasks->tasks[t] = got;
    return 0;
}

int placement_tasks_check(const char *path, struct err *err)
{
    struct placement_tasks tasks;
    struct workload opened = {0};
    if (placement_tasks_read(&tasks, path, err))
        return -1;
    const int rc = check_specs(&tasks, &opened, err) ? err_at(err, "%s", path) : 0;
    workload_close(&opened);
    placement_tasks_release(&tasks);
    return rc;
}

int placement_tasks_programs(struct placement_tasks *tasks, const struct platform *platform,
                             const struct placement_program_options *options, struct err *err)
{
    struct workload opened = {0};
    struct placement_task *filled =
        check_specs(tasks, &opened, err) ? NULL : mem_zalloc(tasks->count, sizeof *filled, err);
    int rc = filled ? 0 : -1;
    for (size_t t = 0; t < tasks->count && !rc; t++) {
        if (!tasks->tasks[t].lo.program)
            continue;
        const size_t first = first_of(tasks, t);
        rc = fill_task(tasks, t, first < t ? &filled[first] : NULL, &opened, platform, options, err);
        filled[t] = rc ? filled[t] : tasks->tasks[t];
        if (rc || finish_filled(tasks, t, err))
            rc = err_at(err, "[%s]", tasks->tasks[t].name);
    }
    workload_close(&opened);
    free(filled);
    if (!rc)
        placement_tasks_calls(tasks, platform);
    return rc;
}
