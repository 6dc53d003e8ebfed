#include "trace/program/emit.h"

struct program_warp program_warp_at(const struct program_launch *launch, uint64_t warp)
{
    uint32_t warps = program_warps_of_block(launch);
    struct program_warp w = {.block = warp / warps, .warp = (uint32_t)(warp % warps)};
    uint32_t before = w.warp * PROGRAM_LANES; /* threads of the block in warps before it */
    w.thread = w.block * launch->threads + before;
    w.lanes = launch->threads - before < PROGRAM_LANES ? launch->threads - before : PROGRAM_LANES;
    return w;
}

struct program_loop program_grid_stride(uint64_t first, uint32_t lanes, uint64_t step, uint64_t n, uint32_t unroll)
{
    uint64_t last = first + lanes - 1;
    struct program_loop loop = {.active = program_first_lanes(lanes), .unroll = unroll};
    if (last < n)
        loop.trips = (n - 1 - last) / step + 1;
    uint64_t next = first + loop.trips * step; /* of lane 0, when all have done as many as the last */
    loop.more = next < n ? program_first_lanes(n - next) : 0;
    return loop;
}

bool program_loop_part(const struct program_loop *l, uint32_t index, struct program_part *part)
{
    uint64_t whole = l->trips / l->unroll, rest = l->trips % l->unroll, done = whole * l->unroll;
    bool fills = l->more && rest == l->unroll - 1; /* one trip more is one unrolled turn more */
    uint32_t others = fills ? l->active & ~l->more : l->active;
    const struct program_part parts[] = {
        {.first = 0, .turns = whole, .trips = l->unroll, .active = l->active},
        {.first = done, .turns = fills, .trips = l->unroll, .active = l->more},
        {.first = done, .turns = rest, .trips = 1, .active = others},
        {.first = done + rest, .turns = l->more && !fills, .trips = 1, .active = l->more},
    };
    const struct program_part *found = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].turns)
            continue;
        if (found) {
            part->last = false;
            return true;
        }
        if (index-- == 0) {
            found = &parts[i];
            *part = *found;
            part->last = true;
        }
    }
    return found;
}

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
