#include "trace/derived/tlp_sink.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { SLOTS = 4 * TLP_FLOWS_MOST };
static const uint32_t first_host = 0xf0000000u; /* 240.0.0.0 */

struct tlp_flows {
    uint32_t count, last;
    struct tlp_flow rows[TLP_FLOWS_MOST];
    unsigned char hosts[TLP_FLOWS_MOST][16]; /* IPv6 */
    uint32_t host_count;
    uint16_t host_slots[SLOTS]; /* number + 1, 0: free */
    uint16_t slots[SLOTS];      /* number + 1, 0: free; asked for every packet: see trace/base/id_map.h for uthash */
};

struct tlp_flows *tlp_flows_new(struct err *err)
{
    return mem_zalloc(1, sizeof(struct tlp_flows), err);
}

void tlp_flows_free(struct tlp_flows *flows)
{
    free(flows);
}

static bool same(const struct tlp_flow *f, uint32_t source, uint32_t destination, int32_t vlan)
{
    return f->source == source && f->destination == destination && f->vlan == vlan;
}

uint32_t tlp_flows_host(struct tlp_flows *flows, const unsigned char address[16])
{
    uint64_t half[2];
    memcpy(half, address, sizeof half);
    uint64_t key = (half[0] * 0x9e3779b97f4a7c15u ^ half[1]) * 0xbf58476d1ce4e5b9u;
    size_t slot = (size_t)(key >> 40) % SLOTS;
    for (; flows->host_slots[slot]; slot = (slot + 1) % SLOTS)
        if (memcmp(flows->hosts[flows->host_slots[slot] - 1], address, 16) == 0)
            return first_host + flows->host_slots[slot] - 1;
    if (flows->host_count == TLP_FLOWS_MOST)
        return first_host + TLP_FLOWS_MOST - 1;
    memcpy(flows->hosts[flows->host_count], address, 16);
    flows->host_slots[slot] = (uint16_t)++flows->host_count;
    return first_host + flows->host_count - 1;
}

const char *tlp_flows_address(const struct tlp_flows *flows, uint32_t host, char text[TLP_HOST_TEXT])
{
    struct in_addr v4 = {htonl(host)};
    if (host >= first_host && host - first_host < flows->host_count)
        return inet_ntop(AF_INET6, flows->hosts[host - first_host], text, TLP_HOST_TEXT);
    return inet_ntop(AF_INET, &v4, text, TLP_HOST_TEXT);
}

uint32_t tlp_flows_find(struct tlp_flows *flows, uint32_t source, uint32_t destination, int32_t vlan)
{
    if (flows->count && same(&flows->rows[flows->last], source, destination, vlan))
        return flows->last;
    uint64_t key = ((uint64_t)source << 32 | destination) * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)vlan;
    size_t slot = (size_t)((key * 0xbf58476d1ce4e5b9u) >> 40) % SLOTS;
    for (; flows->slots[slot]; slot = (slot + 1) % SLOTS) {
        uint32_t number = flows->slots[slot] - 1u;
        if (same(&flows->rows[number], source, destination, vlan))
            return flows->last = number;
    }
    if (flows->count == TLP_FLOWS_MOST)
        return TLP_FLOWS_MOST - 1;
    uint32_t number = flows->count++;
    flows->slots[slot] = (uint16_t)(number + 1);
    flows->rows[number] = (struct tlp_flow){.source = source, .destination = destination, .vlan = vlan};
    return flows->last = number;
}

uint32_t tlp_flows_count(const struct tlp_flows *flows)
{
    return flows->count;
}

struct tlp_flow *tlp_flows_at(struct tlp_flows *flows, uint32_t number)
{
    return &flows->rows[number];
}

int64_t tlp_flow_packet(struct tlp_flow *f, uint16_t sequence, uint64_t stamp, int64_t time_ns)
{
    f->packets++;
    if (!stamp)
        return time_ns;
    if (f->stamped++) {
        f->gaps10 += ((f->sequence + 1u) & 0x3ff) != (sequence & 0x3ffu);
        f->gaps16 += ((f->sequence + 1u) & 0xffff) != sequence;
        f->ticks += (uint64_t)(int64_t)(int32_t)(uint32_t)(stamp - f->stamp); /* wraps every 27.49 s */
    } else {
        f->first_ns = time_ns;
    }
    f->sequence = sequence;
    f->stamp = stamp;
    if (sequence > f->sequence_most)
        f->sequence_most = sequence;
    /* A tick is 32/5 ns; computed in unsigned arithmetic, modulo 2^64, since stamps can be anything. */
    int64_t ticks = (int64_t)f->ticks;
    int64_t ns = ticks / 5 * 32 + ticks % 5 * 32 / 5;
    return (int64_t)((uint64_t)f->first_ns + (uint64_t)ns);
}

uint64_t tlp_flow_gaps(const struct tlp_flow *f)
{
    return f->sequence_most > 0x3ff ? f->gaps16 : f->gaps10;
}
