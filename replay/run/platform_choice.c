#include "replay/run/platform_use.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/base/platform.h"

enum { GPUS_MAX = 64 };

/* Parts of product names and the compute capability of what is called so; the first that a name holds counts. Source:
 * NVIDIA, CUDA GPU compute capability (the table of products). */
static const struct {
    const char *part, *compute;
} families[] = {
    {"Ada", "8.9"},    {"Blackwell", "12.0"}, {"Quadro RTX", "7.5"}, {"GB200", "10.0"},    {"B200", "10.0"},
    {"B100", "10.0"},  {"RTX 50", "12.0"},    {"GH200", "9.0"},      {"H100", "9.0"},      {"H200", "9.0"},
    {"H800", "9.0"},   {"H20", "9.0"},        {"RTX 40", "8.9"},     {"L40", "8.9"},       {"L4", "8.9"},
    {"Orin", "8.7"},   {"RTX 30", "8.6"},     {"RTX A", "8.6"},      {"A100", "8.0"},      {"A800", "8.0"},
    {"A30", "8.0"},    {"A40", "8.6"},        {"A10", "8.6"},        {"A16", "8.6"},       {"A2", "8.6"},
    {"T4", "7.5"},     {"RTX 20", "7.5"},     {"GTX 16", "7.5"},     {"TITAN RTX", "7.5"}, {"Xavier", "7.2"},
    {"V100", "7.0"},   {"TITAN V", "7.0"},    {"GV100", "7.0"},      {"Tegra X2", "6.2"},  {"GTX TITAN", "5.2"},
    {"GTX 10", "6.1"}, {"TITAN X", "6.1"},    {"P40", "6.1"},        {"P4", "6.1"},        {"P6000", "6.1"},
    {"P5000", "6.1"},  {"P100", "6.0"},       {"GP100", "6.0"},      {"GTX 9", "5.2"},     {"M40", "5.2"},
    {"M60", "5.2"}};

const char *platform_choice_compute(const char *gpu)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcasestr(gpu, families[i].part))
            return families[i].compute;
    return "";
}

/* How many letters a name begins with as one of the platform's GPUs does. */
static size_t alike(const struct platform *p, const char *gpu)
{
    size_t most = 0;
    for (const char *name = p->gpus; *name; name += strcspn(name, ",")) {
        name += strspn(name, " ,");
        size_t n = 0;
        while (gpu[n] && gpu[n] == name[n])
            n++;
        most = n > most ? n : most;
    }
    return most;
}

/* The shipped platform whose GPUs are nearest in generation, then in name; false if the name tells no generation. */
static bool nearest(const char *gpu, const char *compute, char *buf, size_t size)
{
    double wanted = strtod(*compute ? compute : platform_choice_compute(gpu), NULL), best = INFINITY;
    size_t most = 0;
    char name[64];
    for (size_t i = 0; wanted > 0 && platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        bool real = p && *p->gpus && *p->compute;
        double off = real ? fabs(strtod(p->compute, NULL) - wanted) : INFINITY;
        size_t same = real ? alike(p, gpu) : 0;
        platform_free(p);
        if (off < best || (off == best && same > most)) {
            best = off;
            most = same;
            (void)snprintf(buf, size, "%s", name);
        }
    }
    return isfinite(best);
}

static bool find(const char *gpu, char *buf, size_t size)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        bool found = p && platform_is_of(p, gpu);
        platform_free(p);
        if (found) {
            (void)snprintf(buf, size, "%s", name);
            return true;
        }
    }
    return false;
}

/* The fact of GPU i, by either spelling; NULL: not told. */
static const char *fact(const struct store *store, int i, const char *what)
{
    char key[64];
    (void)snprintf(key, sizeof key, "gpu.%d.%s", i, what);
    const char *found = store_origin_get(store, key);
    (void)snprintf(key, sizeof key, "gpu.%s.%d", what, i);
    return found ? found : store_origin_get(store, key);
}

static int none_of(const struct store *store, const char *gpu, int which, struct err *err)
{
    const char *major = fact(store, which, "compute_major"), *minor = fact(store, which, "compute_minor");
    char compute[40] = "", name[64], near[120] = "";
    if (major && minor)
        (void)snprintf(compute, sizeof compute, "%.8s.%.8s", major, minor);
    if (nearest(gpu, compute, name, sizeof name))
        (void)snprintf(near, sizeof near, "; the nearest is %s", name);
    return err_set(
        err,
        "the recording is of '%.100s', which no platform describes: name one with --platform%s ('offchip list "
        "platforms')",
        gpu, near);
}

/* The name of the last GPU that is told of, and of another one if there is one; *which: the number of the first. */
static const char *gpus(const struct store *store, const char **other, int *which)
{
    const char *gpu = NULL;
    *other = NULL;
    for (int i = 0; i < GPUS_MAX; i++) {
        const char *name = fact(store, i, "name");
        if (!name)
            continue;
        if (!gpu)
            *which = i;
        else if (strcmp(gpu, name) != 0)
            *other = gpu;
        gpu = name;
    }
    return gpu;
}

const char *platform_choice_gpu(const struct store *store)
{
    const char *other;
    int which;
    const char *gpu = gpus(store, &other, &which);
    return other ? NULL : gpu;
}

int platform_choice_recorded(const struct store *store, struct platform_choice *choice, struct err *err)
{
    const char *other;
    int which;
    const char *gpu = gpus(store, &other, &which);
    if (!gpu)
        return 0;
    if (other)
        return err_set(err, "the recording is of a machine with '%.80s' and '%.80s': name a platform with --platform",
                       other, gpu);
    (void)snprintf(choice->gpu, sizeof choice->gpu, "%s", gpu);
    if (!find(gpu, choice->name, sizeof choice->name))
        return none_of(store, gpu, which, err);
    choice->how = PLATFORM_CHOICE_RECORDED;
    return 1;
}

void platform_choice_default(const char *name, struct platform_choice *choice)
{
    *choice = (struct platform_choice){.how = PLATFORM_CHOICE_DEFAULT};
    (void)snprintf(choice->name, sizeof choice->name, "%s", name);
}
