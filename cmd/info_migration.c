#include "cmd/info.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/quantile.h"
#include "trace/base/sorted.h"
#include "trace/derived/summary.h"

enum { PAGE_SHIFT = 12, BLOCK_SHIFT = 21, BLOCK_PAGES = 512, PAGE_BYTES = 4096 };

/* Which pages of a VA block were moved, to one GPU of one process. */
struct moved {
    struct {
        int64_t process, gpu;
        uint64_t block;
    } key;
    uint64_t pages[BLOCK_PAGES / 64];
    UT_hash_handle hh;
};

struct batch_start {
    int64_t batch, start_ns, first_ns; /* first_ns INT64_MAX: no copy so far */
};

struct tally {
    struct moved *blocks;
    uint64_t bytes, distinct_pages;
    double served_bytes, fault_pages; /* whole up to 2^53; a damaged table's sums do not overflow */
    struct batch_start *batches;
    size_t count, cap;
    struct err *err;
};

/* --- bytes --- */

static int add_page(struct tally *t, int64_t process, int64_t gpu, uint64_t page)
{
    struct moved like, *m;
    memset(&like.key, 0, sizeof like.key);
    like.key.process = process;
    like.key.gpu = gpu;
    like.key.block = page >> (BLOCK_SHIFT - PAGE_SHIFT);
    HASH_FIND(hh, t->blocks, &like.key, sizeof like.key, m);
    if (!m) {
        m = mem_zalloc(1, sizeof *m, t->err);
        if (!m)
            return -1;
        m->key = like.key;
        HASH_ADD(hh, t->blocks, key, sizeof m->key, m);
        if (!hash_has(m)) {
            free(m);
            return err_set(t->err, "out of memory");
        }
    }
    const uint64_t bit = UINT64_C(1) << page % 64;
    uint64_t *word = &m->pages[page % BLOCK_PAGES / 64];
    t->distinct_pages += !(*word & bit);
    *word |= bit;
    return 0;
}

/* A copy of more than a block would be none of the driver's: hostile sizes do not make work. */
static int add_copy(struct tally *t, const struct record *r, int64_t process, int64_t gpu)
{
    const uint64_t bytes = r->bytes < (UINT64_C(1) << BLOCK_SHIFT) ? r->bytes : UINT64_C(1) << BLOCK_SHIFT;
    t->bytes = summary_bytes(t->bytes, r->bytes);
    for (uint64_t at = r->addr >> PAGE_SHIFT; bytes && at <= (r->addr + bytes - 1) >> PAGE_SHIFT; at++)
        if (add_page(t, process, gpu, at))
            return -1;
    return 0;
}

static int read_copies(struct store *store, int stream, struct tally *t)
{
    const struct stream *s = store_stream(store, stream);
    const int process = store_extra(s, "process_id"), gpu = store_extra(s, "dst_id");
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, t->err))
        if (w.r->kind == RECORD_MIGRATE_H2D)
            w.failed = add_copy(t, w.r, store_walk_extra(&w, process), store_walk_extra(&w, gpu));
    return store_walk_end(&w);
}

/* --- faults --- */

static int on_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct tally *t = ctx;
    if (n < 8 || v[3].type != STORE_INT || strcmp(v[7].s, "fault-record") != 0)
        return 0;
    return MEM_ADD(t->batches, t->count, t->cap, t->err, (struct batch_start){v[0].i, v[3].i, INT64_MAX});
}

static int on_service(void *ctx, const struct store_value *v, size_t n)
{
    struct tally *t = ctx;
    if (n < 9 || v[5].type != STORE_INT || v[7].type != STORE_INT || v[8].type != STORE_INT)
        return 0;
    t->fault_pages += (double)v[5].i;
    t->served_bytes += (double)v[7].i + (double)v[8].i;
    struct batch_start *batch = v[1].type == STORE_INT && v[3].type == STORE_INT && t->count
                                    ? sort_find(&v[1].i, t->batches, t->count, sizeof *t->batches, sorted_by_i64)
                                    : NULL;
    if (batch && v[3].i < batch->first_ns)
        batch->first_ns = v[3].i;
    return 0;
}

static json_t *delays_json(const struct tally *t)
{
    static const struct {
        const char *name;
        double share;
    } marks[] = {{"min", 0}, {"q1", 0.25}, {"median", 0.5}, {"q3", 0.75}, {"max", 1}};
    struct quantile *q = quantile_new(t->err);
    json_t *o = q ? json_object() : NULL;
    for (size_t i = 0; o && i < t->count; i++)
        if (t->batches[i].first_ns != INT64_MAX && t->batches[i].first_ns >= t->batches[i].start_ns)
            quantile_add(q, t->batches[i].first_ns - t->batches[i].start_ns);
    if (o && !quantile_count(q)) {
        json_decref(o);
        o = json_null();
    } else if (o) {
        json_tree_put(&o, "batches", json_integer((json_int_t)quantile_count(q)));
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            json_tree_put(&o, marks[i].name, json_integer(quantile_at(q, marks[i].share)));
    }
    quantile_free(q);
    return o;
}

static int read_all(struct store *store, struct tally *t)
{
    for (int i = 0; i < store_stream_count(store); i++)
        if (store_stream(store, i)->kinds >> RECORD_MIGRATE_H2D & 1 && read_copies(store, i, t))
            return -1;
    return t->bytes && (store_rows(store, "batches", on_batch, t, t->err) ||
                        store_rows(store, "services", on_service, t, t->err))
               ? -1
               : 0;
}

int info_migration_json(struct store *store, json_t **root, struct err *err)
{
    struct tally t = {.err = err};
    int rc = read_all(store, &t);
    if (!rc && t.bytes) {
        const double distinct = (double)t.distinct_pages * PAGE_BYTES;
        json_t *o = json_object();
        json_tree_put(&o, "h2d_bytes", t.bytes > INT64_MAX ? json_null() : json_integer((json_int_t)t.bytes));
        json_tree_put(&o, "h2d_distinct_bytes", json_integer((json_int_t)(t.distinct_pages * PAGE_BYTES)));
        json_tree_put(&o, "remigration_ratio", json_tree_real((double)t.bytes / distinct));
        json_tree_put(&o, "bytes_per_fault",
                      t.fault_pages > 0 ? json_tree_real(t.served_bytes / t.fault_pages) : json_null());
        json_tree_put(&o, "fault_to_migration_ns", delays_json(&t));
        json_tree_put(root, "migration", o);
    }
    HASH_FREE(t.blocks, m, (void)0);
    free(t.batches);
    return rc;
}
