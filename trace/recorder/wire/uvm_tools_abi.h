/* uvm_tools_abi: the driver's own queue of unified-memory events, as this project declares it.
 *
 * Device /dev/nvidia-uvm-tools, made for profilers; open to every user where the driver is installed as usual. Its
 * ioctl numbers are plain integers. The driver writes entries into a ring in the caller's memory and counts what finds
 * no room, by type.
 * Source: NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-uvm: uvm_types.h, uvm_ioctl.h, uvm_tools.c (535.161.07 to
 * 595.45.04); measured: H200, driver 580.159.04, 2026-11 (entries of 72 bytes: 13,950 faults, 3,534 migrations, 89
 * replays, 192 CPU faults of 64 MiB, none dropped). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UVM_TOOLS_DEVICE "/dev/nvidia-uvm-tools"
#define UVM_TOOLS_UVM    "/dev/nvidia-uvm" /* the program's: its address space */

enum {
    UVM_TOOLS_INIT_V1 = 56,
    UVM_TOOLS_ENABLE = 58,
    UVM_TOOLS_DISABLE = 59,
    UVM_TOOLS_FLUSH = 67,
    UVM_TOOLS_INIT_V2 = 76
};
enum { UVM_TOOLS_V1_BYTES = 64, UVM_TOOLS_V2_BYTES = 72 };

/* Types of entries; bit = type. */
enum uvm_tools_type {
    UVM_TOOLS_CPU_FAULT = 1,
    UVM_TOOLS_MIGRATION = 2,
    UVM_TOOLS_GPU_FAULT = 3,
    UVM_TOOLS_REPLAY = 4,
    UVM_TOOLS_OVERFLOW = 5,
    UVM_TOOLS_EVICTION = 14,
    UVM_TOOLS_TYPES = 64
};
#define UVM_TOOLS_WANTED                                                                                               \
    (1ULL << UVM_TOOLS_CPU_FAULT | 1ULL << UVM_TOOLS_MIGRATION | 1ULL << UVM_TOOLS_GPU_FAULT |                         \
     1ULL << UVM_TOOLS_REPLAY | 1ULL << UVM_TOOLS_OVERFLOW | 1ULL << UVM_TOOLS_EVICTION)

struct uvm_tools_init {
    uint64_t queue, entries, control; /* addresses of whole pages; entries: a power of two */
    uint8_t processor[16];
    uint32_t all_processors, uvm_fd, status, reserved[2];
};

struct uvm_tools_events {
    uint64_t flags;
    uint32_t status, reserved;
};

/* Positions modulo the entries: the driver writes at put_behind, the reader reads from get_behind. */
struct uvm_tools_control {
    uint32_t get_ahead, get_behind, put_ahead, put_behind;
    uint64_t dropped[2 * UVM_TOOLS_TYPES];
};

/* What we take of an entry; what a type does not have is 0. */
struct uvm_tools_event {
    uint32_t type, batch;
    uint32_t detail;   /* of a fault: 1 PDE, 2 PTE, 3 write, 4 atomic; of a migration: its cause */
    uint32_t access;   /* 1 read, 2 write, 3 atomic, 4 prefetch */
    uint32_t src, dst; /* processors: 0 the CPU */
    uint32_t gpc, client, client_type;
    uint64_t addr, bytes;
    uint64_t cause; /* of an eviction: the address that asked for room; of a CPU fault: the program counter */
    uint64_t cpu_ns, gpu_ns, gpu_end_ns; /* CLOCK_MONOTONIC_RAW; the GPU's clock */
};

/* Where a type has each of these, in bytes; 0: nowhere. */
struct uvm_tools_layout {
    uint8_t detail, access, src, dst, gpc, client, client_type, addr, bytes, cause, cpu, gpu, gpu_end, batch;
};

static inline struct uvm_tools_layout uvm_tools_layout(unsigned type, bool v2)
{
    static const struct uvm_tools_layout layouts[2][UVM_TOOLS_TYPES] = {
        {[UVM_TOOLS_CPU_FAULT] = {.access = 1, .addr = 8, .cpu = 16, .cause = 32},
         [UVM_TOOLS_MIGRATION] = {1, .src = 2, .dst = 3, .addr = 8, .bytes = 16, .cpu = 24, .gpu = 48, .gpu_end = 56},
         [UVM_TOOLS_GPU_FAULT] = {1, 2, 3, 0, 4, 6, 36, 8, .cpu = 16, .gpu = 24, .batch = 32},
         [UVM_TOOLS_REPLAY] = {.src = 1, .client_type = 2, .batch = 4, .cpu = 8, .gpu = 16},
         [UVM_TOOLS_EVICTION] = {.src = 1, .dst = 2, .addr = 8, .cause = 16, .bytes = 24, .cpu = 32}},
        {[UVM_TOOLS_CPU_FAULT] = {.access = 1, .addr = 8, .cpu = 16, .cause = 32},
         [UVM_TOOLS_MIGRATION] = {1, .src = 4, .dst = 6, .addr = 16, .bytes = 24, .cpu = 32, .gpu = 56, .gpu_end = 64},
         [UVM_TOOLS_GPU_FAULT] = {1, 37, 2, 0, 4, 6, 36, 8, .cpu = 16, .gpu = 24, .batch = 32},
         [UVM_TOOLS_REPLAY] = {.src = 2, .client_type = 1, .batch = 4, .cpu = 8, .gpu = 16},
         [UVM_TOOLS_EVICTION] = {.src = 4, .dst = 6, .addr = 8, .cause = 16, .bytes = 24, .cpu = 32}}};
    return type < UVM_TOOLS_TYPES ? layouts[v2][type] : (struct uvm_tools_layout){0};
}

static inline uint64_t uvm_tools_field(const uint8_t *entry, unsigned at, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, entry + at, at ? bytes : 0);
    return value;
}

/* An entry of either version. */
static inline struct uvm_tools_event uvm_tools_read(const uint8_t *e, bool v2)
{
    const struct uvm_tools_layout at = uvm_tools_layout(e[0], v2);
    const unsigned processor = v2 ? 2 : 1; /* bytes of its number */
    return (struct uvm_tools_event){.type = e[0],
                                    .batch = (uint32_t)uvm_tools_field(e, at.batch, 4),
                                    .detail = (uint32_t)uvm_tools_field(e, at.detail, 1),
                                    .access = (uint32_t)uvm_tools_field(e, at.access, 1),
                                    .src = (uint32_t)uvm_tools_field(e, at.src, processor),
                                    .dst = (uint32_t)uvm_tools_field(e, at.dst, processor),
                                    .gpc = (uint32_t)uvm_tools_field(e, at.gpc, 2),
                                    .client = (uint32_t)uvm_tools_field(e, at.client, 2),
                                    .client_type = (uint32_t)uvm_tools_field(e, at.client_type, 1),
                                    .addr = uvm_tools_field(e, at.addr, 8),
                                    .bytes = uvm_tools_field(e, at.bytes, 8),
                                    .cause = uvm_tools_field(e, at.cause, 8),
                                    .cpu_ns = uvm_tools_field(e, at.cpu, 8),
                                    .gpu_ns = uvm_tools_field(e, at.gpu, 8),
                                    .gpu_end_ns = uvm_tools_field(e, at.gpu_end, 8)};
}

/* Whether an entry can be one: of a type asked for, with numbers that a fault or a migration can have, not later than
 * now. */
static inline bool uvm_tools_believable(const struct uvm_tools_event *e, uint64_t now_ns)
{
    if (e->type >= UVM_TOOLS_TYPES || !(UVM_TOOLS_WANTED >> e->type & 1) || e->cpu_ns > now_ns)
        return false;
    if (e->type == UVM_TOOLS_GPU_FAULT)
        return e->cpu_ns && e->detail && e->access >= 1 && e->access <= 4 && e->src && e->addr;
    if (e->type == UVM_TOOLS_MIGRATION)
        return e->cpu_ns && e->bytes;
    return e->type == UVM_TOOLS_OVERFLOW || e->cpu_ns;
}
