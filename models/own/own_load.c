#include "models/own/own_load.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/own/own_services.h"
#include "trace/base/mem.h"

static struct own_loaded *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    const char *name;
    size_t size;
    uint32_t version;
    uint64_t layout;
} interfaces[OWN_INTERFACES] = {
    [OWN_ANY] = {"nothing", 0, 0, 0},
    [OWN_UVM_PREFETCH] = {"uvm prefetch policy", sizeof(struct uvm_policy), OWN_UVM_PREFETCH_VERSION,
                          OWN_UVM_PREFETCH_LAYOUT},
    [OWN_UVM_EVICT] = {"uvm eviction policy", sizeof(struct uvm_evict_policy), OWN_UVM_EVICT_VERSION,
                       OWN_UVM_EVICT_LAYOUT},
    [OWN_DRAM_SCHEDULER] = {"dram scheduler", sizeof(struct dram_policy), OWN_DRAM_SCHEDULER_VERSION,
                            OWN_DRAM_SCHEDULER_LAYOUT},
    [OWN_ZEROCOPY_PATTERN] = {"zerocopy pattern", sizeof(struct zerocopy_pattern), OWN_ZEROCOPY_PATTERN_VERSION,
                              OWN_ZEROCOPY_PATTERN_LAYOUT},
    [OWN_PLACEMENT] = {"placement policy", sizeof(struct placement_policy), OWN_PLACEMENT_VERSION,
                       OWN_PLACEMENT_LAYOUT},
};

const char *own_interface_name(enum own_interface interface)
{
    return interfaces[interface].name;
}

bool own_is_path(const char *text)
{
    const size_t n = strlen(text);
    return n > 3 && strcmp(text + n - 3, ".so") == 0;
}

/* --- what the file says of itself --- */

static int check_versions(const struct own_policy *own, struct err *err)
{
    if (memcmp(own->mark, OWN_MARK, sizeof own->mark) != 0 || own->interface <= OWN_ANY ||
        own->interface >= OWN_INTERFACES)
        return err_set(err, OWN_SYMBOL " is not what an OFFCHIP_ line of models/own/own.h makes");
    if (own->version != interfaces[own->interface].version)
        return err_set(err, "is of version %u of the %s's interface; this offchip has version %u: build it anew",
                       own->version, interfaces[own->interface].name, interfaces[own->interface].version);
    if (own->layout != interfaces[own->interface].layout)
        return err_set(
            err,
            "was built with headers of another offchip: the %s's structures are laid out otherwise; build it "
            "anew",
            interfaces[own->interface].name);
    return own->policy ? 0 : err_set(err, OWN_SYMBOL " names no policy");
}

static bool is_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!(islower((unsigned char)*c) || isdigit((unsigned char)*c) || (c > name && (*c == '-' || *c == '_'))))
            return false;
    return *name && strlen(name) <= 32;
}

/* The first function that must be there and is not, or NULL. */
static const char *missing(const struct own_policy *own)
{
    const struct uvm_policy *prefetch = own->policy;
    const struct uvm_evict_policy *evict = own->policy;
    const struct zerocopy_pattern *pattern = own->policy;
    const struct placement_policy *placement = own->policy;
    switch ((enum own_interface)own->interface) {
    case OWN_UVM_PREFETCH:
        return prefetch->plan ? NULL : "plan";
    case OWN_UVM_EVICT:
        return evict->pick ? NULL : "pick";
    case OWN_DRAM_SCHEDULER:
        return !own->hooks || !own->loops ? "hooks" : own->hooks->leaves ? NULL : "leaves";
    case OWN_ZEROCOPY_PATTERN:
        return !pattern->counter_new    ? "counter_new"
               : !pattern->counter_free ? "counter_free"
               : !pattern->count        ? "count"
               : !pattern->finish       ? "finish"
               : !pattern->expand       ? "expand"
                                        : NULL;
    case OWN_PLACEMENT:
        return placement->choose ? NULL : "choose";
    default:
        return "interface";
    }
}

static int check_params(const struct policy_head *head, bool allowed, struct err *err)
{
    for (const struct param *p = head->params; p && p->name; p++) {
        if (!allowed)
            return err_set(err, "states parameters; patterns are not told of any");
        const size_t size = sizeof(int64_t); /* of a text's pointer too */
        if (!p->unit || !p->help || p->type > PARAM_TEXT || p->offset % size || p->offset + size > head->state_size)
            return err_set(err, "states a parameter '%.60s' that has no place in its state, no unit or no help",
                           p->name);
        if (strcmp(p->name, OWN_ROW) == 0)
            return err_set(err, "states a parameter '%s', which is the program's own", p->name);
    }
    return 0;
}

static int check_head(const struct own_policy *own, struct err *err)
{
    const struct policy_head *head = own->policy;
    if (!head->name || !is_name(head->name))
        return err_set(err, "its name '%.60s' is not lower-case letters, digits, '-' and '_', at most 32",
                       head->name ? head->name : "");
    if (!head->summary || !head->source)
        return err_set(err, "its head lacks a summary or a source");
    if (head->baseline)
        return err_set(err, "its head says that it is a baseline; one cannot be loaded");
    if (head->state_size > 1 << 24)
        return err_set(err, "its state is of %zu bytes, more than 16 MiB", head->state_size);
    const char *hook = missing(own);
    if (hook)
        return err_set(err, "its %s() is missing", hook);
    return check_params(head, own->interface != OWN_ZEROCOPY_PATTERN, err);
}

/* --- the copy that the program uses --- */

/* The table with the row `so`; the state grows by its text. */
static int add_row(struct policy_head *head, const char *hash, struct err *err)
{
    size_t rows = 0;
    while (head->params && head->params[rows].name)
        rows++;
    struct param *table = mem_zalloc(rows + 2, sizeof *table, err);
    if (!table)
        return -1;
    if (rows)
        memcpy(table, head->params, rows * sizeof *table);
    head->state_size = (head->state_size + 15) / 16 * 16;
    table[rows] = (struct param){.name = OWN_ROW,
                                 .type = PARAM_TEXT,
                                 .unit = "text",
                                 .offset = head->state_size,
                                 .help = "content of the file that the policy was loaded from",
                                 .text = hash};
    head->state_size += 16;
    head->params = table;
    return 0;
}

/* What a policy that failed half-way leaves is small and reachable nowhere: give it back. */
static int make_copy(struct own_loaded *loaded, struct err *err)
{
    const struct own_policy *own = loaded->own;
    const size_t size = interfaces[own->interface].size;
    struct policy_head *copy = mem_zalloc(1, size, err);
    if (!copy)
        return -1;
    memcpy(copy, own->policy, size);
    int rc = add_row(copy, loaded->hash, err);
    if (rc == 0 && own->interface == OWN_UVM_PREFETCH) {
        ((struct uvm_policy *)copy)->stock = false;
    } else if (rc == 0 && own->interface == OWN_UVM_EVICT) {
        ((struct uvm_evict_policy *)copy)->stock = false;
    } else if (rc == 0 && own->interface == OWN_DRAM_SCHEDULER) {
        ((struct dram_policy *)copy)->alone = false;
        ((struct dram_policy *)copy)->loops = own->loops;
    }
    if (rc == 0) {
        loaded->head = copy;
        return 0;
    }
    if (copy->params != ((const struct policy_head *)own->policy)->params)
        free((void *)(uintptr_t)copy->params);
    free(copy);
    return -1;
}

/* --- loading --- */

/* The bytes that were checked, not the file, which may change: through a file in memory, which stays open so that no
 * other takes its name. */
static void *open_bytes(const unsigned char *bytes, size_t count)
{
    char name[64];
    int fd = memfd_create("offchip-policy", MFD_CLOEXEC);
    bool written = fd >= 0;
    for (size_t at = 0; at < count && written;) {
        const ssize_t n = write(fd, bytes + at, count - at);
        written = n > 0;
        at += n > 0 ? (size_t)n : 0;
    }
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    void *handle = written ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle && fd >= 0)
        (void)close(fd);
    return handle;
}

/* The loader's own words, without the file in front of them. */
static int loader_says(struct err *err)
{
    const char *said = dlerror(), *colon = said ? strstr(said, ": ") : NULL;
    return err_set(err,
                   "cannot be loaded: %.300s (what a policy may call of the program stands in models/own/own_names.h)",
                   colon  ? colon + 2
                   : said ? said
                          : "no reason given");
}

static int open_file(struct own_loaded *loaded, const unsigned char *bytes, size_t count, struct err *err)
{
    void *handle = open_bytes(bytes, count);
    if (!handle) {
        char *path = realpath(loaded->path, NULL); /* without /proc; and for an error with the file's name */
        handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        free(path);
    }
    if (!handle)
        return loader_says(err);
    loaded->own = dlsym(handle, OWN_SYMBOL);
    int rc = loaded->own ? 0 : err_set(err, "exports no policy: it ends with no OFFCHIP_ line of models/own/own.h");
    if (rc == 0)
        rc = check_versions(loaded->own, err) || check_head(loaded->own, err) || make_copy(loaded, err) ? -1 : 0;
    if (rc)
        (void)dlclose(handle);
    return rc;
}

static const char *name_of(const struct own_loaded *loaded)
{
    return loaded->head->name;
}

static struct own_loaded *find(enum own_interface interface, const char *name)
{
    struct own_loaded *l = all;
    while (l && (l->own->interface != interface || strcmp(name_of(l), name) != 0))
        l = l->next;
    return l;
}

/* Whether its name is free: one name is one policy in every table. */
static int check_name(const struct own_loaded *loaded, const struct policy_head *const *taken, struct err *err)
{
    if (taken && policy_find(taken, name_of(loaded)))
        return err_set(err, "is called '%s', as a policy of offchip's own: give it another name", name_of(loaded));
    const struct own_loaded *other = find((enum own_interface)loaded->own->interface, name_of(loaded));
    if (other && other != loaded)
        return err_set(err, "is called '%s', as what was loaded from '%.100s': give one another name", name_of(loaded),
                       other->path);
    return 0;
}

static int check_interface(const struct own_loaded *loaded, enum own_interface interface, struct err *err)
{
    if (interface == OWN_ANY || loaded->own->interface == (uint32_t)interface)
        return 0;
    return err_set(err, "is a %s; expected a %s", interfaces[loaded->own->interface].name, interfaces[interface].name);
}

static void forget(struct own_loaded *loaded)
{
    if (loaded->head) {
        free((void *)(uintptr_t)loaded->head->params);
        free((void *)(uintptr_t)loaded->head);
    }
    free((void *)(uintptr_t)loaded->path);
    free(loaded);
}

/* The one with this content; a new one is put into the list when all is well with it. */
static struct own_loaded *load(const char *path, const unsigned char *bytes, size_t count, enum own_interface interface,
                               const struct policy_head *const *taken, struct err *err)
{
    char hash[OWN_HASH];
    if (own_file_check(bytes, count, hash, err))
        return NULL;
    struct own_loaded *l = all;
    while (l && strcmp(l->hash, hash) != 0)
        l = l->next;
    if (l)
        return check_interface(l, interface, err) || check_name(l, taken, err) ? NULL : l;
    l = mem_zalloc(1, sizeof *l, err);
    if (!l)
        return NULL;
    memcpy(l->hash, hash, sizeof hash);
    l->path = mem_strdup(path, err);
    if (!l->path || open_file(l, bytes, count, err) || check_interface(l, interface, err) ||
        check_name(l, taken, err)) {
        forget(l);
        return NULL;
    }
    l->next = all;
    return all = l;
}

const struct own_loaded *own_load(const char *path, enum own_interface interface,
                                  const struct policy_head *const *taken, struct err *err)
{
    size_t count = 0;
    own_services_keep();
    unsigned char *bytes = own_file_read(path, &count, err);
    (void)pthread_mutex_lock(&lock);
    struct own_loaded *l = bytes ? load(path, bytes, count, interface, taken, err) : NULL;
    (void)pthread_mutex_unlock(&lock);
    free(bytes);
    if (!l)
        (void)err_at(err, "'%.200s'", path);
    return l;
}

const struct own_loaded *own_find(enum own_interface interface, const char *name)
{
    (void)pthread_mutex_lock(&lock);
    const struct own_loaded *l = find(interface, name);
    (void)pthread_mutex_unlock(&lock);
    return l;
}

const struct own_loaded *own_of(const struct policy_head *head)
{
    (void)pthread_mutex_lock(&lock);
    const struct own_loaded *l = all;
    while (l && l->head != head)
        l = l->next;
    (void)pthread_mutex_unlock(&lock);
    return l;
}
