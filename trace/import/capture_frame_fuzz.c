/* Any bytes as frames of every link layer: found, decoded, matched and counted, or left out. Memory stays bounded. */
#include "trace/import/capture.c"

#include <string.h>

/* Matched by the sink's own functions. */
#include "trace/derived/tlp_sink.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct match *match;
static int64_t now;

static void take_frame(enum nettlp_link link, const uint8_t *frame, size_t kept, size_t wire)
{
    static const struct nettlp_filter any;
    struct frame f;
    struct tlp tlp;
    struct read done;
    struct tlp_flow flow = {0};
    const char *why = "";
    if (parse_frame(link, &any, frame, kept, wire, &f) != NETTLP_TLP)
        return;
    if (f.tlp_offset > kept)
        __builtin_trap();
    (void)tlp_flow_packet(&flow, f.sequence, f.stamp, now);
    size_t at_hand = kept - f.tlp_offset < f.tlp_bytes ? kept - f.tlp_offset : f.tlp_bytes;
    if (tlp_decode(frame + f.tlp_offset, at_hand, &tlp, &why) != TLP_OK)
        return;
    if (tlp.bytes > 4096 || tlp.prefixes > TLP_MAX_PREFIXES)
        __builtin_trap();
    if (tlp_check(&tlp, f.tlp_bytes, false, &why) != TLP_OK)
        return;
    struct record r = {.time = now += 100};
    tlp_to_record(&tlp, &r);
    if (match_feed(match, &r, f.source, tlp_reply_bytes(&tlp), &done, NULL) < 0)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    if (!match) {
        if (!(match = mem_zalloc(1, sizeof *match, NULL)))
            return 0;
        match_init(match);
    }
    size_t wire = n - 2 + data[1] % 64;
    for (int link = NETTLP_LINK_ETHERNET; link <= NETTLP_LINK_IP; link++)
        take_frame((enum nettlp_link)link, data + 2, n - 2, wire);
    return 0;
}
