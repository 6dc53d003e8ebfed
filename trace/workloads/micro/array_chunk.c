#include "trace/workloads/micro/array.h"

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

/* Visits in order: those that all lanes with pages make, then those of the lanes that have more. */
int array_chunk(struct emit *e)
{
    const struct array *a = e->state;
    uint32_t some = lanes_with(a, &e->at, 0);
    if (!some)
        return emit_idle(e, ARRAY_GUARD);
    uint64_t first = pages_of(a, e->at.thread), last = pages_of(a, e->at.thread + 31u - (uint32_t)__builtin_clz(some));
    if (e->index > 1 || (e->index == 1 && first == last))
        return 0;
    uint64_t done = e->index ? last : 0;
    int64_t word = (int64_t)((e->at.thread * a->of_chunk.n + done) * ARRAY_WORDS),
            apart = (int64_t)(a->of_chunk.n * ARRAY_WORDS);
    e->active = lanes_with(a, &e->at, done);
    emit_apart(emit_load(e, ARRAY_READ, word, 0, 11), apart);
    emit_apart(emit_store(e, ARRAY_OUTPUT, word, 10), apart);
    emit_turns(e, e->index ? first - last : last, ARRAY_WORDS);
    return emit_end(e, 1);
}

/* Visit number e->index: a page of its own for each lane. */
int array_chunk_random(struct emit *e)
{
    const struct array *a = e->state;
    int64_t word[PROGRAM_LANES];
    e->active = lanes_with(a, &e->at, e->index);
    if (!e->active)
        return emit_idle(e, ARRAY_GUARD);
    for (uint32_t lane = 0; lane < e->at.lanes && e->active >> lane & 1; lane++) {
        uint64_t thread = e->at.thread + lane, m = pages_of(a, thread);
        struct array_modulo last = m < a->of_chunk.n ? array_modulo_of(m) : a->of_chunk;
        word[lane] = (int64_t)((thread * a->of_chunk.n + visited(&last, thread, e->index)) * ARRAY_WORDS);
    }
    emit_each(e, ARRAY_READ, 0, word, 20, 11); /* (offset + p step) mod pages */
    emit_as(emit_each(e, ARRAY_OUTPUT, 0, word, 10, 0), RECORD_WRITE);
    return emit_end(e, 1);
}
