/* rodinia-streamcluster: what opening a centre at point x would save, a thread for each point.
 *
 * n points of `dim` coordinates, stored coordinate by coordinate; K = `centres` open. A launch for each candidate x,
 * blocks of 512. A thread loads its coordinates and x's, four times in a turn, then its weight and cost; if x saves, it
 * adds to the last slot of its row of K + 1 in WORK, else to the slot of its own centre. SW is a byte a point, P 32 B
 * (weight at 0, assign, 8 B, at 16, cost at 24); WORK of each later launch lies behind all, as the program allocates it
 * anew.
 * The points are not there, so what depends on them is drawn: a lane saves with probability `saves`; points are
 * assigned to K centres drawn among the points (assign=centres), or to point 2654435761 g mod n with slot g mod K
 * (assign=all). The candidate of launch i is x + 40503 i mod n.
 * Worked example: n = 1024, dim = 16, K = 2, saves = 0: a warp loads 32 coordinates, weight, cost, assign, TABLE, WORK.
 * Uses: the own coordinate 2 instructions later; two instructions of arithmetic and two of addresses for each; all else
 * assumed. order=hoisted: the eight loads of a turn come first.
 * Source: Rodinia 3.1, cuda/streamcluster/streamcluster_cuda.cu (kernel_compute_cost, pgain); the F3FS artifact's
 * arguments (10 20 256 65536 65536 1000 none ..).
 * Differs: `launches` candidates instead of as many as the search for a cost tries: a call of its local search makes 5
 * kmax ln kmax = 299. `saves` is not calibrated. The copies of TABLE and P before each launch are left out. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 512, UNROLL = 4, GUARD = 8, POINT = 32, STEP = 40503 };
enum { WORK, TABLE, SW, P, COORD, WORKS };
enum { ASSIGN_CENTRES, ASSIGN_ALL };

struct streamcluster {
    struct layout layout;
    int64_t n, dim, centres, launches, x, assign, seed;
    double saves;
    int64_t *centre;     /* their points, drawn */
    uint64_t work_bytes; /* of a launch's WORK, up to the next */
};

static const struct param streamcluster_keys[] = {
    PARAM_INT_ROW(streamcluster, n, "", 1, 1 << 26, 65536, "points"),
    PARAM_INT_ROW(streamcluster, dim, "", 1, 1 << 14, 256, "coordinates of a point"),
    PARAM_INT_ROW(streamcluster, centres, "", 1, 1 << 12, 20, "open centres"),
    PARAM_INT_ROW(streamcluster, launches, "", 1, 1 << 20, 1, "candidates tried"),
    PARAM_INT_ROW(streamcluster, x, "", 0, 1 << 26, 0, "point of the first candidate"),
    PARAM_REAL_ROW(streamcluster, saves, "", 0, 1, 0.02, "share of points for which a candidate saves"),
    PARAM_CHOICE_ROW(streamcluster, assign, "centres|all", ASSIGN_CENTRES, "points belong to centres, or to any"),
    PARAM_INT_ROW(streamcluster, seed, "", 0, 0x1p53, 1, "of what is drawn"),
    RODINIA_KEYS("time of a turn of a warp's loop, its data at hand")};

/* Whether the candidate saves for point g. */
static bool saves(const struct streamcluster *s, uint32_t launch, int64_t g)
{
    struct random r = {(uint64_t)s->seed + (uint64_t)((int64_t)(launch + 1) * s->n + g) * 0x9e3779b9u};
    return random_chance(&r, s->saves) != 0;
}

/* The centre that point g belongs to: its number among all, and its point. */
static int64_t centre_of(const struct streamcluster *s, int64_t g, int64_t *point)
{
    struct random r = {(uint64_t)g};
    bool all = s->assign == ASSIGN_ALL;
    int64_t slot = all ? g % s->centres : random_below(&r, (uint32_t)s->centres);
    *point = all ? (int64_t)((uint64_t)g * 2654435761u % (uint64_t)s->n) : s->centre[slot];
    return slot;
}

/* A field of the lanes' own points. */
static void field(const struct emit *e, unsigned offset, uint32_t bytes)
{
    struct emit f = emit_of(e, bytes);
    emit_apart(emit_load(&f, P, (e->at.thread * POINT + offset) / bytes, 2, 1), POINT / bytes);
}

/* WORK[g (K+1) + slot]: load and store. */
static void add_to(const struct emit *e, const int64_t *slot)
{
    const struct streamcluster *s = e->state;
    int64_t index[PROGRAM_LANES], later = e->launch ? (int64_t)s->work_bytes / 4 * (e->launch - 1) : 0;
    for (int64_t l = 0; l < PROGRAM_LANES; l++)
        index[l] = ((int64_t)e->at.thread + l) * (s->centres + 1) + slot[l] + later;
    emit_gather(e, e->launch ? WORKS : WORK, index, 2, 1);
    emit_scatter(e, e->launch ? WORKS : WORK, index, 1);
}

static int costs(struct emit *e)
{
    const struct streamcluster *s = e->state;
    int64_t slot[PROGRAM_LANES], saved[PROGRAM_LANES], point[PROGRAM_LANES], g = e->at.thread;
    uint32_t lanes = e->active, saving = 0;
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        saving |= (uint32_t)(lanes >> l & 1 && saves(s, e->launch, g + l)) << l;
        saved[l] = s->centres;
        slot[l] = centre_of(s, g + l, &point[l]);
    }
    field(e, 0, 4);
    field(e, 24, 4);
    e->active = saving;
    if (saving) {
        struct emit flags = emit_of(e, 1);
        emit_store(&flags, SW, g, 2);
        field(e, 24, 4);
        add_to(e, saved);
    }
    e->active = lanes & ~saving;
    if (e->active) {
        field(e, 16, 8);
        emit_gather(e, TABLE, point, 2, 1);
        add_to(e, slot);
    }
    return emit_end(e, 1);
}

/* A body for each part of the loop over coordinates, of the points and of x; then the costs. */
static int compute_cost(struct emit *e)
{
    const struct streamcluster *s = e->state;
    int64_t n = s->n, g = e->at.thread, x = (s->x + (int64_t)e->launch * STEP) % n;
    struct program_loop loop = {.trips = s->dim, .active = e->active, .unroll = UNROLL};
    struct program_part part;
    if (program_loop_part(&loop, e->index, &part)) {
        for (uint32_t k = 0; k < part.trips; k++) {
            int64_t row = (part.first + k) * n;
            emit_load(e, COORD, row + g, k ? 4 : 2, 2);
            emit_same(emit_load(e, COORD, row + x, 0, 1));
        }
        emit_hoist(e, 0);
        emit_turns(e, part.turns, part.trips * n);
        return emit_end(e, 2 + 3); /* the last arithmetic; count, compare, branch */
    }
    if (e->index > 0 && !program_loop_part(&loop, e->index - 1, &part))
        return 0;
    return costs(e);
}

static void streamcluster_close(void *state)
{
    free(((struct streamcluster *)state)->centre);
    free(state);
}

static int streamcluster_init(struct streamcluster *s, struct err *err)
{
    uint64_t n = s->n, work = layout_blocks((s->centres + 1) * (n + 1) * 4, RODINIA_ALIGN) * RODINIA_ALIGN;
    struct random r = {(uint64_t)s->seed};
    s->work_bytes = work;
    s->centre = mem_zalloc(s->centres, sizeof *s->centre, err);
    if (!s->centre)
        return -1;
    for (int64_t i = 0; i < s->centres; i++)
        s->centre[i] = random_below(&r, (uint32_t)n);
    LAYOUT_ARRAYS(&s->layout, {"work_mem", work}, {"+center_table", n * 4}, {"switch_membership", n},
                  {"+points", n * POINT}, {"+coord", n * s->dim * 4},
                  {s->launches > 1 ? "later work_mem" : NULL, work * (s->launches - 1)});
    layout_kernel(&s->layout, compute_cost, "kernel_compute_cost", layout_blocks(n, THREADS), THREADS, 56, 0);
    layout_guard(&s->layout, n, GUARD);
    s->layout.launches = (uint32_t)s->launches;
    return 0;
}

RODINIA(streamcluster, "streamcluster", "streamcluster",
        "gain of opening a cluster's centre, as the F3FS artifact runs it", streamcluster_close);
