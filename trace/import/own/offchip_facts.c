/* offchip_facts: what several traces say of themselves, put together.
 *
 * A key of origin or parameters that every input has with the same value stays; others become input.N.KEY. Always so:
 * what belongs to the making of one file (when, where, by which command, from which source). kinds.STREAM becomes what
 * all inputs could see. Counts of skipped and dropped items are summed. */
#include "trace/import/own/offchip_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* --- pairs of a key and a value, of all inputs --- */

struct pair {
    char *key, *value;
    size_t input;
};

struct pairs {
    struct pair *items;
    size_t count, cap, input;
    struct err *err;
};

static int take_pair(void *ctx, const struct store_value *values, size_t n)
{
    struct pairs *p = ctx;
    (void)n;
    if (mem_grow((void **)&p->items, &p->cap, p->count + 1, sizeof *p->items, p->err))
        return -1;
    struct pair *pair = &p->items[p->count++];
    *pair = (struct pair){mem_strdup(values[0].s, p->err), NULL, p->input};
    pair->value = pair->key ? mem_strdup(values[1].s, p->err) : NULL;
    return pair->value ? 0 : -1;
}

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int said = strcmp(x->key, y->key);
    return said ? said : x->input < y->input ? -1 : x->input > y->input;
}

static void pairs_release(struct pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].key);
        free(p->items[i].value);
    }
    free(p->items);
}

/* Facts of the making of one file. */
static bool is_own(const char *key)
{
    static const char *const keys[] = {"created", "host", "command_line", "offchip_version", "state"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return strncmp(key, "source.", 7) == 0 || strncmp(key, "input.", 6) == 0 || strncmp(key, "merge.", 6) == 0;
}

/* The words of `list` that `other` has too, in place. */
static void keep_common(char *list, const char *other)
{
    char *to = list;
    for (char *word = list, *end; *word; word = end) {
        size_t n = strcspn(word, " ");
        end = word + n + (word[n] == ' ');
        bool common = false;
        for (const char *o = other; !common && *o; o += strcspn(o, " "), o += *o == ' ')
            common = strcspn(o, " ") == n && memcmp(o, word, n) == 0;
        if (!common)
            continue;
        if (to != list)
            *to++ = ' ';
        memmove(to, word, n);
        to += n;
    }
    *to = 0;
}

static int put(struct store *store, bool origin, const char *key, const char *value, struct err *err)
{
    const struct store_value row[] = {STORE_V_TEXT(key), STORE_V_TEXT(value)};
    return origin ? store_origin(store, key, value, err) : store_row(store, "parameters", row, 2, err);
}

/* The n pairs of one key. */
static int put_key(const struct pair *pairs, size_t n, size_t inputs, bool origin, struct store *store, struct err *err)
{
    bool shared = n == inputs && !(origin && is_own(pairs->key));
    if (shared && origin && strncmp(pairs->key, "kinds.", 6) == 0)
        for (size_t i = 1; i < n; i++)
            keep_common(pairs->value, pairs[i].value);
    else
        for (size_t i = 1; shared && i < n; i++)
            shared = strcmp(pairs[i].value, pairs->value) == 0;
    if (shared)
        return put(store, origin, pairs->key, pairs->value, err);
    for (size_t i = 0; i < n; i++) {
        char key[400];
        (void)snprintf(key, sizeof key, "input.%zu.%.350s", pairs[i].input, pairs[i].key);
        if (put(store, origin, key, pairs[i].value, err))
            return -1;
    }
    return 0;
}

static int put_table(const struct offchip_inputs *inputs, bool origin, struct store *store, struct err *err)
{
    struct pairs p = {.err = err};
    int rc = 0;
    for (; rc == 0 && p.input < inputs->count; p.input++)
        rc = store_rows(inputs->items[p.input].store, origin ? "origin" : "parameters", take_pair, &p, err);
    if (rc == 0 && p.count)
        qsort(p.items, p.count, sizeof *p.items, by_key);
    for (size_t i = 0, n; rc == 0 && i < p.count; i += n) {
        for (n = 1; i + n < p.count && strcmp(p.items[i + n].key, p.items[i].key) == 0; n++)
            ;
        rc = put_key(&p.items[i], n, inputs->count, origin, store, err);
    }
    pairs_release(&p);
    return rc;
}

/* --- counts --- */

struct counting {
    struct store *store;
    uint64_t *skipped; /* NULL: these are dropped ones */
    struct err *err;
};

static int take_count(void *ctx, const struct store_value *values, size_t n)
{
    struct counting *c = ctx;
    (void)n;
    if (values[1].i < 0)
        return err_set(c->err, "a count of %" PRId64 " items '%.80s'", values[1].i, values[0].s);
    if (!c->skipped)
        return store_drop(c->store, values[0].s, (uint64_t)values[1].i, c->err);
    *c->skipped += (uint64_t)values[1].i;
    return store_skip(c->store, values[0].s, (uint64_t)values[1].i, c->err);
}

int offchip_facts(const struct offchip_inputs *inputs, struct store *store, uint64_t *skipped, struct err *err)
{
    if (put_table(inputs, true, store, err) || put_table(inputs, false, store, err))
        return -1;
    for (size_t i = 0; i < inputs->count; i++) {
        struct counting skips = {store, skipped, err}, drops = {store, NULL, err};
        const struct offchip_input *input = &inputs->items[i];
        if (store_rows(input->store, "skipped", take_count, &skips, err) ||
            store_rows(input->store, "dropped", take_count, &drops, err))
            return err_at(err, "'%s'", input->path);
    }
    return 0;
}
