#include "trace/import/uvmeval.c"

#include "trace/base/testing.h"

#define FAULT "f,7fb144000000,1606348764141810176,0,1,2,1,0,0,0,127,1,0,1,63"

static struct line parse(const char *text)
{
    struct line line;
    parse_line(text, &line);
    return line;
}

START_TEST(a_fault_is_the_same_in_kmsg_dmesg_and_cleaned_form)
{
    static const char *const forms[] = {FAULT,
                                        "4,34763351537,2567418458447,-;" FAULT,
                                        "[ 2567.418458] " FAULT,
                                        "[    5.000000][ T1234] " FAULT,
                                        "<4>[    5.000000] " FAULT,
                                        "Nov 26 11:00:00 node kernel: " FAULT,
                                        "<4>" FAULT,
                                        "kern  :warn  : [    5.000000] " FAULT,
                                        "2026-11-26T11:00:00,123456+01:00 " FAULT,
                                        "2026-11-26T11:00:00+0100 node kernel: [    5.000000] " FAULT};
    for (int i = 0; i < 8; i++) {
        struct line line = parse(forms[i]);
        ck_assert_int_eq(line.kind, LINE_FAULT);
        ck_assert_int_eq(line.count, 14);
        ck_assert_uint_eq(line.values[0], 0x7fb144000000);
        ck_assert_uint_eq(line.values[1], 1606348764141810176u);
        ck_assert_uint_eq(line.values[13], 63);
        ck_assert_int_eq(line.numbered, i == 1);
    }
    ck_assert_uint_eq(parse(forms[1]).sequence, 34763351537u);
}
END_TEST

START_TEST(the_number_of_fields_tells_the_drivers_apart)
{
    ck_assert_int_eq(parse("s,").kind, LINE_START);
    ck_assert_int_eq(parse("s,17").kind, LINE_START);
    ck_assert_int_eq(parse("b,").kind, LINE_END);
    ck_assert_int_eq(parse("b,736221,0").kind, LINE_END);
    ck_assert_int_eq(
        parse("b,363795213599097,736221,32,9,29,3,3,1,0,0,0,3,12288,3,1,1,15790,35196,0,534863,493736,18104,"
              "315251,34254,290,124063,112010,1,1,1")
            .kind,
        LINE_WHOLE);
    struct line failed = parse("e,363795213599097,736221,32,9,29,3,3,1,0,0,0,3,12288,3,1,1,15790,35196,0,534863,"
                               "493736,18104,315251,34254,290,124063,112010,1,1,1,31");
    ck_assert_int_eq(failed.kind, LINE_WHOLE);
    struct line evicted = parse("e,7fb144200000");
    ck_assert_int_eq(evicted.kind, LINE_EVICT);
    ck_assert_uint_eq(evicted.values[0], 0x7fb144200000);
    ck_assert_int_eq(parse("p,7fb144200000").kind, LINE_PREFETCH);
    ck_assert_int_eq(parse("d,1,2").kind, LINE_DISCARD);
    ck_assert_int_eq(parse("a,7fb144000000,1,1,256,4,0,1,2,3,4,5,6").kind, LINE_NOTICE);
}
END_TEST

START_TEST(ranges_come_in_three_forms)
{
    static const char *const forms[] = {
        "vrange,0x7fb144000000,2097152", "0x7fb144000000, 2097152",
        "4,1,2,-;uvm range destroy va_range->node.start, va_range->size: 0x7fb144000000, "
        "2097152"};
    for (int i = 0; i < 3; i++) {
        struct line line = parse(forms[i]);
        ck_assert_int_eq(line.kind, LINE_RANGE);
        ck_assert_uint_eq(line.values[0], 0x7fb144000000);
        ck_assert_uint_eq(line.values[1], 2097152);
    }
}
END_TEST

START_TEST(what_is_not_ours_or_has_other_fields_is_told)
{
    ck_assert_int_eq(parse("").kind, LINE_BLANK);
    ck_assert_int_eq(parse(" SUBSYSTEM=pci").kind, LINE_BLANK);
    ck_assert_int_eq(parse("usb 1-1: new device").kind, LINE_OTHER);
    ck_assert_int_eq(parse("6,1,2,-;usb 1-1: new device").kind, LINE_OTHER);
    ck_assert_int_eq(parse("f,7fb144000000,1,2").kind, LINE_BAD);
    ck_assert_int_eq(parse("b,1,2,3").kind, LINE_BAD);
    ck_assert_int_eq(parse("f,xyz,1,0,1,2,1,0,0,0,127,1,0,1,63").kind, LINE_BAD);
    ck_assert_int_eq(parse("e,99999999999999999999").kind, LINE_BAD);
    ck_assert_int_eq(parse("vrange,0x,1").kind, LINE_BAD);
    char longest[4096] = "b";
    for (int i = 1; i < 4000; i += 2)
        longest[i] = ',', longest[i + 1] = '1';
    ck_assert_int_eq(parse(longest).kind, LINE_BAD);
}
END_TEST

TEST_MAIN("uvmeval_line")
