#include "replay/zerocopy/zerocopy_simulated.h"

#include <math.h>

#include "models/zerocopy/host_reads.h"

struct simulating {
    struct zerocopy_run *run;
    uint64_t sampled; /* launches */
    double requests;  /* theirs */
    double variance;
};

static int take_launch(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct simulating *s = ctx;
    (void)err;
    if (count->sampled) {
        double error = count->error * (double)mix_requests(&count->mix);
        s->sampled++;
        s->variance += error * error;
    }
    s->requests += (double)mix_requests(&count->mix);
    zerocopy_run_add_simulated(s->run, number, count);
    return 0;
}

int zerocopy_simulate(struct zerocopy_run *run, const struct program *program, uint64_t runs, struct outcome *out,
                      struct err *err)
{
    struct zerocopy_totals *t = &run->totals;
    struct simulating s = {.run = run};
    bool stopped = false;
    const struct host_reads how = {.gpu = run->context->gpu,
                                   .pcie = run->context->pcie,
                                   .program = program,
                                   .weights = run->context->weights,
                                   .name = launch_weights_are_of(run->context->weights, program) ? NULL : run->name,
                                   .most_loads = (uint64_t)run->context->settings->simulated_loads,
                                   .threads = run->context->threads,
                                   .most_ns = run->context->most_ns * (double)runs,
                                   .stopped = &stopped,
                                   .launch = take_launch,
                                   .ctx = &s};
    t->launches = 0;
    if (host_reads_run(&how, err))
        return -1;
    if (stopped) {
        outcome_at_least(out, "time_ns", run->context->most_ns);
        return 0;
    }
    struct scan_setup setup = run->context->setup;
    if (run->context->describe && run->context->describe(run->context->reading, &setup, err))
        return -1;
    t->payload_bytes = (double)mix_payload(&t->mix);
    t->host_dram_bytes = 64 * (double)t->mix.host_lines;
    zerocopy_metrics(t, &setup, (double)runs, true, out);
    if (s.sampled)
        outcome_note(out, "%llu launches are sampled (simulated_loads): standard error of all requests %.2f %%",
                     (unsigned long long)s.sampled, s.requests > 0 ? 100 * sqrt(s.variance) / s.requests : 0);
    return 0;
}
