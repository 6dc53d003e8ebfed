#include "trace/import/capture.c"

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

static const uint8_t read_64[] = {0, 0, 0, 16, 0x1b, 0, 1, 0xff, 0xa0, 0, 0, 0};

static struct frame frame;
static uint8_t bytes[BUILD_MOST];

static enum nettlp_verdict parse(const struct build_frame *b, const struct nettlp_filter *filter)
{
    size_t n = build_frame(bytes, b, read_64, sizeof read_64);
    return parse_frame(NETTLP_LINK_ETHERNET, filter, bytes, n, n, &frame);
}

START_TEST(the_packet_is_found_behind_tags_and_options)
{
    static const struct nettlp_filter any;
    for (unsigned tags = 0; tags <= 8; tags++)
        for (unsigned options = 0; options <= 10; options += 5) {
            struct build_frame b = {.tags = tags, .vlan = 101, .options = options, .sequence = 17, .stamp = 0x8fae7173};
            ck_assert_int_eq(parse(&b, &any), NETTLP_TLP);
            ck_assert_uint_eq(frame.tlp_offset, 14 + 4 * tags + 20 + 4 * options + 8 + 6);
            ck_assert_uint_eq(frame.tlp_bytes, 12);
            ck_assert_uint_eq(frame.frame_bytes, frame.tlp_offset + 12);
            ck_assert_int_eq(frame.vlan, tags ? 101 : -1);
            ck_assert_uint_eq(frame.sequence, 17);
            ck_assert_uint_eq(frame.stamp, 0x8fae7173);
            ck_assert_uint_eq(frame.source, BUILD_ADAPTER);
            ck_assert_uint_eq(frame.destination, BUILD_HOST);
        }
}
END_TEST

START_TEST(ports_of_every_adapter_release_are_taken)
{
    static const struct nettlp_filter any;
    static const uint16_t taken[] = {14198, 0x3000, 0x300f, 0x30ff, 0x4000, 0x4001, 0x4002, 0x400f, 0x40ff};
    static const uint16_t other[] = {53, 0x2fff, 0x3100, 0x3fff, 0x4100, 0x5001, 0x5002};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        ck_assert_int_eq(parse(&(struct build_frame){.port = taken[i]}, &any), NETTLP_TLP);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        ck_assert_int_eq(parse(&(struct build_frame){.port = other[i]}, &any), NETTLP_OTHER_PORT);
    struct nettlp_filter filter = {0};
    ck_assert_int_eq(nettlp_parse_ports("0x3000-0x4fff", &filter, NULL), 0);
    ck_assert_int_eq(parse(&(struct build_frame){.port = 0x3100}, &filter), NETTLP_TLP);
    ck_assert_int_eq(parse(&(struct build_frame){.port = 14198}, &filter), NETTLP_TLP);
    ck_assert_int_eq(parse(&(struct build_frame){.port = 0x5000}, &filter), NETTLP_OTHER_PORT);
    ck_assert_int_eq(nettlp_parse_ports("5-3", &filter, NULL), -1);
    ck_assert_int_eq(nettlp_parse_ports("0", &filter, NULL), -1);
    ck_assert_int_eq(nettlp_parse_ports("3-65536", &filter, NULL), -1);
}
END_TEST

START_TEST(other_traffic_is_told_apart)
{
    static const struct nettlp_filter any;
    ck_assert_int_eq(parse(&(struct build_frame){.ethertype = 0x0806}, &any), NETTLP_NOT_IP);
    ck_assert_int_eq(parse(&(struct build_frame){.tags = 9}, &any), NETTLP_NOT_IP);
    ck_assert_int_eq(parse(&(struct build_frame){.protocol = 6}, &any), NETTLP_NOT_UDP);
    ck_assert_int_eq(parse(&(struct build_frame){.fragment = 0x2000}, &any), NETTLP_FRAGMENT);
    ck_assert_int_eq(parse(&(struct build_frame){.fragment = 1}, &any), NETTLP_FRAGMENT);
    ck_assert_int_eq(parse(&(struct build_frame){.fragment = 0x4000}, &any), NETTLP_TLP);
    struct nettlp_filter filter = {0};
    ck_assert_int_eq(nettlp_parse_address("192.168.10.3", &filter.adapter, NULL), 0);
    ck_assert_int_eq(parse(&(struct build_frame){0}, &filter), NETTLP_TLP);
    ck_assert_int_eq(nettlp_parse_address("192.168.10.9", &filter.adapter, NULL), 0);
    ck_assert_int_eq(parse(&(struct build_frame){0}, &filter), NETTLP_OTHER_HOST);
    ck_assert_int_eq(nettlp_parse_address("localhost", &filter.adapter, NULL), -1);
}
END_TEST

START_TEST(messages_to_the_adapter_are_no_packets)
{
    static const struct nettlp_filter any;
    size_t n = build_frame(bytes, &(struct build_frame){.port = 0x4001}, read_64, 0);
    ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, n, n, &frame), NETTLP_ADAPTER_MESSAGE);
    n = build_frame(bytes, &(struct build_frame){.port = 0x4001}, read_64, 11);
    ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, n, n, &frame), NETTLP_MALFORMED);
}
END_TEST

START_TEST(lengths_that_contradict_each_other_are_a_bad_datagram)
{
    static const struct nettlp_filter any;
    size_t n = build_frame(bytes, &(struct build_frame){0}, read_64, sizeof read_64);
    bytes[14 + 20 + 5] = 200; /* UDP beyond IPv4 */
    ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, n, n, &frame), NETTLP_BAD_DATAGRAM);
    bytes[14 + 20 + 5] = 7;
    ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, n, n, &frame), NETTLP_BAD_DATAGRAM);
    bytes[14] = 0x44;
    ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, n, n, &frame), NETTLP_BAD_DATAGRAM);
}
END_TEST

START_TEST(a_cut_header_is_short_or_truncated_by_who_cut_it)
{
    static const struct nettlp_filter any;
    size_t n = build_frame(bytes, &(struct build_frame){.tags = 2}, read_64, sizeof read_64);
    for (size_t kept = 0; kept < n - sizeof read_64; kept++) {
        ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, kept, n, &frame), NETTLP_TRUNCATED_HEADER);
        ck_assert_int_eq(parse_frame(NETTLP_LINK_ETHERNET, &any, bytes, kept, kept, &frame), NETTLP_SHORT);
    }
}
END_TEST

START_TEST(captures_of_any_interface_and_of_bare_ipv4_are_read)
{
    static const struct nettlp_filter any;
    uint8_t cooked[BUILD_MOST] = {0};
    size_t n = build_frame(bytes, &(struct build_frame){0}, read_64, sizeof read_64);
    ck_assert_int_eq(parse_frame(NETTLP_LINK_IP, &any, bytes + 14, n - 14, n - 14, &frame), NETTLP_TLP);
    ck_assert_uint_eq(frame.tlp_offset, 34);
    (void)build_be(cooked + 14, 0x0800, 2);
    memcpy(cooked + 16, bytes + 14, n - 14);
    ck_assert_int_eq(parse_frame(NETTLP_LINK_COOKED, &any, cooked, n + 2, n + 2, &frame), NETTLP_TLP);
    memset(cooked, 0, 20);
    (void)build_be(cooked, 0x0800, 2);
    memcpy(cooked + 20, bytes + 14, n - 14);
    ck_assert_int_eq(parse_frame(NETTLP_LINK_COOKED2, &any, cooked, n + 6, n + 6, &frame), NETTLP_TLP);
    ck_assert_uint_eq(frame.tlp_bytes, 12);
}
END_TEST

START_TEST(before_nettlp_the_stamp_had_forty_bits)
{
    static const struct nettlp_filter any;
    ck_assert_int_eq(parse(&(struct build_frame){.port = 14198, .sequence = 0x2812, .stamp = 5}, &any), NETTLP_TLP);
    ck_assert_uint_eq(frame.stamp, 0x1200000005);
    ck_assert_int_eq(parse(&(struct build_frame){.port = 14198, .sequence = 0x0312, .stamp = 5}, &any), NETTLP_TLP);
    ck_assert_uint_eq(frame.stamp, 5);
    ck_assert_uint_eq(frame.sequence, 0x312);
}
END_TEST

TEST_MAIN("capture_frame")
