/* nettlp: PCIe packets in pcap and pcapng captures, from a file or a pipe.
 *
 * NetTLP's encapsulation in Ethernet, IPv4 and UDP (every adapter release), an Analyser's pcapng, or raw TLPs at a
 * fixed offset (option tlp_offset, for DLT_USER captures). Time stamps become ns whatever the file's unit. What is
 * found goes to the streams and tables of trace/derived/tlp_sink.h; what cannot be is counted by reason: malformed,
 * short (cut on the wire), truncated_header, and for packets of other protocols what they are. A file that ends inside
 * a packet gives an incomplete trace with everything before. */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/import/capture.h"

enum { FILE_BUFFER = 1 << 18 };

struct nettlp_options {
    int64_t tlp_offset, clock;
    const char *ports, *adapter;
};

static const struct param nettlp_params[] = {
    PARAM_INT_ROW(nettlp_options, tlp_offset, "bytes", -1, 65535, -1,
                  "a TLP starts at this byte of every packet, whatever the link type; -1: find it by the link type"),
    PARAM_CHOICE_ROW(nettlp_options, clock, "pcap|adapter", CAPTURE_CLOCK_PCAP,
                     "times: the capture's, or the adapter's 6.4 ns stamps where a packet has one"),
    PARAM_TEXT_ROW(nettlp_options, ports, NULL, "UDP ports LO-HI; default 14198, 0x3000-0x30ff and 0x4000-0x40ff"),
    PARAM_TEXT_ROW(nettlp_options, adapter, NULL, "IPv4 address that one end must have; default: any"),
    {0}};

/* options: NULL for the defaults. */
static int capture_options_of(const struct nettlp_options *options, bool strict, struct capture_options *capture,
                              struct err *err)
{
    *capture = (struct capture_options){.tlp_offset = -1, .strict = strict};
    if (!options)
        return 0;
    capture->tlp_offset = options->tlp_offset;
    capture->clock = (enum capture_clock)options->clock;
    if (options->ports && nettlp_parse_ports(options->ports, &capture->filter, err))
        return err_at(err, "option ports");
    if (options->adapter && nettlp_parse_address(options->adapter, &capture->filter.adapter, err))
        return err_at(err, "option adapter");
    return 0;
}

/* --- a source as a FILE for libpcap ---
 *
 * libpcap takes no pcapng capture whose interfaces differ in link type or snap length: all are told to be as the first,
 * and what each packet's interface is stands in a list that grows no further than a buffer ahead of what is read. */

enum { BLOCK_HEAD = 16, SECTION = 0x0a0d0d0a, INTERFACE = 1, PACKET = 2, SIMPLE = 3, ENHANCED = 6, INTERFACES = 1024 };

struct cookie {
    struct input_stream *source;
    struct err err;               /* what input_stream_read() said */
    bool pcapng, swapped, spoilt; /* spoilt: no blocks any more, libpcap will say why */
    uint64_t left;                /* of this block */
    unsigned char head[BLOCK_HEAD];
    size_t head_left; /* of it, not handed over yet */
    uint16_t links[INTERFACES];
    size_t interfaces;
    unsigned char first[8]; /* link type and snap length of the first interface */
    bool differs;           /* some interface is not as the first */
    uint16_t *packets;      /* link type of each packet that was handed over and not asked for */
    size_t begin, end, cap;
};

static uint32_t word(const struct cookie *c, const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return c->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t half(const struct cookie *c, const unsigned char *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return c->swapped ? __builtin_bswap16(v) : v;
}

static void take_interface(struct cookie *c)
{
    if (c->interfaces == INTERFACES) {
        c->spoilt = true;
        return;
    }
    c->links[c->interfaces++] = half(c, c->head + 8);
    if (c->interfaces == 1)
        memcpy(c->first, c->head + 8, sizeof c->first);
    c->differs |= memcmp(c->first, c->head + 8, sizeof c->first) != 0;
    memcpy(c->head + 8, c->first, sizeof c->first);
}

static int take_packet_block(struct cookie *c, uint32_t type)
{
    const size_t of = type == ENHANCED ? word(c, c->head + 8) : type == PACKET ? half(c, c->head + 8) : 0;
    if (c->begin && c->begin == c->end)
        c->begin = c->end = 0;
    return MEM_ADD(c->packets, c->end, c->cap, &c->err, of < c->interfaces ? c->links[of] : 0);
}

/* At the beginning of a block: its head, changed where it describes an interface. Blocks of under 16 bytes are left to
 * libpcap. */
static int take_block(struct cookie *c)
{
    static const unsigned char big[4] = {0x1a, 0x2b, 0x3c, 0x4d};
    const unsigned char *data;
    size_t got;
    if (input_stream_peek(c->source, BLOCK_HEAD, &data, &got, &c->err))
        return -1;
    c->spoilt = got < BLOCK_HEAD;
    if (c->spoilt)
        return 0;
    if (input_stream_read(c->source, c->head, BLOCK_HEAD, &got, &c->err))
        return -1;
    c->head_left = BLOCK_HEAD;
    const bool section = word(c, c->head) == SECTION;
    if (section) {
        c->swapped = memcmp(c->head + 8, big, 4) == 0;
        c->interfaces = 0;
    }
    const uint32_t type = word(c, c->head), length = word(c, c->head + 4);
    c->spoilt = length < BLOCK_HEAD || length % 4;
    if (c->spoilt)
        return 0;
    c->left = length - BLOCK_HEAD;
    if (type == INTERFACE)
        take_interface(c);
    return type == PACKET || type == SIMPLE || type == ENHANCED ? take_packet_block(c, type) : 0;
}

static ssize_t cookie_read(void *ctx, char *buf, size_t n)
{
    struct cookie *c = ctx;
    size_t got = 0;
    if (c->pcapng && !c->spoilt && !c->head_left && !c->left && take_block(c))
        return -1;
    if (c->head_left) {
        got = n < c->head_left ? n : c->head_left;
        memcpy(buf, c->head + BLOCK_HEAD - c->head_left, got);
        c->head_left -= got;
        return (ssize_t)got;
    }
    n = c->pcapng && !c->spoilt && n > c->left ? c->left : n;
    if (input_stream_read(c->source, buf, n, &got, &c->err))
        return -1;
    c->left -= c->pcapng && !c->spoilt ? got : 0;
    return (ssize_t)got;
}

/* The link type of the next packet, as libpcap numbers it. */
static int next_link(void *ctx)
{
    enum { LINKTYPE_RAW = 101 };
    struct cookie *c = ctx;
    const int link = c->begin < c->end ? c->packets[c->begin++] : -1;
    return link == LINKTYPE_RAW ? DLT_RAW : link;
}

static pcap_t *open_pcap(struct cookie *cookie, char *buffer, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    FILE *file = fopencookie(cookie, "rb", (cookie_io_functions_t){.read = cookie_read});
    if (!file) {
        err_set(err, "out of memory to read the capture");
        return NULL;
    }
    (void)setvbuf(file, buffer, _IOFBF, FILE_BUFFER);
    (void)__fsetlocking(file, FSETLOCKING_BYCALLER); /* nobody else reads it: 2 locks a packet less */
    pcap_t *pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!pcap) {
        (void)fclose(file);
        err_set(err, "byte 0: not a capture that can be read: %s", cookie->err.msg[0] ? cookie->err.msg : text);
    }
    return pcap;
}

/* What the first bytes say of the unit of the time stamps (pcapng: each interface has its own). */
static const char *unit_of(const unsigned char *head, size_t n)
{
    static const unsigned char ns[2][4] = {{0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d}};
    static const unsigned char us[2][4] = {{0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4}};
    for (int i = 0; n >= 4 && i < 2; i++) {
        if (memcmp(head, ns[i], 4) == 0)
            return "ns";
        if (memcmp(head, us[i], 4) == 0)
            return "us";
    }
    return "pcapng";
}

static int store_origin_facts(struct reader_context *context, pcap_t *pcap, const char *unit, struct err *err)
{
    int dlt = pcap_datalink(pcap);
    const char *name = pcap_datalink_val_to_name(dlt);
    char text[64];
    (void)snprintf(text, sizeof text, "%s", name ? name : "");
    if (!name)
        (void)snprintf(text, sizeof text, "%d", dlt);
    return store_origin(context->store, "capture_link_type", text, err) ||
                   store_origin(context->store, "capture_time_unit", unit, err)
               ? -1
               : 0;
}

static int read_packets(struct reader_context *context, struct capture *capture, struct cookie *cookie, pcap_t *pcap,
                        struct err *err)
{
    capture->dlt = -1;
    if (cookie->pcapng) {
        capture->dlt_of = next_link;
        capture->dlt_ctx = cookie;
    } else if (capture_link(capture, pcap_datalink(pcap), err)) {
        return -1;
    }
    tlp_sink_total(capture->sink, "snaplen", pcap_snapshot(pcap));
    struct err why = {""};
    int rc = capture_loop(capture, pcap, false, NULL, &why);
    /* What was read before an error is kept. */
    if (capture_finish(capture, context->store, rc < 0 ? NULL : err) && rc >= 0)
        return -1;
    for (int v = 1; v < NETTLP_VERDICTS; v++)
        context->skips.total += capture->skipped[v];
    if (rc < 0 || cookie->err.msg[0])
        return err_set(err, "%s", cookie->err.msg[0] ? cookie->err.msg : why.msg);
    if (capture->packets && capture->skipped[NETTLP_OTHER_LINK] == capture->packets && !cookie->differs)
        return capture_link(capture, pcap_datalink(pcap), err);
    if (rc > 0)
        reader_incomplete(context, "the capture ends inside %s", why.msg);
    return 0;
}

static int read_capture(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct cookie cookie = {.source = source};
    struct capture_options options;
    const unsigned char *head;
    size_t got;
    if (capture_options_of(context->options, context->strict, &options, err) ||
        input_stream_peek(source, 4, &head, &got, err))
        return -1;
    const char *unit = unit_of(head, got);
    cookie.pcapng = strcmp(unit, "pcapng") == 0;
    char *buffer = mem_zalloc(1, FILE_BUFFER, err);
    struct capture *capture = buffer ? mem_zalloc(1, sizeof *capture, err) : NULL;
    pcap_t *pcap = capture ? open_pcap(&cookie, buffer, err) : NULL;
    struct tlp_sink *sink = pcap ? tlp_sink_open(context->store, context->file_index, err) : NULL;
    int rc = -1;
    if (sink) {
        capture_init(capture, &options, sink);
        rc = store_origin_facts(context, pcap, unit, err);
        if (rc == 0)
            rc = read_packets(context, capture, &cookie, pcap, err);
    }
    tlp_sink_free(sink);
    if (pcap)
        pcap_close(pcap);
    free(capture);
    free(buffer);
    free(cookie.packets);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char pcapng[4] = {0x0a, 0x0d, 0x0d, 0x0a};
    (void)path;
    if (n < 4)
        return PROBE_NO;
    return memcmp(head, pcapng, 4) == 0 || strcmp(unit_of(head, n), "pcapng") != 0 ? PROBE_YES : PROBE_NO;
}

const struct reader read_nettlp = {
    .name = "nettlp",
    .summary = "PCIe packets in pcap or pcapng captures: NetTLP over UDP, raw TLPs at an offset, Agilent analysers",
    .options = nettlp_params,
    .options_size = sizeof(struct nettlp_options),
    .probe = probe,
    .read = read_capture,
};
