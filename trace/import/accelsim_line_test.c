#include "trace/import/accelsim.c"

#include "trace/base/testing.h"
#include "trace/event/record.h"

static struct header v3 = {.version = 3}, v5 = {.version = 5};
static struct op op;

static const char *parse(const struct header *h, const char *line)
{
    memset(&op, 0x55, sizeof op);
    return parse_line(line, h, &op);
}

START_TEST(the_three_address_modes_give_the_same_addresses)
{
    ck_assert_ptr_null(parse(&v3, "0090 0000000f 1 R4 LDG.E.SYS 1 R2 4 0 0x7f00 0x7f04 0x7f08 0x7f0c"));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(op.addrs[i], 0x7f00 + 4 * (unsigned)i);
    ck_assert_int_eq(op.lanes, 4);
    ck_assert_uint_eq(op.pc, 0x90);
    ck_assert_int_eq(op.space, SPACE_GLOBAL);
    ck_assert_uint_eq(op.access, RECORD_READ);
    ck_assert_ptr_null(parse(&v3, "0090 000000f0 1 R4 LDG.E.SYS 1 R2 4 1 0x7f00 4"));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(op.addrs[i], 0x7f00 + 4 * (unsigned)i);
    ck_assert_ptr_null(parse(&v3, "0090 00000035 0 STG.E.SYS 2 R2 R4 4 2 0x7f00 4 4 -8"));
    ck_assert_int_eq(op.lanes, 4);
    ck_assert_uint_eq(op.addrs[2], 0x7f08);
    ck_assert_uint_eq(op.addrs[3], 0x7f00);
    ck_assert_uint_eq(op.access, RECORD_WRITE);
}
END_TEST

START_TEST(one_lane_is_a_base_without_deltas_and_no_lane_no_access)
{
    ck_assert_ptr_null(parse(&v5, "0090 00000100 1 R4 LDG.E.64.SYS 1 R2 8 2 0x7f00 16"));
    ck_assert_int_eq(op.lanes, 1);
    ck_assert_uint_eq(op.bytes, 8);
    ck_assert_ptr_null(parse(&v5, "0090 00000000 1 R4 LDG.E.SYS 1 R2 4 1 0x0 0"));
    ck_assert_int_eq(op.lanes, 0);
    ck_assert_ptr_null(parse(&v5, "00a0 ffffffff 1 R4 IADD3 3 R4 R5 R6 0 7"));
    ck_assert_int_eq(op.space, SPACE_NONE);
}
END_TEST

START_TEST(widths_come_from_the_opcode)
{
    static const struct {
        const char *opcode;
        unsigned bytes;
    } rows[] = {{"LDG.E", 4},          {"LDG.E.64.SYS", 8},        {"LDG.E.128", 16}, {"LDG.E.U8.SYS", 1},
                {"LDG.E.S16", 2},      {"LDG.E.LTC128B.64", 8},    {"STG.E.128", 16}, {"LDG.E.CONSTANT.SYS", 4},
                {"ATOMG.E.ADD.64", 8}, {"LDGSTS.E.BYPASS.128", 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_ptr_null(parse(&v3, testing_text("0 1 0 %s 1 R2 1 2 0x1000", rows[i].opcode)));
        ck_assert_msg(op.bytes == rows[i].bytes, "%s: %u", rows[i].opcode, op.bytes);
    }
    ck_assert(op.async);
}
END_TEST

START_TEST(owners_and_source_lines_come_first_where_the_version_says)
{
    struct header h = {.version = 2, .owner = true};
    ck_assert_ptr_null(parse(&h, "3 1 0 7 0090 00000001 1 R4 LDG.E 1 R2 4 2 0xff00"));
    ck_assert_uint_eq(op.block[0], 3);
    ck_assert_uint_eq(op.block[1], 1);
    ck_assert_uint_eq(op.warp, 7);
    ck_assert_uint_eq(op.addrs[0], 0xff00);
    h.core = h.lineinfo = true;
    ck_assert_ptr_null(parse(&h, "3 1 0 7 12 5 321 0090 00000001 1 R4 LDG.E 1 R2 4 2 0xff00"));
    ck_assert_uint_eq(op.pc, 0x90);
}
END_TEST

START_TEST(generic_accesses_go_where_their_window_is)
{
    struct header h = {.version = 4, .shared_base = 0x7f0000000000, .local_base = 0x7f0001000000};
    ck_assert_ptr_null(parse(&h, "0 1 1 R0 LD.E 1 R2 4 2 0x7f0000000010"));
    ck_assert_int_eq(op.space, SPACE_SHARED);
    ck_assert_ptr_null(parse(&h, "0 1 0 ST.E 2 R2 R3 4 2 0x7f0001000010"));
    ck_assert_int_eq(op.space, SPACE_LOCAL);
    ck_assert_ptr_null(parse(&h, "0 1 0 ST.E 2 R2 R3 4 2 0x7e0001000010"));
    ck_assert_int_eq(op.space, SPACE_GLOBAL);
    ck_assert_ptr_null(parse(&h, "0 1 1 R0 LDS 1 R2 4 2 0x10"));
    ck_assert_int_eq(op.space, SPACE_SHARED);
    ck_assert_ptr_null(parse(&h, "0 1 1 R0 LDC 1 R2 4 2 0x10"));
    ck_assert_int_eq(op.space, SPACE_CONSTANT);
}
END_TEST

START_TEST(bulk_copies_use_their_byte_count)
{
    struct header h = {.version = 6};
    ck_assert_ptr_null(parse(&h, "0 1 0 UBLKCP 3 UR4 UR5 UR6 4 3 0x100 0 1024 0 2 0x10000 0x20000"));
    ck_assert_int_eq(op.lanes, 2);
    ck_assert_uint_eq(op.bytes, 512);
    ck_assert_ptr_null(parse(&h, "0 1 0 UTMALDG 3 UR4 UR5 UR6 4 4 0x100 1 0xff 1024 0 0x10000 2 4096"));
    ck_assert_uint_eq(op.addrs[1], 0x11000);
    ck_assert_ptr_null(parse(&h, "0 1 1 R4 LDG.E 1 R2 4 2 0xff00 0 0 Val 1 32 1 2 3"));
    ck_assert_ptr_null(parse(&h, "0 1 0 HGMMA.64x64 2 R2 UR4 1 0 0"));
}
END_TEST

START_TEST(lines_that_do_not_fit_say_why)
{
    static const char *const bad[] = {
        "",
        "zz 1 0 LDG 0 4 2 0x0",
        "0 123456789 0 LDG 0 4 2 0x0",
        "0 1 x LDG 0 4 2 0x0",
        "0 1 3 R1 LDG 0 4 2 0x0",
        "0 1 0 7 0 4 2 0x0",
        "0 1 0 LDG 0",
        "0 1 0 LDG 0 -4 2 0x0",
        "0 1 0 LDG 0 4 9 0x0",
        "0 3 0 LDG 0 4 0 0x0",
        "0 3 0 LDG 0 4 2 0x0",
        "0 5 0 LDG 0 4 1 0x0 4",
        "0 1 0 LDG 0 4 2 0x11112222333344445",
        "0 3 0 LDG 0 4 2 0x0 99999999999999999999",
        "0 1 99999 LDG",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(parse(&v3, bad[i]) != NULL, "%s", bad[i]);
    struct header h = {.version = 6};
    ck_assert_ptr_nonnull(parse(&h, "0 1 0 UBLKCP 0 4 3 0x100 0 1024 0 33 0x10000"));
    ck_assert_ptr_nonnull(parse(&h, "0 1 0 UBLKCP 0 4 3 0x100 0 99999999999 0 1 0x10000"));
}
END_TEST

TEST_MAIN("accelsim_line")
