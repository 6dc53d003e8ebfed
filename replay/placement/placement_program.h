/* placement_program: a program as a task to be placed; table III of Bateni et al. 2020 from its allocations, launches
 * and accesses (program_totals.h, program_hits.c).
 *
 *     B_hd, N_m   memory that the CPU has written is copied before the first kernel after it, whole allocations
 *     B_dh, N_m   memory that a kernel has written is copied back before the CPU touches it, and at the end
 *     N_k, N_c    launches; those of them that find memory written by the CPU since the kernel before
 *     S_i         pages of 4 KiB that a launch touches (mapping); B_write,i: sectors of 32 B that it modifies
 *     N_L2, tau   memory instructions of managed memory; what the L2 serves of their sectors
 *     ILP, TLP    loads for each wait; warps resident on a multiprocessor, averaged over memory instructions
 *     compute_ms  sum over kernels, by the issue model
 * A program says nothing of what the CPU computes, so cpu_ms is 0, and launching costs nothing. Memory that is the
 * GPU's in any case is never copied and counts as private; scratch is not copied back, a twin counts twice copied or
 * not. The platform must state the numbers of its GPU itself: no other chip's stand in for them. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_PROGRAM_H
#define REPLAY_PLACEMENT_PLACEMENT_PROGRAM_H

#include "replay/placement/placement_tasks.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/program/program.h"

/* How a program is looked at. */
struct placement_look {
    uint64_t cut; /* memory instructions that are run through the L2, at most (program_hits.c); 0: all */
    const struct uvm_managed_settings *managed; /* of a GPU with page faults */
    const struct replay_policy *paging;         /* likewise; NULL: the driver's own */
};

/* Released with placement_tasks_release(); nothing to release after a failure. */
int placement_tasks_program(struct placement_tasks *tasks, const char *name, const struct program *program,
                            const struct platform *platform, const struct placement_look *look, struct err *err);

/* The programs that tasks of a file name (`program = NAME,key=value...`): each fills what its section does not say.
 * Tasks with the same program share its run. *err names the section. */
int placement_tasks_programs(struct placement_tasks *tasks, const struct platform *platform,
                             const struct placement_look *look, struct err *err);

#endif
