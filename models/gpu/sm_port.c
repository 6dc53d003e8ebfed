#include "models/gpu/sm.h"

/* --- packets --- */

/* The next packet without a cycle of its own gets one, the first after `t` - 1 that is free. */
static void set_time(struct sm *m, uint32_t which, int64_t t)
{
    m->last = m->last < t ? t : m->last + 1;
    m->ring[(m->head + which) & m->ring_mask].from = m->last;
}

static void show(struct sm *m, int64_t t)
{
    if (t > m->s->shown.now)
        wheel_set(&m->s->shown, m->number, t);
    else
        m->s->heads[m->number / 64] |= UINT64_C(1) << m->number % 64;
}

/* Packets of a line's sectors, the highest first, for the input buffer: there in cycle t at the earliest. each: what
 * the token of a sector is more than that of the one below. */
static void push(struct sm *m, const struct sectors_line *l, uint32_t sectors, uint32_t token, uint32_t each,
                 uint32_t load, uint8_t kind, int64_t t)
{
    uint32_t n = m->n, unset = m->unset, room = m->s->room;
    int64_t last = m->last;
    while (sectors) {
        uint32_t s = 31 - (uint32_t)__builtin_clz(sectors), at = (m->head + n++) & m->ring_mask;
        sectors ^= 1u << s;
        m->ring[at].packet = (struct sms_packet){.addr = l->line * L1_LINE + s * SMS_SECTOR,
                                                 .token = token + s * each,
                                                 .load = (uint16_t)load,
                                                 .kind = kind,
                                                 .whole = l->whole >> s & 1,
                                                 .more = sectors && kind == RECORD_READ};
        if (n - unset > room)
            unset++;
        else
            m->ring[at].from = last = last < t ? t : last + 1;
    }
    bool first = m->n == 0;
    m->n = n;
    m->unset = unset;
    m->last = last;
    if (first)
        show(m, m->ring[m->head & m->ring_mask].from);
}

void sm_pop(struct sm *m, int64_t t)
{
    m->head++;
    m->n--;
    if (m->n - m->unset + 1 == m->s->room)
        wheel_set(&m->s->wheel, m->number, t + 1);
    if (m->unset)
        set_time(m, m->n - m->unset--, t + 1);
    int64_t next = m->n ? m->ring[m->head & m->ring_mask].from : INT64_MAX;
    if (next <= t)
        return;
    m->head = m->n ? m->head : 0; /* the same few places again, while they are in this machine's cache */
    m->s->heads[m->number / 64] &= ~(UINT64_C(1) << m->number % 64);
    if (m->n)
        wheel_set(&m->s->shown, m->number, next);
}

/* --- L1 --- */

/* The highest sectors, as many as there is room for. */
static uint32_t fitting(uint32_t sectors, uint32_t room)
{
    uint32_t fit = sectors;
    while ((uint32_t)__builtin_popcount(fit) > room)
        fit &= fit - 1;
    return fit;
}

/* Whether the miss queue has room for n packets, or for as many as it ever has. */
static bool has_room(struct sm *m, uint32_t n, int64_t t)
{
    uint32_t want = n < m->s->miss_queue ? n : m->s->miss_queue;
    bool room = sm_queued(m, t) + want <= m->s->miss_queue;
    if (!room)
        m->want = want;
    return room;
}

/* A load's sectors of one line; those that ask stay where the miss queue has no room. */
static void look_up_load(struct sm *m, struct sectors_line *l, uint32_t load, int64_t t)
{
    struct sms_counts *counts = &m->s->counts;
    struct l1_found found = l1_look(m->l1, l->line, l->sectors);
    for (uint32_t rest = found.coming; rest; rest &= rest - 1)
        if (l1_wait(m->l1, found.entry, (uint32_t)__builtin_ctz(rest), load))
            sm_fail(m, "out of memory: misses in flight");
    uint32_t asks = l->sectors & ~(found.there | found.coming);
    asks = asks && has_room(m, (uint32_t)__builtin_popcount(asks), t) ? fitting(asks, m->s->miss_queue) : 0;
    if (asks) {
        uint32_t token = l1_ask(m->l1, l->line, found.entry, asks, load);
        if (token == L1_NONE)
            sm_fail(m, "out of memory: misses in flight");
        else
            push(m, l, asks, token | (uint32_t)TOKEN_READ << TOKEN_KIND, 1, load, RECORD_READ, t + 1);
    }
    l->sectors &= (uint8_t) ~(found.there | found.coming | asks);
    counts->merged += (uint32_t)__builtin_popcount(found.coming);
    counts->packets_read += (uint32_t)__builtin_popcount(asks);
    if (!found.there)
        return;
    counts->hits += (uint32_t)__builtin_popcount(found.there);
    sm_arrived(m, load, (uint32_t)__builtin_popcount(found.there), t);
}

static void look_up_store(struct sm *m, struct sectors_line *l, uint32_t load, int64_t t)
{
    if (!has_room(m, (uint32_t)__builtin_popcount(l->sectors), t))
        return;
    uint32_t go = fitting(l->sectors, m->s->miss_queue);
    l1_write(m->l1, l->line, go);
    push(m, l, go, load / PROGRAM_ACCESSES | (uint32_t)TOKEN_ACK << TOKEN_KIND, 0, load, RECORD_WRITE, t + 1);
    m->s->counts.packets_write += (uint32_t)__builtin_popcount(go);
    l->sectors &= (uint8_t)~go;
}

void sm_look_up(struct sm *m, int64_t t)
{
    struct sm_group *g = &m->pipe[m->pipe_head & m->pipe_mask];
    if (m->pipe_ready > t || sm_queued(m, t) + m->want > m->s->miss_queue)
        return;
    m->want = 0;
    if (m->s->join_cycles)
        l1_for(m->l1, t, g->load);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->kind == RECORD_READ)
            look_up_load(m, &g->line[i], g->load, t);
        else
            look_up_store(m, &g->line[i], g->load, t);
        if (g->line[i].sectors)
            g->line[kept++] = g->line[i];
    }
    g->n = (uint8_t)kept;
    if (kept)
        return;
    m->pipe_head = --m->pipe_n ? m->pipe_head + 1 : 0;
    m->pipe_ready = INT64_MAX;
    if (m->pipe_n) {
        m->pipe_ready = m->pipe[m->pipe_head & m->pipe_mask].ready;
        g = &m->pipe[m->pipe_head & m->pipe_mask];
        for (uint32_t i = 0; i < g->n; i++)
            l1_expect_more(m->l1, g->line[i].line);
    }
}

/* --- the port --- */

/* Past L1: a packet a cycle, straight into the input buffer. */
static void let_past(struct sm *m, int64_t t)
{
    struct sm_port *p = &m->port;
    struct sectors_line *l = &p->line[p->at];
    if (m->last >= t || m->n == m->s->room)
        return;
    bool atomic = p->kind == RECORD_ATOMIC;
    uint32_t token = atomic ? p->load | (uint32_t)TOKEN_ATOMIC << TOKEN_KIND
                            : p->load / PROGRAM_ACCESSES | (uint32_t)TOKEN_ACK << TOKEN_KIND;
    uint32_t top = fitting(l->sectors, 1);
    push(m, l, top, token, 0, p->load, p->kind, t);
    *(atomic ? &m->s->counts.packets_atomic : &m->s->counts.packets_write) += 1;
    l->sectors &= (uint8_t)~top;
    p->at += !l->sectors;
}

/* The banks of sectors of a line, a mask. */
static uint32_t banks_of(uint32_t sectors, uint32_t banks)
{
    return banks == 4 ? sectors : banks == 2 ? (sectors | sectors >> 2) & 3 : sectors != 0;
}

/* Sectors of a line from the highest down to the first whose bank is taken. */
static uint32_t free_banks(uint32_t sectors, uint32_t taken, uint32_t banks)
{
    if (banks == 4 && !(sectors & taken))
        return sectors;
    uint32_t go = 0;
    for (uint32_t rest = sectors; rest;) {
        uint32_t top = 1u << (31 - __builtin_clz(rest)), bank = banks_of(top, banks);
        if (bank & (taken | banks_of(go, banks)))
            break;
        go |= top;
        rest ^= top;
    }
    return go;
}

static void let_in(struct sm *m, int64_t t)
{
    struct sm_port *p = &m->port;
    if (m->pipe_n == m->s->l1_cycles)
        return;
    struct sm_group *g = &m->pipe[(m->pipe_head + m->pipe_n++) & m->pipe_mask];
    g->ready = t + m->s->l1_cycles;
    m->pipe_ready = m->pipe_ready == INT64_MAX ? g->ready : m->pipe_ready;
    g->kind = p->kind;
    g->load = p->load;
    g->n = 0;
    for (uint32_t taken = 0; p->at < p->n; p->at++) {
        struct sectors_line *l = &p->line[p->at];
        uint32_t go = free_banks(l->sectors, taken, m->s->banks);
        if (m->s->by_line && go != l->sectors)
            go = g->n ? 0 : l->sectors;
        if (!go)
            return;
        g->line[g->n++] = (struct sectors_line){l->line, (uint8_t)go, l->whole};
        l1_expect(m->l1, l->line);
        taken |= banks_of(go, m->s->banks);
        l->sectors &= (uint8_t)~go;
        if (l->sectors)
            return;
    }
}

static void ascend(struct sm_port *p)
{
    for (uint32_t i = 0; 2 * i + 1 < p->n; i++) {
        struct sectors_line l = p->line[i];
        p->line[i] = p->line[p->n - 1 - i];
        p->line[p->n - 1 - i] = l;
    }
}

/* The warp's next access goes to the port. */
static void issue(struct sm *m, struct sm_warp *w, int64_t t)
{
    struct sm_port *p = &m->port;
    struct sms_counts *counts = &m->s->counts;
    uint32_t access = w->access++;
    p->kind = w->body.access[access].kind;
    p->load = (uint16_t)(w->slot * PROGRAM_ACCESSES + access);
    p->at = 0;
    p->n = (uint32_t)sm_body_sectors(&w->body, access, w->turn, p->line);
    uint32_t sectors = 0;
    if (m->s->by_line)
        ascend(p);
    for (uint32_t i = 0; i < p->n; i++)
        sectors += (uint32_t)__builtin_popcount(p->line[i].sectors);
    counts->instructions++;
    if (p->kind == RECORD_READ || p->kind == RECORD_ATOMIC) {
        uint32_t need = w->body.access[access].need;
        w->pending |= UINT64_C(1) << access;
        w->missing[access] = (uint8_t)sectors;
        w->need = need < w->need ? need : w->need;
    } else {
        w->acks += sectors;
    }
    counts->loads += p->kind == RECORD_READ;
    counts->load_sectors += p->kind == RECORD_READ ? sectors : 0;
    w->pos++;
    sm_next_access(w);
    sm_go(m, w, t + 1);
}

void sm_port(struct sm *m, int64_t t)
{
    if (m->port.at == m->port.n) {
        struct sm_warp *w = sm_pick(m, t);
        if (!w)
            return;
        issue(m, w, t);
    }
    if (m->port.kind == RECORD_READ || m->port.kind == RECORD_WRITE)
        let_in(m, t);
    else
        let_past(m, t);
}
