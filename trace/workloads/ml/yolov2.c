/* yolov2: one image through darknet's YOLOv2 from load, a kernel at a time: 180 kernels (yolov2_net.h).
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

#include "trace/base/mem.h"
#include "trace/workloads/ml/yolov2_net.h"
#include "trace/workloads/workload.h"

enum { BLOCK = 512, FLOAT = 4, TILE = 32 /* of a product, rows and columns */, GUARD = 8, LANES = PROGRAM_LANES };

/* Allocations. */
enum {
    IMAGE,
    WORKSPACE,
    INDEXES,
    REST,
    WEIGHTS,
    OUTPUTS = WEIGHTS + YOLOV2_CONVOLUTIONS,
    ALLOCS = OUTPUTS + YOLOV2_LAYERS
};

struct yolov2 {
    int64_t side, efficiency_pct, compute_ns;
    struct yolov2_layer layers[YOLOV2_LAYERS];
    struct yolov2_launch launches[YOLOV2_KERNELS];
    uint64_t pooled[YOLOV2_LAYERS]; /* indexes before those of this layer */
    uint8_t weights[YOLOV2_LAYERS]; /* allocation */
    struct program_alloc allocs[ALLOCS];
};

/* A product: filters x places, over `depth` numbers. */
struct yolov2_product {
    uint64_t filters, places, depth;
};

static const struct param yolov2_keys[] = {
    PARAM_INT_ROW(yolov2, side, "", 32, 1216, 608, "of the image, a multiple of 32"),
    PARAM_INT_ROW(yolov2, efficiency_pct, "%", 1, 100, 60, "of peak multiplications that products reach"),
    PARAM_NS_AUTO_ROW(yolov2, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
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
    a[IMAGE] = (struct program_alloc){"image", .bytes = (uint64_t)(3 * y->side * y->side * FLOAT), .host = true};
    a[WORKSPACE] = (struct program_alloc){"workspace", .bytes = workspace * FLOAT, .scratch = true};
    a[INDEXES] = (struct program_alloc){"indexes", .bytes = indexes * FLOAT, .scratch = true, .twin = true};
    a[REST] = (struct program_alloc){"rest", .bytes = rest * FLOAT, .scratch = true, .twin = true};
    program_place(a, ALLOCS, 0, 0);
}

static void *yolov2_open(const void *params, struct err *err)
{
    const struct yolov2 *keys = params;
    if (keys->side % YOLOV2_STRIDE) {
        err_set(err, "side is %lld; expected a multiple of %d", (long long)keys->side, YOLOV2_STRIDE);
        return NULL;
    }
    struct yolov2 *y = mem_zalloc(1, sizeof *y, err);
    if (!y)
        return NULL;
    *y = *keys;
    yolov2_layers((uint32_t)y->side, y->layers);
    yolov2_launches(y->layers, y->launches);
    allocate(y);
    return y;
}

/* --- the kernels --- */

static struct yolov2_product yolov2_product(const struct yolov2_layer *l)
{
    return (struct yolov2_product){l->filters, (uint64_t)l->side * l->side,
                                   (uint64_t)l->in_channels * l->size * l->size};
}

static uint64_t yolov2_threads(const struct yolov2 *y, const struct yolov2_launch *k)
{
    const struct yolov2_layer *l = &y->layers[k->layer];
    return k->kernel == YOLOV2_UNROLL ? k->count / (l->size * l->size) : k->count;
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
    emit_load(&a, weights, (int64_t)(row * p->depth + from), 6, 2)->turn_stride = TILE * FLOAT;
    emit_load(&b, WORKSPACE, (int64_t)((from + ty) * p->places + column), 0, 1)->turn_stride =
        (int64_t)(TILE * p->places * FLOAT);
    emit_barrier(e, 2); /* stores to shared memory */
    emit_barrier(e, (unsigned)(deep * 100 / (uint64_t)y->efficiency_pct));
    e->body->turns = last ? 1 : whole;
    return 1;
}

static int product(struct emit *e, const struct yolov2_launch *k, uint64_t warp)
{
    const struct yolov2 *y = e->state;
    const struct yolov2_product p = yolov2_product(&y->layers[k->layer]);
    const uint64_t across = (p.places + TILE - 1) / TILE, block = warp / TILE, ty = warp % TILE;
    const uint64_t row = block / across * TILE + ty, column = block % across * TILE;
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

static int yolov2_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct yolov2 *y = run;
    const struct yolov2_launch *k = &y->launches[launch];
    const uint64_t threads = yolov2_threads(y, k), first = warp * LANES;
    struct emit e = {.body = body, .allocs = y->allocs, .bytes = FLOAT, .index = index, .state = y};
    (void)err;
    if (k->kernel == YOLOV2_PRODUCT)
        return product(&e, k, warp);
    if (first >= threads)
        return emit_idle(&e, GUARD);
    e.active = program_first_lanes(threads - first);
    if (k->kernel == YOLOV2_UNROLL)
        return unroll_part(&e, k, first, threads - first < LANES ? threads - first : LANES);
    if (k->kernel == YOLOV2_SOFTMAX)
        return softmax(&e, k, first);
    return index == 0 ? element(&e, k, first) : 0;
}

/* --- the program --- */

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
    out->blocks = ((p.filters + TILE - 1) / TILE) * ((p.places + TILE - 1) / TILE);
    out->threads = TILE * TILE;
    out->shared = 2 * TILE * TILE * FLOAT;
}

static const struct program_ops yolov2_ops = {
    .allocs = yolov2_allocs, .launches = yolov2_kernels, .launch = yolov2_launch, .body = yolov2_body};

static int yolov2_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&yolov2_ops, state, ((const struct yolov2 *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_yolov2 = {
    .name = "yolov2",
    .summary = "one image through darknet's YOLOv2, 32 layers, 180 kernels",
    .source = "darknet, cfg/yolov2.cfg",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_PLACEMENT,
    .params = yolov2_keys,
    .params_size = sizeof(struct yolov2),
    .open = yolov2_open,
    .close = free,
    .program = yolov2_program,
};
