#include "replay/placement/placement_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

enum { TASKS_MAX = 100000 };

static const struct param placement_task_params[] = {
    PARAM_BYTES_ROW(placement_keys, bytes_hd, 0, 0x1p50, 0, "bytes copied host to device"),
    PARAM_BYTES_ROW(placement_keys, bytes_dh, 0, 0x1p50, 0, "bytes copied device to host"),
    PARAM_INT_ROW(placement_keys, copies, "", 0, 1e12, 0, "copy calls"),
    PARAM_INT_ROW(placement_keys, kernels, "", 1, 1e12, 1, "kernel launches"),
    PARAM_INT_ROW(placement_keys, dirty_kernels, "", -1, 1e12, -1, "launches with a dirty CPU cache; -1: all"),
    PARAM_BYTES_ROW(placement_keys, kernel_bytes, 0, 0x1p50, 0, "bytes that each kernel touches"),
    PARAM_BYTES_ROW(placement_keys, dirty_bytes, -1, 0x1p50, -1,
                    "bytes that all dirty launches touch; -1: kernel_bytes each"),
    PARAM_BYTES_ROW(placement_keys, written_bytes, 0, 0x1p50, 0, "bytes that each kernel modifies"),
    PARAM_REAL_ROW(placement_keys, l2_instructions, "", -1, 1e18, -1, "L2 instructions of all kernels; -1: unknown"),
    PARAM_REAL_ROW(placement_keys, l2_hit_ratio, "", 0, 1, 0, "L2 hit rate under device memory"),
    PARAM_REAL_ROW(placement_keys, ilp, "", 0, 1e6, 1, "instruction-level parallelism"),
    PARAM_REAL_ROW(placement_keys, tlp, "", 0, 1e6, 1, "thread-level parallelism"),
    PARAM_REAL_ROW(placement_keys, compute_ms, "ms", 0, 1e9, 0, "execution of all kernels"),
    PARAM_REAL_ROW(placement_keys, cpu_ms, "ms", 0, 1e9, 0, "CPU work before the first launch"),
    PARAM_BYTES_ROW(placement_keys, shared_bytes, -1, 0x1p50, -1, "buffers that are copied; -1: the larger direction"),
    PARAM_BYTES_ROW(placement_keys, private_bytes, 0, 0x1p50, 0, "device buffers that are not copied"),
    PARAM_REAL_ROW(placement_keys, arrival_ms, "ms", 0, 1e9, 0, "when the task arrives"),
    PARAM_REAL_ROW(placement_keys, managed_ms, "ms", -1, 1e9, -1,
                   "overhead under managed memory where faults bring its pages; -1: by equation 5"),
    PARAM_TEXT_ROW(placement_keys, source_policy, NULL, "what the source chose"),
    PARAM_TEXT_ROW(placement_keys, program, NULL, "a generated program that says what the section does not"),
    PARAM_REAL_ROW(placement_keys, measured_device_ms, "ms", -1, 1e9, -1, "measured under device memory"),
    PARAM_REAL_ROW(placement_keys, measured_managed_ms, "ms", -1, 1e9, -1, "measured under managed memory"),
    PARAM_REAL_ROW(placement_keys, measured_pinned_ms, "ms", -1, 1e9, -1, "measured under pinned memory"),
    {0}};

void placement_keys_default(struct placement_keys *keys)
{
    param_defaults(placement_task_params, keys);
}

struct placement_task *placement_tasks_add(struct placement_tasks *tasks, const char *name, struct err *err)
{
    if (tasks->count >= TASKS_MAX) {
        err_set(err, "more than %d tasks", TASKS_MAX);
        return NULL;
    }
    if (mem_grow((void **)&tasks->tasks, &tasks->cap, tasks->count + 1, sizeof *tasks->tasks, err))
        return NULL;
    struct placement_task *task = &tasks->tasks[tasks->count++];
    memset(task, 0, sizeof *task);
    (void)snprintf(task->name, sizeof task->name, "%s", name);
    placement_keys_default(&task->lo);
    placement_keys_default(&task->hi);
    return task;
}

char *placement_tasks_keep(struct placement_tasks *tasks, const char *text, struct err *err)
{
    if (mem_grow((void **)&tasks->texts, &tasks->text_cap, tasks->text_count + 1, sizeof *tasks->texts, err))
        return NULL;
    char *copy = mem_strdup(text, err);
    if (copy)
        tasks->texts[tasks->text_count++] = copy;
    return copy;
}

/* LO..HI, or one value for both ends. The text is kept. */
static int set_both(struct placement_task *task, const char *key, char *text, struct err *err)
{
    const char *upper = text;
    const struct param *row = param_find(placement_task_params, key);
    char *dots = row && row->type == PARAM_TEXT ? NULL : strstr(text, "..");
    if (dots) {
        *dots = 0;
        upper = dots + 2;
        task->bounded = true;
    }
    if (param_set(placement_task_params, &task->lo, key, text, err) ||
        param_set(placement_task_params, &task->hi, key, upper, err))
        return -1;
    bool reversed = row->type == PARAM_REAL   ? param_real(row, &task->lo) > param_real(row, &task->hi)
                    : row->type != PARAM_TEXT ? param_int(row, &task->lo) > param_int(row, &task->hi)
                                              : false;
    return reversed ? err_set(err, "%s: the lower bound is above the upper one", key) : 0;
}

static int set_key(struct placement_tasks *tasks, struct placement_task *task, const char *key, const char *value,
                   struct err *err)
{
    char *text = placement_tasks_keep(tasks, value, err);
    if (!text || set_both(task, key, text, err))
        return -1;
    const char *policy = task->lo.source_policy;
    int p = 0;
    while (policy && p < PLACEMENTS && strcmp(policy, placement_name((enum placement)p)) != 0)
        p++;
    if (p == PLACEMENTS)
        return err_set(err, "source_policy is '%.40s'; expected device, managed or pinned", policy);
    const char *own_key = placement_tasks_keep(tasks, key, err), *own = placement_tasks_keep(tasks, value, err);
    if (!own_key || !own ||
        mem_grow((void **)&tasks->given, &tasks->given_cap, tasks->given_count + 1, sizeof *tasks->given, err))
        return -1;
    tasks->given[tasks->given_count++] = (struct placement_given){(size_t)(task - tasks->tasks), own_key, own};
    return 0;
}

/* Key NULL: the section of a task begins. */
static int on_value(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct placement_tasks *tasks = ctx;
    if (key)
        return set_key(tasks, &tasks->tasks[tasks->count - 1], key, value, err);
    size_t n = strlen(section), most = sizeof tasks->tasks->name - 1;
    if (n > most)
        return err_set(err, "the name of task '%.60s...' has %zu bytes; expected at most %zu", section, n, most);
    return placement_tasks_add(tasks, section, err) ? 0 : -1;
}

/* Conditions between keys. */
static int finish(struct placement_task *task, struct err *err)
{
    struct placement_keys *ends[] = {&task->lo, &task->hi};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i]->dirty_kernels < 0)
            ends[i]->dirty_kernels = ends[i]->kernels;
        if (ends[i]->dirty_kernels > ends[i]->kernels)
            return err_set(err, "[%s]: dirty_kernels is %lld, above kernels, %lld", task->name,
                           (long long)ends[i]->dirty_kernels, (long long)ends[i]->kernels);
        if (ends[i]->shared_bytes < 0)
            ends[i]->shared_bytes = ends[i]->bytes_hd > ends[i]->bytes_dh ? ends[i]->bytes_hd : ends[i]->bytes_dh;
    }
    task->no_l2 = task->lo.l2_instructions < 0;
    return 0;
}

int placement_task_finish(struct placement_tasks *tasks, size_t t, struct err *err)
{
    for (size_t i = 0; i < tasks->given_count; i++) {
        const struct placement_given *g = &tasks->given[i];
        char *text = g->task == t ? placement_tasks_keep(tasks, g->value, err) : NULL;
        if (g->task == t && (!text || set_both(&tasks->tasks[t], g->key, text, err)))
            return -1;
    }
    return finish(&tasks->tasks[t], err);
}

int placement_tasks_read(struct placement_tasks *tasks, const char *path, struct err *err)
{
    memset(tasks, 0, sizeof *tasks);
    int rc = ini_read_file(path, &(struct ini_reader){on_value, tasks}, err);
    if (!rc && !tasks->count)
        rc = err_set(err, "%s: no [task] in it", path);
    size_t kept = 0; /* only programs are overruled */
    for (size_t i = 0; i < tasks->given_count; i++)
        if (tasks->tasks[tasks->given[i].task].lo.program)
            tasks->given[kept++] = tasks->given[i];
    tasks->given_count = kept;
    for (size_t i = 0; i < tasks->count && !rc; i++)
        if (!tasks->tasks[i].lo.program && finish(&tasks->tasks[i], err))
            rc = err_at(err, "%s", path);
    if (rc)
        placement_tasks_release(tasks);
    return rc;
}

void placement_tasks_release(struct placement_tasks *tasks)
{
    for (size_t i = 0; i < tasks->text_count; i++)
        free(tasks->texts[i]);
    free((void *)tasks->texts);
    free(tasks->given);
    free(tasks->tasks);
    memset(tasks, 0, sizeof *tasks);
}

void placement_task_inputs(const struct placement_keys *keys, struct placement_inputs *in)
{
    double dirty =
        keys->dirty_bytes >= 0 ? (double)keys->dirty_bytes : (double)keys->kernel_bytes * (double)keys->dirty_kernels;
    *in = (struct placement_inputs){.bytes_hd = (double)keys->bytes_hd,
                                    .bytes_dh = (double)keys->bytes_dh,
                                    .copies = (double)keys->copies,
                                    .kernels = (double)keys->kernels,
                                    .dirty_kernels = (double)keys->dirty_kernels,
                                    .mapped_bytes = (double)keys->kernel_bytes * (double)keys->kernels,
                                    .dirty_mapped_bytes = dirty,
                                    .written_bytes = (double)keys->written_bytes * (double)keys->kernels,
                                    .l2_instructions = keys->l2_instructions > 0 ? keys->l2_instructions : 0,
                                    .l2_hit_ratio = keys->l2_hit_ratio,
                                    .parallelism = keys->ilp * keys->tlp,
                                    .faults = keys->managed_ms >= 0,
                                    .managed_ms = keys->managed_ms - keys->spared_ms};
}

enum placement placement_task_source(const struct placement_keys *keys, enum placement otherwise)
{
    for (int p = 0; p < PLACEMENTS && keys->source_policy; p++)
        if (strcmp(keys->source_policy, placement_name((enum placement)p)) == 0)
            return (enum placement)p;
    return otherwise;
}

double placement_task_bytes(const struct placement_keys *keys, enum placement placement)
{
    return (double)keys->private_bytes + (double)keys->shared_bytes * (placement == PLACEMENT_DEVICE ? 2 : 1);
}
