#include "trace/recorder/inject/sanitizer_inject.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/event/record.h"

enum { MAX_BYTES = 64 << 20, CONTEXTS = 64, FINAL_WAIT_MS = 1000, FACTS_WAIT_S = 2, TURN_MS = 10000 };
static const int64_t RING_BYTES = (int64_t)16 << 20;
/* Two to four seconds of a GPU's clock: longer than we wait for the recorder at a time. */
static const int64_t RING_TICKS = (int64_t)1 << 32;

static struct {
    struct san_api api;
    void *library, *subscriber;
    const char *patch;
    pid_t owner;
    atomic_bool ended;
    bool touches;                   /* pages first touched are recorded, not accesses */
    pthread_mutex_t patching;       /* of what follows; the API asks for it too */
    const void *contexts[CONTEXTS]; /* whose patches are loaded, or refused */
    bool refused, async_refused, module_refused;
    pthread_t facts; /* sends the facts of the devices */
    bool facts_asked;
} inject = {.patching = PTHREAD_MUTEX_INITIALIZER};

/* Calls of ours inside a callback come back as callbacks. */
static _Thread_local bool inside;

static bool load_sanitizer(const char *path)
{
    static const char *const words[] = {
        "the Sanitizer library",
        "install the CUDA toolkit's compute-sanitizer, or name its libsanitizer-public.so in OFFCHIP_SANITIZER",
        "the compute-sanitizer of CUDA 12 or later is needed (OFFCHIP_SANITIZER names its libsanitizer-public.so)"};
    struct san_api *api = &inject.api;
    void *since;
    const struct inject_symbol symbols[] = {
        {SAN_SINCE, &since, true},
        {"sanitizerGetResultString", &api->get_result_string, true},
        {"sanitizerSubscribe", &api->subscribe, true},
        {"sanitizerUnsubscribe", &api->unsubscribe, true},
        {"sanitizerEnableDomain", &api->enable_domain, true},
        {"sanitizerAddPatchesFromFile", &api->add_patches_from_file, true},
        {"sanitizerPatchInstructions", &api->patch_instructions, true},
        {"sanitizerPatchModule", &api->patch_module, true},
        {"sanitizerSetLaunchCallbackData", &api->set_launch_callback_data, true},
        {"sanitizerAlloc", &api->alloc, true},
        {"sanitizerAllocHost", &api->alloc_host, true},
        {"sanitizerFree", &api->free, true},
        {"sanitizerMemcpyHostToDeviceAsync", &api->memcpy_host_to_device, true},
        {"sanitizerMemcpyDeviceToHost", &api->memcpy_device_to_host, true},
        {"sanitizerMemset", &api->memset, true},
        {"sanitizerStreamSynchronize", &api->stream_synchronize, true},
    };
    return inject_load(&inject.library, path && *path ? path : "libsanitizer-public.so", symbols,
                       sizeof symbols / sizeof *symbols, words);
}

static const char *result_text(san_result result)
{
    const char *text = NULL;
    if (inject.api.get_result_string(result, &text) != SAN_SUCCESS || !text)
        return "unknown error of the Sanitizer library";
    return text;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- modules --- */

/* The first of the files, separated by ':', that is for this context's GPU. */
static san_result add_patches(void *context)
{
    san_result result = SAN_NOT_INITIALIZED;
    for (const char *p = inject.patch; *p; p += strcspn(p, ":"), p += *p == ':') {
        char file[PATH_MAX];
        (void)snprintf(file, sizeof file, "%.*s", (int)strcspn(p, ":"), p);
        result = inject.api.add_patches_from_file(file, context);
        if (result == SAN_SUCCESS)
            break;
    }
    return result;
}

/* The patches are in the context; false if it does not take them. patching is held. */
static bool context_patched(void *context)
{
    int place = -1;
    for (int i = 0; i < CONTEXTS; i++) {
        if (inject.contexts[i] == context)
            return !inject.refused;
        if (!inject.contexts[i] && place < 0)
            place = i;
    }
    if (place < 0)
        return false;
    inject.contexts[place] = context;
    san_result result = add_patches(context);
    if (result == SAN_SUCCESS)
        return true;
    if (!inject.refused)
        inject_problem(
            RECORD_PIPE_WARNING,
            "%.200s could not be loaded onto the device: %s (%u); is it made for this GPU (nvcc -arch=all) and "
            "by this CUDA?",
            inject.patch, result_text(result), result);
    inject.refused = true;
    return false;
}

static san_result patch_module(void *module)
{
    const char *access = inject.touches ? "offchip_touch" : "offchip_access";
    const char *async = inject.touches ? "offchip_touch_async" : "offchip_access_async";
    san_result result = inject.api.patch_instructions(SAN_INSTRUCTION_GLOBAL_ACCESS, module, access);
    if (result != SAN_SUCCESS)
        return result;
    if (inject.api.patch_instructions(SAN_INSTRUCTION_MEMCPY_ASYNC, module, async) != SAN_SUCCESS &&
        !inject.async_refused) {
        inject.async_refused = true;
        inject_problem(RECORD_PIPE_WARNING, "asynchronous copies to shared memory (cp.async) are not recorded: this "
                                            "Sanitizer library cannot patch them");
    }
    return inject.api.patch_module(module);
}

static void module_loaded(const struct san_module *module)
{
    pthread_mutex_lock(&inject.patching);
    if (context_patched(module->context)) {
        san_result result = patch_module(module->module);
        if (result != SAN_SUCCESS && !inject.module_refused) /* once: a program may have hundreds */
            inject_problem(RECORD_PIPE_WARNING, "a module could not be instrumented: %s (%u)", result_text(result),
                           result);
        inject.module_refused |= result != SAN_SUCCESS;
        inject_count(RECORD_PIPE_DROP, "modules that could not be instrumented", result != SAN_SUCCESS);
    } else {
        inject_count(RECORD_PIPE_DROP, "modules that could not be instrumented", 1);
    }
    pthread_mutex_unlock(&inject.patching);
}

static void *send_facts(void *unused)
{
    inject_device_facts();
    (void)inject_outbox_send(0);
    return unused;
}

/* The driver may not be asked from a callback: a thread of its own does, once. */
static void context_created(void)
{
    pthread_mutex_lock(&inject.patching);
    if (!inject.facts_asked)
        inject.facts_asked = inject_thread(&inject.facts, send_facts, NULL);
    pthread_mutex_unlock(&inject.patching);
}

static void context_over(const void *context)
{
    pthread_mutex_lock(&inject.patching);
    for (int i = 0; i < CONTEXTS; i++)
        if (inject.contexts[i] == context)
            inject.contexts[i] = NULL;
    pthread_mutex_unlock(&inject.patching);
    sanitizer_launch_context_over(context);
}

/* --- memory --- */

static void memory_allocated(const struct san_memory *memory, bool host)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RECORD, .kind = RECORD_ALLOC};
    if (memory->flags & (SAN_MEMORY_CG_RUNTIME | SAN_MEMORY_CNP | SAN_MEMORY_PEER))
        return; /* the runtime's own, or another view of memory that has its own callback */
    m.time = now_ns();
    m.addr = memory->address;
    m.bytes = memory->bytes;
    m.flags = memory->flags & SAN_MEMORY_MANAGED               ? RECORD_ALLOC_MANAGED
              : host || memory->flags & SAN_MEMORY_HOST_PINNED ? RECORD_ALLOC_PINNED
                                                               : RECORD_ALLOC_DEVICE;
    if (m.addr && m.bytes)
        inject_put(&m, 1);
}

static void memory_freed(const struct san_memory *memory)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_FREE};
    m.time = now_ns();
    m.addr = memory->address;
    inject_put(&m, 1);
}

/* --- callbacks --- */

static void resource(uint32_t id, const void *data)
{
    switch (id) {
    case SAN_CONTEXT_CREATED:
        context_created();
        break;
    case SAN_CONTEXT_DESTROY:
        context_over(((const struct san_context *)data)->context);
        break;
    case SAN_MODULE_LOADED:
        module_loaded(data);
        break;
    case SAN_DEVICE_ALLOC:
    case SAN_HOST_ALLOC:
    case SAN_ASYNC_ALLOC:
        memory_allocated(data, id == SAN_HOST_ALLOC);
        break;
    case SAN_DEVICE_FREE:
    case SAN_HOST_FREE:
    case SAN_ASYNC_FREE:
        memory_freed(data);
        break;
    default:
        return;
    }
    (void)inject_outbox_send(0);
}

static void node_launched(const struct san_node_launch *node)
{
    if (node->type == SAN_NODE_KERNEL && sanitizer_chosen(node->launch.name))
        inject_count(RECORD_PIPE_DROP, "kernel launches inside CUDA graphs, which are not recorded", 1);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user;
    if (inside || !data || atomic_load(&inject.ended))
        return;
    inside = true;
    if (domain == SAN_DOMAIN_RESOURCE)
        resource(id, data);
    else if (domain == SAN_DOMAIN_LAUNCH && id == SAN_LAUNCH_BEGIN)
        sanitizer_launch_begin(data);
    else if (domain == SAN_DOMAIN_LAUNCH && id == SAN_LAUNCH_END)
        sanitizer_launch_end(data);
    else if (domain == SAN_DOMAIN_GRAPHS && id == SAN_NODE_LAUNCH_BEGIN)
        node_launched(data);
    inside = false;
}

/* --- start and end --- */

static void say_goodbye(void)
{
    inject_outbox_goodbye(FINAL_WAIT_MS);
    inject_outbox_abandon();
}

static void at_exit(void)
{
    if (getpid() != inject.owner || atomic_exchange(&inject.ended, true))
        return;
    if (inject.facts_asked)
        inject_join(inject.facts, FACTS_WAIT_S);
    sanitizer_launch_finish();
    say_goodbye();
}

static void in_child(void)
{
    atomic_store(&inject.ended, true);
    inject_outbox_abandon();
}

static bool subscribe(void)
{
    san_result result = inject.api.subscribe(&inject.subscriber, callback, NULL);
    if (result == SAN_MAX_LIMIT_REACHED) {
        inject_problem(RECORD_PIPE_FATAL, "another tool already uses the Sanitizer API in this process "
                                          "(compute-sanitizer?): run without it");
        return false;
    }
    if (result == SAN_NOT_INITIALIZED) {
        inject_problem(RECORD_PIPE_FATAL,
                       "the Sanitizer library does not fit this driver (%s): take that of the CUDA "
                       "toolkit that the driver is for (OFFCHIP_SANITIZER names it)",
                       result_text(result));
        return false;
    }
    static const uint32_t domains[] = {SAN_DOMAIN_RESOURCE, SAN_DOMAIN_LAUNCH, SAN_DOMAIN_GRAPHS};
    for (size_t i = 0; i < sizeof domains / sizeof *domains && result == SAN_SUCCESS; i++)
        result = inject.api.enable_domain(1, inject.subscriber, domains[i]);
    if (result == SAN_SUCCESS)
        return true;
    inject_problem(RECORD_PIPE_FATAL, "the Sanitizer library refused to start: %s (%u)", result_text(result), result);
    if (inject.subscriber)
        (void)inject.api.unsubscribe(inject.subscriber);
    return false;
}

void inject_start(void)
{
    size_t max_bytes = (size_t)inject_env(RECORD_PIPE_BUFFERS, 1 << 20, (int64_t)1 << 40, MAX_BYTES);
    const char *path = getenv(RECORD_PIPE_SOCKET);
    if (!path || inject_outbox_open(path, max_bytes))
        return;
    inject.owner = getpid();
    inject.patch = secure_getenv(RECORD_PIPE_PATCH);
    inject.touches = getenv(RECORD_PIPE_WANT) && strstr(getenv(RECORD_PIPE_WANT), RECORD_PIPE_TOUCHES);
    inject_process_facts();
    bool good = inject.patch && load_sanitizer(secure_getenv(RECORD_PIPE_SANITIZER)) &&
                sanitizer_choose(getenv(RECORD_PIPE_KERNELS));
    const struct sanitizer_wish wish = {
        .limit = (uint64_t)inject_env(RECORD_PIPE_LIMIT, 1, INT64_MAX, RECORD_PIPE_LIMIT_DEFAULT),
        .every = (uint64_t)inject_env(RECORD_PIPE_EVERY, 1, INT32_MAX, 1),
        .touches = inject.touches,
        .ring_bytes =
            (uint64_t)inject_env(RECORD_PIPE_RING_BYTES, sizeof(struct access_unit), (int64_t)1 << 40, RING_BYTES),
        .ring_ticks = (uint64_t)inject_env(RECORD_PIPE_RING_TICKS, 0, (int64_t)1 << 40, RING_TICKS),
        .turn_ms = inject_env(RECORD_PIPE_TURN_MS, 0, INT32_MAX, TURN_MS)};
    sanitizer_launch_start(&inject.api, &wish);
    if (wish.touches)
        inject_fact("touches", "each page's first read and first write in a launch");
    if (wish.every > 1)
        inject_fact_number("sample_every", (int64_t)wish.every);
    if (!good || !subscribe()) {
        atomic_store(&inject.ended, true);
        say_goodbye();
        return;
    }
    (void)pthread_atfork(NULL, NULL, in_child);
    (void)atexit(at_exit);
    (void)inject_outbox_send(0); /* the greeting: a process that dies at once is known */
}
