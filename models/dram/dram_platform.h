/* dram_platform: numbers of one memory channel and of what stands before it; section [dram] of a platform file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Row and column commands on pins of their own, one of each a cycle; or one command a cycle. */
enum dram_command_bus { DRAM_BUS_DUAL, DRAM_BUS_SINGLE };

/* One command for all banks every refi cycles, or one for each bank in turn, banks of them in refi cycles. */
enum dram_refresh { DRAM_REFRESH_NONE, DRAM_REFRESH_ALL, DRAM_REFRESH_BANK };

struct dram_platform {
    int64_t channels;      /* independent channels of the device */
    int64_t banks;         /* per channel, of all stack identifiers: 8, 16, 32 or 48; PIM requests need 16 */
    int64_t bank_groups;   /* of one stack identifier; group of a bank = bank mod bank_groups */
    int64_t sids;          /* stack identifiers, which act as ranks: banks / sids after one another are of one */
    int64_t rows, columns; /* per bank; columns of atom_bytes */
    int64_t atom_bytes;    /* moved by one column command */
    const char *map;       /* byte address to channel, bank, row, column: trace/event/dram_map.h */
    int64_t clock_hz;      /* DRAM command clock */
    int64_t ccd, ccdl, rrd, rcd, ras, rp, rc, cl, wl, cdlr, wr, rtpl; /* DRAM cycles, models/dram/timing.h */
    int64_t burst_cycles; /* DRAM cycles the data bus is busy for one column command */
    /* What the paper's controller has not; 0: no such rule, or the number is derived (models/dram/timing.c). */
    int64_t rcdwr, rrdl, faw, wtrl, rtw, rtp, ppd, rpab, ccdr; /* DRAM cycles */
    int64_t command_bus;                                       /* enum dram_command_bus */
    int64_t act_bus, pre_bus, column_bus; /* DRAM cycles that a command holds its bus; 0: not watched */
    int64_t refresh;                      /* enum dram_refresh */
    int64_t refi, rfc, rfcb, rrefd;       /* DRAM cycles */
    double act_pj;                        /* of one ACT with its PRE; 0 of these four: no figure is public */
    double bit_pj;                        /* of a bit moved by a column command */
    double refresh_nj;                    /* of one refresh command */
    double background_mw;                 /* of one channel, whatever it does */
    int64_t queue;                        /* waiting MEM requests, and as many PIM requests; at most 64 */
    int64_t return_queue;                 /* finished requests on the way back; with 2 * queue it gives the credits */
    int64_t l2_queue;       /* requests between L2 and DRAM, per sub-partition; halved by a second virtual channel */
    int64_t noc_queue;      /* interconnect output buffer per sub-partition, packets; halved likewise */
    int64_t noc_l2_queue;   /* interconnect to L2, per sub-partition; halved likewise */
    int64_t dram_l2_queue;  /* finished requests between DRAM and L2, per sub-partition */
    int64_t l2_noc_queue;   /* replies between L2 and the interconnect, per sub-partition */
    int64_t l2_set_hash;    /* enum l2_hash (models/gpu/l2.h), in each sub-partition's slice of L2 */
    int64_t l2_misses;      /* sectors on their way to a slice at once */
    int64_t l2_merges;      /* reads that wait for one of them */
    int64_t channel_hash;   /* 1: the channel's bits XOR the lowest bits of the row; not of PIM requests */
    int64_t rop_latency;    /* core cycles, MEM only */
    int64_t dram_latency;   /* core cycles in the queue before the controller */
    int64_t pim_period;     /* of streams: DRAM cycles per PIM request that an SM's port lets through to a channel */
    int64_t launch_latency; /* core cycles between two launches of a kernel */
    int64_t pim_sms;        /* multiprocessors that issue PIM requests */
    double mem_share;       /* of all multiprocessors, that the GPU program takes at most */
};

/* Energy of a run, from published figures of the device, always between two bounds.
 *
 *     E = activates act_pj + bits bit_pj + refreshes refresh_nj + channels time background_mw
 *
 * with the figures of [dram]; bits = columns x atom_bytes x 8; refreshes = channels x time / refi, 0 where the platform
 * models no refresh. The bounds take the low and the high end of each figure's range. A device that lacks one of the
 * four figures has no energy.
 *
 * Source: DRAMsim3 and DRAMPower sum currents by command in the same way; the figures are in the platforms. */

struct platform;

struct dram_energy_counts {
    int64_t activates, columns; /* of all channels */
    int64_t cycles;             /* of the DRAM clock: how long the device was on */
};

/* Joules. False: there are no figures. */
bool dram_energy(const struct platform *platform, const struct dram_energy_counts *counts, double *low, double *high);
