#include "models/gpu/wheel.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { WORDS = WHEEL_CYCLES / 64 };

int wheel_init(struct wheel *w, uint32_t actors, struct err *err)
{
    memset(w, 0, sizeof *w);
    w->words = (actors + 63) / 64;
    w->actors = mem_zalloc((size_t)WHEEL_CYCLES * w->words, sizeof *w->actors, err);
    return w->actors ? 0 : -1;
}

void wheel_release(struct wheel *w)
{
    free(w->actors);
    w->actors = NULL;
}

void wheel_reset(struct wheel *w, int64_t now)
{
    w->now = now - 1;
    w->next = INT64_MAX;
    memset(w->used, 0, sizeof w->used);
    memset(w->actors, 0, (size_t)WHEEL_CYCLES * w->words * sizeof *w->actors);
}

/* The first cycle after `now` with an actor, looked for. */
static int64_t find(const struct wheel *w)
{
    uint64_t first = (uint64_t)(w->now + 1) % WHEEL_CYCLES;
    for (uint64_t i = 0; i <= WORDS; i++) {
        uint64_t word = (first / 64 + i) % WORDS, bits = w->used[word];
        if (i == 0)
            bits &= ~UINT64_C(0) << first % 64;
        else if (i == WORDS)
            bits &= (UINT64_C(1) << first % 64) - 1;
        if (bits) {
            uint64_t slot = word * 64 + (uint64_t)__builtin_ctzll(bits);
            return w->now + 1 + (int64_t)((slot - first) % WHEEL_CYCLES);
        }
    }
    return INT64_MAX;
}

void wheel_take_some(struct wheel *w, int64_t t, uint64_t *due)
{
    for (uint64_t kept = 0; w->next <= t; kept = ~UINT64_C(0)) { /* of due[]: nothing at first */
        uint64_t slot = (uint64_t)w->next % WHEEL_CYCLES, *actors = &w->actors[slot * w->words];
        for (uint32_t i = 0; i < w->words; i++) {
            due[i] = (due[i] & kept) | actors[i];
            actors[i] = 0;
        }
        w->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        w->now = w->next;
        w->next = find(w);
    }
    w->now = t;
}
