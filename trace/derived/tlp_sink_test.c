/* Includes the file for its flows, and for requests and their answers, one packet at a time. */
#include "trace/derived/tlp_sink.c"

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

static struct match *match_new(void)
{
    struct match *m = mem_zalloc(1, sizeof *m, NULL);
    match_init(m);
    return m;
}

static void match_free(struct match *m)
{
    free(m->nodes);
    free(m);
}

enum { HOST = 7, DEVICE = 9 };

static struct read done;

static int feed(struct match *m, int64_t time, const struct build_tlp *b, uint32_t side)
{
    uint8_t bytes[BUILD_MOST];
    struct tlp t;
    struct record r = {.time = time};
    ck_assert_int_eq(tlp_decode(bytes, build_tlp(bytes, b), &t, NULL), TLP_OK);
    tlp_to_record(&t, &r);
    return match_feed(m, &r, side, tlp_reply_bytes(&t), &done, NULL);
}

static int request(struct match *m, int64_t time, unsigned tag, unsigned dw)
{
    return feed(m, time, &(struct build_tlp){.byte0 = 0x00, .length = dw, .enables = dw > 1 ? 0xff : 0x0f, .tag = tag},
                HOST);
}

static int completion(struct match *m, int64_t time, unsigned tag, unsigned dw, unsigned count)
{
    return feed(m, time,
                &(struct build_tlp){.byte0 = 0x4a, .length = dw, .byte_count = count, .tag = tag, .payload = 4 * dw},
                HOST);
}

START_TEST(a_read_is_complete_when_its_bytes_are_there)
{
    struct match *m = match_new();
    ck_assert_int_eq(request(m, 100, 1, 128), 0);
    ck_assert_int_eq(completion(m, 300, 1, 64, 512), 0);
    ck_assert_int_eq(completion(m, 700, 1, 64, 256), 1);
    ck_assert_int_eq(done.latency, 600);
    ck_assert_uint_eq(done.received, 512);
    ck_assert_uint_eq(done.completions, 2);
    ck_assert(!done.early && !done.error);
    match_end(m);
    const struct match_counts *c = &m->counts;
    ck_assert_uint_eq(c->reads, 1);
    ck_assert_uint_eq(c->completed_reads, 1);
    ck_assert_uint_eq(c->matched, 2);
    ck_assert_uint_eq(c->unmatched + c->unanswered + c->reused + c->early, 0);
    match_free(m);
}
END_TEST

START_TEST(a_reused_tag_is_answered_first_in_first_out)
{
    struct match *m = match_new();
    (void)request(m, 0, 5, 128);
    (void)request(m, 10, 5, 128);
    ck_assert_int_eq(completion(m, 20, 5, 64, 512), 0);
    ck_assert_int_eq(completion(m, 30, 5, 64, 256), 1);
    ck_assert_int_eq(done.latency, 30);
    ck_assert_int_eq(completion(m, 40, 5, 64, 512), 0);
    ck_assert_int_eq(completion(m, 50, 5, 64, 256), 1);
    ck_assert_int_eq(done.latency, 40);
    ck_assert_uint_eq((&m->counts)->reused, 1);
    match_free(m);
}
END_TEST

START_TEST(an_early_completion_waits_for_its_read_and_gives_no_latency)
{
    struct match *m = match_new();
    ck_assert_int_eq(completion(m, 100, 3, 64, 512), 0);
    ck_assert_int_eq(request(m, 110, 3, 128), 0);
    ck_assert_int_eq(completion(m, 120, 3, 64, 256), 1);
    ck_assert(done.early);
    ck_assert_int_eq(done.latency, 0);
    ck_assert_int_eq(completion(m, 200, 4, 64, 256), 0);
    ck_assert_int_eq(request(m, 210, 4, 64), 1);
    ck_assert_uint_eq((&m->counts)->early, 2);
    ck_assert_uint_eq((&m->counts)->matched, 3);
    match_free(m);
}
END_TEST

START_TEST(a_parked_completion_gives_up_after_ten_milliseconds)
{
    struct match *m = match_new();
    (void)completion(m, 0, 3, 64, 256);
    ck_assert_int_eq(request(m, MATCH_PARK_NS + 1, 3, 64), 0);
    ck_assert_uint_eq((&m->counts)->unmatched, 1);
    match_end(m);
    ck_assert_uint_eq((&m->counts)->unanswered, 1);
    match_free(m);
}
END_TEST

START_TEST(tag_requester_and_direction_all_tell_requests_apart)
{
    struct match *m = match_new();
    struct build_tlp read = {.byte0 = 0x00, .length = 1, .enables = 15, .tag = 0x101, .requester = 0x1900};
    struct build_tlp reply = {
        .byte0 = 0x4a, .length = 1, .byte_count = 4, .tag = 0x101, .requester = 0x1900, .payload = 4};
    (void)feed(m, 0, &read, HOST);
    ck_assert_int_eq(feed(m, 1, &reply, DEVICE), 0);
    reply.tag = 0x001;
    ck_assert_int_eq(feed(m, 2, &reply, HOST), 0);
    reply.tag = 0x101;
    reply.requester = 0x1901;
    ck_assert_int_eq(feed(m, 3, &reply, HOST), 0);
    reply.requester = 0x1900;
    ck_assert_int_eq(feed(m, 4, &reply, HOST), 1);
    match_free(m);
}
END_TEST

START_TEST(an_error_status_closes_the_read)
{
    struct match *m = match_new();
    (void)request(m, 0, 1, 128);
    ck_assert_int_eq(
        feed(m, 9, &(struct build_tlp){.byte0 = 0x0a, .status = TLP_UR, .byte_count = 512, .tag = 1}, HOST), 1);
    ck_assert(done.error);
    ck_assert_uint_eq((&m->counts)->failed_reads, 1);
    ck_assert_uint_eq((&m->counts)->completed_reads, 0);
    match_free(m);
}
END_TEST

START_TEST(flush_reads_and_writes_to_configuration_end_with_one_completion)
{
    struct match *m = match_new();
    (void)feed(m, 0, &(struct build_tlp){.byte0 = 0x00, .length = 1, .enables = 0, .tag = 1}, HOST);
    ck_assert_int_eq(completion(m, 5, 1, 1, 1), 1);
    (void)feed(m, 6, &(struct build_tlp){.byte0 = 0x44, .length = 1, .enables = 15, .tag = 2, .payload = 4}, HOST);
    ck_assert_int_eq(feed(m, 9, &(struct build_tlp){.byte0 = 0x0a, .byte_count = 4, .tag = 2}, HOST), 1);
    (void)feed(m, 10, &(struct build_tlp){.byte0 = 0x4e, .length = 4, .tag = 3, .payload = 16}, HOST);
    ck_assert_int_eq(completion(m, 12, 3, 2, 8), 1);
    ck_assert_uint_eq((&m->counts)->others, 2);
    ck_assert_uint_eq((&m->counts)->completed_others, 2);
    match_free(m);
}
END_TEST

START_TEST(a_capture_of_one_direction_stays_within_bounds)
{
    struct match *m = match_new();
    int64_t taken = 0, answered = 0; /* counted: a ck_assert() for each takes seconds */
    for (int64_t i = 0; i < 3 * MATCH_MOST; i++)
        taken += request(m, i, (unsigned)i & 0xff, 1) == 0;
    ck_assert_int_eq(taken, 3 * MATCH_MOST);
    ck_assert_uint_eq((&m->counts)->unanswered, 2 * MATCH_MOST);
    ck_assert_int_eq(completion(m, 3 * MATCH_MOST, 7, 1, 4), 1);
    for (int64_t i = 0; i < 3 * MATCH_MOST; i++)
        answered += completion(m, 3 * MATCH_MOST + i, (unsigned)i & 0xff, 1, 4) >= 0;
    ck_assert_int_eq(answered, 3 * MATCH_MOST);
    match_end(m);
    const struct match_counts *c = &m->counts;
    ck_assert_uint_eq(c->reads, c->completed_reads + c->unanswered);
    ck_assert_uint_eq(3 * MATCH_MOST + 1, c->matched + c->unmatched);
    match_free(m);
}
END_TEST

START_TEST(a_flow_is_source_destination_and_vlan)
{
    struct tlp_flows *f = mem_zalloc(1, sizeof(struct tlp_flows), NULL);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, -1), 0);
    ck_assert_uint_eq(tlp_flows_find(f, 2, 1, -1), 1);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, 100), 2);
    ck_assert_uint_eq(tlp_flows_find(f, 1, 2, -1), 0);
    ck_assert_uint_eq(f->count, 3);
    free(f);
}
END_TEST

START_TEST(flows_beyond_the_last_number_share_it)
{
    struct tlp_flows *f = mem_zalloc(1, sizeof(struct tlp_flows), NULL);
    uint32_t right = 0;
    for (uint32_t i = 0; i < 2 * TLP_FLOWS_MOST; i++)
        right += tlp_flows_find(f, i, 7, -1) == (i < TLP_FLOWS_MOST ? i : TLP_FLOWS_MOST - 1);
    ck_assert_uint_eq(right, 2 * TLP_FLOWS_MOST);
    ck_assert_uint_eq(f->count, TLP_FLOWS_MOST);
    ck_assert_uint_eq(tlp_flows_find(f, 77, 7, -1), 77);
    free(f);
}
END_TEST

START_TEST(a_tick_is_six_point_four_nanoseconds_and_the_stamp_wraps)
{
    struct tlp_flow f = {0};
    ck_assert_int_eq(tlp_flow_packet(&f, 17, 0xfffffff0u, 1000), 1000);
    ck_assert_int_eq(tlp_flow_packet(&f, 18, 0xfffffff5u, 2000), 1032);
    ck_assert_int_eq(tlp_flow_packet(&f, 19, 0x4u, 3000), 1128);
    ck_assert_int_eq(tlp_flow_packet(&f, 0, 0, 4000), 4000);
    ck_assert_uint_eq(flow_gaps(&f), 0);
    ck_assert_uint_eq(f.packets, 4);
}
END_TEST

START_TEST(sequences_wrap_at_1024_until_a_larger_number_is_seen)
{
    struct tlp_flow f = {0};
    (void)tlp_flow_packet(&f, 1023, 1, 0);
    (void)tlp_flow_packet(&f, 0, 2, 0);
    ck_assert_uint_eq(flow_gaps(&f), 0);
    (void)tlp_flow_packet(&f, 2, 3, 0);
    ck_assert_uint_eq(flow_gaps(&f), 1);
    struct tlp_flow g = {0};
    (void)tlp_flow_packet(&g, 1023, 1, 0);
    (void)tlp_flow_packet(&g, 1024, 2, 0);
    (void)tlp_flow_packet(&g, 0, 3, 0);
    ck_assert_uint_eq(flow_gaps(&g), 1);
}
END_TEST

TEST_MAIN("tlp_sink")
