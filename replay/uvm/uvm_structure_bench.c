/* uvm_structure_bench PLATFORM WORKLOAD [batches] [KEY VALUE]...: one traced run under the driver's own policies, and
 * what a recording would show of it: batches, services with a copy, faulted pages among what was copied, migration
 * records. With `batches` also a line for each. docs/uvm-engine.md has the figures beside recordings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/program/pages.h"
#include "trace/workloads/workload.h"

#define US(ns) ((double)(ns) / 1e3)

/* ctx: when the batch before ended. Times are relative to that. */
static void on_batch(void *ctx, const struct uvm_finished_batch *seen)
{
    int64_t *before = ctx;
    printf("first %.2f put %.2f end %.1f us: entries %u kept %u pages %u; page %u has %u; services %zu faults %u moved "
           "%u records %llu\n",
           US(seen->fetched.first_ns - *before), US(seen->fetch_ns - *before), US(seen->end_ns - *before), seen->raw,
           seen->fetched.kept, seen->distinct, seen->fetched.page, seen->fetched.instances, seen->batch->block_count,
           seen->faults, seen->moved, (unsigned long long)seen->records);
    *before = seen->end_ns;
}

static void print_totals(const struct uvm_metrics *m)
{
    const struct uvm_work *w = &m->work;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"batches", m->batches},
                {"services", w->copied_services},
                {"faults", w->copied_faults},
                {"records", m->migration_records},
                {"empty", w->empty_batches},
                {"fault_handler_runs", m->fault_handler_runs},
                {"raw", m->raw_faults},
                {"all_faults", m->faults},
                {"all_services", m->services},
                {"new", w->new_blocks},
                {"moved_pages", w->moved_pages},
                {"moved_runs", w->moved_runs},
                {"unmapped_pages", w->unmapped_pages},
                {"unmapped_runs", w->unmapped_runs},
                {"copied_runs", w->copied_runs}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("%s %llu ", rows[i].name, (unsigned long long)rows[i].value);
    printf("ms %.3f\n", (double)m->time_ns / 1e6);
}

static int simulate(struct platform *platform, int argc, char **argv, struct err *err)
{
    struct workload w;
    struct program program;
    static struct program_pages pages;
    struct uvm_metrics m;
    int64_t before = 0;
    int at = 2, verbose = argc > at && strcmp(argv[at], "batches") == 0;
    for (at += verbose; at + 1 < argc; at += 2)
        if (platform_set(platform, argv[at], argv[at + 1], NULL, err) < 0)
            return -1;
    if (workload_open(&w, argv[1], err))
        return -1;
    if (!w.type->program)
        return err_set(err, "%s is no program", argv[1]);
    if (w.type->program(w.state, &program, err) || program_pages_init(&pages, &program, NULL, err))
        return -1;
    struct uvm_run run = {.ops = &program_pages_ops,
                          .state = &pages,
                          .gpu = platform_section_get(platform, "gpu"),
                          .platform = platform_section_get(platform, "uvm"),
                          .policy = (const struct uvm_policy *)policy_find(uvm_policies, "tree"),
                          .two_engines = true,
                          .traced = !getenv("UNTRACED"),
                          .on_batch = verbose ? on_batch : NULL,
                          .ctx = &before};
    int rc = uvm_simulate(&run, &m, err);
    if (!rc)
        print_totals(&m);
    workload_close(&w);
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = {""};
    struct platform *platform = argc >= 3 ? platform_load(argv[1], &err) : NULL;
    if (argc < 3)
        (void)err_set(&err, "expected PLATFORM WORKLOAD [batches] [KEY VALUE]...");
    int rc = platform ? simulate(platform, argc - 1, argv + 1, &err) : -1;
    if (rc)
        (void)fprintf(stderr, "uvm_structure_bench: %s\n", err.msg);
    platform_free(platform);
    return rc != 0;
}
