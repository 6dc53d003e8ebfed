#include "models/dram/dram_platform.h"
#include "models/base/platform.h"
#include "models/base/sections.h"
#include "trace/base/param.h"

/* Defaults: the platform of gupta-2025-f3fs (table I and the configuration of its artifact),
 * models/platforms/gv100.ini, where each number has its source. */
#define CYCLES(F, value, help) PARAM_INT_ROW(dram_platform, F, "cycles", 0, 1024, value, help)

const struct param dram_params[] = {
    PARAM_INT_ROW(dram_platform, channels, "", 1, 1024, 32, "independent channels"),
    PARAM_INT_ROW(dram_platform, banks, "", 8, 48, 16, "banks per channel: 8, 16, 32 or 48"),
    PARAM_INT_ROW(dram_platform, bank_groups, "", 1, 16, 4, "bank groups; the group of a bank is bank mod groups"),
    PARAM_INT_ROW(dram_platform, sids, "", 1, 3, 1, "stack identifiers (or ranks), each with as many of the banks"),
    PARAM_INT_ROW(dram_platform, rows, "", 1, 16777216, 8192, "rows per bank"),
    PARAM_INT_ROW(dram_platform, columns, "", 1, 65536, 64, "columns per row, of atom_bytes each"),
    PARAM_BYTES_ROW(dram_platform, atom_bytes, 1, 1024, 32, "bytes moved by one column command"),
    PARAM_TEXT_ROW(dram_platform, map, "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5",
                   "address bits from the top: fields row, bank, col, ch, byte"),
    PARAM_INT_ROW(dram_platform, clock_hz, "Hz", 1e6, 1e11, 850e6, "DRAM command clock"),
    CYCLES(ccd, 1, "column to column, any bank"),
    CYCLES(ccdl, 2, "column to column, same bank group"),
    CYCLES(rrd, 3, "ACT to ACT, any bank"),
    CYCLES(rcd, 12, "ACT to read"),
    CYCLES(ras, 28, "ACT to PRE"),
    CYCLES(rp, 12, "PRE to ACT"),
    CYCLES(rc, 40, "ACT to ACT, same bank"),
    CYCLES(cl, 12, "read to last data"),
    CYCLES(wl, 2, "write to last data"),
    CYCLES(cdlr, 3, "last data of a write to a read"),
    CYCLES(wr, 10, "last data of a write to PRE"),
    CYCLES(rtpl, 3, "read to PRE, same bank group"),
    CYCLES(burst_cycles, 1, "data bus cycles of one column command"),
    CYCLES(rcdwr, 0, "ACT to write; 0: rcd - (wl + 1)"),
    CYCLES(rrdl, 0, "ACT to ACT, same bank group; 0: rrd"),
    CYCLES(faw, 0, "window in which at most four ACT are given; 0: none"),
    CYCLES(wtrl, 0, "last data of a write to a read, same bank group; 0: cdlr"),
    CYCLES(rtw, 0, "read to write; 0: cl + burst_cycles + 2 - wl"),
    CYCLES(rtp, 0, "read to PRE, same bank; 0: burst_cycles"),
    CYCLES(ppd, 0, "PRE to PRE, any bank; 0: no rule"),
    CYCLES(ccdr, 0, "read to read, other stack identifier; 0: ccd"),
    CYCLES(rpab, 0, "PRE of all banks to a refresh of all; 0: rp"),
    PARAM_CHOICE_ROW(dram_platform, command_bus, "dual|single", DRAM_BUS_DUAL,
                     "row and column commands on own pins, or not"),
    CYCLES(act_bus, 0, "an ACT holds its command bus; 0: not watched"),
    CYCLES(pre_bus, 0, "a PRE or refresh holds its command bus; 0: not watched"),
    CYCLES(column_bus, 0, "a read or write holds its command bus; 0: not watched"),
    PARAM_CHOICE_ROW(dram_platform, refresh, "none|all|bank", DRAM_REFRESH_NONE,
                     "refresh not modelled, of all banks, bank by bank"),
    PARAM_INT_ROW(dram_platform, refi, "cycles", 0, 65536, 0, "each bank is refreshed once in this time"),
    PARAM_INT_ROW(dram_platform, rfc, "cycles", 0, 4096, 0, "refresh of all banks to ACT"),
    PARAM_INT_ROW(dram_platform, rfcb, "cycles", 0, 4096, 0, "refresh of a bank to ACT of that bank"),
    CYCLES(rrefd, 0, "refresh of a bank to ACT or refresh of another"),
    PARAM_REAL_ROW(dram_platform, act_pj, "pJ", 0, 1e6, 0, "energy of an ACT with its PRE; 0: no figure is public"),
    PARAM_REAL_ROW(dram_platform, bit_pj, "pJ", 0, 1e3, 0, "energy of a bit read or written; 0: no figure is public"),
    PARAM_REAL_ROW(dram_platform, refresh_nj, "nJ", 0, 1e6, 0, "energy of a refresh command; 0: no figure is public"),
    PARAM_REAL_ROW(dram_platform, background_mw, "mW", 0, 1e6, 0, "power of a channel at rest; 0: no figure is public"),
    PARAM_INT_ROW(dram_platform, queue, "", 1, 256, 64,
                  "waiting MEM requests, and as many PIM requests; while 64 wait at one bank no MEM request enters"),
    PARAM_INT_ROW(dram_platform, return_queue, "", 2, 4096, 192, "finished requests waiting for their reply"),
    PARAM_INT_ROW(dram_platform, l2_queue, "", 2, 4096, 64, "L2 to DRAM queue per sub-partition"),
    PARAM_INT_ROW(dram_platform, noc_queue, "packets", 2, 65536, 512, "interconnect output buffer per sub-partition"),
    PARAM_INT_ROW(dram_platform, noc_l2_queue, "packets", 8, 4096, 64, "interconnect to L2 queue per sub-partition"),
    PARAM_INT_ROW(dram_platform, dram_l2_queue, "", 1, 4096, 64, "DRAM to L2 queue per sub-partition"),
    PARAM_INT_ROW(dram_platform, l2_noc_queue, "packets", 4, 4096, 64, "L2 to interconnect queue per sub-partition"),
    PARAM_CHOICE_ROW(dram_platform, l2_set_hash, "none|ipoly", 1, "how a line finds its set in a slice of L2"),
    PARAM_INT_ROW(dram_platform, l2_misses, "sectors", 1, 255, 192, "sectors on their way to a slice of L2"),
    PARAM_INT_ROW(dram_platform, l2_merges, "", 1, 8, 4, "reads that wait for one of them"),
    PARAM_CHOICE_ROW(dram_platform, channel_hash, "none|xor", 0, "MEM channel by its bits, or XOR bits of the row"),
    PARAM_INT_ROW(dram_platform, rop_latency, "core cycles", 0, 100000, 160, "latency before L2, MEM only"),
    PARAM_INT_ROW(dram_platform, dram_latency, "core cycles", 0, 100000, 100, "latency between L2 and controller"),
    PARAM_INT_ROW(dram_platform, pim_period, "cycles", 1, 10000, 3, "streams: cycles per PIM request of a channel"),
    PARAM_INT_ROW(dram_platform, launch_latency, "core cycles", 0, 1e9, 5000, "between two launches of a kernel"),
    PARAM_INT_ROW(dram_platform, pim_sms, "", 0, 1024, 8, "multiprocessors that issue PIM requests"),
    PARAM_REAL_ROW(dram_platform, mem_share, "", 0.001, 1, 1,
                   "of the multiprocessors, that the GPU program takes at most"),
    {0}};

/* An end of a figure's range. */
static double figure(const struct platform *platform, const char *key, bool high)
{
    const struct platform_number *n = platform_number(platform, "dram", key);
    return high ? n->high : n->low;
}

static double sum(const struct platform *platform, const struct dram_energy_counts *counts, bool high)
{
    const struct dram_platform *d = platform_section_get(platform, "dram");
    const double channels = (double)d->channels, seconds = (double)counts->cycles / (double)d->clock_hz;
    const double refreshes = d->refresh == DRAM_REFRESH_NONE ? 0 : channels * (double)counts->cycles / (double)d->refi;
    return (double)counts->activates * figure(platform, "act_pj", high) * 1e-12 +
           (double)counts->columns * (double)d->atom_bytes * 8 * figure(platform, "bit_pj", high) * 1e-12 +
           refreshes * figure(platform, "refresh_nj", high) * 1e-9 +
           channels * seconds * figure(platform, "background_mw", high) * 1e-3;
}

bool dram_energy(const struct platform *platform, const struct dram_energy_counts *counts, double *low, double *high)
{
    const struct dram_platform *d = platform_section_get(platform, "dram");
    if (d->act_pj <= 0 || d->bit_pj <= 0 || d->refresh_nj <= 0 || d->background_mw <= 0)
        return false;
    *low = sum(platform, counts, false);
    *high = sum(platform, counts, true);
    return true;
}
