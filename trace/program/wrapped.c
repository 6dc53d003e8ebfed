#include "trace/program/wrapped.h"

#include <stdlib.h>

#include "trace/base/mem.h"

const struct program_alloc *program_wrapped_allocs(const void *state, size_t *n)
{
    const struct program_wrapped *w = state;
    return w->whole.ops->allocs(w->whole.state, n);
}

uint32_t program_wrapped_launches(const void *state)
{
    const struct program_wrapped *w = state;
    return w->whole.ops->launches(w->whole.state);
}

void program_wrapped_launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct program_wrapped *w = state;
    w->whole.ops->launch(w->whole.state, number, out);
}

void *program_wrapped_open(const void *state, struct err *err)
{
    struct program_wrapped_run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->wrapped = state;
    if (program_run_open(&r->wrapped->whole, &r->run, err) == 0)
        return r;
    free(r);
    return NULL;
}

void program_wrapped_close(void *run)
{
    struct program_wrapped_run *r = run;
    if (r)
        program_run_close(&r->wrapped->whole, r->run);
    free(r);
}
