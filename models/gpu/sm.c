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
                             .allocate = (enum l1_allocate)gpu->l1_allocate,
                             .seed = m->number};
    m->l1 = lines ? l1_new(&shape, err) : NULL;
    m->misses = l1_misses_new(err);
    return (m->l1 || !lines) && m->misses ? 0 : -1;
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
    return m->block ? init_l1(m, gpu, l1_lines, err) : -1;
}

void sm_release(struct sm *m)
{
    for (uint32_t i = 0; m->warp && i < m->warps; i++)
        sm_body_release(&m->warp[i].body);
    l1_free(m->l1);
    l1_misses_free(m->misses);
    free(m->ring);
    free(m->pipe);
    free(m->warp);
    free(m->block);
    free(m->reply);
}

void sm_reset(struct sm *m, int64_t t)
{
    m->head = m->in = m->queued = m->pipe_head = m->pipe_n = 0;
    m->sent = m->taken = m->empty_since = t - 1;
    m->wake = INT64_MAX;
    m->port.n = m->port.at = 0;
    m->turn = 0;
    memset(m->scheduler, 0, sizeof m->scheduler);
    for (uint32_t i = 0; i < SM_SCHEDULERS; i++) {
        m->end[i] = INT64_MAX;
        m->scheduler[i].issued = t - 1;
        m->scheduler[i].greedy = -1;
    }
    m->resident = m->launch = 0;
    memset(m->block, 0, m->warps * sizeof *m->block);
    l1_misses_reset(m->misses);
    m->reply_head = m->replies = 0;
}

/* --- replies --- */

static void queue_reply(struct sm *m, uint32_t token)
{
    if (m->reply_head && m->reply_head + m->replies == m->reply_cap) {
        memmove(m->reply, m->reply + m->reply_head, m->replies * sizeof *m->reply);
        m->reply_head = 0;
    }
    size_t end = m->reply_head + m->replies;
    if (mem_grow((void **)&m->reply, &m->reply_cap, end + 1, sizeof *m->reply, &m->s->err)) {
        sm_fail(m);
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
        sm_take(m, token, t);
    }
    if (m->wake != INT64_MAX)
        wheel_set(&m->s->wheel, m->number, m->wake > t ? m->wake : t + 1);
}

/* --- a cycle --- */

/* When something is due, besides what sm_wake() knows of. */
static int64_t due(const struct sm *m, int64_t t)
{
    int64_t next = m->wake;
    for (uint32_t i = 0; i < m->s->schedulers; i++)
        next = m->end[i] < next ? m->end[i] : next;
    bool room = m->in < m->s->room, port = m->port.at < m->port.n;
    bool past = port && m->port.kind != RECORD_READ && m->port.kind != RECORD_WRITE;
    if (m->replies || (m->queued && room) || (port && (past ? room : m->pipe_n < m->s->l1_cycles)))
        return t + 1;
    if (!port && sm_may_issue(m))
        return t + 1;
    if (m->pipe_n && (m->queued < m->s->miss_queue)) {
        int64_t ready = m->pipe[m->pipe_head & m->pipe_mask].ready;
        next = ready < next ? ready : next;
    }
    return next > t ? next : t + 1;
}

int64_t sm_visit(struct sm *m, int64_t t)
{
    m->wake = INT64_MAX;
    if (m->replies && m->taken < t) {
        m->replies--;
        sm_take(m, m->reply[m->reply_head++], t);
    }
    sm_send(m, t);
    sm_look_up(m, t);
    sm_end_runs(m, t);
    sm_port(m, t);
    return due(m, t);
}

void sm_fail(struct sm *m)
{
    m->s->failed = true;
}
