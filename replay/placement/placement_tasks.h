/* placement_tasks: what is placed: tasks of an INI file, one section each, or the one task that a recording shows or
 * that a program is.
 *
 * Every input is a number or, where only bounds are known, LO..HI; `struct placement_task` holds both ends, so results
 * become intervals. */
#pragma once

#include <stdint.h>

#include "models/placement/overhead.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/base/mem.h"
#include "trace/program/program.h"
#include "trace/store/store.h"

/* One end of the bounds; the keys of a section: table III of Bateni et al. 2020 and what the equations need beside. */
struct placement_keys {
    int64_t bytes_hd, bytes_dh; /* B_hd, B_dh */
    int64_t copies;             /* N_m */
    int64_t kernels;            /* N_k */
    int64_t dirty_kernels;      /* N_c; -1: all kernels */
    int64_t kernel_bytes;       /* S_i, of each kernel */
    int64_t dirty_bytes;        /* S_i, of the dirty kernels together; -1: as much as of others */
    double l2_instructions;     /* N_L2, all kernels together; -1: unknown */
    double l2_hit_ratio;        /* tau */
    double ilp, tlp;
    double compute_ms;     /* all kernels, execution only */
    double wait_ms;        /* between them, for the CPU's calls, all together; -1: as of kernels alike in a row */
    double cpu_ms;         /* before the first launch */
    int64_t shared_bytes;  /* buffers that are copied; -1: the larger of bytes_hd and bytes_dh */
    int64_t private_bytes; /* device buffers that are not */
    double arrival_ms;
    double managed_ms; /* overhead under managed memory where page faults bring it; -1: by equation 5 */
    double spared_ms;  /* no key: managed_ms >= 0, the kernels take so much less than compute_ms there, as the uvm
                          engine has them; not above 0 where managed_ms is */
    const char *source_policy; /* what the source chose: device, managed, pinned; NULL: not said */
    const char *program;       /* generated, says what the section does not: "rodinia-nw,n=2560"; NULL: none */
    double measured_device_ms, measured_managed_ms, measured_pinned_ms; /* response times; -1: not measured */
};

extern const struct param placement_task_params[]; /* the keys of a section; ends with a zeroed row */
void placement_keys_default(struct placement_keys *keys);

struct placement_task {
    char name[64];
    struct placement_keys lo, hi;
    bool bounded;                    /* lo and hi differ */
    bool recorded;                   /* from a recording */
    bool no_l2;                      /* L2 figures unknown */
    double migrated_hd, migrated_dh; /* bytes that a recording of managed memory saw move; 0: none */
    const char *note;                /* where its numbers come from, a sentence; NULL: nothing to say */
};

/* A key of a section that its program must not overrule. */
struct placement_given {
    size_t task;
    const char *key, *value;
};

struct placement_tasks {
    struct placement_task *tasks;
    size_t count, cap;
    struct mem_texts texts;
    struct placement_given *given; /* of tasks with a program, in order */
    size_t given_count, given_cap;
};

/* Read a task file. On failure *err names file and line. Tasks with a program have only what the file says: see
 * placement_tasks_programs(). */
int placement_tasks_read(struct placement_tasks *tasks, const char *path, struct err *err);

void placement_tasks_release(struct placement_tasks *tasks);

/* The inputs of the equations from one end of the bounds. */
void placement_task_inputs(const struct placement_keys *keys, struct placement_inputs *in);

/* Where the task's source had it; `otherwise` if it does not say. */
enum placement placement_task_source(const struct placement_keys *keys, enum placement otherwise);

/* Bytes held under a placement: buffers that are copied count twice under device memory. */
double placement_task_bytes(const struct placement_keys *keys, enum placement placement);

/* The one task of a recording. *err if it has no kernel with a time, or cannot say what managed memory did. */
int placement_tasks_record(struct placement_tasks *tasks, struct store *store, struct err *err);

/* wait_ms of tasks that do not say it, by the platform's [launch]. */
void placement_tasks_calls(struct placement_tasks *tasks, const struct platform *platform);

/* --- a program as a task --- */

/* Table III of Bateni et al. 2020 from its allocations, launches and accesses (program_totals.h).
 *
 *     B_hd, N_m   memory that the CPU has written is copied before the first kernel after it, whole allocations
 *     B_dh, N_m   memory that a kernel has written is copied back before the CPU touches it, and at the end
 *     N_k, N_c    launches; those of them that find memory written by the CPU since the kernel before
 *     S_i         pages of 4 KiB that a launch touches
 *     N_L2, tau   memory instructions of managed memory; what the L2 serves of their sectors
 *     ILP, TLP    loads for each wait; warps resident on a multiprocessor, averaged over memory instructions
 *     compute_ms  sum over kernels, by the issue model
 *     wait_ms     from one kernel's end to the next one's start, by [launch]; 0 on a platform without one
 * A program says nothing of what the CPU computes, so cpu_ms is 0. Memory that is the
 * GPU's in any case is never copied and counts as private; scratch is not copied back, a twin counts twice copied or
 * not. The platform must state the numbers of its GPU itself: no other chip's stand in for them. */

/* Options of the analysis of a program. */
struct placement_program_options {
    uint64_t cut;                               /* memory instructions that are run through the L2, at most; 0: all */
    const struct uvm_managed_settings *managed; /* of a GPU with page faults */
    const struct replay_policy *paging;         /* likewise; NULL: the driver's own */
};

/* Released with placement_tasks_release(); nothing to release after a failure. */
int placement_tasks_program(struct placement_tasks *tasks, const char *name, const struct program *program,
                            const struct platform *platform, const struct placement_program_options *options,
                            struct err *err);

/* Whether a task file can be read and each program that it names can be had. */
int placement_tasks_check(const char *path, struct err *err);

/* The programs that tasks of a file name (`program = NAME,key=value...`): each fills what its section does not say.
 * Tasks with the same program share its run. *err names the section. */
int placement_tasks_programs(struct placement_tasks *tasks, const struct platform *platform,
                             const struct placement_program_options *options, struct err *err);
