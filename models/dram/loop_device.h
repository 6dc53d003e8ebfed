/* loop_device: the loops' part of models/dram/device.h: which commands a device allows, and what a command to one bank
 * blocks. Commands to many banks go through dram_device_gave(). */
#ifndef MODELS_DRAM_LOOP_DEVICE_H
#define MODELS_DRAM_LOOP_DEVICE_H

#include "models/dram/loop_queue.h"

/* --- what may go --- */

/* Banks of groups whose time has not come. */
DRAM_INLINE dram_banks dram_device_blocked(const struct dram_channel *ch, const int32_t *ok, int32_t t)
{
    dram_banks banks = 0;
    for (int g = 0; g < ch->groups; g++)
        banks |= ok[g] > t ? ch->group_banks[g] : 0;
    return banks;
}

/* Of banks whose column command is otherwise legal at t (`reads`: those that want RD), those that may get it. */
DRAM_INLINE dram_banks dram_device_columns(const struct dram_channel *ch, int32_t t, dram_banks banks, dram_banks reads)
{
    const struct dram_device *d = &ch->device;
    if (d->column_bus_ok > t)
        return 0;
    banks &= ~d->held;
    if (d->ccdr_ok > t)
        banks &= ~reads | ch->stack_banks[d->stack];
    if (banks & reads && d->wtrl_last > t)
        banks &= ~(reads & dram_device_blocked(ch, d->wtrl_ok, t));
    return banks;
}

/* The same of row commands; `acts`: those that want ACT. */
DRAM_INLINE dram_banks dram_device_rows(const struct dram_channel *ch, int32_t t, dram_banks banks, dram_banks acts)
{
    const struct dram_device *d = &ch->device;
    if (d->row_bus_ok > t)
        return 0;
    banks &= ~d->held;
    if (d->ppd_ok > t)
        banks &= acts;
    if (banks & acts && d->rrdl_last > t)
        banks &= ~(acts & dram_device_blocked(ch, d->rrdl_ok, t));
    return banks;
}

/* --- what was given --- */

/* A command to bank b at t. Returns the cycle from which on tFAW allows an ACT: of ACT; else 0. */
DRAM_INLINE int32_t dram_device_gave_one(struct dram_channel *ch, enum dram_command command, int b, uint32_t row,
                                         int32_t t)
{
    struct dram_device *d = &ch->device;
    const struct dram_timing *tm = &ch->timing;
    const int g = ch->group_of[b];
    command_checker_one(&d->watch, command, b, g, row, ch->base + t);
    dram_device_hold_bus(d, tm, command, t);
    switch (command) {
    case DRAM_ACT:
        d->act[d->acts++ & 3] = t;
        d->rrdl_ok[g] = d->rrdl_last = t + tm->rrdl;
        d->refresh_ok = dram_later(d->refresh_ok, t + tm->rrd);
        return tm->faw ? d->act[d->acts & 3] + tm->faw : 0;
    case DRAM_PRE:
        d->ppd_ok = t + tm->ppd;
        d->precharged_ok = t + tm->rp_refresh;
        return 0;
    case DRAM_RD:
        if (tm->ccdr) {
            d->stack = ch->stack_of[b];
            d->ccdr_ok = t + tm->ccdr;
        }
        return 0;
    case DRAM_WR:
        d->wtrl_ok[g] = d->wtrl_last = t + tm->wtrl;
        return 0;
    default:
        return 0;
    }
}

#endif
