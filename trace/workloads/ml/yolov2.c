/* yolov2: one image through darknet's YOLOv2 from load, a kernel at a time: 180 kernels.
 *
 * Elementwise kernels have a thread for each element, in blocks of 512: what an element needs is loaded, then stored.
 * The unrolling has a thread for each place of each channel: it copies the size x size numbers around it, those outside
 * the image as zeros. Products go in tiles of 32 x 32 through shared memory: for each 32 of the sum a row of weights
 * and a row of columns are loaded by each warp, the block meets, multiplies, and meets again. The CPU has written the
 * image and the weights; it reads what the region layer gives. All other arrays of the layers it has too, though it
 * never looks at them, the workspace not (twin, scratch): under explicit copies they count twice. Worked example, side
 * = 32: the last layer is one cell of 425 channels, its product 14 blocks of 1,024 threads. Source: darknet's kernels
 * (im2colu, blasu, maxpool_layeru); tiling: CUDA programming guide. Differs: products are
 * a library's in the original. Of the multiprocessor's multiplications they reach `efficiency_pct` percent, assumed 60
 * (30 to 90); instructions of the other kernels are counted by eye; 32 registers. */
#include <stdio.h>
#include <string.h>

#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

/* --- the network of yolov2.cfg: its layers' shapes, arrays and kernels ---
 *
 * Source: darknet (pjreddie/darknet): cfg/yolov2.cfg; the arrays that make_*_layer() allocates, the kernels that
 * forward_*_layer_gpu() launches without cuDNN for one image, gradients not filled. Every convolution is unrolled
 * (im2col) before its product, as it was until 2018-05: 180 kernels, what bateni-2020 counts in table IV.
 * Worked example (608 x 608): weights of 50,983,561 numbers, as many as yolov2.weights holds, 203,934,244 bytes. */

enum { YOLOV2_LAYERS = 32, YOLOV2_CONVOLUTIONS = 23, YOLOV2_KERNELS = 180, YOLOV2_ANCHORS = 5, YOLOV2_STRIDE = 32 };

enum yolov2_kind { YOLOV2_CONVOLUTION, YOLOV2_MAXIMUM, YOLOV2_ROUTE, YOLOV2_REORG, YOLOV2_REGION };

struct yolov2_layer {
    enum yolov2_kind kind;
    uint32_t filters, size; /* convolution: its kernels, and their side */
    int32_t from[2];        /* route: layers put together; -1: none */
    bool normalised;        /* convolution: batch normalisation behind the product */
    /* filled by yolov2_layers(): */
    uint32_t in_side, in_channels, side, channels; /* input, output */
};

enum yolov2_kernel {
    YOLOV2_FILL,      /* out = 0 */
    YOLOV2_UNROLL,    /* workspace = columns of in */
    YOLOV2_PRODUCT,   /* out += weights x workspace */
    YOLOV2_NORMALISE, /* out, by mean and variance of its filter */
    YOLOV2_SCALE,     /* out, by its filter's */
    YOLOV2_BIAS,
    YOLOV2_ACTIVATE,
    YOLOV2_POOL,   /* out, indexes = greatest of 2 x 2 of in */
    YOLOV2_COPY,   /* out from `first` on = out of layer `input` */
    YOLOV2_SPREAD, /* out = in, 2 x 2 to channels */
    YOLOV2_LOGISTIC,
    YOLOV2_SOFTMAX /* out = softmax of in */
};

struct yolov2_launch {
    enum yolov2_kernel kernel;
    uint32_t layer;
    int32_t input;  /* layer whose output it reads; -1: the image */
    uint64_t first; /* element of out */
    uint64_t count; /* elements of out, of the workspace for YOLOV2_UNROLL */
};

#define LAYER(KIND, N, SIZE, A, B, NORMALISED)                                                                         \
    {                                                                                                                  \
        .kind = (KIND), .filters = (N), .size = (SIZE), .from = {(A), (B)}, .normalised = (NORMALISED)                 \
    }
#define CONV(N, SIZE)   LAYER(YOLOV2_CONVOLUTION, N, SIZE, -1, -1, true)
#define LINEAR(N, SIZE) LAYER(YOLOV2_CONVOLUTION, N, SIZE, -1, -1, false)
#define ROUTE(A, B)     LAYER(YOLOV2_ROUTE, 0, 0, A, B, false)
#define MAXIMUM         LAYER(YOLOV2_MAXIMUM, 0, 0, -1, -1, false)
#define REORG           LAYER(YOLOV2_REORG, 0, 0, -1, -1, false)
#define REGION          LAYER(YOLOV2_REGION, 0, 0, -1, -1, false)

/* The last product: 5 anchors x (80 classes + 4 + 1). .ci/reproduction/yolov2.py reads it too. */
static const struct yolov2_layer table[YOLOV2_LAYERS] = {
    CONV(32, 3),   MAXIMUM,       CONV(64, 3),    MAXIMUM,       CONV(128, 3),  CONV(64, 1),  CONV(128, 3),
    MAXIMUM,       CONV(256, 3),  CONV(128, 1),   CONV(256, 3),  MAXIMUM,       CONV(512, 3), CONV(256, 1),
    CONV(512, 3),  CONV(256, 1),  CONV(512, 3),   MAXIMUM,       CONV(1024, 3), CONV(512, 1), CONV(1024, 3),
    CONV(512, 1),  CONV(1024, 3), CONV(1024, 3),  CONV(1024, 3), ROUTE(16, -1), CONV(64, 1),  REORG,
    ROUTE(27, 24), CONV(1024, 3), LINEAR(425, 1), REGION};

/* side: of the image, a multiple of 32. */
static void yolov2_layers(uint32_t side, struct yolov2_layer layers[YOLOV2_LAYERS])
{
    memcpy(layers, table, sizeof table);
    uint32_t channels = 3;
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        struct yolov2_layer *l = &layers[i];
        l->in_side = side;
        l->in_channels = channels;
        if (l->kind == YOLOV2_CONVOLUTION) {
            channels = l->filters;
        } else if (l->kind == YOLOV2_ROUTE) {
            side = layers[l->from[0]].side;
            channels = layers[l->from[0]].channels + (l->from[1] >= 0 ? layers[l->from[1]].channels : 0);
        } else if (l->kind != YOLOV2_REGION) {
            side /= 2;
            channels *= l->kind == YOLOV2_REORG ? 4 : 1;
        }
        l->side = side;
        l->channels = channels;
    }
}

/* Numbers in the output of a layer; in the weights that are used; and in all arrays of a layer that the GPU has and the
 * CPU has too (output and weights included, floats or ints); in the workspace of a convolution. */
static uint64_t yolov2_outputs(const struct yolov2_layer *l)
{
    return (uint64_t)l->side * l->side * l->channels;
}

static uint64_t yolov2_weights(const struct yolov2_layer *l)
{
    if (l->kind != YOLOV2_CONVOLUTION)
        return 0;
    return (uint64_t)l->in_channels * l->filters * l->size * l->size + (l->normalised ? 4 : 1) * (uint64_t)l->filters;
}

static uint64_t yolov2_numbers(const struct yolov2_layer *l)
{
    if (l->kind != YOLOV2_CONVOLUTION)
        return (l->kind == YOLOV2_MAXIMUM ? 3 : 2) * yolov2_outputs(l); /* output, delta, indexes */
    uint64_t products = (uint64_t)l->in_channels * l->filters * l->size * l->size;
    /* weights and updates; biases and updates; output and delta; with normalisation scales and updates, mean and
     * variance, their deltas and rolling ones, x and its normal form */
    return 2 * products + (l->normalised ? 10 : 2) * (uint64_t)l->filters + (l->normalised ? 4 : 2) * yolov2_outputs(l);
}

static uint64_t yolov2_workspace(const struct yolov2_layer *l)
{
    return l->kind == YOLOV2_CONVOLUTION ? (uint64_t)l->side * l->side * l->in_channels * l->size * l->size : 0;
}

static struct yolov2_launch *add(struct yolov2_launch *at, enum yolov2_kernel kernel, uint32_t layer, uint64_t count)
{
    *at = (struct yolov2_launch){.kernel = kernel, .layer = layer, .input = (int32_t)layer - 1, .count = count};
    return at + 1;
}

static struct yolov2_launch *add_region(struct yolov2_launch *at, uint32_t i, const struct yolov2_layer *l)
{
    uint64_t cells = (uint64_t)l->side * l->side, anchor = l->channels / YOLOV2_ANCHORS * cells;
    at = add(at, YOLOV2_COPY, i, yolov2_outputs(l));
    for (uint64_t n = 0; n < YOLOV2_ANCHORS; n++) { /* x and y; whether there is an object */
        at = add(at, YOLOV2_LOGISTIC, i, 2 * cells);
        at[-1].first = n * anchor;
        at = add(at, YOLOV2_LOGISTIC, i, cells);
        at[-1].first = n * anchor + 4 * cells;
    }
    return add(at, YOLOV2_SOFTMAX, i, YOLOV2_ANCHORS * cells);
}

static void yolov2_launches(const struct yolov2_layer layers[YOLOV2_LAYERS],
                            struct yolov2_launch launches[YOLOV2_KERNELS])
{
    static const enum yolov2_kernel normalised[] = {YOLOV2_NORMALISE, YOLOV2_SCALE, YOLOV2_BIAS, YOLOV2_ACTIVATE};
    struct yolov2_launch *at = launches;
    for (uint32_t i = 0; i < YOLOV2_LAYERS; i++) {
        const struct yolov2_layer *l = &layers[i];
        uint64_t n = yolov2_outputs(l);
        if (l->kind == YOLOV2_CONVOLUTION) {
            at = add(at, YOLOV2_FILL, i, n);
            at = add(at, YOLOV2_UNROLL, i, yolov2_workspace(l));
            at = add(at, YOLOV2_PRODUCT, i, n);
            for (size_t k = l->normalised ? 0 : 2; k < 4; k++)
                at = add(at, normalised[k], i, n);
        } else if (l->kind == YOLOV2_ROUTE) {
            uint64_t first = 0;
            for (int k = 0; k < 2 && l->from[k] >= 0; k++) {
                at = add(at, YOLOV2_COPY, i, yolov2_outputs(&layers[l->from[k]]));
                at[-1].input = l->from[k];
                at[-1].first = first;
                first += at[-1].count;
            }
        } else if (l->kind == YOLOV2_REGION) {
            at = add_region(at, i, l);
        } else {
            at = add(at, l->kind == YOLOV2_MAXIMUM ? YOLOV2_POOL : YOLOV2_SPREAD, i, n);
        }
    }
}

/* --- the program --- */

enum { BLOCK = 512, FLOAT = 4, TILE = 32 /* of a product, rows and columns */, GUARD = 8, LANES = PROGRAM_LANES };
enum { IMAGE, WORKSPACE, INDEXES, REST, WEIGHTS, OUTPUTS = WEIGHTS + YOLOV2_CONVOLUTIONS }; /* arrays */

struct yolov2 {
    struct layout layout;
    int64_t side, efficiency_pct;
    struct yolov2_layer layers[YOLOV2_LAYERS];
    struct yolov2_launch launches[YOLOV2_KERNELS];
    uint64_t pooled[YOLOV2_LAYERS]; /* indexes before those of this layer */
    uint8_t weights[YOLOV2_LAYERS]; /* array */
};

static const struct param yolov2_keys[] = {
    PARAM_INT_ROW(yolov2, side, "", 32, 1216, 608, "of the image, a multiple of 32"),
    PARAM_INT_ROW(yolov2, efficiency_pct, "%", 1, 100, 60, "of peak multiplications that products reach"),
    LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
    {0}};

/* A product: filters x places, over `depth` numbers. */
struct yolov2_product {
    uint64_t filters, places, depth;
};

static struct yolov2_product yolov2_product(const struct yolov2_layer *l)
{
    return (struct yolov2_product){l->filters, (uint64_t)l->side * l->side,
                                   (uint64_t)l->in_channels * l->size * l->size};
}

static uint64_t yolov2_threads(const struct yolov2 *y, const struct yolov2_launch *k)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    return k->kernel == YOLOV2_UNROLL ? k->count / ((uint64_t)l->size * l->size) : k->count;
}

static unsigned input_of(const struct yolov2_launch *k)
{
    return k->input < 0 ? IMAGE : OUTPUTS + (unsigned)k->input;
}

/* Lanes whose place, from `place` of lane 0 on, is in the image so many down and right of it. */
static uint32_t inside(uint64_t side, uint64_t place, int64_t down, int64_t right)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t at = (place + i) % (side * side);
        lanes |= (uint32_t)(at / side + (uint64_t)down < side && at % side + (uint64_t)right < side) << i;
    }
    return lanes;
}

/* A warp's places of the unrolling that are in one channel, from place `first` of all channels on: into row channel x
 * size^2 + t of the workspace. */
static int unroll(struct emit *e, const struct yolov2_launch *k, uint64_t first)
{
    const struct yolov2_layer *l = &((const struct yolov2 *)e->state)->layers[k->layer];
    uint64_t side = l->in_side, places = side * side, channel = first / places, place = first % places;
    int64_t pad = l->size / 2;
    e->active &= program_first_lanes(places - place);
    for (uint32_t t = 0; t < l->size * l->size; t++) {
        int64_t dy = (int64_t)(t / l->size) - pad, dx = (int64_t)(t % l->size) - pad;
        struct emit from = *e;
        from.active &= inside(side, place, dy, dx);
        emit_load(&from, input_of(k), (int64_t)first + dy * (int64_t)side + dx, 4, 1);
        emit_store(e, WORKSPACE, (int64_t)((channel * l->size * l->size + t) * places + place), 1);
    }
    return 1;
}

/* Part number e->index of them: the places behind are in the next channel. */
static int unroll_part(struct emit *e, const struct yolov2_launch *k, uint64_t first, uint64_t lanes)
{
    const struct yolov2_layer *l = &((const struct yolov2 *)e->state)->layers[k->layer];
    uint64_t places = (uint64_t)l->in_side * l->in_side;
    for (uint32_t part = e->index; part; part--) {
        uint64_t there = places - first % places;
        if (there >= lanes)
            return 0;
        first += there;
        lanes -= there;
    }
    e->active = program_first_lanes(lanes);
    return unroll(e, k, first);
}

/* So many numbers of the sum from `from` on, or whole tiles of them: a row of weights, a row of columns, both met and
 * multiplied in shared memory. */
static int add_up(const struct emit *e, const struct yolov2_product *p, unsigned weights, uint64_t row, uint64_t column,
                  uint64_t ty)
{
    const struct yolov2 *y = e->state;
    const uint64_t rest = p->depth % TILE, whole = p->depth / TILE;
    const bool last = e->index == (whole > 0);
    const uint64_t from = last ? p->depth - rest : 0, deep = last ? rest : TILE;
    struct emit a = *e, b = *e;
    a.active = row < p->filters ? program_first_lanes(deep) : 0;
    b.active = ty < deep ? program_first_lanes(p->places - column) : 0;
    emit_load(&a, weights, (int64_t)(row * p->depth + from), 6, 2)->turn_stride = (int64_t)TILE * FLOAT;
    emit_load(&b, WORKSPACE, (int64_t)((from + ty) * p->places + column), 0, 1)->turn_stride =
        (int64_t)(TILE * p->places * FLOAT);
    emit_barrier(e, 2); /* stores to shared memory */
    emit_barrier(e, (unsigned)(deep * 100 / (uint64_t)y->efficiency_pct));
    e->body->turns = last ? 1 : whole;
    return 1;
}

static int product(struct emit *e, const struct yolov2_launch *k)
{
    const struct yolov2 *y = e->state;
    const struct yolov2_product p = yolov2_product(&y->layers[k->layer]);
    const uint64_t across = layout_blocks(p.places, TILE), ty = e->at.warp;
    const uint64_t row = e->at.block / across * TILE + ty, column = e->at.block % across * TILE;
    const uint32_t sums = (p.depth >= TILE) + (p.depth % TILE != 0);
    if (e->index > sums)
        return 0;
    if (e->index < sums)
        return add_up(e, &p, y->weights[k->layer], row, column, ty);
    e->active = row < p.filters ? program_first_lanes(p.places - column) : 0;
    emit_load(e, OUTPUTS + k->layer, (int64_t)(row * p.places + column), 0, 1);
    emit_store(e, OUTPUTS + k->layer, (int64_t)(row * p.places + column), 0);
    e->body->last = true;
    return 1;
}

/* The four of a 2 x 2 square for an element of out: of the same channel, or spread over four. */
static void square(const struct emit *e, const struct yolov2_launch *k, uint64_t first)
{
    const struct yolov2 *y = e->state;
    const struct yolov2_layer *l = &y->layers[k->layer];
    const bool pool = k->kernel == YOLOV2_POOL;
    const uint64_t side = l->side, in = l->in_side;
    for (uint32_t corner = 0; corner < (pool ? 4u : 1u); corner++) {
        int64_t index[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            uint64_t at = first + i, c = at / (side * side), v = at / side % side, h = at % side, q = corner;
            if (!pool) {
                q = c / l->in_channels;
                c %= l->in_channels;
            }
            index[i] = (int64_t)(c * in * in + (2 * v + q / 2) * in + 2 * h + q % 2);
        }
        emit_each(e, input_of(k), 0, index, corner ? 2 : 12, pool ? 10 - 3 * corner : 2);
    }
    if (pool)
        emit_store(e, INDEXES, (int64_t)(y->pooled[k->layer] + first), 4);
}

/* One number for each filter, all lanes' own. */
static void by_filter(const struct emit *e, const struct yolov2_launch *k, uint64_t first, uint64_t which)
{
    const struct yolov2 *y = e->state;
    const struct yolov2_layer *l = &y->layers[k->layer];
    const uint64_t places = (uint64_t)l->side * l->side, behind = (l->normalised ? 4 : 1) * (uint64_t)l->filters;
    int64_t filter[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        filter[i] = (int64_t)((first + i) / places);
    emit_each(e, y->weights[k->layer], (int64_t)(yolov2_weights(l) - behind + which * l->filters), filter, 10, 1);
}

/* The classes of one cell: read twice (greatest, sum), written, then scaled. */
static int softmax(const struct emit *e, const struct yolov2_launch *k, uint64_t first)
{
    const struct yolov2_layer *l = &((const struct yolov2 *)e->state)->layers[k->layer];
    const uint64_t places = (uint64_t)l->side * l->side, anchor = l->channels / YOLOV2_ANCHORS;
    const unsigned out = OUTPUTS + k->layer;
    int64_t class[LANES];
    if (e->index > 2)
        return 0;
    for (uint32_t i = 0; i < LANES; i++)
        class[i] = (int64_t)(((first + i) / places * anchor + 5) * places + (first + i) % places);
    emit_each(e, e->index < 2 ? input_of(k) : out, 0, class, 2, 1);
    if (e->index)
        emit_as(emit_each(e, out, 0, class, e->index == 1 ? 12 : 2 /* exp */, 0), RECORD_WRITE);
    emit_turns(e, anchor - 5, (int64_t)places);
    e->body->last = e->index == 2;
    return 1;
}

static int element(const struct emit *e, const struct yolov2_launch *k, uint64_t first)
{
    const int64_t out = (int64_t)(k->first + first);
    if (k->kernel == YOLOV2_POOL || k->kernel == YOLOV2_SPREAD)
        square(e, k, first);
    else if (k->kernel == YOLOV2_COPY)
        emit_load(e, input_of(k), (int64_t)first, 0, 1);
    else if (k->kernel != YOLOV2_FILL)
        emit_load(e, OUTPUTS + k->layer, out, 0, 1);
    if (k->kernel == YOLOV2_BIAS)
        by_filter(e, k, first, 0);
    if (k->kernel == YOLOV2_SCALE)
        by_filter(e, k, first, 1);
    for (uint64_t which = 2; which < 4 && k->kernel == YOLOV2_NORMALISE; which++)
        by_filter(e, k, first, which);
    emit_store(e, OUTPUTS + k->layer, out, 4);
    e->body->last = true;
    return 1;
}

static int yolov2_kernel(struct emit *e)
{
    const struct yolov2 *y = e->state;
    const struct yolov2_launch *k = &y->launches[e->launch];
    const uint64_t threads = yolov2_threads(y, k), first = e->at.thread;
    if (k->kernel == YOLOV2_PRODUCT)
        return product(e, k);
    if (!emit_below(e, threads))
        return emit_idle(e, GUARD);
    if (k->kernel == YOLOV2_UNROLL)
        return unroll_part(e, k, first, threads - first < LANES ? threads - first : LANES);
    if (k->kernel == YOLOV2_SOFTMAX)
        return softmax(e, k, first);
    return e->index == 0 ? element(e, k, first) : 0;
}

/* --- arrays and launches --- */

/* WHAT0, WHAT1 ..: the array of a layer. */
static struct program_alloc *add_of_layer(struct yolov2 *y, const char *what, int layer, uint64_t numbers)
{
    char name[24];
    (void)snprintf(name, sizeof name, "%s%d", what, layer);
    return layout_array(&y->layout, name, numbers * FLOAT);
}

static void add_arrays(struct yolov2 *y)
{
    uint64_t workspace = 0, indexes = 0, rest = 0;
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        const struct yolov2_layer *l = &y->layers[i];
        uint64_t outputs = yolov2_outputs(l), pooled = l->kind == YOLOV2_MAXIMUM ? outputs : 0;
        y->pooled[i] = indexes;
        indexes += pooled;
        rest += yolov2_numbers(l) - yolov2_weights(l) - outputs - pooled;
        workspace = yolov2_workspace(l) > workspace ? yolov2_workspace(l) : workspace;
    }
    LAYOUT_ARRAYS(&y->layout, {"+image", 3 * y->side * y->side * FLOAT}, {"workspace", workspace * FLOAT},
                  {"indexes", indexes * FLOAT}, {"rest", rest * FLOAT});
    for (unsigned i = WORKSPACE; i <= REST; i++) {
        y->layout.array[i].scratch = true;
        y->layout.array[i].twin = i != WORKSPACE;
    }
    for (int i = 0; i < YOLOV2_LAYERS; i++)
        if (y->layers[i].kind == YOLOV2_CONVOLUTION) {
            y->weights[i] = (uint8_t)y->layout.arrays;
            add_of_layer(y, "weights", i, yolov2_weights(&y->layers[i]))->host = true;
        }
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        struct program_alloc *output = add_of_layer(y, "output", i, yolov2_outputs(&y->layers[i]));
        output->scratch = y->layers[i].kind != YOLOV2_REGION;
        output->twin = true;
    }
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    return ((const struct yolov2 *)state)->launches[launch].kernel;
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct yolov2 *y = state;
    const struct yolov2_launch *k = &y->launches[launch];
    const struct yolov2_product p = yolov2_product(&y->layers[k->layer]);
    out->blocks = k->kernel == YOLOV2_PRODUCT ? layout_blocks(p.filters, TILE) * layout_blocks(p.places, TILE)
                                              : layout_blocks(yolov2_threads(y, k), BLOCK);
}

static int yolov2_init(struct yolov2 *y, struct err *err)
{
    static const char *const names[] = {"fill",     "im2col",  "gemm", "normalize", "scale_bias", "add_bias",
                                        "activate", "maxpool", "copy", "reorg",     "activate",   "softmax"};
    if (y->side % YOLOV2_STRIDE)
        return err_set(err, "side is %lld; expected a multiple of %d", (long long)y->side, YOLOV2_STRIDE);
    yolov2_layers((uint32_t)y->side, y->layers);
    yolov2_launches(y->layers, y->launches);
    add_arrays(y);
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        layout_kernel(&y->layout, yolov2_kernel, names[k], 0, k == YOLOV2_PRODUCT ? TILE * TILE : BLOCK, 32,
                      k == YOLOV2_PRODUCT ? 2 * TILE * TILE * FLOAT : 0);
    y->layout.kernel_of = kernel_of;
    y->layout.shape = shape;
    y->layout.launches = YOLOV2_KERNELS;
    return 0;
}

WORKLOAD(yolov2, workload_yolov2, "yolov2", "one image through darknet's YOLOv2, 32 layers, 180 kernels",
         "darknet, cfg/yolov2.cfg", layout_open, free, .produces = WORKLOAD_PROGRAM, .views = VIEW_PLACEMENT,
         .program = layout_program);
