#include "trace/program/warp_slice.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/program_adapter.h"

/* Before a turn of a body; before turn 0 of a body that is not there: the end. */
struct spot {
    uint64_t turn;
    uint32_t body;
};

/* Of a warp: its head goes from spot 0 to 1, what is kept from 1 to 2, its tail from 3 on. */
enum { HEAD_FROM, KEPT_FROM, KEPT_TO, TAIL_FROM, SPOTS };

struct spots {
    struct spot at[SPOTS];
};

struct warp_slice {
    struct program_adapter wrapped; /* first */
    double share, around;
    struct spots *warp; /* of all launches */
    size_t *first;      /* warp of each launch */
    struct warp_slice_facts facts;
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
    return warp_slice_body((const struct warp_slice *)r->wrapped, PROGRAM_KEPT, launch, warp, &r->wrapped->whole,
                           r->run, launch, warp, index, body, err);
}

static const struct program_ops ops = {.allocs = program_adapter_allocs,
                                       .launches = program_adapter_launches,
                                       .launch = program_adapter_launch,
                                       .body = kept_body,
                                       .run_open = program_adapter_open,
                                       .run_close = program_adapter_close};

/* --- measured --- */

/* The bodies of a warp. */
static int measure(const struct warp_slice *p, void *run, uint32_t launch, uint64_t warp, struct measured *m,
                   struct err *err)
{
    int rc;
    m->bodies = 0;
    m->accesses = 0;
    while ((rc = program_body(&p->wrapped.whole, run, launch, warp, (uint32_t)m->bodies, &m->scratch, err)) == 1) {
        if (mem_grow((void **)&m->body, &m->cap, m->bodies + 1, sizeof *m->body, err))
            return -1;
        m->body[m->bodies++] = (struct shape){m->scratch.turns, m->scratch.count};
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

static void divide(struct warp_slice *p, const struct measured *m, struct spots *out)
{
    uint64_t n = m->accesses, kept = part_of(n, p->share), around = part_of(n, p->around), from, to, head, tail;
    *out = (struct spots){.at = {[KEPT_TO] = end, [TAIL_FROM] = end}};
    if (!n)
        return;
    kept = kept ? kept : 1;
    out->at[KEPT_FROM] = spot_before(m, (n - kept) / 2, &from);
    out->at[KEPT_TO] = spot_behind(m, from + kept, &to);
    out->at[HEAD_FROM] = spot_before(m, from > around ? from - around : 0, &head);
    out->at[TAIL_FROM] = spot_behind(m, n - around > to ? n - around : to, &tail);
    p->facts.accesses += to - from;
    p->facts.heads += from - head;
    p->facts.tails += n - tail;
    p->facts.whole += n;
}

/* --- made --- */

static int measure_launch(struct warp_slice *p, uint32_t launch, struct measured *m, size_t *warps, size_t *cap,
                          void *run, struct err *err)
{
    struct program_launch shape = {0};
    p->wrapped.whole.ops->launch(p->wrapped.whole.state, launch, &shape);
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

static int measure_all(struct warp_slice *p, struct err *err)
{
    struct measured *m = mem_zalloc(1, sizeof *m, err);
    const uint32_t launches = p->wrapped.whole.ops->launches(p->wrapped.whole.state);
    size_t warps = 0, cap = 0;
    void *run = NULL;
    int rc = m && (p->first = mem_zalloc(launches + (size_t)1, sizeof *p->first, err)) &&
                     program_run_open(&p->wrapped.whole, &run, err) == 0
                 ? 0
                 : -1;
    const bool opened = rc == 0;
    for (uint32_t l = 0; l < launches && !rc; l++)
        rc = measure_launch(p, l, m, &warps, &cap, run, err);
    if (opened)
        program_run_close(&p->wrapped.whole, run);
    if (m)
        free(m->body);
    free(m);
    return rc;
}

struct warp_slice *warp_slice_new(const struct program *whole, double share, double around, struct err *err)
{
    struct warp_slice *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    p->wrapped.whole = *whole;
    p->wrapped.program = (struct program){.ops = &ops, .state = p, .compute_ns = whole->compute_ns};
    p->share = share;
    p->around = around;
    if (measure_all(p, err) == 0)
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

const struct program *warp_slice_program(const struct warp_slice *middle)
{
    return &middle->wrapped.program;
}

struct warp_slice_facts warp_slice_facts(const struct warp_slice *middle)
{
    return middle->facts;
}
