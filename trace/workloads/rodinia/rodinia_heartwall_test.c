#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/rodinia_heartwall_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

/* --- frame 0 --- */

static void cut(struct heart *h)
{
    at(h, 0, 0, 0);
    get_row(h, h->t.thread == 0);
    location(h, h->t.thread == 0, true, true, h->frame_no);
    get_column(h, h->t.thread == 0);
    location(h, h->t.thread == 0, true, false, h->frame_no);
    ELEMENTS(h, h->in * h->in)
    {
        get_row(h, true);
        get_column(h, true);
        get_frame(h, ei % h->in, ei / h->in, (h->in - 1) / 2);
        writes(&h->t, true, is_inner(h) ? ENDO_T : EPI_T, point_no(h) * h->in * h->in + ei);
    }
}

/* --- later frames --- */

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void convolve(struct heart *h)
{
    ELEMENTS(h, h->conv * h->conv)
    {
        int64_t ic = ei % h->conv + 1, jc = ei / h->conv + 1;
        int64_t ja1 = most(1, jc + 1 - h->in2), ja2 = least(h->in, jc), ia1 = most(1, ic + 1 - h->in2),
                ia2 = least(h->in, ic);
        for (int64_t ja = ja1; ja <= ja2; ja++)
            for (int64_t ia = ia1; ia <= ia2; ia++) {
                at(h, round, ja - ja1, ia - ia1);
                get(h, true, IN2, h->in2 * (jc + 1 - ja - 1) + (ic + 1 - ia) - 1);
            }
        at(h, round, 150, 0);
        set(h, true, CONV, ei);
    }
}

static void convolve_mask(struct heart *h)
{
    ELEMENTS(h, h->conv * h->conv)
    {
        int64_t i = ei % h->conv + 1 + 5, j = ei / h->conv + 1 + 5;
        int64_t ja1 = most(1, j + 1 - 10), ja2 = least(h->conv, j), ia1 = most(1, i + 1 - 10), ia2 = least(h->conv, i);
        for (int64_t ja = ja1; ja <= ja2; ja++)
            for (int64_t ia = ia1; ia <= ia2; ia++) {
                at(h, round, ja - ja1, ia - ia1);
                get(h, true, T_MASK, h->conv * (ja - 1) + ia - 1);
            }
        at(h, round, 150, 0);
        get(h, true, SQR_SUB2, ei);
        set(h, true, MASK_CONV, ei);
    }
}

/* Steps of sums over windows: a copy with margins, sums down, two parts, their difference, sums across, the same. */
static void window_sums(struct heart *h, unsigned from, unsigned to)
{
    int64_t p = h->pad, c = h->conv;
    ELEMENTS(h, p * p)
    {
        int64_t row = ei % p - h->in, col = ei / p - h->in;
        get(h, row >= 0 && row < h->in2 && col >= 0 && col < h->in2, from, col * h->in2 + row);
        set(h, true, PAD, ei);
    }
    ELEMENTS(h, p)
    for (int64_t k = 0; k < p; k++) {
        at(h, 0, 0, k);
        get(h, true, PAD, ei * p + k);
        set(h, true, PAD, ei * p + k);
    }
    ELEMENTS(h, c * p)
    {
        get(h, true, PAD, ei / c * p + ei % c + (1 + h->in) - 1);
        set(h, true, PAD_SEL, ei);
    }
    ELEMENTS(h, c * p)
    {
        get(h, true, PAD, ei / c * p + ei % c);
        set(h, true, SUB_CUMH, ei);
    }
    ELEMENTS(h, c * p)
    {
        get(h, true, PAD_SEL, ei);
        get(h, true, SUB_CUMH, ei);
        set(h, true, SUB_CUMH, ei);
    }
    ELEMENTS(h, c)
    for (int64_t k = 0; k < p; k++) {
        at(h, 0, 0, k);
        get(h, true, SUB_CUMH, ei + k * c);
        set(h, true, SUB_CUMH, ei + k * c);
    }
    ELEMENTS(h, c * c)
    {
        get(h, true, SUB_CUMH, (ei / c + (1 + h->in) - 1) * c + ei % c);
        set(h, true, CUMH_SEL, ei);
    }
    ELEMENTS(h, c * c)
    {
        get(h, true, SUB_CUMH, ei / c * c + ei % c);
        set(h, true, to, ei);
    }
    ELEMENTS(h, c * c)
    {
        get(h, true, CUMH_SEL, ei);
        get(h, true, to, ei);
        set(h, true, to, ei);
    }
}

static void squares_of_template(struct heart *h)
{
    ELEMENTS(h, h->in * h->in)
    {
        get_template(h, true, ei);
        set(h, true, IN_SQR, ei);
    }
    ELEMENTS(h, h->in)
    for (int64_t i = 0; i < h->in; i++) {
        at(h, 0, 0, i);
        get_template(h, true, ei * h->in + i);
    }
    ELEMENTS(h, h->in)
    for (int64_t i = 0; i < h->in; i++) {
        at(h, 0, 0, i);
        get(h, true, IN_SQR, ei + h->in * i);
    }
}

static void correct(struct heart *h)
{
    ELEMENTS(h, h->conv * h->conv)
    {
        get(h, true, SQR_SUB2, ei);
        set(h, true, SQR_SUB2, ei);
    }
    ELEMENTS(h, h->conv * h->conv)
    {
        get(h, true, CONV, ei);
        get(h, true, SUB2, ei);
        set(h, true, CONV, ei);
    }
    ELEMENTS(h, h->conv * h->conv)
    {
        get(h, true, CONV, ei);
        get(h, true, SQR_SUB2, ei);
        set(h, true, SQR_SUB2, ei);
    }
}

static void mask_and_find(struct heart *h)
{
    h->phase++;
    at(h, 0, 0, 0);
    location(h, true, false, true, h->frame_no - 1);
    get_row(h, true);
    location(h, true, false, false, h->frame_no - 1);
    get_column(h, true);
    ELEMENTS(h, h->conv * h->conv)
    set(h, true, T_MASK, ei);
    convolve_mask(h);
    ELEMENTS(h, h->conv)
    for (int64_t i = 0; i < h->conv; i++) {
        at(h, 0, 0, i);
        get(h, true, MASK_CONV, ei * h->conv + i);
    }
    h->phase++;
    at(h, 0, 0, 0);
    get_row(h, h->t.thread == 0);
    location(h, h->t.thread == 0, true, true, h->frame_no);
    get_column(h, h->t.thread == 0);
    location(h, h->t.thread == 0, true, false, h->frame_no);
}

static void renew(struct heart *h)
{
    h->phase++;
    at(h, 0, 0, 0);
    location(h, true, false, true, h->frame_no);
    writes(&h->t, true, is_inner(h) ? ENDO_ROW : EPI_ROW, point_no(h));
    location(h, true, false, false, h->frame_no);
    writes(&h->t, true, is_inner(h) ? ENDO_COL : EPI_COL, point_no(h));
    ELEMENTS(h, h->in * h->in)
    {
        get_row(h, true);
        get_column(h, true);
        get_template(h, true, ei);
        get_frame(h, ei % h->in, ei / h->in, (h->in - 1) / 2);
        writes(&h->t, true, is_inner(h) ? ENDO_T : EPI_T, point_no(h) * h->in * h->in + ei);
    }
}

static void track(struct heart *h)
{
    at(h, 0, 0, 0);
    get_row(h, true);
    get_column(h, true);
    ELEMENTS(h, h->in2 * h->in2)
    {
        get_frame(h, ei % h->in2, ei / h->in2, (h->in2 - 1) / 2);
        set(h, true, IN2, ei);
    }
    ELEMENTS(h, h->in * h->in)
    {
        int64_t rot_row = h->in - 1 - ei % h->in, rot_col = h->in - 1 - ei / h->in;
        get_template(h, true, rot_col * h->in + rot_row);
    }
    convolve(h);
    window_sums(h, IN2, SUB2);
    ELEMENTS(h, h->in2 * h->in2)
    {
        get(h, true, IN2, ei);
        set(h, true, IN2_SQR, ei);
    }
    window_sums(h, IN2_SQR, SQR_SUB2);
    ELEMENTS(h, h->conv * h->conv)
    {
        get(h, true, SUB2, ei);
        get(h, true, SQR_SUB2, ei);
        set(h, true, SQR_SUB2, ei);
    }
    squares_of_template(h);
    correct(h);
    mask_and_find(h);
    if (h->frame_no % 10 == 0)
        renew(h);
}

static void compare(int64_t in, int64_t in2, int64_t points, int64_t frames, const char *order)
{
    char spec[128];
    struct workload w;
    struct program_notes notes = {0};
    (void)snprintf(spec, sizeof spec,
                   "rodinia-heartwall,template=%lld,area=%lld,points=%lld,frames=%lld,video=40,order=%s", (long long)in,
                   (long long)in2, (long long)points, (long long)frames, order);
    struct program program = program_opened(&w, spec, 0, 0);
    struct heart h = {.in = in, .in2 = in2, .conv = in + in2 - 1, .pad = in2 + 2 * in, .points = points, .video = 40};
    h.t = (struct thread){.notes = &notes, .program = &program, .threads = THREADS};
    for (; h.frame_no < frames; h.frame_no++, h.t.launch++)
        for (h.t.block = 0; h.t.block < (uint64_t)points; h.t.block++)
            for (h.t.thread = 0; h.t.thread < THREADS; h.t.thread++) {
                h.phase = 0;
                h.frame_no ? track(&h) : cut(&h);
            }
    ck_assert_uint_eq(program.ops->launches(program.state), h.t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(phases_are_those_of_the_kernel)
{
    compare(2, 3, 2, 2, "ptx");
    compare(5, 9, 3, 12, "ptx");
    compare(7, 40, 2, 2, "hoisted");
    compare(33, 33, 2, 2, "ptx");
    compare(51, 81, 51, 1, "ptx");
}
END_TEST

/* Loads of lanes from an array in a launch, by all blocks. */
static uint64_t lanes_of(const char *spec, uint32_t launch, unsigned array, uint64_t *steps)
{
    static struct program_body body;
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    uint64_t lanes = 0;
    *steps = 0;
    for (uint64_t warp = 0; warp < 16; warp++)
        for (uint32_t i = 0; program_body(&program, w.state, launch, warp, i, &body, NULL) == 1; i++)
            for (uint32_t k = 0; k < body.count; k++)
                if (body.access[k].alloc == array && body.access[k].kind == RECORD_READ && body.access[k].before == 3) {
                    lanes += body.turns * (unsigned)__builtin_popcount(body.access[k].active);
                    *steps += body.turns;
                }
    workload_close(&w);
    return lanes;
}

/* Outputs of a convolution of n with m points take n m loads in each direction. Source: counted by hand; the kernel. */
START_TEST(convolutions_make_the_loads_counted_by_hand)
{
    uint64_t steps;
    ck_assert_uint_eq(lanes_of("rodinia-heartwall,template=2,area=3,points=2", 1, IN2, &steps), 2 * 36);
    ck_assert_uint_eq(lanes_of("rodinia-heartwall,points=2", 1, IN2, &steps), 2 * 17065161);
    ck_assert_uint_gt(steps, 2 * 17065161 / 32);
    /* The mask: 1 to 131 with 10 around it, from 4 before to 5 behind, as far as there are: 1285 in each direction. */
    ck_assert_uint_eq(lanes_of("rodinia-heartwall,points=2", 1, T_MASK, &steps), 2 * 1285 * 1285);
}
END_TEST

START_TEST(templates_larger_than_their_area_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-heartwall,template=11,area=9"), "template in its area"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-heartwall,frames=105"), "video of 104"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-heartwall,template=52"), "template"));
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-heartwall,template=3,area=7,points=3,video=5,frames=1", 656 * 744 * 4, 4, 4, 20, 20, 8, 8, 40,
                 40, 36, 72, 3 * 256, 3 * 512, 3 * 768, 3 * 512, 3 * 512, 3 * 512, 3 * 512, 3 * 256, 3 * 512, 3 * 256,
                 3 * 512, 3 * 512);
}
END_TEST

TEST_MAIN("rodinia_heartwall")
