/* timing: the minimum distances between two DRAM commands, as rows of data.
 *
 * A row says: after command `before` at cycle t, command `after` within `scope` is legal from t + cycles on. The
 * numbers come from the [dram] section of a platform (models/dram/dram_platform.h); derived rows are computed here
 * once. All values are cycles of the DRAM command clock, from the first cycle of a command to the first of the next. A
 * PIM column command writes to every bank at once, so it obeys and arms the rows of DRAM_WR for all banks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

struct dram_platform;

/* Banks of a channel and stack identifiers (or ranks) among them, at most. */
enum { DRAM_BANKS = 48, DRAM_STACKS = 3 };

/* A set of banks: bit b is bank b. */
typedef uint64_t dram_banks;
#define DRAM_BANK(B) (UINT64_C(1) << (B))

/* The first n banks. */
static inline dram_banks dram_first_banks(int n)
{
    return DRAM_BANK(n) - 1;
}

/* Where a bank is: a stack identifier has as many banks as the others, one after another; in it the group of a bank is
 * bank mod groups. Groups are counted over all stack identifiers. */
int dram_stack_of(const struct dram_platform *platform, int bank);
int dram_group_of(const struct dram_platform *platform, int bank);

/* The last two: refresh of all banks, and of one. */
enum dram_command { DRAM_ACT, DRAM_PRE, DRAM_RD, DRAM_WR, DRAM_REF, DRAM_REFB, DRAM_COMMANDS };
/* The last: a bank of another stack identifier. */
enum dram_scope { DRAM_SAME_BANK, DRAM_SAME_GROUP, DRAM_SAME_CHANNEL, DRAM_OTHER_STACK };

struct dram_rule {
    enum dram_command before, after;
    enum dram_scope scope;
    int64_t cycles;
    const char *name;   /* "tRCD" */
    const char *source; /* how the number comes about */
    int fourth;         /* 1: after the fourth last `before`, not the last */
};

enum { DRAM_RULES_MAX = 64 };

/* "ACT", "PRE", "RD", "WR", "REF", "REFB" */
const char *dram_command_name(enum dram_command command);

/* The same numbers by name, as the channel uses them. */
struct dram_timing {
    int32_t ccd;   /* column -> column, any bank */
    int32_t ccdl;  /* column -> column, same bank group */
    int32_t rrd;   /* ACT -> ACT, any bank */
    int32_t rcd;   /* ACT -> read */
    int32_t rcdwr; /* ACT -> write */
    int32_t ras;   /* ACT -> PRE */
    int32_t rp;    /* PRE -> ACT */
    int32_t rc;    /* ACT -> ACT, same bank */
    int32_t rtw;   /* read -> write, any bank */
    int32_t wtr;   /* write -> read, any bank */
    int32_t rtp;   /* read -> PRE, same bank */
    int32_t rtpl;  /* read -> PRE, same bank group */
    int32_t wtp;   /* write -> PRE, same bank */
    int32_t cl;    /* read -> last data */
    int32_t wl;    /* write -> last data */
    /* 0: no such rule */
    int32_t rrdl;                         /* ACT -> ACT, same bank group */
    int32_t faw;                          /* fourth last ACT -> ACT */
    int32_t wtrl;                         /* write -> read, same bank group */
    int32_t ppd;                          /* PRE -> PRE */
    int32_t ccdr;                         /* read -> read, other stack identifier */
    int32_t act_bus, pre_bus, column_bus; /* a command -> the next on its bus */
    bool single_bus;                      /* that bus is of all commands */
    /* Refresh; interval 0: none. */
    int32_t interval;   /* between two refreshes that fall due */
    int32_t rfc;        /* REF -> ACT of what it refreshed */
    int32_t rrefd;      /* REFB -> ACT, REFB of another bank */
    int32_t rp_refresh; /* PRE -> refresh */
    bool refresh_all;
};

static inline int32_t dram_later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Every rule of a platform; returns their number (at most DRAM_RULES_MAX). */
size_t dram_rules(const struct dram_platform *platform, struct dram_rule rules[DRAM_RULES_MAX]);

/* The rules by name. -1 with *err set if they contradict what the channel relies on: reads and writes must finish in
 * the order of their columns, and a PRE must come later than an ACT. */
int dram_timing_init(struct dram_timing *timing, const struct dram_platform *platform, struct err *err);
