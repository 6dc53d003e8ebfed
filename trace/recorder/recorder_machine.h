/* recorder_machine: what a recording needs of the machine: its driver and GPUs, NVIDIA's libraries, our own. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* --- what the machine has: driver, GPUs, permissions; asked in a process of its own ---
 *
 * The driver is loaded and started (cuInit) in a child that ends at once, so that nothing of it stays in this process,
 * a driver that hangs costs MACHINE_WAIT_S, and one that crashes is a sentence. */

enum { MACHINE_GPUS = 16, MACHINE_WAIT_S = 30 };

struct recorder_gpu {
    char name[96];
    int capability; /* compute capability times 10: 90 */
    int sms;
    uint64_t memory_bytes;
    bool pageable;    /* reaches all memory of a program: by page faults (HMM) or, with page_tables, by ATS */
    bool page_tables; /* through the host's page tables */
    bool mig;         /* a part of a GPU */
};

struct recorder_machine {
    bool driver;     /* libcuda.so.1 is there and starts */
    char why[256];   /* if not: what is wrong */
    int cuda;        /* CUDA version of the driver: 12040 is 12.4 */
    char kernel[64]; /* version of the kernel module, "" if not known */
    int gpu_count;   /* may be more than MACHINE_GPUS */
    struct recorder_gpu gpus[MACHINE_GPUS];
    bool counters_for_all; /* anyone may count (NVreg_RestrictProfilingToAdminUsers=0), or this user is root */
    bool mps;              /* a multi-process service runs */
    bool wsl;
};

/* Folder in place of /, for tests and for images: OFFCHIP_ROOT, or "". */
const char *recorder_machine_root(void);

/* root: "" or where /proc and /tmp are looked for. */
void recorder_machine_look(struct recorder_machine *machine, const char *root);

/* The smallest compute capability of its GPUs; 0: there is none. */
int recorder_machine_capability(const struct recorder_machine *machine);

/* --- the libraries of NVIDIA's that a recording needs, wherever they were installed, and which to take ---
 *
 * Looked through, in this order: the variable that names one, the loader's path, CUDA_HOME and its like, the site
 * packages of the program's Python, of VIRTUAL_ENV, of the user and of the system (pip: nvidia/cuda_cupti/lib,
 * nvidia/cu13/lib), conda's environments, /usr/local/cuda*, /opt/cuda*, the HPC SDK, the distribution's folders. The
 * same file under several names is one. Versions are compared as numbers: 12.10 comes after 12.9. The version of a
 * CUPTI is the one it gives itself (cuptiGetVersion, asked in a process of its own); of compute-sanitizer, and of a
 * CUPTI that is newer than this page, it is the one in its path.
 * Taken is the newest that the driver and the GPUs can work with: one whose CUDA is not of a later major version than
 * the driver's; before 13 for compute capabilities below 7.5, which CUDA 13 dropped.
 * Source: cupti_version.h of CUDA 13.0 (API versions); CUDA 13.0 release notes (Maxwell, Pascal and Volta removed). */

enum { LIBRARIES_FOUND = 32 };

enum recorder_part { PART_CUPTI, PART_SANITIZER, PARTS };

struct recorder_library {
    char path[PATH_MAX];
    const char *from; /* "pip", "conda", "CUDA toolkit", "HPC SDK" ... */
    int cuda;         /* CUDA version: 12040; 0: not known */
    bool good;        /* it can be loaded and has what is needed */
    bool ranges;      /* of CUPTI: counters by range profiler (CUDA 12.6) */
    char why[200];    /* if not good: what is wrong */
};

struct recorder_libraries {
    struct recorder_library *found; /* the best first: by version, unless a variable names one */
    int count;
    bool named; /* by its variable */
};

/* program: whose Python is looked at, may be NULL; root: "" or a folder that stands for / (images). -1 with *err set if
 * the variable names something that cannot be read, or without memory. Released with recorder_libraries_release(). */
int recorder_libraries_find(struct recorder_libraries *search, enum recorder_part part, const char *program,
                            const char *root, struct err *err);
void recorder_libraries_release(struct recorder_libraries *search);

/* Which to take; NULL with *err set, saying what is missing and how to get it. machine may be NULL: not looked at. */
const struct recorder_library *recorder_libraries_choose(const struct recorder_libraries *search,
                                                         enum recorder_part part,
                                                         const struct recorder_machine *machine, bool counters,
                                                         struct err *err);

/* How to get a part: "install it ..., or name it in OFFCHIP_CUPTI". */
const char *recorder_libraries_how(enum recorder_part part);

/* --- what is taken for a recording --- */

/* liboffchip_inject.so, or for accesses liboffchip_accesses.so: OFFCHIP_INJECT, beside this program, or ../lib/offchip
 * from it. -1: *err says where it was looked for. */
int recorder_find_library(bool accesses, char *path, size_t size, struct err *err);

/* libcupti.so or libsanitizer-public.so: what its variable names, or the best there is for `program`; with counters a
 * CUPTI that has the range profiler. As above. */
int recorder_find_part(enum recorder_part part, const char *program, bool counters, char *path, size_t size,
                       struct err *err);

/* offchip_accesses.fatbin: OFFCHIP_ACCESS_PATCH, or where the library is looked for. */
int recorder_find_patch(char *path, size_t size, struct err *err);
