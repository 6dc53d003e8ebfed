#include "trace/program/warp_slice.h"

#include <stdlib.h>

#include "trace/base/mem.h"

/* Before a turn of a body; before turn 0 of a body that is not there: the end. */
struct spot {
    uint64_t turn;
    uint32_t body;
};

/* Of a warp: its head goes from spot 0 to 1, what is kept from 1 to 2, its tail from 3 on. */
enum { HEAD_FROM, KEPT_FROM, KEPT_TO, TAIL_FROM, SPOTS };

struct warp_slice_spots {
    struct spot at[SPOTS];
};

/* The bodies of a warp, when it is measured. */
struct shape {
    uint64_t turns;
    uint32_t count;
};

struct measured {
    struct shape *body;
    size_t bodies, cap;
    uint64_t accesses;
    struct program_body scratch;
};

static const struct spot end = {.body = UINT32_MAX};

/* --- bodies --- */

/* The turns before `skip` are left out. A table of lanes is its access's own. */
static void go_on(struct program_body *body, uint64_t skip)
{
    body->turns -= skip;
    for (uint32_t i = 0; i < body->count && skip; i++) {
        struct program_access *a = &body->access[i];
        const uint64_t bytes = skip * (uint64_t)a->turn_stride;
        a->addr += bytes;
        uint64_t *rows = (uint64_t *)body->lanes, *lane = a->lane ? rows + (a->lane - rows) : NULL;
        for (int k = 0; lane && k < PROGRAM_LANES; k++)
            lane[k] += bytes;
    }
}

int warp_slice_body(const struct warp_slice *middle, enum warp_slice_part part, uint32_t of_launch, uint64_t of_warp,
                    const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                    struct program_body *body, struct err *err)
{
    const struct spot *at = middle->warp[middle->first[of_launch] + of_warp].at;
    const bool tail = part == PROGRAM_TAIL;
    const struct spot from = tail ? at[TAIL_FROM] : at[part], to = tail ? end : at[part + 1];
    if (from.body > to.body || index > to.body - from.body)
        return 0;
    const uint32_t number = from.body + index;
    const uint64_t skip = index ? 0 : from.turn;
    if (number == to.body && to.turn <= skip)
        return 0;
    const int rc = program_body(program, run, launch, warp, number, body, err);
    if (rc != 1)
        return rc;
    if (number == to.body)
        body->turns = to.turn;
    go_on(body, skip);
    return 1;
}

static int kept_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct program_adapter_run *r = run;
    return warp_slice_body((const struct warp_slice *)r->adapter, PROGRAM_KEPT, launch, warp, &r->adapter->whole,
                           r->run, launch, warp, index, body, err);
}

/* --- measured --- */

/* The bodies of a warp. */
static int measure(const struct warp_slice *p, void *run, uint32_t launch, uint64_t warp, struct measured *m,
                   struct err *err)
{
    int rc;
    m->bodies = 0;
    m->accesses = 0;
    while ((rc = program_body(&p->adapter.whole, run, launch, warp, (uint32_t)m->bodies, &m->scratch, err)) == 1) {
        if (MEM_ADD(m->body, m->bodies, m->cap, err, (struct shape){m->scratch.turns, m->scratch.count}))
            return -1;
        m->accesses += m->scratch.turns * m->scratch.count;
        if (m->scratch.last)
            break;
    }
    return rc < 0 ? -1 : 0;
}

/* The last turn that begins with `accesses` or fewer before it; *before becomes how many. */
static struct spot spot_before(const struct measured *m, uint64_t accesses, uint64_t *before)
{
    *before = 0;
    for (uint32_t i = 0; i < m->bodies; i++) {
        const struct shape *b = &m->body[i];
        if (b->count && accesses - *before < b->turns * b->count) {
            const uint64_t turn = (accesses - *before) / b->count;
            *before += turn * b->count;
            return (struct spot){turn, i};
        }
        *before += b->turns * b->count;
    }
    return end;
}

/* The first turn that begins with so many or more before it. */
static struct spot spot_behind(const struct measured *m, uint64_t accesses, uint64_t *before)
{
    struct spot s = spot_before(m, accesses, before);
    if (*before == accesses || s.body == end.body)
        return s;
    const struct shape *b = &m->body[s.body];
    *before += b->count;
    return spot_before(m, *before, before);
}

static uint64_t part_of(uint64_t accesses, double share)
{
    const double part = share * (double)accesses;
    return part < (double)accesses ? (uint64_t)part : accesses;
}

static void divide(struct warp_slice *p, const struct measured *m, struct warp_slice_spots *out)
{
    uint64_t n = m->accesses, kept = part_of(n, p->share), around = part_of(n, p->around), from, to, head, tail;
    *out = (struct warp_slice_spots){.at = {[KEPT_TO] = end, [TAIL_FROM] = end}};
    if (!n)
        return;
    kept = kept ? kept : 1;
    out->at[KEPT_FROM] = spot_before(m, (n - kept) / 2, &from);
    out->at[KEPT_TO] = spot_behind(m, from + kept, &to);
    out->at[HEAD_FROM] = spot_before(m, from > around ? from - around : 0, &head);
    out->at[TAIL_FROM] = spot_behind(m, n - around > to ? n - around : to, &tail);
    p->accesses += to - from;
    p->heads += from - head;
    p->tails += n - tail;
    p->whole += n;
}

/* --- made --- */

static int measure_launch(struct warp_slice *p, uint32_t launch, struct measured *m, size_t *warps, size_t *cap,
                          void *run, struct err *err)
{
    struct program_launch shape = program_launch_of(&p->adapter.whole, launch);
    const size_t n = (size_t)program_warps(&shape);
    p->first[launch] = *warps;
    if (mem_grow((void **)&p->warp, cap, *warps + n, sizeof *p->warp, err))
        return -1;
    for (size_t w = 0; w < n; w++) {
        m->accesses = 0;
        if (!shape.cpu && measure(p, run, launch, w, m, err))
            return -1;
        divide(p, m, &p->warp[(*warps)++]);
    }
    return 0;
}

static int measure_all(struct warp_slice *p, struct measured *m, struct err *err)
{
    const struct program *whole = &p->adapter.whole;
    const uint32_t launches = whole->ops->launches(whole->state);
    size_t warps = 0, cap = 0;
    void *run;
    int rc = 0;
    p->first = mem_zalloc(launches + (size_t)1, sizeof *p->first, err);
    if (!p->first || program_run_open(whole, &run, err))
        return -1;
    for (uint32_t l = 0; l < launches && !rc; l++)
        rc = measure_launch(p, l, m, &warps, &cap, run, err);
    program_run_close(whole, run);
    return rc;
}

struct warp_slice *warp_slice_new(const struct program *whole, double share, double around, struct err *err)
{
    static const struct program_ops ops = {
        PROGRAM_ADAPTER_OPS(program_adapter_launches, program_adapter_launch, kept_body)};
    struct measured *m = mem_zalloc(1, sizeof *m, err);
    struct warp_slice *p = m ? mem_zalloc(1, sizeof *p, err) : NULL;
    if (!p) {
        free(m);
        return NULL;
    }
    program_adapter_init(&p->adapter, whole, &ops);
    p->share = share;
    p->around = around;
    const int rc = measure_all(p, m, err);
    free(m->body);
    free(m);
    if (rc == 0)
        return p;
    warp_slice_free(p);
    return NULL;
}

void warp_slice_free(struct warp_slice *middle)
{
    if (!middle)
        return;
    free(middle->warp);
    free(middle->first);
    free(middle);
}
