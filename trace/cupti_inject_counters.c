#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "trace/cupti_abi_profiler.h"
#include "trace/cupti_inject.h"

/* Launches counted in one recording, and metrics of one group. */
enum { RANGES = 65536, METRICS = 8 };

/* What is counted. Metrics of a group go together in one configuration; L2 and PCIe counters do not (checked with CUPTI
 * 13.0 for GV100 to GB202: adding both is "not supported"). Each counter has the names that chips give it; the first
 * the chip knows is taken, and one it does not know is left out and said so. */
struct counter {
    const char *group, *name;
    const char *metrics[3];
};
static const struct counter counters[] = {
    {"l2",
     "l2_sysmem_requests",
     {"lts__t_requests_srcunit_tex_aperture_sysmem.sum", "syslts__t_requests_srcnode_gpc_aperture_sysmem.sum", NULL}},
    {"l2",
     "l2_sysmem_sectors",
     {"lts__t_sectors_srcunit_tex_aperture_sysmem.sum", "syslts__t_sectors_srcnode_gpc_aperture_sysmem.sum", NULL}},
    {"l2", "dram_read_sectors", {"dram__sectors_read.sum", NULL}},
    {"l2", "dram_write_sectors", {"dram__sectors_write.sum", NULL}},
    {"pcie", "pcie_read_bytes", {"pcie__read_bytes.sum", "PCI.TriageCompute.pcie__read_bytes.sum", NULL}},
    {"pcie", "pcie_write_bytes", {"pcie__write_bytes.sum", "PCI.TriageCompute.pcie__write_bytes.sum", NULL}},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static struct {
    struct abi_profiler call;
    const char *names[METRICS];  /* of CUPTI */
    const char *stored[METRICS]; /* ours */
    size_t count;
    void *host, *profiler;
    uint8_t *config, *data;
    size_t config_bytes, data_bytes;
    bool running;
    pthread_mutex_t lock; /* of the launches */
    uint64_t *launches;   /* texts of their kernels' names, in order */
    size_t launch_count, launch_cap;
} profile = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool load(void *library)
{
    const struct {
        const char *name;
        void *where;
    } symbols[] = {
        {"cuptiProfilerInitialize", &profile.call.initialize},
        {"cuptiDeviceGetChipName", &profile.call.chip_name},
        {"cuptiProfilerHostInitialize", &profile.call.host_initialize},
        {"cuptiProfilerHostDeinitialize", &profile.call.host_deinitialize},
        {"cuptiProfilerHostConfigAddMetrics", &profile.call.host_add_metrics},
        {"cuptiProfilerHostGetConfigImageSize", &profile.call.host_config_size},
        {"cuptiProfilerHostGetConfigImage", &profile.call.host_config},
        {"cuptiProfilerHostEvaluateToGpuValues", &profile.call.host_evaluate},
        {"cuptiRangeProfilerEnable", &profile.call.range_enable},
        {"cuptiRangeProfilerDisable", &profile.call.range_disable},
        {"cuptiRangeProfilerStart", &profile.call.range_start},
        {"cuptiRangeProfilerStop", &profile.call.range_stop},
        {"cuptiRangeProfilerGetCounterDataSize", &profile.call.range_data_size},
        {"cuptiRangeProfilerCounterDataImageInitialize", &profile.call.range_data_initialize},
        {"cuptiRangeProfilerSetConfig", &profile.call.range_config},
        {"cuptiRangeProfilerDecodeData", &profile.call.range_decode},
        {"cuptiRangeProfilerGetCounterDataInfo", &profile.call.range_info},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(library, symbols[i].name);
        if (!p) {
            inject_problem(RECORD_PIPE_WARNING,
                           "no counters: this CUPTI has no %s; the range profiler needs CUDA 12.6 or later",
                           symbols[i].name);
            return false;
        }
        memcpy(symbols[i].where, &p, sizeof p);
    }
    return true;
}

/* Report a step that failed; what to do where it is known. */
static bool step(const struct abi_cupti *cupti, const char *what, abi_result result)
{
    if (result == ABI_SUCCESS)
        return true;
    inject_problem(RECORD_PIPE_WARNING, "no counters: %s: %s (%u)%s", what, inject_result(cupti, result), result,
                   result == ABI_INSUFFICIENT_PRIVILEGES || result == ABI_VIRTUALIZED_PRIVILEGES
                       ? "; counters are for administrators here (ERR_NVGPUCTRPERM): the driver's option "
                         "NVreg_RestrictProfilingToAdminUsers=0 opens them, or record as root"
                       : "");
    return false;
}

static void *host_new(const char *chip, abi_result *result)
{
    struct abi_host_initialize p = {.size = ABI_PROFILER_SIZE(struct abi_host_initialize, host),
                                    .profiler_type = ABI_PROFILER_TYPE_RANGE,
                                    .chip = chip};
    *result = profile.call.host_initialize(&p);
    return *result == ABI_SUCCESS ? p.host : NULL;
}

static void host_free(void *host)
{
    struct abi_host_deinitialize p = {.size = ABI_PROFILER_SIZE(struct abi_host_deinitialize, host), .host = host};
    (void)profile.call.host_deinitialize(&p);
}

static abi_result add_metrics(void *host, const char **names, size_t count)
{
    struct abi_host_add_metrics p = {
        .size = ABI_PROFILER_SIZE(struct abi_host_add_metrics, count), .host = host, .names = names, .count = count};
    return profile.call.host_add_metrics(&p);
}

/* Whether the chip has a metric: a refusal spoils the object it was asked of, so each gets its own. */
static bool chip_has(const char *chip, const char *metric)
{
    abi_result result;
    void *host = host_new(chip, &result);
    if (!host)
        return false;
    result = add_metrics(host, &metric, 1);
    host_free(host);
    return result == ABI_SUCCESS;
}

static void choose_metrics(const char *chip, const char *group)
{
    profile.count = 0;
    for (size_t i = 0; i < COUNTERS; i++) {
        if (strcmp(counters[i].group, group) != 0)
            continue;
        const char *const *m = counters[i].metrics;
        while (*m && !chip_has(chip, *m))
            m++;
        if (!*m) {
            inject_problem(RECORD_PIPE_WARNING, "%s cannot count %s", chip, counters[i].name);
            continue;
        }
        profile.names[profile.count] = *m;
        profile.stored[profile.count++] = counters[i].name;
        inject_fact(counters[i].name, *m);
    }
}

static bool make_config(const struct abi_cupti *cupti, const char *chip)
{
    abi_result result;
    profile.host = host_new(chip, &result);
    if (!step(cupti, "the profiler's host side does not start", result) ||
        !step(cupti, "the metrics are refused", add_metrics(profile.host, profile.names, profile.count)))
        return false;
    struct abi_host_config_size s = {.size = ABI_PROFILER_SIZE(struct abi_host_config_size, bytes),
                                     .host = profile.host};
    if (!step(cupti, "no configuration", profile.call.host_config_size(&s)))
        return false;
    profile.config_bytes = s.bytes;
    profile.config = calloc(1, s.bytes + 1);
    struct abi_host_config c = {.size = ABI_PROFILER_SIZE(struct abi_host_config, config),
                                .host = profile.host,
                                .bytes = s.bytes,
                                .config = profile.config};
    return profile.config && step(cupti, "no configuration", profile.call.host_config(&c));
}

static bool make_data(const struct abi_cupti *cupti)
{
    struct abi_range_data_size s = {.size = ABI_PROFILER_SIZE(struct abi_range_data_size, bytes),
                                    .profiler = profile.profiler,
                                    .names = profile.names,
                                    .count = profile.count,
                                    .max_ranges = RANGES,
                                    .max_nodes = RANGES};
    if (!step(cupti, "no room for the values", profile.call.range_data_size(&s)))
        return false;
    profile.data_bytes = s.bytes;
    profile.data = calloc(1, s.bytes + 1);
    struct abi_range_data_initialize i = {.size = ABI_PROFILER_SIZE(struct abi_range_data_initialize, data),
                                          .profiler = profile.profiler,
                                          .bytes = s.bytes,
                                          .data = profile.data};
    return profile.data && step(cupti, "no room for the values", profile.call.range_data_initialize(&i));
}

static bool start(const struct abi_cupti *cupti, abi_context context, const char *chip)
{
    struct abi_range_enable e = {.size = ABI_PROFILER_SIZE(struct abi_range_enable, profiler), .context = context};
    if (!make_config(cupti, chip) || !step(cupti, "the profiler does not start", profile.call.range_enable(&e)))
        return false;
    profile.profiler = e.profiler;
    if (!make_data(cupti))
        return false;
    struct abi_range_config c = {.size = ABI_PROFILER_SIZE(struct abi_range_config, target_nesting),
                                 .profiler = profile.profiler,
                                 .config_bytes = profile.config_bytes,
                                 .config = profile.config,
                                 .data_bytes = profile.data_bytes,
                                 .data = profile.data,
                                 .range_mode = ABI_RANGE_AUTO,
                                 .replay_mode = ABI_REPLAY_KERNEL,
                                 .max_ranges_per_pass = RANGES,
                                 .nesting_levels = 1,
                                 .min_nesting = 1,
                                 .target_nesting = 1};
    struct abi_range_object o = {.size = ABI_PROFILER_SIZE(struct abi_range_object, profiler),
                                 .profiler = profile.profiler};
    return step(cupti, "the profiler takes no configuration", profile.call.range_config(&c)) &&
           step(cupti, "the profiler does not start", profile.call.range_start(&o));
}

void inject_counters_start(void *library, const struct abi_cupti *cupti, abi_context context, uint32_t device,
                           const char *group)
{
    if (!load(library))
        return;
    struct abi_profiler_initialize i = {.size = ABI_PROFILER_SIZE(struct abi_profiler_initialize, unused)};
    struct abi_chip_name n = {.size = ABI_PROFILER_SIZE(struct abi_chip_name, chip), .device = device};
    if (!step(cupti, "the profiler does not start", profile.call.initialize(&i)) ||
        !step(cupti, "the chip is not known", profile.call.chip_name(&n)))
        return;
    inject_fact("chip", n.chip);
    choose_metrics(n.chip, group);
    if (profile.count > 0)
        profile.running = start(cupti, context, n.chip);
}

void inject_counters_launch(const char *kernel)
{
    if (!profile.running)
        return;
    uint64_t text = inject_text(kernel);
    pthread_mutex_lock(&profile.lock);
    if (profile.launch_count == profile.launch_cap && profile.launch_cap < RANGES) {
        size_t cap = profile.launch_cap ? profile.launch_cap * 2 : 256;
        uint64_t *grown = realloc(profile.launches, cap * sizeof *grown);
        if (grown) {
            profile.launches = grown;
            profile.launch_cap = cap;
        }
    }
    if (profile.launch_count < profile.launch_cap)
        profile.launches[profile.launch_count++] = text;
    pthread_mutex_unlock(&profile.lock);
}

static void send_values(size_t range)
{
    double values[METRICS] = {0};
    struct abi_host_evaluate e = {.size = ABI_PROFILER_SIZE(struct abi_host_evaluate, values),
                                  .host = profile.host,
                                  .data = profile.data,
                                  .data_bytes = profile.data_bytes,
                                  .range = range,
                                  .names = profile.names,
                                  .count = profile.count,
                                  .values = values};
    if (profile.call.host_evaluate(&e) != ABI_SUCCESS) {
        inject_count(RECORD_PIPE_DROP, "counter values of a launch could not be decoded", 1);
        return;
    }
    for (size_t i = 0; i < profile.count; i++) {
        struct record_pipe_message m = {.type = RECORD_PIPE_COUNTER, .id = inject_text(profile.stored[i])};
        m.group = (uint32_t)range;
        m.addr = range < profile.launch_count ? profile.launches[range] : 0;
        memcpy(&m.bytes, &values[i], sizeof values[i]);
        inject_put(&m, 1);
    }
}

void inject_counters_finish(const struct abi_cupti *cupti)
{
    if (!profile.running)
        return;
    profile.running = false;
    struct abi_range_stop s = {.size = ABI_PROFILER_SIZE(struct abi_range_stop, all_submitted),
                               .profiler = profile.profiler};
    struct abi_range_decode d = {.size = ABI_PROFILER_SIZE(struct abi_range_decode, dropped),
                                 .profiler = profile.profiler};
    struct abi_range_info n = {.size = ABI_PROFILER_SIZE(struct abi_range_info, ranges)};
    if (!step(cupti, "the profiler does not stop", profile.call.range_stop(&s)) ||
        !step(cupti, "the values cannot be decoded", profile.call.range_decode(&d)))
        return;
    n.data = profile.data;
    n.data_bytes = profile.data_bytes;
    if (!step(cupti, "the values cannot be read", profile.call.range_info(&n)))
        return;
    inject_count(RECORD_PIPE_DROP, "launches over the profiler's limit", d.dropped);
    for (size_t r = 0; r < n.ranges; r++)
        send_values(r);
    struct abi_range_object o = {.size = ABI_PROFILER_SIZE(struct abi_range_object, profiler),
                                 .profiler = profile.profiler};
    (void)profile.call.range_disable(&o);
    host_free(profile.host);
}
