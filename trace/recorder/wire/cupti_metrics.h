/* cupti_metrics: which of a chip's hardware counters one pass counts, and CUPTI's configuration of them.
 *
 * This is the half of `record --counters` that needs neither a GPU nor a driver (CUPTI's host library), so that it is
 * tested against the real library wherever that is installed. Counting takes one pass, always: a second pass would run
 * every kernel again, which finds managed pages migrated, caches filled and host memory written by the first run. A
 * group's counters are taken in order as long as one pass counts them together; the others are named as left out. */
#pragma once

#include "trace/base/err.h"
#include "trace/recorder/wire/cupti_abi.h"

enum { CUPTI_METRICS = 8 }; /* of one group at most */

/* The names of the groups, separated by "|". */
#define CUPTI_METRICS_GROUPS "l2|sectors|dram|pcie"

struct cupti_metrics {
    const struct abi_host *call;
    void *host;
    const char *names[CUPTI_METRICS];  /* CUPTI's: "dram__sectors_read.sum" */
    const char *stored[CUPTI_METRICS]; /* ours: "dram_read_sectors" */
    size_t count;
    uint8_t *config;
    size_t config_bytes;
};

/* A counter of the group that will not be counted, and why. */
typedef void (*cupti_metrics_left_out)(void *context, const char *counter, const char *why);

/* Find the host side's functions in a loaded libcupti; the name of the first one missing, or NULL. */
const char *cupti_metrics_load(struct abi_host *call, void *library);

/* Choose and configure. call stays the caller's and is used until release. 0: at least one counter, and *metrics is to
 * be released; -1: none, *err says why. */
int cupti_metrics_init(struct cupti_metrics *metrics, const struct abi_host *call, const char *chip, const char *group,
                       cupti_metrics_left_out left_out, void *context, struct err *err);

/* The values of one range of a decoded counter data image, in the order of names. */
abi_result cupti_metrics_values(const struct cupti_metrics *metrics, const uint8_t *data, size_t bytes, size_t range,
                                double values[CUPTI_METRICS]);

void cupti_metrics_release(struct cupti_metrics *metrics);
