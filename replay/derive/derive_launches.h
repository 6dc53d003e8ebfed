/* derive_launches: the launches of a source, their kernels' names and shapes.
 *
 * Of a generated program as it says; of a recording from its table kernels, where what was not recorded is 0: blocks,
 * threads, registers, shared. */
#ifndef REPLAY_DERIVE_DERIVE_LAUNCHES_H
#define REPLAY_DERIVE_DERIVE_LAUNCHES_H

#include "replay/derive/derive.h"

/* Zeroed before open. */
struct derive_launches {
    const struct program *program;
    struct derive_launch { /* recorded, in the order of the ids of table kernels; kernel is NULL */
        uint64_t id;
        struct program_launch launch;
    } * rows;
    size_t count, cap;
};

int derive_launches_open(struct derive_launches *launches, const struct derive_source *source, struct err *err);
void derive_launches_release(struct derive_launches *launches);

/* The launch whose KERNEL record has this id. */
void derive_launches_get(const struct derive_launches *launches, uint64_t id, struct program_launch *out);

/* Call fn for every launch's kernel name and id; as store_rows(). */
int derive_launches_names(const struct derive_source *source, int (*fn)(void *ctx, uint64_t id, const char *name),
                          void *ctx, struct err *err);

/* Fill table kernels of `out`: the recording's rows as they are, or the program's launches. */
int derive_launches_write(const struct derive_source *source, struct store *out, struct err *err);

#endif
