#include "trace/program/loop.h"

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
