#include "trace/program/emit.h"

struct program_access *emit_tile(const struct emit *e, struct program_access *a, unsigned width, int64_t down,
                                 int64_t right)
{
    uint64_t first = a->addr, *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = first + (uint64_t)((l / width * down + l % width * right) * a->bytes);
    return a;
}

struct program_access *emit_gather(const struct emit *e, unsigned array, const int64_t *index, unsigned before,
                                   unsigned use)
{
    unsigned first = (unsigned)__builtin_ctz(e->active), next = first;
    uint32_t rest = e->active & (e->active - 1);
    if (rest)
        next = (unsigned)__builtin_ctz(rest);
    int64_t apart = next > first ? (index[next] - index[first]) / (int64_t)(next - first) : 0;
    struct program_access *a = emit_load(e, array, index[first] - apart * (int64_t)first, before, use);
    emit_apart(a, apart);
    bool even = true;
    for (; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        even &= index[l] == index[first] + apart * (int64_t)(l - first);
    }
    if (even)
        return a;
    uint64_t *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = e->allocs[array].addr + (uint64_t)((e->active >> l & 1 ? index[l] : index[first]) * a->bytes);
    return a;
}

void emit_turns(const struct emit *e, uint64_t turns, int64_t elements)
{
    e->body->turns = turns;
    for (uint32_t i = 0; i < e->body->count; i++)
        e->body->access[i].turn_stride = elements * e->body->access[i].bytes;
}

void emit_hoist(const struct emit *e, uint32_t first)
{
    uint32_t behind = 0; /* instructions from access i to the last one */
    if (e->order == ORDER_PTX)
        return;
    for (uint32_t i = e->body->count; i-- > first; behind += e->body->access[i].before + 1u) {
        struct program_access *a = &e->body->access[i];
        uint32_t use = behind + 1;
        if (program_loads(a) && (a->use && a->use < use))
            a->use = (uint16_t)(use < UINT16_MAX ? use : UINT16_MAX);
    }
}
