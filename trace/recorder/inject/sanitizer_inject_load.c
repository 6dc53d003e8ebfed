#include <dlfcn.h>

#include "trace/recorder/inject/sanitizer_inject.h"

bool sanitizer_load(struct san_api *api, void **library, const char *path)
{
    const char *name = path && *path ? path : "libsanitizer-public.so";
    void *since;
    *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        const char *why = dlerror();
        inject_problem(
            RECORD_PIPE_FATAL,
            "the Sanitizer library could not be loaded (%s): install the CUDA toolkit's compute-sanitizer, or "
            "name its libsanitizer-public.so in OFFCHIP_SANITIZER",
            why ? why : name);
        return false;
    }
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
    const char *missing = inject_symbols(*library, symbols, sizeof symbols / sizeof *symbols);
    if (missing) {
        inject_problem(RECORD_PIPE_FATAL,
                       "%s has no function %s: the compute-sanitizer of CUDA 12 or later is needed (OFFCHIP_SANITIZER "
                       "names its libsanitizer-public.so)",
                       name, missing);
        return false;
    }
    return true;
}

const char *sanitizer_result(const struct san_api *api, san_result result)
{
    const char *text = NULL;
    if (api->get_result_string(result, &text) != SAN_SUCCESS || !text)
        return "unknown error of the Sanitizer library";
    return text;
}
