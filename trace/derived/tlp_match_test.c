#include "trace/derived/tlp_sink.h"

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

enum { HOST = 7, DEVICE = 9 };

static struct tlp_read done;

static int feed(struct tlp_match *m, int64_t time, const struct build_tlp *b, uint32_t side)
{
    uint8_t bytes[BUILD_MOST];
    struct tlp t;
    struct record r = {.time = time};
    ck_assert_int_eq(tlp_decode(bytes, build_tlp(bytes, b), &t, NULL), TLP_OK);
    tlp_to_record(&t, &r);
    return tlp_match_feed(m, &r, side, tlp_reply_bytes(&t), &done, NULL);
}

static int request(struct tlp_match *m, int64_t time, unsigned tag, unsigned dw)
{
    return feed(m, time, &(struct build_tlp){.byte0 = 0x00, .length = dw, .enables = dw > 1 ? 0xff : 0x0f, .tag = tag},
                HOST);
}

static int completion(struct tlp_match *m, int64_t time, unsigned tag, unsigned dw, unsigned count)
{
    return feed(m, time,
                &(struct build_tlp){.byte0 = 0x4a, .length = dw, .byte_count = count, .tag = tag, .payload = 4 * dw},
                HOST);
}

START_TEST(a_read_is_complete_when_its_bytes_are_there)
{
    struct tlp_match *m = tlp_match_new(NULL);
    ck_assert_int_eq(request(m, 100, 1, 128), 0);
    ck_assert_int_eq(completion(m, 300, 1, 64, 512), 0);
    ck_assert_int_eq(completion(m, 700, 1, 64, 256), 1);
    ck_assert_int_eq(done.latency, 600);
    ck_assert_uint_eq(done.received, 512);
    ck_assert_uint_eq(done.completions, 2);
    ck_assert(!done.early && !done.error);
    tlp_match_end(m);
    const struct tlp_match_counts *c = tlp_match_counts(m);
    ck_assert_uint_eq(c->reads, 1);
    ck_assert_uint_eq(c->completed_reads, 1);
    ck_assert_uint_eq(c->matched, 2);
    ck_assert_uint_eq(c->unmatched + c->unanswered + c->reused + c->early, 0);
    tlp_match_free(m);
}
END_TEST

START_TEST(a_reused_tag_is_answered_first_in_first_out)
{
    struct tlp_match *m = tlp_match_new(NULL);
    (void)request(m, 0, 5, 128);
    (void)request(m, 10, 5, 128);
    ck_assert_int_eq(completion(m, 20, 5, 64, 512), 0);
    ck_assert_int_eq(completion(m, 30, 5, 64, 256), 1);
    ck_assert_int_eq(done.latency, 30);
    ck_assert_int_eq(completion(m, 40, 5, 64, 512), 0);
    ck_assert_int_eq(completion(m, 50, 5, 64, 256), 1);
    ck_assert_int_eq(done.latency, 40);
    ck_assert_uint_eq(tlp_match_counts(m)->reused, 1);
    tlp_match_free(m);
}
END_TEST

START_TEST(an_early_completion_waits_for_its_read_and_gives_no_latency)
{
    struct tlp_match *m = tlp_match_new(NULL);
    ck_assert_int_eq(completion(m, 100, 3, 64, 512), 0);
    ck_assert_int_eq(request(m, 110, 3, 128), 0);
    ck_assert_int_eq(completion(m, 120, 3, 64, 256), 1);
    ck_assert(done.early);
    ck_assert_int_eq(done.latency, 0);
    ck_assert_int_eq(completion(m, 200, 4, 64, 256), 0);
    ck_assert_int_eq(request(m, 210, 4, 64), 1);
    ck_assert_uint_eq(tlp_match_counts(m)->early, 2);
    ck_assert_uint_eq(tlp_match_counts(m)->matched, 3);
    tlp_match_free(m);
}
END_TEST

START_TEST(a_parked_completion_gives_up_after_ten_milliseconds)
{
    struct tlp_match *m = tlp_match_new(NULL);
    (void)completion(m, 0, 3, 64, 256);
    ck_assert_int_eq(request(m, TLP_MATCH_PARK_NS + 1, 3, 64), 0);
    ck_assert_uint_eq(tlp_match_counts(m)->unmatched, 1);
    tlp_match_end(m);
    ck_assert_uint_eq(tlp_match_counts(m)->unanswered, 1);
    tlp_match_free(m);
}
END_TEST

START_TEST(tag_requester_and_direction_all_tell_requests_apart)
{
    struct tlp_match *m = tlp_match_new(NULL);
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
    tlp_match_free(m);
}
END_TEST

START_TEST(an_error_status_closes_the_read)
{
    struct tlp_match *m = tlp_match_new(NULL);
    (void)request(m, 0, 1, 128);
    ck_assert_int_eq(
        feed(m, 9, &(struct build_tlp){.byte0 = 0x0a, .status = TLP_UR, .byte_count = 512, .tag = 1}, HOST), 1);
    ck_assert(done.error);
    ck_assert_uint_eq(tlp_match_counts(m)->failed_reads, 1);
    ck_assert_uint_eq(tlp_match_counts(m)->completed_reads, 0);
    tlp_match_free(m);
}
END_TEST

START_TEST(flush_reads_and_writes_to_configuration_end_with_one_completion)
{
    struct tlp_match *m = tlp_match_new(NULL);
    (void)feed(m, 0, &(struct build_tlp){.byte0 = 0x00, .length = 1, .enables = 0, .tag = 1}, HOST);
    ck_assert_int_eq(completion(m, 5, 1, 1, 1), 1);
    (void)feed(m, 6, &(struct build_tlp){.byte0 = 0x44, .length = 1, .enables = 15, .tag = 2, .payload = 4}, HOST);
    ck_assert_int_eq(feed(m, 9, &(struct build_tlp){.byte0 = 0x0a, .byte_count = 4, .tag = 2}, HOST), 1);
    (void)feed(m, 10, &(struct build_tlp){.byte0 = 0x4e, .length = 4, .tag = 3, .payload = 16}, HOST);
    ck_assert_int_eq(completion(m, 12, 3, 2, 8), 1);
    ck_assert_uint_eq(tlp_match_counts(m)->others, 2);
    ck_assert_uint_eq(tlp_match_counts(m)->completed_others, 2);
    tlp_match_free(m);
}
END_TEST

START_TEST(a_capture_of_one_direction_stays_within_bounds)
{
    struct tlp_match *m = tlp_match_new(NULL);
    for (int64_t i = 0; i < 3 * TLP_MATCH_MOST; i++)
        ck_assert_int_eq(request(m, i, (unsigned)i & 0xff, 1), 0);
    ck_assert_uint_eq(tlp_match_counts(m)->unanswered, 2 * TLP_MATCH_MOST);
    ck_assert_int_eq(completion(m, 3 * TLP_MATCH_MOST, 7, 1, 4), 1);
    for (int64_t i = 0; i < 3 * TLP_MATCH_MOST; i++)
        ck_assert_int_ge(completion(m, 3 * TLP_MATCH_MOST + i, (unsigned)i & 0xff, 1, 4), 0);
    tlp_match_end(m);
    const struct tlp_match_counts *c = tlp_match_counts(m);
    ck_assert_uint_eq(c->reads, c->completed_reads + c->unanswered);
    ck_assert_uint_eq(3 * TLP_MATCH_MOST + 1, c->matched + c->unmatched);
    tlp_match_free(m);
}
END_TEST

TEST_MAIN("tlp_match", a_read_is_complete_when_its_bytes_are_there, a_reused_tag_is_answered_first_in_first_out,
          an_early_completion_waits_for_its_read_and_gives_no_latency,
          a_parked_completion_gives_up_after_ten_milliseconds, tag_requester_and_direction_all_tell_requests_apart,
          an_error_status_closes_the_read, flush_reads_and_writes_to_configuration_end_with_one_completion,
          a_capture_of_one_direction_stays_within_bounds)
