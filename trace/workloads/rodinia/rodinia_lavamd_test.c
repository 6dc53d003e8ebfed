#include <stddef.h>

#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { BOX, RV, QV, FV, THREADS = 128, MOST = 64, PARTICLES = 100 };

/* The structs of main.h, and the boxes as main.c makes them. */
struct neighbour {
    int32_t x, y, z, number;
    int64_t offset;
};

struct box {
    int32_t x, y, z, number;
    int64_t offset;
    int32_t nn;
    struct neighbour nei[26];
};

static struct box boxes[MOST];

static void make_boxes(int n)
{
    int nh = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++, nh++) {
                struct box *b = &boxes[nh];
                *b = (struct box){k, j, i, nh, (int64_t)nh * PARTICLES, 0, {{0}}};
                for (int l = -1; l < 2; l++)
                    for (int m = -1; m < 2; m++)
                        for (int o = -1; o < 2; o++)
                            if (i + l >= 0 && j + m >= 0 && k + o >= 0 && i + l < n && j + m < n && k + o < n &&
                                (l || m || o))
                                b->nei[b->nn++].number = (i + l) * n * n + (j + m) * n + k + o;
            }
}

static void of_box(struct thread *t, int64_t box, size_t field, uint32_t bytes)
{
    thread_does(t, true, RECORD_READ, BOX, box * (int64_t)sizeof(struct box) + (int64_t)field, bytes);
}

static void doubles(struct thread *t, uint32_t kind, unsigned array, int64_t first, int n, int64_t apart)
{
    for (int i = 0; i < n; i++)
        thread_does(t, t->thread < PARTICLES, kind, array, (first + t->thread) * apart + 8 * i, 8);
}

static void kernel(struct thread *t)
{
    int64_t bx = (int64_t)t->block;
    const struct box *b = &boxes[bx];
    of_box(t, bx, offsetof(struct box, offset), 8);
    doubles(t, RECORD_READ, RV, b->offset, 4, 32);
    of_box(t, bx, offsetof(struct box, nn), 4);
    for (int k = 0; k < 1 + b->nn; k++) {
        int64_t pointer = bx;
        if (k) {
            of_box(t, bx, offsetof(struct box, nei) + (size_t)(k - 1) * sizeof(struct neighbour) + 12, 4);
            pointer = b->nei[k - 1].number;
        }
        of_box(t, pointer, offsetof(struct box, offset), 8);
        doubles(t, RECORD_READ, RV, boxes[pointer].offset, 4, 32);
        doubles(t, RECORD_READ, QV, boxes[pointer].offset, 1, 8);
        doubles(t, RECORD_READ, FV, b->offset, 4, 32);
        doubles(t, RECORD_WRITE, FV, b->offset, 4, 32);
        of_box(t, bx, offsetof(struct box, nn), 4);
    }
}

static void compare(int n, const char *order)
{
    struct workload w;
    struct program_notes notes = {0};
    struct program program = program_opened(&w, testing_text("rodinia-lavamd,boxes=%d,order=%s", n, order), 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = THREADS};
    make_boxes(n);
    for (t.block = 0; t.block < (uint64_t)(n * n * n); t.block++)
        for (t.thread = 0; t.thread < THREADS; t.thread++) {
            t.when = 0;
            kernel(&t);
        }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(boxes_look_at_themselves_and_their_neighbours)
{
    ck_assert_uint_eq(sizeof(struct box), 656);
    for (int n = 1; n <= 4; n++)
        compare(n, n % 2 ? "ptx" : "hoisted");
}
END_TEST

/* Source: emulations of Rodinia's kernel. */
START_TEST(eight_boxes_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-lavamd,boxes=2", {0, .reads = {3232, 86400, 56800, 14992, 1848, 468},
                                              .writes = {1024, 25600, 25600, 6400, 800, 200}});
}
END_TEST

START_TEST(fields_are_awaited_together)
{
    uint32_t ptx, hoisted;
    /* Offset; 4 of RV, QV; barrier; 4 of FV, each; 4 stores; barrier; nn. */
    ck_assert_uint_eq(stalls_of("rodinia-lavamd", 0, 0, 1, &ptx), 1 << 1 | 1 << 5 | 1 << 6 | 0xf << 8);
    ck_assert_uint_eq(stalls_of("rodinia-lavamd,order=hoisted", 0, 0, 1, &hoisted), 1 << 1 | 1 << 6 | 1 << 11);
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(no_boxes_are_refused_and_many_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-lavamd,boxes=0"), "boxes"));
    ck_assert_uint_eq(program_blocks("rodinia-lavamd,boxes=512", 0), 1 << 27);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-lavamd,boxes=3", 27 * 656, 2700 * 32, 2700 * 8, 2700 * 32);
}
END_TEST

TEST_MAIN("rodinia_lavamd")
