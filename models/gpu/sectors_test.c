#include "models/gpu/sectors.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"
#include "trace/program/walk.h"

static int of(const struct program_access *a, uint64_t turn, struct sectors_line *out)
{
    struct sectors_of s = {.first = a->lane ? turn * (uint64_t)a->turn_stride : program_addr(a, 0, turn),
                           .stride = a->lane_stride,
                           .lane = a->lane,
                           .active = a->active,
                           .bytes = a->bytes,
                           .covers = a->kind == RECORD_WRITE};
    return sectors_of(&s, out);
}

/* How many of the sector's bytes the lanes access. */
static int covered(const struct program_access *a, uint64_t turn, uint64_t sector)
{
    uint32_t bytes = 0;
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        for (unsigned i = 0; a->active >> l & 1 && i < a->bytes; i++) {
            uint64_t at = program_addr(a, l, turn) + i;
            bytes |= at / 32 == sector ? 1u << at % 32 : 0;
        }
    return __builtin_popcount(bytes);
}

/* The same lines as a walk's, descending, and whole where every byte is written. */
static void compare(const struct program_access *a, uint64_t turn)
{
    struct sectors_line out[SECTORS_LINES];
    struct access_line line[2 * ACCESS_LANES];
    int n = of(a, turn, out);
    ck_assert_int_eq(n, program_lines(a, turn, line));
    for (int i = 0; i < n; i++) {
        ck_assert(i == 0 || out[i].line < out[i - 1].line);
        int j = 0;
        while (j < n && line[j].addr / 128 != out[i].line)
            j++;
        ck_assert(j < n && line[j].sectors == out[i].sectors);
        for (uint64_t s = 0; s < 4 && a->kind == RECORD_WRITE; s++)
            ck_assert_int_eq(out[i].whole >> s & 1, covered(a, turn, out[i].line * 4 + s) == 32);
    }
}

START_TEST(the_worked_example)
{
    struct program_access a = {
        .addr = 0x1010, .lane_stride = 4, .bytes = 4, .active = 0xffffffff, .kind = RECORD_WRITE};
    struct sectors_line out[SECTORS_LINES];
    ck_assert_int_eq(of(&a, 0, out), 2);
    ck_assert(out[0].line == 0x21 && out[0].sectors == 1 && out[0].whole == 0);
    ck_assert(out[1].line == 0x20 && out[1].sectors == 15 && out[1].whole == 14);
}
END_TEST

START_TEST(the_same_sectors_as_lane_by_lane_of_any_access)
{
    static struct program_body body;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program_random p;
        struct program program;
        program_random_init(&p, seed, &program);
        for (uint32_t i = 0; i < 20; i++)
            if (program_body(&program, &p, i % 3, i, 0, &body, NULL) == 1)
                for (uint32_t k = 0; k < body.count; k++)
                    for (uint64_t turn = 0; turn < body.turns && turn < 5; turn++)
                        if (body.access[k].kind != PROGRAM_BARRIER)
                            compare(&body.access[k], turn);
    }
}
END_TEST

START_TEST(any_stride_and_any_mask)
{
    uint64_t s = 7;
    for (int i = 0; i < 20000; i++) {
        struct program_access a = {.bytes = (uint16_t)(1u << program_draw(&s) % 5), .kind = RECORD_WRITE};
        a.addr = 0x10000 + program_draw(&s) % 4096;
        a.lane_stride = (int64_t)(program_draw(&s) % 140) - 70;
        a.active = program_draw(&s) % 2 ? program_random_mask(&s) : (uint32_t)program_draw(&s);
        compare(&a, 0);
    }
}
END_TEST

START_TEST(at_the_ends_of_the_address_space)
{
    struct program_access low = {.addr = 8, .lane_stride = -4, .bytes = 4, .active = 0xffffffff, .kind = RECORD_READ};
    compare(&low, 0);
    struct program_access high = {
        .addr = UINT64_MAX - 100, .lane_stride = 33, .bytes = 16, .active = 0xff, .kind = RECORD_READ};
    compare(&high, 0);
    struct program_access none = {.addr = 8, .bytes = 4, .kind = RECORD_READ};
    compare(&none, 0);
}
END_TEST

TEST_MAIN("sectors")
