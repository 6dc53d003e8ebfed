/* Timing rules of a DRAM channel.
 *
 * Source: gupta-2025-f3fs table I, and what the table omits (tRC, tCDLR, the derived rows) from the configuration and
 * the command code of its artifact (GPGPU-Sim-4.0.1, branch ISPASS_2025, commit 1eea352: gpgpusim.config, dram.cc).
 * A constraint of N cycles armed at cycle t makes the next command legal at t + N.
 * Differs: no refresh, no tFAW, no long/short tRRD, no rank; as in the artifact. */
#include "models/dram/timing.h"

#include "models/dram/dram_platform.h"

size_t dram_rules(const struct dram_platform *p, struct dram_rule rules[DRAM_RULES_MAX])
{
    const int64_t burst = p->burst_cycles;
    const struct dram_rule all[] = {
        {DRAM_RD, DRAM_RD, DRAM_SAME_CHANNEL, p->ccd, "tCCD", "table I"},
        {DRAM_WR, DRAM_WR, DRAM_SAME_CHANNEL, p->ccd, "tCCD", "table I"},
        {DRAM_RD, DRAM_RD, DRAM_SAME_GROUP, p->ccdl, "tCCDL", "table I"},
        {DRAM_WR, DRAM_WR, DRAM_SAME_GROUP, p->ccdl, "tCCDL", "table I"},
        {DRAM_ACT, DRAM_ACT, DRAM_SAME_CHANNEL, p->rrd, "tRRD", "table I"},
        {DRAM_ACT, DRAM_RD, DRAM_SAME_BANK, p->rcd, "tRCD", "table I"},
        {DRAM_ACT, DRAM_WR, DRAM_SAME_BANK, p->rcd - (p->wl + 1), "tRCDWR", "derived: tRCD - (WL + 1)"},
        {DRAM_ACT, DRAM_PRE, DRAM_SAME_BANK, p->ras, "tRAS", "table I"},
        {DRAM_PRE, DRAM_ACT, DRAM_SAME_BANK, p->rp, "tRP", "table I"},
        {DRAM_ACT, DRAM_ACT, DRAM_SAME_BANK, p->rc, "tRC", "artifact's configuration"},
        {DRAM_RD, DRAM_WR, DRAM_SAME_CHANNEL, p->cl + burst + 2 - p->wl, "tRTW", "derived: CL + burst + 2 - WL"},
        {DRAM_WR, DRAM_RD, DRAM_SAME_CHANNEL, p->wl + burst + p->cdlr, "tWTR", "derived: WL + burst + tCDLR"},
        {DRAM_WR, DRAM_PRE, DRAM_SAME_BANK, p->wl + burst + p->wr, "tWTP", "derived: WL + burst + tWR"},
        {DRAM_RD, DRAM_PRE, DRAM_SAME_BANK, burst, "tRTP", "derived: burst"},
        {DRAM_RD, DRAM_PRE, DRAM_SAME_GROUP, p->rtpl, "tRTPL", "table I"},
    };
    const size_t n = sizeof all / sizeof *all;
    for (size_t i = 0; i < n; i++)
        rules[i] = all[i];
    return n;
}

static int32_t cycles(const struct dram_rule *rules, size_t n, enum dram_command before, enum dram_command after,
                      enum dram_scope scope)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].before == before && rules[i].after == after && rules[i].scope == scope)
            return (int32_t)rules[i].cycles;
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
    };
    return 0;
}
