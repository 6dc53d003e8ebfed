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
#include "trace/program/loop.h"
#include "trace/workloads/ml/suite.h"
#include "trace/workloads/ml/yolov2_net.h"

enum { IMAGE, WORKSPACE, INDEXES, REST, WEIGHTS, OUTPUTS = WEIGHTS + YOLOV2_CONVOLUTIONS };
enum { ALLOCS = OUTPUTS + YOLOV2_LAYERS, FLOAT = 4, BLOCK = 512, TILE = 32, GUARD = 8, CHANNELS_LEAST = 3 };

struct yolov2_params {
    int64_t side, efficiency_pct, compute_ns;
};

struct yolov2 {
    struct yolov2_params p;
    struct yolov2_layer layers[YOLOV2_LAYERS];
    struct yolov2_launch launches[YOLOV2_KERNELS];
    uint64_t pooled[YOLOV2_LAYERS]; /* indexes before those of this layer */
    uint8_t weights[YOLOV2_LAYERS]; /* allocation */
    struct program_alloc allocs[ALLOCS];
};

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
            y->weights[i] = (uint8_t)(WEIGHTS + convolutions++);
            a[y->weights[i]] = (struct program_alloc){.bytes = weights * FLOAT, .host = true};
            name_it(&a[y->weights[i]], "weights", i);
        }
        if (l->kind == YOLOV2_MAXIMUM)
            indexes += pooled = outputs;
        a[OUTPUTS + i] =
            (struct program_alloc){.bytes = outputs * FLOAT, .scratch = l->kind != YOLOV2_REGION, .twin = true};
        name_it(&a[OUTPUTS + i], "output", i);
        rest += yolov2_numbers(l) - weights - outputs - pooled;
        workspace = yolov2_workspace(l) > workspace ? yolov2_workspace(l) : workspace;
    }
    a[IMAGE] = (struct program_alloc){"image", .bytes = (uint64_t)(3 * y->p.side * y->p.side * FLOAT), .host = true};
    a[WORKSPACE] = (struct program_alloc){"workspace", .bytes = workspace * FLOAT, .scratch = true};
    a[INDEXES] = (struct program_alloc){"indexes", .bytes = indexes * FLOAT, .scratch = true, .twin = true};
    a[REST] = (struct program_alloc){"rest", .bytes = rest * FLOAT, .scratch = true, .twin = true};
    program_place(a, ALLOCS, 0, 0);
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
    *n = ALLOCS;
    return ((const struct yolov2 *)state)->allocs;
}

static uint32_t yolov2_kernels(const void *state)
{
    (void)state;
    return YOLOV2_KERNELS;
}

/* A product: filters x places, over `depth` numbers. */
struct product {
    uint64_t filters, places, depth;
};

static struct product product_of(const struct yolov2_layer *l)
{
    return (struct product){l->filters, (uint64_t)l->side * l->side, (uint64_t)l->in_channels * l->size * l->size};
}

/* Threads of an elementwise kernel; of the unrolling one for each place of each channel. */
static uint64_t threads_of(const struct yolov2 *y, const struct yolov2_launch *k)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    return k->kernel == YOLOV2_UNROLL ? k->count / (l->size * l->size) : k->count;
}

static void yolov2_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const char *const names[] = {"fill",     "im2col",  "gemm", "normalize", "scale_bias", "add_bias",
                                        "activate", "maxpool", "copy", "reorg",     "activate",   "softmax"};
    const struct yolov2 *y = state;
    const struct yolov2_launch *k = &y->launches[launch];
    *out = (struct program_launch){.kernel = names[k->kernel], .threads = BLOCK, .registers = 32};
    out->blocks = (threads_of(y, k) + BLOCK - 1) / BLOCK;
    if (k->kernel != YOLOV2_PRODUCT)
        return;
    struct product p = product_of(&y->layers[k->layer]);
    out->blocks = ((p.filters + TILE - 1) / TILE) * ((p.places + TILE - 1) / TILE);
    out->threads = TILE * TILE;
    out->shared = 2 * TILE * TILE * FLOAT;
}

/* --- bodies --- */

static unsigned input_of(const struct yolov2_launch *k)
{
    return k->input < 0 ? IMAGE : OUTPUTS + (unsigned)k->input;
}

/* Number of each lane's element -> its byte; lanes of `active`. */
static void scatter(struct program_body *body, struct program_access *a, uint64_t base, const uint64_t *element)
{
    uint64_t *lane = program_scatter(body, a);
    for (uint32_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = base + element[l] * FLOAT;
}

static int unroll(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t lanes,
                  struct program_body *body)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    uint64_t side = l->in_side, places = side * side, input = y->allocs[input_of(k)].addr;
    int64_t pad = l->size / 2;
    for (uint32_t t = 0; t < l->size * l->size; t++) {
        int64_t dy = (int64_t)(t / l->size) - pad, dx = (int64_t)(t % l->size) - pad;
        uint32_t inside = 0;
        for (uint32_t i = 0; i < lanes; i++) {
            int64_t at = (int64_t)((first + i) % places), v = at / (int64_t)side + dy, h = at % (int64_t)side + dx;
            if (v >= 0 && h >= 0 && v < (int64_t)side && h < (int64_t)side)
                inside |= 1u << i;
        }
        struct program_access *from = program_load(body, y->allocs, input_of(k), 0, FLOAT);
        from->addr = input + (uint64_t)((int64_t)first + dy * (int64_t)side + dx) * FLOAT;
        from->active = inside;
        from->before = 4;
        /* Row channel x size^2 + t of the workspace; lanes of two channels are rows apart. */
        uint64_t channel = first / places, place = first % places;
        struct program_access *to = program_store(body, y->allocs, WORKSPACE,
                                                  ((channel * l->size * l->size + t) * places + place) * FLOAT, FLOAT);
        to->active = program_first_lanes(lanes);
        to->before = 1;
        if (place + lanes <= places)
            continue;
        to->active = program_first_lanes(places - place); /* the rest in the body behind */
        from->active &= to->active;
    }
    return 1;
}

/* A warp's places of the unrolling that are in one channel: part number `index`. */
static int unroll_part(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t lanes,
                       uint32_t index, struct program_body *body)
{
    uint64_t places = (uint64_t)y->layers[k->layer].in_side * y->layers[k->layer].in_side;
    for (; index; index--) {
        uint64_t there = places - first % places;
        if (there >= lanes)
            return 0;
        first += there;
        lanes -= (uint32_t)there;
    }
    return unroll(y, k, first, lanes, body);
}

static int product(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t warp, uint32_t index,
                   struct program_body *body)
{
    const struct product p = product_of(&y->layers[k->layer]);
    const uint64_t across = (p.places + TILE - 1) / TILE, block = warp / TILE, ty = warp % TILE;
    const uint64_t row = block / across * TILE + ty, column = block % across * TILE, rest = p.depth % TILE;
    const uint32_t columns = program_first_lanes(p.places - column), in = row < p.filters ? UINT32_MAX : 0;
    const uint32_t whole = p.depth >= TILE, ragged = rest != 0;
    if (index < whole + ragged) {
        const bool last = index == whole;
        const uint64_t from = last ? p.depth - rest : 0, deep = last ? rest : TILE;
        struct program_access *a =
            program_load(body, y->allocs, y->weights[k->layer], (row * p.depth + from) * FLOAT, FLOAT);
        a->active = in & program_first_lanes(deep);
        a->turn_stride = TILE * FLOAT;
        a->before = 6;
        a->use = 2;
        struct program_access *b =
            program_load(body, y->allocs, WORKSPACE, ((from + ty) * p.places + column) * FLOAT, FLOAT);
        b->active = ty < deep ? columns : 0;
        b->turn_stride = (int64_t)(TILE * p.places * FLOAT);
        program_barrier(body);
        body->access[2].before = 2; /* stores to shared memory */
        program_barrier(body);
        body->access[3].before = (uint16_t)(deep * 100 / (uint64_t)y->p.efficiency_pct);
        body->turns = last ? 1 : p.depth / TILE;
        return 1;
    }
    if (index > whole + ragged)
        return 0;
    program_load(body, y->allocs, OUTPUTS + k->layer, (row * p.places + column) * FLOAT, FLOAT)->active = in & columns;
    program_store(body, y->allocs, OUTPUTS + k->layer, (row * p.places + column) * FLOAT, FLOAT)->active = in & columns;
    body->last = true;
    return 1;
}

/* The four of a 2 x 2 square for element e of out: of the same channel, or spread over four. */
static void square(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t active,
                   struct program_body *body)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    const uint64_t side = l->side, in = l->in_side, in_places = in * in;
    for (uint64_t corner = 0; corner < (k->kernel == YOLOV2_POOL ? 4u : 1u); corner++) {
        uint64_t element[PROGRAM_LANES];
        for (uint32_t i = 0; i < PROGRAM_LANES; i++) {
            uint64_t e = first + i, c = e / (side * side), v = e / side % side, h = e % side, q = corner;
            if (k->kernel == YOLOV2_SPREAD) {
                q = c / l->in_channels;
                c %= l->in_channels;
            }
            element[i] = c * in_places + (2 * v + q / 2) * in + 2 * h + q % 2;
        }
        struct program_access *a = program_load(body, y->allocs, input_of(k), 0, FLOAT);
        a->active = active;
        a->before = corner ? 2 : 12;
        a->use = (uint16_t)(k->kernel == YOLOV2_POOL ? 10 - 3 * corner : 2);
        scatter(body, a, y->allocs[input_of(k)].addr, element);
    }
    if (k->kernel == YOLOV2_POOL) {
        struct program_access *index =
            program_store(body, y->allocs, INDEXES, (y->pooled[k->layer] + first) * FLOAT, FLOAT);
        index->active = active;
        index->before = 4;
    }
}

/* One number for each filter, all lanes' own. */
static void by_filter(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t active,
                      uint64_t which, struct program_body *body)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    const uint64_t places = (uint64_t)l->side * l->side, numbers = yolov2_weights(l);
    const uint64_t base = numbers - (l->normalised ? 4 : 1) * (uint64_t)l->filters + which * l->filters;
    uint64_t element[PROGRAM_LANES];
    for (uint32_t i = 0; i < PROGRAM_LANES; i++)
        element[i] = (first + i) / places;
    struct program_access *a = program_load(body, y->allocs, y->weights[k->layer], 0, FLOAT);
    a->active = active;
    a->before = 10;
    scatter(body, a, y->allocs[y->weights[k->layer]].addr + base * FLOAT, element);
}

/* The classes of one cell: read twice (greatest, sum), written, then scaled. */
static int softmax(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t active,
                   uint32_t index, struct program_body *body)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    const uint64_t places = (uint64_t)l->side * l->side, anchor = l->channels / YOLOV2_ANCHORS;
    uint64_t element[PROGRAM_LANES];
    if (index > 2)
        return 0;
    for (uint32_t i = 0; i < PROGRAM_LANES; i++)
        element[i] = ((first + i) / places * anchor + 5) * places + (first + i) % places;
    const unsigned from = index < 2 ? input_of(k) : OUTPUTS + k->layer;
    struct program_access *a = program_load(body, y->allocs, from, 0, FLOAT);
    a->active = active;
    a->turn_stride = (int64_t)(places * FLOAT);
    a->before = 2;
    scatter(body, a, y->allocs[from].addr, element);
    if (index) {
        struct program_access *to = program_store(body, y->allocs, OUTPUTS + k->layer, 0, FLOAT);
        to->active = active;
        to->turn_stride = a->turn_stride;
        to->before = index == 1 ? 12 : 2; /* exp */
        scatter(body, to, y->allocs[OUTPUTS + k->layer].addr, element);
    }
    body->turns = anchor - 5;
    body->last = index == 2;
    return 1;
}

static int element(const struct yolov2 *y, const struct yolov2_launch *k, uint64_t first, uint32_t active,
                   struct program_body *body)
{
    const uint64_t out = (k->first + first) * FLOAT;
    if (k->kernel == YOLOV2_POOL || k->kernel == YOLOV2_SPREAD)
        square(y, k, first, active, body);
    else if (k->kernel == YOLOV2_COPY)
        program_load(body, y->allocs, input_of(k), first * FLOAT, FLOAT)->active = active;
    else if (k->kernel != YOLOV2_FILL)
        program_load(body, y->allocs, OUTPUTS + k->layer, out, FLOAT)->active = active;
    if (k->kernel == YOLOV2_BIAS)
        by_filter(y, k, first, active, 0, body);
    if (k->kernel == YOLOV2_SCALE)
        by_filter(y, k, first, active, 1, body);
    for (uint64_t which = 2; which < 4 && k->kernel == YOLOV2_NORMALISE; which++)
        by_filter(y, k, first, active, which, body);
    struct program_access *to = program_store(body, y->allocs, OUTPUTS + k->layer, out, FLOAT);
    to->active = active;
    to->before = 4;
    body->last = true;
    return 1;
}

static int yolov2_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct yolov2 *y = run;
    const struct yolov2_launch *k = &y->launches[launch];
    const uint64_t threads = threads_of(y, k), first = warp * PROGRAM_LANES;
    (void)err;
    if (k->kernel == YOLOV2_PRODUCT)
        return product(y, k, warp, index, body);
    if (first >= threads)
        return program_no_trip(index, GUARD, body);
    const uint32_t lanes = threads - first < PROGRAM_LANES ? (uint32_t)(threads - first) : PROGRAM_LANES;
    if (k->kernel == YOLOV2_UNROLL)
        return unroll_part(y, k, first, lanes, index, body);
    if (k->kernel == YOLOV2_SOFTMAX)
        return softmax(y, k, first, program_first_lanes(lanes), index, body);
    return index == 0 ? element(y, k, first, program_first_lanes(lanes), body) : 0;
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
