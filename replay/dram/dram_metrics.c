#include "replay/dram/dram_simulation.h"
#include "replay/results/runs.h"

#include <math.h>

#include "models/dram/dram_platform.h"
#include "replay/derive/derive.h"

/* The data of the rows. */
struct facts {
    const struct dram_totals *t;
    const struct dram_stats *s;
    const struct dram_platform *dram;
    const struct dram_memory_stats *m; /* of programs; else zeroed */
    const struct sms_counts *gpu;      /* of the first program if it is MEM's; else zeroed */
    bool programs, pim;                /* pim: side 1 is PIM's, not a second MEM side */
    double channel_cycles;
    int64_t cycles[2];        /* until a side was done, -1: never */
    double speedup[2];        /* NaN: unknown */
    double together, in_turn; /* the longer side's cycles; those of both alone, NaN: unknown */
    double longest;           /* of the cycles alone */
};

/* A metric is a row: its name, how runs are combined, its definition, its value. A whole number below 0 and a real that
 * is not finite are unknown. */
#define ROWS(INT, REAL)                                                                                                \
    INT(total_cycles, SUM, "DRAM cycles until the last request is done", t->cycles)                                    \
    REAL(time_ns, SUM, "DRAM cycles of the run in ns", (double)t->cycles * 1e9 / (double)f->dram->clock_hz)            \
    INT(mem_cycles, SUM, "cycles until the MEM side is done (its first pass)", f->cycles[0])                           \
    INT(pim_cycles, SUM, "cycles until the PIM side is done (its first pass)", f->pim ? f->cycles[1] : -1)             \
    INT(mem_alone_cycles, SUM, "mem_cycles of the MEM side alone, on all multiprocessors", t->alone_cycles[0])         \
    INT(pim_alone_cycles, SUM, "pim_cycles of the PIM side alone", f->pim ? t->alone_cycles[1] : -1)                   \
    REAL(mem_speedup_ratio, MEAN, "mem_alone_cycles / mem_cycles", f->speedup[0])                                      \
    REAL(pim_speedup_ratio, MEAN, "pim_alone_cycles / pim_cycles", f->pim ? f->speedup[1] : NAN)                       \
    REAL(fairness_index, GEOMEAN, "smaller over larger of the two speed-ups; 0 if a side never ends", fairness(f))     \
    REAL(system_throughput, MEAN, "sum of the two speed-ups", f->speedup[0] + f->speedup[1])                           \
    REAL(concurrent_speedup_ratio, MEAN, "(mem_alone_cycles + pim_alone_cycles) / the longer side's cycles",           \
         f->in_turn / f->together)                                                                                     \
    REAL(ideal_speedup_ratio, MEAN, "(mem_alone_cycles + pim_alone_cycles) / the larger of them",                      \
         f->in_turn / f->longest)                                                                                      \
    INT(mode_switches, GEOMEAN, "changes between MEM and PIM mode", s->switches[0] + s->switches[1])                   \
    REAL(switches_by_cap_ratio, MEAN, "MEM to PIM changes made by a cap / all of them",                                \
         (double)s->capped / (double)s->switches[DRAM_PIM])                                                            \
    REAL(mem_favoured_ratio, MEAN, "bliss: cycles in which PIM alone is blacklisted, so MEM goes first / all cycles",  \
         t->blacklists ? (double)t->favoured[DRAM_MEM] / f->channel_cycles : NAN)                                      \
    REAL(pim_favoured_ratio, MEAN, "bliss: the same with MEM blacklisted",                                             \
         t->blacklists ? (double)t->favoured[DRAM_PIM] / f->channel_cycles : NAN)                                      \
    REAL(conflicts_per_switch, MEAN, "banks whose next request would have hit, per MEM to PIM change",                 \
         (double)s->conflicts / (double)s->switches[DRAM_PIM])                                                         \
    REAL(drain_cycles_per_switch, MEAN,                                                                                \
         "cycles of PIM mode in which MEM requests still hold bank slots, per MEM to PIM change",                      \
         (double)s->drain / (double)s->switches[DRAM_PIM])                                                             \
    REAL(mem_row_hit_ratio, MEAN, "MEM requests selected for an open row or a live row streak / all selected",         \
         (double)s->hits[DRAM_MEM] / (double)s->accesses[DRAM_MEM])                                                    \
    REAL(pim_row_hit_ratio, MEAN, "PIM requests selected for an open row / all selected (fcfs: banks of them)",        \
         (double)s->hits[DRAM_PIM] / (double)s->accesses[DRAM_PIM])                                                    \
    INT(activates, SUM, "ACT commands; one to all banks counts once", s->activates)                                    \
    INT(column_commands, SUM, "column commands", s->columns)                                                           \
    REAL(energy_uj, SUM,                                                                                               \
         "microjoules, between published figures: activates, bits of column commands, refreshes, channels x time",     \
         NAN)                                                                                                          \
    REAL(bank_parallelism, MEAN, "occupied bank slots, averaged over the cycles with any",                             \
         (double)s->slot_sum / (double)s->slot_cycles)                                                                 \
    REAL(mem_bandwidth_bytes_per_s, MEAN, "bytes of MEM column commands / time until the last MEM completion",         \
         t->requests[DRAM_MEM] ? mem_bytes(f) * (double)f->dram->clock_hz / (double)(s->last_out[DRAM_MEM] + 1) : NAN) \
    REAL(mem_arrival_ratio, GEOMEAN, "MEM arrivals at the controller per cycle / the same alone",                      \
         t->mem_arrival_ratio < 0 ? NAN : t->mem_arrival_ratio)                                                        \
    REAL(noc_packets_per_kcycle, MEAN, "programs: packets into the interconnect per 1000 DRAM cycles and channel",     \
         f->programs ? 1000.0 * (double)(f->m->packets[0] + f->m->packets[1]) / f->channel_cycles : NAN)               \
    REAL(dram_arrival_per_kcycle, MEAN, "requests into the controller per 1000 DRAM cycles and channel",               \
         1000.0 * (double)(s->in[0] + s->in[1]) / f->channel_cycles)                                                   \
    REAL(mem_latency_mean_cycles, MEAN, "done - arrival of MEM requests",                                              \
         (double)s->answer_cycles[DRAM_MEM] / (double)s->answered[DRAM_MEM])                                           \
    REAL(pim_latency_mean_cycles, MEAN, "done - arrival of PIM requests",                                              \
         (double)s->answer_cycles[DRAM_PIM] / (double)s->answered[DRAM_PIM])                                           \
    REAL(l1_hit_ratio, MEAN, "programs: sectors of loads that sent no packet / sectors of loads, first GPU program",   \
         (double)(f->gpu->hits + f->gpu->merged) / (double)f->gpu->load_sectors)                                       \
    REAL(l2_hit_ratio, MEAN, "programs: reads at L2 that made no DRAM read / reads at L2",                             \
         (double)(f->m->reads - f->m->fetches) / (double)f->m->reads)                                                  \
    REAL(channel_imbalance_ratio, MEAN,                                                                                \
         "programs: of every 8192 MEM requests to DRAM, busiest channel / mean channel",                               \
         f->m->camp_sum / (double)f->m->camp_count)                                                                    \
    INT(mem_requests, SUM, "MEM requests asked for", (int64_t)t->requests[DRAM_MEM])                                   \
    INT(pim_requests, SUM, "PIM requests asked for", (int64_t)t->requests[DRAM_PIM])                                   \
    INT(starved, SUM, "1 if a side did not finish", t->starved[0] || t->starved[1])                                    \
    REAL(mem_simulated_ratio, MEAN, "programs of which one is cut: share of the GPU program's work that is run",       \
         share(f, 0))                                                                                                  \
    REAL(pim_simulated_ratio, MEAN, "the same of the PIM program", f->pim ? share(f, 1) : NAN)                         \
    REAL(mem2_simulated_ratio, MEAN, "the same of a second GPU program", f->pim ? NAN : share(f, 1))

#define DEFINE_INT(name, aggregate, help, value)  {#name, METRIC_INT, METRIC_##aggregate, help},
#define DEFINE_REAL(name, aggregate, help, value) {#name, METRIC_REAL, METRIC_##aggregate, help},

const struct metric dram_metrics[] = {ROWS(DEFINE_INT, DEFINE_REAL){0}};

static double fairness(const struct facts *f)
{
    const double a = f->speedup[0], b = f->speedup[1];
    return f->t->starved[0] || f->t->starved[1] ? 0 : a < b ? a / b : b / a;
}

static double share(const struct facts *f, int side)
{
    return f->t->simulated[side] < 0 ? NAN : f->t->simulated[side];
}

static double mem_bytes(const struct facts *f)
{
    return (double)(f->s->columns - f->s->out[DRAM_PIM]) * (double)f->dram->atom_bytes;
}

static void fill_rows(struct outcome *run, const struct facts *f)
{
    const struct dram_totals *t = f->t;
    const struct dram_stats *s = f->s;
    int64_t whole;
#define FILL_INT(name, aggregate, help, value)                                                                         \
    if ((whole = (value)) >= 0)                                                                                        \
        outcome_int(run, #name, whole);
#define FILL_REAL(name, aggregate, help, value) outcome_real(run, #name, value);
    ROWS(FILL_INT, FILL_REAL)
}

static void find_sides(struct facts *f)
{
    const struct dram_totals *t = f->t;
    for (int c = 0; c < 2; c++) {
        const int64_t cycles = t->class_cycles[c], alone = t->alone_cycles[c];
        f->cycles[c] = t->starved[c] ? -1 : cycles;
        f->speedup[c] = f->cycles[c] > 0 && alone >= 0 ? (double)alone / (double)cycles : NAN;
        f->together = fmax(f->together, (double)cycles);
        f->longest = fmax(f->longest, (double)alone);
    }
    const bool both = f->speedup[0] > 0 && f->speedup[1] > 0;
    f->in_turn = both ? (double)t->alone_cycles[0] + (double)t->alone_cycles[1] : NAN;
    f->pim = !t->two_gpu_kernels;
}

static void fill_energy(struct outcome *run, const struct platform *platform, const struct dram_totals *t)
{
    const struct dram_energy_counts counts = {
        .activates = t->stats.activates, .columns = t->stats.columns, .cycles = t->cycles};
    double low, high;
    if (!t->stats.out[DRAM_PIM] && dram_energy(platform, &counts, &low, &high)) /* no figure is of a PIM command */
        outcome_interval(run, "energy_uj", low * 1e6, high * 1e6);
}

static void note_program(struct outcome *run, const struct input *input)
{
    struct derive_input in;
    struct err why;
    if (!dram_stream_derives(input))
        return;
    if (derive_input_open(&in, input, VIEW_DRAM, &why) == 0)
        derive_notes(&in.source, VIEW_DRAM, run);
    else if (err_is_memory(&why))
        outcome_fail(run, &why);
}

void dram_metrics_fill(struct outcome *run, const struct replay_job *job, const struct dram_stream *stream,
                       const struct dram_simulation *simulation, const struct dram_totals *t)
{
    static const struct dram_simulation none;
    const struct dram_simulation *sim = simulation ? simulation : &none;
    struct facts f = {.t = t,
                      .s = &t->stats,
                      .dram = platform_section_get(job->platform, "dram"),
                      .m = &sim->memory,
                      .gpu = sim->side[0].class == DRAM_MEM ? &sim->counts[0] : &none.counts[0],
                      .programs = simulation != NULL,
                      .channel_cycles = (double)t->cycles * t->channels};
    find_sides(&f);
    fill_rows(run, &f);
    fill_energy(run, job->platform, t);
    if (stream && stream->untimed)
        outcome_note(run, "the input has no times: requests enter as fast as the channel takes them");
    for (size_t i = 0; stream && i < job->input_count; i++)
        note_program(run, &job->inputs[i]);
    for (int c = 0; c < 2; c++)
        if (t->starved[c])
            outcome_note(run, "starved: the %s side did not finish%s", c ? "PIM" : "MEM",
                         t->stuck ? "; nothing could happen any more" : " within the run limit");
}

void dram_note_faster(struct outcome *run, const char *side, int64_t cycles, int64_t alone, int64_t control,
                      const char *how)
{
    const double percent = 100 * ((double)alone / (double)cycles - 1);
    outcome_note(run,
                 RUN_WARNING "faster than alone: the %s side by %.2g %%, %s; alone it takes %lld cycles under f3fs "
                             "with vcs=1 on all multiprocessors, %lld %s",
                 side, percent,
                 control <= cycles ? "for times alone are taken another way"
                                   : "by the order of requests, what is in L2, or ends of cut launches",
                 (long long)alone, (long long)control, how);
}
