#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/dir_list.h"
#include "trace/recorder/recorder.h"
#include "trace/recorder/recorder_search.h"
#include "trace/recorder/wire/record_pipe.h"

static int readable(const char *path)
{
    return access(path, R_OK) == 0;
}

/* A file of our own build, which an environment variable may name. */
static int find_ours(const char *variable, const char *name, const char *what, const char *how, char *path, size_t size,
                     struct err *err)
{
    static const char *const places[] = {"", "/../lib/offchip"};
    const char *given = getenv(variable);
    char folder[PATH_MAX], candidate[PATH_MAX + 64];
    if (given && *given) {
        if (!readable(given))
            return err_set(err, "%s names %s, which cannot be read", variable, given);
        if (!realpath(given, folder))
            return err_set(err, "%s names %s, which has no absolute path", variable, given);
        (void)snprintf(path, size, "%s", folder);
        return 0;
    }
    if (!program_folder(folder))
        return err_set(err, "where this program lies cannot be found out: name %s in %s", name, variable);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(candidate, sizeof candidate, "%s%s/%s", folder, places[i], name);
        if (readable(candidate)) {
            (void)snprintf(path, size, "%s", candidate);
            return 0;
        }
    }
    return err_set(err, "%s, %s, is neither in %s nor in %s/../lib/offchip: %s, or name it in %s", name, what, folder,
                   folder, how, variable);
}

int recorder_find_library(bool accesses, char *path, size_t size, struct err *err)
{
    const char *name = accesses ? "liboffchip_accesses.so" : "liboffchip_inject.so";
    return find_ours("OFFCHIP_INJECT", name, "which the CUDA driver is to load", "build it (make)", path, size, err);
}

int recorder_find_patch(char *path, size_t size, struct err *err)
{
    char more[PATH_MAX];
    int rc =
        find_ours(RECORD_PIPE_PATCH, "offchip_accesses.fatbin", "which runs on the GPU at every access",
                  "this build had no nvcc; install that of the CUDA toolkit (12 or later), then make (NVCC names it)",
                  path, size, err);
    /* For GPUs that the nvcc of today does not know any more there may be a second one beside it. */
    size_t n = rc == 0 ? strlen(path) : 0;
    if (n > 7 && strcmp(path + n - 7, ".fatbin") == 0 &&
        (size_t)snprintf(more, sizeof more, "%.*s_70.fatbin", (int)(n - 7), path) < sizeof more && readable(more) &&
        2 * n + 8 < size)
        (void)snprintf(path + n, size - n, ":%s", more);
    return rc;
}

static int find_part(enum recorder_part part, const char *program, bool counters, char *path, size_t size,
                     struct err *err)
{
    struct recorder_search search;
    struct recorder_box box, *look = NULL;
    if (recorder_search(&search, part, program, recorder_search_root(), err))
        return -1;
    if (!search.named && (search.count > 1 || counters)) { /* there is something to choose */
        recorder_box_look(&box, recorder_search_root());
        look = &box;
    }
    const struct recorder_library *l = recorder_search_choose(&search, part, look, counters, err);
    if (l)
        (void)snprintf(path, size, "%s", l->path);
    recorder_search_release(&search);
    return l ? 0 : -1;
}

int recorder_find_cupti(const char *program, bool counters, char *path, size_t size, struct err *err)
{
    return find_part(PART_CUPTI, program, counters, path, size, err);
}

int recorder_find_sanitizer(const char *program, char *path, size_t size, struct err *err)
{
    return find_part(PART_SANITIZER, program, false, path, size, err);
}

int recorder_check(const struct recorder_options *options, char *warning, size_t warning_bytes, struct err *err)
{
    char path[PATH_MAX];
    const char *set = getenv("CUDA_INJECTION64_PATH"), *device = getenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC");
    if (warning_bytes)
        warning[0] = 0;
    if (set && *set)
        return err_set(err,
                       "CUDA_INJECTION64_PATH is already set (to %s), so another tool wants to be loaded into the "
                       "program: unset it",
                       set);
    if (!options->library && recorder_find_library(options->accesses, path, sizeof path, err))
        return -1;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return err_set(
            err,
            "there is no CUDA driver here: libcuda.so.1 cannot be loaded (%s). Recording needs an NVIDIA GPU "
            "and its driver; recordings made elsewhere are read with offchip import, info and replay",
            dlerror());
    dlclose(driver);
    if (options->accesses && !options->patch && recorder_find_patch(path, sizeof path, err))
        return -1;
    if (!options->accesses && device && strcmp(device, "1") == 0)
        (void)snprintf(
            warning, warning_bytes,
            "CUDA_MANAGED_FORCE_DEVICE_ALLOC=1 is set: managed memory stays on the device, so there will be no "
            "faults and no migrations; unset it to record them");
    return 0;
}
