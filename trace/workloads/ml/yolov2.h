/* yolov2: the state of workload yolov2, and what its kernels access (yolov2_kernels.c). */
#ifndef TRACE_WORKLOADS_ML_YOLOV2_H
#define TRACE_WORKLOADS_ML_YOLOV2_H

#include "trace/program/program.h"
#include "trace/workloads/ml/yolov2_net.h"

/* Allocations. */
enum {
    YOLOV2_IMAGE,
    YOLOV2_WORKSPACE,
    YOLOV2_INDEXES,
    YOLOV2_REST,
    YOLOV2_WEIGHTS,
    YOLOV2_OUTPUTS = YOLOV2_WEIGHTS + YOLOV2_CONVOLUTIONS,
    YOLOV2_ALLOCS = YOLOV2_OUTPUTS + YOLOV2_LAYERS
};
enum { YOLOV2_FLOAT = 4, YOLOV2_TILE = 32 /* of a product, rows and columns */ };

struct yolov2_params {
    int64_t side, efficiency_pct, compute_ns;
};

struct yolov2 {
    struct yolov2_params p;
    struct yolov2_layer layers[YOLOV2_LAYERS];
    struct yolov2_launch launches[YOLOV2_KERNELS];
    uint64_t pooled[YOLOV2_LAYERS]; /* indexes before those of this layer */
    uint8_t weights[YOLOV2_LAYERS]; /* allocation */
    struct program_alloc allocs[YOLOV2_ALLOCS];
};

/* A product: filters x places, over `depth` numbers. */
struct yolov2_product {
    uint64_t filters, places, depth;
};

struct yolov2_product yolov2_product(const struct yolov2_layer *layer);

/* Threads of an elementwise kernel; of the unrolling one for each place of each channel. */
uint64_t yolov2_threads(const struct yolov2 *yolov2, const struct yolov2_launch *launch);

/* As program_ops.body; run: a struct yolov2. */
int yolov2_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body, struct err *err);

#endif
