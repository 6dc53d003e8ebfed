#include "trace/recorder/wire/cupti_metrics.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Each counter has the names that chips give it; the first the chip knows is taken. L2 and PCIe counters do not go
 * together on any chip, and on GV100 requests and sectors need two passes: hence the groups.
 * Source: CUPTI 13.0's host library, asked for all of its 30 chips (trace/recorder/wire/cupti_metrics_test.c asks
 * again). "tex": what the multiprocessors ask for, as in the H200's recorded counters; pcie counts "at 512 B
 * granularity". */
struct counter {
    const char *groups; /* "|l2|dram|" */
    const char *name;
    const char *metrics[3];
};
static const struct counter counters[] = {
    {"|l2|",
     "l2_sysmem_requests",
     {"lts__t_requests_srcunit_tex_aperture_sysmem.sum", "syslts__t_requests_srcunit_tex_aperture_sysmem.sum", NULL}},
    {"|l2|sectors|",
     "l2_sysmem_sectors",
     {"lts__t_sectors_srcunit_tex_aperture_sysmem.sum", "syslts__t_sectors_srcunit_tex_aperture_sysmem.sum", NULL}},
    {"|l2|dram|", "dram_read_sectors", {"dram__sectors_read.sum", "dram__sectors_op_read.sum", NULL}},
    {"|l2|dram|", "dram_write_sectors", {"dram__sectors_write.sum", "dram__sectors_op_write.sum", NULL}},
    {"|pcie|", "pcie_read_bytes", {"pcie__read_bytes.sum", NULL}},
    {"|pcie|", "pcie_write_bytes", {"pcie__write_bytes.sum", NULL}},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

const char *cupti_metrics_load(struct abi_host *call, void *library)
{
    const struct {
        const char *name;
        void *where;
    } symbols[] = {
        {"cuptiProfilerHostInitialize", &call->initialize},
        {"cuptiProfilerHostDeinitialize", &call->deinitialize},
        {"cuptiProfilerHostConfigAddMetrics", &call->add_metrics},
        {"cuptiProfilerHostGetConfigImageSize", &call->config_size},
        {"cuptiProfilerHostGetConfigImage", &call->config},
        {"cuptiProfilerHostGetNumOfPasses", &call->passes},
        {"cuptiProfilerHostEvaluateToGpuValues", &call->evaluate},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(library, symbols[i].name);
        if (!p)
            return symbols[i].name;
        memcpy(symbols[i].where, &p, sizeof p);
    }
    return NULL;
}

static void *host_new(const struct abi_host *call, const char *chip, abi_result *result)
{
    struct abi_host_initialize p = {.size = ABI_PROFILER_SIZE(struct abi_host_initialize, host),
                                    .profiler_type = ABI_PROFILER_TYPE_RANGE,
                                    .chip = chip};
    *result = call->initialize(&p);
    return *result == ABI_SUCCESS ? p.host : NULL;
}

static void host_free(const struct abi_host *call, void *host)
{
    struct abi_host_deinitialize p = {.size = ABI_PROFILER_SIZE(struct abi_host_deinitialize, host), .host = host};
    if (host)
        (void)call->deinitialize(&p);
}

/* A host object with these metrics added and their configuration. The first call that fails says how; what was made is
 * in *m in any case. */
static abi_result configure(struct cupti_metrics *m, const char *chip)
{
    abi_result result;
    m->host = host_new(m->call, chip, &result);
    if (!m->host)
        return result;
    struct abi_host_add_metrics a = {.size = ABI_PROFILER_SIZE(struct abi_host_add_metrics, count),
                                     .host = m->host,
                                     .names = m->names,
                                     .count = m->count};
    struct abi_host_config_size s = {.size = ABI_PROFILER_SIZE(struct abi_host_config_size, bytes), .host = m->host};
    if ((result = m->call->add_metrics(&a)) != ABI_SUCCESS || (result = m->call->config_size(&s)) != ABI_SUCCESS)
        return result;
    m->config_bytes = s.bytes;
    m->config = calloc(1, s.bytes + 1);
    if (!m->config)
        return ABI_OUT_OF_MEMORY;
    struct abi_host_config c = {.size = ABI_PROFILER_SIZE(struct abi_host_config, config),
                                .host = m->host,
                                .bytes = s.bytes,
                                .config = m->config};
    return m->call->config(&c);
}

void cupti_metrics_release(struct cupti_metrics *m)
{
    host_free(m->call, m->host);
    free(m->config);
    m->host = NULL;
    m->config = NULL;
}

/* How many passes the metrics of *m take; 0: the chip does not count them together. Each question needs an object of
 * its own, since a refusal spoils the one it was asked of. */
static size_t passes(const struct cupti_metrics *m, const char *chip)
{
    struct cupti_metrics trial = *m;
    trial.host = NULL;
    trial.config = NULL;
    struct abi_host_passes p = {.size = ABI_PROFILER_SIZE(struct abi_host_passes, passes)};
    abi_result result = configure(&trial, chip);
    if (result == ABI_SUCCESS) {
        p.bytes = trial.config_bytes;
        p.config = trial.config;
        result = m->call->passes(&p);
    }
    cupti_metrics_release(&trial);
    return result == ABI_SUCCESS ? p.passes : 0;
}

/* Add the counter if one pass still counts everything; otherwise say why not. */
static void add(struct cupti_metrics *m, const char *chip, const struct counter *counter,
                cupti_metrics_left_out left_out, void *context)
{
    const char *why = "the chip has no such counter";
    for (const char *const *name = counter->metrics; *name; name++) {
        struct cupti_metrics alone = {.call = m->call, .names = {*name}, .count = 1};
        if (passes(&alone, chip) == 0)
            continue;
        m->names[m->count] = *name;
        m->stored[m->count++] = counter->name;
        if (passes(m, chip) == 1)
            return;
        m->count--;
        why = "the chip does not count it in one pass with the others";
        break;
    }
    left_out(context, counter->name, why);
}

int cupti_metrics_init(struct cupti_metrics *m, const struct abi_host *call, const char *chip, const char *group,
                       cupti_metrics_left_out left_out, void *context, struct err *err)
{
    *m = (struct cupti_metrics){.call = call};
    abi_result result;
    void *host = host_new(call, chip, &result);
    if (!host)
        return err_set(err, "this CUPTI's range profiler does not know the chip %s (error %u)", chip, result);
    host_free(call, host);
    size_t length = strlen(group);
    for (size_t i = 0; i < COUNTERS; i++) {
        const char *at = strstr(counters[i].groups, group);
        if (at && at[-1] == '|' && at[length] == '|')
            add(m, chip, &counters[i], left_out, context);
    }
    if (m->count == 0)
        return err_set(err, "the chip %s counts nothing of group %s", chip, group);
    result = configure(m, chip);
    if (result == ABI_SUCCESS)
        return 0;
    cupti_metrics_release(m);
    return err_set(err, "CUPTI makes no configuration for %s (error %u)", chip, result);
}

abi_result cupti_metrics_values(const struct cupti_metrics *m, const uint8_t *data, size_t bytes, size_t range,
                                double values[CUPTI_METRICS])
{
    struct cupti_metrics copy = *m; /* CUPTI wants the names without const */
    struct abi_host_evaluate e = {.size = ABI_PROFILER_SIZE(struct abi_host_evaluate, values),
                                  .host = m->host,
                                  .data = data,
                                  .data_bytes = bytes,
                                  .range = range,
                                  .names = copy.names,
                                  .count = m->count,
                                  .values = values};
    return m->call->evaluate(&e);
}
