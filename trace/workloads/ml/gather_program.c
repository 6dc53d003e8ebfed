#include "trace/workloads/ml/gather_rows.h"

#include "trace/program/emit.h"

enum { TABLE, INDEX, OUTPUT };
enum { LANES = PROGRAM_LANES, INDEX_BYTES = 8 };

/* Instructions of the source: i, its row and column and the end of the output; the element's address; the rotation. */
enum { START = 8, ADDRESS = 3, ROTATE = 6 };

/* Rows of a launch, and the first of them. */
static uint64_t batch_of(const struct gather_rows *g, uint32_t launch, uint64_t *first)
{
    *first = g->ends && launch ? g->ends[launch - 1] : 0;
    return (g->ends ? g->ends[launch] : g->count) - *first;
}

int gather_program_init(struct gather_program *p, const struct gather_rows *rows, struct err *err)
{
    uint64_t most = 1, first;
    if (rows->threads_per_block % LANES)
        return err_set(err, "threads_per_block is %lld; the program's kernel needs a multiple of %d",
                       (long long)rows->threads_per_block, LANES);
    if (rows->batches > UINT32_MAX)
        return err_set(err, "%llu batches; the program has at most 2^32 - 1 launches",
                       (unsigned long long)rows->batches);
    for (uint32_t b = 0; b < rows->batches; b++) {
        uint64_t n = batch_of(rows, b, &first);
        most = n > most ? n : most;
    }
    uint64_t row_bytes = rows->row_elements * GATHER_ELEMENT;
    p->of = *rows;
    p->allocs[TABLE] = (struct program_alloc){
        .name = "table", .addr = rows->table, .bytes = rows->table_rows * row_bytes, .host = true};
    p->allocs[INDEX] = (struct program_alloc){
        .name = "index", .bytes = (rows->count ? rows->count : 1) * INDEX_BYTES, .host = true, .device = true};
    p->allocs[OUTPUT] = (struct program_alloc){.name = "output", .bytes = most * row_bytes, .device = true};
    program_place(&p->allocs[INDEX], 2, 0, 0);
    return 0;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct gather_program *)state)->allocs;
}

static uint32_t launches(const void *state)
{
    return (uint32_t)((const struct gather_program *)state)->of.batches;
}

/* Of a launch that copies so many elements. */
static uint64_t blocks_of(const struct gather_rows *g, uint64_t elements)
{
    uint64_t threads = (uint64_t)g->threads_per_block, blocks = (elements + threads - 1) / threads;
    if (g->blocks && blocks > (uint64_t)g->blocks)
        return (uint64_t)g->blocks;
    return blocks ? blocks : 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct gather_rows *g = &((const struct gather_program *)state)->of;
    uint64_t first;
    *out = (struct program_launch){.kernel = g->kernel == GATHER_SHIFT ? "gather_shift" : "gather_naive",
                                   .blocks = blocks_of(g, batch_of(g, number, &first) * g->row_elements),
                                   .threads = (uint32_t)g->threads_per_block};
}

/* Lanes that access neighbouring bytes, or all the same ones, need no address each. */
static void settle(struct program_access *a)
{
    if (!a->active)
        return;
    uint64_t stride = a->lane[1] - a->lane[0];
    if (a->active & 2 && stride != 0 && stride != a->bytes)
        return;
    for (unsigned l = 1; l < LANES && a->active >> l & 1; l++)
        if (a->lane[l] - a->lane[l - 1] != stride)
            return;
    a->addr = a->lane[0];
    a->lane_stride = a->active & 2 ? (int64_t)stride : a->bytes;
    a->lane = NULL;
}

static uint64_t *access_of(struct program_body *b, const struct gather_program *p, unsigned alloc, uint32_t active,
                           uint16_t before)
{
    struct program_access *a = program_load(b, p->allocs, alloc, 0, alloc == INDEX ? INDEX_BYTES : GATHER_ELEMENT);
    a->active = active;
    a->before = before;
    return program_scatter(b, a);
}

/* A warp that reads neighbours of one row and writes neighbours: no lane needs an address of its own. */
static void in_one_row(struct program_body *b, const struct gather_program *p, uint64_t number, uint64_t in,
                       uint64_t out, bool rotates)
{
    struct program_access *a = program_load(b, p->allocs, INDEX, number * INDEX_BYTES, INDEX_BYTES);
    a->lane_stride = 0;
    a->before = START;
    a = program_load(b, p->allocs, TABLE, in * GATHER_ELEMENT, GATHER_ELEMENT);
    a->before = rotates ? ADDRESS + ROTATE : ADDRESS;
    a = program_store(b, p->allocs, OUTPUT, out * GATHER_ELEMENT, GATHER_ELEMENT);
    a->before = ADDRESS;
}

static int body(void *run, uint32_t launch_number, uint64_t warp, uint32_t index, struct program_body *b,
                struct err *err)
{
    (void)err;
    const struct gather_program *p = run;
    const struct gather_rows *g = &p->of;
    uint64_t first, width = g->row_elements, elements = batch_of(g, launch_number, &first) * width;
    uint64_t step = blocks_of(g, elements) * (uint64_t)g->threads_per_block; /* the loop's */
    if (warp * LANES >= elements)
        return program_no_trip(index, START, b);
    if (warp * LANES + index * step >= elements)
        return 0;
    warp += index * step / LANES;
    b->last = warp * LANES + step >= elements;
    bool rotates = g->kernel == GATHER_SHIFT && width > LANES && width % LANES != 0;
    uint32_t active = program_first_lanes(elements - warp * LANES);
    uint64_t to = warp * LANES / width, at = warp * LANES % width; /* the row and column that the lane writes */
    if (active == UINT32_MAX && at + LANES <= width) {
        uint64_t from = g->rows[first + to], column = at + (rotates ? (to - from) * width % LANES : 0);
        column -= column >= width ? width : 0;
        if (column + LANES <= width) {
            in_one_row(b, p, first + to, from * width + column, to * width + column, rotates);
            return 1;
        }
    }
    uint64_t *numbers = access_of(b, p, INDEX, active, START);
    uint64_t *in = access_of(b, p, TABLE, active, rotates ? ADDRESS + ROTATE : ADDRESS);
    uint64_t *out = access_of(b, p, OUTPUT, active, ADDRESS);
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t from = g->rows[first + to], column = at;
        if (rotates)
            column += (to - from) * width % LANES;
        if (column >= width)
            column -= width;
        numbers[l] = p->allocs[INDEX].addr + (first + to) * INDEX_BYTES;
        in[l] = p->allocs[TABLE].addr + (from * width + column) * GATHER_ELEMENT;
        out[l] = p->allocs[OUTPUT].addr + (to * width + column) * GATHER_ELEMENT;
        if (warp * LANES + l + 1 >= elements)
            continue; /* lanes behind the last element access nothing */
        at = at + 1 < width ? at + 1 : 0;
        to += at == 0;
    }
    b->access[2].kind = RECORD_WRITE;
    b->access[2].use = 0;
    for (int i = 0; i < 3; i++)
        settle(&b->access[i]);
    return 1;
}

const struct program_ops gather_program_ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};
