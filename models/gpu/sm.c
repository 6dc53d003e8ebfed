#include "models/gpu/sm.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static uint32_t power_of_two(uint64_t n)
{
    uint32_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static int init_l1(struct sm *m, const struct gpu *gpu, uint32_t lines, struct err *err)
{
    struct l1_shape shape = {.lines = lines,
                             .ways = (uint32_t)gpu->l1_ways,
                             .replacement = (enum l1_replacement)gpu->l1_replacement,
                             .hashed = gpu->l1_sets,
                             .allocate = (enum l1_allocate)gpu->l1_allocate,
                             .seed = m->number,
                             .join_cycles = m->s->join_cycles,
                             .warp_loads = PROGRAM_ACCESSES,
                             .own = m->s->own,
                             .owns = m->s->owns};
    m->l1 = l1_new(&shape, err);
    return m->l1 ? 0 : -1;
}

static int init_schedulers(struct sm *m, struct err *err)
{
    uint32_t n = m->s->schedulers, ages = (m->warps + n - 1) / n;
    m->scheduler = mem_zalloc(n, sizeof *m->scheduler, err);
    m->slots = m->scheduler ? mem_zalloc((size_t)n * ages, sizeof *m->slots, err) : NULL;
    m->ends = m->slots ? mem_zalloc((size_t)n * ages, sizeof *m->ends, err) : NULL;
    for (uint32_t i = 0; m->ends && i < n; i++) {
        m->scheduler[i].slot = &m->slots[i * ages];
        m->scheduler[i].end = &m->ends[i * ages];
    }
    return m->ends ? 0 : -1;
}

int sm_init(struct sm *m, struct sm_shared *s, uint32_t number, const struct gpu *gpu, uint32_t l1_lines,
            struct err *err)
{
    memset(m, 0, sizeof *m);
    m->s = s;
    m->number = number;
    m->warps = (uint32_t)gpu->warps_per_sm;
    m->ring_mask = power_of_two((uint64_t)s->room + s->miss_queue + 1) - 1;
    m->pipe_mask = power_of_two(s->l1_cycles) - 1;
    m->ring = mem_zalloc(m->ring_mask + (size_t)1, sizeof *m->ring, err);
    m->pipe = m->ring ? mem_zalloc(m->pipe_mask + (size_t)1, sizeof *m->pipe, err) : NULL;
    m->warp = m->pipe ? mem_zalloc(m->warps, sizeof *m->warp, err) : NULL;
    m->block = m->warp ? mem_zalloc(m->warps, sizeof *m->block, err) : NULL;
    return !m->block || init_schedulers(m, err) ? -1 : init_l1(m, gpu, l1_lines, err);
}

void sm_release(struct sm *m)
{
    for (uint32_t i = 0; m->warp && i < m->warps; i++)
        sm_body_release(&m->warp[i].body);
    l1_free(m->l1);
    free(m->ring);
    free(m->pipe);
    free(m->scheduler);
    free(m->slots);
    free(m->ends);
    free(m->warp);
    free(m->block);
    free(m->reply);
}

void sm_reset(struct sm *m, int64_t t)
{
    m->head = m->n = m->unset = m->pipe_head = m->pipe_n = m->want = 0;
    m->pipe_ready = INT64_MAX;
    m->last = m->taken = t - 1;
    m->wake = INT64_MAX;
    m->port.n = m->port.at = 0;
    m->turn = 0;
    for (uint32_t i = 0; i < SM_SCHEDULERS; i++)
        m->first_end[i] = INT64_MAX;
    for (uint32_t i = 0; i < m->s->schedulers; i++) {
        struct sm_scheduler *c = &m->scheduler[i];
        *c = (struct sm_scheduler){.issued = t - 1, .greedy = -1, .slot = c->slot, .end = c->end};
    }
    m->next_end = INT64_MAX;
    m->ready = 0;
    m->resident = m->launch = 0;
    memset(m->block, 0, m->warps * sizeof *m->block);
    l1_resize(m->l1, 0);
    m->reply_head = m->replies = 0;
}

/* --- replies --- */

static void take_read(struct sm *m, uint32_t token, int64_t t)
{
    for (uint32_t load = l1_take(m->l1, token); load != L1_NONE; load = l1_next(m->l1))
        sm_arrived(m, load, 1, t);
}

static void take(struct sm *m, uint32_t token, int64_t t)
{
    uint32_t number = token & ((1u << TOKEN_KIND) - 1);
    m->taken = t;
    if (token >> TOKEN_KIND == TOKEN_READ)
        take_read(m, number, t + 1);
    else if (token >> TOKEN_KIND == TOKEN_ATOMIC)
        sm_arrived(m, number, 1, t + 1);
    else
        sm_acked(m, &m->warp[number], t + 1);
}

static void queue_reply(struct sm *m, uint32_t token)
{
    if (m->reply_head && m->reply_head + m->replies == m->reply_cap) {
        memmove(m->reply, m->reply + m->reply_head, m->replies * sizeof *m->reply);
        m->reply_head = 0;
    }
    size_t end = m->reply_head + m->replies;
    if (mem_grow((void **)&m->reply, &m->reply_cap, end + 1, sizeof *m->reply, &m->s->err)) {
        sm_fail(m, NULL);
        return;
    }
    m->reply[end] = token;
    m->replies++;
}

void sm_reply(struct sm *m, uint32_t token, int64_t t)
{
    m->wake = INT64_MAX;
    if (m->taken >= t || m->replies) {
        queue_reply(m, token);
        sm_wake(m, t + 1);
    } else {
        take(m, token, t);
    }
    if (m->wake != INT64_MAX)
        wheel_set(&m->s->wheel, m->number, m->wake > t ? m->wake : t + 1);
}

/* --- a cycle --- */

/* When the head of the pipeline may be looked up; INT64_MAX: not before a pop. */
static int64_t look_up_time(const struct sm *m, int64_t t)
{
    if (!m->pipe_n || m->unset + m->want > m->s->miss_queue)
        return INT64_MAX;
    int64_t room = m->want ? m->last - (int64_t)(m->s->miss_queue - m->unset - m->want) : t;
    return room > m->pipe_ready ? room : m->pipe_ready;
}

/* When something is due, besides what sm_wake() knows of. */
static int64_t due(const struct sm *m, int64_t t)
{
    int64_t next = m->wake < m->next_end ? m->wake : m->next_end;
    bool port = m->port.at < m->port.n, past = m->port.kind != RECORD_READ && m->port.kind != RECORD_WRITE;
    if (m->replies || (port && (past ? m->n < m->s->room : m->pipe_n < m->s->l1_cycles)) || (!port && sm_may_issue(m)))
        return t + 1;
    int64_t look = look_up_time(m, t);
    next = look < next ? look : next;
    return next > t ? next : t + 1;
}

int64_t sm_visit(struct sm *m, int64_t t)
{
    m->wake = INT64_MAX;
    if (m->replies) {
        m->replies--;
        take(m, m->reply[m->reply_head++], t);
    }
    if (m->pipe_ready <= t)
        sm_look_up(m, t);
    if (m->next_end <= t)
        sm_end_runs(m, t);
    if (m->port.at < m->port.n || m->ready)
        sm_port(m, t);
    return due(m, t);
}

void sm_fail(struct sm *m, const char *why)
{
    if (why && !m->s->failed)
        err_set(&m->s->err, "%s", why);
    m->s->failed = true;
}
