#include "trace/import/capture.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "trace/base/units.h"

enum {
    ETHER_IPV4 = 0x0800,
    ETHER_IPV6 = 0x86dd,
    IPV6_BYTES = 40,
    MAX_EXTENSIONS = 8,
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
        [NETTLP_NOT_IP] = "not IPv4 or IPv6",
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
    };
    return names[verdict];
}

static unsigned be16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
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
    return type == ETHER_IPV4 || type == ETHER_IPV6 ? NETTLP_TLP : NETTLP_NOT_IP;
}

static bool port_wanted(const struct nettlp_filter *filter, unsigned port)
{
    if (filter->port_lo || filter->port_hi)
        return port >= filter->port_lo && port <= filter->port_hi;
    return port == PORT_EARLY || (port >= 0x3000 && port <= 0x30ff) || (port >= 0x4000 && port <= 0x40ff);
}

static void parse_stamp(const unsigned char *p, struct nettlp_frame *frame)
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
                                      size_t wire, size_t ip, struct nettlp_frame *frame, struct payload *udp)
{
    if (captured < ip + 20)
        return cut(ip + 20, wire);
    size_t header = 4u * (data[ip] & 15u), total = be16(data + ip + 2);
    if (header < 20 || total < header)
        return NETTLP_BAD_DATAGRAM;
    if (data[ip + 9] != PROTOCOL_UDP)
        return NETTLP_NOT_UDP;
    if (be16(data + ip + 6) & 0x3fff) /* more fragments, or an offset */
        return NETTLP_FRAGMENT;
    frame->source = be32(data + ip + 12);
    frame->destination = be32(data + ip + 16);
    frame->source6 = frame->destination6 = NULL;
    if (filter->adapter && frame->source != filter->adapter && frame->destination != filter->adapter)
        return NETTLP_OTHER_HOST;
    *udp = (struct payload){ip + header, total - header};
    return NETTLP_TLP;
}

/* Whether a header of type `next` stands between IPv6's and UDP's, and its bytes. */
static bool extension(unsigned next, const unsigned char *p, size_t *bytes)
{
    enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, AUTHENTICATION = 51, DESTINATION = 60 };
    *bytes = next == FRAGMENT ? 8 : next == AUTHENTICATION ? 4u * (p[1] + 2u) : 8u * (p[1] + 1u);
    return next == HOP_BY_HOP || next == ROUTING || next == FRAGMENT || next == AUTHENTICATION || next == DESTINATION;
}

static enum nettlp_verdict parse_ipv6(const struct nettlp_filter *filter, const unsigned char *data, size_t captured,
                                      size_t wire, size_t ip, struct nettlp_frame *frame, struct payload *udp)
{
    if (captured < ip + IPV6_BYTES)
        return cut(ip + IPV6_BYTES, wire);
    size_t at = ip + IPV6_BYTES, end = at + be16(data + ip + 4), bytes = 0;
    unsigned next = data[ip + 6];
    for (int i = 0; next != PROTOCOL_UDP; i++) {
        if (i == MAX_EXTENSIONS)
            return NETTLP_NOT_UDP;
        if (captured < at + 8)
            return extension(next, (const unsigned char[2]){0}, &bytes) ? cut(at + 8, wire) : NETTLP_NOT_UDP;
        if (!extension(next, data + at, &bytes))
            return NETTLP_NOT_UDP;
        if (bytes > end - at)
            return NETTLP_BAD_DATAGRAM;
        if (next == 44 && be16(data + at + 2) & 0xfff9) /* an offset, or more fragments */
            return NETTLP_FRAGMENT;
        next = data[at];
        at += bytes;
    }
    if (filter->adapter)
        return NETTLP_OTHER_HOST;
    frame->source = frame->destination = 0;
    frame->source6 = data + ip + 8;
    frame->destination6 = data + ip + 24;
    *udp = (struct payload){at, end - at};
    return NETTLP_TLP;
}

enum nettlp_verdict nettlp_frame_parse(enum nettlp_link link, const struct nettlp_filter *filter,
                                       const unsigned char *data, size_t captured, size_t wire,
                                       struct nettlp_frame *frame)
{
    size_t ip;
    struct payload udp = {0, 0};
    enum nettlp_verdict v = parse_link(link, data, captured, wire, &ip, &frame->vlan);
    if (v != NETTLP_TLP)
        return v;
    if (captured < ip + 1)
        return cut(ip + 1, wire);
    if (data[ip] >> 4 == 4)
        v = parse_ipv4(filter, data, captured, wire, ip, frame, &udp);
    else
        v = data[ip] >> 4 == 6 ? parse_ipv6(filter, data, captured, wire, ip, frame, &udp) : NETTLP_NOT_IP;
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
