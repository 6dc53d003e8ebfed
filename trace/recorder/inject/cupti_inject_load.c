#include <dlfcn.h>

#include "trace/recorder/inject/cupti_inject.h"

bool inject_load_cupti(struct abi_cupti *cupti, void **library, const char *path)
{
    const char *name = path && *path ? path : "libcupti.so";
    *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        const char *why = dlerror();
        inject_problem(RECORD_PIPE_FATAL,
                       "CUPTI could not be loaded (%s): install the CUDA toolkit's CUPTI, or name the library in "
                       "OFFCHIP_CUPTI",
                       why ? why : name);
        return false;
    }
    const struct inject_symbol symbols[] = {
        {"cuptiGetVersion", &cupti->get_version, true},
        {"cuptiGetResultString", &cupti->get_result_string, true},
        {"cuptiGetTimestamp", &cupti->get_timestamp, true},
        {"cuptiGetDeviceId", &cupti->get_device_id, true},
        {"cuptiSubscribe", &cupti->subscribe, true},
        {"cuptiUnsubscribe", &cupti->unsubscribe, true},
        {"cuptiEnableCallback", &cupti->enable_callback, true},
        {"cuptiActivityRegisterCallbacks", &cupti->activity_register_callbacks, true},
        {"cuptiActivityEnable", &cupti->activity_enable, true},
        {"cuptiActivityDisable", &cupti->activity_disable, false},
        {"cuptiActivityFlushAll", &cupti->activity_flush_all, true},
        {"cuptiActivityGetNextRecord", &cupti->activity_get_next_record, true},
        {"cuptiActivityGetNumDroppedRecords", &cupti->activity_get_dropped, true},
        {"cuptiActivityConfigureUnifiedMemoryCounter", &cupti->activity_configure_um, false},
    };
    const char *missing = inject_symbols(*library, symbols, sizeof symbols / sizeof *symbols);
    if (missing) {
        inject_problem(RECORD_PIPE_FATAL, "%s has no function %s: a CUPTI of CUDA 9 or later is needed", name, missing);
        return false;
    }
    return true;
}

const char *inject_result(const struct abi_cupti *cupti, abi_result result)
{
    const char *text = NULL;
    if (cupti->get_result_string(result, &text) != ABI_SUCCESS || !text)
        return "unknown CUPTI error";
    return text;
}
