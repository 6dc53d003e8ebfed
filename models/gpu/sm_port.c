#include "models/gpu/sm.h"

/* A token says what the reply means: the number of a miss, a warp slot, or a load. */
enum { TOKEN_KIND = 30, TOKEN_READ = 0, TOKEN_ACK = 1, TOKEN_ATOMIC = 2 };

/* --- packets --- */

/* The next packet without a cycle of its own gets one, the first after `t` - 1 that is free. */
static void set_time(struct sm *m, uint32_t which, int64_t t)
{
    m->last = m->last < t ? t : m->last + 1;
    m->from[(m->head + which) & m->ring_mask] = m->last;
}

/* A packet for the input buffer, there in cycle t at the earliest. */
static void push(struct sm *m, uint64_t sector, uint32_t token, uint8_t kind, int64_t t)
{
    uint32_t set = m->n - m->unset;
    m->ring[(m->head + m->n) & m->ring_mask] = (struct sms_packet){.addr = (sector & ~SECTOR_WHOLE) * SECTOR_BYTES,
                                                                   .token = token,
                                                                   .kind = kind,
                                                                   .whole = (sector & SECTOR_WHOLE) != 0};
    m->n++;
    if (set == m->s->room) {
        m->unset++;
        return;
    }
    set_time(m, set, t);
    if (set == 0 && m->last > m->s->shown.now)
        wheel_set(&m->s->shown, m->number, m->last);
    else if (set == 0)
        m->s->heads[m->number / 64] |= UINT64_C(1) << m->number % 64;
}

void sm_pop(struct sm *m, int64_t t)
{
    m->head++;
    m->n--;
    if (m->n - m->unset + 1 == m->s->room)
        wheel_set(&m->s->wheel, m->number, t + 1);
    if (m->unset)
        set_time(m, m->n - m->unset--, t + 1);
    int64_t next = m->n ? m->from[m->head & m->ring_mask] : INT64_MAX;
    if (next <= t)
        return;
    m->s->heads[m->number / 64] &= ~(UINT64_C(1) << m->number % 64);
    if (m->n)
        wheel_set(&m->s->shown, m->number, next);
}

/* --- L1 --- */

/* Sectors of a line that missed: each a packet, as far as there is room; returns those without. */
static uint32_t ask(struct sm *m, uint64_t line, uint32_t entry, uint32_t sectors, uint32_t load, int64_t t)
{
    struct sm_shared *s = m->s;
    for (uint32_t room = s->miss_queue - sm_queued(m, t); sectors && room; room--) {
        uint32_t sector = 31 - (uint32_t)__builtin_clz(sectors);
        uint32_t miss = l1_ask(m->l1, line, &entry, sector, load);
        if (miss == L1_NONE) {
            sm_fail(m, "no memory for misses");
            return 0;
        }
        sectors &= ~(1u << sector);
        push(m, line * L1_SECTORS + sector, miss | (uint32_t)TOKEN_READ << TOKEN_KIND, RECORD_READ, t + 1);
        s->counts.packets_read++;
    }
    return sectors;
}

/* A load's sectors of one line; returns those that found no room. */
static uint32_t look_up_line(struct sm *m, uint64_t line, uint32_t sectors, uint32_t load, int64_t t)
{
    struct sm_shared *s = m->s;
    struct l1_found found = l1_look(m->l1, line, sectors);
    for (uint32_t rest = found.coming; rest; rest &= rest - 1)
        if (l1_wait(m->l1, found.entry, (uint32_t)__builtin_ctz(rest), load))
            sm_fail(m, "no memory for misses");
    s->counts.merged += (uint32_t)__builtin_popcount(found.coming);
    s->counts.hits += (uint32_t)__builtin_popcount(found.there);
    sectors &= ~(found.there | found.coming);
    if (sectors)
        sectors = ask(m, line, found.entry, sectors, load, t);
    if (found.there)
        sm_arrived(m, load, (uint32_t)__builtin_popcount(found.there), t);
    return sectors;
}

/* Look up a group of a load; what finds no room stays in it. */
static void look_up_load(struct sm *m, struct sm_group *g, int64_t t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->n;) {
        uint64_t line = g->sector[i] / L1_SECTORS;
        uint32_t sectors = 0;
        for (; i < g->n && g->sector[i] / L1_SECTORS == line; i++)
            sectors |= 1u << g->sector[i] % L1_SECTORS;
        sectors = look_up_line(m, line, sectors, g->load, t);
        for (; sectors; sectors &= ~(1u << (31 - __builtin_clz(sectors))))
            g->sector[kept++] = line * L1_SECTORS + 31 - (uint32_t)__builtin_clz(sectors);
    }
    g->n = (uint8_t)kept;
}

static void look_up_store(struct sm *m, struct sm_group *g, int64_t t)
{
    uint32_t i = 0, kept = 0;
    for (uint32_t room = m->s->miss_queue - sm_queued(m, t); i < g->n && room; i++, room--) {
        uint64_t sector = g->sector[i] & ~SECTOR_WHOLE;
        l1_write(m->l1, sector / L1_SECTORS, 1u << sector % L1_SECTORS);
        push(m, g->sector[i], g->load / PROGRAM_ACCESSES | (uint32_t)TOKEN_ACK << TOKEN_KIND, RECORD_WRITE, t + 1);
        m->s->counts.packets_write++;
    }
    while (i < g->n)
        g->sector[kept++] = g->sector[i++];
    g->n = (uint8_t)kept;
}

void sm_look_up(struct sm *m, int64_t t)
{
    struct sm_group *g = &m->pipe[m->pipe_head & m->pipe_mask];
    if (!m->pipe_n || g->ready > t)
        return;
    if (g->kind == RECORD_READ)
        look_up_load(m, g, t);
    else
        look_up_store(m, g, t);
    if (g->n)
        return;
    m->pipe_head++;
    m->pipe_n--;
}

/* --- the port --- */

/* Past L1: a packet a cycle, straight into the input buffer. */
static void let_past(struct sm *m, int64_t t)
{
    struct sm_port *p = &m->port;
    if (m->last >= t || m->n == m->s->room)
        return;
    bool atomic = p->kind == RECORD_ATOMIC;
    uint32_t token = atomic ? p->load | (uint32_t)TOKEN_ATOMIC << TOKEN_KIND
                            : p->load / PROGRAM_ACCESSES | (uint32_t)TOKEN_ACK << TOKEN_KIND;
    push(m, p->sector[p->at++], token, p->kind, t);
    *(atomic ? &m->s->counts.packets_atomic : &m->s->counts.packets_write) += 1;
}

/* Sectors from the highest down, until one's bank is taken in this cycle. */
static void let_in(struct sm *m, int64_t t)
{
    struct sm_port *p = &m->port;
    if (m->pipe_n == m->s->l1_cycles)
        return;
    struct sm_group *g = &m->pipe[(m->pipe_head + m->pipe_n++) & m->pipe_mask];
    g->ready = t + m->s->l1_cycles;
    g->kind = p->kind;
    g->load = p->load;
    g->n = 0;
    for (uint32_t banks = 0; p->at < p->n; p->at++) {
        uint32_t bank = 1u << p->sector[p->at] % m->s->banks;
        if (banks & bank)
            return;
        banks |= bank;
        g->sector[g->n++] = p->sector[p->at];
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
    p->n = (uint32_t)sm_body_sectors(&w->body, access, w->turn, p->sector);
    counts->instructions++;
    if (p->kind == RECORD_READ || p->kind == RECORD_ATOMIC) {
        w->pending |= UINT64_C(1) << access;
        w->missing[access] = (uint8_t)p->n;
        uint32_t need = w->body.access[access].need;
        w->need = need < w->need ? need : w->need;
    } else {
        w->acks += p->n;
    }
    if (p->kind == RECORD_READ) {
        counts->loads++;
        counts->load_sectors += p->n;
    }
    w->pos++;
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

/* --- replies --- */

static void take_read(struct sm *m, uint32_t token, int64_t t)
{
    for (uint32_t load = l1_take(m->l1, token); load != L1_NONE; load = l1_next(m->l1))
        sm_arrived(m, load, 1, t);
}

void sm_take(struct sm *m, uint32_t token, int64_t t)
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
