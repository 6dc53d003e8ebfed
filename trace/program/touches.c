#include "trace/program/pages.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/store/store.h"

static int store_allocations(struct store *store, const struct actor_ops *ops, const void *state, struct err *err)
{
    size_t n;
    const struct actor_alloc *a = ops->allocs(state, &n);
    for (size_t i = 0; i < n; i++)
        if (STORE_ROW(store, "allocations", err, STORE_V_INT(i), STORE_V_INT(a[i].addr), STORE_V_INT(a[i].bytes),
                      STORE_V_TEXT("managed"), STORE_V_TEXT(a[i].name), STORE_V_NULL, STORE_V_NULL))
            return -1;
    return 0;
}

static int store_kernels(struct store *store, const struct actor_ops *ops, const void *state, struct err *err)
{
    for (uint32_t l = 0; l < ops->launches(state); l++) {
        struct actor_launch launch = {0};
        ops->launch(state, l, &launch);
        struct store_value row[16] = {STORE_V_INT(l), STORE_V_TEXT(launch.kernel), STORE_V_INT(l)};
        if (launch.threads) {
            row[5] = STORE_V_INT(launch.actors / (launch.together ? launch.together : 1));
            row[8] = STORE_V_INT(launch.threads);
            for (size_t i = 6; i < 11; i++)
                if (row[i].type == STORE_NULL)
                    row[i] = STORE_V_INT(1);
            row[11] = launch.registers ? STORE_V_INT(launch.registers) : STORE_V_NULL;
            row[12] = STORE_V_INT(launch.shared);
        }
        if (store_row(store, "kernels", row, sizeof row / sizeof *row, err))
            return -1;
    }
    return 0;
}

/* One batch of records, their extra columns one after the other, and as the writer gives them. */
struct batch {
    struct record records[STORE_BATCH];
    int64_t columns[STORE_BATCH * ACTOR_EXTRAS], rows[STORE_BATCH * ACTOR_EXTRAS];
};

static int append(struct store *store, int stream, struct batch *b, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < ACTOR_EXTRAS; c++)
            b->columns[c * n + i] = b->rows[i * ACTOR_EXTRAS + c];
    return store_append(store, stream, b->records, b->columns, n, err);
}

int touches_write(struct store *store, const struct actor_ops *ops, const void *state,
                  void (*wrote)(void *ctx, size_t records), void *ctx, struct err *err)
{
    struct stream stream = {.name = "touches", .unit = TIME_NONE, .space = ADDR_BYTES};
    struct actor_writer writer = {0};
    int index;
    for (size_t c = 0; c < ACTOR_EXTRAS; c++)
        (void)snprintf(stream.extra[c], sizeof stream.extra[c], "%s", actor_extras[c]);
    struct batch *b = mem_zalloc(1, sizeof *b, err);
    int rc = !b || store_allocations(store, ops, state, err) || store_kernels(store, ops, state, err) ||
                     store_stream_add(store, &stream, &index, err)
                 ? -1
                 : 0;
    for (size_t n = 1; rc == 0 && n;) {
        rc = actor_writer_next(&writer, ops, state, b->records, b->rows, STORE_BATCH, &n, err);
        if (rc == 0 && n)
            rc = append(store, index, b, n, err);
        if (wrote)
            wrote(ctx, n);
    }
    actor_writer_close(&writer, ops);
    free(b);
    return rc;
}
