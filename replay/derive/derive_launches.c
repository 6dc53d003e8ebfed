#include "replay/derive/derive_launches.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* Columns of table kernels (trace/store/schema.sql). */
enum {
    ID = 0,
    NAME = 1,
    LAUNCH = 2,
    GRID_X = 5,
    BLOCK_X = 8,
    REGISTERS = 11,
    STATIC_SHARED = 12,
    DYNAMIC_SHARED = 13,
    COLUMNS = 16
};

/* --- shapes --- */

/* The product of three columns; 0 if one is not known or it is more than `most`. */
static uint64_t product(const struct store_value *v, uint64_t most)
{
    uint64_t n = 1;
    for (int i = 0; i < 3; i++) {
        if (v[i].type != STORE_INT || v[i].i <= 0 || (uint64_t)v[i].i > most / n)
            return 0;
        n *= (uint64_t)v[i].i;
    }
    return n;
}

static uint32_t number(const struct store_value *v)
{
    return v->type == STORE_INT && v->i > 0 && v->i <= INT32_MAX ? (uint32_t)v->i : 0;
}

struct reading {
    struct derive_launches *launches;
    struct err *err;
};

static int take_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct reading *r = ctx;
    struct derive_launches *l = r->launches;
    if (n < COLUMNS || v[ID].i < 0)
        return 0;
    if (mem_grow((void **)&l->rows, &l->cap, l->count + 1, sizeof *l->rows, r->err))
        return -1;
    l->rows[l->count++] =
        (struct derive_launch){.id = (uint64_t)v[ID].i, /* the table's key: they ascend */
                               .launch = {.blocks = product(&v[GRID_X], UINT32_MAX),
                                          .threads = (uint32_t)product(&v[BLOCK_X], 1024),
                                          .registers = number(&v[REGISTERS]),
                                          .shared = number(&v[STATIC_SHARED]) + number(&v[DYNAMIC_SHARED])}};
    return 0;
}

int derive_launches_open(struct derive_launches *l, const struct derive_source *source, struct err *err)
{
    struct reading r = {l, err};
    l->program = source->program;
    return source->program || store_rows(source->store, "kernels", take_row, &r, err) == 0 ? 0 : -1;
}

void derive_launches_release(struct derive_launches *l)
{
    free(l->rows);
    *l = (struct derive_launches){0};
}

static int by_id(const void *key, const void *item)
{
    const uint64_t id = *(const uint64_t *)key, at = ((const struct derive_launch *)item)->id;
    return (id > at) - (id < at);
}

void derive_launches_get(const struct derive_launches *l, uint64_t id, struct program_launch *out)
{
    *out = (struct program_launch){0};
    if (l->program) {
        l->program->ops->launch(l->program->state, (uint32_t)id, out);
        return;
    }
    const struct derive_launch *row =
        l->count ? bsearch(&id, l->rows, l->count, sizeof *l->rows, by_id) : NULL; /* may be far apart */
    if (row)
        *out = row->launch;
}

/* --- names --- */

struct naming {
    int (*fn)(void *ctx, uint64_t id, const char *name);
    void *ctx;
};

static int name_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct naming *naming = ctx;
    return n < 2 || v[ID].i < 0 || !v[NAME].s ? 0 : naming->fn(naming->ctx, (uint64_t)v[ID].i, v[NAME].s);
}

int derive_launches_names(const struct derive_source *source, int (*fn)(void *ctx, uint64_t id, const char *name),
                          void *ctx, struct err *err)
{
    struct naming naming = {fn, ctx};
    const struct program *p = source->program;
    if (!p)
        return store_rows(source->store, "kernels", name_row, &naming, err);
    for (uint32_t i = 0; i < p->ops->launches(p->state); i++) {
        struct program_launch launch = {0};
        p->ops->launch(p->state, i, &launch);
        int rc = fn(ctx, i, launch.kernel);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- writing --- */

struct copying {
    struct store *out;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct copying *c = ctx;
    return store_row(c->out, "kernels", v, n, c->err);
}

/* Blocks and threads along x alone: a program numbers both in one row. */
static int write_launch(const struct program_launch *l, uint32_t i, struct store *out, struct err *err)
{
    struct store_value row[COLUMNS] = {STORE_V_INT(i), STORE_V_TEXT(l->kernel), STORE_V_INT(i)};
    if (!l->cpu) {
        row[GRID_X] = STORE_V_INT(l->blocks);
        row[BLOCK_X] = STORE_V_INT(l->threads);
        row[GRID_X + 1] = row[GRID_X + 2] = row[BLOCK_X + 1] = row[BLOCK_X + 2] = STORE_V_INT(1);
        row[STATIC_SHARED] = STORE_V_INT(l->shared);
        row[DYNAMIC_SHARED] = STORE_V_INT(0);
    }
    if (l->registers)
        row[REGISTERS] = STORE_V_INT(l->registers);
    return store_row(out, "kernels", row, COLUMNS, err);
}

int derive_launches_write(const struct derive_source *source, struct store *out, struct err *err)
{
    struct copying c = {out, err};
    const struct program *p = source->program;
    if (!p)
        return store_rows(source->store, "kernels", copy_row, &c, err) ? -1 : 0;
    for (uint32_t i = 0; i < p->ops->launches(p->state); i++) {
        struct program_launch launch = {0};
        p->ops->launch(p->state, i, &launch);
        if (write_launch(&launch, i, out, err))
            return -1;
    }
    return 0;
}
