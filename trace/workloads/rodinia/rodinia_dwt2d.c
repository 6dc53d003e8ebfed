/* rodinia-dwt2d: the 5/3 wavelet transform of a colour image, sliding windows over columns, level by level.
 *
 * Launches: copy (threads x < 192 of a block load a word of 4 bytes of SRC, 3 B a pixel; each stores a pixel of R, G,
 * B); then for each colour `levels` times fdwt53 from IN to OUT, half the size each time (LL is copied back to IN in
 * between). Only copies touch BACKUP.
 * fdwt53 of sx x sy: blocks of W = 192 threads (sx >= 960), 128 (>= 480) or 64, a thread for each column; ceil(sx / W)
 * x ceil(sy / (8 steps)) blocks, steps = ceil(sy / 120). First rows fy-2 to fy of the own column (in the topmost blocks
 * fy to fy+2), fy = 8 steps by; threads 0 to 2 those of columns W bx + W, -2 and -1 too. A step loads the next eight
 * rows likewise, lifts between 3 barriers, and stores eight rows. Rows and columns beyond the image are mirrored.
 * Thread t stores column 2 t (t < W/2) or 2 t - W + 1: even columns at x/2, odd ones in the second quarter, odd rows
 * half an image on.
 * Worked example: 64 x 48, 1 level: 6 blocks of 64; warp 0 loads 11 rows and 11 times three columns, warp 1 11 rows.
 * Uses: the first three rows are in flight together; each of a step's eight is used by the next instruction, or with
 * order=hoisted all eight are in flight. Two instructions before an access, 80 for the vertical lifting, 40 for each
 * horizontal one: assumed.
 * Source: Rodinia 3.1, cuda/dwt2d/main.cu processDWT, components.cu, dwt_cuda/fdwt53.cu, io.h, common.h parityIdx; the
 * F3FS artifact's arguments (-d 1024x1024 -f -5 -l 3).
 * Differs: copies between levels, and to BACKUP, are left out. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { COPY_THREADS = 256, COPY_WORDS = 192, ROWS = 8, MOST_STEPS = 15, LEAST_WIDTH = 33, LEAST_HEIGHT = 9 };
enum { VERTICAL = 80, HORIZONTAL = 40 };
enum { R_OUT, BACKUP, G_OUT, B_OUT, R, G, B, SRC };

struct dwt2d {
    struct layout layout;
    int64_t width, height, levels;
};

static const struct param dwt2d_keys[] = {
    PARAM_INT_ROW(dwt2d, width, "pixels", LEAST_WIDTH, 1 << 15, 1024, "of the image"),
    PARAM_INT_ROW(dwt2d, height, "pixels", LEAST_HEIGHT, 1 << 15, 1024, "of the image"),
    PARAM_INT_ROW(dwt2d, levels, "", 1, 10, 3, "of the transform"),
    RODINIA_KEYS("time of a warp's step, its data at hand")};

static int copy_src_to_components(struct emit *e)
{
    const struct dwt2d *s = e->state;
    int64_t x = (int64_t)e->at.warp * PROGRAM_LANES;
    if (x < COPY_WORDS)
        emit_load(e, SRC, e->at.block * COPY_WORDS + x, 2, 1);
    emit_barrier(e, 2);
    if (emit_below(e, s->width * s->height))
        for (unsigned colour = R; colour <= B; colour++)
            emit_store(e, colour, e->at.thread, colour == R ? 6 : 2);
    return emit_end(e, 1);
}

/* --- fdwt53 --- */

/* A size behind so many halvings. */
static int64_t halved(int64_t size, int64_t times)
{
    for (; times > 0; times--)
        size = (size + 1) / 2;
    return size;
}

/* The image of a launch, and its windows. */
struct level {
    int64_t sx, sy, window, across, steps, down; /* blocks across, down */
    unsigned in, out;
};

static struct level level_of(const struct dwt2d *s, uint32_t launch)
{
    static const uint8_t outs[] = {R_OUT, G_OUT, B_OUT};
    int64_t colour = (launch - 1) / s->levels, times = (launch - 1) % s->levels;
    struct level v = {.sx = halved(s->width, times), .sy = halved(s->height, times)};
    v.in = R + (unsigned)colour;
    v.out = outs[colour];
    v.window = v.sx >= 960 ? 192 : v.sx >= 480 ? 128 : 64;
    v.steps = (v.sy + (int64_t)MOST_STEPS * ROWS - 1) / ((int64_t)MOST_STEPS * ROWS);
    v.across = (v.sx + v.window - 1) / v.window;
    v.down = (v.sy + ROWS * v.steps - 1) / (ROWS * v.steps);
    return v;
}

static int64_t mirrored(int64_t at, int64_t size)
{
    return at >= size ? 2 * size - 2 - at : at < 0 ? -at : at;
}

/* Rows `from` to `from` + n - 1 of the warp's own columns, x on, or of the three beside the window. */
static void load_rows(const struct level *v, struct emit *e, int64_t x, bool beside, int64_t from, int64_t n)
{
    int64_t column[PROGRAM_LANES] = {0}, index[PROGRAM_LANES];
    uint32_t loads = e->body->count;
    e->active = beside ? 7 : UINT32_MAX;
    for (int64_t l = 0; l < (beside ? 3 : PROGRAM_LANES); l++)
        column[l] = mirrored(beside ? x + (l ? l - 3 : v->window) : x + l, v->sx);
    for (int64_t row = from; row < from + n; row++) {
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            index[l] = mirrored(row, v->sy) * v->sx + column[l];
        emit_gather(e, v->in, index, 2, n == ROWS); /* fewer: not needed before the first step */
    }
    emit_hoist(e, loads);
}

/* Rows fy to fy + 7, as far as they are in the image. */
static void store_rows(const struct level *v, struct emit *e, int64_t x, int64_t t, int64_t fy)
{
    bool odd = t >= v->window / 2;
    int64_t column = x - t + (odd ? 2 * t - v->window + 1 : 2 * t); /* lane 0's; lanes are two apart */
    int64_t right = (v->sx + 1) / 2, low = (v->sy + 1) / 2;
    int64_t first = column / 2 + (odd ? right * low : 0), down = odd ? v->sx / 2 : right;
    int64_t high = odd ? v->sx * v->sy / 2 : low * v->sx;
    e->active = column < v->sx ? program_first_lanes((v->sx - column + 1) / 2) : 0;
    for (int64_t y = fy; e->active && y < fy + ROWS && y < v->sy; y++)
        emit_store(e, v->out, first + y / 2 * down + y % 2 * high, 2);
}

/* Body 0: the first rows; then two for each step: its rows, and what follows. */
static int fdwt53(struct emit *e)
{
    const struct level v = level_of(e->state, e->launch);
    int64_t t = (int64_t)e->at.warp * PROGRAM_LANES, x = (int64_t)e->at.block % v.across * v.window + t;
    int64_t by = (int64_t)e->at.block / v.across, fy = by * ROWS * v.steps, step = ((int64_t)e->index - 1) / 2;
    bool first = e->index == 0, second = e->index > 0 && e->index % 2 == 0;
    int64_t from = first ? (by ? fy - 2 : fy) : fy + ROWS * step + 1;
    if (e->index > 2 * v.steps)
        return 0;
    if (!second)
        load_rows(&v, e, x, false, from, first ? 3 : ROWS);
    if (t == 0 && (first || second))
        load_rows(&v, e, x, true, from, first ? 3 : ROWS);
    if (second) {
        emit_barrier(e, VERTICAL);
        emit_barrier(e, HORIZONTAL);
        emit_barrier(e, HORIZONTAL);
        store_rows(&v, e, x, t, fy + ROWS * step);
        emit_barrier(e, 1);
    }
    return emit_end(e, 2);
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    if (launch == 0)
        return;
    const struct level v = level_of(state, launch);
    out->blocks = v.across * v.down;
    out->threads = (uint32_t)v.window;
    out->shared = v.window == 192 ? 8728 : v.window == 128 ? 5912 : 3096;
}

static int dwt2d_init(struct dwt2d *s, struct err *err)
{
    int64_t w = halved(s->width, s->levels - 1), h = halved(s->height, s->levels - 1), pixels = s->width * s->height;
    if (w < LEAST_WIDTH || h < LEAST_HEIGHT)
        return err_set(err, "level %lld is %lld x %lld pixels; expected at least %d x %d", (long long)s->levels,
                       (long long)w, (long long)h, LEAST_WIDTH, LEAST_HEIGHT);
    uint64_t blocks = layout_blocks(pixels, COPY_THREADS);
    LAYOUT_ARRAYS(&s->layout, {"c_r_out|backup|c_g_out|c_b_out|c_r|c_g|c_b", pixels * 4},
                  {"+src", blocks * COPY_WORDS * 4});
    layout_straight(&s->layout, copy_src_to_components, "c_CopySrcToComponents", blocks, COPY_THREADS, 16, 768);
    layout_kernel(&s->layout, fdwt53, "fdwt53Kernel", 0, 0, 54, 0);
    s->layout.once_before = 1;
    s->layout.shape = shape;
    s->layout.launches = 1 + 3 * (uint32_t)s->levels;
    return 0;
}

RODINIA(dwt2d, "dwt2d", "dwt2d", "wavelet transform of an image, as the F3FS artifact runs it", free);
