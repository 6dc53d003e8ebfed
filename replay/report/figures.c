/* The figures: what `plot` can draw. A new one is its file, its name in plot.h and a line here. */
#include "replay/report/plot.h"

const struct figure *const figures[] = {&figure_bars,
                                        &figure_stacked,
                                        &figure_shares,
                                        &figure_box,
                                        &figure_lines,
                                        &figure_timeline,
                                        &figure_tornado,
                                        &figure_compare_times,
                                        &figure_placement_overhead,
                                        &figure_tlp_sizes,
                                        &figure_tlp_latency,
                                        &figure_miss_ratio,
                                        NULL};
