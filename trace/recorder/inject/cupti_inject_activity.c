#include <stdlib.h>
#include <string.h>

#include "trace/event/uvm_event.h"
#include "trace/recorder/inject/cupti_inject.h"

/* A record of unified memory is 112 bytes and the driver makes at most some 250,000 a second (measured: H200, driver
 * 580.159.04, 8,000 in 33 ms): a buffer holds about 9 ms, nine flushes. */
enum { BUFFER_BYTES = 256 << 10, SPARE_BUFFERS = 16, BATCH = 256, ACTIVITY_DEVICES = 64 };

static const uint32_t kinds[] = {ABI_KIND_CONCURRENT_KERNEL, ABI_KIND_MEMCPY, ABI_KIND_MEMCPY2, ABI_KIND_MARKER};

static struct {
    const struct abi_cupti *cupti;
    pthread_mutex_t lock; /* of the buffers */
    uint8_t *spare[SPARE_BUFFERS];
    size_t spare_count;
    size_t bytes, max_bytes; /* of all buffers that exist */
    atomic_uint_fast64_t refused, null_buffers, empty_buffers, damaged, um_records;
    bool configured;                     /* unified memory, once: the program has reset its device since */
    atomic_uint refusal;                 /* CUPTI's, to configure it again */
    atomic_uint_fast64_t before_refusal; /* um_records then */
} activity = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void buffer_requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    uint8_t *got = NULL;
    pthread_mutex_lock(&activity.lock);
    if (activity.spare_count > 0) {
        got = activity.spare[--activity.spare_count];
    } else if (activity.bytes + BUFFER_BYTES <= activity.max_bytes) {
        got = aligned_alloc(64, BUFFER_BYTES);
        if (got)
            activity.bytes += BUFFER_BYTES;
    }
    pthread_mutex_unlock(&activity.lock);
    if (!got)
        atomic_fetch_add(&activity.refused, 1); /* CUPTI then drops records and counts them */
    *buffer = got;
    *bytes = got ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void buffer_back(uint8_t *buffer)
{
    pthread_mutex_lock(&activity.lock);
    if (activity.spare_count < SPARE_BUFFERS) {
        activity.spare[activity.spare_count++] = buffer;
        buffer = NULL;
    } else {
        activity.bytes -= BUFFER_BYTES;
    }
    pthread_mutex_unlock(&activity.lock);
    free(buffer);
}

static bool marker_message(const void *record, struct record_pipe_message *m)
{
    struct abi_marker r;
    memcpy(&r, record, sizeof r);
    m->type = RECORD_PIPE_RANGE;
    m->kind = r.flags & (ABI_MARKER_INSTANT | ABI_MARKER_START | ABI_MARKER_END);
    m->time = (int64_t)r.time;
    m->id = inject_text(r.name);
    m->addr = r.id;
    m->group = r.thread;
    return m->kind != 0;
}

/* Turn one activity record into a message, of type 0 where none is needed; false: of a kind nobody asked for. Records
 * are copied out field by field: their alignment in the buffer is CUPTI's. */
static bool activity_message(const void *record, struct record_pipe_message *m)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    *m = (struct record_pipe_message){0};
    switch (kind) {
    case ABI_KIND_UNIFIED_MEMORY_COUNTER: {
        struct abi_um_counter c;
        memcpy(&c, record, sizeof c);
        atomic_fetch_add_explicit(&activity.um_records, 1, memory_order_relaxed);
        inject_faults_delivered(&c);
        if (inject_faults_on() && (c.counter_kind == UVM_COUNTER_GPU_FAULT || c.counter_kind == UVM_COUNTER_CPU_FAULT))
            return true; /* the queue has them, and each fault */
        m->type = RECORD_PIPE_UVM;
        m->kind = c.counter_kind;
        m->time = (int64_t)c.start;
        m->duration = (int64_t)c.end;
        m->addr = c.address;
        m->bytes = c.value;
        m->flags = c.flags;
        m->group = c.process;
        m->extra = c.src | (uint64_t)c.dst << 32;
        return true;
    }
    case ABI_KIND_KERNEL:
    case ABI_KIND_CONCURRENT_KERNEL: {
        struct abi_kernel k;
        memcpy(&k, record, sizeof k);
        m->type = RECORD_PIPE_KERNEL;
        m->time = (int64_t)k.start;
        m->duration = (int64_t)k.end;
        m->id = inject_text(k.name);
        m->group = k.correlation;
        m->kind = k.stream;
        m->flags = k.device;
        m->addr = (uint32_t)k.grid[0] | (uint64_t)(uint16_t)k.grid[1] << 32 | (uint64_t)(uint16_t)k.grid[2] << 48;
        m->bytes = (uint16_t)k.block[0] | (uint32_t)(uint16_t)k.block[1] << 16 | (uint64_t)(uint16_t)k.block[2] << 32 |
                   (uint64_t)k.registers << 48;
        m->extra = (uint32_t)k.static_shared | (uint64_t)(uint32_t)k.dynamic_shared << 32;
        return true;
    }
    case ABI_KIND_MEMCPY:
    case ABI_KIND_MEMCPY2: {
        struct abi_memcpy c;
        memcpy(&c, record, sizeof c);
        m->type = RECORD_PIPE_RECORD;
        m->kind = RECORD_COPY;
        m->time = (int64_t)c.start;
        m->duration = (int64_t)(c.end - c.start);
        m->bytes = c.bytes;
        m->flags = kind == ABI_KIND_MEMCPY2 ? RECORD_COPY_P2P : uvm_event_copy(c.copy_kind);
        return true;
    }
    case ABI_KIND_MARKER:
        return marker_message(record, m);
    default:
        return false;
    }
}

static void buffer_records(uint8_t *buffer, size_t valid)
{
    struct record_pipe_message batch[BATCH];
    size_t n = 0;
    uint64_t unknown = 0;
    void *record = NULL;
    abi_result result;
    while ((result = activity.cupti->activity_get_next_record(buffer, valid, &record)) == ABI_SUCCESS) {
        if (!activity_message(record, &batch[n]))
            unknown++;
        else if (batch[n].type && ++n == BATCH) {
            inject_put(batch, n);
            n = 0;
        }
    }
    inject_put(batch, n);
    if (result != ABI_MAX_LIMIT_REACHED)
        atomic_fetch_add(&activity.damaged, 1);
    inject_count(RECORD_PIPE_SKIP, "activity record of a kind not asked for", unknown);
}

static void buffer_completed(abi_context context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    if (!buffer) {
        atomic_fetch_add(&activity.null_buffers, 1);
    } else {
        if (valid == 0)
            atomic_fetch_add(&activity.empty_buffers, 1);
        else
            buffer_records(buffer, valid < bytes ? valid : bytes);
        buffer_back(buffer);
    }
    size_t dropped = 0;
    if (activity.cupti->activity_get_dropped(context, stream, &dropped) == ABI_SUCCESS && dropped > 0)
        inject_count(RECORD_PIPE_DROP, "dropped by CUPTI", dropped);
}

int inject_activity_start(const struct abi_cupti *cupti, size_t max_bytes, bool trace)
{
    activity.cupti = cupti;
    activity.max_bytes = max_bytes;
    abi_result result = cupti->activity_register_callbacks(buffer_requested, buffer_completed);
    if (result != ABI_SUCCESS) {
        inject_problem(RECORD_PIPE_FATAL, "CUPTI takes no buffers: %s (%u)", inject_result(cupti, result), result);
        return -1;
    }
    for (size_t i = 0; trace && i < sizeof kinds / sizeof *kinds; i++) {
        result = cupti->activity_enable(kinds[i]);
        if (result != ABI_SUCCESS)
            inject_problem(RECORD_PIPE_WARNING, "activity kind %u is not recorded: %s (%u)", kinds[i],
                           inject_result(cupti, result), result);
    }
    return 0;
}

/* What to do about a refusal of unified-memory counters. */
static const char *unified_memory_advice(abi_result result)
{
    switch (result) {
    case ABI_UM_NOT_SUPPORTED_WITH_MPS:
        return "stop the multi-process service (MPS) for this run";
    case ABI_UM_NOT_SUPPORTED_ON_NON_P2P:
        return "show the program one GPU only (CUDA_VISIBLE_DEVICES)";
    case ABI_UM_NOT_SUPPORTED:
    case ABI_UM_NOT_SUPPORTED_ON_DEVICE:
        return "unified-memory records need 64-bit Linux and a GPU of compute capability 6.0 or later";
    case ABI_INSUFFICIENT_PRIVILEGES:
    case ABI_VIRTUALIZED_PRIVILEGES:
        return "this user may not profile here: see ERR_NVGPUCTRPERM in the driver's notes, or ask for access to "
               "/dev/nvidia-uvm-tools";
    case ABI_CONFIDENTIAL_COMPUTING:
        return "confidential computing mode forbids it";
    case ABI_VIRTUALIZED_DEVICE:
    case ABI_MIG_DEVICE:
    case ABI_WSL_DEVICE:
        return "virtual, partitioned and WSL devices do not support it";
    default:
        return "kernels and copies are still recorded";
    }
}

static bool um_refused(const struct abi_cupti *cupti, abi_result result)
{
    inject_problem(RECORD_PIPE_WARNING, "no unified-memory records: %s (%u); %s", inject_result(cupti, result), result,
                   unified_memory_advice(result));
    return true;
}

/* An older CUPTI knows fewer kinds, and one device may lack what the others have: one by one. How many were taken. */
static uint32_t um_configure_each(const struct abi_cupti *cupti, struct abi_um_config *configs, uint32_t devices)
{
    uint32_t taken = 0;
    for (uint32_t k = 0; k < ABI_UM_KIND_LAST; k++) {
        uint32_t before = taken;
        for (uint32_t d = 0; d < devices; d++)
            taken += cupti->activity_configure_um(&configs[d * ABI_UM_KIND_LAST + k], 1) == ABI_SUCCESS;
        if (taken == before)
            inject_problem(RECORD_PIPE_WARNING, "CUPTI does not offer unified-memory counter kind %u here", k + 1);
    }
    return taken;
}

bool inject_activity_unified_memory(const struct abi_cupti *cupti, uint32_t devices)
{
    static struct abi_um_config configs[ABI_UM_KIND_LAST * ACTIVITY_DEVICES];
    if (!cupti->activity_configure_um) {
        inject_problem(RECORD_PIPE_WARNING, "this CUPTI has no unified-memory counters: only kernels and copies are "
                                            "recorded");
        return true;
    }
    devices = devices < ACTIVITY_DEVICES ? devices : ACTIVITY_DEVICES;
    for (uint32_t i = 0; i < ABI_UM_KIND_LAST * devices; i++)
        configs[i] = (struct abi_um_config){ABI_UM_SCOPE_PROCESS_SINGLE_DEVICE, i % ABI_UM_KIND_LAST + 1,
                                            i / ABI_UM_KIND_LAST, 1};
    if (activity.configured && cupti->activity_disable) /* what still counts cannot be configured */
        (void)cupti->activity_disable(ABI_KIND_UNIFIED_MEMORY_COUNTER);
    abi_result result = cupti->activity_configure_um(configs, ABI_UM_KIND_LAST * devices);
    if (activity.configured && result == ABI_INVALID_OPERATION) {
        atomic_store(&activity.before_refusal, atomic_load(&activity.um_records));
        atomic_store(&activity.refusal, result);
        (void)cupti->activity_enable(ABI_KIND_UNIFIED_MEMORY_COUNTER); /* it may count on as it did */
        return true;
    }
    if (result != ABI_SUCCESS && result != ABI_NOT_READY) {
        if (um_configure_each(cupti, configs, devices) == 0)
            return um_refused(cupti, result);
        result = ABI_SUCCESS;
    }
    if (result == ABI_SUCCESS)
        result = cupti->activity_enable(ABI_KIND_UNIFIED_MEMORY_COUNTER);
    if (result == ABI_NOT_READY)
        return false;
    activity.configured |= result == ABI_SUCCESS;
    return result == ABI_SUCCESS || um_refused(cupti, result);
}

void inject_activity_stop(const struct abi_cupti *cupti)
{
    (void)cupti->activity_flush_all(1);
    inject_activity_dropped(cupti);
    for (size_t i = 0; cupti->activity_disable && i < sizeof kinds / sizeof *kinds; i++)
        (void)cupti->activity_disable(kinds[i]);
    if (cupti->activity_disable)
        (void)cupti->activity_disable(ABI_KIND_UNIFIED_MEMORY_COUNTER);
}

uint64_t inject_activity_um_records(void)
{
    return atomic_load(&activity.um_records);
}

/* Whether recording went on behind a reset of the device, once it can be told. */
static void say_reset(const struct abi_cupti *cupti)
{
    const abi_result refusal = atomic_exchange(&activity.refusal, 0);
    const bool on = atomic_load(&activity.um_records) > atomic_load(&activity.before_refusal);
    if (!refusal)
        return;
    inject_problem(RECORD_PIPE_WARNING,
                   "the program reset its device (cudaDeviceReset), and CUPTI did not configure unified memory again "
                   "(%s, %u): %s",
                   inject_result(cupti, refusal), refusal,
                   on ? "recording went on all the same" : "faults and migrations behind the reset are not recorded");
    inject_count(RECORD_PIPE_DROP, "unified memory behind a reset of the device", !on);
}

void inject_activity_dropped(const struct abi_cupti *cupti)
{
    size_t dropped = 0;
    say_reset(cupti);
    if (cupti->activity_get_dropped(NULL, 0, &dropped) == ABI_SUCCESS && dropped > 0)
        inject_count(RECORD_PIPE_DROP, "dropped by CUPTI", dropped);
    inject_count(RECORD_PIPE_DROP, "buffers refused at the memory cap (records in them: not known)",
                 atomic_exchange(&activity.refused, 0));
    inject_fact_number("cupti_null_buffers", (int64_t)atomic_load(&activity.null_buffers));
    inject_fact_number("cupti_empty_buffers", (int64_t)atomic_load(&activity.empty_buffers));
    inject_count(RECORD_PIPE_DROP, "rest of a damaged CUPTI buffer", atomic_exchange(&activity.damaged, 0));
}
