/* Front end `corun` of programs: a GPU program beside a PIM program, or another GPU program, each also alone; all
 * channels, multiprocessors and L2 in one simulation (replay/dram/dram_simulation.h).
 *
 * A PIM program has pim_sms multiprocessors, a second GPU program mem2_sms, the first GPU program those that are left;
 * alone it has all of them. Times alone are those under f3fs with its default caps and one virtual channel. Both repeat
 * until each is done once (`loop=`). Programs are cut to about `cut` requests: GPU programs by whole waves of blocks
 * (trace/program/cut.h), and where one is more than twice too much by the middle of each warp
 * (trace/program/warp_slice.h); PIM programs by the first operations of each warp (trace/program/program_adapter.h).
 * Collaborative work, two programs of one input, is done once and not cut: that would change what one side is to the
 * other. Times are DRAM cycles; nothing depends on how many threads run the policies. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/dram/corun_clients.h"
#include "replay/dram/dram_files.h"
#include "replay/dram/dram_simulation.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

static int simulate_alone(struct corun_clients *p, uint32_t s, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    struct corun_client *side = &p->side[s];
    struct dram_simulation run = {.platform = p->job->platform,
                                  .policy = &policy,
                                  .sides = 1,
                                  .vcs = 1,
                                  .limit = INT64_MAX,
                                  .progress = p->job->progress};
    int rc = policy.params ? 0 : -1;
    if (!rc) {
        param_defaults(alone->params, policy.params);
        run.side[0] = side->run;
        run.side[0].sms = side->alone_sms;
        rc = dram_simulation_run(&run, err);
    }
    if (!rc && run.first_done[0] < 0)
        rc = err_set(err, "the %s side alone makes no end", side->run.class == DRAM_PIM ? "PIM" : "MEM");
    side->alone_cycles = run.first_done[0];
    if (!rc && run.cycles)
        side->alone_rate = (double)run.stats.in[DRAM_MEM] / (double)run.cycles;
    free(policy.params);
    return rc ? err_at(err, "alone") : 0;
}

/* Once for all points of a sweep. */
static int run_alone(struct corun_clients *p, uint32_t s, struct err *err)
{
    struct corun_client *side = &p->side[s];
    char *name = p->job->shared ? corun_clients_text(p, s, "alone") : NULL;
    struct sweep_cache_value value;
    int rc = 0;
    if (name && sweep_cache_get(p->job->shared, name, &value)) {
        side->alone_cycles = value.whole;
        side->alone_rate = value.real;
    } else {
        rc = simulate_alone(p, s, err);
        if (name && !rc)
            sweep_cache_put(p->job->shared, name, (struct sweep_cache_value){side->alone_cycles, side->alone_rate});
    }
    free(name);
    return rc;
}

static int64_t limit_of(const struct corun_clients *p)
{
    int64_t longest = 0;
    for (uint32_t s = 0; s < p->sides; s++)
        longest = p->side[s].alone_cycles > longest ? p->side[s].alone_cycles : longest;
    return dram_run_limit(p->job->settings, longest);
}

/* What a run gave, in the form that all front ends report. */
static void add_up(const struct corun_clients *p, const struct dram_simulation *run, struct dram_totals *t)
{
    t->stats = run->stats;
    t->cycles = run->cycles;
    t->channels = (uint32_t)((const struct dram_platform *)platform_section_get(run->platform, "dram"))->channels;
    t->blacklists = run->blacklists;
    t->stuck = run->stuck;
    memcpy(t->favoured, run->favoured, sizeof t->favoured);
    for (uint32_t s = 0; s < run->sides; s++) {
        const int at = s == 1 || run->side[s].class == DRAM_PIM;
        t->class_cycles[at] = run->first_done[s];
        t->starved[at] = run->first_done[s] < 0;
        t->alone_cycles[at] = p->side[s].alone_cycles;
        t->requests[run->side[s].class] += run->counts[s].packets_read + run->counts[s].packets_write;
    }
    t->two_gpu_kernels = run->sides == 2 && run->side[1].class == DRAM_MEM;
    if (run->side[0].class == DRAM_MEM && !t->two_gpu_kernels && run->cycles && p->side[0].alone_rate > 0)
        t->mem_arrival_ratio = (double)run->stats.in[DRAM_MEM] / (double)run->cycles / p->side[0].alone_rate;
}

/* took: for --latencies, or NULL. */
static int run_policy(const struct corun_clients *p, size_t i, struct dram_latency *took, struct outcome *out,
                      struct err *err)
{
    const struct dram_settings *set = p->job->settings;
    struct dram_totals t = dram_totals_new();
    struct dram_simulation run = {.platform = p->job->platform,
                                  .policy = &p->job->policies[i],
                                  .job = p->job,
                                  .progress = p->job->progress,
                                  .took = took,
                                  .sides = p->sides,
                                  .vcs = (int)set->vcs,
                                  .repeat = p->repeat,
                                  .limit = limit_of(p)};
    for (uint32_t s = 0; s < p->sides; s++)
        run.side[s] = p->side[s].run;
    if (p->sides == 1)
        run.side[0].sms = p->side[0].alone_sms;
    if (dram_simulation_run(&run, err))
        return err_at(err, "%s", p->job->policies[i].head->name);
    add_up(p, &run, &t);
    dram_metrics_fill(out, p->job, NULL, &run, &t);
    for (uint32_t s = 0; s < p->sides; s++)
        if (*p->side[s].left_out)
            outcome_note(out, "%s: %s (cut=none: whole)", p->side[s].name, p->side[s].left_out);
    progress_add(p->job->progress, 1);
    return 0;
}

/* Every policy's run is one thread's. */
static int run_policies(struct corun_clients *p, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = p->job;
    const size_t listed = job->latencies ? job->listed_count : 0;
    struct dram_latency *took = listed ? mem_zalloc(listed * DRAM_TOOK, sizeof *took, err) : NULL;
    int failed = listed && !took;
#pragma omp parallel for schedule(dynamic) num_threads(job->threads) if (!job->explain && job->policy_count > 1)
    for (size_t i = 0; i < job->policy_count; i++) {
        struct err mine = {""};
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        const int rc = run_policy(p, i, i < listed && took ? &took[i * DRAM_TOOK] : NULL, &runs[i], &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed) {
            failed = 1;
            *err = mine;
        }
    }
    for (size_t i = 0; i < listed && !failed; i++)
        dram_latencies_write(job->latencies, &job->policies[i], &took[i * DRAM_TOOK]);
    free(took);
    return failed ? -1 : 0;
}

static int all_alone(struct corun_clients *p, struct err *err)
{
    int failed = 0;
#pragma omp parallel for num_threads(p->job->threads) if (p->sides > 1)
    for (uint32_t s = 0; s < p->sides; s++) {
        struct err mine = {""};
        const int rc = run_alone(p, s, &mine);
#pragma omp critical(dram_programs)
        if (rc && !failed) {
            failed = 1;
            *err = mine;
        }
    }
    return failed ? -1 : 0;
}

int dram_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    if (job->requests)
        return err_set(err, "--requests: the packets of a program have no ids of an input's; derive dram writes the "
                            "requests of a program, which can then be replayed one by one");
    struct corun_clients p = {.job = job};
    int rc = corun_clients_find(&p, err);
    if (rc == 0 && job->progress)
        atomic_store(&job->progress->total, job->policy_count);
    if (rc == 0)
        rc = all_alone(&p, err);
    if (rc == 0)
        rc = run_policies(&p, runs, err);
    corun_clients_release(&p);
    return rc;
}
