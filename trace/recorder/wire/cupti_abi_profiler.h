/* cupti_abi_profiler: what the recorder uses of CUPTI's range profiler, which counts per kernel.
 *
 * Every call takes one struct whose first word is its size (to its last field) and whose second is unused; the fields
 * below follow in the order of the toolkit's. Checked as trace/recorder/wire/cupti_abi.h is.
 * Source: CUDA 13.0 headers cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_target.h. */
#ifndef TRACE_RECORDER_WIRE_CUPTI_ABI_PROFILER_H
#define TRACE_RECORDER_WIRE_CUPTI_ABI_PROFILER_H

#include "trace/recorder/wire/cupti_abi.h"

/* The size CUPTI wants to be told: up to the end of the last field, without padding after it. */
#define ABI_PROFILER_SIZE(TYPE, LAST) (offsetof(TYPE, LAST) + sizeof(((TYPE *)0)->LAST))

enum { ABI_PROFILER_TYPE_RANGE = 0, ABI_RANGE_AUTO = 1, ABI_REPLAY_KERNEL = 2 };

struct abi_profiler_initialize {
    size_t size;
    void *unused;
};

struct abi_chip_name {
    size_t size;
    void *unused;
    size_t device;
    const char *chip; /* out */
};

struct abi_host_initialize {
    size_t size;
    void *unused;
    uint32_t profiler_type;
    const char *chip;
    const uint8_t *availability; /* NULL: chips known at the library's release */
    void *host;                  /* out */
};

struct abi_host_deinitialize {
    size_t size;
    void *unused;
    void *host;
};

struct abi_host_add_metrics {
    size_t size;
    void *unused;
    void *host;
    const char **names;
    size_t count;
};

struct abi_host_config_size {
    size_t size;
    void *unused;
    void *host;
    size_t bytes; /* out */
};

struct abi_host_config {
    size_t size;
    void *unused;
    void *host;
    size_t bytes;
    uint8_t *config;
};

struct abi_host_passes {
    size_t size;
    void *unused;
    size_t bytes;
    uint8_t *config;
    size_t passes; /* out */
};

struct abi_host_chips {
    size_t size;
    void *unused;
    size_t count;             /* out */
    const char *const *chips; /* out */
};

struct abi_host_evaluate {
    size_t size;
    void *unused;
    void *host;
    const uint8_t *data;
    size_t data_bytes;
    size_t range;
    const char **names;
    size_t count;
    double *values; /* out, `count` of them */
};

struct abi_range_enable {
    size_t size;
    void *unused;
    abi_context context;
    void *profiler; /* out */
};

struct abi_range_object { /* Disable, Start */
    size_t size;
    void *unused;
    void *profiler;
};

struct abi_range_stop {
    size_t size;
    void *unused;
    void *profiler;
    size_t pass, nesting;  /* out */
    uint8_t all_submitted; /* out */
};

struct abi_range_data_size {
    size_t size;
    void *unused;
    void *profiler;
    const char **names;
    size_t count;
    size_t max_ranges;
    uint32_t max_nodes;
    size_t bytes; /* out */
};

struct abi_range_data_initialize {
    size_t size;
    void *unused;
    void *profiler;
    size_t bytes;
    uint8_t *data;
};

struct abi_range_config {
    size_t size;
    void *unused;
    void *profiler;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    uint32_t range_mode, replay_mode;
    size_t max_ranges_per_pass;
    uint16_t nesting_levels, min_nesting;
    size_t pass;
    uint16_t target_nesting;
};

struct abi_range_decode {
    size_t size;
    void *unused;
    void *profiler;
    size_t dropped; /* out */
};

struct abi_range_info {
    size_t size;
    void *unused;
    const uint8_t *data;
    size_t data_bytes;
    size_t ranges; /* out */
};

/* The host side: needs neither a GPU nor a driver. */
struct abi_host {
    abi_result (*initialize)(struct abi_host_initialize *);
    abi_result (*deinitialize)(struct abi_host_deinitialize *);
    abi_result (*add_metrics)(struct abi_host_add_metrics *);
    abi_result (*config_size)(struct abi_host_config_size *);
    abi_result (*config)(struct abi_host_config *);
    abi_result (*passes)(struct abi_host_passes *);
    abi_result (*evaluate)(struct abi_host_evaluate *);
};

struct abi_profiler {
    abi_result (*initialize)(struct abi_profiler_initialize *);
    abi_result (*chip_name)(struct abi_chip_name *);
    abi_result (*enable)(struct abi_range_enable *);
    abi_result (*disable)(struct abi_range_object *);
    abi_result (*start)(struct abi_range_object *);
    abi_result (*stop)(struct abi_range_stop *);
    abi_result (*data_size)(struct abi_range_data_size *);
    abi_result (*data_initialize)(struct abi_range_data_initialize *);
    abi_result (*config)(struct abi_range_config *);
    abi_result (*decode)(struct abi_range_decode *);
    abi_result (*info)(struct abi_range_info *);
};

#endif
