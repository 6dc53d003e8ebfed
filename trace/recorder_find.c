#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/record_pipe.h"
#include "trace/recorder.h"

static int readable(const char *path)
{
    return access(path, R_OK) == 0;
}

int recorder_find_library(char *path, size_t size, struct err *err)
{
    static const char *const places[] = {"", "/../lib/offchip", "/..", "/../.."};
    const char *given = getenv("OFFCHIP_INJECT");
    char folder[PATH_MAX], candidate[PATH_MAX + 64];
    if (given && *given) {
        if (!readable(given))
            return err_set(err, "OFFCHIP_INJECT names %s, which cannot be read", given);
        if (!realpath(given, folder))
            return err_set(err, "OFFCHIP_INJECT names %s, which has no absolute path", given);
        (void)snprintf(path, size, "%s", folder);
        return 0;
    }
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n <= 0)
        return err_set(err, "where this program lies cannot be found out: name liboffchip_inject.so in OFFCHIP_INJECT");
    folder[n] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(candidate, sizeof candidate, "%s%s/liboffchip_inject.so", folder, places[i]);
        if (readable(candidate)) {
            (void)snprintf(path, size, "%s", candidate);
            return 0;
        }
    }
    return err_set(err,
                   "liboffchip_inject.so, which the CUDA driver is to load, is neither in %s nor in %s/../lib/offchip: "
                   "build it (make), or name it in OFFCHIP_INJECT",
                   folder, folder);
}

/* The full name of what the loader finds under `name`. */
static int loader_path(const char *name, char *path, size_t size)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map;
    if (!library)
        return -1;
    int rc = dlinfo(library, RTLD_DI_LINKMAP, &map);
    if (rc == 0)
        (void)snprintf(path, size, "%s", map->l_name);
    dlclose(library);
    return rc;
}

static int glob_path(const char *pattern, char *path, size_t size)
{
    glob_t found;
    int rc = -1;
    if (glob(pattern, 0, NULL, &found) == 0) {
        if (found.gl_pathc > 0) { /* the newest toolkit sorts last */
            (void)snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
            rc = 0;
        }
        globfree(&found);
    }
    return rc;
}

int recorder_find_cupti(char *path, size_t size, struct err *err)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const below[] = {"/extras/CUPTI/lib64/libcupti.so", "/lib64/libcupti.so"};
    static const char *const globs[] = {
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
        "/usr/local/cuda-*/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda-*/lib64/libcupti.so",
        "/opt/cuda/extras/CUPTI/lib64/libcupti.so"};
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
    const char *given = getenv(RECORD_PIPE_CUPTI);
    if (given && *given) {
        if (!readable(given))
            return err_set(err, "%s names %s, which cannot be read", RECORD_PIPE_CUPTI, given);
        (void)snprintf(path, size, "%s", given);
        return 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (loader_path(names[i], path, size) == 0)
            return 0;
    for (size_t h = 0; h < 2; h++)
        for (size_t b = 0; b < 2; b++) {
            const char *home = getenv(homes[h]);
            char candidate[PATH_MAX];
            if (!home)
                continue;
            (void)snprintf(candidate, sizeof candidate, "%s%s", home, below[b]);
            if (readable(candidate)) {
                (void)snprintf(path, size, "%s", candidate);
                return 0;
            }
        }
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        if (glob_path(globs[i], path, size) == 0)
            return 0;
    return err_set(err, "CUPTI (libcupti.so, part of the CUDA toolkit) was not found: not by the loader, not below "
                        "CUDA_HOME or CUDA_PATH, not below /usr/local/cuda*; install it (cuda-cupti), or name it in "
                        "OFFCHIP_CUPTI");
}

int recorder_check(const struct recorder_options *options, char *warning, size_t warning_bytes, struct err *err)
{
    char path[PATH_MAX];
    const char *set = getenv("CUDA_INJECTION64_PATH"), *device = getenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC");
    if (warning_bytes)
        warning[0] = 0;
    if (set && *set && !options->force_injection)
        return err_set(err,
                       "CUDA_INJECTION64_PATH is already set (to %s), so another tool wants to be loaded into the "
                       "program: unset it, or give --force-injection to load offchip's library instead",
                       set);
    if (!options->library && recorder_find_library(path, sizeof path, err))
        return -1;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return err_set(
            err,
            "there is no CUDA driver here: libcuda.so.1 cannot be loaded (%s). Recording needs an NVIDIA GPU "
            "and its driver; recordings made elsewhere are read with offchip import, info and replay",
            dlerror());
    dlclose(driver);
    if (!options->cupti && recorder_find_cupti(path, sizeof path, err))
        return -1;
    if (device && strcmp(device, "1") == 0)
        (void)snprintf(
            warning, warning_bytes,
            "CUDA_MANAGED_FORCE_DEVICE_ALLOC=1 is set: managed memory stays on the device, so there will be no "
            "faults and no migrations; unset it to record them");
    return 0;
}
