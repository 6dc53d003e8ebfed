#include "trace/event/tlp.h"

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

static struct tlp decoded(const struct build_tlp *b, enum tlp_verdict want)
{
    uint8_t bytes[BUILD_MOST];
    struct tlp t;
    size_t n = build_tlp(bytes, b);
    const char *why = "";
    ck_assert_msg(tlp_decode(bytes, n, &t, &why) == want, "byte 0 %02x: %s", b->byte0, why);
    return t;
}

static struct tlp bytes_of(const char *text)
{
    uint8_t bytes[64];
    size_t n = 0;
    struct tlp t;
    for (const char *p = text; *p; p += 2 + (p[2] == ' '))
        bytes[n++] = (uint8_t)strtoul((char[]){p[0], p[1], 0}, NULL, 16);
    ck_assert_int_eq(tlp_decode(bytes, n, &t, NULL), TLP_OK);
    return t;
}

START_TEST(headers_of_real_devices_have_their_sizes)
{
    struct tlp t = bytes_of("00 00 20 80 19 00 00 ff a0 00 00 00");
    ck_assert_int_eq(t.type, TLP_MRD);
    ck_assert_uint_eq(t.bytes, 512);
    ck_assert_uint_eq(t.requester, 0x1900);
    ck_assert_uint_eq(t.attributes, 2);
    ck_assert_uint_eq(t.addr, 0xa0000000u);
    t = bytes_of("00 00 20 77 19 00 04 ff 90 00 04 00");
    ck_assert_uint_eq(t.bytes, 476);
    ck_assert_uint_eq(t.tag, 4);
    t = bytes_of("40 00 00 19 1b 00 02 3f 2f 00 30 00");
    ck_assert_int_eq(t.type, TLP_MWR);
    ck_assert_uint_eq(t.bytes, 98);
    ck_assert_uint_eq(t.payload_bytes, 100);
    t = bytes_of("4a 00 20 40 1b 00 01 dc 19 00 04 00");
    ck_assert_int_eq(t.type, TLP_CPLD);
    ck_assert_uint_eq(t.bytes, 256);
    ck_assert_uint_eq(t.byte_count, 476);
    ck_assert_uint_eq(t.requester, 0x1900);
    ck_assert_uint_eq(t.completer, 0x1b00);
    ck_assert_uint_eq(bytes_of("4a 00 20 37 1b 00 00 dc 19 00 04 00").bytes, 220);
    ck_assert_uint_eq(bytes_of("4a 00 00 19 00 00 00 62 1b 00 03 00").bytes, 98);
    ck_assert_uint_eq(bytes_of("4a 00 00 01 00 00 00 02 1b 00 03 42").bytes, 2);
}
END_TEST

START_TEST(byte_enables_trim_the_length)
{
    static const struct {
        unsigned length;
        uint8_t enables;
        unsigned bytes, start;
    } rows[] = {{0, 0xff, 4096, 0}, {128, 0xff, 512, 0}, {119, 0xff, 476, 0}, {25, 0x3f, 98, 0}, {1, 0x0f, 4, 0},
                {1, 0x0c, 2, 2},    {1, 0x09, 4, 0},     {1, 0x00, 0, 0},     {2, 0x3e, 5, 1},   {2, 0x18, 2, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tlp t = decoded(
            &(struct build_tlp){
                .byte0 = 0x20, .length = rows[i].length, .enables = rows[i].enables, .addr = 0x123456000},
            TLP_OK);
        ck_assert_uint_eq(t.bytes, rows[i].bytes);
        ck_assert_uint_eq(t.addr, 0x123456000 + rows[i].start);
        ck_assert_uint_eq(t.header_bytes, 16);
    }
}
END_TEST

START_TEST(every_packet_type_is_named)
{
    static const struct {
        uint8_t byte0;
        const char *name;
        bool data;
    } rows[] = {{0x00, "MRd", 0},      {0x20, "MRd", 0},      {0x01, "MRdLk", 0},  {0x21, "MRdLk", 0},
                {0x40, "MWr", 1},      {0x60, "MWr", 1},      {0x02, "IORd", 0},   {0x42, "IOWr", 1},
                {0x04, "CfgRd0", 0},   {0x44, "CfgWr0", 1},   {0x05, "CfgRd1", 0}, {0x45, "CfgWr1", 1},
                {0x0a, "Cpl", 0},      {0x4a, "CplD", 1},     {0x0b, "CplLk", 0},  {0x4b, "CplDLk", 1},
                {0x30, "Msg", 0},      {0x37, "Msg", 0},      {0x70, "MsgD", 1},   {0x77, "MsgD", 1},
                {0x4c, "FetchAdd", 1}, {0x6c, "FetchAdd", 1}, {0x4d, "Swap", 1},   {0x6d, "Swap", 1}};
    int known = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tlp t = decoded(
            &(struct build_tlp){
                .byte0 = rows[i].byte0, .length = 1, .enables = 0x0f, .byte_count = 4, .payload = rows[i].data ? 4 : 0},
            TLP_OK);
        ck_assert_str_eq(tlp_name(t.type), rows[i].name);
        ck_assert_uint_eq(t.payload_bytes, rows[i].data ? 4 : 0);
        ck_assert_int_eq(tlp_check(&t, t.header_bytes + t.payload_bytes, false, NULL), TLP_OK);
    }
    ck_assert_str_eq(tlp_name(decoded(&(struct build_tlp){.byte0 = 0x4e, .length = 2, .payload = 8}, TLP_OK).type),
                     "CAS");
    for (int b = 0; b < 256; b++)
        known += tlp_type_of((uint8_t)b) != TLP_NONE;
    ck_assert_int_eq(known, 24 + 2 + 6 * 2); /* the rows, CAS twice, six more routings of each message */
}
END_TEST

START_TEST(impossible_packets_are_malformed)
{
    static const struct build_tlp bad[] = {
        {.byte0 = 0x00},                                               /* zero-filled: 1,024 DW without enables */
        {.byte0 = 0xa0, .length = 1, .enables = 15},                   /* format 5 */
        {.byte0 = 0x1f, .length = 1, .enables = 15},                   /* unknown type */
        {.byte0 = 0x00, .length = 2, .enables = 0xf0},                 /* first enables 0 */
        {.byte0 = 0x00, .length = 2, .enables = 0x0f},                 /* last enables 0 */
        {.byte0 = 0x00, .length = 1, .enables = 0xff},                 /* last enables set */
        {.byte0 = 0x00, .length = 2, .enables = 0xff, .addr = 0xffc},  /* across 4 KiB */
        {.byte0 = 0x20, .length = 0, .enables = 0xff, .addr = 0x1004}, /* 4,096 bytes from 4 on */
        {.byte0 = 0x04, .length = 2, .enables = 0xff},                 /* configuration of 2 DW */
        {.byte0 = 0x4c, .length = 3, .payload = 12},                   /* FetchAdd of 12 bytes */
        {.byte0 = 0x00, .prefixes = 5, .length = 1, .enables = 15},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        (void)decoded(&bad[i], TLP_MALFORMED);
    (void)decoded(&(struct build_tlp){.byte0 = 0x00, .length = 0, .enables = 0xff, .addr = 0x1000}, TLP_OK);
}
END_TEST

START_TEST(prefixes_are_passed_over_and_a_cut_header_is_no_decoding)
{
    uint8_t bytes[BUILD_MOST];
    struct build_tlp b = {.byte0 = 0x60,
                          .prefixes = 4,
                          .length = 2,
                          .enables = 0xff,
                          .addr = 0xfedcba9876543210,
                          .tag = 0x2a5,
                          .digest = true,
                          .poisoned = true,
                          .traffic_class = 5,
                          .attributes = 7,
                          .payload = 8};
    size_t n = build_tlp(bytes, &b);
    struct tlp t;
    ck_assert_int_eq(tlp_decode(bytes, n, &t, NULL), TLP_OK);
    ck_assert_uint_eq(t.prefixes, 4);
    ck_assert_uint_eq(t.tag, 0x2a5);
    ck_assert_uint_eq(t.addr, 0xfedcba9876543210);
    ck_assert(t.digest && t.poisoned && t.traffic_class == 5 && t.attributes == 7);
    ck_assert_uint_eq(tlp_wire_bytes(&t), n);
    ck_assert_int_eq(tlp_check(&t, n, false, NULL), TLP_OK);
    for (size_t cut = 0; cut < 32; cut++)
        ck_assert_int_eq(tlp_decode(bytes, cut, &t, NULL), TLP_CUT);
    ck_assert_int_eq(tlp_decode(bytes, 32, &t, NULL), TLP_OK);
}
END_TEST

START_TEST(hints_take_the_place_of_a_reads_byte_enables)
{
    struct tlp t = decoded(&(struct build_tlp){.byte0 = 0x00, .length = 4, .enables = 0x20, .hints = true}, TLP_OK);
    ck_assert_uint_eq(t.bytes, 16);
    t = decoded(
        &(struct build_tlp){
            .byte0 = 0x40, .length = 1, .enables = 0x03, .tag = 0x77, .hints = true, .addr = 0x1003, .payload = 4},
        TLP_OK);
    ck_assert_uint_eq(t.bytes, 2);
    ck_assert_uint_eq(t.tag, 0x77);
    ck_assert_uint_eq(t.addr, 0x1000);
}
END_TEST

START_TEST(payload_must_be_what_the_length_says)
{
    struct tlp t = decoded(&(struct build_tlp){.byte0 = 0x40, .length = 2, .enables = 0xff, .payload = 8}, TLP_OK);
    ck_assert_int_eq(tlp_check(&t, 20, false, NULL), TLP_OK);
    ck_assert_int_eq(tlp_check(&t, 19, false, NULL), TLP_MALFORMED);
    ck_assert_int_eq(tlp_check(&t, 24, false, NULL), TLP_MALFORMED);
    ck_assert_int_eq(tlp_check(&t, 24, true, NULL), TLP_OK);
    t = decoded(&(struct build_tlp){.byte0 = 0x00, .length = 2, .enables = 0xff}, TLP_OK);
    ck_assert_int_eq(tlp_check(&t, 20, false, NULL), TLP_MALFORMED);
}
END_TEST

START_TEST(completions_carry_at_most_their_byte_count_and_zero_is_4096)
{
    struct tlp t = decoded(&(struct build_tlp){.byte0 = 0x4a, .length = 32, .byte_count = 0, .payload = 128}, TLP_OK);
    ck_assert_uint_eq(t.byte_count, 4096);
    ck_assert_uint_eq(t.bytes, 128);
    t = decoded(&(struct build_tlp){.byte0 = 0x4a, .length = 16, .byte_count = 61, .lower = 3, .payload = 64}, TLP_OK);
    ck_assert_uint_eq(t.bytes, 61);
    t = decoded(&(struct build_tlp){.byte0 = 0x4a, .length = 16, .byte_count = 200, .lower = 0x43, .payload = 64},
                TLP_OK);
    ck_assert_uint_eq(t.bytes, 61);
    t = decoded(&(struct build_tlp){.byte0 = 0x0a, .status = TLP_UR, .byte_count = 4, .length = 0}, TLP_OK);
    ck_assert_uint_eq(t.bytes, 0);
    ck_assert_uint_eq(t.status, TLP_UR);
}
END_TEST

START_TEST(a_record_gives_back_what_was_put_in)
{
    struct tlp t = decoded(&(struct build_tlp){.byte0 = 0x4a,
                                               .length = 0,
                                               .byte_count = 0,
                                               .tag = 0x3ff,
                                               .requester = 0xffff,
                                               .completer = 0xfffe,
                                               .status = TLP_CA,
                                               .poisoned = true,
                                               .payload = 4096},
                           TLP_OK);
    struct record r = {0};
    tlp_to_record(&t, &r);
    ck_assert_uint_eq(r.kind, RECORD_TLP);
    ck_assert_uint_eq(r.bytes, 4096);
    ck_assert_int_eq(tlp_record_type(&r), TLP_CPLD);
    ck_assert_uint_eq(tlp_record_status(&r), TLP_CA);
    ck_assert_uint_eq(r.id & 0x3ff, 0x3ff);
    ck_assert_uint_eq(r.id >> 10 & 0xffff, 0xffff);
    ck_assert_uint_eq(r.id >> 26 & 0xffff, 0xfffe);
    ck_assert_uint_eq(tlp_record_byte_count(&r), 4096);
    ck_assert_uint_eq(r.id >> 54, 0); /* modulo 1024 */
    ck_assert_uint_eq(t.length_dw, 1024);
    ck_assert(tlp_record_poisoned(&r));
}
END_TEST

TEST_MAIN("tlp")
