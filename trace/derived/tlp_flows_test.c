#include "trace/derived/tlp_sink.h"

#include "trace/base/testing.h"

START_TEST(a_flow_is_source_destination_and_vlan)
{
    struct tlp_flows *f = tlp_flows_new(NULL);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, -1), 0);
    ck_assert_uint_eq(tlp_flows_find(f, 2, 1, -1), 1);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, 100), 2);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, -1), 0);
    ck_assert_uint_eq(tlp_flows_count(f), 3);
    tlp_flows_free(f);
}
END_TEST

START_TEST(flows_beyond_the_last_number_share_it)
{
    struct tlp_flows *f = tlp_flows_new(NULL);
    for (uint32_t i = 0; i < 2 * TLP_FLOWS_MOST; i++)
        ck_assert_uint_eq(tlp_flows_find(f, i, 7, -1), i < TLP_FLOWS_MOST ? i : TLP_FLOWS_MOST - 1);
    ck_assert_uint_eq(tlp_flows_count(f), TLP_FLOWS_MOST);
    ck_assert_uint_eq(tlp_flows_find(f, 77, 7, -1), 77);
    tlp_flows_free(f);
}
END_TEST

START_TEST(a_tick_is_six_point_four_nanoseconds_and_the_stamp_wraps)
{
    struct tlp_flow f = {0};
    ck_assert_int_eq(tlp_flow_packet(&f, 17, 0xfffffff0u, 1000), 1000);
    ck_assert_int_eq(tlp_flow_packet(&f, 18, 0xfffffff5u, 2000), 1032);
    ck_assert_int_eq(tlp_flow_packet(&f, 19, 0x4u, 3000), 1128);
    ck_assert_int_eq(tlp_flow_packet(&f, 0, 0, 4000), 4000);
    ck_assert_uint_eq(tlp_flow_gaps(&f), 0);
    ck_assert_uint_eq(f.packets, 4);
}
END_TEST

START_TEST(sequences_wrap_at_1024_until_a_larger_number_is_seen)
{
    struct tlp_flow f = {0};
    (void)tlp_flow_packet(&f, 1023, 1, 0);
    (void)tlp_flow_packet(&f, 0, 2, 0);
    ck_assert_uint_eq(tlp_flow_gaps(&f), 0);
    (void)tlp_flow_packet(&f, 2, 3, 0);
    ck_assert_uint_eq(tlp_flow_gaps(&f), 1);
    struct tlp_flow g = {0};
    (void)tlp_flow_packet(&g, 1023, 1, 0);
    (void)tlp_flow_packet(&g, 1024, 2, 0);
    (void)tlp_flow_packet(&g, 0, 3, 0);
    ck_assert_uint_eq(tlp_flow_gaps(&g), 1);
}
END_TEST

START_TEST(hosts_of_ipv6_have_numbers_and_names)
{
    struct tlp_flows *flows = tlp_flows_new(NULL);
    unsigned char address[16] = {0xfd, [15] = 1};
    char text[TLP_HOST_TEXT];
    uint32_t host = tlp_flows_host(flows, address);
    ck_assert_uint_eq(tlp_flows_host(flows, address), host);
    ck_assert_str_eq(tlp_flows_address(flows, host, text), "fd00::1");
    address[15] = 2;
    ck_assert_uint_ne(tlp_flows_host(flows, address), host);
    ck_assert_str_eq(tlp_flows_address(flows, host + 1, text), "fd00::2");
    ck_assert_str_eq(tlp_flows_address(flows, 0xc0a80a01, text), "192.168.10.1");
    for (unsigned i = 0; i < 2 * TLP_FLOWS_MOST; i++) { /* more than are kept share the last */
        address[4] = (unsigned char)(i >> 8);
        address[5] = (unsigned char)i;
        host = tlp_flows_host(flows, address);
    }
    ck_assert_str_eq(tlp_flows_address(flows, host, text), "fd00:0:ffe::2");
    tlp_flows_free(flows);
}
END_TEST

TEST_MAIN("tlp_flows", hosts_of_ipv6_have_numbers_and_names, a_flow_is_source_destination_and_vlan,
          flows_beyond_the_last_number_share_it, a_tick_is_six_point_four_nanoseconds_and_the_stamp_wraps,
          sequences_wrap_at_1024_until_a_larger_number_is_seen)
