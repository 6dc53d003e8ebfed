/* recorder_box: what the machine has: driver, GPUs, permissions; asked in a process of its own.
 *
 * The driver is loaded and started (cuInit) in a child that ends at once, so that nothing of it stays in this process,
 * a driver that hangs costs BOX_WAIT_S, and one that crashes is a sentence. */
#ifndef TRACE_RECORDER_RECORDER_BOX_H
#define TRACE_RECORDER_RECORDER_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum { BOX_GPUS = 16, BOX_WAIT_S = 30 };

struct recorder_gpu {
    char name[96];
    int capability; /* compute capability times 10: 90 */
    int sms;
    uint64_t memory_bytes;
    bool managed;     /* managed memory moves by page faults (concurrent managed access) */
    bool pageable;    /* reaches all memory of a program: by page faults (HMM) or, with page_tables, by ATS */
    bool page_tables; /* through the host's page tables */
    bool integrated;  /* shares the host's memory */
    bool mig;         /* a part of a GPU */
};

struct recorder_box {
    bool driver;     /* libcuda.so.1 is there and starts */
    char why[256];   /* if not: what is wrong */
    int cuda;        /* CUDA version of the driver: 12040 is 12.4 */
    char kernel[64]; /* version of the kernel module, "" if not known */
    int gpu_count;   /* may be more than BOX_GPUS */
    struct recorder_gpu gpus[BOX_GPUS];
    bool counters_for_all; /* anyone may count (NVreg_RestrictProfilingToAdminUsers=0), or this user is root */
    bool mps;              /* a multi-process service runs */
    bool wsl;
};

/* root: "" or where /proc and /tmp are looked for. */
void recorder_box_look(struct recorder_box *box, const char *root);

/* The smallest compute capability of its GPUs; 0: there is none. */
int recorder_box_capability(const struct recorder_box *box);

#endif
