#include <string.h>

#include "models/gpu/sm.h"

static uint64_t bit(uint32_t age)
{
    return UINT64_C(1) << age;
}

static struct sm_warp *of_age(struct sm *m, const struct sm_scheduler *c, uint32_t age)
{
    return &m->warp[c->slot[age]];
}

static uint32_t youngest(uint64_t mask)
{
    return 63 - (uint32_t)__builtin_clzll(mask);
}

static void find_first_end(struct sm *m, struct sm_scheduler *c)
{
    int64_t first = INT64_MAX;
    for (uint64_t rest = c->lanes; rest; rest &= rest - 1) {
        int64_t end = c->end[__builtin_ctzll(rest)];
        first = end < first ? end : first;
    }
    m->first_end[c - m->scheduler] = first;
    m->next_end = INT64_MAX;
    for (uint32_t i = 0; i < m->s->schedulers; i++)
        m->next_end = m->first_end[i] < m->next_end ? m->first_end[i] : m->next_end;
    sm_wake(m, first);
}

static void give_lane(struct sm *m, struct sm_scheduler *c, uint32_t age, int64_t t)
{
    c->lanes |= bit(age);
    c->end[age] = t + (int64_t)(of_age(m, c, age)->left * m->s->dependent);
}

/* Give lanes that are free to the oldest without one. */
static void fill_lanes(struct sm *m, struct sm_scheduler *c, int64_t t)
{
    while ((uint32_t)__builtin_popcountll(c->lanes) < m->s->dependent && c->runs & ~c->lanes)
        give_lane(m, c, (uint32_t)__builtin_ctzll(c->runs & ~c->lanes), t);
}

void sm_run(struct sm *m, struct sm_warp *w, uint64_t n, int64_t t)
{
    struct sm_scheduler *c = &m->scheduler[w->scheduler];
    c->runs |= bit(w->age);
    w->left = n;
    if ((uint32_t)__builtin_popcountll(c->lanes) >= m->s->dependent) {
        uint32_t goes = youngest(c->lanes);
        int64_t rest = c->end[goes] - t;
        if (goes < w->age || rest <= 0)
            return;
        of_age(m, c, goes)->left = (uint64_t)(rest + m->s->dependent - 1) / m->s->dependent;
        c->lanes &= ~bit(goes);
    }
    give_lane(m, c, w->age, t);
    find_first_end(m, c);
}

static void end_lanes(struct sm *m, struct sm_scheduler *c, int64_t t)
{
    struct sm_warp *done[SM_AGES];
    uint32_t n = 0;
    for (uint64_t rest = c->lanes; rest; rest &= rest - 1) {
        uint32_t age = (uint32_t)__builtin_ctzll(rest);
        if (c->end[age] > t)
            continue;
        done[n++] = of_age(m, c, age);
        c->lanes &= ~bit(age);
        c->runs &= ~bit(age);
    }
    if (c->runs != c->lanes)
        fill_lanes(m, c, t);
    find_first_end(m, c);
    for (uint32_t i = 0; i < n; i++) {
        done[i]->pos = done[i]->target;
        sm_go(m, done[i], t);
    }
}

void sm_end_runs(struct sm *m, int64_t t)
{
    for (uint32_t i = 0; i < m->s->schedulers; i++)
        if (m->first_end[i] <= t)
            end_lanes(m, &m->scheduler[i], t);
}

void sm_enlist(struct sm *m, struct sm_warp *w)
{
    struct sm_scheduler *c = &m->scheduler[w->scheduler];
    w->age = (uint8_t)c->n;
    c->slot[c->n++] = w->slot;
}

/* The mask without the bit of an age; younger ones move up. */
static uint64_t without(uint64_t mask, uint32_t age)
{
    uint64_t older = bit(age) - 1;
    return (mask & older) | (mask >> 1 & ~older);
}

void sm_discharge(struct sm *m, struct sm_warp *w)
{
    struct sm_scheduler *c = &m->scheduler[w->scheduler];
    uint32_t age = w->age;
    c->runs = without(c->runs, age);
    c->lanes = without(c->lanes, age);
    c->ready = without(c->ready, age);
    c->greedy = c->greedy == (int)age ? -1 : c->greedy - (c->greedy > (int)age);
    c->n--;
    memmove(&c->slot[age], &c->slot[age + 1], (c->n - age) * sizeof c->slot[0]);
    memmove(&c->end[age], &c->end[age + 1], (c->n - age) * sizeof c->end[0]);
    for (uint32_t i = age; i < c->n; i++)
        m->warp[c->slot[i]].age = (uint8_t)i;
}

/* The warp of the scheduler that may issue a memory instruction in cycle t, or NULL. */
static struct sm_warp *candidate(struct sm *m, struct sm_scheduler *c, int64_t t)
{
    if (c->greedy >= 0 && c->ready & bit((uint32_t)c->greedy)) {
        struct sm_warp *w = of_age(m, c, (uint32_t)c->greedy);
        if (w->ready <= t)
            return w;
    }
    for (uint64_t rest = c->ready; rest; rest &= rest - 1) {
        struct sm_warp *w = of_age(m, c, (uint32_t)__builtin_ctzll(rest));
        uint32_t older = (uint32_t)__builtin_popcountll(c->lanes & (bit(w->age) - 1));
        if (older >= m->s->dependent)
            return NULL;
        if (w->ready <= t)
            return w;
    }
    return NULL;
}

bool sm_may_issue(const struct sm *m)
{
    for (uint32_t rest = m->ready; rest; rest &= rest - 1) {
        const struct sm_scheduler *c = &m->scheduler[__builtin_ctz(rest)];
        if ((uint32_t)__builtin_popcountll(c->lanes & ((c->ready & -c->ready) - 1)) < m->s->dependent)
            return true;
    }
    return false;
}

/* The slot of a memory instruction: the youngest lane loses it where all slots are taken. */
static void charge(struct sm *m, struct sm_scheduler *c)
{
    if ((uint32_t)__builtin_popcountll(c->lanes) < m->s->dependent)
        return;
    c->end[youngest(c->lanes)]++;
    find_first_end(m, c);
}

struct sm_warp *sm_pick(struct sm *m, int64_t t)
{
    uint32_t n = m->s->schedulers;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = m->turn + i < n ? m->turn + i : m->turn + i - n;
        if (!(m->ready >> at & 1))
            continue;
        struct sm_scheduler *c = &m->scheduler[at];
        struct sm_warp *w = c->issued < t ? candidate(m, c, t) : NULL;
        if (!w)
            continue;
        c->ready &= ~bit(w->age);
        m->ready &= ~((uint32_t)!c->ready << at);
        c->issued = t;
        c->greedy = w->age;
        m->turn = at + 1 < n ? at + 1 : 0;
        charge(m, c);
        return w;
    }
    return NULL;
}
