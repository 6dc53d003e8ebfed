/* yolov2: one image through darknet's YOLOv2 from load, a kernel at a time: 180 kernels (yolov2_net.h).
 *
 * Elementwise kernels have a thread for each element, in blocks of 512: what an element needs is loaded, then stored.
 * The unrolling has a thread for each place of each channel: it copies the size x size numbers around it, those outside
 * the image as zeros. Products go in tiles of 32 x 32 through shared memory: for each 32 of the sum a row of weights
 * and a row of columns are loaded by each warp, the block meets, multiplies, and meets again. The CPU has written the
 * image and the weights; it reads what the region layer gives. All other arrays of the layers it has too, though it
 * never looks at them, the workspace not (twin, scratch): under explicit copies they count twice. Worked example, side
 * = 32: the last layer is one cell of 425 channels, its product 14 blocks of 1,024 threads. Source: darknet's kernels
 * (im2col_kernels.cu, blas_kernels.cu, maxpool_layer_kernels.cu); tiling: CUDA programming guide. Differs: products are
 * a library's in the original. Of the multiprocessor's multiplications they reach `efficiency_pct` percent, assumed 60
 * (30 to 90); instructions of the other kernels are counted by eye; 32 registers. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/ml/suite.h"
#include "trace/workloads/ml/yolov2.h"

enum { BLOCK = 512 };

static const struct param yolov2_params[] = {
    PARAM_INT_ROW(yolov2_params, side, "", 32, 1216, 608, "of the image, a multiple of 32"),
    PARAM_INT_ROW(yolov2_params, efficiency_pct, "%", 1, 100, 60, "of peak multiplications that products reach"),
    PARAM_NS_AUTO_ROW(yolov2_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static void name_it(struct program_alloc *a, const char *what, int number)
{
    (void)snprintf(a->name, sizeof a->name, "%s%d", what, number);
}

static void allocate(struct yolov2 *y)
{
    struct program_alloc *a = y->allocs;
    uint64_t workspace = 0, indexes = 0, rest = 0;
    int convolutions = 0;
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        const struct yolov2_layer *l = &y->layers[i];
        uint64_t weights = yolov2_weights(l), outputs = yolov2_outputs(l), pooled = 0;
        y->pooled[i] = indexes;
        if (weights) {
            y->weights[i] = (uint8_t)(YOLOV2_WEIGHTS + convolutions++);
            a[y->weights[i]] = (struct program_alloc){.bytes = weights * YOLOV2_FLOAT, .host = true};
            name_it(&a[y->weights[i]], "weights", i);
        }
        if (l->kind == YOLOV2_MAXIMUM)
            indexes += pooled = outputs;
        a[YOLOV2_OUTPUTS + i] =
            (struct program_alloc){.bytes = outputs * YOLOV2_FLOAT, .scratch = l->kind != YOLOV2_REGION, .twin = true};
        name_it(&a[YOLOV2_OUTPUTS + i], "output", i);
        rest += yolov2_numbers(l) - weights - outputs - pooled;
        workspace = yolov2_workspace(l) > workspace ? yolov2_workspace(l) : workspace;
    }
    a[YOLOV2_IMAGE] =
        (struct program_alloc){"image", .bytes = (uint64_t)(3 * y->p.side * y->p.side * YOLOV2_FLOAT), .host = true};
    a[YOLOV2_WORKSPACE] = (struct program_alloc){"workspace", .bytes = workspace * YOLOV2_FLOAT, .scratch = true};
    a[YOLOV2_INDEXES] =
        (struct program_alloc){"indexes", .bytes = indexes * YOLOV2_FLOAT, .scratch = true, .twin = true};
    a[YOLOV2_REST] = (struct program_alloc){"rest", .bytes = rest * YOLOV2_FLOAT, .scratch = true, .twin = true};
    program_place(a, YOLOV2_ALLOCS, 0, 0);
}

static void *yolov2_open(const void *params, struct err *err)
{
    const struct yolov2_params *p = params;
    if (p->side % YOLOV2_STRIDE) {
        err_set(err, "side is %lld; expected a multiple of %d", (long long)p->side, YOLOV2_STRIDE);
        return NULL;
    }
    struct yolov2 *y = mem_zalloc(1, sizeof *y, err);
    if (!y)
        return NULL;
    y->p = *p;
    yolov2_layers((uint32_t)p->side, y->layers);
    yolov2_launches(y->layers, y->launches);
    allocate(y);
    return y;
}

static const struct program_alloc *yolov2_allocs(const void *state, size_t *n)
{
    *n = YOLOV2_ALLOCS;
    return ((const struct yolov2 *)state)->allocs;
}

static uint32_t yolov2_kernels(const void *state)
{
    (void)state;
    return YOLOV2_KERNELS;
}

static void yolov2_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const char *const names[] = {"fill",     "im2col",  "gemm", "normalize", "scale_bias", "add_bias",
                                        "activate", "maxpool", "copy", "reorg",     "activate",   "softmax"};
    const struct yolov2 *y = state;
    const struct yolov2_launch *k = &y->launches[launch];
    *out = (struct program_launch){.kernel = names[k->kernel], .threads = BLOCK, .registers = 32};
    out->blocks = (yolov2_threads(y, k) + BLOCK - 1) / BLOCK;
    if (k->kernel != YOLOV2_PRODUCT)
        return;
    struct yolov2_product p = yolov2_product(&y->layers[k->layer]);
    out->blocks = ((p.filters + YOLOV2_TILE - 1) / YOLOV2_TILE) * ((p.places + YOLOV2_TILE - 1) / YOLOV2_TILE);
    out->threads = YOLOV2_TILE * YOLOV2_TILE;
    out->shared = 2 * YOLOV2_TILE * YOLOV2_TILE * YOLOV2_FLOAT;
}

static const struct program_ops yolov2_ops = {
    .allocs = yolov2_allocs, .launches = yolov2_kernels, .launch = yolov2_launch, .body = yolov2_body};

static int yolov2_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&yolov2_ops, state, ((const struct yolov2 *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_yolov2 = {
    .name = "yolov2",
    .summary = "one image through darknet's YOLOv2, 32 layers, 180 kernels",
    .source = "darknet, cfg/yolov2.cfg",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_PLACEMENT,
    .params = yolov2_params,
    .params_size = sizeof(struct yolov2_params),
    .open = yolov2_open,
    .close = free,
    .program = yolov2_program,
};
