#include "trace/recorder/recorder_box.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/recorder/wire/cupti_abi.h"

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

static void look(struct recorder_box *box)
{
    struct abi_driver driver;
    abi_result (*init)(unsigned flags) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
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

/* --- here --- */

static bool read_all(int fd, void *to, size_t bytes)
{
    size_t at = 0;
    for (ssize_t n; at < bytes && (n = read(fd, (char *)to + at, bytes - at)) > 0;)
        at += (size_t)n;
    return at == bytes;
}

static void look_apart(struct recorder_box *box)
{
    int ends[2];
    pid_t child = pipe(ends) ? -1 : fork();
    if (child == 0) {
        (void)alarm(BOX_WAIT_S);
        unsetenv("CUDA_INJECTION64_PATH"); /* whatever is to be loaded into programs is not for this one */
        look(box);
        _exit(write(ends[1], box, sizeof *box) != (ssize_t)sizeof *box);
    }
    if (child < 0)
        return;
    struct recorder_box found;
    int status = 0;
    close(ends[1]);
    bool whole = read_all(ends[0], &found, sizeof found);
    close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (whole)
        *box = found;
    else
        (void)snprintf(box->why, sizeof box->why, "the driver does not start: signal %d",
                       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
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
    char line[512];
    const char *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
    *box = (struct recorder_box){.counters_for_all = true};
    look_apart(box);
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
