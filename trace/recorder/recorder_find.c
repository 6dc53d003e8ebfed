#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/recorder/recorder.h"
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
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n <= 0)
        return err_set(err, "where this program lies cannot be found out: name %s in %s", name, variable);
    folder[n] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
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
    return find_ours(
        RECORD_PIPE_PATCH, "offchip_accesses.fatbin", "which runs on the GPU at every access",
        "this build had no nvcc; install that of the CUDA toolkit (12 or later), then make (NVCC names it)", path, size,
        err);
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

/* A library of the CUDA toolkit: where it may be. Lists end with NULL. */
struct part {
    const char *variable;     /* of the environment, that may name it */
    const char *const *names; /* for the loader */
    const char *const *below; /* CUDA_HOME, CUDA_PATH and the toolkit's usual folders */
    const char *missing;      /* the sentence when it is nowhere */
};

static int find_part(const struct part *part, char *path, size_t size, struct err *err)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const roots[] = {"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda",
                                        "/usr/lib/nvidia-cuda-toolkit"};
    const char *given = getenv(part->variable);
    char candidate[PATH_MAX];
    if (given && *given) {
        if (!readable(given))
            return err_set(err, "%s names %s, which cannot be read", part->variable, given);
        (void)snprintf(path, size, "%s", given);
        return 0;
    }
    for (const char *const *name = part->names; *name; name++)
        if (loader_path(*name, path, size) == 0)
            return 0;
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
        for (const char *const *below = part->below; *below && getenv(homes[h]); below++) {
            (void)snprintf(candidate, sizeof candidate, "%s%s", getenv(homes[h]), *below);
            if (readable(candidate)) {
                (void)snprintf(path, size, "%s", candidate);
                return 0;
            }
        }
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
        for (const char *const *below = part->below; *below; below++) {
            (void)snprintf(candidate, sizeof candidate, "%s%s", roots[r], *below);
            if (glob_path(candidate, path, size) == 0)
                return 0;
        }
    return err_set(err, "%s", part->missing);
}

int recorder_find_cupti(char *path, size_t size, struct err *err)
{
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", NULL};
    static const char *const below[] = {"/extras/CUPTI/lib64/libcupti.so", "/lib64/libcupti.so", NULL};
    static const struct part cupti = {
        RECORD_PIPE_CUPTI, names, below,
        "CUPTI (libcupti.so, part of the CUDA toolkit) was not found: not by the loader, not below CUDA_HOME or "
        "CUDA_PATH, "
        "not below /usr/local/cuda*; install it (cuda-cupti), or name it in " RECORD_PIPE_CUPTI};
    return find_part(&cupti, path, size, err);
}

int recorder_find_sanitizer(char *path, size_t size, struct err *err)
{
    static const char *const names[] = {"libsanitizer-public.so", NULL};
    static const char *const below[] = {"/compute-sanitizer/libsanitizer-public.so",
                                        "/extras/Sanitizer/libsanitizer-public.so", NULL};
    static const struct part sanitizer = {RECORD_PIPE_SANITIZER, names, below,
                                          "compute-sanitizer (libsanitizer-public.so, part of the CUDA toolkit) was "
                                          "not found: not by the loader, not below "
                                          "CUDA_HOME or CUDA_PATH, not below /usr/local/cuda*; install it "
                                          "(cuda-sanitizer), or name it in " RECORD_PIPE_SANITIZER};
    return find_part(&sanitizer, path, size, err);
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
    if (!options->accesses && !options->cupti && recorder_find_cupti(path, sizeof path, err))
        return -1;
    if (options->accesses && !options->sanitizer && recorder_find_sanitizer(path, sizeof path, err))
        return -1;
    if (options->accesses && !options->patch && recorder_find_patch(path, sizeof path, err))
        return -1;
    if (!options->accesses && device && strcmp(device, "1") == 0)
        (void)snprintf(
            warning, warning_bytes,
            "CUDA_MANAGED_FORCE_DEVICE_ALLOC=1 is set: managed memory stays on the device, so there will be no "
            "faults and no migrations; unset it to record them");
    return 0;
}
