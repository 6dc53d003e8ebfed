/* The formats of graphs. A new one is its files in this folder and a line here. */
#include "trace/graph/graph.h"
#include "trace/graph/graph_bel.h"
#include "trace/graph/graph_csv.h"
#include "trace/graph/graph_el.h"
#include "trace/graph/graph_metis.h"
#include "trace/graph/graph_mtx.h"
#include "trace/graph/graph_npy.h"
#include "trace/graph/graph_sg.h"

/* Probed in this order: what has a signature first. */
const struct graph_format *const graph_formats[] = {
    &graph_bel, &graph_mtx, &graph_npy, &graph_npz,   &graph_sg, &graph_wsg,
    &graph_csv, &graph_el,  &graph_wel, &graph_metis, NULL,
};
