#include "replay/placement/placement_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/placement/program_totals.h"
#include "replay/uvm/actor_input.h"
#include "trace/base/mem.h"
#include "trace/workloads/workload.h"

static void count_copies(const struct program_totals *totals, struct placement_keys *k)
{
    struct program_copies c;
    program_copies_count(&c, totals);
    k->bytes_hd = c.in_bytes;
    k->bytes_dh = c.back_bytes;
    k->copies = c.in_copies + c.back_copies;
    k->dirty_kernels = c.dirty_kernels;
    k->dirty_bytes = c.dirty_bytes;
    k->shared_bytes = 0;
    for (size_t i = 0; i < totals->alloc_count; i++)
        *(c.copied >> i & 1 || totals->allocs[i].twin ? &k->shared_bytes : &k->private_bytes) +=
            (int64_t)totals->allocs[i].bytes;
}

/* --- kernels --- */

static void count_kernels(const struct program_totals *totals, struct placement_keys *k)
{
    uint64_t touched = 0, modified = 0, accesses = 0, instructions = 0, loads = 0, waits = 0;
    double warps = 0;
    k->kernels = totals->kernels;
    for (uint32_t l = 0; l < totals->launches; l++) {
        const struct launch_totals *t = &totals->launch[l];
        if (t->cpu)
            continue;
        touched += t->touched_bytes;
        modified += t->modified_bytes;
        accesses += t->accesses;
        instructions += t->instructions;
        loads += t->loads;
        waits += t->waits;
        warps += t->warps * (double)t->accesses;
        k->compute_ms += t->ms;
    }
    k->kernel_bytes = (int64_t)((touched + totals->kernels / 2) / totals->kernels);
    k->written_bytes = (int64_t)((modified + totals->kernels / 2) / totals->kernels);
    k->l2_instructions = (double)instructions;
    k->ilp = waits ? (double)loads / (double)waits : 1;
    k->tlp = accesses ? warps / (double)accesses : 1;
}

static const char *describe(struct placement_tasks *tasks, const char *name, const struct placement_keys *k,
                            const struct program_hits *hits, struct err *err)
{
    char text[640], part[128] = "";
    if (hits->cut)
        (void)snprintf(part, sizeof part, " (from %" PRIu64 " memory instructions, a part of each kernel)",
                       hits->instructions);
    (void)snprintf(
        text, sizeof text,
        "task %s, from its program: %" PRId64 " kernels, %" PRId64 " of them after the CPU wrote, which touch %" PRId64
        " bytes of pages; %" PRId64 " copies; a kernel touches %" PRId64 " bytes of pages and modifies %" PRId64
        " of sectors; %.0f L2 instructions, hit rate %.3f%s; ILP %.3g, TLP %.3g; kernels take %.4g ms by the "
        "issue model, the CPU's own work is not in a program (cpu_ms 0)",
        name, k->kernels, k->dirty_kernels, k->dirty_bytes, k->copies, k->kernel_bytes, k->written_bytes,
        k->l2_instructions, k->l2_hit_ratio, part, k->ilp, k->tlp, k->compute_ms);
    return placement_tasks_keep(tasks, text, err);
}

/* --- managed memory on a GPU with page faults --- */

/* What demand paging adds to the kernels: task and engine have one time under managed memory. Where the closed loop's
 * kernels are faster than the sum over launches in whole waves, it takes away. */
static int page(struct placement_task *task, const struct program *program, const struct platform *platform,
                const struct placement_look *look, struct err *err)
{
    struct actor_input touching;
    struct uvm_metrics m;
    if (platform_whole(platform, "uvm", err) || actor_input_program(&touching, program, err))
        return -1;
    const struct uvm_managed managed = {.ops = touching.ops,
                                        .state = touching.state,
                                        .platform = platform,
                                        .policy = look->paging,
                                        .settings = look->managed};
    int rc = uvm_managed_run(&managed, &m, err);
    actor_input_close(&touching);
    if (rc)
        return -1;
    double ms = (double)m.time_ns / 1e6 - task->lo.compute_ms;
    task->lo.managed_ms = ms > 0 ? ms : 0;
    task->lo.spared_ms = ms < 0 ? -ms : 0;
    task->migrated_hd = (double)m.h2d_bytes;
    task->migrated_dh = (double)m.d2h_bytes;
    return 0;
}

static int fill(struct placement_tasks *tasks, const char *name, const struct program *program,
                const struct program_totals *totals, const struct platform *platform, const struct placement_look *look,
                struct err *err)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct program_hits hits;
    if (totals->kernels == 0)
        return err_set(err, "the program launches no kernel: nothing to place");
    if (program_hits_run(&hits, program, totals, gpu, look->cut, err))
        return -1;
    struct placement_task *task = placement_tasks_add(tasks, name, err);
    if (!task)
        return -1;
    count_copies(totals, &task->lo);
    count_kernels(totals, &task->lo);
    task->lo.l2_hit_ratio = hits.sectors ? (double)hits.hits / (double)hits.sectors : 0;
    if (platform_has(platform, "uvm") && page(task, program, platform, look, err))
        return -1;
    task->hi = task->lo;
    task->note = describe(tasks, name, &task->lo, &hits, err);
    return task->note ? 0 : -1;
}

/* A task more, at the end. */
static int append(struct placement_tasks *tasks, const char *name, const struct program *program,
                  const struct platform *platform, const struct placement_look *look, struct err *err)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct program_totals totals = {0};
    int rc = platform_whole(platform, "gpu", err) || program_totals_init(&totals, program, gpu, err) ||
                     fill(tasks, name, program, &totals, platform, look, err)
                 ? -1
                 : 0;
    program_totals_release(&totals);
    return rc;
}

int placement_tasks_program(struct placement_tasks *tasks, const char *name, const struct program *program,
                            const struct platform *platform, const struct placement_look *look, struct err *err)
{
    memset(tasks, 0, sizeof *tasks);
    if (!append(tasks, name, program, platform, look, err))
        return 0;
    placement_tasks_release(tasks);
    return -1;
}

/* --- programs of a task file --- */

static int append_spec(struct placement_tasks *tasks, const char *spec, const struct platform *platform,
                       const struct placement_look *look, struct err *err)
{
    struct workload workload;
    struct program program;
    const char *name = strncmp(spec, "synth:", 6) == 0 ? spec + 6 : spec;
    if (workload_open(&workload, name, err))
        return -1;
    int rc = 0;
    if (!workload.type->program || !(workload.type->views & VIEW_PLACEMENT))
        rc = err_set(err, "%s has nothing to place; see 'offchip list programs'", workload.type->name);
    if (!rc)
        rc = workload.type->program(workload.state, &program, err) ||
                     append(tasks, workload.type->name, &program, platform, look, err)
                 ? -1
                 : 0;
    workload_close(&workload);
    return rc;
}

/* Task t as its program has it, from the first task of the same program if that is filled. */
static int fill_task(struct placement_tasks *tasks, size_t t, const struct placement_task *filled,
                     const struct platform *platform, const struct placement_look *look, struct err *err)
{
    struct placement_task own = tasks->tasks[t], got;
    if (filled) {
        got = *filled;
    } else {
        if (append_spec(tasks, own.lo.program, platform, look, err))
            return -1;
        got = tasks->tasks[--tasks->count];
    }
    memcpy(got.name, own.name, sizeof got.name);
    got.lo.program = got.hi.program = own.lo.program;
    got.note = filled ? NULL : got.note;
    tasks->tasks[t] = got;
    return 0;
}

int placement_tasks_programs(struct placement_tasks *tasks, const struct platform *platform,
                             const struct placement_look *look, struct err *err)
{
    struct placement_task *filled = mem_zalloc(tasks->count, sizeof *filled, err);
    int rc = filled ? 0 : -1;
    for (size_t t = 0; t < tasks->count && !rc; t++) {
        const char *program = tasks->tasks[t].lo.program;
        size_t first = 0;
        if (!program)
            continue;
        while (first < t && (!filled[first].lo.program || strcmp(filled[first].lo.program, program) != 0))
            first++;
        rc = fill_task(tasks, t, first < t ? &filled[first] : NULL, platform, look, err);
        filled[t] = rc ? filled[t] : tasks->tasks[t];
        if (rc || placement_task_finish(tasks, t, err))
            rc = err_at(err, "[%s]", tasks->tasks[t].name);
    }
    free(filled);
    return rc;
}
