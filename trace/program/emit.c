#include "trace/program/emit.h"

/* In two strides, where who asks understands that and it can be said. */
static bool in_rows(const struct emit *e, struct program_access *a, unsigned width, int64_t down, int64_t right)
{
    if (!e->body->rows || width >= PROGRAM_LANES || (width & (width - 1)) || down != (int32_t)down)
        return false;
    a->row = (uint8_t)width;
    a->row_stride = (int32_t)down;
    a->lane_stride = right;
    return true;
}

struct program_access *emit_tile(const struct emit *e, struct program_access *a, unsigned width, int64_t down,
                                 int64_t right)
{
    right *= a->bytes;
    down *= a->bytes;
    if (in_rows(e, a, width, down, right))
        return a;
    uint64_t row = a->addr, *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; row += (uint64_t)down) {
        unsigned end = l + width < PROGRAM_LANES ? l + width : PROGRAM_LANES;
        for (uint64_t at = row; l < end; l++, at += (uint64_t)right)
            lane[l] = at;
    }
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
