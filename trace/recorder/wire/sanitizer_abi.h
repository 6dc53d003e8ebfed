/* sanitizer_abi: what the recorder of accesses uses of the binary interface of NVIDIA's Sanitizer API
 * (libsanitizer-public.so of the CUDA toolkit's compute-sanitizer), in our own words.
 *
 * The library is loaded at run time, so the recorder builds on machines without it. Only layouts, numbers and
 * signatures are stated here; where the toolkit's own headers are installed, `make check` compiles
 * fixtures/standin/abi_check_sanitizer.c, which compares every one of them with the real declarations (skipped
 * elsewhere). The layout of struct san_launch is that of CUDA 12 and later (older ones have no cluster dimensions in
 * it): a library without SAN_SINCE is refused. Source: its documentation and headers sanitizer_callbacks.h,
 * sanitizer_memory.h, sanitizer_patching.h, sanitizer_result.h and sanitizer_stream.h of CUDA 12. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint32_t san_result;

enum { SAN_SUCCESS = 0, SAN_MAX_LIMIT_REACHED = 10, SAN_NOT_INITIALIZED = 13 };

/* A function of libraries whose struct san_launch is the one below. */
#define SAN_SINCE "sanitizerSetDeviceGraphData"

/* --- callbacks --- */

enum { SAN_DOMAIN_RESOURCE = 3, SAN_DOMAIN_LAUNCH = 5, SAN_DOMAIN_GRAPHS = 10 };

/* Of domain resource. */
enum {
    SAN_CONTEXT_CREATED = 3,
    SAN_CONTEXT_DESTROY = 4, /* about to be */
    SAN_MODULE_LOADED = 9,
    SAN_DEVICE_ALLOC = 11,
    SAN_DEVICE_FREE = 12,
    SAN_HOST_ALLOC = 13,
    SAN_HOST_FREE = 14,
    SAN_ASYNC_ALLOC = 15,
    SAN_ASYNC_FREE = 16
};

/* Of domain launch. The end comes when the launch was handed to the stream, not when the kernel is over. */
enum { SAN_LAUNCH_BEGIN = 1, SAN_LAUNCH_END = 3 };

/* Of domain graphs. */
enum { SAN_NODE_LAUNCH_BEGIN = 4, SAN_NODE_KERNEL = 0 };

struct san_context {
    void *context;
    int32_t device;
};

struct san_module { /* the beginning; later versions append */
    void *context, *module;
};

enum {
    SAN_MEMORY_MODULE = 0x1, /* a variable of a module */
    SAN_MEMORY_MANAGED = 0x2,
    SAN_MEMORY_HOST_MAPPED = 0x4,
    SAN_MEMORY_HOST_PINNED = 0x8,
    SAN_MEMORY_PEER = 0x10,
    SAN_MEMORY_CG_RUNTIME = 0x40, /* of the runtime's own */
    SAN_MEMORY_CNP = 0x80
};

struct san_memory {
    uint64_t address, bytes;
    void *context;
    int32_t device;
    void *stream, *stream_handle, *pool;
    uint32_t flags; /* SAN_MEMORY_... */
    uint32_t permissions, visibility;
    int32_t source_device;
};

struct san_launch { /* the beginning; later versions append */
    void *context, *stream, *stream_handle, *module, *function;
    const char *name;
    uint32_t grid[3], block[3], cluster[3]; /* valid at the begin only */
    uint64_t grid_id;
    void *launch; /* valid from begin to end */
    int32_t device;
};

struct san_node_launch { /* the beginning */
    void *graph;
    uint32_t launch_id;
    void *node;
    uint32_t type;
    struct san_launch launch;
};

typedef void (*san_callback)(void *user, uint32_t domain, uint32_t id, const void *data);

/* --- patches --- */

enum { SAN_INSTRUCTION_GLOBAL_ACCESS = 3, SAN_INSTRUCTION_MEMCPY_ASYNC = 14 };
enum { SAN_FLAG_READ = 0x1, SAN_FLAG_WRITE = 0x2, SAN_FLAG_ATOMIC = 0x4, SAN_FLAG_PREFETCH = 0x8 };
enum { SAN_PATCH_SUCCESS = 0 };

/* --- signatures --- */

struct san_api {
    san_result (*get_result_string)(san_result result, const char **text);
    san_result (*subscribe)(void **subscriber, san_callback callback, void *user);
    san_result (*unsubscribe)(void *subscriber);
    san_result (*enable_domain)(uint32_t enable, void *subscriber, uint32_t domain);
    san_result (*add_patches_from_file)(const char *path, void *context);
    san_result (*patch_instructions)(uint32_t instruction, void *module, const char *function);
    san_result (*patch_module)(void *module);
    san_result (*set_launch_callback_data)(void *launch, void *function, void *stream_handle, const void *data);
    san_result (*alloc)(void *context, void **device, size_t bytes);
    san_result (*alloc_host)(void *context, void **host, size_t bytes);
    san_result (*free)(void *context, void *device);
    san_result (*memcpy_host_to_device)(void *device, void *host, size_t bytes, void *stream_handle);
    /* In a launch's callback only to memory of alloc_host. */
    san_result (*memcpy_device_to_host)(void *host, void *device, size_t bytes, void *stream_handle);
    san_result (*memset)(void *device, int value, size_t bytes, void *stream_handle);
    san_result (*stream_synchronize)(void *stream_handle);
};
