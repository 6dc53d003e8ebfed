#include "trace/import/capture.h"

#include <arpa/inet.h>
#include <assert.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/base/clock.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

/* --- where in a captured frame the PCIe packet is; Ethernet, VLAN tags, IPv4 or IPv6, UDP and the NetTLP
 * header ---
 *
 * Ethernet (14, or Linux cooked 16 or 20, or none) [4 per VLAN tag] IPv4 (20-60) UDP (8) NetTLP (6) TLP. Adapters send
 * IPv4; IPv6 (40 and up to eight extension headers) is what a host or a tunnel between may make of it.
 * Source: NetTLP adapter RTL v0.1 to v0.22.5 and libtlp (ports and header by release), NetTLP/tcpdump (ports); IEEE
 * 802.1Q and 802.1ad (tags), RFC 791, RFC 8200, RFC 768. Ports: 14198 up to v0.14, then 0x3000 + tag for completions
 * and, from v0.22, 0x4000 + tag for requests. The NetTLP header is a 16-bit sequence (10 bits up to v0.18) and a 32-bit
 * time stamp; before NetTLP, port 14198 carried a 3-bit version that was not 0 and a 40-bit time stamp. The time stamp
 * counts 6.4 ns ticks of the adapter's 156.25 MHz Ethernet clock; frames sent by libtlp have 0. */

struct frame {
    uint32_t source, destination; /* IPv4, host order; 0: IPv6 */
    int32_t vlan;                 /* the innermost tag's number, -1: none */
    uint16_t port;
    uint16_t sequence;  /* as on the wire */
    uint64_t stamp;     /* adapter ticks of 6.4 ns; 0: none */
    size_t tlp_offset;  /* in the captured bytes */
    size_t tlp_bytes;   /* announced by UDP: prefixes, header, payload, ECRC */
    size_t frame_bytes; /* the frame ends here by its IP length; origlen below it: cut on the wire */
};

enum {
    ETHER_IPV4 = 0x0800,
    ETHER_VLAN = 0x8100,
    ETHER_QINQ = 0x88a8,
    ETHER_QINQ_OLD = 0x9100,
    MAX_TAGS = 8,
    PROTOCOL_UDP = 17,
    UDP_BYTES = 8,
    NETTLP_BYTES = 6,
    PORT_EARLY = 14198, /* adapter v0.1 to v0.14, and what came before */
    LEAST_TLP = 12,
};

const char *nettlp_reason(enum nettlp_verdict verdict)
{
    static const char *const names[NETTLP_VERDICTS] = {
        [NETTLP_TLP] = "",
        [NETTLP_NOT_IP] = "not IPv4",
        [NETTLP_NOT_UDP] = "not UDP",
        [NETTLP_FRAGMENT] = "IP fragment",
        [NETTLP_OTHER_HOST] = "other host",
        [NETTLP_OTHER_PORT] = "other port",
        [NETTLP_ADAPTER_MESSAGE] = "adapter message",
        [NETTLP_BAD_DATAGRAM] = "bad datagram",
        [NETTLP_TRUNCATED_HEADER] = "truncated_header",
        [NETTLP_MALFORMED] = "malformed",
        [NETTLP_SHORT] = "short",
        [NETTLP_NOT_A_TLP] = "not a TLP",
        [NETTLP_OTHER_LINK] = "an interface's link type that holds no TLP",
    };
    return names[verdict];
}

/* A header ends beyond what was kept: because the capture cut it, or because it never was on the wire. */
static enum nettlp_verdict cut(size_t need, size_t wire)
{
    return wire < need ? NETTLP_SHORT : NETTLP_TRUNCATED_HEADER;
}

/* The link layer: where the internet layer starts. */
static enum nettlp_verdict parse_link(enum nettlp_link link, const unsigned char *data, size_t captured, size_t wire,
                                      size_t *at, int32_t *vlan)
{
    static const struct {
        size_t bytes, type_at;
    } links[] = {[NETTLP_LINK_ETHERNET] = {14, 12}, [NETTLP_LINK_COOKED] = {16, 14}, [NETTLP_LINK_COOKED2] = {20, 0}};
    *vlan = -1;
    *at = 0;
    if (link == NETTLP_LINK_IP)
        return NETTLP_TLP;
    size_t i = links[link].bytes;
    if (captured < i)
        return cut(i, wire);
    unsigned type = be16(data + links[link].type_at);
    for (int tags = 0; type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD; tags++) {
        if (tags == MAX_TAGS)
            return NETTLP_NOT_IP;
        if (captured < i + 4)
            return cut(i + 4, wire);
        *vlan = (int32_t)(be16(data + i) & 0xfff);
        type = be16(data + i + 2);
        i += 4;
    }
    *at = i;
    return type == ETHER_IPV4 ? NETTLP_TLP : NETTLP_NOT_IP;
}

static bool port_wanted(const struct nettlp_filter *filter, unsigned port)
{
    if (filter->port_lo || filter->port_hi)
        return port >= filter->port_lo && port <= filter->port_hi;
    return port == PORT_EARLY || (port >= 0x3000 && port <= 0x30ff) || (port >= 0x4000 && port <= 0x40ff);
}

static void parse_stamp(const unsigned char *p, struct frame *frame)
{
    frame->sequence = (uint16_t)be16(p);
    frame->stamp = be32(p + 2);
    if (frame->port == PORT_EARLY && p[0] >> 5) { /* before NetTLP: version, direction, 40-bit time stamp */
        frame->sequence = 0;
        frame->stamp |= (uint64_t)p[1] << 32;
    }
}

/* Where UDP begins and what the internet layer has for it. */
struct payload {
    size_t at, bytes;
};

static enum nettlp_verdict parse_ipv4(const struct nettlp_filter *filter, const unsigned char *data, size_t captured,
                                      size_t wire, size_t ip, struct frame *frame, struct payload *udp)
{
    if (captured < ip + 20)
        return cut(ip + 20, wire);
    size_t header = (size_t)4 * (data[ip] & 15u), total = be16(data + ip + 2);
    if (header < 20 || total < header)
        return NETTLP_BAD_DATAGRAM;
    if (data[ip + 9] != PROTOCOL_UDP)
        return NETTLP_NOT_UDP;
    if (be16(data + ip + 6) & 0x3fff) /* more fragments, or an offset */
        return NETTLP_FRAGMENT;
    frame->source = be32(data + ip + 12);
    frame->destination = be32(data + ip + 16);
    if (filter->adapter && frame->source != filter->adapter && frame->destination != filter->adapter)
        return NETTLP_OTHER_HOST;
    *udp = (struct payload){ip + header, total - header};
    return NETTLP_TLP;
}

/* Find the TLP in `captured` bytes of a frame that had `wire` bytes. NETTLP_TLP promises nothing about the TLP itself,
 * nor that all of its header was captured. */
static enum nettlp_verdict parse_frame(enum nettlp_link link, const struct nettlp_filter *filter,
                                       const unsigned char *data, size_t captured, size_t wire, struct frame *frame)
{
    size_t ip;
    struct payload udp = {0, 0};
    enum nettlp_verdict v = parse_link(link, data, captured, wire, &ip, &frame->vlan);
    if (v != NETTLP_TLP)
        return v;
    if (captured < ip + 1)
        return cut(ip + 1, wire);
    v = data[ip] >> 4 == 4 ? parse_ipv4(filter, data, captured, wire, ip, frame, &udp) : NETTLP_NOT_IP;
    if (v != NETTLP_TLP)
        return v;
    if (captured < udp.at + UDP_BYTES)
        return cut(udp.at + UDP_BYTES, wire);
    frame->port = (uint16_t)be16(data + udp.at + 2);
    if (be16(data + udp.at) != frame->port || !port_wanted(filter, frame->port))
        return NETTLP_OTHER_PORT;
    size_t length = be16(data + udp.at + 4);
    if (length < UDP_BYTES || length > udp.bytes)
        return NETTLP_BAD_DATAGRAM;
    if (length == UDP_BYTES + NETTLP_BYTES)
        return NETTLP_ADAPTER_MESSAGE;
    if (length < UDP_BYTES + NETTLP_BYTES + LEAST_TLP)
        return NETTLP_MALFORMED;
    size_t at = udp.at + UDP_BYTES;
    if (captured < at + NETTLP_BYTES)
        return cut(at + NETTLP_BYTES, wire);
    parse_stamp(data + at, frame);
    frame->tlp_offset = at + NETTLP_BYTES;
    frame->tlp_bytes = length - UDP_BYTES - NETTLP_BYTES;
    frame->frame_bytes = udp.at + udp.bytes;
    return NETTLP_TLP;
}

int nettlp_parse_address(const char *text, uint32_t *address, struct err *err)
{
    struct in_addr a;
    if (inet_pton(AF_INET, text, &a) != 1)
        return err_set(err, "'%s' is not an IPv4 address such as 192.168.10.1", text);
    *address = ntohl(a.s_addr);
    return 0;
}

static int parse_port(const char *text, size_t n, uint16_t *port, struct err *err)
{
    char buf[16];
    int64_t v = 0;
    if (n >= sizeof buf)
        return err_set(err, "'%s' is not a UDP port", text);
    memcpy(buf, text, n);
    buf[n] = 0;
    if (units_parse_int(buf, &v, err))
        return -1;
    if (v < 1 || v > 65535)
        return err_set(err, "UDP port %s is not within 1 to 65535", buf);
    *port = (uint16_t)v;
    return 0;
}

int nettlp_parse_ports(const char *text, struct nettlp_filter *filter, struct err *err)
{
    const char *dash = strchr(text, '-');
    size_t n = dash ? (size_t)(dash - text) : strlen(text);
    uint16_t lo = 0, hi = 0;
    if (parse_port(text, n, &lo, err))
        return -1;
    hi = lo;
    if (dash && parse_port(dash + 1, strlen(dash + 1), &hi, err))
        return -1;
    if (hi < lo)
        return err_set(err, "UDP ports %s: the first is larger than the last", text);
    filter->port_lo = lo;
    filter->port_hi = hi;
    return 0;
}

/* --- the loop --- */

enum framing { FRAMING_NETTLP, FRAMING_RAW, FRAMING_AGILENT };

/* The Agilent record header, and what surrounds a TLP on the link. */
enum {
    AGILENT_HEADER = 20,
    AGILENT_FLAGS_AT = 16,
    AGILENT_UPSTREAM = 0x10,
    LINK_STP = 0xfb,
    LINK_FRONT = 3,
    LINK_BACK = 5
};

/* How long a live packet may be late before it is stored out of order. */
#define LIVE_SLACK_NS 100000000
/* How often a live source commits: what a kill costs is this, the slack and what the kernel has not handed over. */
#define COMMIT_NS     750000000
/* How often a live source looks whether it shall stop. */
enum { WAKE_MS = 100 };
static_assert(COMMIT_NS + LIVE_SLACK_NS + WAKE_MS * INT64_C(1000000) <= 1000000000, "a kill loses at most a second");

void capture_init(struct capture *c, const struct capture_options *options, struct tlp_sink *sink)
{
    memset(c, 0, sizeof *c);
    c->options = *options;
    c->sink = sink;
}

int capture_link(struct capture *c, int dlt, struct err *err)
{
    static const struct {
        int dlt;
        enum nettlp_link link;
    } links[] = {{DLT_EN10MB, NETTLP_LINK_ETHERNET},
                 {DLT_LINUX_SLL, NETTLP_LINK_COOKED},
                 {DLT_LINUX_SLL2, NETTLP_LINK_COOKED2},
                 {DLT_RAW, NETTLP_LINK_IP},
                 {DLT_IPV4, NETTLP_LINK_IP}};
    c->framing = c->options.tlp_offset >= 0 ? FRAMING_RAW : dlt == DLT_USER11 ? FRAMING_AGILENT : FRAMING_NETTLP;
    if (c->framing != FRAMING_NETTLP)
        return 0;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].dlt == dlt) {
            c->link = links[i].link;
            return 0;
        }
    const char *name = pcap_datalink_val_to_name(dlt);
    return err_set(err,
                   "link type %d (%s) is not Ethernet, Linux cooked, IP or an Agilent analyser's; where each packet "
                   "holds a TLP at byte K, give --set tlp_offset=K",
                   dlt, name ? name : "unknown");
}

static bool is_damage(enum nettlp_verdict verdict)
{
    return verdict == NETTLP_MALFORMED || verdict == NETTLP_SHORT || verdict == NETTLP_TRUNCATED_HEADER ||
           verdict == NETTLP_BAD_DATAGRAM;
}

static int skip(struct capture *c, enum nettlp_verdict verdict, const char *why, struct err *err)
{
    c->skipped[verdict]++;
    if (c->options.strict && is_damage(verdict))
        return err_set(err, "packet %llu: %s%s%s", (unsigned long long)c->packets, nettlp_reason(verdict),
                       why ? ": " : "", why ? why : "");
    return 0;
}

/* Decode the TLP in `kept` bytes of `bytes` announced, and hold it against them. */
static enum nettlp_verdict decode(struct capture *c, const unsigned char *data, size_t kept, size_t bytes, bool slack,
                                  struct tlp *tlp, const char **why)
{
    enum tlp_verdict v = tlp_decode(data, kept < bytes ? kept : bytes, tlp, why);
    if (v == TLP_CUT) {
        if (kept < bytes)
            return NETTLP_TRUNCATED_HEADER;
        v = TLP_MALFORMED;
    }
    if (v == TLP_OK)
        v = tlp_check(tlp, bytes, slack, why);
    if (v == TLP_OK)
        return NETTLP_TLP;
    tlp_sink_defect(c->sink, tlp->type, *why);
    return NETTLP_MALFORMED;
}

static int keep(struct capture *c, const struct tlp *tlp, struct tlp_item *item, struct err *err)
{
    tlp_to_record(tlp, &item->record);
    item->packet = c->packets;
    item->reply = (uint16_t)tlp_reply_bytes(tlp);
    item->wire = (uint16_t)tlp_wire_bytes(tlp);
    return tlp_sink_add(c->sink, item, err);
}

/* The direction of a flow's packets is their source address. */
static uint16_t direction_of(struct capture *c, uint32_t flow, uint32_t source)
{
    if (!c->flow_direction[flow]) {
        char text[TLP_HOST_TEXT];
        const char *name = tlp_flows_address(source, text);
        c->flow_direction[flow] = (uint16_t)(tlp_sink_direction(c->sink, name) + 1);
    }
    return (uint16_t)(c->flow_direction[flow] - 1);
}

static int take_nettlp(struct capture *c, int64_t time_ns, const unsigned char *data, size_t kept, size_t wire,
                       struct err *err)
{
    struct frame frame;
    struct tlp tlp;
    const char *why = NULL;
    enum nettlp_verdict v = parse_frame(c->link, &c->options.filter, data, kept, wire, &frame);
    if (v != NETTLP_TLP)
        return skip(c, v, NULL, err);
    uint32_t number = tlp_flows_find(tlp_sink_flows(c->sink), frame.source, frame.destination, frame.vlan);
    struct tlp_flow *flow = tlp_flows_at(tlp_sink_flows(c->sink), number);
    int64_t adapter_ns = tlp_flow_packet(flow, frame.sequence, frame.stamp, time_ns);
    v = decode(c, data + frame.tlp_offset, kept - frame.tlp_offset, frame.tlp_bytes, false, &tlp, &why);
    if (v == NETTLP_TRUNCATED_HEADER && wire < frame.frame_bytes)
        v = NETTLP_SHORT;
    if (v == NETTLP_TLP && wire < frame.frame_bytes)
        v = NETTLP_SHORT;
    if (v != NETTLP_TLP)
        return skip(c, v, why, err);
    struct tlp_item item = {
        .record = {.time = c->options.clock == CAPTURE_CLOCK_ADAPTER ? adapter_ns : time_ns, .group = number},
        .ticks = frame.stamp,
        .side = tlp_is_completion(tlp.type) ? frame.destination : frame.source,
        .sequence = frame.sequence,
        .direction = direction_of(c, number, frame.source),
    };
    return keep(c, &tlp, &item, err);
}

/* A TLP whose transport says no more than where it starts. */
static int take_bare(struct capture *c, int64_t time_ns, const unsigned char *data, size_t kept, size_t wire,
                     bool slack, int upstream, struct err *err)
{
    static const char *const directions[] = {"downstream", "upstream", "unknown"};
    struct tlp tlp;
    const char *why = NULL;
    enum nettlp_verdict v = decode(c, data, kept, wire, slack, &tlp, &why);
    if (v != NETTLP_TLP)
        return skip(c, v, why, err);
    bool reply = tlp_is_completion(tlp.type);
    struct tlp_item item = {
        .record = {.time = time_ns},
        .side = upstream == 2 ? 0 : (uint32_t)(reply ? !upstream : upstream),
        .direction = tlp_sink_direction(c->sink, directions[upstream]),
    };
    return keep(c, &tlp, &item, err);
}

static int take_agilent(struct capture *c, int64_t time_ns, const unsigned char *data, size_t kept, size_t wire,
                        struct err *err)
{
    if (kept < AGILENT_HEADER + LINK_FRONT)
        return skip(c, wire < AGILENT_HEADER + LINK_FRONT ? NETTLP_NOT_A_TLP : NETTLP_TRUNCATED_HEADER, NULL, err);
    if (data[AGILENT_HEADER] != LINK_STP)
        return skip(c, NETTLP_NOT_A_TLP, NULL, err);
    size_t front = AGILENT_HEADER + LINK_FRONT;
    size_t bytes = wire < front + LINK_BACK ? 0 : wire - front - LINK_BACK;
    int upstream = (data[AGILENT_FLAGS_AT + 3] & AGILENT_UPSTREAM) != 0;
    return take_bare(c, time_ns, data + front, kept - front, bytes, false, upstream, err);
}

int capture_packet(struct capture *c, int64_t time_ns, const unsigned char *data, size_t kept, size_t wire,
                   struct err *err)
{
    c->packets++;
    c->cut_packets += kept < wire;
    if (c->framing == FRAMING_NETTLP)
        return take_nettlp(c, time_ns, data, kept, wire, err);
    if (c->framing == FRAMING_AGILENT)
        return take_agilent(c, time_ns, data, kept, wire, err);
    size_t offset = (size_t)c->options.tlp_offset;
    if (wire <= offset)
        return skip(c, NETTLP_NOT_A_TLP, NULL, err);
    if (kept <= offset)
        return skip(c, NETTLP_TRUNCATED_HEADER, NULL, err);
    return take_bare(c, time_ns, data + offset, kept - offset, wire - offset, true, 2, err);
}

/* tv_usec holds ns where the handle was opened for them. Seconds are clamped so that the sum fits. */
static int64_t time_of(const struct capture *c, const struct pcap_pkthdr *h)
{
    int64_t s = h->ts.tv_sec, most = RECORD_TIME_MAX / 1000000000 - 5000;
    s = s > most ? most : s < -most ? -most : s;
    int64_t fraction = h->ts.tv_usec & 0xffffffff;
    return s * 1000000000 + (c->microseconds ? fraction * 1000 : fraction);
}

/* What was left out since the last call, by reason. */
static int store_skipped(struct capture *c, struct store *store, bool zeros, struct err *err)
{
    for (int v = 1; v < NETTLP_VERDICTS; v++) {
        uint64_t n = c->skipped[v] - c->told[v];
        bool say = n || (zeros && (v == NETTLP_MALFORMED || v == NETTLP_SHORT)); /* these two are said even if 0 */
        c->told[v] = c->skipped[v];
        if (say && store_skip(store, nettlp_reason((enum nettlp_verdict)v), n, err))
            return -1;
    }
    return 0;
}

/* Where interfaces have link types of their own: choose that of the next packet. False: it holds no TLP. */
static bool choose_link(struct capture *c, struct err *err)
{
    if (!c->dlt_of)
        return true;
    const int dlt = c->dlt_of(c->dlt_ctx);
    const bool known = (dlt >= 0 && dlt == c->dlt) || capture_link(c, dlt, err) == 0;
    c->dlt = known ? dlt : -1;
    return known;
}

static int take_packet(struct capture *c, const struct pcap_pkthdr *header, const unsigned char *data, struct err *err)
{
    struct err why;
    const size_t kept = header->caplen < header->len ? header->caplen : header->len;
    if (choose_link(c, &why))
        return capture_packet(c, time_of(c, header), data, kept, header->len, err);
    c->packets++;
    return skip(c, NETTLP_OTHER_LINK, NULL, err);
}

/* Store what is old enough to be in order; once in a while also put it on the disk. */
static int keep_live(struct capture *c, struct err *err)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now < c->commit_ns)
        return 0;
    c->commit_ns = now + COMMIT_NS;
    return tlp_sink_drain(c->sink, clock_ns(CLOCK_REALTIME) - LIVE_SLACK_NS, err) ||
                   store_skipped(c, c->store, false, err) || tlp_sink_commit(c->sink, err)
               ? -1
               : 0;
}

/* Nothing is at hand: wait for more. libpcap's own wait does not end without a packet. */
static void wait_live(struct pcap *pcap)
{
    struct pollfd fd = {.fd = pcap_get_selectable_fd(pcap), .events = POLLIN};
    (void)poll(&fd, 1, WAKE_MS);
}

int capture_loop(struct capture *c, struct pcap *pcap, bool live, const atomic_int *stop, struct err *err)
{
    struct pcap_pkthdr *header;
    const unsigned char *data;
    for (uint64_t turn = 0; !stop || !atomic_load_explicit(stop, memory_order_relaxed); turn++) {
        int rc = pcap_next_ex(pcap, &header, &data);
        if (rc == 1 && header->len == 0 && !live) { /* a hole of any size would be as many packets */
            err_set(err, "packet %llu: it has 0 bytes, as where a file is filled up with zeros",
                    (unsigned long long)c->packets + 1);
            return 1;
        }
        if (rc == 1) {
            if (take_packet(c, header, data, err))
                return -1;
        } else if (rc == PCAP_ERROR_BREAK) {
            break;
        } else if (rc == 0 && live) {
            wait_live(pcap);
        } else {
            err_set(err, "packet %llu: %s", (unsigned long long)c->packets + 1, pcap_geterr(pcap));
            return !live && strstr(pcap_geterr(pcap), "truncated") ? 1 : -1;
        }
        if (live && (rc == 0 || turn % 256 == 0) && keep_live(c, err))
            return -1;
    }
    return 0;
}

int capture_finish(struct capture *c, struct store *store, struct err *err)
{
    tlp_sink_total(c->sink, "packets", (int64_t)c->packets);
    tlp_sink_total(c->sink, "truncated_packets", (int64_t)c->cut_packets);
    if (store_skipped(c, store, true, err))
        return -1;
    return tlp_sink_finish(c->sink, err);
}

/* 256 bytes hold every header: Ethernet 14, eight VLAN tags 32, IPv4 60, UDP 8, NetTLP 6, prefixes 16, TLP 16. */
enum { SNAPLEN = 256, KERNEL_BUFFER = 64 << 20 };

struct live {
    pcap_t *pcap;
    struct capture capture;
    uint64_t dropped;
};

static int activate(pcap_t *pcap, const char *interface, struct err *err)
{
    (void)pcap_set_snaplen(pcap, SNAPLEN);
    (void)pcap_set_promisc(pcap, 1);
    (void)pcap_set_timeout(pcap, WAKE_MS);
    (void)pcap_set_buffer_size(pcap, KERNEL_BUFFER);
    (void)pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
    int rc = pcap_activate(pcap);
    char text[PCAP_ERRBUF_SIZE] = "";
    if (rc >= 0 && pcap_setnonblock(pcap, 1, text) == 0)
        return 0;
    if (rc >= 0)
        return err_set(err, "cannot capture on '%s': %s", interface, text);
    const char *detail = pcap_geterr(pcap);
    const char *sep = detail[0] ? ": " : "";
    if (rc == PCAP_ERROR_PERM_DENIED || rc == PCAP_ERROR_PROMISC_PERM_DENIED)
        return err_set(err,
                       "no permission to capture on '%s': run as root, or give the program the capability: "
                       "setcap cap_net_raw,cap_net_admin+ep",
                       interface);
    if (rc == PCAP_ERROR_NO_SUCH_DEVICE)
        return err_set(err, "there is no network interface '%s'%s%s", interface, sep, detail);
    return err_set(err, "cannot capture on '%s': %s%s%s", interface, pcap_statustostr(rc), sep, detail);
}

struct live *live_open(const char *interface, const struct capture_options *options, struct err *err)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    struct live *live = mem_zalloc(1, sizeof *live, err);
    if (!live)
        return NULL;
    live->pcap = pcap_create(interface, text);
    if (!live->pcap)
        err_set(err, "cannot capture on '%s': %s", interface, text);
    capture_init(&live->capture, options, NULL);
    if (!live->pcap || activate(live->pcap, interface, err) ||
        capture_link(&live->capture, pcap_datalink(live->pcap), err)) {
        live_close(live);
        return NULL;
    }
    live->capture.microseconds = pcap_get_tstamp_precision(live->pcap) != PCAP_TSTAMP_PRECISION_NANO;
    return live;
}

void live_close(struct live *live)
{
    if (!live)
        return;
    if (live->pcap)
        pcap_close(live->pcap);
    free(live);
}

static int store_drops(struct live *live, struct store *store, struct err *err)
{
    struct pcap_stat stat;
    if (pcap_stats(live->pcap, &stat))
        return 0;
    live->dropped = (uint64_t)stat.ps_drop + stat.ps_ifdrop;
    if (stat.ps_drop && store_drop(store, "capture buffer full", stat.ps_drop, err))
        return -1;
    return stat.ps_ifdrop ? store_drop(store, "dropped by the interface", stat.ps_ifdrop, err) : 0;
}

int live_run(struct live *live, struct store *store, const atomic_int *stop, struct err *err)
{
    live->capture.sink = tlp_sink_open(store, 0, err);
    if (!live->capture.sink)
        return -1;
    live->capture.store = store;
    tlp_sink_total(live->capture.sink, "snaplen", SNAPLEN);
    int rc = capture_loop(&live->capture, live->pcap, true, stop, err);
    /* What was seen before an error is kept. */
    if (capture_finish(&live->capture, store, rc ? NULL : err) || store_drops(live, store, rc ? NULL : err))
        rc = -1;
    tlp_sink_free(live->capture.sink);
    live->capture.sink = NULL;
    return rc;
}

struct live_counts live_counts(const struct live *live)
{
    struct live_counts counts = {.frames = live->capture.packets, .dropped = live->dropped};
    for (int v = 0; v < NETTLP_VERDICTS; v++)
        counts.damaged += is_damage((enum nettlp_verdict)v) ? live->capture.skipped[v] : 0;
    return counts;
}
