/* rodinia-heartwall: points of a heart's wall followed through a video, a block of 256 threads for each point.
 *
 * A launch for each frame of 656 x 744 floats, column-major. Frame 0: each block cuts its template of T x T elements
 * out of the frame (rounds of 256). Later frames: it takes an area of A x A around its point, convolves it with the
 * template in shared memory (a thread for each of C x C outputs, C = T + A - 1; neighbouring lanes load neighbouring
 * elements of the area), sums area and squared area over windows (cumulative sums down and across), corrects, masks,
 * and looks for the largest: 35 phases, most with a barrier behind (parts/heartwall_phases.c lists them). In every
 * tenth frame the templates are renewed.
 * Arrays on 256 B from 0xC0000000 on: the frame; of the 20 inner points row and column, and both for each frame of
 * the video; of the 31 outer ones the same; templates of the inner, of the outer ones; then for each of the 12 kinds
 * of arrays of a point (in2 A^2, conv C^2, pad_cumv P^2, cumv_sel, sub_cumh C P, cumh_sel, sub2 C^2, in2_sqr A^2,
 * sqr_sub2 C^2, in_sqr T^2, tMask, mask_conv C^2; P = A + 2 T) one for each point. The CPU has written the frame and
 * the points.
 * Worked example: T = 51, A = 81: a block's convolution takes 51^2 81^2 = 17,065,161 loads of lanes.
 * Uses and instructions: each value is used by the next instruction; 20 instructions before a load whose row and
 * column are worked out, 4 before others, 3 in a convolution: assumed. order=hoisted: both loads of an element come
 * first.
 * Source: Rodinia 3.1, cuda/heartwall/main.cu, kernel.cu, define.c; frames = 2: the F3FS artifact (test.avi 2);
 * registers, shared memory: nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: the points stand on two ellipses like Rodinia's, and are always found where they were; the video's length
 * (it spaces four small arrays) is assumed; copies of frames to the GPU between launches are left out. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/rodinia/rodinia_heartwall.h"
#include "trace/workloads/rodinia/suite.h"

enum { INNER = 20, SHARED = 11872 };

static const struct param heartwall_params[] = {
    PARAM_INT_ROW(heartwall_params, frames, "", 1, 1 << 16, 2, "of the video that are processed"),
    PARAM_INT_ROW(heartwall_params, template, "", 1, 51, 51, "rows and columns of a template"),
    PARAM_INT_ROW(heartwall_params, area, "", 1, 81, 81, "rows and columns that it is sought in"),
    PARAM_INT_ROW(heartwall_params, points, "", 2, HEARTWALL_POINTS, HEARTWALL_POINTS,
                  "followed; two fifths of them inner ones"),
    PARAM_INT_ROW(heartwall_params, video, "", 1, 1 << 16, 104, "frames of the whole video"),
    RODINIA_ORDER_ROW(heartwall_params),
    PARAM_NS_AUTO_ROW(heartwall_params, compute_ns, 0, 1e9, "time of a warp's step, its data at hand"),
    {0}};

static void heartwall_close(void *state)
{
    struct heartwall *h = state;
    for (unsigned i = 0; i < 3; i++)
        heartwall_program_release(&h->part[i]);
    free(h->first[0]);
    free(h->first[1]);
    free(h);
}

/* Where the points are: on an ellipse around (378, 323), or (397, 306). */
static void place_points(struct heartwall *h)
{
    for (int64_t i = 0; i < h->p.points; i++) {
        bool in = i < h->inner;
        double angle = 2 * M_PI * (double)(in ? i : i - h->inner) / (double)(in ? h->inner : h->p.points - h->inner);
        h->row[i] = lround((in ? 378 : 397) + (in ? 109 : 146) * sin(angle));
        h->column[i] = lround((in ? 323 : 306) + (in ? 88 : 152) * cos(angle));
    }
}

static void lay_out(struct heartwall *h)
{
    static const char *const names[HEARTWALL_ARRAYS] = {
        "frame",      "endoRow", "endoCol", "tEndoRowLoc", "tEndoColLoc", "epiRow",   "epiCol",   "tEpiRowLoc",
        "tEpiColLoc", "endoT",   "epiT",    "in2",         "conv",        "pad_cumv", "cumv_sel", "sub_cumh",
        "cumh_sel",   "sub2",    "in2_sqr", "sqr_sub2",    "in_sqr",      "tMask",    "mask_conv"};
    uint64_t inner = (uint64_t)h->inner, outer = (uint64_t)h->p.points - inner, video = (uint64_t)h->p.video;
    uint64_t t = (uint64_t)h->p.template * (uint64_t)h->p.template;
    const uint64_t elements[HEARTWALL_OWN] = {HEARTWALL_ROWS * HEARTWALL_COLUMNS,
                                              inner,
                                              inner,
                                              inner * video,
                                              inner * video,
                                              outer,
                                              outer,
                                              outer * video,
                                              outer * video,
                                              inner * t,
                                              outer * t};
    for (unsigned i = 0; i < HEARTWALL_ARRAYS; i++) {
        uint64_t points = (uint64_t)h->p.points;
        uint64_t bytes =
            i < HEARTWALL_OWN ? elements[i] * 4 : heartwall_own_bytes(h, HW_AREA + i - HEARTWALL_OWN) * points;
        bool host = i == HEARTWALL_FRAME || (i < HEARTWALL_INNER_T && (i - HEARTWALL_INNER_ROW) % 4 < 2);
        (host ? plan_input : plan_array)(&h->plan, names[i], bytes);
    }
    plan_kernel(&h->plan, heartwall_kernel, "kernel", (uint64_t)h->p.points, HEARTWALL_THREADS, 55, SHARED);
    h->plan.launches = (uint32_t)h->p.frames;
}

/* Where the loops of each output begin. */
static int find_firsts(struct heartwall *h, struct err *err)
{
    int32_t c = h->shape.template + h->shape.area - 1;
    for (int mask = 0; mask < 2; mask++) {
        h->first[mask] = mem_zalloc((size_t)c * (size_t)c, sizeof **h->first, err);
        if (!h->first[mask])
            return -1;
        for (int32_t e = 0; e < c * c; e++) {
            struct heartwall_trips t = heartwall_trips(&h->shape, mask, e);
            h->first[mask][e] = t.first_column * (mask ? c : h->shape.area) + t.first_row;
        }
    }
    return 0;
}

static void *heartwall_open(const void *params, struct err *err)
{
    const struct heartwall_params *p = params;
    if (p->template > p->area || p->frames > p->video) {
        (void)err_set(err, "template %lld, area %lld, frames %lld of a video of %lld; expected a template in its area",
                      (long long)p->template, (long long)p->area, (long long)p->frames, (long long)p->video);
        return NULL;
    }
    struct heartwall *h = rodinia_new(sizeof *h, p->order, p->compute_ns, err);
    if (!h)
        return NULL;
    h->p = *p;
    h->shape = (struct heartwall_shape){(int32_t)p->template, (int32_t)p->area};
    h->inner = p->points * INNER / HEARTWALL_POINTS + (p->points < 3);
    place_points(h);
    lay_out(h);
    int rc = find_firsts(h, err);
    for (unsigned i = 0; i < 3 && !rc; i++)
        rc = heartwall_program_init(&h->part[i], &h->shape, i, err);
    if (!rc)
        return h;
    heartwall_close(h);
    return NULL;
}

const struct workload_type workload_rodinia_heartwall = {
    .name = "rodinia-heartwall",
    .summary = "points of a heart's wall followed through a video, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/heartwall",
    WORKLOAD_WITH_KEYS(heartwall),
    .close = heartwall_close,
    .program = plan_program,
};
