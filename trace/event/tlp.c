#include "trace/event/tlp.h"

#include <string.h>

/* How a packet is laid out. */
enum layout { MEMORY, IO, CONFIG, MESSAGE, COMPLETION, ATOMIC };

struct shape {
    const char *name;
    enum layout layout;
    bool data;
};

static const struct shape shapes[TLP_TYPES] = {
    [TLP_NONE] = {"?", MESSAGE, false},
    [TLP_MRD] = {"MRd", MEMORY, false},
    [TLP_MRDLK] = {"MRdLk", MEMORY, false},
    [TLP_MWR] = {"MWr", MEMORY, true},
    [TLP_IORD] = {"IORd", IO, false},
    [TLP_IOWR] = {"IOWr", IO, true},
    [TLP_CFGRD0] = {"CfgRd0", CONFIG, false},
    [TLP_CFGWR0] = {"CfgWr0", CONFIG, true},
    [TLP_CFGRD1] = {"CfgRd1", CONFIG, false},
    [TLP_CFGWR1] = {"CfgWr1", CONFIG, true},
    [TLP_MSG] = {"Msg", MESSAGE, false},
    [TLP_MSGD] = {"MsgD", MESSAGE, true},
    [TLP_CPL] = {"Cpl", COMPLETION, false},
    [TLP_CPLD] = {"CplD", COMPLETION, true},
    [TLP_CPLLK] = {"CplLk", COMPLETION, false},
    [TLP_CPLDLK] = {"CplDLk", COMPLETION, true},
    [TLP_FETCHADD] = {"FetchAdd", ATOMIC, true},
    [TLP_SWAP] = {"Swap", ATOMIC, true},
    [TLP_CAS] = {"CAS", ATOMIC, true},
};

/* Byte 0 (fmt << 5 | type) to packet; everything else is no packet. Source: base specification 4.0, table 2-3. */
static const uint8_t types[256] = {
    [0x00] = TLP_MRD,    [0x20] = TLP_MRD,    [0x01] = TLP_MRDLK,    [0x21] = TLP_MRDLK,    [0x40] = TLP_MWR,
    [0x60] = TLP_MWR,    [0x02] = TLP_IORD,   [0x42] = TLP_IOWR,     [0x04] = TLP_CFGRD0,   [0x44] = TLP_CFGWR0,
    [0x05] = TLP_CFGRD1, [0x45] = TLP_CFGWR1, [0x0a] = TLP_CPL,      [0x4a] = TLP_CPLD,     [0x0b] = TLP_CPLLK,
    [0x4b] = TLP_CPLDLK, [0x30] = TLP_MSG,    [0x31] = TLP_MSG,      [0x32] = TLP_MSG,      [0x33] = TLP_MSG,
    [0x34] = TLP_MSG,    [0x35] = TLP_MSG,    [0x36] = TLP_MSG,      [0x37] = TLP_MSG,      [0x70] = TLP_MSGD,
    [0x71] = TLP_MSGD,   [0x72] = TLP_MSGD,   [0x73] = TLP_MSGD,     [0x74] = TLP_MSGD,     [0x75] = TLP_MSGD,
    [0x76] = TLP_MSGD,   [0x77] = TLP_MSGD,   [0x4c] = TLP_FETCHADD, [0x6c] = TLP_FETCHADD, [0x4d] = TLP_SWAP,
    [0x6d] = TLP_SWAP,   [0x4e] = TLP_CAS,    [0x6e] = TLP_CAS,
};

enum { FMT_4DW = 0x20, FMT_PREFIX = 4 };

static enum tlp_verdict bad(enum tlp_verdict verdict, const char **defect, const char *what)
{
    if (defect)
        *defect = what;
    return verdict;
}

/* Bytes and first byte from length and byte enables. */
static void size_by_enables(struct tlp *t)
{
    unsigned f = t->first_be, z = t->last_be;
    if (t->length_dw == 1) {
        t->bytes = 0;
        if (f) {
            unsigned low = (unsigned)__builtin_ctz(f), high = 31 - (unsigned)__builtin_clz(f);
            t->bytes = (uint16_t)(high - low + 1);
            t->addr += low;
        }
        return;
    }
    if (!f || !z)
        return;
    unsigned low = (unsigned)__builtin_ctz(f), cut = (unsigned)__builtin_clz(z) - 28;
    t->bytes = (uint16_t)(4u * t->length_dw - low - cut);
    t->addr += low;
}

static enum tlp_verdict check_enables(const struct tlp *t, const char **defect)
{
    if (t->length_dw > 1 && !t->first_be)
        return bad(TLP_MALFORMED, defect, "first byte enables 0 with a length over 1 DW");
    if (t->length_dw > 1 && !t->last_be)
        return bad(TLP_MALFORMED, defect, "last byte enables 0 with a length over 1 DW");
    if (t->length_dw == 1 && t->last_be)
        return bad(TLP_MALFORMED, defect, "last byte enables set with a length of 1 DW");
    return TLP_OK;
}

static uint64_t address_of(const unsigned char *p, const struct tlp *t)
{
    uint64_t addr = t->header_bytes == 16 ? (uint64_t)be32(p + 8) << 32 | be32(p + 12) : be32(p + 8);
    return addr & ~(uint64_t)3;
}

/* Of memory, or of one DW. */
static enum tlp_verdict decode_request(const unsigned char *p, bool memory, struct tlp *t, const char **defect)
{
    t->first_be = p[7] & 15;
    t->last_be = p[7] >> 4;
    if (memory && t->hints && t->type != TLP_MWR) {
        t->first_be = 15;
        t->last_be = t->length_dw > 1 ? 15 : 0;
    }
    t->addr = address_of(p, t);
    if (!memory && t->length_dw != 1)
        return bad(TLP_MALFORMED, defect, "an I/O or configuration request of more than 1 DW");
    enum tlp_verdict v = check_enables(t, defect);
    if (v != TLP_OK)
        return v;
    if (t->addr % 4096 + UINT64_C(4) * t->length_dw > 4096)
        return bad(TLP_MALFORMED, defect, "a memory request across a 4 KiB boundary");
    size_by_enables(t);
    return TLP_OK;
}

static enum tlp_verdict decode_completion(const unsigned char *p, struct tlp *t)
{
    t->completer = t->requester;
    t->status = p[6] >> 5;
    unsigned count = be16(p + 6) & 0xfff;
    t->byte_count = (uint16_t)(count ? count : 4096);
    t->requester = (uint16_t)be16(p + 8);
    t->tag = (uint16_t)((t->tag & 0x300) | p[10]);
    t->addr = p[11] & 0x7f;
    if (!t->payload_bytes)
        return TLP_OK;
    unsigned most = 4u * t->length_dw - (unsigned)(t->addr & 3);
    t->bytes = (uint16_t)(t->byte_count < most ? t->byte_count : most);
    return TLP_OK;
}

static enum tlp_verdict decode_atomic(const unsigned char *p, struct tlp *t, const char **defect)
{
    t->addr = address_of(p, t);
    unsigned n = t->length_dw;
    bool fits = t->type == TLP_CAS ? n == 2 || n == 4 || n == 8 : n == 1 || n == 2;
    if (!fits)
        return bad(TLP_MALFORMED, defect, "an atomic request of a length that has no operand size");
    t->bytes = t->payload_bytes;
    return TLP_OK;
}

/* The four bytes every header starts with. */
static void decode_common(const unsigned char *p, struct tlp *t)
{
    unsigned word = be16(p + 2);
    t->tag = (uint16_t)((p[1] >> 7 & 1) << 9 | (p[1] >> 3 & 1) << 8);
    t->traffic_class = p[1] >> 4 & 7;
    t->attributes = (uint8_t)((p[1] & 4) | (word >> 12 & 3));
    t->hints = p[1] & 1;
    t->digest = word >> 15;
    t->poisoned = word >> 14 & 1;
    t->length_dw = (uint16_t)(word & 0x3ff ? word & 0x3ff : 1024);
}

enum tlp_verdict tlp_decode(const unsigned char *data, size_t n, struct tlp *tlp, const char **defect)
{
    memset(tlp, 0, sizeof *tlp);
    const unsigned char *p = data;
    while (n >= 4 && p[0] >> 5 == FMT_PREFIX) {
        if (tlp->prefixes == TLP_MAX_PREFIXES)
            return bad(TLP_MALFORMED, defect, "more than four prefixes");
        tlp->prefixes++;
        p += 4;
        n -= 4;
    }
    if (n < 4)
        return bad(TLP_CUT, defect, "the header is cut");
    tlp->byte0 = p[0];
    tlp->type = (enum tlp_type)types[p[0]];
    if (tlp->type == TLP_NONE)
        return bad(TLP_MALFORMED, defect, p[0] >> 5 > FMT_PREFIX ? "a reserved format" : "an unknown packet type");
    const struct shape *shape = &shapes[tlp->type];
    decode_common(p, tlp);
    tlp->header_bytes = p[0] & FMT_4DW ? 16 : 12;
    tlp->payload_bytes = shape->data ? (uint16_t)(4 * tlp->length_dw) : 0;
    if (n < tlp->header_bytes)
        return bad(TLP_CUT, defect, "the header is cut");
    tlp->requester = (uint16_t)be16(p + 4);
    if (shape->layout == COMPLETION)
        return decode_completion(p, tlp);
    tlp->tag |= p[6];
    if (shape->layout == ATOMIC)
        return decode_atomic(p, tlp, defect);
    if (shape->layout != MESSAGE)
        return decode_request(p, shape->layout == MEMORY, tlp, defect);
    tlp->bytes = tlp->payload_bytes;
    tlp->addr = (uint64_t)be32(p + 8) << 32 | be32(p + 12);
    return TLP_OK;
}

size_t tlp_wire_bytes(const struct tlp *tlp)
{
    return 4u * tlp->prefixes + tlp->header_bytes + tlp->payload_bytes + (tlp->digest ? 4u : 0u);
}

enum tlp_verdict tlp_check(const struct tlp *tlp, size_t wire, bool slack, const char **defect)
{
    size_t want = tlp_wire_bytes(tlp);
    if (wire == want || (slack && wire > want))
        return TLP_OK;
    if (!tlp->payload_bytes)
        return bad(TLP_MALFORMED, defect, wire > want ? "a packet without data has a payload" : "the ECRC is missing");
    return bad(TLP_MALFORMED, defect, "the payload is not as long as the header says");
}

const char *tlp_name(enum tlp_type type)
{
    return shapes[type].name;
}

enum tlp_type tlp_type_of(uint8_t byte0)
{
    return (enum tlp_type)types[byte0];
}

bool tlp_is_completion(enum tlp_type type)
{
    return type != TLP_NONE && shapes[type].layout == COMPLETION;
}

bool tlp_is_read(enum tlp_type type)
{
    return type == TLP_MRD || type == TLP_MRDLK;
}

bool tlp_wants_reply(enum tlp_type type)
{
    return type != TLP_NONE && type != TLP_MWR && shapes[type].layout != COMPLETION && shapes[type].layout != MESSAGE;
}

uint32_t tlp_reply_bytes(const struct tlp *tlp)
{
    if (tlp->type == TLP_IOWR || tlp->type == TLP_CFGWR0 || tlp->type == TLP_CFGWR1 || !tlp_wants_reply(tlp->type))
        return 0;
    return tlp->type == TLP_CAS ? tlp->bytes / 2 : tlp->bytes; /* two operands go out, one comes back */
}

void tlp_to_record(const struct tlp *t, struct record *r)
{
    r->kind = RECORD_TLP;
    r->addr = t->addr;
    r->bytes = t->bytes;
    r->flags = (uint32_t)t->byte0 | (uint32_t)t->status << 8 | (uint32_t)t->poisoned << 11 | (uint32_t)t->digest << 12 |
               (uint32_t)t->traffic_class << 13 | (uint32_t)t->attributes << 16 | (uint32_t)t->hints << 19 |
               (uint32_t)t->first_be << 20 | (uint32_t)t->last_be << 24 | (uint32_t)t->prefixes << 28;
    r->id = (uint64_t)t->tag | (uint64_t)t->requester << 10 | (uint64_t)t->completer << 26 |
            (uint64_t)(t->byte_count & 0xfff) << 42 | (uint64_t)(t->length_dw & 0x3ff) << 54;
    r->reserved = 0;
}
