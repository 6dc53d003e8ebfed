#include "models/zerocopy/launch_weights.h"

#include <stdlib.h>

#include "trace/base/mem.h"

enum { MOST_BYTES = 128 << 20 };

struct launch_weights {
    const struct program *program;
    uint32_t sms, launches;
    size_t bytes;
    struct launch_tally **tally; /* by launch; NULL: none */
};

struct launch_weights *launch_weights_open(const struct program *program, uint32_t sms, struct err *err)
{
    struct launch_weights *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    *w = (struct launch_weights){.program = program, .sms = sms, .launches = program->ops->launches(program->state)};
    w->tally = mem_zalloc(w->launches, sizeof *w->tally, err);
    if (w->tally)
        return w;
    launch_weights_close(w);
    return NULL;
}

void launch_weights_close(struct launch_weights *w)
{
    if (!w)
        return;
    for (uint32_t l = 0; w->tally && l < w->launches; l++)
        launch_tally_free(w->tally[l]);
    free(w->tally);
    free(w);
}

struct launch_tally *launch_weights_tally(const struct launch_weights *w, struct err *err)
{
    return launch_tally_new(w->program, w->sms, true, err);
}

void launch_weights_add(struct launch_weights *w, uint32_t launch, const struct launch_tally *tally)
{
    struct launch_tally **sum = &w->tally[launch];
    struct err ignored;
    if (!*sum && w->bytes + launch_tally_bytes(tally) <= MOST_BYTES) {
        *sum = launch_weights_tally(w, &ignored);
        w->bytes += launch_tally_bytes(tally);
    }
    if (*sum)
        launch_tally_add(*sum, tally);
    else
        w->bytes = MOST_BYTES; /* no part of a launch without the others */
}

bool launch_weights_are_of(const struct launch_weights *w, const struct program *program)
{
    return w && w->program->ops == program->ops && w->program->state == program->state;
}

bool launch_weights_get(const struct launch_weights *w, uint32_t launch, uint32_t sms,
                        const struct program_alloc *allocs, struct launch_weight *weight)
{
    return sms == w->sms && w->tally[launch] && launch_tally_get(w->tally[launch], allocs, weight);
}
