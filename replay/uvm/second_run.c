#include "replay/uvm/second_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive.h"
#include "replay/uvm/actor_input.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/quantile.h"
#include "trace/base/sorted.h"
#include "trace/program/access.h"
#include "trace/store/dbfile.h"

/* --- copying a recording into a new trace --- */

struct copying {
    struct store *out;
    struct err *err;
};

static int copy_origin(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    const bool own = n < 2 || param_position("state|created|derived", values[0].s) >= 0;
    return own ? 0 : store_origin(c->out, values[0].s, values[1].s, c->err);
}

static int copy_tables(struct store *in, struct store *out, const char *const *tables, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (store_copy_table(in, out, tables[i], err))
            return -1;
    return 0;
}

int recording_copy_facts(struct store *in, struct store *out, struct err *err)
{
    static const char *const tables[] = {"parameters", "skipped", "dropped"};
    struct copying c = {out, err};
    return store_rows(in, "origin", copy_origin, &c, err) || copy_tables(in, out, tables, 3, err) ? -1 : 0;
}

/* All of it. */
static int copy_stream(struct store *in, struct store *out, int from, struct err *err)
{
    struct store_walk w = {0};
    int to;
    if (store_stream_add(out, store_stream(in, from), &to, err))
        return -1;
    while (store_walk_batch(&w, in, from, err))
        w.failed = store_append(out, to, w.r, w.extra, w.n, err);
    return store_walk_end(&w);
}

/* --- what both runs must have alike --- */

enum { SHAPE = 6, FIRST_SHAPE = 5, ALLOC_KINDS = RECORD_ALLOC_REGISTERED + 1 };
static const char *const alloc_kinds[ALLOC_KINDS] = {"", "device", "managed", "pinned", "registered"};

struct kernel {
    int64_t start_ns, id, launch;
    char *name;
    int64_t shape[SHAPE]; /* grid and block; 0: not recorded */
};

struct run {
    struct kernel *kernels; /* in the order of their launches */
    size_t kernel_count, kernel_cap;
    struct memory {
        uint64_t addr, bytes;
    } * memory[ALLOC_KINDS]; /* in order of allocation */
    size_t memory_count[ALLOC_KINDS], memory_cap[ALLOC_KINDS];
    struct err *err;
};

static int take_kernel(void *ctx, const struct store_value *v, size_t n)
{
    struct run *run = ctx;
    struct kernel k = {v[3].i, v[0].i, v[2].type == STORE_INT ? v[2].i : v[0].i, mem_strdup(v[1].s, run->err), {0}};
    for (size_t i = 0; i < SHAPE && FIRST_SHAPE + i < n; i++)
        k.shape[i] = v[FIRST_SHAPE + i].i;
    if (k.name && MEM_ADD(run->kernels, run->kernel_count, run->kernel_cap, run->err, k) == 0)
        return 0;
    free(k.name);
    return -1;
}

static int take_memory(void *ctx, const struct store_value *v, size_t n)
{
    struct run *run = ctx;
    size_t kind = ALLOC_KINDS;
    while (n > 3 && --kind > 0 && strcmp(v[3].s, alloc_kinds[kind]) != 0)
        ;
    return MEM_ADD(run->memory[kind % ALLOC_KINDS], run->memory_count[kind % ALLOC_KINDS],
                   run->memory_cap[kind % ALLOC_KINDS], run->err, (struct memory){(uint64_t)v[1].i, (uint64_t)v[2].i});
}

SORTED_AS(by_start, struct kernel, ORDER_OF(x->start_ns, y->start_ns) ?: ORDER_OF(x->id, y->id))

static int read_run(struct run *run, struct store *store, struct err *err)
{
    *run = (struct run){.err = err};
    if (store_rows(store, "kernels", take_kernel, run, err) || store_rows(store, "allocations", take_memory, run, err))
        return -1;
    sort_items(run->kernels, run->kernel_count, sizeof *run->kernels, by_start);
    return 0;
}

static void run_release(struct run *run)
{
    for (size_t i = 0; i < run->kernel_count; i++)
        free(run->kernels[i].name);
    free(run->kernels);
    for (size_t k = 0; k < ALLOC_KINDS; k++)
        free(run->memory[k]);
}

/* Leave in `first` the launches of kernels that `second` has. */
static void keep_some(struct run *first, const struct run *second)
{
    size_t kept = 0;
    for (size_t i = 0; i < first->kernel_count; i++) {
        size_t k = 0;
        while (k < second->kernel_count && strcmp(first->kernels[i].name, second->kernels[k].name) != 0)
            k++;
        if (k < second->kernel_count)
            first->kernels[kept++] = first->kernels[i];
        else
            free(first->kernels[i].name);
    }
    first->kernel_count = kept;
}

#define NOT_TWICE "the program did not do the same twice: "

static int same_kernels(const struct run *a, const struct run *b, struct err *err)
{
    for (size_t i = 0; i < a->kernel_count && i < b->kernel_count; i++) {
        const struct kernel *x = &a->kernels[i], *y = &b->kernels[i];
        if (strcmp(x->name, y->name) != 0)
            return err_set(err, NOT_TWICE "launch %zu was of %.100s and then of %.100s", i, x->name, y->name);
        for (size_t s = 0; s < SHAPE; s++)
            if (x->shape[s] && y->shape[s] && x->shape[s] != y->shape[s])
                return err_set(err,
                               NOT_TWICE "launch %zu, of %.100s, had a grid or a block of %lld and then one of %lld", i,
                               x->name, (long long)x->shape[s], (long long)y->shape[s]);
    }
    return a->kernel_count == b->kernel_count
               ? 0
               : err_set(err, NOT_TWICE "%zu kernels were launched and then %zu", a->kernel_count, b->kernel_count);
}

static int same_memory(const struct run *a, const struct run *b, struct err *err)
{
    enum { M = RECORD_ALLOC_MANAGED };
    for (size_t i = 0; i < a->memory_count[M] && i < b->memory_count[M]; i++)
        if (a->memory[M][i].bytes != b->memory[M][i].bytes)
            return err_set(err, NOT_TWICE "managed allocation %zu had %llu bytes and then %llu", i,
                           (unsigned long long)a->memory[M][i].bytes, (unsigned long long)b->memory[M][i].bytes);
    return a->memory_count[M] == b->memory_count[M]
               ? 0
               : err_set(err, NOT_TWICE "%zu managed allocations and then %zu", a->memory_count[M], b->memory_count[M]);
}

/* --- the second run as if it had been the first --- */

struct moving {
    const struct run *first, *second;
    size_t seen[ALLOC_KINDS]; /* allocations so far */
    struct moved {
        uint64_t start, end, shift; /* of the second run; whole pages; what is added to its addresses */
    } * ranges;                     /* the newest last */
    size_t count, cap;
    size_t last;   /* that an address was found in */
    size_t launch; /* of the records at hand */
};

/* Memory that the first run did not have alike stays where it is; managed memory is alike. */
static int add_range(struct moving *m, const struct record *r, struct err *err)
{
    const size_t kind = r->flags < ALLOC_KINDS ? r->flags : 0, at = m->seen[kind]++;
    const uint64_t page = ACTOR_PAGE_BYTES;
    struct moved range = {r->addr / page * page, (r->addr + r->bytes + page - 1) / page * page, 0};
    if (at < m->first->memory_count[kind] && m->first->memory[kind][at].bytes == r->bytes)
        range.shift = m->first->memory[kind][at].addr - r->addr;
    if (kind == RECORD_ALLOC_MANAGED && range.shift % page)
        return err_set(err, NOT_TWICE "managed allocation %zu began elsewhere in its page", at);
    return MEM_ADD(m->ranges, m->count, m->cap, err, range);
}

static uint64_t moved(struct moving *m, uint64_t addr)
{
    const struct moved *range = &m->ranges[m->last];
    if (m->last < m->count && range->start <= addr && addr < range->end)
        return addr + range->shift;
    for (size_t i = m->count; i-- > 0;)
        if (m->ranges[i].start <= addr && addr < m->ranges[i].end) {
            m->last = i;
            return addr + m->ranges[i].shift;
        }
    return addr;
}

static int move_record(struct moving *m, struct record *r, struct err *err)
{
    if (r->kind == RECORD_ALLOC) {
        m->last = m->count; /* the newest holds, where memory was freed */
        if (add_range(m, r, err))
            return -1;
    }
    if (r->kind == RECORD_ALLOC || r->kind == RECORD_ACCESS)
        r->addr = moved(m, r->addr);
    if (r->kind == RECORD_KERNEL) {
        while (m->launch < m->second->kernel_count && m->second->kernels[m->launch].id != (int64_t)r->id)
            m->launch++;
        if (m->launch == m->second->kernel_count)
            return err_set(err, "launch %llu of the second run has no kernel", (unsigned long long)r->id);
        r->id = (uint64_t)m->first->kernels[m->launch].id;
    }
    if (r->kind != RECORD_ALLOC && m->launch < m->second->kernel_count)
        r->group = (uint32_t)m->first->kernels[m->launch].launch;
    return 0;
}

static int move_accesses(struct moving *m, struct store *second, struct store *out, struct err *err)
{
    const int from = store_stream_find(second, "accesses");
    struct writer writer = {0};
    struct store_walk w = {0};
    int to;
    if (from < 0)
        return err_set(err, "the second run holds no accesses");
    if (store_stream_add(out, store_stream(second, from), &to, err) ||
        writer_open(&writer, out, to, ACCESS_EXTRAS, err)) {
        writer_close(&writer);
        return -1;
    }
    while (store_walk_next(&w, second, from, err)) {
        struct record r = *w.r;
        const int64_t extra[ACCESS_EXTRAS] = {store_walk_extra(&w, 0), store_walk_extra(&w, 1)};
        w.failed = move_record(m, &r, err) || writer_add(&writer, &r, extra, err);
    }
    int rc = store_walk_end(&w) || writer_flush(&writer, err) ? -1 : 0;
    writer_close(&writer);
    return rc;
}

/* A trace for as long as it is needed: the second run, as if it had been the first. */
static struct store *as_first(struct store *first, struct store *second, bool some, struct err *err)
{
    static const char *const tables[] = {"kernels", "allocations"};
    struct run a, b = {0};
    struct store *out = NULL;
    int rc = read_run(&a, first, err) || read_run(&b, second, err) ? -1 : 0;
    if (rc == 0 && some)
        keep_some(&a, &b);
    if (rc == 0)
        rc = same_kernels(&a, &b, err) || same_memory(&a, &b, err) ? -1 : 0;
    if (rc == 0)
        out = store_create_temporary("the second run", err);
    struct moving m = {.first = &a, .second = &b};
    if (out && (copy_tables(first, out, tables, 2, err) || move_accesses(&m, second, out, err))) {
        store_close(out);
        out = NULL;
    }
    free(m.ranges);
    run_release(&a);
    run_release(&b);
    return out;
}

/* --- both in one --- */

int second_run_check(struct store *first, struct err *err)
{
    if (uvm_input_stored(first) != UVM_INPUT_RECORDING)
        return err_set(err, "%s holds no migrations: touches and accesses are added to a recording of unified memory",
                       store_path(first));
    return uvm_touching(first) == UVM_INPUT_OTHER
               ? 0
               : err_set(err, "%s holds %s already: record it anew, then add to it", store_path(first),
                         uvm_touching(first) == UVM_INPUT_TOUCHES ? "page touches" : "accesses");
}

const char *recorded_program(const struct store *store)
{
    const char *line = store_origin_get(store, "command_line"), *command = line ? strstr(line, " -- ") : NULL;
    const char *name = command ? command + 4 : store_origin_get(store, "process_name");
    size_t folder = name ? strcspn(name, " ") : 0;
    while (folder > 0 && name[folder - 1] != '/')
        folder--;
    return name ? name + folder : NULL;
}

const char *second_run_command(struct store *first, bool touches, char *buf, size_t size)
{
    const char *what = touches ? "touches" : "accesses", *line = store_origin_get(first, "command_line");
    const char *program = line ? strstr(line, " -- ") : NULL;
    struct err err;
    if (second_run_check(first, &err))
        (void)snprintf(buf, size, "offchip record --%s -o %s.db%s", what, what, program ? program : " -- PROGRAM");
    else
        (void)snprintf(buf, size, "offchip record --%s --with %s%s", what, store_path(first),
                       program ? program : " -- PROGRAM");
    return buf;
}

static int check_faults(struct store *first, struct store *touches, struct err *err)
{
    const struct input input = {.spec = store_path(first), .store = first};
    const struct replay_job job = {.inputs = &input, .input_count = 1};
    struct actor_input t = {.kind = UVM_INPUT_TOUCHES, .ops = &actor_trace_ops};
    t.trace = actor_trace_open(touches, err);
    t.state = t.trace;
    int rc = t.trace ? uvm_touches_fit(&job, (struct recording){RECORDING_ANY, RECORDING_ANY}, &t, NULL, err) : -1;
    actor_input_close(&t);
    return rc;
}

/* How it was recorded. */
static int copy_second(struct store *second, struct store *out, struct err *err)
{
    static const char *const facts[] = {"touches", "access_order", "sample_every"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = store_origin_get(second, facts[i]);
        if (value && store_origin(out, facts[i], value, err))
            return -1;
    }
    return 0;
}

int second_run_join(struct store *first, struct store *second, bool touches, bool some, struct store *out,
                    struct err *err)
{
    static const char *const tables[] = {"kernels", "allocations", "batches", "services", "counters", "strings"};
    struct store *moved = as_first(first, second, some, err), *view = NULL;
    const struct derive_source source = {.store = moved, .name = "the second run"};
    int rc = moved ? 0 : -1;
    if (rc == 0 && !(view = derive_view(&source, VIEW_UVM, err)))
        rc = -1;
    if (rc == 0)
        rc = check_faults(first, view, err) || recording_copy_facts(first, out, err) ||
                     copy_tables(first, out, tables, sizeof tables / sizeof *tables, err)
                 ? -1
                 : 0;
    for (int s = 0; rc == 0 && s < store_stream_count(first); s++)
        rc = copy_stream(first, out, s, err);
    if (rc == 0)
        rc = copy_stream(touches ? view : moved, out, 0, err) || copy_second(second, out, err) ? -1 : 0;
    store_close(view);
    store_close(moved);
    return rc;
}

/* --- without the profiler --- */

struct untraced untraced_of(double *ns, size_t n)
{
    sort_items(ns, n, sizeof *ns, sorted_by_f64);
    return (struct untraced){quantile_between(ns, n, 0.5), quantile_between(ns, n, 0.25), quantile_between(ns, n, 0.75),
                             (uint32_t)n};
}

/* Take the whole number that comes next; whether there is one. */
static bool next_number(const char **text, double *value)
{
    char *end;
    const long long n = strtoll(*text, &end, 10);
    const bool any = end != *text && n > 0 && n < (long long)1e18;
    *value = (double)n;
    *text = end;
    return any;
}

bool untraced_get(const struct store *store, const char *key, struct untraced *u)
{
    const char *text = store_origin_get(store, key);
    double runs;
    if (!text || !next_number(&text, &u->median_ns) || !next_number(&text, &u->low_ns) ||
        !next_number(&text, &u->high_ns) || !next_number(&text, &runs) || *text || runs > UINT32_MAX)
        return false;
    u->runs = (uint32_t)runs;
    return u->low_ns <= u->median_ns && u->median_ns <= u->high_ns;
}

int untraced_put(const char *path, const char *key, const struct untraced *u, struct err *err)
{
    sqlite3 *db;
    if (dbfile_open(path, DBFILE_WRITE, &db, err))
        return -1;
    char *sql = sqlite3_mprintf("REPLACE INTO origin VALUES(%Q,'%lld %lld %lld %u')", key, (long long)u->median_ns,
                                (long long)u->low_ns, (long long)u->high_ns, u->runs);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL) ? err_set(err, "%s: %s", path, sqlite3_errmsg(db)) : 0;
    sqlite3_free(sql);
    (void)sqlite3_close(db);
    return rc;
}

const char *untraced_say(const struct untraced *u, char *text, size_t size)
{
    (void)snprintf(text, size, "%.4g ms (%.4g to %.4g, runs: %" PRIu32 ")", u->median_ns / 1e6, u->low_ns / 1e6,
                   u->high_ns / 1e6, u->runs);
    return text;
}
