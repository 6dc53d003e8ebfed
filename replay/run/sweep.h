/* sweep: inputs x grid values as a list of jobs, each one replay_request of all the policies; the cartesian product is
 * never stored, job i is worked out from i, so that shards and restarts agree on what job i is. */
#pragma once

#include "replay/run/engine.h"

/* One axis: `key=lo:hi:step`, `key=lo:hi:xFACTOR` or `key=a|b|c`. A key is a setting of the engine, `platform`,
 * `policy.parameter`, a key of the workload (synth: inputs only), or a number of the platform. */
struct sweep_axis {
    char *key;
    char **values;
    size_t count, cap;
};

struct sweep {
    const struct engine *engine;
    /* Plain inputs; or all pairs of mems and pims (mems and mems where no pims are given). */
    const char *const *inputs, *const *mems, *const *pims;
    size_t input_count, mem_count, pim_count;
    const char *policy_list, *baseline, *platform;
    const char *const *sets;
    size_t set_count;
    struct sweep_axis *axes;
    size_t axis_count, axis_cap;
    uint32_t draws; /* at each point */
};

/* Parse one --grid. *err says what was expected. */
int sweep_add_axis(struct sweep *sweep, const char *text, struct err *err);
void sweep_release(struct sweep *sweep);

/* Number of inputs or pairs: plain inputs, all mem x pim, or all unordered pairs of mems. Job i has that of i modulo
 * them, and of each axis in turn the value of what is left modulo its count. */
size_t sweep_inputs(const struct sweep *sweep);

/* Number of jobs: inputs (or pairs) times the product of the axes; 0 with *err set if that overflows or is empty. */
size_t sweep_jobs(const struct sweep *sweep, struct err *err);

/* Job i, ready to be run. The texts belong to the job. */
struct sweep_job {
    char *specs[2];       /* inputs */
    const char *roles[2]; /* "" or "mem", "pim" */
    size_t spec_count;
    char *policy_list;
    char *platform; /* NULL: the default */
    char **sets;
    size_t set_count, set_cap;
};

int sweep_job_init(struct sweep_job *job, const struct sweep *sweep, size_t index, struct err *err);
void sweep_job_release(struct sweep_job *job);

/* 32 hexadecimal digits over everything that is swept, the part of it ("2/3", or NULL), and this version. */
void sweep_id(const struct sweep *sweep, const char *part, char id[33]);
