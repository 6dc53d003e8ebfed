/* cupti_abi: what the recorder uses of the binary interface of CUPTI and of the CUDA driver, in our own words.
 *
 * The recorder loads both libraries at run time and therefore builds on machines that have neither. Only layouts,
 * numbers and signatures are stated here; where the toolkit's own headers are installed, `make check` compiles
 * fixtures/standin/abi_check.c, which compares every one of them with the real declarations (skipped elsewhere).
 * Activity records grow at their end from one CUPTI version to the next: the fields named here are the common beginning
 * of all versions since the one given, so they are read from records of any later library.
 * Source: CUDA 13.0 headers cupti_activity.h, cupti_callbacks.h, cupti_result.h, cupti_driver_cbid.h,
 * cupti_runtime_cbid.h, generated_cuda_meta.h, generated_cuda_runtime_api_meta.h; counters: below. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ABI_CUDA_VERSION "13.0" /* of the headers that are restated here */

typedef void *abi_context; /* CUcontext */
typedef uint32_t abi_result;

enum {
    ABI_SUCCESS = 0,
    ABI_INVALID_PARAMETER = 1, /* also a metric the chip does not have */
    ABI_INVALID_OPERATION = 7,
    ABI_OUT_OF_MEMORY = 8,
    ABI_MAX_LIMIT_REACHED = 12, /* GetNextRecord: no more records in this buffer */
    ABI_NOT_READY = 13,         /* counters enabled before a context existed */
    ABI_INVALID_KIND = 21,      /* also of an unfinished record at the end of a buffer */
    ABI_NOT_SUPPORTED = 27,     /* also metrics that do not go together, a chip without range profiler */
    ABI_UM_NOT_SUPPORTED = 28,
    ABI_UM_NOT_SUPPORTED_ON_DEVICE = 29,
    ABI_UM_NOT_SUPPORTED_ON_NON_P2P = 30,
    ABI_UM_NOT_SUPPORTED_WITH_MPS = 31,
    ABI_VIRTUALIZED_DEVICE = 33,
    ABI_INSUFFICIENT_PRIVILEGES = 35,
    ABI_MULTIPLE_SUBSCRIBERS = 39,
    ABI_VIRTUALIZED_PRIVILEGES = 40,
    ABI_CONFIDENTIAL_COMPUTING = 41,
    ABI_MIG_DEVICE = 43,
    ABI_WSL_DEVICE = 45
};

/* Kinds of activity records. */
enum {
    ABI_KIND_MEMCPY = 1,
    ABI_KIND_KERNEL = 3,
    ABI_KIND_CONCURRENT_KERNEL = 10,
    ABI_KIND_MARKER = 12,
    ABI_KIND_MEMCPY2 = 22, /* peer to peer */
    ABI_KIND_UNIFIED_MEMORY_COUNTER = 25
};

/* Kinds of unified-memory counters: trace/event/uvm_event.h. Scope of a configuration: this process on one device. */
enum { ABI_UM_SCOPE_PROCESS_SINGLE_DEVICE = 1, ABI_UM_KIND_LAST = 8 };

struct abi_um_config {
    uint32_t scope, kind, device, enable;
};

/* CUpti_ActivityUnifiedMemoryCounter2 (CUDA 7.0 to 12.x) and 3 (since 12.8, which appends five words). */
struct abi_um_counter {
    uint32_t kind, counter_kind;
    uint64_t value, start, end, address;
    uint32_t src, dst, stream, process, flags, pad;
};

/* CUpti_ActivityKernel4 (CUDA 9) to Kernel10. */
struct abi_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
};

/* CUpti_ActivityMemcpy to Memcpy6, and (up to `end`) CUpti_ActivityMemcpyPtoP to PtoP4. */
struct abi_memcpy {
    uint32_t kind;
    uint8_t copy_kind, src_kind, dst_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
};

/* CUpti_ActivityMarker2 (CUDA 6 to 13): an instant, or the beginning or the end of a range; both have its id. */
struct abi_marker {
    uint32_t kind, flags; /* ABI_MARKER_... */
    uint64_t time;
    uint32_t id, object_kind, process, thread, object, pad;
    const char *name, *domain; /* name: NULL at an end */
};
enum { ABI_MARKER_INSTANT = 1, ABI_MARKER_START = 2, ABI_MARKER_END = 4 };

/* --- callbacks --- */

enum { ABI_DOMAIN_DRIVER = 1, ABI_DOMAIN_RUNTIME = 2, ABI_DOMAIN_RESOURCE = 3 };
enum { ABI_RESOURCE_CONTEXT_CREATED = 1, ABI_RESOURCE_CONTEXT_DESTROY = 2 };
enum { ABI_SITE_ENTER = 0, ABI_SITE_EXIT = 1 };

struct abi_callback_data {
    uint32_t site;
    const char *function;
    const void *params; /* the call's arguments, in order, each aligned as in a struct */
    void *return_value; /* on exit: a 32-bit status */
    const char *symbol;
    abi_context context;
    uint32_t context_uid;
    uint64_t *correlation_data; /* shared by enter and exit of one call */
    uint32_t correlation;
};

struct abi_resource_data {
    abi_context context;
};

/* Callback numbers of the driver interface. */
enum {
    ABI_CU_MEM_FREE_HOST = 38,
    ABI_CU_MEM_HOST_ALLOC = 39,
    ABI_CU_MEM_ALLOC = 243,
    ABI_CU_MEM_ALLOC_PITCH = 244,
    ABI_CU_MEM_FREE = 245,
    ABI_CU_MEM_HOST_ALLOC_V2 = 271,
    ABI_CU_MEM_ALLOC_HOST = 294,
    ABI_CU_MEM_HOST_REGISTER = 301,
    ABI_CU_MEM_HOST_UNREGISTER = 302,
    ABI_CU_MEM_ALLOC_MANAGED = 371,
    ABI_CU_MEM_HOST_REGISTER_V2 = 379,
    ABI_CU_MEM_ADVISE = 457,
    ABI_CU_MEM_PREFETCH = 467,
    ABI_CU_MEM_PREFETCH_PTSZ = 468,
    ABI_CU_MEM_ALLOC_ASYNC = 598,
    ABI_CU_MEM_ALLOC_ASYNC_PTSZ = 599,
    ABI_CU_MEM_FREE_ASYNC = 600,
    ABI_CU_MEM_FREE_ASYNC_PTSZ = 601,
    ABI_CU_MEM_ALLOC_POOL = 611,
    ABI_CU_MEM_ALLOC_POOL_PTSZ = 612,
    ABI_CU_MEM_ADVISE_V2 = 715,
    ABI_CU_MEM_PREFETCH_V2 = 716,
    ABI_CU_MEM_PREFETCH_V2_PTSZ = 717,
    ABI_CU_LAUNCH_KERNEL = 307,
    ABI_CU_LAUNCH_KERNEL_PTSZ = 442,
    ABI_CU_LAUNCH_COOPERATIVE = 477,
    ABI_CU_LAUNCH_COOPERATIVE_PTSZ = 478,
    ABI_CU_LAUNCH_KERNEL_EX = 652,
    ABI_CU_LAUNCH_KERNEL_EX_PTSZ = 653,
    ABI_CU_GRAPH_LAUNCH = 514,
    ABI_CU_GRAPH_LAUNCH_PTSZ = 515,
    ABI_CU_CAPTURE = 495, /* cuStreamBeginCapture... */
    ABI_CU_CAPTURE_PTSZ = 496,
    ABI_CU_END_CAPTURE = 497,
    ABI_CU_END_CAPTURE_PTSZ = 498,
    ABI_CU_CAPTURE_V2 = 539,
    ABI_CU_CAPTURE_V2_PTSZ = 540,
    ABI_CU_CAPTURE_INTO = 720, /* cuStreamBeginCaptureToGraph */
    ABI_CU_CAPTURE_INTO_PTSZ = 721,
    ABI_CU_CTX_SYNCHRONIZE = 17,
    ABI_CU_EVENT_SYNCHRONIZE = 121,
    ABI_CU_STREAM_SYNCHRONIZE = 126,
    ABI_CU_STREAM_SYNCHRONIZE_PTSZ = 440,
    ABI_CU_CTX_SYNCHRONIZE_V2 = 800,
    ABI_CU_MEMCPY_HTOD = 276,
    ABI_CU_MEMCPY_DTOH = 278,
    ABI_CU_MEMCPY_2D = 287,
    ABI_CU_MEMCPY = 305,
    ABI_CU_MEMCPY_HTOD_PTDS = 397,
    ABI_CU_MEMCPY_DTOH_PTDS = 398,
    ABI_CU_MEMCPY_2D_PTDS = 405,
    ABI_CU_MEMCPY_PTDS = 408
};

/* Statuses of the driver: a capture that something spoiled has ended all the same. */
enum { ABI_CU_CAPTURE_INVALIDATED = 901, ABI_CU_CAPTURE_UNJOINED = 904 };

/* Callback numbers of the runtime interface. */
enum {
    ABI_CUDA_MALLOC = 20,
    ABI_CUDA_MALLOC_PITCH = 21,
    ABI_CUDA_FREE = 22,
    ABI_CUDA_MALLOC_HOST = 25,
    ABI_CUDA_FREE_HOST = 26,
    ABI_CUDA_HOST_ALLOC = 27,
    ABI_CUDA_HOST_REGISTER = 152,
    ABI_CUDA_HOST_UNREGISTER = 153,
    ABI_CUDA_MALLOC_MANAGED = 206,
    ABI_CUDA_MEM_PREFETCH = 252,
    ABI_CUDA_MEM_PREFETCH_PTSZ = 253,
    ABI_CUDA_MEM_ADVISE = 254,
    ABI_CUDA_MALLOC_ASYNC = 373,
    ABI_CUDA_MALLOC_ASYNC_PTSZ = 374,
    ABI_CUDA_FREE_ASYNC = 375,
    ABI_CUDA_FREE_ASYNC_PTSZ = 376,
    ABI_CUDA_MALLOC_POOL = 391,
    ABI_CUDA_MALLOC_POOL_PTSZ = 392,
    ABI_CUDA_MEM_ADVISE_V2 = 448,
    ABI_CUDA_MEM_PREFETCH_V2 = 449,
    ABI_CUDA_MEM_PREFETCH_V2_PTSZ = 450
};

/* Arguments. Driver and runtime calls of one shape share a struct: a pointer and a device pointer are both 64 bits. */
struct abi_params_alloc { /* cuMemAlloc, cuMemAllocManaged, cuMemHostAlloc, cuMemAllocHost, ...Async; cudaMalloc... */
    uint64_t *address;    /* written by the call */
    uint64_t bytes;
};
struct abi_params_alloc_pitch { /* cuMemAllocPitch, cudaMallocPitch */
    uint64_t *address;
    uint64_t *pitch;
    uint64_t width_bytes, height;
};
struct abi_params_range { /* cuMemHostRegister, cuMemFree (address only), cuMemHostUnregister, cudaFree... */
    uint64_t address, bytes;
};
struct abi_location { /* CUmemLocation, cudaMemLocation: type 1 device, 2 and more host */
    uint32_t type;
    int32_t id;
};
struct abi_params_advise {
    uint64_t address, bytes;
    uint32_t advice;
    int32_t device;
};
struct abi_params_advise_v2 {
    uint64_t address, bytes;
    uint32_t advice;
    struct abi_location location;
};
struct abi_params_prefetch {
    uint64_t address, bytes;
    int32_t device;
};
struct abi_params_prefetch_v2 {
    uint64_t address, bytes;
    struct abi_location location;
};
struct abi_params_launch { /* cuLaunchKernel, cuLaunchCooperativeKernel: the beginning */
    void *function;
    uint32_t grid[3], block[3], shared;
    void *stream;
};
struct abi_launch_config { /* CUlaunchConfig: the beginning */
    uint32_t grid[3], block[3], shared;
    void *stream;
};
struct abi_params_launch_ex { /* cuLaunchKernelEx */
    const struct abi_launch_config *config;
};
enum { ABI_LOCATION_DEVICE = 1, ABI_DEVICE_CPU = -1 };

/* --- signatures --- */

typedef void (*abi_callback)(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void (*abi_buffer_requested)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*abi_buffer_completed)(abi_context context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

struct abi_cupti {
    abi_result (*get_version)(uint32_t *version);
    abi_result (*get_result_string)(abi_result result, const char **text);
    abi_result (*get_timestamp)(uint64_t *ns);
    abi_result (*get_device_id)(abi_context context, uint32_t *device);
    abi_result (*subscribe)(void **subscriber, abi_callback callback, void *user);
    abi_result (*unsubscribe)(void *subscriber);
    abi_result (*enable_callback)(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id);
    abi_result (*activity_register_callbacks)(abi_buffer_requested requested, abi_buffer_completed completed);
    abi_result (*activity_enable)(uint32_t kind);
    abi_result (*activity_disable)(uint32_t kind);
    abi_result (*activity_flush_all)(uint32_t flag);
    abi_result (*activity_get_next_record)(uint8_t *buffer, size_t valid, void **record);
    abi_result (*activity_get_dropped)(abi_context context, uint32_t stream, size_t *dropped);
    abi_result (*activity_configure_um)(struct abi_um_config *configs, uint32_t count);
};

/* The driver's own calls that the recorder makes, for facts about devices. */
enum {
    ABI_ATTRIBUTE_CLOCK_KHZ = 13,
    ABI_ATTRIBUTE_SMS = 16,
    ABI_ATTRIBUTE_INTEGRATED = 18,
    ABI_ATTRIBUTE_L2_BYTES = 38,
    ABI_ATTRIBUTE_MAJOR = 75,
    ABI_ATTRIBUTE_MINOR = 76,
    ABI_ATTRIBUTE_PAGEABLE_ACCESS = 88,
    ABI_ATTRIBUTE_CONCURRENT_MANAGED = 89,
    ABI_ATTRIBUTE_HOST_PAGE_TABLES = 100
};

struct abi_driver {
    abi_result (*driver_get_version)(int *version);
    abi_result (*device_get_count)(int *count);
    abi_result (*device_get)(int *device, int ordinal);
    abi_result (*device_get_name)(char *name, int bytes, int device);
    abi_result (*device_get_uuid)(unsigned char uuid[16], int device);
    abi_result (*device_get_attribute)(int *value, uint32_t attribute, int device);
    abi_result (*device_total_mem)(size_t *bytes, int device);
};

/* --- what the recorder uses of CUPTI's range profiler, which counts per kernel ---
 *
 * Every call takes one struct whose first word is its size (to its last field) and whose second is unused; the fields
 * below follow in the order of the toolkit's.
 * Source: CUDA 13.0 headers cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_target.h. */

/* The size CUPTI wants to be told: up to the end of the last field, without padding after it. */
#define ABI_PROFILER_SIZE(TYPE, LAST) (offsetof(TYPE, LAST) + sizeof(((TYPE *)0)->LAST))

enum { ABI_PROFILER_TYPE_RANGE = 0, ABI_RANGE_AUTO = 1, ABI_REPLAY_USER = 3 };

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
