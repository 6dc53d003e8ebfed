/* channel: one HBM channel with its controller: up to 48 banks, MEM and PIM queues, open rows, earliest legal cycles.
 *
 * One controller cycle, in this order: mode update by the policy; selection of at most one request into a bank slot
 * (MEM) or into all sixteen (PIM); at most one column and one row command. A request that enters after cycle t is seen
 * at t + 1. The data pipeline needs no state: a read ends CL and a write WL after its last column command, the
 * read-to-write gap keeps the order, and replies leave at one per cycle.
 *
 * A loop that models/dram/loop.h builds for each policy drives the channel. It visits only cycles at which something
 * can happen; counters of cycles are advanced arithmetically. State is kept as masks of banks and as lanes
 * (models/dram/lanes.h) of earliest cycles, 32-bit offsets from `base`, moved along by dram_channel_rebase().
 *
 * Call order: dram_channel_init(), then a loop; the struct holds no resources. One thread per channel.
 * Source: gupta-2025-f3fs; GPGPU-Sim-4.0.1 branch ISPASS_2025 commit 1eea352, dram.cc and dram_sched*.cc.
 * Differs: an unopened bank matches no row (the artifact's registers start as row 0). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "models/dram/command_checker.h"
#include "models/dram/timing.h"

enum { DRAM_QUEUE = 64 }; /* requests that wait at a bank, at most */

/* Banks that PIM requests write to, and the most that loop_mem.c looks at; the set of them. */
enum { DRAM_NARROW = 16, DRAM_ALL = 0xffff };

/* Requests of a class that wait in a channel, at most. */
enum { DRAM_QUEUES = 256 };

/* Cycles that loop_mem.c looks ahead; platforms with longer timings, but of refreshes, are left to loop.h. */
enum { DRAM_WHEEL = 256 };

/* No row: of a bank never opened, of a policy with no current PIM row. */
#define DRAM_NO_ROW UINT32_MAX

/* No request: of a command that a refresh gives. */
#define DRAM_NO_REQUEST UINT32_MAX

enum dram_class { DRAM_MEM, DRAM_PIM };

/* What a request is; flags of struct dram_request. The low three bits are its column commands (1 to 4). */
enum { DRAM_COLUMNS = 7, DRAM_IS_WRITE = 8, DRAM_IS_PIM = 16, DRAM_IS_POSTED = 32 };

struct dram_request {
    int64_t arrival; /* cycle of the front end's clock */
    uint32_t row;    /* < DRAM_NO_ROW */
    uint16_t column; /* of atoms; the controller does not look at it */
    uint8_t bank;    /* not used by PIM, which writes to every bank */
    uint8_t flags;   /* posted: an L2 write-back, for which no reply is sent */
};

/* The waiting MEM requests of one bank, oldest at the lowest bit. */
struct dram_bank_queue {
    /* live and same apart: a compiler that writes both at once makes the next read of one of them wait. */
    uint64_t live;  /* waiting */
    uint64_t match; /* of them, those of the open row; stale where dram_channel.stale says so */
    int32_t tail;   /* next free position */
    int32_t limit;  /* compact when tail gets here: 16, 32, 48 or 64 */
    uint64_t same;  /* of the waiting, those of the row selected last (the row streak) */
    uint32_t last_row;
    _Alignas(64) uint32_t rows[DRAM_QUEUE];
    uint32_t ids[DRAM_QUEUE], seqs[DRAM_QUEUE];
    uint8_t flags[DRAM_QUEUE];
    uint8_t tags[DRAM_QUEUE]; /* the last byte of each of the rows */
};

/* What was counted. Cycles are DRAM cycles. */
struct dram_stats {
    int64_t switches[2]; /* [DRAM_PIM]: MEM to PIM; [DRAM_MEM]: PIM to MEM */
    int64_t conflicts;   /* banks whose next request would have hit, summed over MEM to PIM switches */
    int64_t capped;      /* MEM to PIM switches made by a cap */
    int64_t drain;       /* cycles in PIM mode in which MEM requests still hold bank slots */
    int64_t accesses[2]; /* selections by class; under fcfs 16 per PIM request */
    int64_t hits[2];
    int64_t activates, precharges, columns; /* commands; one to all banks counts once */
    int64_t slot_sum, slot_cycles;          /* occupied slots summed over cycles; cycles with any */
    int64_t in[2], out[2];                  /* requests */
    int64_t answered[2], answer_cycles[2]; /* requests, and the cycles they took, as whoever feeds the channel saw it */
    int64_t columns_in;                    /* column commands that the entered requests ask for */
    int64_t refreshes;                     /* commands, of all banks or of one */
    int64_t last_out[2];                   /* cycle of the last completion, -1: none */
    int64_t first_in[2];                   /* cycle of the first entry, -1: none */
};

/* A request that is done (or known to be): reported in order of `done`. */
struct dram_completion {
    int64_t done; /* cycle of the last data */
    uint32_t id;
    uint8_t flags;
};

enum { DRAM_COMPLETIONS = 256 };

static inline void dram_answered(struct dram_stats *s, enum dram_class class, int64_t cycles)
{
    s->answered[class]++;
    s->answer_cycles[class] += cycles;
}

/* Cycles of each request's events, by id, which a loop writes; any array may be NULL. -1: never. */
struct dram_timestamps {
    int64_t *enter, *sched, *column, *done;
};

/* Rules of a channel's device beyond the paper's controller: long pairs, the window of four activations, PRE after PRE,
 * reads of two stack identifiers, command pins, and refresh. Off where a platform states none.
 *
 * The loop asks which of its candidates may go (models/dram/controller.h), reports each command, and visits no later
 * than dram_device_next(). Cycles are offsets of the channel.
 *
 * Refresh falls due every `interval` cycles and is never postponed. Once no PIM request is in the slots it holds its
 * banks (all, or one after another). Held banks take no command of a request. Open ones are closed together, then
 * refreshed, before any other row command. A PIM request selected meanwhile waits. Row registers and row streaks stay,
 * as at any PRE. Refreshes due while the loop skips cycles are made up for at the next visit, at their own cycles. */
struct dram_device {
    bool on;    /* anything of it */
    bool rules; /* more than refresh and other cycles for the paper's rules */
    /* Earliest cycles. */
    int32_t rrdl_ok[DRAM_BANKS], wtrl_ok[DRAM_BANKS]; /* by group */
    int32_t rrdl_last, wtrl_last;                     /* the latest of them */
    int32_t ppd_ok, row_bus_ok, column_bus_ok;
    int32_t ccdr_ok; /* of reads in other stack identifiers than the last one's, `stack` */
    int stack;
    int32_t refresh_ok;    /* by the last ACT and the last refresh of a bank */
    int32_t precharged_ok; /* by the last PRE */
    int32_t act[4];        /* cycles of the last four ACT, by number modulo four */
    uint32_t acts;
    /* Refresh. */
    dram_banks held; /* banks; 0: none */
    int32_t since;   /* from which cycle on */
    int32_t after;   /* the next hold comes no earlier: there is one refresh at a time */
    int64_t due;     /* cycle (not offset) of the next; INT64_MAX: never */
    int refreshed;   /* bank refreshed last; -1 */
    struct command_checker watch;
};

struct dram_channel {
    struct dram_timing timing;
    int32_t queue;                       /* waiting requests per class, at most */
    int32_t group_mask, bank_mask;       /* of a channel of at most 16 banks */
    int32_t banks, groups, width;        /* banks; groups of all stacks; banks that a scan goes round, 16 at least */
    dram_banks all;                      /* those of width */
    uint8_t group_of[DRAM_BANKS];        /* a bank's group */
    dram_banks group_banks[DRAM_BANKS];  /* banks of a group */
    uint8_t stack_of[DRAM_BANKS];        /* a bank's stack identifier */
    dram_banks stack_banks[DRAM_STACKS]; /* banks of a stack identifier */

    bool loop_mem_fits; /* dram_loop_mem_fits() */

    int64_t base; /* cycle that offset 0 stands for */
    int64_t last; /* offset of the last visited cycle; -1 before the first */

    enum dram_class mode;
    int32_t prio;                                    /* where the bank scans start */
    dram_banks occupied;                             /* slots that hold a request */
    bool pim_in_slots;                               /* and it is a PIM request */
    dram_banks active;                               /* banks with an open row */
    dram_banks want_rd, want_wr, want_act, want_pre; /* what each MEM slot needs next */
    dram_banks due;                                  /* slots whose own time (ready) has come */
    dram_banks pending;                              /* banks with waiting MEM requests */
    dram_banks streak;                               /* banks with a live row streak */
    dram_banks match;                                /* banks with a waiting request of the open row; see stale */
    dram_banks stale;                                /* banks whose match must be found again */
    dram_banks older;   /* banks whose oldest MEM is older than the oldest PIM; if both wait */
    int32_t waiting[2]; /* requests of each class in the queues */
    uint32_t seq;       /* entry number of the next request */

    _Alignas(64) int32_t ready[DRAM_BANKS];  /* a slot's next command, by its bank alone; INT32_MAX: empty slot */
    _Alignas(64) int32_t act_ok[DRAM_BANKS]; /* earliest cycles by bank */
    _Alignas(64) int32_t rd_ok[DRAM_BANKS];
    _Alignas(64) int32_t wr_ok[DRAM_BANKS];
    _Alignas(64) int32_t pre_ok[DRAM_BANKS];
    _Alignas(64) uint32_t open_row[DRAM_BANKS];       /* kept while a bank is precharged */
    _Alignas(64) uint32_t head_seq[DRAM_BANKS];       /* of the oldest waiting request */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;           /* earliest cycles by channel */
    int32_t ccdl_ok[DRAM_BANKS], rtpl_ok[DRAM_BANKS]; /* by group */
    int32_t ccdl_last, rtpl_last;                     /* the latest of them */
    int32_t ccdl_all;                                 /* by group too: after a PIM column command, for all of them */
    int32_t next_due;                                 /* the earliest of the other slots' times; INT32_MAX: none */
    bool uniform;        /* all banks were activated together for PIM at uniform_act, and no MEM command came since: */
    int32_t uniform_act; /* their earliest cycles are not in the lanes, see dram_channel_settle() */
    uint32_t uniform_row;
    int32_t pim_wtp; /* earliest PRE of any bank after a PIM column command */

    uint32_t slot_row[DRAM_BANKS], slot_id[DRAM_BANKS];
    uint8_t slot_flags[DRAM_BANKS], slot_columns[DRAM_BANKS];

    /* The PIM request in the slots: all its commands are known when it is selected. */
    int32_t pim_column;   /* cycle of its column command */
    int32_t pim_activate; /* cycle from whose end on `pim_opens` have its row; INT32_MAX: done or none */
    dram_banks pim_opens;
    uint32_t pim_row;

    struct dram_bank_queue bank[DRAM_BANKS];
    struct {
        uint32_t rows[DRAM_QUEUES], ids[DRAM_QUEUES], seqs[DRAM_QUEUES];
        uint8_t flags[DRAM_QUEUES];
        uint32_t head; /* position modulo DRAM_QUEUES; waiting[DRAM_PIM] follow */
    } pim;
    struct { /* fcfs: both classes in one queue */
        uint32_t rows[2 * DRAM_QUEUES], ids[2 * DRAM_QUEUES];
        uint8_t flags[2 * DRAM_QUEUES], banks[2 * DRAM_QUEUES];
        uint32_t head;
    } fifo;

    struct dram_stats stats;
    struct dram_legal legal;
    struct dram_device device;
    struct dram_timestamps timestamps;
    struct dram_completion completions[DRAM_COMPLETIONS]; /* ring, filled by the stepping loop */
    uint32_t completion_head, completion_tail;            /* the reader moves head up to tail */

    /* --explain, --commands: called for each command before its effect, `explain` times at most. */
    int64_t explain;
    bool every; /* refreshes of an idle channel are given one by one too */
    void (*on_command)(void *ctx, const struct dram_channel *channel, int64_t cycle, const char *command,
                       dram_banks banks, uint32_t row, uint32_t id);
    void *on_command_ctx;
};

/* Make an idle channel at cycle 0 with all banks precharged and never opened. */
int dram_channel_init(struct dram_channel *channel, const struct dram_platform *platform, struct err *err);

/* Returns whether models/dram/loop_mem/loop_mem.c can run the platform: its wheel reaches every timing but those after
 * a refresh, and it has room for as many requests at each bank, and for as many banks. */
bool dram_loop_mem_fits(const struct dram_platform *platform);

/* Move `base` up to cycle `now`; called by the loops when offsets grow large. */
void dram_channel_rebase(struct dram_channel *channel, int64_t now);

/* Rare work of the loop: write the earliest cycles of banks activated together into the lanes. */
void dram_channel_settle(struct dram_channel *channel);

/* Rare work of the loop: squeeze dead positions out of a bank's queue. */
void dram_bank_queue_compact(struct dram_bank_queue *queue) PLUGIN_API(dram_bank_queue_compact);

/* Rare work of the loop: hand a command to on_command, of the `explain` first. */
void dram_channel_explain(struct dram_channel *channel, int32_t t, const char *command, dram_banks banks, uint32_t row,
                          uint32_t id);

/* fcfs at a MEM to PIM switch: of the first MEM request of each bank behind the head, those that would have hit. */
int dram_channel_fifo_conflicts(const struct dram_channel *channel);

/* After a run: requests in = requests out + waiting + in slots, bytes likewise, no illegal command. */
int dram_channel_check(const struct dram_channel *channel, bool finished, struct err *err);

/* Of a channel in which more than DRAM_QUEUE requests may wait: whether as many wait at one bank. */
bool dram_channel_bank_full(const struct dram_channel *channel);

/* Bank b's row opens at t: the earliest cycles of what may follow in it. */
static inline __attribute__((always_inline)) void dram_opened(struct dram_channel *ch, int b, int32_t t)
{
    ch->rd_ok[b] = t + ch->timing.rcd;
    ch->wr_ok[b] = t + ch->timing.rcdwr;
    ch->pre_ok[b] = t + ch->timing.ras;
    ch->act_ok[b] = t + ch->timing.rc;
}

/* Room for one more request of a class. A full bank keeps all MEM requests out, since one of it may be the next. */
static inline bool dram_channel_room(const struct dram_channel *ch, enum dram_class class)
{
    return ch->waiting[class] < ch->queue &&
           (ch->queue <= DRAM_QUEUE || class == DRAM_PIM || !dram_channel_bank_full(ch));
}

/* --- its device --- */

/* Before anything else of the visit of cycle `now`: refreshes that began before it. */
void dram_device_catch_up(struct dram_channel *channel, int64_t now);

/* The refresh's own command at t, if it can be given; whether it was. */
bool dram_device_refresh(struct dram_channel *channel, int32_t t);

/* Does the whole refresh for a PIM request selected at t. Returns the earliest cycle of the request's first command. */
int32_t dram_device_finish(struct dram_channel *channel, int32_t t);

/* A command of a PIM request or a refresh to all banks of a mask at once; to one bank: dram_device_gave_one(). */
void dram_device_gave(struct dram_channel *channel, enum dram_command command, dram_banks banks, uint32_t row,
                      int32_t t);

/* A command holds its pins. */
static inline void dram_device_hold_bus(struct dram_device *d, const struct dram_timing *tm, enum dram_command command,
                                        int32_t t)
{
    const bool column = command == DRAM_RD || command == DRAM_WR;
    const int32_t until = t + (column ? tm->column_bus : command == DRAM_ACT ? tm->act_bus : tm->pre_bus);
    if ((column || tm->single_bus) && until > d->column_bus_ok)
        d->column_bus_ok = until;
    if ((!column || tm->single_bus) && until > d->row_bus_ok)
        d->row_bus_ok = until;
}

/* The next cycle after t at which something that was not allowed is; at most `next`. */
int32_t dram_device_next(const struct dram_channel *channel, int32_t t, int32_t next);
