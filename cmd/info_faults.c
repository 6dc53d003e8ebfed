#include "cmd/info.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/quantile.h"
#include "trace/base/sorted.h"

enum { PAGE_SHIFT = 12 };

/* A batch, by its number; a page; a client, by its GPC << 16 | client. Of one process, and so of one GPU. */
struct item {
    struct {
        int64_t process;
        uint64_t number;
    } key;
    uint64_t faults, duplicates, leftovers;
    uint64_t batch, replayed; /* of a page: its last batch; GPU time of its replay, 0: none */
    UT_hash_handle hh;
};

struct tally {
    struct item *batches, *pages, *clients, sum;
    struct quantile *waits; /* from an entry's writing to its batch's replay, by the GPU's clock */
    int process, client;    /* extra columns */
    struct err *err;
};

/* Made if there is none; NULL: no memory. */
static struct item *item_of(struct tally *t, struct item **table, int64_t process, uint64_t number)
{
    struct item like, *item;
    memset(&like.key, 0, sizeof like.key);
    like.key.process = process;
    like.key.number = number;
    HASH_FIND(hh, *table, &like.key, sizeof like.key, item);
    if (item || !(item = mem_zalloc(1, sizeof *item, t->err)))
        return item;
    item->key = like.key;
    HASH_ADD(hh, *table, key, sizeof item->key, item);
    if (hash_has(item))
        return item;
    free(item);
    (void)err_set(t->err, "out of memory");
    return NULL;
}

static int add_entry(struct tally *t, const struct record *r, struct item *batch, int64_t client)
{
    struct item *page = item_of(t, &t->pages, batch->key.process, r->addr >> PAGE_SHIFT),
                *who = item_of(t, &t->clients, batch->key.process, (uint64_t)client);
    if (!page || !who)
        return -1;
    const bool duplicate = page->faults && page->batch == r->group;
    const bool leftover = page->faults && !duplicate && r->id < page->replayed;
    struct item *const of[] = {&t->sum, page, who, batch};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        of[i]->faults++;
        of[i]->duplicates += duplicate;
        of[i]->leftovers += leftover;
    }
    t->sum.batch += batch->faults == 1;
    page->batch = r->group;
    page->replayed = batch->replayed;
    if (batch->replayed >= r->id && batch->replayed - r->id <= INT64_MAX)
        quantile_add(t->waits, (int64_t)(batch->replayed - r->id));
    return 0;
}

static int walk(struct store *store, int stream, struct tally *t, enum record_kind kind)
{
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, t->err)) {
        const int64_t process = store_walk_extra(&w, t->process);
        struct item *batch = w.r->kind == kind ? item_of(t, &t->batches, process, w.r->group) : NULL;
        if (w.r->kind == kind && !batch)
            w.failed = true;
        else if (batch && kind == RECORD_REPLAY)
            batch->replayed = w.r->id;
        else if (batch)
            w.failed = add_entry(t, w.r, batch, store_walk_extra(&w, t->client));
    }
    return store_walk_end(&w);
}

static int read_all(struct store *store, struct tally *t)
{
    for (int i = 0; i < store_stream_count(store); i++) {
        const struct stream *s = store_stream(store, i);
        t->process = store_extra(s, "process_id");
        t->client = store_extra(s, "client");
        if (s->kinds >> RECORD_FAULT_ENTRY & 1 &&
            (walk(store, i, t, RECORD_REPLAY) || walk(store, i, t, RECORD_FAULT_ENTRY)))
            return -1;
    }
    return 0;
}

static void put_item(json_t **o, const struct item *item)
{
    json_tree_put(o, "faults", json_integer((json_int_t)item->faults));
    json_tree_put(o, "duplicates", json_integer((json_int_t)item->duplicates));
    json_tree_put(o, "leftovers", json_integer((json_int_t)item->leftovers));
}

static int by_number(const struct item *a, const struct item *b)
{
    return ORDER_OF(a->key.number, b->key.number);
}

static void put_all(struct tally *t, json_t **root)
{
    json_t *rows = json_array(), *o = json_object();
    HASH_SORT(t->clients, by_number);
    for (const struct item *c = t->clients; c; c = c->hh.next) {
        json_t *row = json_object();
        json_tree_put(&row, "gpc", json_integer((json_int_t)(c->key.number >> 16)));
        json_tree_put(&row, "client", json_integer((json_int_t)(c->key.number & 0xffff)));
        put_item(&row, c);
        json_tree_add(&rows, row);
    }
    put_item(&o, &t->sum);
    json_tree_put(&o, "batches", json_integer((json_int_t)t->sum.batch));
    json_tree_put(&o, "clients", json_integer((json_int_t)HASH_COUNT(t->clients)));
    static const char *const marks[] = {"replay_min_ns", "replay_median_ns", "replay_max_ns"};
    for (int i = 0; i < 3; i++)
        json_tree_put(&o, marks[i],
                      quantile_count(t->waits) ? json_integer(quantile_at(t->waits, i / 2.0)) : json_null());
    json_tree_put(root, "single_faults", o);
    json_tree_put(root, "by_client", rows);
}

int info_faults_json(struct store *store, json_t **root, struct err *err)
{
    struct tally t = {.err = err, .waits = quantile_new(err)};
    const int rc = t.waits ? read_all(store, &t) : -1;
    if (!rc && t.sum.faults)
        put_all(&t, root);
    HASH_FREE(t.batches, b, (void)0);
    HASH_FREE(t.pages, p, (void)0);
    HASH_FREE(t.clients, c, (void)0);
    quantile_free(t.waits);
    return rc;
}
