/* Timing rules of a DRAM channel.
 *
 * Source of the first fifteen: gupta-2025-f3fs table I, and what the table omits (tRC, tCDLR, the derived rows) from
 * the configuration and the command code of its artifact (GPGPU-Sim-4.0.1, branch ISPASS_2025, commit 1eea352:
 * gpgpusim.config, dram.cc). A constraint of N cycles armed at cycle t makes the next command legal at t + N.
 * The others are there where a platform states their numbers: the constraints that Ramulator 2 (commit c5b1c3a,
 * python/ramulator/dram: hbm2, hbm3, gddr6, lpddr5, which name the JEDEC tables) has for these families.
 * Differs: no auto-precharge, no window of 32 activations; the command pins that two pseudo-channels share are not
 * watched between them; a bank refresh does not count in the window of four. */
#include "models/dram/timing.h"

#include "models/dram/dram_platform.h"

int dram_stack_of(const struct dram_platform *p, int bank)
{
    return bank / (int)(p->banks / p->sids);
}

int dram_group_of(const struct dram_platform *p, int bank)
{
    const int stack = dram_stack_of(p, bank), of_stack = (int)(p->banks / p->sids);
    return stack * (int)p->bank_groups + bank % of_stack % (int)p->bank_groups;
}

const char *dram_command_name(enum dram_command command)
{
    static const char *const names[DRAM_COMMANDS] = {"ACT", "PRE", "RD", "WR", "REF", "REFB"};
    return names[command];
}

/* --- rows --- */

struct rows {
    struct dram_rule *rule;
    size_t n;
};

static void add(struct rows *r, enum dram_command before, enum dram_command after, enum dram_scope scope,
                int64_t cycles, const char *name, const char *source)
{
    r->rule[r->n++] = (struct dram_rule){before, after, scope, cycles, name, source, 0};
}

static int64_t stated(int64_t cycles, int64_t derived)
{
    return cycles ? cycles : derived;
}

/* What every platform has. */
static void basic(struct rows *r, const struct dram_platform *p)
{
    const int64_t burst = p->burst_cycles, ccd = p->ccd > burst ? p->ccd : burst;
    const char *const s = "[dram]";
    add(r, DRAM_RD, DRAM_RD, DRAM_SAME_CHANNEL, ccd, "tCCD", s);
    add(r, DRAM_WR, DRAM_WR, DRAM_SAME_CHANNEL, ccd, "tCCD", s);
    add(r, DRAM_RD, DRAM_RD, DRAM_SAME_GROUP, p->ccdl, "tCCDL", s);
    add(r, DRAM_WR, DRAM_WR, DRAM_SAME_GROUP, p->ccdl, "tCCDL", s);
    add(r, DRAM_ACT, DRAM_ACT, DRAM_SAME_CHANNEL, p->rrd, "tRRD", s);
    add(r, DRAM_ACT, DRAM_RD, DRAM_SAME_BANK, p->rcd, "tRCD", s);
    add(r, DRAM_ACT, DRAM_WR, DRAM_SAME_BANK, stated(p->rcdwr, p->rcd - (p->wl + 1)), "tRCDWR",
        "stated, or tRCD - (WL + 1)");
    add(r, DRAM_ACT, DRAM_PRE, DRAM_SAME_BANK, p->ras, "tRAS", s);
    add(r, DRAM_PRE, DRAM_ACT, DRAM_SAME_BANK, p->rp, "tRP", s);
    add(r, DRAM_ACT, DRAM_ACT, DRAM_SAME_BANK, p->rc, "tRC", s);
    add(r, DRAM_RD, DRAM_WR, DRAM_SAME_CHANNEL, stated(p->rtw, p->cl + burst + 2 - p->wl), "tRTW",
        "stated, or CL + burst + 2 - WL");
    add(r, DRAM_WR, DRAM_RD, DRAM_SAME_CHANNEL, p->wl + burst + p->cdlr, "tWTR", "derived: WL + burst + tCDLR");
    add(r, DRAM_WR, DRAM_PRE, DRAM_SAME_BANK, p->wl + burst + p->wr, "tWTP", "derived: WL + burst + tWR");
    add(r, DRAM_RD, DRAM_PRE, DRAM_SAME_BANK, stated(p->rtp, burst), "tRTP", "stated, or burst");
    if (p->rtpl)
        add(r, DRAM_RD, DRAM_PRE, DRAM_SAME_GROUP, p->rtpl, "tRTPL", s);
}

/* The controller counts tCCDL between any two columns of a group: rows only where the turnaround is shorter. */
static void turnarounds(struct rows *r, const struct dram_platform *p)
{
    if (stated(p->rtw, p->cl + p->burst_cycles + 2 - p->wl) < p->ccdl)
        add(r, DRAM_RD, DRAM_WR, DRAM_SAME_GROUP, p->ccdl, "tCCDL", "[dram]");
    if (p->wl + p->burst_cycles + p->cdlr < p->ccdl)
        add(r, DRAM_WR, DRAM_RD, DRAM_SAME_GROUP, p->ccdl, "tCCDL", "[dram]");
}

/* Long pairs, the window of four, PRE after PRE. */
static void pairs(struct rows *r, const struct dram_platform *p)
{
    if (p->rrdl)
        add(r, DRAM_ACT, DRAM_ACT, DRAM_SAME_GROUP, p->rrdl, "tRRDL", "[dram]");
    if (p->wtrl)
        add(r, DRAM_WR, DRAM_RD, DRAM_SAME_GROUP, p->wl + p->burst_cycles + p->wtrl, "tWTRL",
            "derived: WL + burst + wtrl");
    if (p->ccdr && p->sids > 1)
        add(r, DRAM_RD, DRAM_RD, DRAM_OTHER_STACK, p->ccdr, "tCCDR", "[dram]");
    if (p->ppd)
        add(r, DRAM_PRE, DRAM_PRE, DRAM_SAME_CHANNEL, p->ppd, "tPPD", "[dram]");
    if (p->faw) {
        add(r, DRAM_ACT, DRAM_ACT, DRAM_SAME_CHANNEL, p->faw, "tFAW", "[dram]");
        r->rule[r->n - 1].fourth = 1;
    }
}

/* A command holds the pins that it shares with `after`. */
static void bus(struct rows *r, enum dram_command before, int64_t cycles, bool single)
{
    const bool column = before == DRAM_RD || before == DRAM_WR;
    for (int after = 0; after < DRAM_COMMANDS && cycles; after++)
        if (single || column == (after == DRAM_RD || after == DRAM_WR))
            add(r, before, (enum dram_command)after, DRAM_SAME_CHANNEL, cycles, "command bus", "[dram]");
}

static void buses(struct rows *r, const struct dram_platform *p)
{
    const bool single = p->command_bus == DRAM_BUS_SINGLE;
    bus(r, DRAM_ACT, p->act_bus, single);
    bus(r, DRAM_PRE, p->pre_bus, single);
    bus(r, DRAM_RD, p->column_bus, single);
    bus(r, DRAM_WR, p->column_bus, single);
    if (p->refresh == DRAM_REFRESH_BANK)
        bus(r, DRAM_REFB, p->pre_bus, single);
}

static void refresh(struct rows *r, const struct dram_platform *p)
{
    if (p->refresh == DRAM_REFRESH_ALL) {
        add(r, DRAM_PRE, DRAM_REF, DRAM_SAME_CHANNEL, stated(p->rpab, p->rp), "tRPab", "stated, or tRP");
        add(r, DRAM_ACT, DRAM_REF, DRAM_SAME_CHANNEL, p->rc, "tRC", "[dram]");
        add(r, DRAM_REF, DRAM_ACT, DRAM_SAME_CHANNEL, p->rfc, "tRFCab", "[dram]");
        add(r, DRAM_REF, DRAM_PRE, DRAM_SAME_CHANNEL, p->rfc, "tRFCab", "[dram]");
        add(r, DRAM_REF, DRAM_REF, DRAM_SAME_CHANNEL, p->rfc, "tRFCab", "[dram]");
    }
    if (p->refresh == DRAM_REFRESH_BANK) {
        add(r, DRAM_PRE, DRAM_REFB, DRAM_SAME_BANK, p->rp, "tRP", "[dram]");
        add(r, DRAM_ACT, DRAM_REFB, DRAM_SAME_BANK, p->rc, "tRC", "[dram]");
        add(r, DRAM_ACT, DRAM_REFB, DRAM_SAME_CHANNEL, p->rrd, "tRRD", "[dram]");
        if (p->rrdl)
            add(r, DRAM_ACT, DRAM_REFB, DRAM_SAME_GROUP, p->rrdl, "tRRDL", "[dram]");
        add(r, DRAM_REFB, DRAM_ACT, DRAM_SAME_BANK, p->rfcb, "tRFCpb", "[dram]");
        add(r, DRAM_REFB, DRAM_REFB, DRAM_SAME_BANK, p->rfcb, "tRFCpb", "[dram]");
        add(r, DRAM_REFB, DRAM_ACT, DRAM_SAME_CHANNEL, p->rrefd, "tRREFD", "[dram]");
        add(r, DRAM_REFB, DRAM_REFB, DRAM_SAME_CHANNEL, p->rrefd, "tRREFD", "[dram]");
    }
}

size_t dram_rules(const struct dram_platform *p, struct dram_rule rules[DRAM_RULES_MAX])
{
    struct rows r = {rules, 0};
    basic(&r, p);
    turnarounds(&r, p);
    pairs(&r, p);
    buses(&r, p);
    refresh(&r, p);
    return r.n;
}

/* --- by name --- */

static int32_t cycles(const struct dram_rule *rules, size_t n, enum dram_command before, enum dram_command after,
                      enum dram_scope scope)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].before == before && rules[i].after == after && rules[i].scope == scope)
            return (int32_t)rules[i].cycles;
    return 0;
}

/* A refresh must be over well before the next falls due: the controller has one at a time. */
static int refresh_init(struct dram_timing *t, const struct dram_platform *p, struct err *err)
{
    const bool all = p->refresh == DRAM_REFRESH_ALL;
    if (p->refresh == DRAM_REFRESH_NONE)
        return 0;
    t->refresh_all = all;
    t->interval = (int32_t)(all ? p->refi : p->refi / p->banks);
    t->rfc = (int32_t)(all ? p->rfc : p->rfcb);
    t->rrefd = (int32_t)p->rrefd;
    t->rp_refresh = (int32_t)(all ? stated(p->rpab, p->rp) : p->rp);
    const int64_t least = p->ras + t->wtp + t->rp_refresh + (all ? t->rfc : t->rrefd) + t->rcd;
    if (t->interval <= least)
        return err_set(
            err, "[dram] a refresh every %d cycles (refi %lld) leaves no time between two; expected more than %lld",
            t->interval, (long long)p->refi, (long long)least);
    return 0;
}

int dram_timing_init(struct dram_timing *t, const struct dram_platform *p, struct err *err)
{
    struct dram_rule rules[DRAM_RULES_MAX];
    const size_t n = dram_rules(p, rules);
    for (size_t i = 0; i < n; i++)
        if (rules[i].cycles < 1)
            return err_set(err, "[dram] %s is %lld cycles (%s); expected at least 1", rules[i].name,
                           (long long)rules[i].cycles, rules[i].source);
    *t = (struct dram_timing){
        .ccd = cycles(rules, n, DRAM_RD, DRAM_RD, DRAM_SAME_CHANNEL),
        .ccdl = cycles(rules, n, DRAM_RD, DRAM_RD, DRAM_SAME_GROUP),
        .rrd = cycles(rules, n, DRAM_ACT, DRAM_ACT, DRAM_SAME_CHANNEL),
        .rcd = cycles(rules, n, DRAM_ACT, DRAM_RD, DRAM_SAME_BANK),
        .rcdwr = cycles(rules, n, DRAM_ACT, DRAM_WR, DRAM_SAME_BANK),
        .ras = cycles(rules, n, DRAM_ACT, DRAM_PRE, DRAM_SAME_BANK),
        .rp = cycles(rules, n, DRAM_PRE, DRAM_ACT, DRAM_SAME_BANK),
        .rc = cycles(rules, n, DRAM_ACT, DRAM_ACT, DRAM_SAME_BANK),
        .rtw = cycles(rules, n, DRAM_RD, DRAM_WR, DRAM_SAME_CHANNEL),
        .wtr = cycles(rules, n, DRAM_WR, DRAM_RD, DRAM_SAME_CHANNEL),
        .rtp = cycles(rules, n, DRAM_RD, DRAM_PRE, DRAM_SAME_BANK),
        .rtpl = cycles(rules, n, DRAM_RD, DRAM_PRE, DRAM_SAME_GROUP),
        .wtp = cycles(rules, n, DRAM_WR, DRAM_PRE, DRAM_SAME_BANK),
        .cl = (int32_t)p->cl,
        .wl = (int32_t)p->wl,
        .rrdl = (int32_t)p->rrdl,
        .faw = (int32_t)p->faw,
        .wtrl = (int32_t)(p->wtrl ? p->wl + p->burst_cycles + p->wtrl : 0),
        .ppd = (int32_t)p->ppd,
        .ccdr = (int32_t)(p->sids > 1 ? p->ccdr : 0),
        .act_bus = (int32_t)p->act_bus,
        .pre_bus = (int32_t)p->pre_bus,
        .column_bus = (int32_t)p->column_bus,
        .single_bus = p->command_bus == DRAM_BUS_SINGLE,
    };
    if (p->banks != 8 && p->banks != 16 && p->banks != 32 && p->banks != 48)
        return err_set(err, "[dram] banks is %lld; expected 8, 16, 32 or 48", (long long)p->banks);
    if (p->banks % (p->sids * p->bank_groups))
        return err_set(err, "[dram] banks is %lld; expected a multiple of sids x bank_groups, %lld x %lld",
                       (long long)p->banks, (long long)p->sids, (long long)p->bank_groups);
    return refresh_init(t, p, err);
}
