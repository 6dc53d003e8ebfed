#include "trace/workloads/graph/traversal_warp.h"

enum { LANES = PROGRAM_LANES };

static void one_list(const struct traversal *t, uint64_t round, struct traversal_lists *l)
{
    bool active = frontier_has(&t->active, l->vertex);
    l->lanes = UINT32_MAX;
    l->active = active ? UINT32_MAX : 0;
    if (!active)
        return; /* nobody asks where its list is; most are none of the launch's */
    l->first[0] = t->graph.offsets[l->vertex];
    l->end[0] = t->graph.offsets[l->vertex + 1];
    l->from = l->first[0] - l->first[0] % round;
    if (l->end[0] > l->first[0])
        l->loads = (l->end[0] - l->from + LANES - 1) / LANES;
}

static void list_for_each(const struct traversal *t, struct traversal_lists *l)
{
    const uint64_t *offsets = t->graph.offsets + l->vertex;
    l->lanes = program_first_lanes(t->graph.vertices - l->vertex);
    l->active = (uint32_t)(t->active.bits[l->vertex / 64] >> (l->vertex % 64)) & l->lanes;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        l->first[lane] = offsets[lane];
        l->end[lane] = offsets[lane + 1];
        if (l->end[lane] - l->first[lane] > l->loads)
            l->loads = l->end[lane] - l->first[lane];
    }
}

bool traversal_lists(const struct traversal *t, const struct traversal_shape *shape, uint64_t warp,
                     struct traversal_lists *l)
{
    l->each = shape->each;
    l->unmasked_head = shape->unmasked_head;
    l->vertex = l->each ? warp * LANES : warp;
    l->loads = 0;
    if (l->vertex >= t->graph.vertices)
        return false;
    if (l->each)
        list_for_each(t, l);
    else
        one_list(t, shape->round, l);
    return true;
}

void traversal_load(const struct traversal_lists *l, uint64_t j, struct traversal_load *load)
{
    if (!l->each) {
        uint64_t at = l->from + j * LANES, below = l->first[0] > at ? l->first[0] - at : 0;
        load->reads = program_first_lanes(l->end[0] - at);
        load->list = load->reads & ~program_first_lanes(below);
        if (!l->unmasked_head)
            load->reads = load->list;
        for (unsigned lane = 0; lane < LANES; lane++)
            load->at[lane] = (int64_t)(at + lane);
        return;
    }
    load->reads = 0;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = l->first[lane] + j;
        load->at[lane] = (int64_t)at;
        load->reads |= (uint32_t)(at < l->end[lane]) << lane;
    }
    load->list = load->reads;
}

uint64_t traversal_same_until(const struct traversal_lists *l, const struct traversal_load *load, uint64_t j)
{
    if (!l->each)
        return load->list == UINT32_MAX ? (l->end[0] - l->from) / LANES : j + 1;
    uint64_t until = l->loads;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (l->end[lane] - l->first[lane] < until)
            until = l->end[lane] - l->first[lane];
    }
    return until;
}
