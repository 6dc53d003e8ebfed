/* sm: one multiprocessor; the inside of models/gpu/sms.h, which has what it is for.
 *
 * What happens in one cycle, in this order (sm_visit()):
 *   1. a reply that had to wait is taken (one a cycle);
 *   2. L1 looks a group of sectors up that entered l1_cycles ago; values that it has are there now; what it has not
 *      goes to the miss queue; where that has no room for all that a line asks for, the group stays and the pipeline
 *      behind it stands;
 *   3. warps reach the end of a stretch of ordinary instructions;
 *   4. the memory port lets a group of sectors of different banks into the pipeline; if it is free, the next scheduler
 *      in turn issues a memory instruction.
 * The multiprocessor is visited only in cycles in which one of these is due. A packet leaves the miss queue for the
 * input buffer in the cycle after it came, a cycle after the one before, and when there is room: that cycle is known
 * when it comes, or when room is made, and takes no visit.
 *
 * A scheduler issues one instruction a cycle; a warp may issue an ordinary one every `dependent` cycles. So the
 * `dependent` oldest of its warps that have such instructions to issue proceed at full speed, in what is called lanes
 * here, and younger ones stand: a stretch of n instructions is one event. A memory instruction takes one slot: it needs
 * that older warps leave one, and sets the youngest lane back a cycle where all are taken. Of several memory
 * instructions the scheduler takes that of the warp that issued the one before if it can go on at once, else the
 * oldest: greedy, then oldest. Worked example, dependent 4: five warps with 10 instructions each, all in cycle 0: the
 * four oldest end in cycle 40, the youngest runs from 40 to 80.
 * Differs: by at most 3 cycles a stretch from issuing one by one (phases of lanes); the slot of a barrier is free. */
#ifndef MODELS_GPU_SM_H
#define MODELS_GPU_SM_H

#include "models/gpu/l1.h"
#include "models/gpu/sms.h"
#include "models/gpu/wheel.h"
#include "trace/program/program.h"

/* The 128 B lines, each with its 32 B sectors, that a warp's access touches: highest address first, each line
 * once, which is the order in which an L1 takes them.
 *
 * Lanes at a stride give them in closed form or lane by lane in order; only lanes with addresses of their own are
 * sorted. Worked example: 32 lanes read 4 B each from byte 0x1010 on: line 0x21 with sector 0, line 0x20 with sectors 0
 * to 3. A store says of each sector whether all of its 32 bytes are written: the first and the last are not, here.
 * Source: order: GPGPU-Sim 4.0.1, shader.cc, ldst_unit takes accesses from the back of a list in ascending order. */
enum { SECTORS_LINES = 2 * PROGRAM_LANES, SECTORS_OF_LINE = 4 };

/* Of one access: the lanes of a program_access in one turn. */
struct sectors_of {
    uint64_t first;       /* byte of lane 0 */
    int64_t stride;       /* from a lane to the next */
    const uint64_t *lane; /* or: the byte of each lane, `first` bytes further on; else NULL */
    uint32_t active, bytes;
    bool covers; /* find out which sectors are covered whole */
};

struct sectors_line {
    uint64_t line;   /* address / 128 */
    uint8_t sectors; /* a mask */
    uint8_t whole;   /* those of them that are covered whole, if asked for */
};

/* Returns how many; 0 if no lane is active. */
int sectors_of(const struct sectors_of *access, struct sectors_line line[SECTORS_LINES]);

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

/* Keep a body. Accesses without a lane become ordinary instructions; a loop without access one stretch. */
int sm_body_keep(struct sm_body *out, const struct program_body *body, bool atomics_stall, struct err *err);
void sm_body_release(struct sm_body *body);

/* Its access number i in a turn: the lines, as sectors_of(). */
int sm_body_sectors(const struct sm_body *body, uint32_t i, uint64_t turn, struct sectors_line line[SECTORS_LINES]);

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
    uint16_t *slot; /* by age */
    int64_t *end;   /* of a lane's stretch; by age */
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
struct sm_shared {
    const struct program *program;
    void *run;
    uint32_t schedulers, dependent, l1_cycles, banks, miss_queue, room, join_cycles;
    bool atomics_stall, by_line;
    struct l1_lines *own; /* the GPU's own memory, where there are join_cycles */
    uint32_t owns;
    uint32_t launch, warps_of_block, per_sm, l1_lines;
    uint64_t ended;            /* blocks of the launch */
    uint64_t first, last;      /* those from first to last - 1 are its middle: */
    uint64_t middles;          /* of them have ended, */
    int64_t there;             /* and were there for so many cycles in all */
    int64_t last_end;          /* cycle */
    uint64_t *heads;           /* masks of multiprocessors: a packet waits; */
    uint64_t *open;            /* room for a block */
    int64_t place_at;          /* not before this cycle */
    struct wheel wheel, shown; /* visits; packets that come to the head */
    struct sms_counts counts;
    struct program_body body; /* scratch */
    bool failed;
    struct err err;
};

struct sm {
    struct sm_shared *s;
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
    uint16_t *slots;
    int64_t *ends;
    struct sm_port port;
};

int sm_init(struct sm *m, struct sm_shared *s, uint32_t number, const struct gpu *gpu, uint32_t l1_lines,
            struct err *err);
void sm_release(struct sm *m);

/* Nothing is there; cycle t is next. */
void sm_reset(struct sm *m, int64_t t);

/* Place a block in cycle t; its warps issue from t + 1 on. */
void sm_place(struct sm *m, uint64_t block, int64_t t);

/* Everything that is due in cycle t; returns when something is due next. */
int64_t sm_visit(struct sm *m, int64_t t);

/* A reply arrives in cycle t, behind the visit. */
void sm_reply(struct sm *m, uint32_t token, int64_t t);

/* --- parts --- */

/* The warp may issue its next instruction from cycle t on. */
void sm_go(struct sm *m, struct sm_warp *w, int64_t t);

/* Find `stop` and `next` for the access that is next now. */
void sm_next_access(struct sm_warp *w);

/* All of a load has come, in time for an instruction in cycle t. */
void sm_loaded(struct sm *m, struct sm_warp *w, uint32_t access, int64_t t);

/* A store's sector has been acknowledged, for what happens in cycle t. */
void sm_acked(struct sm *m, struct sm_warp *w, int64_t t);

/* The warp takes its place among the scheduler's, as the youngest; and leaves it. */
void sm_enlist(struct sm *m, struct sm_warp *w);
void sm_discharge(struct sm *m, struct sm_warp *w);

/* n > 0 ordinary instructions from cycle t on; ends with sm_go(). */
void sm_run(struct sm *m, struct sm_warp *w, uint64_t n, int64_t t);
void sm_end_runs(struct sm *m, int64_t t);

/* The warp whose memory instruction is issued in cycle t, or NULL; the caller issues it. */
struct sm_warp *sm_pick(struct sm *m, int64_t t);

/* Whether a warp has a memory instruction that no older ones keep from its slot. */
bool sm_may_issue(const struct sm *m);

/* The head packet goes, in cycle t. */
void sm_pop(struct sm *m, int64_t t);

/* Packets in the miss queue, in cycle t. */
static inline uint32_t sm_queued(const struct sm *m, int64_t t)
{
    return m->unset + (m->last > t ? (uint32_t)(m->last - t) : 0);
}

/* Steps 2 and 4. */
void sm_look_up(struct sm *m, int64_t t);
void sm_port(struct sm *m, int64_t t);

/* No memory, or no body: all ends. why NULL: the error stands already. */
void sm_fail(struct sm *m, const char *why);

/* So many of a load's sectors have come. */
static inline void sm_arrived(struct sm *m, uint32_t load, uint32_t sectors, int64_t t)
{
    struct sm_warp *w = &m->warp[load / PROGRAM_ACCESSES];
    uint8_t *missing = &w->missing[load % PROGRAM_ACCESSES];
    *missing = (uint8_t)(*missing - sectors);
    if (!*missing)
        sm_loaded(m, w, load % PROGRAM_ACCESSES, t);
}

static inline void sm_wake(struct sm *m, int64_t t)
{
    m->wake = t < m->wake ? t : m->wake;
}

#endif
