#include "trace/derived/limits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/json_tree.h"

const char *limits_note(const char *note)
{
    return note && strncmp(note, LIMITS_BEGIN, sizeof LIMITS_BEGIN - 1) == 0 ? note : NULL;
}

void limits_collect(void *array, const char *sentence)
{
    json_tree_add(array, json_tree_text(sentence));
}

struct telling {
    struct store *store;
    const char *name;
    limits_listener listener;
    void *ctx;
    struct err *err;
};

static __attribute__((format(printf, 2, 3))) void tell(const struct telling *t, const char *format, ...)
{
    char sentence[1024] = LIMITS_BEGIN;
    const size_t begin = sizeof LIMITS_BEGIN - 1;
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(sentence + begin, sizeof sentence - begin, format, ap);
    va_end(ap);
    t->listener(t->ctx, sentence);
}

/* --- counts by reason --- */

struct counts {
    char text[400];
    size_t reasons, shown;
};

static int add_count(void *ctx, const struct store_value *v, size_t n)
{
    struct counts *c = ctx;
    const size_t used = strlen(c->text), room = sizeof c->text - used;
    if (n < 2 || !v[0].s || v[1].i <= 0)
        return 0;
    c->reasons++;
    if (c->shown + 1 == c->reasons &&
        (size_t)snprintf(c->text + used, room, "%s%" PRId64 " x %.200s", used ? ", " : "", v[1].i, v[0].s) < room)
        c->shown++;
    else
        c->text[used] = 0;
    return 0;
}

static int tell_counts(const struct telling *t, const char *table, const char *what)
{
    struct counts c = {"", 0, 0};
    char more[64] = "";
    if (store_rows(t->store, table, add_count, &c, t->err))
        return -1;
    if (c.reasons > c.shown)
        (void)snprintf(more, sizeof more, ", and %zu more reasons", c.reasons - c.shown);
    if (c.reasons)
        tell(t, "%.300s lacks what was %s: %s%s", t->name, what, c.text, more);
    return 0;
}

/* --- GPUs and processes --- */

enum { DEVICE = 14, DEVICES = 64 }; /* a column of table kernels (trace/store/schema.sql) */

static int add_device(void *devices, const struct store_value *v, size_t n)
{
    if (n > DEVICE && v[DEVICE].type == STORE_INT && v[DEVICE].i >= 0)
        *(uint64_t *)devices |= UINT64_C(1) << (v[DEVICE].i < DEVICES ? v[DEVICE].i : DEVICES - 1);
    return 0;
}

static int tell_parts(const struct telling *t)
{
    char key[48];
    uint64_t devices = 0;
    size_t traces = 0;
    do
        (void)snprintf(key, sizeof key, "input.%zu.path", traces);
    while (store_origin_get(t->store, key) && ++traces);
    if (traces > 1)
        tell(t, "%.300s is %zu traces put together", t->name, traces);
    /* A row that is none stops whoever needs the table. */
    if (store_rows(t->store, "kernels", add_device, &devices, t->err) && err_is_memory(t->err))
        return -1;
    if (devices & (devices - 1))
        tell(t, "%.300s holds the kernels of %d GPUs", t->name, __builtin_popcountll(devices));
    return 0;
}

/* Whether records say whose they are. */
static bool has_owners(const struct store *store)
{
    bool has = false;
    for (int s = 0; s < store_stream_count(store); s++)
        has |= store_extra(store_stream(store, s), "dst_id") >= 0;
    return has;
}

/* chosen: the one that an answer is of; NULL: all of them. */
static int tell_owners(const struct telling *t, const struct recording *chosen)
{
    struct recordings r;
    char list[400], one[80] = "";
    if (!has_owners(t->store))
        return 0;
    if (recordings_find(&r, t->store, t->err))
        return -1;
    recordings_list(&r, list, sizeof list);
    if (chosen)
        recordings_list(&(struct recordings){{*chosen}, 1}, one, sizeof one);
    if (r.count > 1)
        tell(t, "%.300s holds what several GPUs or processes exchanged: %s%s%s", t->name, list,
             chosen ? "; this is of one: " : "", one);
    return 0;
}

int limits_tell_chosen(struct store *store, const char *name, struct recording wanted, limits_listener listener,
                       void *ctx, struct err *err)
{
    const struct telling t = {store, name, listener, ctx, err};
    struct recording chosen;
    if (wanted.process == RECORDING_ANY && wanted.gpu == RECORDING_ANY)
        return 0;
    return recording_choose(&chosen, wanted, store, err) || tell_owners(&t, &chosen) ? -1 : 0;
}

/* --- all --- */

int limits_tell(struct store *store, const char *name, limits_listener listener, void *ctx, struct err *err)
{
    const struct telling t = {store, name, listener, ctx, err};
    const char *why = store_origin_get(store, "state.why"), *chosen = store_origin_get(store, "kernels.chosen"),
               *addresses = store_origin_get(store, "addresses.chosen"), *sample = store_origin_get(store, "sample");
    if (!store_complete(store))
        tell(&t, "%.300s is incomplete: %.400s", name,
             why      ? why
             : sample ? sample
                      : "it ends where its writer, or its source, was stopped");
    if (chosen)
        tell(&t, "%.300s holds only kernels that match '%.200s'", name, chosen);
    if (addresses)
        tell(&t, "%.300s holds only accesses to %.100s", name, addresses);
    return tell_counts(&t, "dropped", "lost when it was recorded") ||
                   tell_counts(&t, "skipped", "left out when it was made") || tell_parts(&t)
               ? -1
               : 0;
}

struct store *limits_open(const char *path, limits_listener listener, void *ctx, struct err *err)
{
    struct store *store = store_open(path, err);
    const struct telling t = {store, path, listener, ctx, err};
    if (!store || (limits_tell(store, path, listener, ctx, err) == 0 && tell_owners(&t, NULL) == 0))
        return store;
    store_close(store);
    return NULL;
}

/* --- what is made of a trace --- */

struct carrying {
    struct store *out;
    int (*add)(struct store *store, const char *reason, uint64_t n, struct err *err);
    struct err *err;
};

static int carry(void *ctx, const struct store_value *v, size_t n)
{
    const struct carrying *c = ctx;
    return n > 1 && v[0].s && v[1].i > 0 ? c->add(c->out, v[0].s, (uint64_t)v[1].i, c->err) : 0;
}

int limits_finish(struct store *in, struct store *out, struct err *err)
{
    static const char *const keys[] = {"sample_every", "kernels.chosen", "addresses.chosen", "state.why"};
    struct carrying drops = {out, store_drop, err}, skips = {out, store_skip, err};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (store_origin_get(in, keys[i]) && store_origin(out, keys[i], store_origin_get(in, keys[i]), err))
            return -1;
    if (store_rows(in, "dropped", carry, &drops, err) || store_rows(in, "skipped", carry, &skips, err))
        return -1;
    return store_complete(in) ? store_finish(out, err) : store_keep(out, err);
}
