#include "trace/base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from a to b, neighbours that changed places counted once (optimal string alignment). */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

void suggest_offer(struct suggest *suggest, const char *name)
{
    size_t n = strlen(suggest->word), m = strlen(name);
    if (n == 0 || m == 0 || n > LONGEST || m > LONGEST)
        return;
    size_t distance = edits(suggest->word, n, name, m), allowed = n < 6 ? 1 : n / 3;
    const char *dash = strchr(name, '-');
    const bool last = dash && dash > name && strcmp(dash + 1, suggest->word) == 0; /* "sizes" of "tlp-sizes" */
    if (n >= 3 && n < m && (last || memcmp(suggest->word, name, n) == 0))
        distance = least(distance, 1);
    if (distance > allowed || (suggest->distance && distance + 1 >= suggest->distance))
        return;
    suggest->distance = distance + 1;
    (void)snprintf(suggest->best, sizeof suggest->best, "%s", name);
}

/* Names of an earlier release: options, settings, metrics, figures, policies, programs and values of settings in one
 * table, in the order of the alphabet. Whoever types one is told the new one instead of a guess. A row stays for one
 * release. Names of options stand without dashes, or with them where something else has that name. */
static const struct {
    const char *name, *now;
} old_names[] = {
    {"--adapter-ip", "--set adapter=ADDRESS of import"},
    {"--clock", "--set clock=pcap|adapter"},
    {"--dram", "record --accesses, and derive dram from it"},
    {"--force-injection", "env -u CUDA_INJECTION64_PATH offchip record .."},
    {"--keep-accesses", "record --accesses, and derive from it"},
    {"--keep-dirty", "write-backs are in the trace by their kind"},
    {"--label-layout", "synth:gather,labels=.. with --set resident=weighted"},
    {"--labelled-pct", "labelled_pct= of synth:gather"},
    {"--labels", "labels= of synth:gather"},
    {"--nettlp-port", "--set ports=LO-HI of import"},
    {"--no-config", "there is no configuration to leave out"},
    {"--requests", "record --accesses, and derive requests from it"},
    {"--robust-all", "--robust N, of the rows near the best"},
    {"--seed", "--robust N with another N"},
    {"--tie", "--robust N, with the models' measured errors"},
    {"--time-limit", "timeout S offchip record .."},
    {"--tlp-offset", "--set tlp_offset=K of import"},
    {"bank_column_ratio", "channel_imbalance_ratio"},
    {"bound_issue_ratio", "1 - bound_wire_ratio - bound_tags_ratio - bound_host_ratio"},
    {"channel_camp_ratio", "channel_imbalance_ratio"},
    {"channel_column_ratio", "channel_imbalance_ratio"},
    {"columns", "column_commands"},
    {"compare-bytes", "bars --metric h2d_bytes,d2h_bytes"},
    {"drain_cycles", "drain_cycles_per_switch"},
    {"dram-ablation", "bars --metric fairness_index,system_throughput"},
    {"dram-character",
     "bars --metric noc_packets_per_kcycle,dram_arrival_per_kcycle,bank_parallelism,mem_row_hit_ratio"},
    {"dram-fairness", "bars --metric fairness_index --over vcs --aggregate declared"},
    {"dram-llm", "bars --metric concurrent_speedup_ratio,ideal_speedup_ratio --over vcs"},
    {"dram-pairs", "bars --metric fairness_index,system_throughput"},
    {"dram-sensitivity", "lines --metric fairness_index --over KEY"},
    {"dram-switches", "bars --metric mode_switches --over vcs --aggregate declared"},
    {"dram-throughput", "stacked --metric mem_speedup_ratio,pim_speedup_ratio --aggregate declared"},
    {"dram-timeline", "no figure; replay dram --commands FILE writes what a channel did"},
    {"dram_cycles", "total_cycles (with front=partition: time_ns)"},
    {"expect", "degrees"},
    {"fewest", "least-resident"},
    {"in_flight_max", "--latencies FILE.csv"},
    {"intended", "driver590_spec"},
    {"l2+sectors", "record l2 and sectors, and import both into one trace"},
    {"legacy-runs", "lines --metric time_ns --over run_pages"},
    {"mapped", "pinned"},
    {"mem2_alone_cycles", "mem_alone_cycles of the program by itself"},
    {"mem2_cycles", "system_throughput - mem_speedup_ratio, the second side's speed-up"},
    {"mem2_speedup_ratio", "system_throughput - mem_speedup_ratio"},
    {"mem_accesses", "mem_row_hit_ratio"},
    {"mem_hits", "mem_row_hit_ratio"},
    {"mem_in_flight", "mem_latency_mean_cycles"},
    {"mem_latency_max_cycles", "--latencies FILE.csv"},
    {"mem_latency_p50_cycles", "--latencies FILE.csv"},
    {"mem_latency_p95_cycles", "--latencies FILE.csv"},
    {"mem_latency_p99_cycles", "--latencies FILE.csv"},
    {"mem_ns", "mem_cycles"},
    {"mem_window", "nothing: 640 requests of a channel are in flight"},
    {"noc_arrival_per_kcycle", "noc_packets_per_kcycle"},
    {"noc_packets", "noc_packets_per_kcycle"},
    {"npz", "csv, or SQL (docs/python.md)"},
    {"own", "as-written"},
    {"own_bytes", "local_bytes"},
    {"pcie-amplification", "bars --metric read_amplification_ratio"},
    {"pcie-bandwidth", "bars --metric link_bytes_per_s"},
    {"pcie-requests", "bars --metric requests"},
    {"pcie-share", "lines --metric bandwidth_bytes_per_s --over sm_share_pct"},
    {"pcie-sizes", "shares --metric requests_32,requests_64,requests_96,requests_128"},
    {"pcie-speedup", "bars --metric speedup_ratio"},
    {"pcie-toy", "bars --metric link_bytes_per_s,host_dram_bytes_per_s"},
    {"pim_accesses", "pim_row_hit_ratio"},
    {"pim_hits", "pim_row_hit_ratio"},
    {"pim_in_flight", "pim_latency_mean_cycles"},
    {"pim_latency_max_cycles", "--latencies FILE.csv"},
    {"pim_latency_p50_cycles", "--latencies FILE.csv"},
    {"pim_latency_p95_cycles", "--latencies FILE.csv"},
    {"pim_latency_p99_cycles", "--latencies FILE.csv"},
    {"pim_ns", "pim_cycles"},
    {"placement-timeline", "timeline"},
    {"precharges", "--commands FILE.csv"},
    {"r_median", "blocks_per_batch_median"},
    {"r_p25", "blocks_per_batch_p25"},
    {"r_p75", "blocks_per_batch_p75"},
    {"refreshes", "--commands FILE.csv"},
    {"relaunch_gap", "nothing: a program starts again at once, a stream after 560 cycles"},
    {"requests_in", "mem_requests, pim_requests"},
    {"requests_out", "mem_requests, pim_requests"},
    {"returned_bytes", "refetched_bytes"},
    {"robust", "tornado"},
    {"routines", "fault_handler_runs"},
    {"switch_conflicts", "conflicts_per_switch"},
    {"switches_mem_to_pim", "mode_switches"},
    {"switches_pim_to_mem", "mode_switches"},
    {"tiering", "lines --metric hit_ratio --over local_pct"},
    {"uvm-granularity", "lines --metric speedup_ratio --over granularity"},
    {"uvm-locality", "box"},
    {"uvm-sensitivity", "lines --metric speedup_ratio"},
    {"uvm-speedup", "bars --metric speedup_ratio"},
    {"uvm-timeline", "timeline"},
    {"window_scale", "nothing: 640 requests of a channel are in flight"},
    {"written", "driver590_code"},
};

/* What to write instead of an old name, or of what stood behind its hyphen; NULL: it never was one. */
static const char *old_name(const char *name, bool end)
{
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++) {
        const char *dash = end ? strchr(old_names[i].name, '-') : NULL;
        if (strcmp(old_names[i].name, name) == 0 || (dash && strcmp(dash + 1, name) == 0))
            return old_names[i].now;
    }
    return NULL;
}

const char *suggest_hint(const struct suggest *suggest, char *buf, size_t size)
{
    const char *word = suggest->word, *now = word ? old_name(word, false) : NULL;
    if (word && !now)
        now = old_name(word + strspn(word, "-"), !suggest->distance);
    if (now)
        (void)snprintf(buf, size, "; up to 0.3 only, now: %s", now);
    else
        (void)snprintf(buf, size, suggest->distance ? "; did you mean '%s'?" : "%s", suggest->best);
    return buf;
}
