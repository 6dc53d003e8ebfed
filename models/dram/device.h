/* device: what a channel's device has beyond the paper's controller: long pairs, the window of four activations, PRE
 * after PRE, reads of two stack identifiers, command pins that a command holds, and refresh. Off where a platform
 * states none of it.
 *
 * The loop asks it which of its candidates may go (models/dram/loop_device.h), tells it of each command, and visits no
 * later than dram_device_next(). Cycles are offsets of the channel, as in models/dram/channel.h.
 *
 * Refresh. It falls due every `interval` cycles and is not put off: from the first cycle on in which it is due and no
 * PIM request is in the slots it holds its banks (all of them, or one after another). Held banks get no command of a
 * request; those that are open are closed together, then refreshed, in the first cycles that the rules allow, before
 * any other row command of that cycle. A PIM request selected meanwhile gives its first command after the refresh. The
 * row registers and row streaks of the policies stay as they are, as at any PRE. What falls due while nothing happens
 * is made up for at the next visit, with the cycles it would have had. */
#ifndef MODELS_DRAM_DEVICE_H
#define MODELS_DRAM_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dram/command_checker.h"

struct dram_channel;

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

void dram_device_init(struct dram_device *device, const struct dram_platform *platform,
                      const struct dram_timing *timing);

/* With dram_channel_rebase(). */
void dram_device_rebase(struct dram_device *device, int64_t by);

/* Before anything else of the visit of cycle `now`: refreshes that began before it. */
void dram_device_catch_up(struct dram_channel *channel, int64_t now);

/* The refresh's own command at t, if it can be given; whether it was. */
bool dram_device_refresh(struct dram_channel *channel, int32_t t);

/* A PIM request is selected at t while banks are held: the whole refresh. Returns the cycle of the request's first
 * command, at the earliest. */
int32_t dram_device_finish(struct dram_channel *channel, int32_t t);

/* A command to all banks of a mask at once, of a PIM request or a refresh; to one bank: models/dram/loop_device.h. */
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

/* MEM requests' commands were given that only models/dram/legal.h was told of: without `rules` it knows all of those
 * that end in them. Take over what it noted. */
void dram_device_follow(struct dram_channel *channel);

/* The next cycle after t at which something that was not allowed is; at most `next`. */
int32_t dram_device_next(const struct dram_channel *channel, int32_t t, int32_t next);

#endif
