/* figure_uvm: the figure of the uvm engine that two files share. */
#ifndef REPLAY_FIGURE_FIGURE_UVM_H
#define REPLAY_FIGURE_FIGURE_UVM_H

#include "replay/figure/figures.h"

/* R from results: a box per case and policy. */
int figure_uvm_locality_results(const struct figure_input *input, FILE *script, struct err *err);

#endif
