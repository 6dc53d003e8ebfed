#include "trace/program/walk.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

static struct access_line found[2 * ACCESS_LANES];

/* Byte by byte, in the order of the lanes; a lane is cut at the end of the address space. */
static int plain(const struct program_access *a, uint64_t turn, struct access_line *line)
{
    int n = 0;
    for (unsigned lane = 0; lane < PROGRAM_LANES; lane++)
        for (uint64_t byte = 0; a->active >> lane & 1 && byte < a->bytes; byte++) {
            uint64_t addr = program_addr(a, lane, turn) + byte;
            if (addr < byte)
                break;
            int i = 0;
            while (i < n && line[i].addr != addr / 128 * 128)
                i++;
            if (i == n)
                line[n++] = (struct access_line){addr / 128 * 128, 0};
            line[i].sectors |= 1u << addr % 128 / 32;
        }
    return n;
}

/* Checks are for what is wrong only: each takes a while. */
static void compare(const struct program_access *a, uint64_t turn)
{
    struct access_line expected[2 * ACCESS_LANES];
    uint32_t sectors = 0, sum;
    int n = plain(a, turn, expected), right = 0;
    bool same = program_lines_counted(a, turn, found, &sum) == n;
    for (int i = 0; i < n && same; i++) {
        right += found[i].addr == expected[i].addr && found[i].sectors == expected[i].sectors;
        sectors += (uint32_t)__builtin_popcount(expected[i].sectors);
    }
    if (!same || right < n || sum != sectors || program_lines(a, turn, found) != n)
        ck_abort_msg("stride %lld, mask %x, byte %llx, %u bytes, turn %llu: %d of %d lines, %u of %u sectors",
                     (long long)a->lane_stride, a->active, (unsigned long long)a->addr, a->bytes,
                     (unsigned long long)turn, right, n, sum, sectors);
}

static const uint32_t masks[] = {0xffffffff, 0xfffffffe, 0x0000ffff, 0x00fff000, 0x55555555, 0x80000001, 1, 0x10000, 0};

START_TEST(every_stride_alignment_size_and_mask_has_the_lines_of_its_bytes)
{
    for (int64_t stride = -300; stride <= 300; stride++)
        for (uint64_t at = 0; at < 128; at += stride % 4 ? 29 : 4)
            for (uint16_t bytes = 1; bytes <= 16; bytes *= 2)
                for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
                    const struct program_access a = {.addr = 0x7f0000100000 + at,
                                                     .lane_stride = stride,
                                                     .turn_stride = 52,
                                                     .active = masks[m],
                                                     .bytes = bytes};
                    compare(&a, at % 3);
                }
}
END_TEST

START_TEST(lanes_with_an_address_each_have_theirs)
{
    static struct program_body body;
    static const struct program_alloc alloc = {.addr = 0x10000};
    uint64_t s = 7;
    for (int i = 0; i < 20000; i++) {
        body.count = body.lane_sets = 0;
        struct program_access *a = program_load(&body, &alloc, 0, 0, 1u << program_draw(&s) % 5);
        uint64_t *lane = program_scatter(&body, a), spread = 1ull << program_draw(&s) % 24;
        for (int k = 0; k < PROGRAM_LANES; k++)
            lane[k] = alloc.addr + program_draw(&s) % spread * (i % 2 ? 1 : 4096);
        a->active = program_random_mask(&s);
        a->turn_stride = (int64_t)(program_draw(&s) % 512) - 256;
        compare(a, program_draw(&s) % 5);
    }
}
END_TEST

START_TEST(lanes_in_runs_have_the_lines_of_their_bytes)
{
    static struct program_body body;
    static const int64_t steps[] = {0, 1, 4, 16, 31, 32, 33, 128, -4, 4096};
    const struct program_alloc alloc = {.addr = 0};
    uint64_t s = 11;
    for (int i = 0; i < 20000; i++) {
        body.count = body.lane_sets = 0;
        struct program_access *a = program_load(&body, &alloc, 0, 0, 1u << program_draw(&s) % 5);
        uint64_t *lane = program_scatter(&body, a), at = program_draw(&s) % 2000 - (i % 2 ? 1000u : 0u);
        int64_t step = a->bytes;
        for (int k = 0; k < PROGRAM_LANES; k++, at += (uint64_t)step) {
            lane[k] = at;
            if (program_draw(&s) % 8 == 0)
                step = steps[program_draw(&s) % (sizeof steps / sizeof *steps)];
        }
        a->active = i % 3 ? UINT32_MAX : program_random_mask(&s);
        a->turn_stride = (int64_t)(program_draw(&s) % 512) - 256;
        compare(a, program_draw(&s) % 5);
    }
}
END_TEST

START_TEST(lanes_in_rows_have_the_lines_of_their_bytes)
{
    static const int64_t strides[] = {0, 1, 4, 16, 32, 33, 128, -4, 8192};
    uint64_t s = 13;
    for (int i = 0; i < 40000; i++) {
        int32_t apart = (int32_t)(program_draw(&s) % 2000) - (i % 3 ? 0 : 1000);
        uint32_t some = (uint32_t)program_draw(&s) % 15 + 1, block = some * 0x11111111u & program_random_mask(&s);
        const struct program_access a = {.addr = program_draw(&s) % 5000 -
                                                 (i % 4 ? 0u : 2500u), /* some across the end of the address space */
                                         .lane_stride = strides[program_draw(&s) % (sizeof strides / sizeof *strides)],
                                         .turn_stride = 52,
                                         .row_stride = i % 2 ? (int32_t)strides[program_draw(&s) % 5] : apart,
                                         .row = (uint8_t)(1u << program_draw(&s) % 5),
                                         .active = i % 5 > 1 ? UINT32_MAX
                                                   : i % 5   ? block
                                                             : program_random_mask(&s),
                                         .bytes = (uint8_t)(1u << program_draw(&s) % 5)};
        compare(&a, program_draw(&s) % 3);
    }
}
END_TEST

START_TEST(a_line_met_again_after_any_number_of_calls_is_the_same_line)
{
    static struct program_body body;
    static const struct program_alloc alloc = {.addr = 1 << 20};
    uint64_t s = 17;
    for (int i = 0; i < 3000; i++) { /* what is kept from call to call comes round every 255 */
        body.count = body.lane_sets = 0;
        struct program_access *a = program_load(&body, &alloc, 0, 0, 4);
        uint64_t *lane = program_scatter(&body, a);
        for (int k = 0; k < PROGRAM_LANES; k++)
            lane[k] = alloc.addr + program_draw(&s) % 512 * 4096;
        compare(a, 0);
    }
}
END_TEST

START_TEST(what_lies_beyond_the_end_of_the_address_space_is_cut)
{
    for (uint64_t back = 1; back < 400; back++)
        for (int64_t stride = -64; stride <= 256; stride += 4) {
            const struct program_access a = {
                .addr = 0 - back, .lane_stride = stride, .active = UINT32_MAX, .bytes = back % 2 ? 4 : 16};
            compare(&a, 0);
        }
}
END_TEST

TEST_MAIN("lines")
