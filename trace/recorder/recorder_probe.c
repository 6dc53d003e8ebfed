#include "trace/recorder/recorder_search.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/recorder/wire/cupti_abi.h"
#include "trace/recorder/wire/sanitizer_abi.h"

enum { PROBE_WAIT_S = 20 };

/* --- versions --- */

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

/* --- one library, in a process of its own: some crash where there is no driver --- */

static void probe(const char *path, struct recorder_probe *p)
{
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

void recorder_probe(const char *path, struct recorder_probe *p)
{
    int ends[2], status = 0;
    pid_t child = pipe(ends) ? -1 : fork();
    *p = (struct recorder_probe){.why = "it could not be tried"};
    if (child == 0) {
        (void)alarm(PROBE_WAIT_S);
        probe(path, p);
        _exit(write(ends[1], p, sizeof *p) != (ssize_t)sizeof *p);
    }
    if (child < 0)
        return;
    struct recorder_probe got;
    close(ends[1]);
    bool whole = read(ends[0], &got, sizeof got) == (ssize_t)sizeof got;
    close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (whole)
        *p = got;
    else
        (void)snprintf(p->why, sizeof p->why, "it crashes when it is loaded (signal %d)",
                       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
