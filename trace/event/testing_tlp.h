/* testing_tlp: PCIe packets, NetTLP frames and capture files, built for tests and fixtures.
 *
 * The builder shares nothing with the decoder but the specification. Buffers are the caller's; sizes are returned. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_MOST = 4 * 4 + 16 + 4096 + 4 + 128 };

struct build_tlp {
    uint8_t byte0;
    unsigned prefixes;
    unsigned length; /* DW, 0 means 1,024 */
    uint16_t requester, completer;
    unsigned tag;    /* 10 bits */
    uint8_t enables; /* last << 4 | first */
    uint64_t addr;
    bool digest, poisoned, hints;
    unsigned traffic_class, attributes; /* attributes: bit 0 no snoop, 1 relaxed, 2 ID-based */
    unsigned status, byte_count, lower; /* completions; byte count 0 means 4,096 */
    unsigned payload;                   /* bytes of data after the header */
};

static inline uint8_t *build_be(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

static inline size_t build_tlp(uint8_t *out, const struct build_tlp *t)
{
    uint8_t *p = out;
    for (unsigned i = 0; i < t->prefixes; i++)
        p = build_be(p, 0x91000000u + i, 4);
    *p++ = t->byte0;
    *p++ = (uint8_t)((t->tag >> 9 & 1) << 7 | t->traffic_class << 4 | (t->tag >> 8 & 1) << 3 | (t->attributes & 4) |
                     t->hints);
    p = build_be(
        p, (uint64_t)t->digest << 15 | (uint64_t)t->poisoned << 14 | (t->attributes & 3) << 12 | (t->length & 0x3ff),
        2);
    if ((t->byte0 & 0x1e) == 0x0a) {
        p = build_be(p, t->completer, 2);
        p = build_be(p, t->status << 13 | (t->byte_count & 0xfff), 2);
        p = build_be(p, t->requester, 2);
        *p++ = (uint8_t)t->tag;
        *p++ = (uint8_t)t->lower;
    } else {
        p = build_be(p, t->requester, 2);
        *p++ = (uint8_t)t->tag;
        *p++ = t->enables;
        p = build_be(p, t->addr, t->byte0 & 0x20 ? 8 : 4);
    }
    for (unsigned i = 0; i < t->payload; i++)
        *p++ = (uint8_t)i;
    if (t->digest)
        p = build_be(p, 0xdeadbeef, 4);
    return (size_t)(p - out);
}

struct build_frame {
    uint32_t source, destination;
    uint16_t port;
    unsigned tags; /* VLAN tags, the outer ones 802.1ad */
    uint16_t vlan;
    unsigned options; /* 4-byte words of IPv4 options */
    uint16_t sequence;
    uint32_t stamp;
    uint8_t protocol;   /* 0: UDP */
    uint16_t fragment;  /* flags and offset */
    uint16_t ethertype; /* 0: IPv4 */
};

#define BUILD_ADAPTER 0xc0a80a01u /* 192.168.10.1 */
#define BUILD_HOST    0xc0a80a03u /* 192.168.10.3 */

/* A frame around `bytes` bytes of TLP (or of anything). */
static inline size_t build_frame(uint8_t *out, const struct build_frame *f, const uint8_t *tlp, size_t bytes)
{
    uint8_t *p = out;
    memcpy(p, "\xff\xff\xff\xff\xff\xff\x00\x11\x22\x33\x44\x55", 12);
    p += 12;
    for (unsigned i = 0; i < f->tags; i++) {
        p = build_be(p, i + 1 < f->tags ? 0x88a8 : 0x8100, 2);
        p = build_be(p, i + 1 < f->tags ? 4000u + i : f->vlan, 2);
    }
    p = build_be(p, f->ethertype ? f->ethertype : 0x0800, 2);
    *p++ = (uint8_t)(0x45 + f->options);
    *p++ = 0;
    p = build_be(p, 20 + 4 * f->options + 8 + 6 + bytes, 2);
    p = build_be(p, 0, 2);
    p = build_be(p, f->fragment, 2);
    *p++ = 64;
    *p++ = f->protocol ? f->protocol : 17;
    p = build_be(p, 0, 2);
    p = build_be(p, f->source ? f->source : BUILD_ADAPTER, 4);
    p = build_be(p, f->destination ? f->destination : BUILD_HOST, 4);
    memset(p, 1, 4 * (size_t)f->options);
    p += 4 * f->options;
    p = build_be(p, f->port ? f->port : 0x3000, 2);
    p = build_be(p, f->port ? f->port : 0x3000, 2);
    p = build_be(p, 8 + 6 + bytes, 2);
    p = build_be(p, 0, 2);
    p = build_be(p, f->sequence, 2);
    p = build_be(p, f->stamp, 4);
    memcpy(p, tlp, bytes);
    return (size_t)(p - out) + bytes;
}

struct build_pcap {
    bool micro, big; /* microseconds, big-endian */
    uint32_t snaplen, link;
};

static inline void build_put(FILE *f, bool big, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        (void)fputc((int)(value >> 8 * (big ? bytes - 1 - i : i) & 0xff), f);
}

static inline FILE *build_pcap_open(const char *path, const struct build_pcap *c)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        abort();
    build_put(f, c->big, c->micro ? 0xa1b2c3d4 : 0xa1b23c4d, 4);
    build_put(f, c->big, 2, 2);
    build_put(f, c->big, 4, 2);
    build_put(f, c->big, 0, 4);
    build_put(f, c->big, 0, 4);
    build_put(f, c->big, c->snaplen, 4);
    build_put(f, c->big, c->link, 4);
    return f;
}

/* One packet of `wire` bytes, of which the snap length and `at_hand` allow so many to be kept. */
static inline void build_pcap_packet(FILE *f, const struct build_pcap *c, int64_t time_ns, const uint8_t *data,
                                     size_t at_hand, size_t wire)
{
    size_t kept = at_hand < wire ? at_hand : wire;
    kept = kept < c->snaplen ? kept : c->snaplen;
    build_put(f, c->big, (uint32_t)(time_ns / 1000000000), 4);
    build_put(f, c->big, (uint32_t)(time_ns % 1000000000 / (c->micro ? 1000 : 1)), 4);
    build_put(f, c->big, (uint32_t)kept, 4);
    build_put(f, c->big, (uint32_t)wire, 4);
    if (fwrite(data, 1, kept, f) != kept)
        abort();
}

/* A pcapng section with one interface, time stamps in 10^-digits s. */
static inline FILE *build_pcapng_open(const char *path, uint32_t link, uint32_t snaplen, unsigned digits)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        abort();
    const uint32_t section[] = {0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28};
    const uint32_t interface[] = {1, 32, link, snaplen, 9 | 1 << 16, digits, 0, 32};
    for (int i = 0; i < 7; i++)
        build_put(f, false, section[i], 4);
    for (int i = 0; i < 8; i++)
        build_put(f, false, interface[i], 4);
    return f;
}

static inline void build_pcapng_packet(FILE *f, uint64_t units, const uint8_t *data, size_t kept, size_t wire)
{
    size_t padded = (kept + 3) / 4 * 4;
    const uint32_t head[] = {
        6, (uint32_t)(32 + padded), 0, (uint32_t)(units >> 32), (uint32_t)units, (uint32_t)kept, (uint32_t)wire};
    for (int i = 0; i < 7; i++)
        build_put(f, false, head[i], 4);
    (void)fwrite(data, 1, kept, f);
    for (size_t i = kept; i < padded; i++)
        (void)fputc(0, f);
    build_put(f, false, (uint32_t)(32 + padded), 4);
}
