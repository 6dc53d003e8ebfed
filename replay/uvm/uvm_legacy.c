#include "replay/uvm/uvm_legacy.h"

#include <math.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "trace/workloads/micro/launch_touch.h"

static void report(const struct legacy_cost *cost, const struct launch_touch *w, bool mapped, struct outcome *out)
{
    double n = (double)w->launches;
    int64_t structure = w->pages * 4096;
    outcome_int(out, "time_ns", llround(cost->time_ns * n));
    outcome_int(out, "faults", 0);
    outcome_int(out, "batches", 0);
    outcome_int(out, "routines", 0);
    outcome_int(out, "services", 0);
    outcome_int(out, "prefetched_bytes", 0);
    outcome_int(out, "evictions", 0);
    outcome_int(out, "h2d_bytes", cost->h2d_bytes * w->launches);
    outcome_int(out, "d2h_bytes", cost->d2h_bytes * w->launches);
    outcome_int(out, "structure_bytes", structure);
    outcome_int(out, "touched_bytes", w->touch == LEGACY_NONE ? 0 : structure);
    if (structure)
        outcome_real(out, "read_amplification_ratio", (double)(cost->h2d_bytes * w->launches) / (double)structure);
    if (mapped)
        outcome_note(
            out, "mapped pinned memory: nothing is copied and nothing faults; the kernel reads %lld bytes over the bus",
            (long long)w->gpu_bytes);
    else
        outcome_note(out,
                     "legacy: %lld CPU faults a launch; %.4g us to copy in, %.4g us in faults, %.4g us to copy back",
                     (long long)cost->faults, cost->copy_in_ns / 1e3, cost->fault_ns / 1e3, cost->copy_back_ns / 1e3);
}

int uvm_legacy_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct input *input = &job->inputs[0];
    if (!input->workload.type || input->workload.type->produces != WORKLOAD_LAUNCHES)
        return err_set(err, "legacy mode replays the workload launch-touch; '%.100s' is none", input->spec);
    if (!platform_has(job->platform, "legacy"))
        return err_set(err, "platform %s has no [legacy] numbers; try gm200 or gp100", platform_name(job->platform));
    const struct legacy_platform *hw = platform_section_get(job->platform, "legacy");
    const struct launch_touch *w = input->workload.state;
    for (size_t i = 0; i < job->policy_count; i++) {
        bool mapped = job->policies[i].head->baseline;
        struct legacy_cost cost;
        if (mapped)
            legacy_mapped(hw, w->gpu_bytes, &cost);
        else
            legacy_launch(hw, w->pages, (enum legacy_touch)w->touch, &cost);
        report(&cost, w, mapped, &runs[i]);
        if (!mapped)
            outcome_note(&runs[i], "%s decides nothing here: before demand paging a launch moves what the CPU dirtied",
                         job->policies[i].head->name);
    }
    return 0;
}
