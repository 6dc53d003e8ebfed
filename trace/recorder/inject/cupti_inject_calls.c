/* The calls of the program that move memory: allocations, advice and prefetches, by CUPTI's callbacks; and launches,
 * for a plan and for counters. */
#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/event/record.h"
#include "trace/recorder/inject/cupti_inject.h"

/* --- call sites of managed allocations (record_pipe.h) ---
 *
 * By glibc's backtrace(), which loads libgcc's unwinder: in inject_calls_want_sites(), not in the middle of a call of
 * the program. Frames of the driver, CUPTI, the runtime's library and ours are left out; a runtime that is linked into
 * the program is a part of it. */

enum { DEPTH = 64 /* of the stack, at most */ };

static bool want_sites;        /* set once, before any callback */
static char program[PATH_MAX]; /* the file of the process */

static bool is_ours(const char *module)
{
    static const char *const names[] = {"libcuda.so", "libcupti.so", "libcudart.so", "liboffchip_inject.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(module, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

struct frame {
    const char *module, *symbol; /* symbol NULL: none */
    uintptr_t offset;
};

static bool frame_of(const char *address, struct frame *frame)
{
    struct link_map *map = NULL;
    Dl_info info;
    /* A return address may be that of the next function: its call is not. */
    if (!dladdr1(address - 1, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    const char *path = map->l_name && *map->l_name ? map->l_name : program, *slash = strrchr(path, '/');
    frame->module = slash ? slash + 1 : path;
    frame->symbol = info.dli_sname;
    frame->offset = (uintptr_t)address - map->l_addr;
    return true;
}

/* Its text, behind a space if it is not the first; 0: it does not fit. */
static size_t frame_text(const struct frame *frame, bool first, char *text, size_t size)
{
    int n = snprintf(text, size, "%s%.200s+0x%llx%s%.100s", first ? "" : " ", *frame->module ? frame->module : "?",
                     (unsigned long long)frame->offset, frame->symbol ? ":" : "", frame->symbol ? frame->symbol : "");
    if (n < 0 || (size_t)n >= size)
        return 0;
    size_t module = strnlen(frame->module, 200);
    for (size_t i = !first; i < !first + module; i++)
        if (strchr(" ,:\t\n", text[i]))
            text[i] = '_';
    return (size_t)n;
}

/* Where this thread's call of the driver came from; "" if the stack does not say. */
static void call_site(char text[CALL_SITE_BYTES])
{
    void *frames[DEPTH];
    struct frame frame;
    size_t used = 0;
    int depth = backtrace(frames, DEPTH), kept = 0;
    bool within = false; /* a sanitiser's backtrace() is a frame of its own, in front of ours */
    *text = 0;
    for (int i = 0; i < depth && kept < CALL_SITE_FRAMES; i++) {
        bool known = frame_of(frames[i], &frame), ours = known && is_ours(frame.module);
        within |= ours;
        if (!known || ours || !within)
            continue;
        size_t n = frame_text(&frame, kept == 0, text + used, CALL_SITE_BYTES - used);
        text[used += n] = 0;
        kept += n > 0;
    }
}

void inject_calls_want_sites(void)
{
    void *frames[1];
    (void)backtrace(frames, 1);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    want_sites = true;
}

/* --- calls --- */

enum call_shape {
    CALL_ALLOC,
    CALL_ALLOC_PITCH,
    CALL_RANGE,
    CALL_FREE,
    CALL_ADVISE,
    CALL_ADVISE_V2,
    CALL_PREFETCH,
    CALL_PREFETCH_V2
};

struct call {
    uint32_t domain, id;
    uint8_t shape; /* enum call_shape */
    uint8_t kind;  /* enum record_alloc, of allocations */
};

/* A call, and the same on the thread's own default stream. */
#define BOTH(domain, id, shape, kind)                                                                                  \
    {domain, id, shape, kind},                                                                                         \
    {                                                                                                                  \
        domain, id##_PTSZ, shape, kind                                                                                 \
    }

static const struct call calls[] = {
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    BOTH(ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_ASYNC, CALL_ALLOC, RECORD_ALLOC_DEVICE),
    BOTH(ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_POOL, CALL_ALLOC, RECORD_ALLOC_DEVICE),
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_PITCH, CALL_ALLOC_PITCH, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_MANAGED, CALL_ALLOC, RECORD_ALLOC_MANAGED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_ALLOC, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_ALLOC_V2, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_HOST, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_REGISTER, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_REGISTER_V2, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE, CALL_FREE, 0},
    BOTH(ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE_ASYNC, CALL_FREE, 0),
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE_HOST, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_UNREGISTER, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ADVISE, CALL_ADVISE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ADVISE_V2, CALL_ADVISE_V2, 0},
    BOTH(ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH, CALL_PREFETCH, 0),
    BOTH(ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH_V2, CALL_PREFETCH_V2, 0),
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    BOTH(ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_ASYNC, CALL_ALLOC, RECORD_ALLOC_DEVICE),
    BOTH(ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_POOL, CALL_ALLOC, RECORD_ALLOC_DEVICE),
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_PITCH, CALL_ALLOC_PITCH, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_MANAGED, CALL_ALLOC, RECORD_ALLOC_MANAGED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_HOST, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_ALLOC, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_REGISTER, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE, CALL_FREE, 0},
    BOTH(ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE_ASYNC, CALL_FREE, 0),
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE_HOST, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_UNREGISTER, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_ADVISE, CALL_ADVISE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_ADVISE_V2, CALL_ADVISE_V2, 0},
    BOTH(ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH, CALL_PREFETCH, 0),
    BOTH(ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH_V2, CALL_PREFETCH_V2, 0),
};
enum { CALLS = sizeof calls / sizeof *calls };

/* A runtime call that goes through the driver's own entry would be seen twice: messages of this thread so far. */
static _Thread_local uint64_t thread_messages;

static const uint32_t launches[] = {
    ABI_CU_LAUNCH_KERNEL,    ABI_CU_LAUNCH_KERNEL_PTSZ,    ABI_CU_LAUNCH_COOPERATIVE, ABI_CU_LAUNCH_COOPERATIVE_PTSZ,
    ABI_CU_LAUNCH_KERNEL_EX, ABI_CU_LAUNCH_KERNEL_EX_PTSZ, ABI_CU_GRAPH_LAUNCH,       ABI_CU_GRAPH_LAUNCH_PTSZ};
enum { LAUNCHES = sizeof launches / sizeof *launches };

/* Beginnings of captures of streams, then ends. */
static const uint32_t captures[] = {ABI_CU_CAPTURE,         ABI_CU_CAPTURE_PTSZ,    ABI_CU_CAPTURE_V2,
                                    ABI_CU_CAPTURE_V2_PTSZ, ABI_CU_CAPTURE_INTO,    ABI_CU_CAPTURE_INTO_PTSZ,
                                    ABI_CU_END_CAPTURE,     ABI_CU_END_CAPTURE_PTSZ};
enum { CAPTURES = sizeof captures / sizeof *captures, FIRST_END = 6 };

/* Calls that come back when the GPU has done what was asked of it. */
/* clang-format off */
static const uint32_t waits[] = {
    ABI_CU_CTX_SYNCHRONIZE, ABI_CU_CTX_SYNCHRONIZE_V2, ABI_CU_STREAM_SYNCHRONIZE, ABI_CU_STREAM_SYNCHRONIZE_PTSZ,
    ABI_CU_EVENT_SYNCHRONIZE, ABI_CU_MEMCPY, ABI_CU_MEMCPY_PTDS, ABI_CU_MEMCPY_HTOD, ABI_CU_MEMCPY_HTOD_PTDS,
    ABI_CU_MEMCPY_DTOH, ABI_CU_MEMCPY_DTOH_PTDS, ABI_CU_MEMCPY_2D, ABI_CU_MEMCPY_2D_PTDS};
/* clang-format on */
enum { WAITS = sizeof waits / sizeof *waits, FIRST_COPY = 5 };

static bool listed(const uint32_t *ids, size_t n, uint32_t id)
{
    size_t i = 0;
    while (i < n && ids[i] != id)
        i++;
    return i < n;
}

/* From a launch, with what a plan gives before it, until the program has waited for the GPU; since 0: nothing is. */
static struct {
    bool on;
    atomic_bool launched;
    _Atomic uint64_t since;
} timed;

int inject_calls_enable(const struct abi_cupti *cupti, void *subscriber, bool want_launches, bool want_time)
{
    timed.on = want_time;
    want_launches |= want_time;
    for (size_t i = 0; want_launches && i < LAUNCHES; i++)
        (void)cupti->enable_callback(1, subscriber, ABI_DOMAIN_DRIVER, launches[i]);
    for (size_t i = 0; want_launches && i < CAPTURES; i++)
        (void)cupti->enable_callback(1, subscriber, ABI_DOMAIN_DRIVER, captures[i]);
    for (size_t i = 0; i < WAITS; i++)
        (void)cupti->enable_callback(1, subscriber, ABI_DOMAIN_DRIVER, waits[i]);
    int failed = 0;
    for (size_t i = 0; i < CALLS; i++)
        if (cupti->enable_callback(1, subscriber, calls[i].domain, calls[i].id) != ABI_SUCCESS)
            failed++; /* an older CUPTI does not know the newest calls, whose numbers nobody uses then */
    return failed == CALLS ? -1 : 0;
}

static const struct call *call_find(uint32_t domain, uint32_t id)
{
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].id == id && calls[i].domain == domain)
            return &calls[i];
    return NULL;
}

static int32_t location_device(struct abi_location location)
{
    return location.type == ABI_LOCATION_DEVICE ? location.id : ABI_DEVICE_CPU;
}

static void describe(struct record_pipe_message *m, uint32_t kind, uint32_t flags, uint64_t addr, uint64_t bytes,
                     int32_t device)
{
    *m = (struct record_pipe_message){.type = RECORD_PIPE_RECORD, .kind = kind, .id = (uint64_t)(int64_t)device};
    m->addr = addr;
    m->bytes = bytes;
    m->flags = flags;
}

/* The message of a call that succeeded. */
static void call_message(const struct call *call, const void *params, struct record_pipe_message *m)
{
    const struct abi_params_alloc *alloc = params;
    const struct abi_params_alloc_pitch *pitch = params;
    const struct abi_params_range *range = params;
    const struct abi_params_advise *advise = params;
    const struct abi_params_advise_v2 *advise2 = params;
    const struct abi_params_prefetch *fetch = params;
    const struct abi_params_prefetch_v2 *fetch2 = params;
    switch ((enum call_shape)call->shape) {
    case CALL_ALLOC:
        describe(m, RECORD_ALLOC, call->kind, alloc->address ? *alloc->address : 0, alloc->bytes, 0);
        break;
    case CALL_ALLOC_PITCH:
        describe(m, RECORD_ALLOC, call->kind, pitch->address ? *pitch->address : 0,
                 pitch->pitch ? *pitch->pitch * pitch->height : 0, 0);
        break;
    case CALL_RANGE:
        describe(m, RECORD_ALLOC, call->kind, range->address, range->bytes, 0);
        break;
    case CALL_FREE:
        m->type = RECORD_PIPE_FREE;
        memcpy(&m->addr, params, sizeof m->addr);
        break;
    case CALL_ADVISE:
        describe(m, RECORD_ADVISE, advise->advice, advise->address, advise->bytes, advise->device);
        break;
    case CALL_ADVISE_V2:
        describe(m, RECORD_ADVISE, advise2->advice, advise2->address, advise2->bytes,
                 location_device(advise2->location));
        break;
    case CALL_PREFETCH:
        describe(m, RECORD_PREFETCH, 0, fetch->address, fetch->bytes, fetch->device);
        break;
    case CALL_PREFETCH_V2:
        describe(m, RECORD_PREFETCH, 0, fetch2->address, fetch2->bytes, location_device(fetch2->location));
        break;
    }
}

static atomic_bool managed; /* the program allocated managed memory */

bool inject_calls_managed(void)
{
    return atomic_load(&managed);
}

/* A wait begins it too, for what runs in another stream than the one that was waited for last. */
static void time_begins(const struct abi_cupti *cupti, bool launch)
{
    uint64_t none = 0, now = 0;
    timed.launched |= launch;
    if (!timed.on || !timed.launched)
        return;
    (void)cupti->get_timestamp(&now);
    (void)atomic_compare_exchange_strong(&timed.since, &none, now);
}

static void time_ends(const struct abi_cupti *cupti)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_KERNEL, .time = (int64_t)atomic_exchange(&timed.since, 0)};
    uint64_t now = 0;
    if (!m.time)
        return;
    (void)cupti->get_timestamp(&now);
    m.id = inject_text("untraced");
    m.duration = (int64_t)now;
    inject_put(&m, 1);
}

void inject_calls_finish(void)
{
    inject_count(RECORD_PIPE_DROP, "what the program did not wait for", timed.since != 0);
}

/* Its call site goes with the message, before it is sent. */
static void note_site(struct record_pipe_message *m, char site[CALL_SITE_BYTES])
{
    if (!want_sites)
        return;
    call_site(site);
    if (*site)
        m->extra = inject_text(site);
}

static void *launch_stream(uint32_t id, const void *params)
{
    bool extended = id == ABI_CU_LAUNCH_KERNEL_EX || id == ABI_CU_LAUNCH_KERNEL_EX_PTSZ;
    if (!params || id == ABI_CU_GRAPH_LAUNCH || id == ABI_CU_GRAPH_LAUNCH_PTSZ)
        return NULL;
    if (!extended)
        return ((const struct abi_params_launch *)params)->stream;
    const struct abi_launch_config *config = ((const struct abi_params_launch_ex *)params)->config;
    return config ? config->stream : NULL;
}

static uint32_t call_status(const struct abi_callback_data *data)
{
    uint32_t status = 0;
    if (data->return_value)
        memcpy(&status, data->return_value, sizeof status);
    return status;
}

static atomic_uint capturing; /* captures of streams under way */

/* An end that fails may leave the stream as it was; what then counts as a capture for ever only is not counted. */
static void capture(uint32_t id, const struct abi_callback_data *data)
{
    const uint32_t status = call_status(data);
    const bool end = listed(captures + FIRST_END, CAPTURES - FIRST_END, id);
    const bool over = status == 0 || status == ABI_CU_CAPTURE_INVALIDATED || status == ABI_CU_CAPTURE_UNJOINED;
    const bool begins = data->site == ABI_SITE_ENTER && !end;
    if (!begins && (data->site == ABI_SITE_ENTER || end != over))
        return; /* the end before it is one; a beginning that is one; an end that is none */
    if (begins)
        atomic_fetch_add(&capturing, 1);
    else if (atomic_load(&capturing))
        atomic_fetch_sub(&capturing, 1);
    inject_counters_capture(begins);
}

static void launch(const struct abi_cupti *cupti, uint32_t id, const struct abi_callback_data *data)
{
    bool graph = id == ABI_CU_GRAPH_LAUNCH || id == ABI_CU_GRAPH_LAUNCH_PTSZ;
    if (data->site == ABI_SITE_ENTER) {
        void *stream = launch_stream(id, data->params);
        if (!atomic_load(&capturing)) {
            inject_plan_bring(stream, timed.since != 0);
            time_begins(cupti, true);
        }
        if (!graph && !atomic_load(&capturing)) /* a plan's calls may not be captured */
            inject_plan_launch(data->symbol, stream);
        if (graph)
            inject_counters_graph();
        else
            inject_counters_launch_begins(data->context, data->symbol, stream);
        return;
    }
    inject_counters_launch_ends(call_status(data) == 0);
    if (!graph && !atomic_load(&capturing))
        inject_plan_launched(data->symbol, launch_stream(id, data->params));
}

/* A call of which nothing is recorded. */
static void other_call(const struct abi_cupti *cupti, uint32_t domain, uint32_t id,
                       const struct abi_callback_data *data)
{
    if (domain != ABI_DOMAIN_DRIVER)
        return;
    if (listed(launches, LAUNCHES, id)) {
        launch(cupti, id, data);
    } else if (listed(captures, CAPTURES, id)) {
        capture(id, data);
    } else if (data->site == ABI_SITE_EXIT && listed(waits, WAITS, id)) {
        time_ends(cupti);
        inject_synced();
    } else if (listed(waits, FIRST_COPY, id)) {
        time_begins(cupti, false);
    }
}

void inject_calls_callback(const struct abi_cupti *cupti, uint32_t domain, uint32_t id,
                           const struct abi_callback_data *data)
{
    const struct call *call = call_find(domain, id);
    if (inject_plan_gives())
        return;
    if (!call) {
        other_call(cupti, domain, id, data);
        return;
    }
    if (data->site == ABI_SITE_ENTER) {
        if (data->correlation_data)
            *data->correlation_data = thread_messages;
        return;
    }
    if (call_status(data) != 0 || !data->params)
        return;
    if (domain == ABI_DOMAIN_RUNTIME && data->correlation_data && *data->correlation_data != thread_messages)
        return; /* the driver call inside it was recorded */
    struct record_pipe_message m = {0};
    call_message(call, data->params, &m);
    if (m.addr == 0)
        return; /* cudaFree(NULL), which only starts the runtime */
    uint64_t now = 0;
    (void)cupti->get_timestamp(&now);
    m.time = (int64_t)now;
    char site[CALL_SITE_BYTES] = "";
    bool is_managed = m.kind == RECORD_ALLOC && m.flags == RECORD_ALLOC_MANAGED;
    if (is_managed)
        note_site(&m, site);
    inject_put(&m, 1);
    thread_messages++;
    if (m.type == RECORD_PIPE_FREE)
        inject_plan_freed(m.addr);
    if (is_managed) {
        atomic_store(&managed, true);
        inject_plan_allocated(m.addr, m.bytes, site);
    }
}
