#include "trace/import/capture.h"

#include <pcap/dlt.h>

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

static uint8_t bytes[BUILD_MOST + 256];

/* A sound read of 64 B, framed so. */
static size_t framed(const struct build_frame *f)
{
    uint8_t tlp[BUILD_MOST];
    size_t n = build_tlp(tlp, &(struct build_tlp){.byte0 = 0x00, .length = 16, .enables = 0xff, .requester = 0x1900});
    return build_frame(bytes, f, tlp, n);
}

static void take(struct capture *c, size_t kept, size_t wire)
{
    WORKS(capture_packet(c, (int64_t)c->packets * 1000, bytes, kept, wire, &err));
}

/* A frame of each kind that is left out, for the reason `verdict`; the adapter asked for is 192.168.10.1. */
static void put(struct capture *c, enum nettlp_verdict verdict)
{
    struct build_frame f = {.source = 0xc0a80a01};
    size_t n, cut = 0, kept = SIZE_MAX;
    f.ethertype = verdict == NETTLP_NOT_IP ? 0x0806 : 0;
    f.protocol = verdict == NETTLP_NOT_UDP ? 6 : 0;
    f.fragment = verdict == NETTLP_FRAGMENT ? 0x2000 : 0;
    f.source = verdict == NETTLP_OTHER_HOST ? 0xc0a80a63 : f.source;
    f.destination = 0xc0a80a64;
    f.port = verdict == NETTLP_OTHER_PORT ? 53 : 0;
    n = framed(&f);
    if (verdict == NETTLP_ADAPTER_MESSAGE)
        n = build_frame(bytes, &f, bytes, 0);
    else if (verdict == NETTLP_BAD_DATAGRAM)
        bytes[14 + 20 + 5] = 200; /* UDP beyond IPv4 */
    else if (verdict == NETTLP_MALFORMED)
        memset(bytes + n - 12, 0, 12);
    else if (verdict == NETTLP_TRUNCATED_HEADER)
        kept = 50;
    else if (verdict == NETTLP_SHORT)
        cut = 4;
    take(c, kept < n ? kept : n - cut, n - cut);
}

struct row {
    const char *reason;
    int64_t packets;
};

static int find(void *ctx, const struct store_value *v, size_t n)
{
    struct row *row = ctx;
    (void)n;
    if (strcmp(v[0].s, row->reason) == 0)
        row->packets += v[1].i;
    return 0;
}

/* One more frame for each reason than its number; a packet without a TLP comes from another kind of capture. */
START_TEST(each_reason_to_leave_a_packet_out_is_counted_in_the_trace)
{
    struct capture_options options = {.tlp_offset = -1, .filter.adapter = 0xc0a80a01};
    const char *path = testing_file("reasons.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    struct tlp_sink *sink = GIVES(tlp_sink_open(store, 0, &err));
    struct capture c, analyser;
    uint64_t all = 0;
    capture_init(&c, &options, sink);
    WORKS(capture_link(&c, DLT_EN10MB, &err));
    for (int v = NETTLP_TLP; v < NETTLP_NOT_A_TLP; v++)
        for (int i = 0; i < v + 1; i++, all++)
            put(&c, (enum nettlp_verdict)v);
    capture_init(&analyser, &(struct capture_options){.tlp_offset = 300}, sink);
    WORKS(capture_link(&analyser, DLT_USER0, &err));
    take(&analyser, 64, 64); /* it ends before the TLP begins */
    ck_assert_uint_eq(analyser.skipped[NETTLP_NOT_A_TLP], 1);
    c.skipped[NETTLP_OTHER_LINK] = 1;
    c.skipped[NETTLP_NOT_A_TLP] += analyser.skipped[NETTLP_NOT_A_TLP];
    ck_assert_uint_eq(c.packets, all);
    WORKS(capture_finish(&c, store, &err));
    WORKS(store_finish(store, &err));
    tlp_sink_free(sink);
    store_close(store);
    store = GIVES(store_open(path, &err));
    for (int v = NETTLP_TLP + 1; v < NETTLP_VERDICTS; v++) {
        struct row row = {.reason = nettlp_reason((enum nettlp_verdict)v)};
        WORKS(store_rows(store, "skipped", find, &row, &err));
        ck_assert_msg(row.packets == (v < NETTLP_NOT_A_TLP ? v + 1 : 1), "%s: %lld packets", row.reason,
                      (long long)row.packets);
    }
    store_close(store);
}
END_TEST

TEST_MAIN("capture")
