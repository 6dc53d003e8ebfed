#include "trace/workloads/graph/traversal.h"

#include <string.h>

#include "trace/base/mem.h"

int frontier_init(struct frontier *f, uint64_t vertices, struct err *err)
{
    *f = (struct frontier){mem_zalloc(vertices / 64 + 1, sizeof *f->bits, err), 0, vertices};
    return f->bits ? 0 : -1;
}

void frontier_clear(struct frontier *f)
{
    memset(f->bits, 0, (f->vertices / 64 + 1) * sizeof *f->bits);
    f->count = 0;
}

void frontier_fill(struct frontier *f)
{
    memset(f->bits, 0xff, f->vertices / 64 * sizeof *f->bits);
    f->bits[f->vertices / 64] = (1ULL << (f->vertices % 64)) - 1;
    f->count = f->vertices;
}

uint64_t frontier_next(const struct frontier *f, uint64_t v, uint64_t end)
{
    while (v < end) {
        uint64_t word = f->bits[v / 64] >> (v % 64);
        if (word) {
            v += (uint64_t)__builtin_ctzll(word);
            return v < end ? v : end;
        }
        v = (v / 64 + 1) * 64;
    }
    return end;
}
