#include "models/plugin/plugin_load.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/plugin/plugin.h"
#include "trace/base/param.h"
#include "trace/base/privilege.h"
#include "trace/base/regular_file.h"

struct loaded {
    union { /* a copy of the interface's struct */
        struct policy_head head;
        struct uvm_policy prefetch;
        struct uvm_evict_policy evict;
        struct dram_policy scheduler;
        struct zerocopy_pattern pattern;
        struct placement_policy placement;
    } policy;
    enum policy_interface interface;
    char *path;
    struct stat file;
    void *handle;
    struct param *table;
    struct loaded *next;
};

static struct loaded *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
    const char *name;
    size_t size;
} interfaces[POLICY_INTERFACES] = {
    [POLICY_ANY] = {"nothing", 0},
    [POLICY_UVM_PREFETCH] = {"uvm prefetch policy", sizeof(struct uvm_policy)},
    [POLICY_UVM_EVICT] = {"uvm eviction policy", sizeof(struct uvm_evict_policy)},
    [POLICY_DRAM_SCHEDULER] = {"dram scheduler", sizeof(struct dram_policy)},
    [POLICY_ZEROCOPY_PATTERN] = {"zerocopy pattern", sizeof(struct zerocopy_pattern)},
    [POLICY_PLACEMENT] = {"placement policy", sizeof(struct placement_policy)},
};

const char *plugin_interface_name(enum policy_interface interface)
{
    return interfaces[interface].name;
}

bool plugin_is_path(const char *text)
{
    const size_t n = strlen(text);
    return n > 3 && strcmp(text + n - 3, ".so") == 0;
}

/* --- the controller loop for hooks known at run time only, which models/dram/loop.h declares to plugins --- */

void plugin_loop_feed(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, struct dram_feed *feed)
    PLUGIN_API(dram_loop_feed);
int64_t plugin_loop_step(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, int64_t now)
    PLUGIN_API(dram_loop_step);

void plugin_loop_feed(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, struct dram_feed *feed)
{
    struct dram_hooks mine = *hooks;
    mine.from_plugin = true;
    dram_loop_feed(channel, &mine, state, feed);
}

int64_t plugin_loop_step(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, int64_t now)
{
    struct dram_hooks mine = *hooks;
    mine.from_plugin = true;
    return dram_loop_step(channel, &mine, state, now);
}

/* --- what the file says of itself --- */

static int check_built(const struct plugin *plugin, struct err *err)
{
    static const uint32_t sizes[PLUGIN_STRUCTS] = PLUGIN_SIZES;
    if (memcmp(plugin->mark, PLUGIN_MARK, sizeof plugin->mark) != 0 || plugin->interface <= POLICY_ANY ||
        plugin->interface >= POLICY_INTERFACES)
        return err_set(err, PLUGIN_SYMBOL " is not what an OFFCHIP_ line of models/plugin/plugin.h makes");
    if (plugin->version != PLUGIN_VERSION || memcmp(plugin->sizes, sizes, sizeof sizes) != 0)
        return err_set(err, "was built for another offchip: build it again");
    return plugin->policy ? 0 : err_set(err, PLUGIN_SYMBOL " names no policy");
}

static bool is_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!(islower((unsigned char)*c) || isdigit((unsigned char)*c) || (c > name && (*c == '-' || *c == '_'))))
            return false;
    return *name && strlen(name) <= 32;
}

/* The first function that must be there and is not, or NULL. */
static const char *missing(const struct plugin *plugin)
{
    const struct zerocopy_pattern *pattern = plugin->policy;
    switch ((enum policy_interface)plugin->interface) {
    case POLICY_UVM_PREFETCH:
        return ((const struct uvm_policy *)plugin->policy)->plan ? NULL : "plan";
    case POLICY_UVM_EVICT:
        return ((const struct uvm_evict_policy *)plugin->policy)->pick ? NULL : "pick";
    case POLICY_DRAM_SCHEDULER:
        return !plugin->hooks || !plugin->loops ? "hooks" : plugin->hooks->switch_mode ? NULL : "switch_mode";
    case POLICY_ZEROCOPY_PATTERN:
        return !pattern->counter_new    ? "counter_new"
               : !pattern->counter_free ? "counter_free"
               : !pattern->count        ? "count"
               : !pattern->finish       ? "finish"
               : !pattern->expand       ? "expand"
                                        : NULL;
    default:
        return ((const struct placement_policy *)plugin->policy)->choose ? NULL : "choose";
    }
}

static int check_params(const struct policy_head *head, bool allowed, struct err *err)
{
    for (const struct param *p = head->params; p && p->name; p++) {
        if (!allowed)
            return err_set(err, "states parameters; patterns are not told of any");
        if (!is_name(p->name))
            return err_set(
                err, "states a parameter '%.60s', which is not lower-case letters, digits, '-' and '_', at most 32",
                p->name);
        const size_t size = sizeof(int64_t); /* of a text's pointer too */
        if (!p->unit || !p->help || p->type > PARAM_TEXT || p->offset % size || p->offset + size > head->state_size)
            return err_set(err, "states a parameter '%.60s' that has no place in its state, no unit or no help",
                           p->name);
        if (strcmp(p->name, "so") == 0)
            return err_set(err, "states a parameter 'so', which is the program's own");
    }
    return 0;
}

static int check_head(const struct plugin *plugin, struct err *err)
{
    const struct policy_head *head = plugin->policy;
    if (!head->name || !is_name(head->name))
        return err_set(err, "its name '%.60s' is not lower-case letters, digits, '-' and '_', at most 32",
                       head->name ? head->name : "");
    if (!head->summary || !head->source)
        return err_set(err, "its head lacks a summary or a source");
    if (head->baseline)
        return err_set(err, "its head says that it is a baseline; one cannot be loaded");
    if (head->state_size > 1 << 24)
        return err_set(err, "its state is of %zu bytes, more than 16 MiB", head->state_size);
    const char *hook = missing(plugin);
    if (hook)
        return err_set(err, "its %s() is missing", hook);
    return check_params(head, plugin->interface != POLICY_ZEROCOPY_PATTERN, err);
}

/* --- the copy that the program uses --- */

/* The table with the row `so`, a choice of one: it cannot be said to be another file. */
static int add_row(struct loaded *l, struct err *err)
{
    struct policy_head *head = &l->policy.head;
    size_t rows = 0;
    while (head->params && head->params[rows].name)
        rows++;
    l->table = mem_zalloc(rows + 2, sizeof *l->table, err);
    if (!l->table)
        return -1;
    if (rows)
        memcpy(l->table, head->params, rows * sizeof *l->table);
    head->state_size = (head->state_size + 15) / 16 * 16;
    l->table[rows] = (struct param){.name = "so",
                                    .type = PARAM_CHOICE,
                                    .unit = l->path,
                                    .offset = head->state_size,
                                    .help = "the file that the policy was loaded from"};
    head->state_size += 16;
    head->params = l->table;
    return 0;
}

static int copy(struct loaded *l, const struct plugin *plugin, struct err *err)
{
    l->interface = (enum policy_interface)plugin->interface;
    memcpy(&l->policy, plugin->policy, interfaces[l->interface].size);
    if (l->interface == POLICY_UVM_PREFETCH)
        l->policy.prefetch.stock = false;
    else if (l->interface == POLICY_UVM_EVICT)
        l->policy.evict.stock = false;
    else if (l->interface == POLICY_DRAM_SCHEDULER)
        l->policy.scheduler.loops = plugin->loops;
    return add_row(l, err);
}

/* --- loading --- */

static void forget(struct loaded *l)
{
    if (l->handle)
        (void)dlclose(l->handle);
    free(l->table);
    free(l->path);
    free(l);
}

/* Whether an ELF file ends before its table of sections, the last thing in it: the loader would die of it. */
static bool is_cut(int fd, uint64_t size)
{
    Elf64_Ehdr head;
    return pread(fd, &head, sizeof head, 0) == sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
           (head.e_shoff > size || head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize > size);
}

/* The library that fd reads, whatever its path names by now; the loader's own words without the file in front. Once
 * it is loaded fd stays open: the loader knows it by this number and would take another file's for it. */
static void *open_file(int fd, uint64_t size, struct err *err)
{
    char name[32];
    if (is_cut(fd, size)) {
        err_set(err, "is cut short: build it again");
        return NULL;
    }
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *said = handle ? NULL : dlerror(), *colon = said ? strstr(said, ": ") : NULL;
    if (!handle)
        err_set(err, "cannot be loaded: %.300s; 'offchip policy build FILE.c -o FILE.so' makes what can",
                colon  ? colon + 2
                : said ? said
                       : "no reason given");
    return handle;
}

/* What the file holds, put into the list. */
static struct loaded *add(const char *path, const struct stat *file, void *handle, struct err *err)
{
    struct loaded *l = mem_zalloc(1, sizeof *l, err);
    if (!l)
        return NULL;
    const struct plugin *plugin = dlsym(handle, PLUGIN_SYMBOL);
    l->path = mem_strdup(path, err);
    l->file = *file;
    l->handle = handle;
    if (l->path && !plugin)
        err_set(err, "exports no policy: it ends with no OFFCHIP_ line of models/plugin/plugin.h");
    if (!l->path || !plugin || check_built(plugin, err) || check_head(plugin, err) || copy(l, plugin, err)) {
        forget(l);
        return NULL;
    }
    l->next = all;
    return all = l;
}

/* Whether it is what is wanted, and its name is free: one name is one policy in every table. */
static int check_wanted(const struct loaded *l, enum policy_interface interface, const struct policy_head *const *taken,
                        struct err *err)
{
    const char *name = l->policy.head.name;
    if (interface != POLICY_ANY && l->interface != interface)
        return err_set(err, "is a %s; expected a %s", interfaces[l->interface].name, interfaces[interface].name);
    if (taken && policy_find(taken, name))
        return err_set(err, "is called '%s', as a policy of offchip's own: give it another name", name);
    for (const struct loaded *other = all; other; other = other->next)
        if (other != l && other->interface == l->interface && strcmp(other->policy.head.name, name) == 0)
            return err_set(err, "is called '%s', as what was loaded from '%.100s': give one another name", name,
                           other->path);
    return 0;
}

/* What the file that fd reads holds: once, by whatever path. */
static struct loaded *load(const char *path, int fd, struct err *err)
{
    struct stat file = {0};
    struct loaded *l = all;
    (void)fstat(fd, &file);
    while (l && (l->file.st_dev != file.st_dev || l->file.st_ino != file.st_ino))
        l = l->next;
    void *handle = l ? NULL : open_file(fd, (uint64_t)file.st_size, err);
    if (!handle)
        (void)close(fd);
    return handle ? add(path, &file, handle, err) : l;
}

const struct policy_head *plugin_load(const char *path, enum policy_interface interface,
                                      const struct policy_head *const *taken, struct err *err)
{
    if (privilege_given()) {
        err_set(err, "'%.200s': is not loaded, as " PRIVILEGE_GIVEN ": take a copy of it that has none", path);
        return NULL;
    }
    const int fd = regular_file_open(path, err);
    if (fd < 0)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    const struct loaded *l = load(path, fd, err);
    const bool well = l && check_wanted(l, interface, taken, err) == 0;
    (void)pthread_mutex_unlock(&lock);
    if (!well)
        (void)err_at(err, "'%.200s'", path);
    return well ? &l->policy.head : NULL;
}

const struct policy_head *plugin_find(enum policy_interface interface, const char *name)
{
    (void)pthread_mutex_lock(&lock);
    const struct loaded *l = all;
    while (l && (l->interface != interface || strcmp(l->policy.head.name, name) != 0))
        l = l->next;
    (void)pthread_mutex_unlock(&lock);
    return l ? &l->policy.head : NULL;
}

enum policy_interface plugin_interface(const struct policy_head *head)
{
    return ((const struct loaded *)head)->interface;
}
