#include "models/gpu/sm.h"

void sm_next_access(struct sm_warp *w)
{
    const struct sm_access *a = w->access < w->body.count ? &w->body.access[w->access] : NULL;
    w->stop = a ? a->pos : w->body.length;
    w->next = a ? a->kind : 0;
}

/* Find the first instruction that needs a value still under way. */
static void find_need(struct sm_warp *w)
{
    w->need = UINT64_MAX;
    for (uint64_t rest = w->pending; rest; rest &= rest - 1) {
        uint32_t need = w->body.access[__builtin_ctzll(rest)].need;
        w->need = need < w->need ? need : w->need;
    }
}

static void end_block(struct sm *m, const struct sm_block *b, int64_t t)
{
    struct sm_shared *s = m->s;
    m->resident--;
    s->middles += b->middle;
    s->there += b->middle ? t - b->since : 0;
    s->ended++;
    s->counts.blocks++;
    s->last_end = t > s->last_end ? t : s->last_end;
    s->open[m->number / 64] |= UINT64_C(1) << m->number % 64;
    s->place_at = t > s->place_at ? t : s->place_at;
}

static void end_warp(struct sm *m, struct sm_warp *w, int64_t t)
{
    w->state = WARP_FREE;
    sm_discharge(m, w);
    if (--m->block[w->block].live == 0)
        end_block(m, &m->block[w->block], t);
}

/* Those of the block that stand at the barrier go on. */
static void release(struct sm *m, uint32_t block, int64_t t)
{
    struct sm_warp *held[1024 / PROGRAM_LANES], *first = &m->warp[block * m->s->warps_of_block];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->s->warps_of_block; i++)
        if (first[i].state == WARP_HELD) {
            first[i].state = WARP_RUNS; /* on its way to what sm_go() finds */
            held[n++] = &first[i];
        }
    m->block[block].held = 0;
    for (uint32_t i = 0; i < n; i++)
        sm_go(m, held[i], t);
}

/* The warp has issued its last instruction. */
static void finish(struct sm *m, struct sm_warp *w, int64_t t)
{
    struct sm_block *b = &m->block[w->block];
    w->state = WARP_ACKS;
    b->running--;
    if (b->held && b->held == b->running)
        release(m, w->block, t);
    if (w->acks == 0)
        end_warp(m, w, t);
}

/* The warp is at a barrier in cycle t; whether it can go on at once, with all the others. */
static bool pass_barrier(struct sm *m, struct sm_warp *w, int64_t t)
{
    struct sm_block *b = &m->block[w->block];
    w->access++;
    w->pos++;
    sm_next_access(w);
    if (b->held + 1 < b->running) {
        b->held++;
        return false;
    }
    release(m, w->block, t + 1);
    return true;
}

/* The next turn, or the next body; false: there is none. */
static bool go_round(struct sm *m, struct sm_warp *w)
{
    struct sm_shared *s = m->s;
    w->pos = w->access = 0;
    if (++w->turn < w->body.turns) {
        sm_next_access(w);
        return true;
    }
    w->turn = 0;
    int rc = program_body(s->program, s->run, s->launch, w->number, w->index++, &s->body, &s->err);
    if (rc > 0)
        rc = sm_body_keep(&w->body, &s->body, s->atomics_stall, &s->err) ? -1 : 1;
    sm_next_access(w);
    if (rc < 0)
        sm_fail(m, NULL);
    return rc > 0;
}

static void stand(struct sm *m, struct sm_warp *w, enum sm_state state)
{
    struct sm_scheduler *c = &m->scheduler[w->scheduler];
    c->greedy = c->greedy == w->age ? -1 : c->greedy;
    w->state = (uint8_t)state;
}

void sm_go(struct sm *m, struct sm_warp *w, int64_t t)
{
    for (;;) {
        if (w->need <= w->pos || (!w->next && w->stop == w->pos && w->pending)) {
            stand(m, w, WARP_NEEDS);
            return;
        }
        w->target = w->stop < w->need ? w->stop : w->need;
        if (w->target > w->pos) {
            stand(m, w, WARP_RUNS);
            sm_run(m, w, w->target - w->pos, t);
            return;
        }
        if (w->next && w->next != PROGRAM_BARRIER) {
            w->state = WARP_READY;
            w->ready = t;
            m->scheduler[w->scheduler].ready |= UINT64_C(1) << w->age;
            m->ready |= 1u << w->scheduler;
            sm_wake(m, t);
            return;
        }
        if (!w->next) {
            if (go_round(m, w))
                continue;
            finish(m, w, t);
            return;
        }
        if (!pass_barrier(m, w, t)) {
            stand(m, w, WARP_HELD);
            return;
        }
        t++;
    }
}

void sm_loaded(struct sm *m, struct sm_warp *w, uint32_t access, int64_t t)
{
    w->pending &= ~(UINT64_C(1) << access);
    if (!w->pending)
        w->need = UINT64_MAX;
    else if (w->body.access[access].need == w->need)
        find_need(w);
    if (w->state == WARP_NEEDS)
        sm_go(m, w, t);
}

void sm_acked(struct sm *m, struct sm_warp *w, int64_t t)
{
    if (--w->acks == 0 && w->state == WARP_ACKS)
        end_warp(m, w, t);
}

static void start_warp(struct sm *m, uint32_t slot, uint32_t block, uint64_t number)
{
    struct sm_warp *w = &m->warp[slot];
    struct sm_body body = w->body;
    body.count = 0;
    body.length = 0;
    body.turns = 0;
    *w = (struct sm_warp){.number = number,
                          .slot = (uint16_t)slot,
                          .block = (uint16_t)block,
                          .need = UINT64_MAX,
                          .scheduler = (uint8_t)(slot % m->s->schedulers),
                          .body = body};
    sm_enlist(m, w);
}

void sm_place(struct sm *m, uint64_t block, int64_t t)
{
    uint32_t free = 0, n = m->s->warps_of_block;
    while (m->block[free].live)
        free++;
    const bool middle = block >= m->s->first && block < m->s->last;
    m->block[free] = (struct sm_block){.live = n, .running = n, .middle = middle, .since = t};
    m->resident++;
    for (uint32_t i = 0; i < n; i++)
        start_warp(m, free * n + i, free, block * n + i);
    for (uint32_t i = 0; i < n; i++)
        sm_go(m, &m->warp[free * n + i], t + 1);
}
