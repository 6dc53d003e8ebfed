#include "models/placement/overhead.h"

#include <math.h>

double overhead_device(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->copies * hw->t_ini + (hw->l_dh + hw->l_ini) * in->bytes_dh + hw->l_hd * in->bytes_hd;
}

double overhead_launch(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->dirty_mapped_bytes * hw->l_mapping + in->dirty_kernels * hw->c_cpu;
}

double overhead_synchronise(const struct placement_inputs *in, const struct placement_platform *hw)
{
    double worst = in->kernels * hw->c_gpu;
    return hw->l_writeback > 0 ? fmin(in->written_bytes * hw->l_writeback, worst) : worst;
}

double overhead_managed(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->faults ? in->managed_ms : overhead_launch(in, hw) + overhead_synchronise(in, hw);
}

double overhead_penalty(const struct placement_inputs *in, const struct placement_platform *hw,
                        struct placement_misses misses)
{
    double latency = fmax(hw->l_mem - hw->l_l2, 0);
    if (misses.rule == PLACEMENT_IN_FLIGHT)
        return latency / (fmax(misses.sms, 1) * fmax(fmin(in->parallelism, hw->max_parallelism), 1));
    bool below = in->parallelism < hw->max_parallelism;
    bool hidden = misses.rule == PLACEMENT_PRINTED ? below : !below;
    return hidden ? 0 : latency;
}

double overhead_cache(const struct placement_inputs *in, const struct placement_platform *hw,
                      struct placement_misses misses)
{
    return in->l2_hit_ratio * in->l2_instructions * overhead_penalty(in, hw, misses);
}

double overhead_pinned(const struct placement_inputs *in, const struct placement_platform *hw,
                       struct placement_misses misses)
{
    return overhead_cache(in, hw, misses) + in->mapped_bytes * hw->l_mapping;
}

double overhead_idle(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->faults ? 0 : in->dirty_mapped_bytes * hw->l_mapping;
}

void placement_overheads(const struct placement_inputs *in, const struct placement_platform *hw,
                         struct placement_misses misses, struct placement_overheads *out)
{
    out->ms[PLACEMENT_DEVICE] = overhead_device(in, hw);
    out->ms[PLACEMENT_MANAGED] = overhead_managed(in, hw);
    out->ms[PLACEMENT_PINNED] = overhead_pinned(in, hw, misses);
    out->idle_ms = overhead_idle(in, hw);
    out->pinned_idle_ms = in->mapped_bytes * hw->l_mapping;
    out->cache_ms = overhead_cache(in, hw, misses);
    double device = out->ms[PLACEMENT_DEVICE];
    double flushes = in->faults ? 0 : hw->c_cpu + hw->c_gpu;
    out->margin_managed = (out->idle_ms - flushes) - (out->ms[PLACEMENT_MANAGED] - device);
    out->margin_pinned = (out->pinned_idle_ms - out->cache_ms) - (out->ms[PLACEMENT_PINNED] - device);
}

enum placement guideline_1(const struct placement_overheads *overheads)
{
    bool managed = overheads->margin_managed >= 0, pinned = overheads->margin_pinned >= 0;
    if (managed && pinned)
        return overheads->ms[PLACEMENT_MANAGED] <= overheads->ms[PLACEMENT_PINNED] ? PLACEMENT_MANAGED
                                                                                   : PLACEMENT_PINNED;
    return managed ? PLACEMENT_MANAGED : pinned ? PLACEMENT_PINNED : PLACEMENT_DEVICE;
}

bool guideline_2(double managed_and_pinned_kernels, double device_kernels)
{
    return managed_and_pinned_kernels <= device_kernels;
}

const char *placement_name(enum placement placement)
{
    static const char *const names[] = {"device", "managed", "pinned"};
    return names[placement];
}
