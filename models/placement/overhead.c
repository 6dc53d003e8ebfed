#include "models/placement/overhead.h"

#include <math.h>

#include "trace/base/param.h"

/* --- section [placement] --- */

static const struct param params[] = {
    PARAM_REAL_ROW(placement_platform, l_hd, "ms/byte", 0, 1, 1e-7, "copy host to device"),
    PARAM_REAL_ROW(placement_platform, l_dh, "ms/byte", 0, 1, 1e-7, "copy device to host"),
    PARAM_REAL_ROW(placement_platform, l_mapping, "ms/byte", 0, 1, 2e-8, "creating and mapping GPU pages"),
    PARAM_REAL_ROW(placement_platform, l_ini, "ms/byte", 0, 1, 0, "first touch of a copy's destination"),
    PARAM_REAL_ROW(placement_platform, l_l2, "ms", 0, 1, 1e-4, "one access that hits the GPU's L2"),
    PARAM_REAL_ROW(placement_platform, l_mem, "ms", 0, 1, 3e-4, "one access to memory"),
    PARAM_REAL_ROW(placement_platform, t_ini, "ms", 0, 1e3, 0.01, "start-up of one copy"),
    PARAM_REAL_ROW(placement_platform, c_cpu, "ms", 0, 1e3, 0.05, "flush of the whole CPU cache"),
    PARAM_REAL_ROW(placement_platform, c_gpu, "ms", 0, 1e3, 0.01, "flush of the whole GPU cache"),
    PARAM_REAL_ROW(placement_platform, max_parallelism, "", 0, 1e9, 64, "ILP x TLP at peak throughput"),
    PARAM_REAL_ROW(placement_platform, l_uncached_read, "ms/byte", 0, 1, 0,
                   "what the CPU's reads of pinned memory lose"),
    PARAM_REAL_ROW(placement_platform, l_uncached_write, "ms/byte", 0, 1, 0, "what its writes lose"),
    PARAM_BYTES_ROW(placement_platform, memory_bytes, 1 << 20, 0x1p45, 0x1p33, "memory shared by CPU and GPU"),
    {0}};

static const struct platform_general general[] = {{"l_uncached_read", "0: the CPU caches pinned memory"},
                                                  {"l_uncached_write", "0: the CPU caches pinned memory"},
                                                  {0}};

const struct platform_section placement_section = {"placement", params, sizeof(struct placement_platform), general,
                                                   NULL};

/* (2) O_D */
static double overhead_device(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->copies * hw->t_ini + (hw->l_dh + hw->l_ini) * in->bytes_dh + hw->l_hd * in->bytes_hd;
}

/* (3) T_l */
static double overhead_launch(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->dirty_mapped_bytes * hw->l_mapping + in->dirty_kernels * hw->c_cpu;
}

/* (4) T_s, at worst */
static double overhead_synchronise(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->kernels * hw->c_gpu;
}

/* (5) O_M */
static double overhead_managed(const struct placement_inputs *in, const struct placement_platform *hw)
{
    return in->faults ? in->managed_ms : overhead_launch(in, hw) + overhead_synchronise(in, hw);
}

/* (7) */
static double overhead_penalty(const struct placement_inputs *in, const struct placement_platform *hw,
                               struct placement_misses misses)
{
    double latency = fmax(hw->l_mem - hw->l_l2, 0);
    if (misses.rule == PLACEMENT_IN_FLIGHT)
        return latency / (fmax(misses.sms, 1) * fmax(fmin(in->parallelism, hw->max_parallelism), 1));
    bool below = in->parallelism < hw->max_parallelism;
    bool hidden = misses.rule == PLACEMENT_PRINTED ? below : !below;
    return hidden ? 0 : latency;
}

/* (6) T_c */
static double overhead_cache(const struct placement_inputs *in, const struct placement_platform *hw,
                             struct placement_misses misses)
{
    return in->l2_hit_ratio * in->l2_instructions * overhead_penalty(in, hw, misses);
}

/* (8) O_H */
static double overhead_pinned(const struct placement_inputs *in, const struct placement_platform *hw,
                              struct placement_misses misses)
{
    return overhead_cache(in, hw, misses) + in->mapped_bytes * hw->l_mapping;
}

/* I: the part of a managed run in which the GPU idles while pages are mapped; the only part that another task may use.
 * Mapping happens at the launches of equation 3; under page faults nobody knows a part that is free. */
static double overhead_idle(const struct placement_inputs *in, const struct placement_platform *hw)
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
    out->host_ms = hw->l_uncached_write * in->bytes_hd + hw->l_uncached_read * in->bytes_dh;
    double device = out->ms[PLACEMENT_DEVICE];
    double flushes = in->faults ? 0 : hw->c_cpu + hw->c_gpu;
    out->margin_managed = (out->idle_ms - flushes) - (out->ms[PLACEMENT_MANAGED] - device);
    out->margin_pinned = (out->pinned_idle_ms - out->cache_ms) - (out->ms[PLACEMENT_PINNED] - device);
}

enum placement guideline_1(const struct placement_overheads *overheads)
{
    bool managed = overheads->margin_managed >= 0, pinned = overheads->margin_pinned >= overheads->host_ms;
    double pinned_ms = overheads->ms[PLACEMENT_PINNED] + overheads->host_ms;
    if (managed && pinned)
        return overheads->ms[PLACEMENT_MANAGED] <= pinned_ms ? PLACEMENT_MANAGED : PLACEMENT_PINNED;
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
