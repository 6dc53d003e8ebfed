/* derive_source: an input of a replay as what its accesses can be derived from, and what a recording of them lacks. */
#ifndef REPLAY_DERIVE_DERIVE_SOURCE_H
#define REPLAY_DERIVE_DERIVE_SOURCE_H

#include "replay/derive/derive.h"
#include "replay/run/input.h"
#include "replay/run/outcome.h"

/* The program of an input for one engine's view of it. */
struct derive_input {
    struct derive_source source;
    struct program program;
};

/* Fill *in for `view`. A trace without accesses or a workload without the view is an error that says what it holds. The
 * input must stay open, and *in where it is. */
int derive_input_open(struct derive_input *in, const struct input *input, enum workload_view view, struct err *err);

/* Whether the input is a program of which the engine has to take its view: a recording of accesses, or a generated
 * program that has the view. */
bool derive_input_is(const struct input *input, enum workload_view view);

/* "workload NAME has no pages to touch; its views: dram"; always -1. */
int derive_no_view(const struct workload_type *type, enum workload_view view, struct err *err);

/* An empty trace for a view that only one replay needs, and the view of an input in it: touches for VIEW_UVM, lists
 * for VIEW_ZEROCOPY. The trace is a temporary file without a name, and gone when it is closed. NULL with *err set on
 * failure. Of a generated program only lists. */
struct store *derive_view(const struct derive_source *source, enum workload_view view, struct err *err);

/* Say what of the program is not in a recording. */
void derive_note_extent(struct store *store, struct outcome *outcome);

/* Say what a recording lacks for this view: whether it is whole, times, what waits for what. Nothing for a generated
 * program, but for dram that it has no times. */
void derive_notes(const struct derive_source *source, enum workload_view view, struct outcome *outcome);

/* The launches of a source, their kernels' names and shapes.
 *
 * Of a generated program as it says; of a recording from its table kernels, where what was not recorded is 0: blocks,
 * threads, registers, shared. Zeroed before open. */
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
