/* rodinia-srad-v1: anisotropic diffusion, first version: neighbours by index arrays, sums by reduction.
 *
 * An image of R rows and C columns of floats, row index fastest; n = R C; thread g is element g, blocks of 512.
 * Launches: extract; `iterations` times prepare, reduce .. reduce, srad, srad2; compress.
 *     reduce(no, mul), ceil(no/512) blocks: if (e < no) SUM[e mul], SUM2[e mul]; barrier; 9 steps in shared memory,
 *         each with a barrier; thread 511: store SUM[512 mul block], SUM2 of the same. First no = n, mul = 1, then no
 *         = blocks, mul times 512, down to one block. In a last block of m < 512 elements, d the largest power of two
 *         up to m: log2 d steps, then thread d-1: SUM[512 block + i], SUM2 of the same, i = d to m-1, and it stores
 * iN = max(r-1, 0), iS = min(r+1, R-1), jW, jE likewise of the column. order=hoisted: what depends on no other load
 * comes first.
 * Worked example: R = 64, C = 16: n = 1024, launches of 2 blocks; reduce with 2 blocks, then with 1 block of 2
 * elements.
 * Uses: I[e] of srad 4 instructions later, dN of srad2 8, dS 6, all else by the next. Instructions are assumed: 30 for
 * exp or log, 12 for a step of the reduction.
 * Source: Rodinia 3.1, cuda/srad/srad_v1/main.cu and {extract,prepare,reduce,srad,srad2,compress}_kernel.cu; the F3FS
 * artifact's arguments (100 0.5 512 512).
 * Differs: the sums' copies to the host in each iteration are left out. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { LOG_THREADS = 9, THREADS = 1 << LOG_THREADS, REDUCES = 4 /* of an iteration, at most */ };
enum { GUARD = 8, MATH = 30, STEP = 12, DERIVE = 36 };
enum { I, IN, IS, JE, JW, SUM, SUM2, DN, DS, DW, DE, COEFF };

struct srad_v1 {
    struct layout layout;
    int64_t rows, columns, iterations;
    int64_t n, sums[REDUCES]; /* sums: no of each reduce */
    uint32_t reduces;         /* launches of reduce in an iteration */
};

static const struct param srad_v1_keys[] = {PARAM_INT_ROW(srad_v1, rows, "", 1, 1 << 15, 512, "of the image"),
                                            PARAM_INT_ROW(srad_v1, columns, "", 1, 1 << 15, 512, "of the image"),
                                            PARAM_INT_ROW(srad_v1, iterations, "", 1, 1 << 20, 100, "of the diffusion"),
                                            RODINIA_KEYS("time of a warp whose data is all at hand")};

/* Both sums. */
static void load_sums(const struct emit *e, int64_t element, int64_t apart)
{
    emit_apart(emit_load(e, SUM, element, 2, 1), apart);
    emit_apart(emit_load(e, SUM2, element, 2, 1), apart);
    emit_hoist(e, 0);
}

/* Body 0: loads, and the steps with their barriers; in a last block of m elements, d of which the steps add up: body 1:
 * thread d-1 adds the rest; then it stores. */
static int reduce(struct emit *e)
{
    const struct srad_v1 *s = e->state;
    uint32_t k = (e->launch - 1) % (s->reduces + 3) - 1; /* which of the iteration's */
    int64_t no = s->sums[k], mul = 1LL << k * LOG_THREADS, block = e->at.block * THREADS, d = 0;
    int64_t m = no - block < THREADS ? no - block : THREADS;
    for (int64_t i = 2; i <= m; i *= 2)
        d = i;
    if (e->index == 0) {
        if (emit_below(e, no))
            load_sums(e, e->at.thread * mul, mul);
        emit_barrier(e, 2);
        for (int64_t i = 2; i <= d; i *= 2)
            emit_barrier(e, STEP - 1);
    }
    bool last = d && emit_thread(e, (uint32_t)(d - 1)), rest = last && m > d; /* last: thread d-1 is here */
    if (e->index > (rest ? 2 : 0))
        return 0;
    if (e->index == 1) {
        load_sums(e, block + d, 0);
        emit_turns(e, m - d, 1);
    }
    if (last && e->index == (rest ? 2 : 0)) {
        emit_same(emit_store(e, SUM, block * mul, 2));
        emit_same(emit_store(e, SUM2, block * mul, 2));
    }
    return emit_end(e, 1);
}

/* --- what goes over the image, a thread for each element --- */

/* An element of the array is that of the thread, of its row or column, or of a neighbour. */
enum place { HERE, ROW, COLUMN, NORTH, SOUTH, WEST, EAST, PLACES };

struct line {
    uint8_t array, place, use;
    bool depends; /* on an index loaded before it */
};

static void look_around(const struct srad_v1 *s, uint32_t first, int64_t at[PLACES][PROGRAM_LANES])
{
    uint32_t R = (uint32_t)s->rows;
    for (uint32_t l = 0; l < PROGRAM_LANES; l++) {
        uint32_t e = first + l, r = e % R, c = e / R;
        at[ROW][l] = r;
        at[COLUMN][l] = c;
        at[NORTH][l] = r > 0 ? e - 1 : e;
        at[SOUTH][l] = r + 1 < R ? e + 1 : e;
        at[WEST][l] = c > 0 ? e - R : e;
        at[EAST][l] = c + 1 < s->columns ? e + R : e;
    }
}

/* Loads, in their order; or those that depend on others behind all that do not. */
static void load_lines(struct emit *e, const struct line *line, unsigned n)
{
    int64_t at[PLACES][PROGRAM_LANES];
    bool hoisted = e->order == ORDER_HOISTED;
    look_around(e->state, (uint32_t)e->at.thread, at);
    for (unsigned pass = 0; pass < (hoisted ? 2u : 1u); pass++) {
        uint32_t first = e->body->count;
        for (unsigned i = 0; i < n; i++)
            if (hoisted && line[i].depends != pass)
                continue;
            else if (line[i].place == HERE)
                emit_load(e, line[i].array, e->at.thread, 2, line[i].use);
            else
                emit_gather(e, line[i].array, at[line[i].place], 2, line[i].use);
        emit_hoist(e, first);
    }
}

static int srad(struct emit *e)
{
    static const struct line loads[] = {{IN, ROW, 1, 0}, {I, HERE, 4, 0},    {I, NORTH, 1, 1},
                                        {IS, ROW, 1, 0}, {I, SOUTH, 1, 1},   {JW, COLUMN, 1, 0},
                                        {I, WEST, 1, 1}, {JE, COLUMN, 1, 0}, {I, EAST, 1, 1}};
    load_lines(e, loads, sizeof loads / sizeof *loads);
    for (unsigned array = DN; array <= COEFF; array++)
        emit_store(e, array, e->at.thread, array == DN ? DERIVE : 2);
    return emit_end(e, 1);
}

static int srad2(struct emit *e)
{
    static const struct line loads[] = {{IS, ROW, 1, 0},      {JE, COLUMN, 1, 0},  {DN, HERE, 8, 0}, {DS, HERE, 6, 0},
                                        {COEFF, SOUTH, 1, 1}, {COEFF, HERE, 1, 0}, {DW, HERE, 1, 0}, {DE, HERE, 1, 0},
                                        {COEFF, EAST, 1, 1},  {I, HERE, 1, 0}};
    load_lines(e, loads, sizeof loads / sizeof *loads);
    emit_store(e, I, e->at.thread, 2);
    return emit_end(e, 1);
}

static int extract_compress(struct emit *e)
{
    emit_load(e, I, e->at.thread, 2, 1);
    emit_store(e, I, e->at.thread, MATH);
    return emit_end(e, 1);
}

static int prepare(struct emit *e)
{
    for (unsigned sum = SUM; sum <= SUM2; sum++) {
        emit_load(e, I, e->at.thread, 2, 1);
        emit_store(e, sum, e->at.thread, 2);
    }
    return emit_end(e, 1);
}

static void over_image(struct srad_v1 *s, layout_body *body, const char *name, uint32_t registers)
{
    layout_straight(&s->layout, body, name, layout_blocks(s->n, THREADS), THREADS, registers, 0);
    layout_guard(&s->layout, s->n, GUARD);
}

static int srad_v1_init(struct srad_v1 *s, struct err *err)
{
    (void)err;
    s->n = s->rows * s->columns;
    LAYOUT_ARRAYS(&s->layout, {"+I", s->n * 4}, {"+iN|iS", s->rows * 4}, {"+jE|jW", s->columns * 4},
                  {"sums|sums2|dN|dS|dW|dE|c", s->n * 4});
    over_image(s, extract_compress, "extract", 14);
    over_image(s, prepare, "prepare", 10);
    for (uint64_t no = s->n; s->reduces == 0 || no > 1; no = layout_blocks(no, THREADS)) {
        s->sums[s->reduces++] = no;
        layout_kernel(&s->layout, reduce, "reduce", layout_blocks(no, THREADS), THREADS, 61, 4096);
    }
    over_image(s, srad, "srad", 22);
    over_image(s, srad2, "srad2", 17);
    over_image(s, extract_compress, "compress", 14);
    s->layout.once_before = s->layout.once_behind = 1;
    s->layout.alike = true;
    s->layout.launches = 2 + (uint32_t)s->iterations * (s->reduces + 3);
    return 0;
}

RODINIA(srad_v1, "srad-v1", "srad/srad_v1", "anisotropic diffusion, first version, as the F3FS artifact runs it", free);
