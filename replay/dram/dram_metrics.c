#include "replay/dram/dram_metrics.h"

#include "models/dram/energy.h"
#include "replay/derive/derive_source.h"
#include "replay/dram/dram_simulation.h"

#define I(name, aggregate, help)                                                                                       \
    {                                                                                                                  \
        name, METRIC_INT, METRIC_##aggregate, help                                                                     \
    }
#define R(name, aggregate, help)                                                                                       \
    {                                                                                                                  \
        name, METRIC_REAL, METRIC_##aggregate, help                                                                    \
    }

const struct metric dram_metrics[] = {
    I("total_cycles", SUM,
      "DRAM cycles until the last request is done (partition: core cycles until all replies left)"),
    I("dram_cycles", SUM, "DRAM cycles of the run"),
    R("time_ns", SUM, "dram_cycles in ns"),
    I("mem_cycles", SUM, "cycles until the MEM side is done (its first pass)"),
    I("pim_cycles", SUM, "cycles until the PIM side is done (its first pass)"),
    R("mem_ns", SUM, "mem_cycles in ns"),
    R("pim_ns", SUM, "pim_cycles in ns"),
    I("mem_alone_cycles", SUM, "mem_cycles of the MEM side alone, on all multiprocessors"),
    I("pim_alone_cycles", SUM, "pim_cycles of the PIM side alone"),
    I("mem2_cycles", SUM, "with two MEM sides: cycles until the second is done (its first pass)"),
    I("mem2_alone_cycles", SUM, "mem2_cycles of the second MEM side alone"),
    R("mem2_speedup_ratio", MEAN, "mem2_alone_cycles / mem2_cycles"),
    R("mem_speedup_ratio", MEAN, "mem_alone_cycles / mem_cycles"),
    R("pim_speedup_ratio", MEAN, "pim_alone_cycles / pim_cycles"),
    R("fairness_index", GEOMEAN, "smaller over larger of the two speed-ups; 0 if a side never ends"),
    R("system_throughput", MEAN, "sum of the two speed-ups"),
    R("concurrent_speedup_ratio", MEAN, "(mem_alone_cycles + pim_alone_cycles) / the longer side's cycles"),
    R("ideal_speedup_ratio", MEAN, "(mem_alone_cycles + pim_alone_cycles) / the larger of them"),
    I("mode_switches", GEOMEAN, "changes between MEM and PIM mode"),
    I("switches_mem_to_pim", GEOMEAN, "changes from MEM to PIM mode"),
    I("switches_pim_to_mem", GEOMEAN, "changes from PIM to MEM mode"),
    R("switches_by_cap_ratio", MEAN, "MEM to PIM changes made by a cap / all of them"),
    R("mem_favoured_ratio", MEAN, "bliss: cycles in which PIM alone is blacklisted, so MEM goes first / all cycles"),
    R("pim_favoured_ratio", MEAN, "bliss: the same with MEM blacklisted"),
    I("switch_conflicts", MEAN, "banks whose next request would have hit, summed over MEM to PIM changes"),
    R("conflicts_per_switch", MEAN, "switch_conflicts / switches_mem_to_pim"),
    I("drain_cycles", MEAN, "cycles of PIM mode in which MEM requests still hold bank slots"),
    R("drain_cycles_per_switch", MEAN, "drain_cycles / switches_mem_to_pim"),
    I("mem_hits", SUM, "MEM requests selected for an open row or a live row streak"),
    I("mem_accesses", SUM, "MEM requests selected"),
    I("pim_hits", SUM, "PIM requests selected for an open row (fcfs: banks)"),
    I("pim_accesses", SUM, "PIM requests selected (fcfs: 16 each)"),
    R("mem_row_hit_ratio", MEAN, "mem_hits / mem_accesses"),
    R("pim_row_hit_ratio", MEAN, "pim_hits / pim_accesses"),
    I("activates", SUM, "ACT commands; one to all banks counts once"),
    I("precharges", SUM, "PRE commands; one to all banks counts once"),
    I("columns", SUM, "column commands"),
    I("refreshes", SUM, "refresh commands, of all banks or of one, to channels with requests"),
    R("energy_uj", SUM,
      "microjoules, between published figures: activates, bits of column commands, refreshes, channels x time"),
    R("channel_column_ratio", MEAN, "column commands of the busiest channel / the mean of all channels"),
    R("bank_column_ratio", MEAN, "column commands of the busiest bank number / the mean of all; devices beyond gv100"),
    R("bank_parallelism", MEAN, "occupied bank slots, averaged over the cycles with any"),
    R("mem_bandwidth_bytes_per_s", MEAN, "bytes of MEM column commands / time until the last MEM completion"),
    R("mem_arrival_ratio", GEOMEAN, "MEM arrivals at the controller per cycle / the same alone"),
    R("noc_arrival_per_kcycle", MEAN, "packets into the interconnect per 1000 DRAM cycles and channel"),
    R("dram_arrival_per_kcycle", MEAN, "requests into the controller per 1000 DRAM cycles and channel"),
    R("mem_latency_mean_cycles", MEAN, "done - arrival of MEM requests"),
    I("mem_latency_p50_cycles", MAX, "half of the MEM requests take at most this"),
    I("mem_latency_p95_cycles", MAX, "95 % of the MEM requests take at most this"),
    I("mem_latency_p99_cycles", MAX, "99 % of the MEM requests take at most this"),
    I("mem_latency_max_cycles", MAX, "the slowest MEM request"),
    R("pim_latency_mean_cycles", MEAN, "done - arrival of PIM requests"),
    I("pim_latency_p50_cycles", MAX, "half of the PIM requests take at most this"),
    I("pim_latency_p95_cycles", MAX, "95 % of the PIM requests take at most this"),
    I("pim_latency_p99_cycles", MAX, "99 % of the PIM requests take at most this"),
    I("pim_latency_max_cycles", MAX, "the slowest PIM request"),
    R("mem_in_flight", MEAN, "programs: MEM packets between multiprocessor and reply, of a channel, mean over time"),
    R("pim_in_flight", MEAN, "programs: the same of PIM packets"),
    I("in_flight_max", MAX, "programs: packets of one channel between multiprocessor and reply at once, at most"),
    R("l1_hit_ratio", MEAN, "programs: sectors of loads that sent no packet / sectors of loads, first GPU program"),
    R("l2_hit_ratio", MEAN, "programs: reads at L2 that made no DRAM read / reads at L2"),
    R("channel_camp_ratio", MEAN, "programs: of every 8192 MEM requests to DRAM, busiest channel / mean channel"),
    I("noc_packets", SUM, "programs: packets into the interconnect, all passes"),
    I("mem_requests", SUM, "MEM requests asked for"),
    I("pim_requests", SUM, "PIM requests asked for"),
    I("requests_in", SUM, "requests that entered the controller, all passes"),
    I("requests_out", SUM, "requests that were done"),
    I("starved", SUM, "1 if a side made no end"),
    {0}};

static void ratio(struct outcome *run, const char *name, double a, double b)
{
    if (b > 0)
        outcome_real(run, name, a / b);
}

static void fill_times(struct outcome *run, const struct dram_totals *t, double hz)
{
    static const char *const names[3][4] = {{"mem_cycles", "mem_ns", "mem_alone_cycles", "mem_speedup_ratio"},
                                            {"pim_cycles", "pim_ns", "pim_alone_cycles", "pim_speedup_ratio"},
                                            {"mem2_cycles", NULL, "mem2_alone_cycles", "mem2_speedup_ratio"}};
    outcome_int(run, "total_cycles", t->core_cycles >= 0 ? t->core_cycles : t->cycles);
    outcome_int(run, "dram_cycles", t->cycles);
    outcome_real(run, "time_ns", (double)t->cycles * 1e9 / hz);
    double s[2] = {-1, -1};
    for (int c = 0; c < 2; c++) {
        const char *const *name = names[c && t->two_gpu_kernels ? 2 : c];
        if (t->class_cycles[c] >= 0 && !t->starved[c]) {
            outcome_int(run, name[0], t->class_cycles[c]);
            if (name[1])
                outcome_real(run, name[1], (double)t->class_cycles[c] * 1e9 / hz);
        }
        if (t->alone_cycles[c] < 0)
            continue;
        outcome_int(run, name[2], t->alone_cycles[c]);
        if (t->class_cycles[c] > 0 && !t->starved[c])
            outcome_real(run, name[3], s[c] = (double)t->alone_cycles[c] / (double)t->class_cycles[c]);
    }
    const bool starved = t->starved[0] || t->starved[1];
    outcome_int(run, "starved", starved);
    if (starved)
        outcome_real(run, "fairness_index", 0);
    if (s[0] <= 0 || s[1] <= 0)
        return;
    const double a = (double)t->alone_cycles[0], b = (double)t->alone_cycles[1];
    const int64_t longer = t->class_cycles[0] > t->class_cycles[1] ? t->class_cycles[0] : t->class_cycles[1];
    outcome_real(run, "fairness_index", s[0] < s[1] ? s[0] / s[1] : s[1] / s[0]);
    outcome_real(run, "system_throughput", s[0] + s[1]);
    outcome_real(run, "concurrent_speedup_ratio", (a + b) / (double)longer);
    outcome_real(run, "ideal_speedup_ratio", (a + b) / (a > b ? a : b));
}

static void fill_counts(struct outcome *run, const struct dram_totals *t)
{
    const struct dram_stats *s = &t->stats;
    const double to_pim = (double)s->switches[DRAM_PIM];
    outcome_int(run, "mode_switches", s->switches[0] + s->switches[1]);
    outcome_int(run, "switches_mem_to_pim", s->switches[DRAM_PIM]);
    outcome_int(run, "switches_pim_to_mem", s->switches[DRAM_MEM]);
    ratio(run, "switches_by_cap_ratio", (double)s->capped, to_pim);
    outcome_int(run, "switch_conflicts", s->conflicts);
    ratio(run, "conflicts_per_switch", (double)s->conflicts, to_pim);
    outcome_int(run, "drain_cycles", s->drain);
    ratio(run, "drain_cycles_per_switch", (double)s->drain, to_pim);
    outcome_int(run, "mem_hits", s->hits[DRAM_MEM]);
    outcome_int(run, "mem_accesses", s->accesses[DRAM_MEM]);
    outcome_int(run, "pim_hits", s->hits[DRAM_PIM]);
    outcome_int(run, "pim_accesses", s->accesses[DRAM_PIM]);
    ratio(run, "mem_row_hit_ratio", (double)s->hits[DRAM_MEM], (double)s->accesses[DRAM_MEM]);
    ratio(run, "pim_row_hit_ratio", (double)s->hits[DRAM_PIM], (double)s->accesses[DRAM_PIM]);
    outcome_int(run, "activates", s->activates);
    outcome_int(run, "precharges", s->precharges);
    outcome_int(run, "columns", s->columns);
    ratio(run, "bank_parallelism", (double)s->slot_sum, (double)s->slot_cycles);
    outcome_int(run, "mem_requests", (int64_t)t->requests[DRAM_MEM]);
    outcome_int(run, "pim_requests", (int64_t)t->requests[DRAM_PIM]);
    outcome_int(run, "requests_in", s->in[0] + s->in[1]);
    outcome_int(run, "requests_out", s->out[0] + s->out[1]);
}

static void fill_device(struct outcome *run, const struct platform *platform, const struct dram_totals *t)
{
    const struct dram_platform *dram = platform_section_get(platform, "dram");
    const struct dram_stats *s = &t->stats;
    const struct dram_energy_counts counts = {.activates = s->activates, .columns = s->columns, .cycles = t->cycles};
    int64_t most = 0, sum = 0;
    double low, high;
    for (int b = 0; b < DRAM_BANKS; b++) {
        sum += s->bank_columns[b];
        most = s->bank_columns[b] > most ? s->bank_columns[b] : most;
    }
    if (dram->refresh != DRAM_REFRESH_NONE)
        outcome_int(run, "refreshes", s->refreshes);
    if (!s->out[DRAM_PIM] && dram_energy(platform, &counts, &low, &high)) /* no figure is of a PIM command */
        outcome_interval(run, "energy_uj", low * 1e6, high * 1e6);
    ratio(run, "channel_column_ratio", (double)s->channel_columns * (double)dram->channels, (double)s->columns);
    ratio(run, "bank_column_ratio", (double)most * (double)dram->banks, (double)sum);
}

static void fill_latency(struct outcome *run, const struct dram_latency *l, const char *const names[5])
{
    if (!l->count)
        return;
    outcome_real(run, names[0], (double)l->sum / (double)l->count);
    outcome_int(run, names[1], dram_latency_percentile(l, 0.50));
    outcome_int(run, names[2], dram_latency_percentile(l, 0.95));
    outcome_int(run, names[3], dram_latency_percentile(l, 0.99));
    outcome_int(run, names[4], l->largest);
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
                       const struct dram_totals *t)
{
    static const char *const mem[] = {"mem_latency_mean_cycles", "mem_latency_p50_cycles", "mem_latency_p95_cycles",
                                      "mem_latency_p99_cycles", "mem_latency_max_cycles"};
    static const char *const pim[] = {"pim_latency_mean_cycles", "pim_latency_p50_cycles", "pim_latency_p95_cycles",
                                      "pim_latency_p99_cycles", "pim_latency_max_cycles"};
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const double hz = (double)dram->clock_hz, channel_cycles = (double)t->cycles * t->channels;
    fill_times(run, t, hz);
    fill_counts(run, t);
    fill_device(run, job->platform, t);
    fill_latency(run, &t->latency[DRAM_MEM], mem);
    fill_latency(run, &t->latency[DRAM_PIM], pim);
    if (t->requests[DRAM_MEM] && t->stats.last_out[DRAM_MEM] >= 0) {
        const double columns = (double)(t->stats.columns - t->stats.out[DRAM_PIM]);
        outcome_real(run, "mem_bandwidth_bytes_per_s",
                     columns * (double)dram->atom_bytes * hz / (double)(t->stats.last_out[DRAM_MEM] + 1));
    }
    ratio(run, "dram_arrival_per_kcycle", 1000.0 * (double)(t->stats.in[0] + t->stats.in[1]), channel_cycles);
    if (t->blacklists) {
        ratio(run, "mem_favoured_ratio", (double)t->favoured[DRAM_MEM], channel_cycles);
        ratio(run, "pim_favoured_ratio", (double)t->favoured[DRAM_PIM], channel_cycles);
    }
    if (t->noc_packets >= 0)
        ratio(run, "noc_arrival_per_kcycle", 1000.0 * (double)t->noc_packets, channel_cycles);
    if (t->mem_arrival_ratio >= 0)
        outcome_real(run, "mem_arrival_ratio", t->mem_arrival_ratio);
    if (stream && stream->untimed)
        outcome_note(run, "the input has no times: requests enter as fast as the channel takes them");
    for (size_t i = 0; stream && i < job->input_count; i++)
        note_program(run, &job->inputs[i]);
    for (int c = 0; c < 2; c++)
        if (t->starved[c])
            outcome_note(run, "starved: the %s side made no end%s", c ? "PIM" : "MEM",
                         t->stuck ? "; nothing could happen any more" : " within the run limit");
}

void dram_metrics_programs(struct outcome *run, const struct dram_simulation *sim, const struct dram_totals *t)
{
    const struct dram_memory_stats *m = &sim->memory;
    const double channel_cycles = (double)t->cycles * t->channels;
    if (m->packets[DRAM_MEM])
        ratio(run, "mem_in_flight", (double)m->in_flight_cycles[DRAM_MEM], channel_cycles);
    if (m->packets[DRAM_PIM])
        ratio(run, "pim_in_flight", (double)m->in_flight_cycles[DRAM_PIM], channel_cycles);
    outcome_int(run, "in_flight_max", m->in_flight_most);
    if (sim->side[0].class == DRAM_MEM)
        ratio(run, "l1_hit_ratio", (double)(sim->counts[0].hits + sim->counts[0].merged),
              (double)sim->counts[0].load_sectors);
    ratio(run, "l2_hit_ratio", (double)(m->reads - m->fetches), (double)m->reads);
    ratio(run, "channel_camp_ratio", m->camp_sum, (double)m->camp_count);
    outcome_int(run, "noc_packets", t->noc_packets);
}
