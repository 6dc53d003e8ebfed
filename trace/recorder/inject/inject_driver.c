#include <dlfcn.h>
#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/recorder/inject/inject.h"
#include "trace/recorder/wire/cupti_abi.h"

/* What the driver calls, once, while it initialises; its meaning of the result is not documented, 1 is what NVIDIA's
 * own injection samples return. */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    static atomic_bool started;
    if (!atomic_exchange(&started, true))
        inject_start();
    return 1;
}

bool inject_thread(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool runs = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return runs;
}

void inject_join(pthread_t thread, int seconds)
{
    const struct timespec until = clock_after(CLOCK_REALTIME, seconds * INT64_C(1000000000));
    (void)pthread_timedjoin_np(thread, NULL, &until);
}

const char *inject_symbols(void *library, const struct inject_symbol *symbols, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *p = dlsym(library, symbols[i].name);
        if (!p && symbols[i].required)
            return symbols[i].name;
        memcpy(symbols[i].where, &p, sizeof p);
    }
    return NULL;
}

bool inject_load(void **library, const char *path, const struct inject_symbol *symbols, size_t n,
                 const char *const words[3])
{
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        const char *why = dlerror();
        inject_problem(RECORD_PIPE_FATAL, "%s could not be loaded (%s): %s", words[0], why ? why : path, words[1]);
        return false;
    }
    const char *missing = inject_symbols(*library, symbols, n);
    if (missing)
        inject_problem(RECORD_PIPE_FATAL, "%s has no function %s: %s", path, missing, words[2]);
    return !missing;
}

int64_t inject_env(const char *name, int64_t lo, int64_t hi, int64_t value)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return value;
    errno = 0;
    int64_t v = strtoll(text, &end, 10);
    return errno || *end || v < lo || v > hi ? value : v;
}

/* --- which kernels --- */

/* The C++ runtime's own, from the program or from libstdc++; without either only mangled names are matched. */
typedef char *(*demangle_function)(const char *name, char *out, size_t *bytes, int *status);

static struct {
    bool some;
    regex_t regex;
    demangle_function demangle;
} choice;

static demangle_function find_demangle(void)
{
    void *p = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!p) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        p = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    demangle_function f;
    memcpy(&f, &p, sizeof f);
    return f;
}

bool inject_choose_by(const char *regex)
{
    if (!regex || !*regex)
        return true;
    if (regcomp(&choice.regex, regex, REG_EXTENDED | REG_NOSUB)) {
        inject_problem(RECORD_PIPE_FATAL, "'%.200s' is not a regular expression", regex);
        return false;
    }
    choice.some = true;
    choice.demangle = find_demangle();
    return true;
}

bool inject_is_chosen(const char *name)
{
    if (!choice.some)
        return true;
    if (!name)
        return false;
    if (regexec(&choice.regex, name, 0, NULL, 0) == 0)
        return true;
    int status = -1;
    char *plain = choice.demangle ? choice.demangle(name, NULL, NULL, &status) : NULL;
    bool chosen = plain && status == 0 && regexec(&choice.regex, plain, 0, NULL, 0) == 0;
    free(plain);
    return chosen;
}

void inject_process_facts(void)
{
    char text[32];
    FILE *f = fopen("/proc/self/comm", "re");
    if (f) {
        if (fgets(text, sizeof text, f)) {
            text[strcspn(text, "\n")] = 0;
            inject_fact("process_name", text);
        }
        (void)fclose(f);
    }
    inject_fact_number("process_id", getpid());
}

/* The driver is what called us: it is here already. NULL: it is not. */
static void *find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return library ? library : dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
}

bool inject_stream_captures(void *stream)
{
    void *library = find_driver(), *p = library ? dlsym(library, "cuStreamIsCapturing") : NULL;
    abi_result (*is_capturing)(void *stream, int *status);
    int status = 0;
    memcpy(&is_capturing, &p, sizeof is_capturing);
    return is_capturing && is_capturing(stream, &status) == ABI_SUCCESS && status != 0;
}

static bool load_driver(struct abi_driver *driver)
{
    void *library = find_driver();
    if (!library)
        return false;
    const struct inject_symbol symbols[] = {
        {"cuDriverGetVersion", &driver->driver_get_version, true},
        {"cuDeviceGetCount", &driver->device_get_count, true},
        {"cuDeviceGet", &driver->device_get, true},
        {"cuDeviceGetName", &driver->device_get_name, true},
        {"cuDeviceGetUuid", &driver->device_get_uuid, true},
        {"cuDeviceGetAttribute", &driver->device_get_attribute, true},
        {"cuDeviceTotalMem_v2", &driver->device_total_mem, true},
    };
    return inject_symbols(library, symbols, sizeof symbols / sizeof *symbols) == NULL;
}

static bool by_page_tables, by_faults; /* some device reaches pageable memory: ATS, HMM */

const char *inject_pageable_access(void)
{
    return by_page_tables ? "the host's page tables (ATS)" : by_faults ? "page faults (HMM)" : "";
}

/* "gpu.0.name" */
static const char *gpu_key(char key[64], int ordinal, const char *what)
{
    (void)snprintf(key, 64, "gpu.%d.%s", ordinal, what);
    return key;
}

static void device_facts(const struct abi_driver *driver, int ordinal)
{
    static const struct {
        const char *key;
        uint32_t attribute;
    } attributes[] = {{"sms", ABI_ATTRIBUTE_SMS},
                      {"clock_khz", ABI_ATTRIBUTE_CLOCK_KHZ},
                      {"l2_bytes", ABI_ATTRIBUTE_L2_BYTES},
                      {"compute_major", ABI_ATTRIBUTE_MAJOR},
                      {"compute_minor", ABI_ATTRIBUTE_MINOR},
                      {"pageable_memory_access", ABI_ATTRIBUTE_PAGEABLE_ACCESS},
                      {"concurrent_managed_access", ABI_ATTRIBUTE_CONCURRENT_MANAGED},
                      {"host_page_tables", ABI_ATTRIBUTE_HOST_PAGE_TABLES}};
    int device, value;
    char key[64], text[256];
    unsigned char uuid[16];
    size_t bytes;
    if (driver->device_get(&device, ordinal))
        return;
    if (driver->device_get_name(text, sizeof text, device) == ABI_SUCCESS)
        inject_fact(gpu_key(key, ordinal, "name"), text);
    if (driver->device_get_uuid(uuid, device) == ABI_SUCCESS) {
        size_t at = (size_t)snprintf(text, sizeof text, "GPU-");
        for (int i = 0; i < 16; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%02x",
                                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
        inject_fact(gpu_key(key, ordinal, "uuid"), text);
    }
    if (driver->device_total_mem(&bytes, device) == ABI_SUCCESS)
        inject_fact_number(gpu_key(key, ordinal, "memory_bytes"), (int64_t)bytes);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (driver->device_get_attribute(&value, attributes[i].attribute, device))
            continue;
        by_page_tables |= attributes[i].attribute == ABI_ATTRIBUTE_HOST_PAGE_TABLES && value;
        by_faults |= attributes[i].attribute == ABI_ATTRIBUTE_PAGEABLE_ACCESS && value;
        inject_fact_number(gpu_key(key, ordinal, attributes[i].key), value);
    }
}

void inject_device_facts(void)
{
    struct abi_driver driver = {0};
    if (!load_driver(&driver))
        return;
    int version, count;
    char text[32];
    if (driver.driver_get_version(&version) == ABI_SUCCESS) {
        (void)snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
        inject_fact("cuda_driver_api", text);
    }
    if (driver.device_get_count(&count) != ABI_SUCCESS)
        return;
    inject_fact_number("gpu.count", count);
    for (int i = 0; i < count && i < 64; i++)
        device_facts(&driver, i);
}

uint32_t inject_device_count(void)
{
    struct abi_driver driver = {0};
    int count = 0;
    if (!load_driver(&driver) || driver.device_get_count(&count) != ABI_SUCCESS)
        return 1;
    return count > 0 ? (uint32_t)count : 1;
}
