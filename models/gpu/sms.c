#include "models/gpu/sms.h"

#include <stdlib.h>
#include <string.h>

#include "models/gpu/l1.h"
#include "models/gpu/occupancy.h"
#include "models/gpu/sectors.h"
#include "models/gpu/wheel.h"
#include "trace/base/mem.h"

/* What happens on a multiprocessor in one cycle, in this order (sm_visit()):
 *   1. a reply that had to wait is taken (one a cycle);
 *   2. L1 looks up a group of sectors that entered l1_cycles ago. Values that it has are there now; the rest goes to
 *      the miss queue. Where that has no room for a line's misses the group stays, and the pipeline stands;
 *   3. warps reach the end of a stretch of ordinary instructions;
 *   4. the memory port lets a group of sectors of different banks into the pipeline; if it is free, the next scheduler
 *      in turn issues a memory instruction.
 * A multiprocessor is visited only in cycles in which one of these is due. The cycle in which a packet leaves the miss
 * queue for the input buffer is known when it comes, or when room is made, and takes no visit.
 *
 * A scheduler issues one instruction a cycle, a warp an ordinary one every `dependent` cycles. So the `dependent`
 * oldest warps with such instructions run at full speed, in what is called lanes here, and younger ones stand: a
 * stretch of n instructions is one event. A memory instruction takes one slot: older warps must leave one, and where
 * all are taken the youngest lane falls back a cycle. Of several the scheduler takes that of the warp that issued the
 * one before if it can go on at once, else the oldest: greedy, then oldest. Worked example, dependent 4: five warps
 * with 10 instructions each, all in cycle 0: the four oldest end in cycle 40, the youngest runs from 40 to 80. Differs:
 * by at most 3 cycles a stretch from issuing one by one (phases of lanes); the slot of a barrier is free. */

/* A token says what the reply means: the token of a miss, a warp slot, or a load. */
enum { TOKEN_KIND = 30, TOKEN_READ = 0, TOKEN_ACK = 1, TOKEN_ATOMIC = 2 };

enum { SM_SCHEDULERS = 8, SM_BANKS = 4, SM_AGES = 64 };

/* --- what a warp does, kept small --- */

struct sm_access {
    uint64_t addr;
    int64_t turn_stride, lane_stride;
    uint32_t active;
    uint32_t pos,
        need; /* instructions of the turn before it; before the one that needs its value: UINT32_MAX: its end */
    uint16_t bytes;
    uint8_t kind, table; /* table: lanes have addresses of their own, number + 1 */
};

struct sm_body {
    uint32_t count;
    uint64_t length, turns; /* instructions of a turn */
    struct sm_access *access;
    uint64_t (*table)[PROGRAM_LANES];
    size_t access_cap, table_cap;
};

/* --- warps and schedulers --- */

enum sm_state {
    WARP_FREE,
    WARP_RUNS,  /* ordinary instructions, to `target` */
    WARP_READY, /* a memory instruction is next */
    WARP_NEEDS, /* a value */
    WARP_HELD,  /* at a barrier */
    WARP_ACKS   /* has issued its last; stores are under way */
};

struct sm_warp {
    uint64_t pos, target, turn;
    uint64_t stop;    /* position of the next access, or the turn's length */
    uint64_t pending; /* loads under way, a bit for each access */
    uint64_t need;    /* first instruction that needs one of them; UINT64_MAX: none */
    uint64_t left;    /* RUNS: instructions, when it last got or lost its lane */
    int64_t ready;    /* READY: from this cycle on */
    uint32_t acks;
    uint32_t access;        /* the next */
    uint16_t slot, block;   /* of the multiprocessor */
    uint8_t scheduler, age; /* age: rank among the scheduler's, 0 is the oldest */
    uint8_t state;
    uint8_t next; /* kind of the next access, 0: none in this turn */
    uint32_t index;
    uint8_t missing[PROGRAM_ACCESSES]; /* sectors of a load that have not come */
    struct sm_body body;
    uint64_t number; /* of the launch */
};

struct sm_scheduler {
    uint64_t runs, lanes, ready; /* masks by age */
    int64_t issued;              /* cycle of the last memory instruction */
    int32_t greedy;              /* age of its warp if it can go on at once, else -1 */
    uint32_t n;
    uint16_t slot[SM_AGES]; /* by age */
    int64_t end[SM_AGES];   /* of a lane's stretch; by age */
};

struct sm_block {
    uint32_t live, running, held; /* warps not ended; with instructions left; at the barrier */
    bool middle;                  /* of the middle of its launch */
    int64_t since;
};

/* --- the memory side --- */

struct sm_group {
    int64_t ready;
    uint8_t n, kind;
    uint16_t load; /* warp slot x PROGRAM_ACCESSES + access */
    struct sectors_line line[SM_BANKS];
};

/* A packet, and the cycle in which it comes to the input buffer if it has one yet. */
struct sm_packet {
    struct sms_packet packet;
    int64_t from;
};

/* The access that goes in: lines `at` to n - 1, with the sectors that have not. */
struct sm_port {
    uint32_t n, at;
    uint16_t load;
    uint8_t kind;
    struct sectors_line line[SECTORS_LINES];
};

/* What all multiprocessors share: the numbers, and the launch that runs. */
struct sms {
    struct sms_options o;
    void *run;
    uint32_t schedulers, dependent, l1_cycles, banks, miss_queue;
    struct l1_lines *local; /* the GPU's own memory, where there are join_cycles */
    uint32_t local_count;
    uint32_t launch, warps_of_block, per_sm, l1_lines;
    uint64_t ended;            /* blocks of the launch */
    uint64_t first, last;      /* those from first to last - 1 are its middle: */
    uint64_t middles;          /* of them have ended, */
    int64_t there;             /* and were there for so many cycles in all */
    int64_t last_end;          /* cycle */
    int64_t first_end;         /* of the launch's blocks */
    int64_t last_place;        /* cycle in which its last block began */
    uint64_t *heads;           /* masks of multiprocessors: a packet waits; */
    uint64_t *open;            /* room for a block */
    int64_t place_at;          /* not before this cycle */
    struct wheel wheel, shown; /* visits; packets that come to the head */
    struct sms_counts counts;
    struct program_body body; /* scratch */
    bool failed;
    struct err err;
    int64_t began;    /* the launch that runs */
    int64_t begin_at; /* of the launch that comes; INT64_MAX: one runs, or none comes */
    uint32_t n, words, launches;
    uint32_t last_placed;        /* multiprocessor that got the last block */
    struct program_launch shape; /* of the launch that runs */
    uint64_t placed;             /* its blocks */
    struct sm *sm;
    uint64_t *due;
    bool opened, done;
};

struct sm {
    struct sms *s;
    uint32_t number;
    uint32_t turn;       /* scheduler that may issue next */
    int64_t taken, wake; /* cycles: last reply; the earliest that sm_go() asks for */
    int64_t next_end;    /* of a stretch of a lane of any scheduler */
    uint32_t ready;      /* schedulers that have a memory instruction */
    uint32_t pipe_mask, pipe_head, pipe_n;
    uint32_t want; /* places in the miss queue that the head of the pipeline waits for; 0: not known yet */
    /* n packets: those of the input buffer, then of the miss queue; the last `unset` have no room yet, so no cycle in
     * which they come to the input buffer; `last` is that of the one before them. */
    uint32_t ring_mask, head, n, unset;
    int64_t last;
    struct sm_packet *ring;
    struct sm_group *pipe;
    int64_t pipe_ready;               /* of the pipeline's head; INT64_MAX: it is empty */
    int64_t first_end[SM_SCHEDULERS]; /* of a lane of each scheduler */
    struct sm_scheduler *scheduler;
    struct l1 *l1;
    struct sm_warp *warp;
    struct sm_block *block;
    uint32_t warps, resident; /* slots; blocks there */
    uint32_t launch;          /* that it has had a block of, + 1 */
    uint32_t *reply;          /* tokens that wait */
    size_t reply_cap, reply_head, replies;
    struct sm_port port;
};

/* No memory, or no body: all ends. why NULL: the error stands already. */
static void sm_fail(struct sm *m, const char *why)
{
    if (why && !m->s->failed)
        err_set(&m->s->err, "%s", why);
    m->s->failed = true;
}

static inline void sm_wake(struct sm *m, int64_t t)
{
    m->wake = t < m->wake ? t : m->wake;
}

static void sm_go(struct sm *m, struct sm_warp *w, int64_t t);

/* --- bodies --- */

/* A stretch longer than this is as good as endless. */
#define LONGEST (UINT64_C(1) << 48)

static int keep_table(struct sm_body *out, struct sm_access *to, const struct program_access *a, size_t number,
                      struct err *err)
{
    if (mem_grow((void **)&out->table, &out->table_cap, number, sizeof *out->table, err))
        return -1;
    memcpy(out->table[number - 1], a->lane, sizeof *out->table);
    to->table = (uint8_t)number;
    to->addr = 0;
    return 0;
}

static void keep_access(struct sm_access *to, const struct program_access *a, uint32_t pos, bool atomics_stall)
{
    *to = (struct sm_access){.addr = a->addr,
                             .turn_stride = a->turn_stride,
                             .lane_stride = a->lane_stride,
                             .active = a->active,
                             .pos = pos,
                             .need = a->use ? pos + a->use : UINT32_MAX,
                             .bytes = a->bytes,
                             .kind = a->kind};
    if (a->kind == RECORD_ATOMIC && atomics_stall)
        to->need = pos + 1;
}

/* Keep a body. Accesses without a lane become ordinary instructions; a loop without access one stretch. */
static int sm_body_keep(struct sm_body *out, const struct program_body *body, bool atomics_stall, struct err *err)
{
    uint32_t pos = 0;
    size_t tables = 0;
    out->count = 0;
    if (mem_grow((void **)&out->access, &out->access_cap, body->count, sizeof *out->access, err))
        return -1;
    for (uint32_t i = 0; i < body->count; i++, pos++) {
        const struct program_access *a = &body->access[i];
        pos += a->before;
        if (!a->active && a->kind != PROGRAM_BARRIER)
            continue;
        struct sm_access *to = &out->access[out->count++];
        keep_access(to, a, pos, atomics_stall);
        if (a->lane && a->kind != PROGRAM_BARRIER && keep_table(out, to, a, ++tables, err))
            return -1;
    }
    out->length = (uint64_t)pos + body->after;
    out->turns = body->turns;
    if (!out->count) {
        out->length = out->length && out->turns > LONGEST / out->length ? LONGEST : out->length * out->turns;
        out->turns = 1;
    }
    return 0;
}

static void sm_body_release(struct sm_body *body)
{
    free(body->access);
    free(body->table);
}

/* The lines of access number i of a body in a turn, as sectors_of(). */
static int sm_body_sectors(const struct sm_body *body, uint32_t i, uint64_t turn,
                           struct sectors_line line[SECTORS_LINES])
{
    const struct sm_access *a = &body->access[i];
    struct sectors_of of = {.first = a->addr + turn * (uint64_t)a->turn_stride,
                            .stride = a->lane_stride,
                            .lane = a->table ? body->table[a->table - 1] : NULL,
                            .active = a->active,
                            .bytes = a->bytes,
                            .covers = a->kind == RECORD_WRITE || a->kind == PROGRAM_PIM};
    return sectors_of(&of, line);
}

/* --- schedulers --- */

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

/* n > 0 ordinary instructions from cycle t on; ends with sm_go(). */
static void sm_run(struct sm *m, struct sm_warp *w, uint64_t n, int64_t t)
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

static void sm_end_runs(struct sm *m, int64_t t)
{
    for (uint32_t i = 0; i < m->s->schedulers; i++)
        if (m->first_end[i] <= t)
            end_lanes(m, &m->scheduler[i], t);
}

/* The mask without the bit of an age; younger ones move up. */
static uint64_t without(uint64_t mask, uint32_t age)
{
    uint64_t older = bit(age) - 1;
    return (mask & older) | (mask >> 1 & ~older);
}

/* The warp leaves its place among the scheduler's. */
static void sm_discharge(struct sm *m, struct sm_warp *w)
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

/* Whether a warp has a memory instruction that no older ones keep from its slot. */
static bool sm_may_issue(const struct sm *m)
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

/* The warp whose memory instruction is issued in cycle t, or NULL; the caller issues it. */
static struct sm_warp *sm_pick(struct sm *m, int64_t t)
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

/* --- warps --- */

/* Find `stop` and `next` for the access that is next now. */
static void sm_next_access(struct sm_warp *w)
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
    struct sms *s = m->s;
    m->resident--;
    s->middles += b->middle;
    s->there += b->middle ? t - b->since : 0;
    s->first_end = s->ended++ ? s->first_end : t;
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
    struct sm_warp *held[1024 / PROGRAM_LANES], *first = &m->warp[(size_t)block * m->s->warps_of_block];
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
    struct sms *s = m->s;
    w->pos = w->access = 0;
    if (++w->turn < w->body.turns) {
        sm_next_access(w);
        return true;
    }
    w->turn = 0;
    int rc = program_body(s->o.program, s->run, s->launch, w->number, w->index++, &s->body, &s->err);
    if (rc > 0)
        rc = sm_body_keep(&w->body, &s->body, s->o.gpu->atomics_stall, &s->err) ? -1 : 1;
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

/* The warp may issue its next instruction from cycle t on. */
static void sm_go(struct sm *m, struct sm_warp *w, int64_t t)
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

/* All of a load has come, in time for an instruction in cycle t. */
static void sm_loaded(struct sm *m, struct sm_warp *w, uint32_t access, int64_t t)
{
    w->pending &= ~(UINT64_C(1) << access);
    if (!w->pending)
        w->need = UINT64_MAX;
    else if (w->body.access[access].need == w->need)
        find_need(w);
    if (w->state == WARP_NEEDS)
        sm_go(m, w, t);
}

/* So many of a load's sectors have come. */
static inline void sm_arrived(struct sm *m, uint32_t load, uint32_t sectors, int64_t t)
{
    struct sm_warp *w = &m->warp[load / PROGRAM_ACCESSES];
    uint8_t *missing = &w->missing[load % PROGRAM_ACCESSES];
    *missing = (uint8_t)(*missing - sectors);
    if (!*missing)
        sm_loaded(m, w, load % PROGRAM_ACCESSES, t);
}

/* A store's sector has been acknowledged, for what happens in cycle t. */
static void sm_acked(struct sm *m, struct sm_warp *w, int64_t t)
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
    struct sm_scheduler *c = &m->scheduler[w->scheduler]; /* it is the youngest */
    w->age = (uint8_t)c->n;
    c->slot[c->n++] = w->slot;
}

/* Place a block in cycle t; its warps issue from t + 1 on. */
static void sm_place(struct sm *m, uint64_t block, int64_t t)
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

/* --- packets --- */

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
    uint32_t n = m->n, unset = m->unset, room = m->s->o.input_room;
    int64_t last = m->last;
    while (sectors) {
        uint32_t s = 31 - (uint32_t)__builtin_clz(sectors), at = (m->head + n++) & m->ring_mask;
        sectors ^= 1u << s;
        m->ring[at].packet = (struct sms_packet){.addr = l->line * L1_LINE + (uint64_t)s * SMS_SECTOR,
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

void sms_pop(struct sms *s, uint32_t sm, int64_t t)
{
    struct sm *m = &s->sm[sm];
    m->head++;
    m->n--;
    if (m->n - m->unset + 1 == s->o.input_room)
        wheel_set(&s->wheel, m->number, t + 1);
    if (m->unset) { /* the next packet without a cycle of its own gets one, the first after t that is free */
        m->last = m->last < t + 1 ? t + 1 : m->last + 1;
        m->ring[(m->head + m->n - m->unset--) & m->ring_mask].from = m->last;
    }
    int64_t next = m->n ? m->ring[m->head & m->ring_mask].from : INT64_MAX;
    if (next <= t)
        return;
    m->head = m->n ? m->head : 0; /* the same few places again, while they are in this machine's cache */
    s->heads[m->number / 64] &= ~(UINT64_C(1) << m->number % 64);
    if (m->n)
        wheel_set(&s->shown, m->number, next);
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

/* Packets in the miss queue, in cycle t. */
static inline uint32_t sm_queued(const struct sm *m, int64_t t)
{
    return m->unset + (m->last > t ? (uint32_t)(m->last - t) : 0);
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
    struct l1_found found = l1_lookup(m->l1, l->line, l->sectors);
    for (uint32_t rest = found.pending; rest; rest &= rest - 1)
        if (l1_merge(m->l1, found.entry, (uint32_t)__builtin_ctz(rest), load))
            sm_fail(m, "out of memory: misses in flight");
    uint32_t fetched = l->sectors & ~(found.hit | found.pending);
    fetched = fetched && has_room(m, (uint32_t)__builtin_popcount(fetched), t) ? fitting(fetched, m->s->miss_queue) : 0;
    if (fetched) {
        uint32_t token = l1_fetch(m->l1, l->line, found.entry, fetched, load);
        if (token == L1_NONE)
            sm_fail(m, "out of memory: misses in flight");
        else
            push(m, l, fetched, token | (uint32_t)TOKEN_READ << TOKEN_KIND, 1, load, RECORD_READ, t + 1);
    }
    l->sectors &= (uint8_t) ~(found.hit | found.pending | fetched);
    counts->merged += (uint32_t)__builtin_popcount(found.pending);
    counts->packets_read += (uint32_t)__builtin_popcount(fetched);
    if (!found.hit)
        return;
    counts->hits += (uint32_t)__builtin_popcount(found.hit);
    sm_arrived(m, load, (uint32_t)__builtin_popcount(found.hit), t);
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

static void sm_look_up(struct sm *m, int64_t t)
{
    struct sm_group *g = &m->pipe[m->pipe_head & m->pipe_mask];
    if (m->pipe_ready > t || sm_queued(m, t) + m->want > m->s->miss_queue)
        return;
    m->want = 0;
    if (m->s->o.join_cycles)
        l1_set_load(m->l1, t, g->load);
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
            l1_prefetch_entry(m->l1, g->line[i].line);
    }
}

/* --- the port --- */

/* Past L1: a packet a cycle, straight into the input buffer. */
static void let_past(struct sm *m, int64_t t)
{
    struct sm_port *p = &m->port;
    struct sectors_line *l = &p->line[p->at];
    if (m->last >= t || m->n == m->s->o.input_room)
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
        if (m->s->o.by_line && go != l->sectors)
            go = g->n ? 0 : l->sectors;
        if (!go)
            return;
        g->line[g->n++] = (struct sectors_line){l->line, (uint8_t)go, l->whole};
        l1_prefetch(m->l1, l->line);
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
    if (m->s->o.by_line)
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

static void sm_port(struct sm *m, int64_t t)
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

/* --- made and freed --- */

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
                             .join_cycles = m->s->o.join_cycles,
                             .warp_loads = PROGRAM_ACCESSES,
                             .local = m->s->local,
                             .local_count = m->s->local_count};
    m->l1 = l1_new(&shape, err);
    return m->l1 ? 0 : -1;
}

static int sm_init(struct sm *m, struct sms *s, uint32_t number, const struct gpu *gpu, uint32_t l1_lines,
                   struct err *err)
{
    memset(m, 0, sizeof *m);
    m->s = s;
    m->number = number;
    m->warps = (uint32_t)gpu->warps_per_sm;
    m->ring_mask = power_of_two((uint64_t)s->o.input_room + s->miss_queue + 1) - 1;
    m->pipe_mask = power_of_two(s->l1_cycles) - 1;
    m->ring = mem_zalloc(m->ring_mask + (size_t)1, sizeof *m->ring, err);
    m->pipe = m->ring ? mem_zalloc(m->pipe_mask + (size_t)1, sizeof *m->pipe, err) : NULL;
    m->warp = m->pipe ? mem_zalloc(m->warps, sizeof *m->warp, err) : NULL;
    m->block = m->warp ? mem_zalloc(m->warps, sizeof *m->block, err) : NULL;
    m->scheduler = m->block ? mem_zalloc(s->schedulers, sizeof *m->scheduler, err) : NULL;
    return m->scheduler ? init_l1(m, gpu, l1_lines, err) : -1;
}

static void sm_release(struct sm *m)
{
    for (uint32_t i = 0; m->warp && i < m->warps; i++)
        sm_body_release(&m->warp[i].body);
    l1_free(m->l1);
    free(m->ring);
    free(m->pipe);
    free(m->scheduler);
    free(m->warp);
    free(m->block);
    free(m->reply);
}

/* Nothing is there; cycle t is next. */
static void sm_reset(struct sm *m, int64_t t)
{
    m->head = m->n = m->unset = m->pipe_head = m->pipe_n = m->want = 0;
    m->pipe_ready = INT64_MAX;
    m->last = m->taken = t - 1;
    m->wake = INT64_MAX;
    m->port.n = m->port.at = 0;
    m->turn = 0;
    for (uint32_t i = 0; i < SM_SCHEDULERS; i++)
        m->first_end[i] = INT64_MAX;
    for (uint32_t i = 0; i < m->s->schedulers; i++)
        m->scheduler[i] = (struct sm_scheduler){.issued = t - 1, .greedy = -1};
    m->next_end = INT64_MAX;
    m->ready = 0;
    m->resident = m->launch = 0;
    memset(m->block, 0, m->warps * sizeof *m->block);
    l1_resize(m->l1, 0);
    m->reply_head = m->replies = 0;
}

/* --- replies --- */

static void take(struct sm *m, uint32_t token, int64_t t)
{
    uint32_t number = token & ((1u << TOKEN_KIND) - 1);
    m->taken = t;
    if (token >> TOKEN_KIND == TOKEN_READ)
        for (uint32_t load = l1_fill(m->l1, number); load != L1_NONE; load = l1_next_waiter(m->l1))
            sm_arrived(m, load, 1, t + 1);
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
    if (m->replies || (port && (past ? m->n < m->s->o.input_room : m->pipe_n < m->s->l1_cycles)) ||
        (!port && sm_may_issue(m)))
        return t + 1;
    int64_t look = look_up_time(m, t);
    next = look < next ? look : next;
    return next > t ? next : t + 1;
}

/* Everything that is due in cycle t; returns when something is due next. */
static int64_t sm_visit(struct sm *m, int64_t t)
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

/* --- its numbers --- */

static int check_gpu(const struct gpu *gpu, uint32_t sms, struct err *err)
{
    if (sms == 0 || sms > (uint64_t)gpu->sms)
        return err_set(err, "%u multiprocessors of a GPU that has %lld", sms, (long long)gpu->sms);
    if (gpu->schedulers > SM_SCHEDULERS || gpu->l1_banks > SM_BANKS || gpu->warps_per_sm > SM_AGES * gpu->schedulers)
        return err_set(err,
                       "%lld schedulers, %lld L1 banks, %lld warps; expected at most %d, %d, %d for each scheduler",
                       (long long)gpu->schedulers, (long long)gpu->l1_banks, (long long)gpu->warps_per_sm,
                       SM_SCHEDULERS, SM_BANKS, SM_AGES);
    return 0;
}

static int l1_lines(const struct sms *s, const struct program_launch *l, uint32_t *lines, struct err *err)
{
    uint64_t blocks = occupancy_resident(s->o.gpu, l, s->n);
    uint64_t shared = l->shared + (uint64_t)s->o.gpu->block_shared_bytes;
    int64_t bytes = occupancy_l1(s->o.gpu, blocks * shared, err);
    if (bytes < 0)
        return -1;
    *lines = (uint32_t)(bytes / L1_LINE);
    *lines = *lines < (uint32_t)s->o.gpu->l1_ways ? 0 : *lines;
    return 0;
}

/* Every launch has room for a block; *most: lines of the largest L1. */
static int check_launches(const struct sms *s, uint32_t *most, struct err *err)
{
    *most = 0;
    for (uint32_t i = 0; i < s->launches; i++) {
        struct program_launch l = program_launch_of(s->o.program, i);
        uint32_t lines;
        if (program_check_launch(&l, i, err) || l1_lines(s, &l, &lines, err))
            return -1;
        if (occupancy_resident(s->o.gpu, &l, s->n) == 0)
            return occupancy_refuse(i, l.threads, l.registers, l.shared, err);
        *most = lines > *most ? lines : *most;
    }
    return 0;
}

static void take_numbers(struct sms *s, const struct sms_options *o)
{
    s->o = *o;
    s->o.input_room = o->input_room ? o->input_room : 1;
    s->schedulers = (uint32_t)o->gpu->schedulers;
    s->dependent = o->gpu->dependent_cycles < 1 ? 1 : (uint32_t)(o->gpu->dependent_cycles + 0.5);
    s->l1_cycles = (uint32_t)o->gpu->l1_cycles;
    s->banks = (uint32_t)o->gpu->l1_banks;
    s->miss_queue = (uint32_t)o->gpu->miss_queue;
    if (o->by_line && s->miss_queue < L1_SECTORS)
        s->miss_queue = L1_SECTORS;
}

/* The lines that the GPU's own memory has of the program. */
static int own_lines(struct sms *s, struct err *err)
{
    size_t n;
    const struct program_alloc *a = s->o.program->ops->allocs(s->o.program->state, &n);
    s->local = mem_zalloc(n ? n : 1, sizeof *s->local, err);
    for (size_t i = 0; s->local && i < n; i++)
        if (a[i].device)
            s->local[s->local_count++] =
                (struct l1_lines){a[i].addr / L1_LINE, (a[i].addr + a[i].bytes + L1_LINE - 1) / L1_LINE};
    return s->local ? 0 : -1;
}

static int init(struct sms *s, const struct sms_options *o, struct err *err)
{
    uint32_t lines;
    s->n = o->sms;
    s->words = (s->n + 63) / 64;
    take_numbers(s, o);
    s->launches = o->program->ops->launches(o->program->state);
    s->done = true;
    if (check_gpu(o->gpu, s->n, err) || check_launches(s, &lines, err) || (o->join_cycles && own_lines(s, err)) ||
        wheel_init(&s->wheel, s->n, err) || wheel_init(&s->shown, s->n, err))
        return -1;
    s->heads = mem_zalloc(s->words, sizeof(uint64_t), err);
    s->open = s->heads ? mem_zalloc(s->words, sizeof(uint64_t), err) : NULL;
    s->due = s->open ? mem_zalloc(s->words, sizeof(uint64_t), err) : NULL;
    s->sm = s->due ? mem_zalloc(s->n, sizeof *s->sm, err) : NULL;
    for (uint32_t i = 0; s->sm && i < s->n; i++)
        if (sm_init(&s->sm[i], s, i, o->gpu, lines, err))
            return -1;
    return s->sm ? 0 : -1;
}

struct sms *sms_new(const struct sms_options *options, struct err *err)
{
    struct sms *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    if (init(s, options, err)) {
        sms_free(s);
        return NULL;
    }
    return s;
}

void sms_free(struct sms *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->sm && i < s->n; i++)
        sm_release(&s->sm[i]);
    if (s->opened)
        program_run_close(s->o.program, s->run);
    wheel_release(&s->wheel);
    wheel_release(&s->shown);
    free(s->local);
    free(s->heads);
    free(s->open);
    free(s->due);
    free(s->sm);
    free(s);
}

/* --- launches --- */

int sms_start(struct sms *s, int64_t t, struct err *err)
{
    if (!s->done)
        return err_set(err, "a program is started again before it has ended");
    if (s->opened)
        program_run_close(s->o.program, s->run);
    s->opened = false;
    if (program_run_open(s->o.program, &s->run, err))
        return -1;
    s->opened = true;
    wheel_reset(&s->wheel, t);
    wheel_reset(&s->shown, t);
    for (uint32_t i = 0; i < s->n; i++)
        sm_reset(&s->sm[i], t);
    memset(s->heads, 0, s->words * sizeof(uint64_t));
    memset(s->open, 0, s->words * sizeof(uint64_t));
    memset(&s->counts, 0, sizeof s->counts);
    s->failed = false;
    s->launch = 0;
    s->last_end = t;
    s->last_placed = s->n - 1;
    s->placed = s->ended = s->shape.blocks = 0;
    s->done = s->launches == 0;
    s->begin_at = s->done ? INT64_MAX : t + s->o.launch_cycles;
    return 0;
}

static uint64_t places(const struct sms *s)
{
    return (uint64_t)s->per_sm * s->n;
}

static void find_middle(struct sms *s, int64_t t)
{
    s->began = t;
    s->middles = 0;
    s->there = 0;
    s->first = places(s);
    s->last = s->shape.blocks > places(s) ? s->shape.blocks - places(s) : 0;
}

/* What the launch that has ended owes to its beginning and end, beyond their share. */
static double ends_of(const struct sms *s)
{
    const double kept = s->o.kept_share ? s->o.kept_share[s->launch] : 1;
    if (kept >= 1 || !s->middles)
        return 0;
    const double each = (double)s->there / (double)s->middles;
    const double middle = each * (double)s->shape.blocks / (double)places(s);
    const double late = (double)(s->first_end - s->began) - each;
    const double full = (double)(s->last_place - s->began) - (late > 0 ? late : 0);
    return (1 - kept) * ((double)(s->last_end - s->began) - (middle > full ? middle : full));
}

static void begin(struct sms *s, int64_t t)
{
    struct program_launch *l = &s->shape;
    uint32_t lines = 0;
    memset(l, 0, sizeof *l);
    s->o.program->ops->launch(s->o.program->state, s->launch, l);
    if (program_check_launch(l, s->launch, &s->err) || l1_lines(s, l, &lines, &s->err)) {
        s->failed = true;
        return;
    }
    s->begin_at = INT64_MAX;
    s->placed = s->ended = 0;
    s->place_at = t;
    s->warps_of_block = program_warps_of_block(l);
    s->per_sm = occupancy_resident(s->o.gpu, l, s->n);
    find_middle(s, t);
    s->l1_lines = lines;
    for (uint32_t i = 0; i < s->n; i++)
        s->open[i / 64] |= UINT64_C(1) << i % 64;
}

/* The launch has ended, perhaps. */
static void settle(struct sms *s)
{
    if (s->failed)
        s->done = true;
    if (s->done || s->begin_at != INT64_MAX || s->ended < s->shape.blocks)
        return;
    s->counts.launches++;
    s->counts.ends += ends_of(s);
    if (++s->launch < s->launches)
        s->begin_at = s->last_end + s->o.launch_cycles;
    else
        s->done = true;
}

/* --- blocks --- */

static void place_one(struct sms *s, struct sm *m, int64_t t)
{
    bool fresh = m->launch != s->launch + 1;
    if (fresh) /* it has had no block since the launch before: L1 forgets */
        l1_resize(m->l1, s->l1_lines);
    m->launch = s->launch + 1;
    m->wake = INT64_MAX;
    s->last_place = t;
    sm_place(m, s->placed++, t);
    s->last_placed = m->number;
    if (m->resident >= s->per_sm)
        s->open[m->number / 64] &= ~(UINT64_C(1) << m->number % 64);
    if (m->wake != INT64_MAX)
        wheel_set(&s->wheel, m->number, m->wake > t ? m->wake : t + 1);
}

/* One block to each multiprocessor with room, in turn from behind the last that got one. */
static void place(struct sms *s, int64_t t)
{
    uint32_t first = s->last_placed + 1;
    for (uint32_t i = 0; i < s->n && s->placed < s->shape.blocks && !s->failed; i++) {
        uint32_t at = first + i < s->n ? first + i : first + i - s->n;
        if (s->open[at / 64] >> at % 64 & 1)
            place_one(s, &s->sm[at], t);
    }
}

static bool may_place(const struct sms *s)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < s->words; i++)
        any |= s->open[i];
    return any && s->begin_at == INT64_MAX && s->placed < s->shape.blocks;
}

/* --- cycles --- */

int64_t sms_next(const struct sms *s)
{
    if (s->done)
        return INT64_MAX;
    int64_t now = s->wheel.now, next = s->wheel.next, shown = s->shown.next;
    next = shown < next ? shown : next;
    if (s->begin_at < next)
        next = s->begin_at;
    if (may_place(s) && s->place_at < next)
        next = s->place_at;
    return next > now ? next : now + 1;
}

int64_t sms_step(struct sms *s, int64_t t)
{
    if (s->done)
        return INT64_MAX;
    bool some = wheel_take(&s->shown, t, s->due);
    for (uint32_t i = 0; some && i < s->words; i++)
        s->heads[i] |= s->due[i];
    some = wheel_take(&s->wheel, t, s->due);
    for (uint32_t i = 0; some && i < s->words; i++)
        for (uint64_t rest = s->due[i]; rest; rest &= rest - 1) {
            struct sm *m = &s->sm[i * 64 + (uint32_t)__builtin_ctzll(rest)];
            int64_t next = sm_visit(m, t);
            if (next != INT64_MAX)
                wheel_set(&s->wheel, m->number, next);
        }
    settle(s);
    if (s->begin_at <= t)
        begin(s, t);
    if (s->place_at <= t && may_place(s)) {
        place(s, t);
        s->place_at = t + 1;
        settle(s);
    }
    return sms_next(s);
}

/* --- packets --- */

const uint64_t *sms_heads(const struct sms *s)
{
    return s->heads;
}

const struct sms_packet *sms_head(const struct sms *s, uint32_t sm)
{
    const struct sm *m = &s->sm[sm];
    return s->heads[sm / 64] >> sm % 64 & 1 ? &m->ring[m->head & m->ring_mask].packet : NULL;
}

void sms_reply(struct sms *s, uint32_t sm, uint32_t token, int64_t t)
{
    struct sm *m = &s->sm[sm];
    if (s->done)
        return;
    m->wake = INT64_MAX;
    if (m->taken >= t || m->replies) {
        queue_reply(m, token);
        sm_wake(m, t + 1);
    } else {
        take(m, token, t);
    }
    if (m->wake != INT64_MAX)
        wheel_set(&s->wheel, m->number, m->wake > t ? m->wake : t + 1);
    if (s->ended == s->shape.blocks || s->failed)
        settle(s);
}

void sms_prefetch_reply(const struct sms *s, uint32_t sm, uint32_t token)
{
    if (token >> TOKEN_KIND == TOKEN_READ)
        l1_prefetch_fill(s->sm[sm].l1, token);
}

bool sms_done(const struct sms *s)
{
    return s->done;
}

int sms_failed(const struct sms *s, struct err *err)
{
    if (!s->failed)
        return 0;
    if (err)
        *err = s->err;
    return -1;
}

uint64_t sms_reached(const struct sms *s, uint64_t *blocks)
{
    *blocks = s->done || s->begin_at != INT64_MAX ? 0 : s->placed;
    return s->counts.launches;
}

void sms_counts(const struct sms *s, struct sms_counts *counts)
{
    *counts = s->counts;
}
