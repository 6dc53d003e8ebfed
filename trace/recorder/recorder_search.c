#include "trace/recorder/recorder_search.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/recorder/wire/cupti_abi.h"
#include "trace/recorder/wire/record_pipe.h"
#include "trace/recorder/wire/sanitizer_abi.h"

/* How a part is called, and where it lies below folders of each kind. Lists end with NULL. */
static const struct part {
    const char *variable;
    const char *loader[4];     /* names that the loader may know */
    const char *toolkit[5];    /* below a toolkit, conda's environments being such too */
    const char *packages[5];   /* below site-packages */
    const char *system[4];     /* patterns of their own */
    const char *missing, *how; /* how to get it */
} parts[PARTS] = {
    {RECORD_PIPE_CUPTI,
     {"libcupti.so", "libcupti.so.13", "libcupti.so.12", NULL},
     {"/extras/CUPTI/lib64/libcupti.so*", "/lib64/libcupti.so*", "/targets/*/lib/libcupti.so*", "/lib/libcupti.so*",
      NULL},
     {"/nvidia/cuda_cupti/lib/libcupti.so*", "/nvidia/cu[0-9]*/lib/libcupti.so*", "/torch/lib/libcupti*.so*", NULL},
     {"/usr/lib/*-linux-gnu/libcupti.so*", "/usr/lib64/libcupti.so*", NULL},
     "CUPTI (libcupti.so, part of the CUDA toolkit)",
     "install it (cuda-cupti of the toolkit, pip install nvidia-cuda-cupti-cu12) or name it in " RECORD_PIPE_CUPTI},
    {RECORD_PIPE_SANITIZER,
     {"libsanitizer-public.so", NULL},
     {"/compute-sanitizer/libsanitizer-public.so", "/extras/Sanitizer/libsanitizer-public.so",
      "/extras/compute-sanitizer/libsanitizer-public.so", NULL},
     {"/nvidia/*/compute-sanitizer/libsanitizer-public.so", "/nvidia/*/lib/libsanitizer-public.so", NULL},
     {"/usr/lib/nvidia-cuda-toolkit/compute-sanitizer/libsanitizer-public.so",
      "/usr/lib/*-linux-gnu/libsanitizer-public.so", NULL},
     "compute-sanitizer (libsanitizer-public.so, part of the CUDA toolkit)",
     "install it (cuda-sanitizer of the toolkit) or name it in " RECORD_PIPE_SANITIZER},
};

const char *recorder_search_root(void)
{
    const char *root = getenv("OFFCHIP_ROOT");
    return root ? root : "";
}

/* --- the places --- */

struct looking {
    struct recorder_search *search;
    enum recorder_part part;
    const char *root;
    struct err *err;
};

static void judge(struct recorder_library *l, enum recorder_part part)
{
    struct recorder_probe p;
    recorder_probe(l->path, &p);
    l->cuda = recorder_probe_cuda_of(p.api);
    if (!l->cuda)
        l->cuda = recorder_probe_path_version(l->path);
    l->good = p.loads && (part == PART_CUPTI ? p.api > 0 : p.since);
    l->ranges = p.ranges && l->cuda >= 12060;
    if (!p.loads)
        (void)snprintf(l->why, sizeof l->why, "%s", p.why);
    else if (!l->good)
        (void)snprintf(l->why, sizeof l->why, "%s",
                       part == PART_CUPTI ? "it is not a CUPTI" : "it is older than CUDA 12");
}

/* A file, unless it is known under another name. */
static void found(const struct looking *at, const char *file, const char *from)
{
    struct recorder_search *s = at->search;
    char path[PATH_MAX];
    if (s->count == SEARCH_FOUND || !realpath(file, path) || access(path, R_OK))
        return;
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->found[i].path, path) == 0)
            return;
    struct recorder_library *l = &s->found[s->count++];
    *l = (struct recorder_library){.from = from};
    (void)snprintf(l->path, sizeof l->path, "%s", path);
    judge(l, at->part);
}

/* "libcupti.so.12", not "libcupti.so.12.bak". */
static bool is_library(const char *file)
{
    const char *slash = strrchr(file, '/'), *so = strstr(slash ? slash : file, ".so");
    return so && so[3 + strspn(so + 3, "0123456789.")] == 0;
}

static void found_all(const struct looking *at, const char *pattern, const char *from)
{
    glob_t files;
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            if (is_library(files.gl_pathv[i]))
                found(at, files.gl_pathv[i], from);
        globfree(&files);
    }
}

/* Below folder (itself a pattern): each of `below`. */
static void look_below(const struct looking *at, const char *folder, const char *const *below, const char *from)
{
    char pattern[PATH_MAX];
    for (; *below; below++)
        if ((size_t)snprintf(pattern, sizeof pattern, "%s%s", folder, *below) < sizeof pattern)
            found_all(at, pattern, from);
}

/* The packages of a Python whose prefix is `folder`. */
static void look_at_python(const struct looking *at, const char *folder, const char *from)
{
    static const char *const packages[] = {"/lib/python3*/site-packages", "/lib64/python3*/site-packages",
                                           "/lib/python3*/dist-packages", "/lib/python3/dist-packages"};
    char pattern[PATH_MAX];
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        (void)snprintf(pattern, sizeof pattern, "%s%s", folder, packages[i]);
        look_below(at, pattern, parts[at->part].packages, from);
    }
}

/* Where `program` lies, as the shell would find it, less its last two parts: /opt/venv of /opt/venv/bin/python. */
static bool prefix_of(const char *program, char *prefix)
{
    const char *path = getenv("PATH");
    char candidate[PATH_MAX];
    if (strchr(program, '/')) {
        (void)snprintf(candidate, sizeof candidate, "%s", program);
    } else {
        bool there = false;
        for (const char *p = path; p && *p && !there; p += strcspn(p, ":"), p += *p == ':') {
            (void)snprintf(candidate, sizeof candidate, "%.*s/%s", (int)strcspn(p, ":"), p, program);
            there = access(candidate, X_OK) == 0;
        }
        if (!there)
            return false;
    }
    (void)snprintf(prefix, PATH_MAX, "%s", candidate);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    return true;
}

static void look_at_pythons(const struct looking *at, const char *program)
{
    const char *environment = getenv("VIRTUAL_ENV"), *home = getenv("HOME"), *paths = getenv("PYTHONPATH");
    char folder[PATH_MAX];
    if (program && prefix_of(program, folder))
        look_at_python(at, folder, "the program's Python");
    if (environment)
        look_at_python(at, environment, "pip (VIRTUAL_ENV)");
    for (const char *p = paths; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)strcspn(p, ":"), p);
        look_below(at, folder, parts[at->part].packages, "pip (PYTHONPATH)");
    }
    if (prefix_of("python3", folder) && !*at->root)
        look_at_python(at, folder, "pip");
    if (home) {
        (void)snprintf(folder, sizeof folder, "%s/.local", home);
        look_at_python(at, folder, "pip (user)");
    }
    static const char *const prefixes[] = {"/usr", "/usr/local", "/opt/venv"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", at->root, prefixes[i]);
        look_at_python(at, folder, "pip");
    }
}

static void look_at_conda(const struct looking *at)
{
    static const char *const homes[] = {"/miniconda3", "/anaconda3", "/miniforge3", "/mambaforge", "/micromamba"};
    const char *environment = getenv("CONDA_PREFIX"), *home = getenv("HOME");
    char folder[PATH_MAX];
    if (environment) {
        look_below(at, environment, parts[at->part].toolkit, "conda");
        look_at_python(at, environment, "pip in conda");
    }
    (void)snprintf(folder, sizeof folder, "%s/opt/conda", at->root);
    look_below(at, folder, parts[at->part].toolkit, "conda");
    look_at_python(at, folder, "pip in conda");
    for (size_t i = 0; home && i < sizeof homes / sizeof *homes; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", home, homes[i]);
        look_below(at, folder, parts[at->part].toolkit, "conda");
        look_at_python(at, folder, "pip in conda");
    }
}

static void look_at_toolkits(const struct looking *at)
{
    static const char *const roots[] = {"/usr/local/cuda*", "/opt/cuda*", "/usr/lib/nvidia-cuda-toolkit",
                                        "/usr/lib/cuda"};
    static const char sdk[] = "/opt/nvidia/hpc_sdk/Linux_*/*";
    const char *given = getenv("NVHPC_ROOT");
    char folder[PATH_MAX];
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", at->root, roots[i]);
        look_below(at, folder, parts[at->part].toolkit, "CUDA toolkit");
    }
    for (int i = 0; i < 2; i++) {
        if (i == 0 && !given)
            continue;
        (void)snprintf(folder, sizeof folder, "%s%s/cuda/*", i ? at->root : "", i ? sdk : given);
        look_below(at, folder, parts[at->part].toolkit, "HPC SDK");
    }
    look_below(at, at->root, parts[at->part].system, "the distribution");
}

/* The full name of what the loader finds. */
static void look_at_loader(const struct looking *at)
{
    for (const char *const *name = parts[at->part].loader; *name; name++) {
        void *library = dlopen(*name, RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map;
        if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
            found(at, map->l_name, "the loader's path");
        if (library)
            dlclose(library);
    }
}

static int newer(const void *a, const void *b)
{
    const struct recorder_library *x = a, *y = b;
    return x->good != y->good ? y->good - x->good : (y->cuda > x->cuda) - (y->cuda < x->cuda);
}

static int named(struct recorder_search *s, const struct looking *at, const char *variable, const char *given)
{
    if (access(given, R_OK))
        return err_set(at->err, "%s names %s, which cannot be read", variable, given);
    s->named = true;
    found(at, given, variable);
    return 0;
}

int recorder_search(struct recorder_search *s, enum recorder_part part, const char *program, const char *root,
                    struct err *err)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDATOOLKIT_HOME"};
    const char *given = getenv(parts[part].variable);
    const struct looking at = {s, part, root, err};
    *s = (struct recorder_search){.found = mem_zalloc(SEARCH_FOUND, sizeof *s->found, err)};
    if (!s->found)
        return -1;
    if (given && *given) {
        if (named(s, &at, parts[part].variable, given) == 0)
            return 0;
        recorder_search_release(s);
        return -1;
    }
    if (!*root)
        look_at_loader(&at);
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        if (getenv(homes[i]) && *getenv(homes[i]))
            look_below(&at, getenv(homes[i]), parts[part].toolkit, homes[i]);
    look_at_pythons(&at, program);
    look_at_conda(&at);
    look_at_toolkits(&at);
    qsort(s->found, (size_t)s->count, sizeof *s->found, newer);
    return 0;
}

void recorder_search_release(struct recorder_search *s)
{
    free(s->found);
    *s = (struct recorder_search){0};
}

const char *recorder_search_how(enum recorder_part part)
{
    return parts[part].how;
}

/* --- the choice --- */

static void version_text(int cuda, char text[16])
{
    (void)snprintf(text, 16, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

/* NULL, or why a library is not for this box. */
static const char *unfit(const struct recorder_library *l, enum recorder_part part, const struct recorder_box *box,
                         bool counters, char *text, size_t size)
{
    char has[16], driver[16];
    version_text(l->cuda, has);
    if (!l->good)
        return l->why;
    if (part == PART_CUPTI && counters && !l->ranges) {
        (void)snprintf(text, size, "it is of CUDA %s, and --counters needs 12.6 or later", has);
        return text;
    }
    if (!box || !box->driver || !l->cuda)
        return NULL;
    int capability = recorder_box_capability(box);
    version_text(box->cuda, driver);
    if (l->cuda / 1000 > box->cuda / 1000)
        (void)snprintf(text, size, "it is of CUDA %s, and the driver of %s", has, driver);
    else if (capability && capability < 75 && l->cuda >= 13000)
        (void)snprintf(text, size, "CUDA %s does not know compute capability %d.%d any more: take 12.6 to 12.9", has,
                       capability / 10, capability % 10);
    else
        return NULL;
    return text;
}

const struct recorder_library *recorder_search_choose(const struct recorder_search *s, enum recorder_part part,
                                                      const struct recorder_box *box, bool counters, struct err *err)
{
    char text[240], all[480] = "";
    const struct part *p = &parts[part];
    if (s->named) /* the user knows */
        return s->found;
    for (int i = 0; i < s->count; i++) {
        const char *why = unfit(&s->found[i], part, box, counters, text, sizeof text);
        if (!why)
            return &s->found[i];
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%.120s: %s", n ? "; " : "", s->found[i].path, why);
    }
    if (s->count)
        err_set(err, "%s: none of %d is for this machine (%s); %s, or name one in %s", p->missing, s->count, all,
                p->how, p->variable);
    else
        err_set(err,
                "%s was not found: not by the loader, not below CUDA_HOME, CONDA_PREFIX, VIRTUAL_ENV or "
                "/usr/local/cuda*, not in Python's packages nor in the HPC SDK; %s",
                p->missing, p->how);
    return NULL;
}
