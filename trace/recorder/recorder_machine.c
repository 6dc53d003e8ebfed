#include "trace/recorder/recorder_machine.h"

#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/privilege.h"
#include "trace/base/program_folder.h"
#include "trace/base/regular_file.h"
#include "trace/base/sorted.h"
#include "trace/recorder/wire/cupti_abi.h"
#include "trace/recorder/wire/record_pipe.h"
#include "trace/recorder/wire/sanitizer_abi.h"

const char *recorder_machine_root(void)
{
    const char *root = secure_getenv("OFFCHIP_ROOT");
    return root ? root : "";
}

enum { PROBE_WAIT_S = 20 };

/* --- a library looked at in a process of its own: some crash where there is no driver --- */

struct probe {
    bool loads;    /* it can be loaded */
    char why[160]; /* if not: why */
    unsigned api;  /* what cuptiGetVersion() gives; 0: it is no CUPTI */
    bool ranges;   /* it has the range profiler */
    bool since;    /* it is a Sanitizer library of CUDA 12 or later */
};

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
    gpu->pageable = attribute(d, device, ABI_ATTRIBUTE_PAGEABLE_ACCESS);
    gpu->page_tables = attribute(d, device, ABI_ATTRIBUTE_HOST_PAGE_TABLES);
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
    struct recorder_machine *machine = what;
    struct abi_driver driver;
    abi_result (*init)(unsigned flags) = NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        (void)snprintf(machine->why, sizeof machine->why, "%s", why ? why : "libcuda.so.1 cannot be loaded");
        return;
    }
    if (!load(library, &driver, &init)) {
        (void)snprintf(machine->why, sizeof machine->why, "libcuda.so.1 is not a CUDA driver of our time");
        return;
    }
    abi_result result = init(0);
    const char *why = init_failure(result);
    if (why)
        (void)snprintf(machine->why, sizeof machine->why, "%s", why);
    else if (result)
        (void)snprintf(machine->why, sizeof machine->why, "the driver does not start (CUDA error %u)", result);
    (void)driver.driver_get_version(&machine->cuda);
    machine->driver = result == ABI_SUCCESS && driver.device_get_count(&machine->gpu_count) == ABI_SUCCESS;
    for (int i = 0; machine->driver && i < machine->gpu_count && i < MACHINE_GPUS; i++)
        look_at_gpu(&driver, i, &machine->gpus[i]);
}

static void look_at_library(const char *path, void *what)
{
    struct probe *p = what;
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
        if (privilege_drop(NULL) == 0)
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
    return regular_file_line(name, word, line, size);
}

void recorder_machine_look(struct recorder_machine *machine, const char *root)
{
    int signal;
    char line[512];
    const char *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
    *machine = (struct recorder_machine){.counters_for_all = true};
    if (!look_apart(look_at_driver, "libcuda.so.1", machine, sizeof *machine, MACHINE_WAIT_S, &signal) && signal >= 0)
        (void)snprintf(machine->why, sizeof machine->why, "the driver does not start: signal %d", signal);
    /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..." */
    if (line_with(root, "/proc/driver/nvidia/version", "NVRM", line, sizeof line)) {
        const char *module = strstr(line, "Module");
        if (module)
            (void)sscanf(module, "Module%*[^0-9]%63[0-9.]", machine->kernel);
    }
    if (line_with(root, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", line, sizeof line))
        machine->counters_for_all = strstr(line, ": 0") || geteuid() == 0;
    machine->wsl = line_with(root, "/proc/version", "microsoft", line, sizeof line);
    (void)snprintf(line, sizeof line, "%s%s/control", pipes ? "" : root, pipes ? pipes : "/tmp/nvidia-mps");
    machine->mps = access(line, F_OK) == 0;
}

int recorder_machine_capability(const struct recorder_machine *machine)
{
    int least = 0;
    for (int i = 0; i < machine->gpu_count && i < MACHINE_GPUS; i++)
        if (machine->gpus[i].capability && (!least || machine->gpus[i].capability < least))
            least = machine->gpus[i].capability;
    return least;
}

/* --- libraries --- */

/* The CUDA version of a CUPTI of this API version; 0: not known. */
static int cuda_of_api(unsigned api)
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

/* The CUDA version that a path names last ("cuda-12.10/..." 12100, "libcupti.so.12" 12000); 0: none. */
static int cuda_of_path(const char *path)
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

static void probe_library(const char *path, struct probe *p)
{
    int signal;
    *p = (struct probe){.why = "it could not be tried"};
    if (!look_apart(look_at_library, path, p, sizeof *p, PROBE_WAIT_S, &signal) && signal >= 0)
        (void)snprintf(p->why, sizeof p->why, "it crashes when it is loaded (signal %d)", signal);
}

/* --- which there are --- */

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

/* --- the places --- */

struct looking {
    struct recorder_libraries *search;
    enum recorder_part part;
    const char *root;
};

static void judge(struct recorder_library *l, enum recorder_part part)
{
    struct probe p;
    probe_library(l->path, &p);
    l->cuda = cuda_of_api(p.api);
    if (!l->cuda)
        l->cuda = cuda_of_path(l->path);
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
    struct recorder_libraries *s = at->search;
    char path[PATH_MAX];
    if (s->count == LIBRARIES_FOUND || !realpath(file, path) || access(path, R_OK))
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
    const char *path = secure_getenv("PATH");
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

/* Where toolkits and Pythons are installed; patterns. */
static const struct place {
    const char *variable, *path;  /* below the variable's value; NULL: below the root */
    const char *toolkit, *python; /* what a library is from that lies there as in these; NULL: there is none */
} installed[] = {
    {"CUDA_HOME", "", "CUDA_HOME", NULL},
    {"CUDA_PATH", "", "CUDA_PATH", NULL},
    {"CUDA_ROOT", "", "CUDA_ROOT", NULL},
    {"CUDATOOLKIT_HOME", "", "CUDATOOLKIT_HOME", NULL},
    {"VIRTUAL_ENV", "", NULL, "pip (VIRTUAL_ENV)"},
    {"HOME", "/.local", NULL, "pip (user)"},
    {NULL, "/usr", NULL, "pip"},
    {NULL, "/usr/local", NULL, "pip"},
    {NULL, "/opt/venv", NULL, "pip"},
    {"CONDA_PREFIX", "", "conda", "pip in conda"},
    {NULL, "/opt/conda", "conda", "pip in conda"},
    {"HOME", "/miniconda3", "conda", "pip in conda"},
    {"HOME", "/anaconda3", "conda", "pip in conda"},
    {"HOME", "/miniforge3", "conda", "pip in conda"},
    {"HOME", "/mambaforge", "conda", "pip in conda"},
    {"HOME", "/micromamba", "conda", "pip in conda"},
    {NULL, "/usr/local/cuda*", "CUDA toolkit", NULL},
    {NULL, "/opt/cuda*", "CUDA toolkit", NULL},
    {NULL, "/usr/lib/nvidia-cuda-toolkit", "CUDA toolkit", NULL},
    {NULL, "/usr/lib/cuda", "CUDA toolkit", NULL},
    {"NVHPC_ROOT", "/cuda/*", "HPC SDK", NULL},
    {NULL, "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*", "HPC SDK", NULL},
};
enum { INSTALLED = sizeof installed / sizeof *installed, VIRTUAL_ENV = 4 };

static void look_at_place(const struct looking *at, const struct place *p)
{
    const char *front = p->variable ? secure_getenv(p->variable) : at->root;
    char folder[PATH_MAX];
    if (!front || (p->variable && !*front))
        return;
    (void)snprintf(folder, sizeof folder, "%s%s", front, p->path);
    if (p->toolkit)
        look_below(at, folder, parts[at->part].toolkit, p->toolkit);
    if (p->python)
        look_at_python(at, folder, p->python);
}

/* Of the program, of VIRTUAL_ENV, of PYTHONPATH, and the first in PATH. */
static void look_at_pythons(const struct looking *at, const char *program)
{
    char folder[PATH_MAX];
    if (program && !privilege_given() && prefix_of(program, folder))
        look_at_python(at, folder, "the program's Python");
    look_at_place(at, &installed[VIRTUAL_ENV]);
    for (const char *p = secure_getenv("PYTHONPATH"); p && *p; p += strcspn(p, ":"), p += *p == ':') {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)strcspn(p, ":"), p);
        look_below(at, folder, parts[at->part].packages, "pip (PYTHONPATH)");
    }
    if (prefix_of("python3", folder) && !*at->root)
        look_at_python(at, folder, "pip");
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

SORTED_AS(newer, struct recorder_library,
          x->good != y->good ? y->good - x->good : (y->cuda > x->cuda) - (y->cuda < x->cuda))

int recorder_libraries_find(struct recorder_libraries *s, enum recorder_part part, const char *program,
                            const char *root, struct err *err)
{
    const char *given;
    const struct looking at = {s, part, root};
    *s = (struct recorder_libraries){0};
    if (privilege_env(parts[part].variable, &given, err))
        return -1;
    s->named = given != NULL;
    if (s->named && access(given, R_OK))
        return err_set(err, "%s names %s, which cannot be read", parts[part].variable, given);
    s->found = mem_zalloc(LIBRARIES_FOUND, sizeof *s->found, err);
    if (!s->found)
        return -1;
    if (s->named) {
        found(&at, given, parts[part].variable);
        return 0;
    }
    if (!*root)
        look_at_loader(&at);
    for (int i = 0; i < INSTALLED; i++)
        if (i == VIRTUAL_ENV)
            look_at_pythons(&at, program);
        else
            look_at_place(&at, &installed[i]);
    look_below(&at, root, parts[part].system, "the distribution");
    sort_items(s->found, (size_t)s->count, sizeof *s->found, newer);
    return 0;
}

void recorder_libraries_release(struct recorder_libraries *s)
{
    free(s->found);
    *s = (struct recorder_libraries){0};
}

const char *recorder_libraries_how(enum recorder_part part)
{
    return parts[part].how;
}

/* --- the choice --- */

static void version_text(int cuda, char text[16])
{
    (void)snprintf(text, 16, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

/* NULL, or why a library is not for this machine. */
static const char *unfit(const struct recorder_library *l, enum recorder_part part,
                         const struct recorder_machine *machine, bool counters, char *text, size_t size)
{
    char has[16], driver[16];
    version_text(l->cuda, has);
    if (!l->good)
        return l->why;
    if (part == PART_CUPTI && counters && !l->ranges) {
        (void)snprintf(text, size, "it is of CUDA %s, and --counters needs 12.6 or later", has);
        return text;
    }
    if (!machine || !machine->driver || !l->cuda)
        return NULL;
    int capability = recorder_machine_capability(machine);
    version_text(machine->cuda, driver);
    if (l->cuda / 1000 > machine->cuda / 1000)
        (void)snprintf(text, size, "it is of CUDA %s, and the driver of %s", has, driver);
    else if (capability && capability < 75 && l->cuda >= 13000)
        (void)snprintf(text, size, "CUDA %s does not know compute capability %d.%d any more: take 12.6 to 12.9", has,
                       capability / 10, capability % 10);
    else
        return NULL;
    return text;
}

const struct recorder_library *recorder_libraries_choose(const struct recorder_libraries *s, enum recorder_part part,
                                                         const struct recorder_machine *machine, bool counters,
                                                         struct err *err)
{
    char text[240], all[480] = "";
    const struct part *p = &parts[part];
    if (s->named) /* the user knows */
        return s->found;
    for (int i = 0; i < s->count; i++) {
        const char *why = unfit(&s->found[i], part, machine, counters, text, sizeof text);
        if (!why)
            return &s->found[i];
        (void)mem_add_text(all, sizeof all, "%s%.120s: %s", *all ? "; " : "", s->found[i].path, why);
    }
    if (s->count)
        err_set(err, "%s: none of %d is for this machine (%s); %s, or name one in %s", p->missing, s->count, all,
                p->how, p->variable);
    else
        err_set(err,
                "%s was not found: not by the loader, not below CUDA_HOME, CONDA_PREFIX, VIRTUAL_ENV or "
                "/usr/local/cuda*, not in Python's packages nor in the HPC SDK%s; %s",
                p->missing, privilege_given() ? " (no environment variable was followed, as " PRIVILEGE_GIVEN ")" : "",
                p->how);
    return NULL;
}

/* --- what is taken for a recording --- */

static int readable(const char *path)
{
    return access(path, R_OK) == 0;
}

/* A file of our own build, which an environment variable may name. */
static int find_ours(const char *variable, const char *name, const char *what, const char *how, char *path, size_t size,
                     struct err *err)
{
    static const char *const places[] = {"", "/../lib/offchip"};
    const char *given;
    char folder[PATH_MAX], candidate[PATH_MAX + 64];
    if (privilege_env(variable, &given, err))
        return -1;
    if (given) {
        if (!readable(given))
            return err_set(err, "%s names %s, which cannot be read", variable, given);
        if (!realpath(given, folder))
            return err_set(err, "%s names %s, which has no absolute path", variable, given);
        (void)snprintf(path, size, "%s", folder);
        return 0;
    }
    if (!program_folder(folder))
        return err_set(err, "cannot find the folder of this program: name %s in %s", name, variable);
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

int recorder_find_part(enum recorder_part part, const char *program, bool counters, char *path, size_t size,
                       struct err *err)
{
    struct recorder_libraries search;
    struct recorder_machine machine, *look = NULL;
    if (recorder_libraries_find(&search, part, program, recorder_machine_root(), err))
        return -1;
    if (!search.named && (search.count > 1 || counters)) { /* there is something to choose */
        recorder_machine_look(&machine, recorder_machine_root());
        look = &machine;
    }
    const struct recorder_library *l = recorder_libraries_choose(&search, part, look, counters, err);
    if (l)
        (void)snprintf(path, size, "%s", l->path);
    recorder_libraries_release(&search);
    return l ? 0 : -1;
}
