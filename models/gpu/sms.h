/* sms: the multiprocessors of a GPU that run one program: blocks placed, warps issued in order, an L1 each, down to the
 * packets that leave for the interconnect and up from the replies.
 *
 * Time is core cycles. A warp issues its instructions in order and stops where it needs a value that is not there yet
 * (trace/program/program.h), for its turn at the scheduler, the memory port and a full input buffer. So how many
 * requests are in flight follows from occupancy, order and latency. A read that misses L1 is one packet for each 32 B
 * sector, a store likewise; a sector on its way merges. Behind the input buffers is the caller: it looks at the first
 * packet of each multiprocessor, takes it, and answers later.
 *
 *     next = sms_step(s, t);             everything that happens in cycle t; t never goes back, nor past sms_next()
 *     p = sms_head(s, sm); sms_pop(s, sm, t);
 *     sms_reply(s, sm, p->token, t);     the value of a read or atomic, or the acknowledgement of a store
 *
 * Within a cycle in this order. Source: GPGPU-Sim 4.0.1, branch ISPASS_2025 (shader.cc, gpu-cache.cc), read as data. */
#pragma once

#include "models/gpu/gpu.h"
#include "trace/program/program.h"

enum { SMS_SECTOR = 32 };

struct sms_packet {
    uint64_t addr;  /* of the sector: a multiple of 32 */
    uint32_t token; /* handed back with the reply */
    uint16_t load;  /* a read: warp of the multiprocessor x PROGRAM_ACCESSES + access of its body */
    uint8_t kind;   /* RECORD_READ, RECORD_WRITE, RECORD_ATOMIC, PROGRAM_PIM */
    bool whole : 1; /* a write that covers all 32 bytes */
    bool more : 1;  /* a read: the next packet asks for another sector of the line, for the same load */
};

struct sms_options {
    const struct gpu *gpu;         /* its numbers; must outlive */
    const struct program *program; /* must outlive */
    uint32_t sms;                  /* multiprocessors that it may use, 1 to gpu->sms */
    uint32_t input_room;           /* packets of a multiprocessor's input buffer */
    int64_t launch_cycles;         /* from a launch's start to its first block; also between launches */
    const double *kept_share; /* by launch, of a cut one: its blocks over those of the whole one; NULL: all are whole;
                                 must outlive */
    bool by_line; /* L1 looks up all of a load's sectors of a line at once, lines in ascending order, and fetches
                     them at once: their packets follow each other, with `more` set in all but the last */
    uint32_t join_cycles; /* a load merges with another warp's miss that is at most so old, else it fetches the sector
                             too; of the GPU's own memory (program_alloc.device), and 0: with any pending miss. Answers
                             of a sector come in the order of its packets */
};

struct sms;

/* NULL with *err set: no memory, or a launch of which not even one block fits. */
struct sms *sms_new(const struct sms_options *options, struct err *err);
void sms_free(struct sms *s); /* NULL is allowed */

/* Begin the program (again) in cycle t; all must be done. L1 is empty then. */
int sms_start(struct sms *s, int64_t t, struct err *err);

/* Do what happens in cycle t and say when something happens next if nobody pops or replies: > t, or INT64_MAX. */
int64_t sms_step(struct sms *s, int64_t t);

/* The oldest packet in multiprocessor sm's input buffer, or NULL; and take it. After a pop or a reply in cycle t the
 * next step may be due at t + 1, whatever the last one said. */
const struct sms_packet *sms_head(const struct sms *s, uint32_t sm);
void sms_pop(struct sms *s, uint32_t sm, int64_t t);
void sms_reply(struct sms *s, uint32_t sm, uint32_t token, int64_t t);

/* Prefetches from the host's memory what a reply that will come soon reads. */
void sms_prefetch_reply(const struct sms *s, uint32_t sm, uint32_t token);

/* When the next step is due, after the pops and replies so far; INT64_MAX: not before another. */
int64_t sms_next(const struct sms *s);

/* Where packets wait: bit sm % 64 of word sm / 64 is set where sms_head(s, sm) is one. Valid as long as s; what it
 * says changes with sms_step() and sms_pop(). */
const uint64_t *sms_heads(const struct sms *s);

/* Whether the program has ended: every warp done and every store acknowledged. An error of the program (a body that
 * cannot be made) ends it too; sms_failed() then returns -1 with *err set. */
bool sms_done(const struct sms *s);
int sms_failed(const struct sms *s, struct err *err);

/* Counts since sms_start(). */
struct sms_counts {
    uint64_t instructions;                /* memory instructions of warps with an active lane */
    uint64_t loads, load_sectors, hits;   /* load instructions, their sectors, those that L1 had */
    uint64_t merged;                      /* sectors that were on their way already */
    uint64_t packets_read, packets_write; /* sent; a PIM access is a write */
    uint64_t packets_atomic;
    uint64_t launches, blocks; /* ended */
    /* Core cycles that beginnings and ends of cut launches took beyond their share. The whole launch is 1 / f as long
     * and also begins and ends once. So a launch cut to a share f of its blocks counts f times its time plus 1 - f
     * times the middle's: blocks / places x mean time of a block, over blocks that are neither among the first nor the
     * last places (Little's law). That is no less than the time until the last block has begun, less the first end's
     * delay over the middle's. Without a middle it counts as it is. */
    double ends;
};
void sms_counts(const struct sms *s, struct sms_counts *counts);

/* Launches that have ended since sms_start(), and blocks of the one after them that have begun. */
uint64_t sms_reached(const struct sms *s, uint64_t *blocks);
