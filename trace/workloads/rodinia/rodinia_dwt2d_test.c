#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { R_OUT, BACKUP, G_OUT, B_OUT, R, G, B, SRC };

/* The pointers that the kernel moves through its image: a loader turns at the bottom, a writer stops there. */
struct loader {
    int64_t last, stride, end;
};

struct storer {
    int64_t next, end, low_to_high, high_to_low;
    bool none;
};

static void start_loader(struct loader *l, int64_t sx, int64_t sy, int64_t x, int64_t y)
{
    x = x >= sx ? 2 * sx - 2 - x : x < 0 ? -x : x;
    *l = (struct loader){x + sx * (y - 1), sx, sy * sx + x};
}

static void load(struct thread *t, bool takes, struct loader *l, unsigned in)
{
    l->last += l->stride;
    if (l->last == l->end) {
        l->last -= 2 * l->stride;
        l->stride = -l->stride;
    }
    reads(t, takes, in, l->last);
}

static int64_t up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static void start_writer(struct storer *w, int64_t sx, int64_t sy, int64_t x, int64_t y)
{
    int64_t offset = x / 2, vertical;
    w->none = x >= sx;
    if (x & 1) {
        vertical = sx / 2;
        offset += up(sx, 2) * up(sy, 2);
        w->low_to_high = sx * sy / 2;
    } else {
        vertical = sx / 2 + (sx & 1);
        w->low_to_high = up(sy, 2) * sx;
    }
    w->high_to_low = vertical - w->low_to_high;
    w->end = offset + sy / 2 * vertical + (sy & 1) * w->low_to_high;
    w->next = offset + y / 2 * vertical + (y & 1) * w->low_to_high;
}

static void save(struct thread *t, struct storer *w, unsigned out, int64_t stride)
{
    bool takes = !w->none && w->next != w->end;
    writes(t, takes, out, w->next);
    w->next += takes ? stride : 0;
}

static void start_column(struct thread *t, bool takes, struct loader *l, unsigned in, int64_t sx, int64_t sy, int64_t x,
                         int64_t fy, bool top)
{
    start_loader(l, sx, sy, x, top ? fy : fy - 2);
    for (int i = 0; i < 3; i++)
        load(t, takes, l, in);
    if (top)
        start_loader(l, sx, sy, x, fy + 1);
}

static void fdwt53(struct thread *t, unsigned in, unsigned out, int64_t sx, int64_t sy, int64_t window, int64_t steps)
{
    int64_t across = up(sx, window), bx = (int64_t)t->block % across, by = (int64_t)t->block / across;
    int64_t fy = by * 8 * steps, i = t->thread;
    struct loader column, beside;
    struct storer writer;
    start_column(t, true, &column, in, sx, sy, bx * window + i, fy, by == 0);
    start_column(t, i < 3, &beside, in, sx, sy, bx * window + i + (i == 0 ? window : -3), fy, by == 0);
    start_writer(&writer, sx, sy, bx * window + 2 * i - (window - 1) * (i / (window / 2)), fy);
    for (int64_t s = 0; s < steps; s++) {
        for (int k = 0; k < 8; k++)
            load(t, true, &column, in);
        for (int k = 0; k < 8; k++)
            load(t, i < 3, &beside, in);
        for (int k = 0; k < 8; k += 2) {
            save(t, &writer, out, writer.low_to_high);
            save(t, &writer, out, writer.high_to_low);
        }
    }
}

static void copy(struct thread *t, int64_t pixels)
{
    int64_t gx = 256 * (int64_t)t->block, x = t->thread;
    reads(t, x * 4 < 768, SRC, (gx * 3 >> 2) + x);
    for (unsigned k = 0; k < 3; k++)
        writes(t, gx + x < pixels, R + k, gx + x);
}

static void compare(int64_t width, int64_t height, int levels, const char *order)
{
    static const unsigned outs[] = {R_OUT, G_OUT, B_OUT};
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-dwt2d,width=%lld,height=%lld,levels=%d,order=%s", (long long)width,
                                    (long long)height, levels, order);
    struct program program = program_opened(&w, spec, 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = 256};
    for (; t.block < (uint64_t)up(width * height, 256); t.block++)
        for (t.thread = 0; t.thread < 256; t.thread++, t.when = 0)
            copy(&t, width * height);
    t.launch++;
    for (unsigned colour = 0; colour < 3; colour++) {
        int64_t sx = width, sy = height;
        for (int level = 0; level < levels; level++, t.launch++, sx = up(sx, 2), sy = up(sy, 2)) {
            int64_t steps = up(sy, 15 * 8);
            t.threads = sx >= 960 ? 192 : sx >= 480 ? 128 : 64;
            for (t.block = 0; t.block < (uint64_t)(up(sx, t.threads) * up(sy, 8 * steps)); t.block++)
                for (t.thread = 0; t.thread < t.threads; t.thread++, t.when = 0)
                    fdwt53(&t, R + colour, outs[colour], sx, sy, t.threads, steps);
        }
    }
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(windows_slide_as_the_kernels_pointers_do)
{
    compare(64, 48, 1, "ptx");
    compare(1000, 20, 2, "ptx");
    compare(487, 133, 2, "hoisted");
    compare(65, 9, 1, "ptx");
    compare(33, 250, 1, "ptx");
    compare(129, 77, 2, "hoisted");
    compare(200, 365, 3, "ptx");
}
END_TEST

/* One colour, IN before OUT. Source: emulations of Rodinia's kernel. */
START_TEST(a_small_image_makes_the_emulated_counts)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-dwt2d,width=64,height=48,levels=1", 0, 0);
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    allocs[R].addr = 0xC0000000u;
    allocs[R_OUT].addr = 0xC0000000u + 64 * 48 * 4;
    CHECK_OPEN(&program, {1, .reads = {198, 4422, 660, 264, 384, 96}, .writes = {96, 3072, 384, 96, 384, 96}});
    workload_close(&w);
}
END_TEST

START_TEST(rows_of_a_step_are_awaited_together_only_if_hoisted)
{
    uint32_t ptx, hoisted;
    const char *spec = "rodinia-dwt2d";
    ck_assert_uint_eq(stalls_of(spec, 1, 1, 0, &ptx), 0);
    ck_assert_uint_eq(stalls_of(spec, 1, 1, 1, &ptx), 0xfe);
    ck_assert_uint_eq(stalls_of("rodinia-dwt2d,order=hoisted", 1, 1, 1, &hoisted), 0); /* at its end */
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(levels_smaller_than_a_window_are_refused_and_huge_images_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-dwt2d,width=65,levels=3"), "at least 33 x 9"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-dwt2d,height=8"), "height"));
    ck_assert_uint_eq(program_launches("rodinia-dwt2d,width=32768,height=32768,levels=10"), 31);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-dwt2d,width=65,height=9,levels=1", 2340, 2340, 2340, 2340, 2340, 2340, 2340, 3 * 768);
}
END_TEST

TEST_MAIN("rodinia_dwt2d")
