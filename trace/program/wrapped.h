/* wrapped: a program made of another one: what trace/program/cut.h, rest.h, prefix.h and placed.h share. Memory is the
 * whole one's; a run is a run of the whole one beside the state. */
#ifndef TRACE_PROGRAM_WRAPPED_H
#define TRACE_PROGRAM_WRAPPED_H

#include "trace/program/program.h"

/* The first member of the state. */
struct program_wrapped {
    struct program whole, program; /* program: what is made of it */
};

/* What body() of its ops takes. */
struct program_wrapped_run {
    const struct program_wrapped *wrapped; /* the state */
    void *run;                             /* of the whole */
};

/* program_ops, as the whole one has them. */
const struct program_alloc *program_wrapped_allocs(const void *state, size_t *n);
uint32_t program_wrapped_launches(const void *state);
void program_wrapped_launch(const void *state, uint32_t number, struct program_launch *out);
void *program_wrapped_open(const void *state, struct err *err);
void program_wrapped_close(void *run);

#endif
