/* watch: a checker of command traces that knows nothing of a controller: the rows of models/dram/timing.h, when each
 * command was given, and which row is open in each bank.
 *
 * A command goes to the banks of a mask: one bank, or all that a PIM request or a refresh works on, which count once in
 * a channel's rules. It is illegal if a row that ends in it is not yet over, or if a bank's state does not fit: ACT and
 * refresh find it closed, PRE finds it open, RD and WR find their row. The first illegal one is kept.
 *
 * Call order: dram_watch_init(), then dram_watch_command() in the order of time. Holds no resources. */
#ifndef MODELS_DRAM_WATCH_H
#define MODELS_DRAM_WATCH_H

#include "models/dram/timing.h"

enum { DRAM_WATCH_BANKS = 16 };

struct dram_watch {
    struct dram_rule rule[DRAM_RULES_MAX]; /* by `after` */
    uint8_t first[DRAM_COMMANDS + 1];      /* position of a command's first row */
    int banks, groups;
    /* When each command was given last; fourth[] of the last four ACT, by their number modulo four. */
    int64_t bank[DRAM_COMMANDS][DRAM_WATCH_BANKS], group[DRAM_COMMANDS][DRAM_WATCH_BANKS], channel[DRAM_COMMANDS];
    int64_t fourth[4];
    uint32_t row[DRAM_WATCH_BANKS]; /* open; UINT32_MAX: closed */
    int64_t count[DRAM_COMMANDS];
    /* The first illegal command; bad NULL: none. */
    const char *bad; /* "tRCD", or what the bank's state should have been */
    int64_t bad_cycle;
    enum dram_command bad_command;
    int bad_bank;
};

void dram_watch_init(struct dram_watch *watch, const struct dram_platform *platform);

/* The row that forbids the command at cycle t, NULL if none does. States of banks are not looked at. */
const struct dram_rule *dram_watch_forbids(const struct dram_watch *watch, enum dram_command command, unsigned banks,
                                           int64_t t);

/* Check a command at cycle t and take note of it. `row` is looked at for ACT, RD and WR. */
void dram_watch_command(struct dram_watch *watch, enum dram_command command, unsigned banks, uint32_t row, int64_t t);

/* -1 with *err set if an illegal command was seen. */
int dram_watch_check(const struct dram_watch *watch, struct err *err);

#endif
