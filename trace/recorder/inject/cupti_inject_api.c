#include <string.h>

#include "trace/event/record.h"
#include "trace/recorder/inject/cupti_inject.h"

/* What a call does. */
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

static const struct call calls[] = {
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_ASYNC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_ASYNC_PTSZ, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_POOL, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_POOL_PTSZ, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_PITCH, CALL_ALLOC_PITCH, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_MANAGED, CALL_ALLOC, RECORD_ALLOC_MANAGED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_ALLOC, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_ALLOC_V2, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ALLOC_HOST, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_REGISTER, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_REGISTER_V2, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE_ASYNC, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE_ASYNC_PTSZ, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_FREE_HOST, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_HOST_UNREGISTER, CALL_FREE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ADVISE, CALL_ADVISE, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_ADVISE_V2, CALL_ADVISE_V2, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH, CALL_PREFETCH, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH_PTSZ, CALL_PREFETCH, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH_V2, CALL_PREFETCH_V2, 0},
    {ABI_DOMAIN_DRIVER, ABI_CU_MEM_PREFETCH_V2_PTSZ, CALL_PREFETCH_V2, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_ASYNC, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_ASYNC_PTSZ, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_POOL, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_POOL_PTSZ, CALL_ALLOC, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_PITCH, CALL_ALLOC_PITCH, RECORD_ALLOC_DEVICE},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_MANAGED, CALL_ALLOC, RECORD_ALLOC_MANAGED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MALLOC_HOST, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_ALLOC, CALL_ALLOC, RECORD_ALLOC_PINNED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_REGISTER, CALL_RANGE, RECORD_ALLOC_REGISTERED},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE_ASYNC, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE_ASYNC_PTSZ, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_FREE_HOST, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_HOST_UNREGISTER, CALL_FREE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_ADVISE, CALL_ADVISE, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_ADVISE_V2, CALL_ADVISE_V2, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH, CALL_PREFETCH, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH_PTSZ, CALL_PREFETCH, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH_V2, CALL_PREFETCH_V2, 0},
    {ABI_DOMAIN_RUNTIME, ABI_CUDA_MEM_PREFETCH_V2_PTSZ, CALL_PREFETCH_V2, 0},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* A runtime call that goes through the driver's own entry would be seen twice: messages of this thread so far. */
static _Thread_local uint64_t thread_messages;

static const uint32_t launches[] = {
    ABI_CU_LAUNCH_KERNEL,    ABI_CU_LAUNCH_KERNEL_PTSZ,    ABI_CU_LAUNCH_COOPERATIVE, ABI_CU_LAUNCH_COOPERATIVE_PTSZ,
    ABI_CU_LAUNCH_KERNEL_EX, ABI_CU_LAUNCH_KERNEL_EX_PTSZ, ABI_CU_GRAPH_LAUNCH,       ABI_CU_GRAPH_LAUNCH_PTSZ};
enum { LAUNCHES = sizeof launches / sizeof *launches };

int inject_api_enable(const struct abi_cupti *cupti, void *subscriber, bool want_launches)
{
    for (size_t i = 0; want_launches && i < LAUNCHES; i++)
        (void)cupti->enable_callback(1, subscriber, ABI_DOMAIN_DRIVER, launches[i]);
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

static void call_alloc(const struct call *call, const void *params, struct record_pipe_message *m)
{
    m->kind = RECORD_ALLOC;
    m->flags = call->kind;
    if (call->shape == CALL_ALLOC) {
        const struct abi_params_alloc *p = params;
        m->addr = p->address ? *p->address : 0;
        m->bytes = p->bytes;
    } else if (call->shape == CALL_ALLOC_PITCH) {
        const struct abi_params_alloc_pitch *p = params;
        m->addr = p->address ? *p->address : 0;
        m->bytes = p->pitch ? *p->pitch * p->height : 0;
    } else {
        const struct abi_params_range *p = params;
        m->addr = p->address;
        m->bytes = p->bytes;
    }
}

/* The message of a call that succeeded. */
static void call_message(const struct call *call, const void *params, struct record_pipe_message *m)
{
    m->type = RECORD_PIPE_RECORD;
    switch ((enum call_shape)call->shape) {
    case CALL_ALLOC:
    case CALL_ALLOC_PITCH:
    case CALL_RANGE:
        call_alloc(call, params, m);
        break;
    case CALL_FREE:
        m->type = RECORD_PIPE_FREE;
        memcpy(&m->addr, params, sizeof m->addr);
        break;
    case CALL_ADVISE: {
        const struct abi_params_advise *p = params;
        m->kind = RECORD_ADVISE;
        m->addr = p->address;
        m->bytes = p->bytes;
        m->flags = p->advice;
        m->id = (uint64_t)(int64_t)p->device;
        break;
    }
    case CALL_ADVISE_V2: {
        const struct abi_params_advise_v2 *p = params;
        m->kind = RECORD_ADVISE;
        m->addr = p->address;
        m->bytes = p->bytes;
        m->flags = p->advice;
        m->id = (uint64_t)(int64_t)location_device(p->location);
        break;
    }
    case CALL_PREFETCH: {
        const struct abi_params_prefetch *p = params;
        m->kind = RECORD_PREFETCH;
        m->addr = p->address;
        m->bytes = p->bytes;
        m->id = (uint64_t)(int64_t)p->device;
        break;
    }
    case CALL_PREFETCH_V2: {
        const struct abi_params_prefetch_v2 *p = params;
        m->kind = RECORD_PREFETCH;
        m->addr = p->address;
        m->bytes = p->bytes;
        m->id = (uint64_t)(int64_t)location_device(p->location);
        break;
    }
    }
}

static atomic_bool managed; /* the program allocated managed memory */

bool inject_api_managed(void)
{
    return atomic_load(&managed);
}

static bool want_sites; /* set once, before any callback */

void inject_api_want_sites(void)
{
    inject_site_start();
    want_sites = true;
}

/* Its call site goes with the message, before it is sent. */
static void note_site(struct record_pipe_message *m, char site[CALL_SITE_BYTES])
{
    if (!want_sites)
        return;
    inject_site(site);
    if (*site)
        m->extra = inject_text(site);
}

/* The stream that a kernel is launched into. */
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

/* A launch, or another call of which nothing is recorded. */
static void launch(uint32_t domain, uint32_t id, const struct abi_callback_data *data)
{
    size_t i = 0;
    while (i < LAUNCHES && launches[i] != id)
        i++;
    if (domain != ABI_DOMAIN_DRIVER || i == LAUNCHES)
        return;
    bool graph = id == ABI_CU_GRAPH_LAUNCH || id == ABI_CU_GRAPH_LAUNCH_PTSZ;
    if (data->site == ABI_SITE_ENTER) {
        if (!graph)
            inject_plan_launch(data->symbol, launch_stream(id, data->params));
        inject_counters_launch_begins(data->context);
    } else
        inject_counters_launch_ends(graph ? "(CUDA graph)" : data->symbol, call_status(data) == 0);
}

void inject_api_callback(const struct abi_cupti *cupti, uint32_t domain, uint32_t id,
                         const struct abi_callback_data *data)
{
    const struct call *call = call_find(domain, id);
    if (inject_plan_gives())
        return;
    if (!call) {
        launch(domain, id, data);
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
