/* advice_plan: advice and prefetches to be given to a program while it is recorded (`record --apply PLAN`).
 *
 * A file of sections (trace/base/ini.h):
 *
 *     [plan]
 *     version = 1
 *     program = ./app --size 4096      (what it was made for; not compared)
 *     predicted_time_ns = 21500000     (and any other key: for those who compare)
 *     [allocation 0]                   the program's first managed allocation; they count from 0
 *     bytes = 268435456                must be its size, or the allocation is left alone
 *     site = app+0x11a9, app+0x1f03    must be where it was called from (trace/recorder/wire/record_pipe.h); without:
 *                                      anywhere
 *     advise = read-mostly, accessed-by-gpu
 *     prefetch = gpu                   right behind the allocation; gpu or cpu; without a call, it is only checked
 *     [kernel _Z5bicg1Pf 2]            before the third launch of that (mangled) name; *: of any
 *     launch = 2                       the same; with neither before each
 *     advise = 3                       allocations, by their number: what their sections advise is given here, and not
 *                                      behind the allocation
 *     prefetch = 0, 3                  to the GPU
 *     back = 1                         to the CPU, behind the launch
 *
 * advise takes read-mostly, preferred-cpu, preferred-gpu, accessed-by-cpu and accessed-by-gpu: none of these, nor a
 * prefetch, changes what a program computes. What is none of this is an error. */
#pragma once

#include "trace/base/err.h"

/* Read a plan; its text as the injected library takes it (trace/recorder/wire/record_pipe.h), freed with free(). NULL
 * with *err set, naming file and line. */
char *advice_plan_read(const char *path, struct err *err);
