/* figure_uvm: the figures of the uvm engine that two files share. */
#ifndef REPLAY_FIGURE_FIGURE_UVM_H
#define REPLAY_FIGURE_FIGURE_UVM_H

#include "replay/figure/figures.h"

/* R from results: a box per case and policy. */
int figure_uvm_locality_results(const struct figure_input *input, FILE *script, struct err *err);

/* Whether runs of the set differ in a key. */
bool figure_uvm_differs(const struct run_set *set, const char *key);

/* The keys of input and settings in which runs of a set differ; names belong to the set. */
struct figure_uvm_keys {
    const char *names[64];
    size_t count;
};

void figure_uvm_find_keys(struct figure_uvm_keys *keys, const struct run_set *set);

/* "conv2d 150 %": the workload and whatever else of input and settings differs, but for key `skip`. Returns label. */
const char *figure_uvm_case(const struct figure_uvm_keys *keys, const struct run *run, const char *skip, char *label,
                            size_t size);

#endif
