/* tlp: one PCIe transaction layer packet, decoded from its header.
 *
 * tlp_decode() reads prefixes and header; tlp_check() then holds the header against the payload that was on the wire.
 * Sizes come from header fields only, never from how many bytes a capture kept. A packet that the specification forbids
 * is TLP_MALFORMED with the defect in words: its size must not be summed (one of zeroes would read 4,096 bytes).
 *
 * Source: PCI Express Base Specification 4.0, sections 2.2.1 (common header, length 0 = 1,024 DW), 2.2.5 (byte
 * enables), 2.2.7 (requests, the 4 KiB rule, lengths of I/O, configuration and atomic requests), 2.2.9 (completions,
 * byte count 0 = 4,096), 2.2.10 (prefixes).
 * Worked example: 40 00 00 19 1b 00 02 3f 2f 00 30 00 is MWr, 3 DW header, length 25 DW, requester 1b:00.0, tag 2,
 * first byte enables f, last 3, so 4 * 25 - 0 - 2 = 98 bytes from 0x2f003000 on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event/record.h"

/* Numbers as they are on the wire. */
static inline unsigned be16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static inline uint32_t be32(const unsigned char *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* The numbers are not stored (byte 0 of the header is); append as you like. */
enum tlp_type {
    TLP_NONE,
    TLP_MRD,
    TLP_MRDLK,
    TLP_MWR,
    TLP_IORD,
    TLP_IOWR,
    TLP_CFGRD0,
    TLP_CFGWR0,
    TLP_CFGRD1,
    TLP_CFGWR1,
    TLP_MSG,
    TLP_MSGD,
    TLP_CPL,
    TLP_CPLD,
    TLP_CPLLK,
    TLP_CPLDLK,
    TLP_FETCHADD,
    TLP_SWAP,
    TLP_CAS,
    TLP_TYPES
};

/* Completion status (2.2.9): only a successful one carries usable data. */
enum tlp_status { TLP_SC = 0, TLP_UR = 1, TLP_CRS = 2, TLP_CA = 4 };

enum tlp_verdict { TLP_OK, TLP_MALFORMED, TLP_CUT /* fewer bytes at hand than the header has */ };

enum { TLP_MAX_PREFIXES = 4, TLP_MAX_HEADER = 4 * TLP_MAX_PREFIXES + 16 };

struct tlp {
    enum tlp_type type;
    uint8_t byte0;             /* fmt and type as on the wire */
    uint8_t prefixes;          /* 0..4 */
    uint8_t first_be, last_be; /* requests; as used (all ones where TH took their place) */
    uint8_t status;            /* completions: enum tlp_status, or a reserved value */
    uint8_t traffic_class;     /* 0..7 */
    uint8_t attributes;        /* bit 0 no snoop, 1 relaxed ordering, 2 ID-based ordering */
    bool digest;               /* TD: 4 bytes of ECRC follow the payload */
    bool poisoned;             /* EP */
    bool hints;                /* TH */
    uint16_t length_dw;        /* 1..1024 */
    uint16_t requester;        /* bus << 8 | device << 3 | function */
    uint16_t completer;        /* completions */
    uint16_t tag;              /* 10 bits; a steering tag on a posted write with TH */
    uint16_t byte_count;       /* completions: 1..4096, the bytes still due including these */
    uint16_t header_bytes;     /* 12 or 16, without prefixes */
    uint16_t payload_bytes;    /* on the wire, 4 * length_dw or 0 */
    uint16_t bytes;            /* requested or carried, 0..4096 */
    uint64_t addr;             /* of the first byte; completions: the lower 7 bits of it */
};

/* Decode the TLP that starts at data, of which n bytes are at hand. TLP_MALFORMED and TLP_CUT leave *tlp with what was
 * read (type TLP_NONE if byte 0 was not understood) and *defect, if asked for, with a phrase that lives forever. */
enum tlp_verdict tlp_decode(const unsigned char *data, size_t n, struct tlp *tlp, const char **defect);

/* Hold the decoded header against `wire` bytes of TLP (prefixes, header, payload, ECRC) that the transport announced.
 * With slack, more than expected is allowed (framing that follows). */
enum tlp_verdict tlp_check(const struct tlp *tlp, size_t wire, bool slack, const char **defect);

/* Bytes of the whole TLP on the wire: prefixes, header, payload, ECRC. */
size_t tlp_wire_bytes(const struct tlp *tlp);

/* "MRd", "CplD"; TLP_NONE is "?". */
const char *tlp_name(enum tlp_type type);
enum tlp_type tlp_type_of(uint8_t byte0); /* TLP_NONE if there is no such packet */

bool tlp_is_completion(enum tlp_type type);
bool tlp_is_read(enum tlp_type type);            /* a memory read */
bool tlp_wants_reply(enum tlp_type type);        /* non-posted: a completion answers it */
uint32_t tlp_reply_bytes(const struct tlp *tlp); /* bytes of data that its completions carry in all */

/* --- as a record ---
 * RECORD_TLP: time; addr and bytes as above; group = flow (row of table tlp_flows);
 * flags: bits 0-7 byte 0; 8-10 completion status; 11 poisoned; 12 ECRC present; 13-15 traffic class; 16-18 attributes;
 *        19 TH; 20-23 first byte enables; 24-27 last byte enables; 28-30 prefixes
 * id:    bits 0-9 tag; 10-25 requester; 26-41 completer; 42-53 byte count modulo 4096; 54-63 length in DW modulo 1024
 */

/* Fill kind, addr, bytes, flags and id; time, duration and group are the caller's. */
void tlp_to_record(const struct tlp *tlp, struct record *record);

static inline enum tlp_type tlp_record_type(const struct record *r)
{
    return tlp_type_of((uint8_t)r->flags);
}
static inline unsigned tlp_record_status(const struct record *r)
{
    return r->flags >> 8 & 7;
}
static inline bool tlp_record_poisoned(const struct record *r)
{
    return r->flags >> 11 & 1;
}
static inline unsigned tlp_record_byte_count(const struct record *r) /* 1..4096; of completions */
{
    unsigned n = (unsigned)(r->id >> 42 & 0xfff);
    return n ? n : 4096;
}
