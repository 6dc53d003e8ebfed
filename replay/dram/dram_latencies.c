#include "replay/dram/dram_latencies.h"

#include <inttypes.h>

#include "trace/base/csv_text.h"

enum { WIDE = 16, STEPS = 8 }; /* below: a bin is one cycle; above: STEPS bins to a power of two */

void dram_latencies_head(FILE *file)
{
    (void)fputs("policy,kind,from_cycles,below_cycles,requests\n", file);
}

/* The first count behind the bin of `cycles`. */
static int64_t bin_end(int64_t cycles)
{
    if (cycles < WIDE)
        return cycles + 1;
    const int64_t wide = INT64_C(1) << (63 - __builtin_clzll((unsigned long long)cycles) - 3);
    const int64_t from = cycles / wide * wide;
    return from > INT64_MAX - wide ? INT64_MAX : from + wide;
}

static void write_kind(FILE *file, const char *policy, const char *kind, const struct dram_latency *l)
{
    int i = 0;
    while (i < LATENCY_BUCKETS) {
        const int64_t from = dram_latency_least(i), below = bin_end(from);
        int64_t requests = 0;
        for (; i < LATENCY_BUCKETS && dram_latency_least(i) < below; i++)
            requests += l->buckets[i];
        if (requests) {
            csv_text_put(file, policy, false);
            (void)fprintf(file, ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", kind, from, below, requests);
        }
    }
}

/* What fails to be written is found by whoever opened the file. */
void dram_latencies_write(FILE *file, const struct replay_policy *policy, const struct dram_latency *kinds)
{
    static const char *const names[] = {"mem-read", "mem-write", "pim", "l2-hit"};
    char label[256];
    replay_policy_label(policy, label, sizeof label);
    for (int k = 0; k < DRAM_TOOK; k++)
        write_kind(file, label, names[k], &kinds[k]);
}

void dram_latencies_add(struct dram_latency *kinds, const struct dram_stream *stream, const struct dram_fates *fates)
{
    for (uint32_t c = 0; c < stream->channels; c++)
        for (size_t i = 0; i < stream->channel[c].count; i++) {
            const struct dram_request *r = &stream->channel[c].requests[i];
            const int64_t done = fates->channel[c].done[i];
            if (done >= 0)
                dram_latency_add(&kinds[dram_took_of(r->flags)], done - r->arrival);
        }
}
