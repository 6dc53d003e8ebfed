#include "trace/workloads/micro/array.h"

enum { PAGE = 4096, INPUT = 0, OUTPUT = 1 };

/* Pages that a thread has: a chunk; but for the last that has any, what is left. */
static uint64_t pages_of(const struct array *a, uint64_t thread)
{
    uint64_t chunk = a->of_chunk.n, first = thread * chunk;
    if (first >= a->pages)
        return 0;
    return a->pages - first < chunk ? a->pages - first : chunk;
}

/* Lanes with more than `visit` pages: the first of the warp, as only the last thread with pages may have fewer. */
static uint32_t lanes_with(const struct array *a, const struct program_warp *at, uint64_t visit)
{
    if (pages_of(a, at->thread + at->lanes - 1) > visit)
        return program_first_lanes(at->lanes);
    uint32_t lanes = 0;
    while (lanes < at->lanes && pages_of(a, at->thread + lanes) > visit)
        lanes++;
    return program_first_lanes(lanes);
}

/* Number `visit` of a thread's m pages. */
static uint64_t visited(const struct array_modulo *of, uint64_t thread, uint64_t visit)
{
    uint64_t offset = array_modulo(of, array_hash(2 * thread + 1));
    uint64_t step = array_modulo(of, array_hash(2 * thread + 2)) | 1;
    return array_modulo(of, offset + visit * step);
}

/* Load and store of a visit, from `page` on in lane 0. The caller changes where lanes go. */
static void add_copy(const struct array *a, uint64_t page, uint32_t active, struct program_body *body)
{
    struct program_access *load = program_load(body, a->allocs, INPUT, page * PAGE, 4);
    struct program_access *store = program_store(body, a->allocs, OUTPUT, page * PAGE, 4);
    load->active = store->active = active;
    load->lane_stride = store->lane_stride = (int64_t)(a->of_chunk.n * PAGE);
    load->turn_stride = store->turn_stride = PAGE;
    load->use = 11;
    store->before = 10;
    body->after = 1;
}

/* Visits in order: those that all lanes with pages make, then those of the lanes that have more. */
static bool in_order(const struct array *a, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    uint32_t some = lanes_with(a, at, 0);
    if (!some)
        return false;
    uint64_t first = pages_of(a, at->thread), last = pages_of(a, at->thread + 31u - (uint32_t)__builtin_clz(some));
    if (index > 1 || (index == 1 && first == last))
        return false;
    uint64_t done = index ? last : 0;
    add_copy(a, at->thread * a->of_chunk.n + done, lanes_with(a, at, done), body);
    body->turns = index ? first - last : last;
    return true;
}

/* Visit number `visit`: a page of its own for each lane. */
static bool at_random(const struct array *a, const struct program_warp *at, uint32_t visit, struct program_body *body)
{
    uint32_t active = lanes_with(a, at, visit);
    if (!active)
        return false;
    add_copy(a, 0, active, body);
    uint64_t *input = program_scatter(body, &body->access[0]), *output = program_scatter(body, &body->access[1]);
    for (uint32_t lane = 0; lane < at->lanes && active >> lane & 1; lane++) {
        uint64_t thread = at->thread + lane, m = pages_of(a, thread);
        struct array_modulo last = m < a->of_chunk.n ? array_modulo_of(m) : a->of_chunk;
        uint64_t page = thread * a->of_chunk.n + visited(&last, thread, visit);
        input[lane] = a->allocs[INPUT].addr + page * PAGE;
        output[lane] = a->allocs[OUTPUT].addr + page * PAGE;
    }
    body->access[0].before = 20; /* (offset + p step) mod pages */
    return true;
}

bool array_chunk(const struct array *a, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    return a->p.pattern == ARRAY_CHUNK ? in_order(a, at, index, body) : at_random(a, at, index, body);
}
