#include "trace/recorder/recorder_search.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/recorder/wire/cupti_abi.h"
#include "trace/recorder/wire/sanitizer_abi.h"

enum { PROBE_WAIT_S = 20 };

/* --- in the child --- */

static bool symbol(void *library, const char *name, void *where)
{
    void *p = dlsym(library, name);
    memcpy(where, &p, sizeof p);
    return p != NULL;
}

static bool load(void *library, struct abi_driver *d, abi_result (**init)(unsigned flags))
{
    return symbol(library, "cuInit", init) && symbol(library, "cuDriverGetVersion", &d->driver_get_version) &&
           symbol(library, "cuDeviceGetCount", &d->device_get_count) &&
           symbol(library, "cuDeviceGet", &d->device_get) && symbol(library, "cuDeviceGetName", &d->device_get_name) &&
           symbol(library, "cuDeviceGetAttribute", &d->device_get_attribute) &&
           symbol(library, "cuDeviceTotalMem_v2", &d->device_total_mem);
}

static int attribute(const struct abi_driver *d, int device, uint32_t which)
{
    int value = 0;
    return d->device_get_attribute(&value, which, device) == ABI_SUCCESS ? value : 0;
}

static void look_at_gpu(const struct abi_driver *d, int ordinal, struct recorder_gpu *gpu)
{
    int device;
    size_t bytes = 0;
    if (d->device_get(&device, ordinal) || d->device_get_name(gpu->name, sizeof gpu->name - 1, device))
        return;
    (void)d->device_total_mem(&bytes, device);
    gpu->memory_bytes = bytes;
    gpu->capability = attribute(d, device, ABI_ATTRIBUTE_MAJOR) * 10 + attribute(d, device, ABI_ATTRIBUTE_MINOR);
    gpu->sms = attribute(d, device, ABI_ATTRIBUTE_SMS);
    gpu->managed = attribute(d, device, ABI_ATTRIBUTE_CONCURRENT_MANAGED);
    gpu->pageable = attribute(d, device, ABI_ATTRIBUTE_PAGEABLE_ACCESS);
    gpu->page_tables = attribute(d, device, ABI_ATTRIBUTE_HOST_PAGE_TABLES);
    gpu->integrated = attribute(d, device, ABI_ATTRIBUTE_INTEGRATED);
    gpu->mig = strstr(gpu->name, " MIG ") != NULL;
}

/* What cuInit() gives where something is missing: cuda.h, enum cudaError_enum. */
static const char *init_failure(abi_result result)
{
    return result == 100 ? "the driver finds no GPU (CUDA_ERROR_NO_DEVICE; in a container: was it started with --gpus?)"
           : result == 803
               ? "kernel module and libcuda.so.1 are of different versions (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)"
           : result == 802 ? "the GPUs are not ready (CUDA_ERROR_SYSTEM_NOT_READY: is the fabric manager running?)"
           : result == 999 ? "the kernel module does not answer (CUDA_ERROR_UNKNOWN: is /dev/nvidia-uvm there?)"
                           : NULL;
}

static void look_at_driver(const char *path, void *what)
{
    struct recorder_box *box = what;
    struct abi_driver driver;
    abi_result (*init)(unsigned flags) = NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        (void)snprintf(box->why, sizeof box->why, "%s", why ? why : "libcuda.so.1 cannot be loaded");
        return;
    }
    if (!load(library, &driver, &init)) {
        (void)snprintf(box->why, sizeof box->why, "libcuda.so.1 is not a CUDA driver of our time");
        return;
    }
    abi_result result = init(0);
    const char *why = init_failure(result);
    if (why)
        (void)snprintf(box->why, sizeof box->why, "%s", why);
    else if (result)
        (void)snprintf(box->why, sizeof box->why, "the driver does not start (CUDA error %u)", result);
    (void)driver.driver_get_version(&box->cuda);
    box->driver = result == ABI_SUCCESS && driver.device_get_count(&box->gpu_count) == ABI_SUCCESS;
    for (int i = 0; box->driver && i < box->gpu_count && i < BOX_GPUS; i++)
        look_at_gpu(&driver, i, &box->gpus[i]);
}

static void look_at_library(const char *path, void *what)
{
    struct recorder_probe *p = what;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        (void)snprintf(p->why, sizeof p->why, "%s", why ? why : "it cannot be loaded");
        return;
    }
    abi_result (*version)(uint32_t *) = NULL;
    void *get = dlsym(library, "cuptiGetVersion");
    memcpy(&version, &get, sizeof get);
    p->loads = true;
    p->ranges = dlsym(library, "cuptiRangeProfilerEnable") != NULL;
    p->since = dlsym(library, SAN_SINCE) != NULL;
    if (version)
        (void)version(&p->api);
}

/* --- here --- */

static bool read_all(int fd, void *to, size_t bytes)
{
    size_t at = 0;
    for (ssize_t n; at < bytes && (n = read(fd, (char *)to + at, bytes - at)) > 0;)
        at += (size_t)n;
    return at == bytes;
}

/* What `look` writes to *what in a process of its own, which an alarm ends. False: it died, by *signal; or there is
 * none, -1. */
static bool look_apart(void (*look)(const char *path, void *what), const char *path, void *what, size_t bytes,
                       unsigned seconds, int *signal)
{
    int ends[2], status = 0;
    pid_t child = pipe(ends) ? -1 : fork();
    *signal = -1;
    if (child == 0) {
        (void)alarm(seconds);
        unsetenv("CUDA_INJECTION64_PATH"); /* whatever is to be loaded into programs is not for this one */
        look(path, what);
        _exit(write(ends[1], what, bytes) != (ssize_t)bytes);
    }
    if (child < 0)
        return false;
    close(ends[1]);
    bool whole = read_all(ends[0], what, bytes);
    close(ends[0]);
    (void)waitpid(child, &status, 0);
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return whole;
}

/* The first line of a file that holds `word`; false: none. */
static bool line_with(const char *root, const char *path, const char *word, char *line, size_t size)
{
    char name[PATH_MAX];
    (void)snprintf(name, sizeof name, "%s%s", root, path);
    FILE *f = fopen(name, "re");
    bool found = false;
    while (f && !found && fgets(line, (int)size, f))
        found = strcasestr(line, word) != NULL;
    if (f)
        (void)fclose(f);
    return found;
}

void recorder_box_look(struct recorder_box *box, const char *root)
{
    int signal;
    char line[512];
    const char *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
    *box = (struct recorder_box){.counters_for_all = true};
    if (!look_apart(look_at_driver, "libcuda.so.1", box, sizeof *box, BOX_WAIT_S, &signal) && signal >= 0)
        (void)snprintf(box->why, sizeof box->why, "the driver does not start: signal %d", signal);
    /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..." */
    if (line_with(root, "/proc/driver/nvidia/version", "NVRM", line, sizeof line)) {
        const char *module = strstr(line, "Module");
        if (module)
            (void)sscanf(module, "Module%*[^0-9]%63[0-9.]", box->kernel);
    }
    if (line_with(root, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", line, sizeof line))
        box->counters_for_all = strstr(line, ": 0") || geteuid() == 0;
    box->wsl = line_with(root, "/proc/version", "microsoft", line, sizeof line);
    (void)snprintf(line, sizeof line, "%s%s/control", pipes ? "" : root, pipes ? pipes : "/tmp/nvidia-mps");
    box->mps = access(line, F_OK) == 0;
}

int recorder_box_capability(const struct recorder_box *box)
{
    int least = 0;
    for (int i = 0; i < box->gpu_count && i < BOX_GPUS; i++)
        if (box->gpus[i].capability && (!least || box->gpus[i].capability < least))
            least = box->gpus[i].capability;
    return least;
}

/* --- libraries --- */

int recorder_probe_cuda_of(unsigned api)
{
    static const int versions[] = {[18] = 11080, [19] = 12000, [20] = 12020, [21] = 12030, [22] = 12040, [23] = 12050,
                                   [24] = 12060, [25] = 12070, [26] = 12080, [27] = 12090, [28] = 12090};
    if (api >= 130000)
        return (int)(api / 10000) * 1000 + (int)(api / 100 % 100) * 10;
    return api < sizeof versions / sizeof *versions ? versions[api] : 0;
}

/* "12.10" at p; 0: no version, or one that CUDA never had (a driver's, a year). */
static int version_at(const char *p)
{
    char *end;
    long major = strtol(p, &end, 10), minor = 0;
    if (end[0] == '.' && isdigit((unsigned char)end[1]))
        minor = strtol(end + 1, &end, 10);
    return major >= 8 && major < 100 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
}

int recorder_probe_path_version(const char *path)
{
    static const char *const marks[] = {"cuda-", "cuda/", "cuda", "libcupti.so.", "/cu"};
    int best = 0;
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        for (const char *p = path; (p = strstr(p, marks[m])); p++) {
            int version = version_at(p + strlen(marks[m]));
            if (version && (best == 0 || (version / 1000 == best / 1000 && version > best)))
                best = version;
        }
    return best;
}

void recorder_probe(const char *path, struct recorder_probe *p)
{
    int signal;
    *p = (struct recorder_probe){.why = "it could not be tried"};
    if (!look_apart(look_at_library, path, p, sizeof *p, PROBE_WAIT_S, &signal) && signal >= 0)
        (void)snprintf(p->why, sizeof p->why, "it crashes when it is loaded (signal %d)", signal);
}
