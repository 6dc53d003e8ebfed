/* dram_map: byte addresses to channel, bank, row and column, by a named order of address bits.
 *
 * A map is a list of fields from the top bit down, "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5": each takes the next
 * bits of the address; a field named more than once is put together in that order. Address bits above the map are
 * dropped, as in the artifact. `mod:N` stands in the place of ch where the channels are no power of two: what is left
 * of the address is divided by N, the remainder is the channel. Worked example with the map above: 0xC0002000 is
 * channel 0, bank 1, row 3072, column 0.
 *
 * "... xor: bank0=20,24 ch1=15": each of these bits of a field is its own address bit XOR those listed, numbered from
 * 0. It is taken only if two addresses never meet, that is if the matrix over GF(2) has full rank; else the error names
 * field bits that depend on each other. Not beside `mod`.
 *
 * Source: the channel as a remainder: GPGPU-Sim addrdec.cc ("gap"); XOR of row bits into the bank: Zhang, Zhu and
 * Zhang, MICRO-33, 2000. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

/* --- channel, bank, row and column packed into the addr of a DRAM record whose stream has space "dram-packed" ---
 *
 * From the top: channel 16 bits, bank 8, row 24, column 16. Columns count atoms of the platform (32 B under HBM2).
 * Both kinds of request state the bank; a PIM request works on all banks, its bank says which one its column is of. */

#define DRAM_ADDR_LAYOUT "ch:16 bank:8 row:24 col:16"

enum { DRAM_ADDR_CHANNELS = 65536, DRAM_ADDR_BANKS = 256, DRAM_ADDR_ROWS = 16777216, DRAM_ADDR_COLUMNS = 65536 };

struct dram_addr {
    uint32_t channel, bank, row, column;
};

static inline uint64_t dram_addr_pack(struct dram_addr a)
{
    return (uint64_t)a.channel << 48 | (uint64_t)(a.bank & 0xff) << 40 | (uint64_t)(a.row & 0xffffff) << 16 |
           (a.column & 0xffff);
}

static inline struct dram_addr dram_addr_unpack(uint64_t addr)
{
    return (struct dram_addr){(uint32_t)(addr >> 48), (uint32_t)(addr >> 40) & 0xff, (uint32_t)(addr >> 16) & 0xffffff,
                              (uint32_t)addr & 0xffff};
}

/* --- maps --- */

enum { DRAM_MAP_FIELDS = 16, DRAM_MAP_BITS = 64 };

enum dram_field { DRAM_FIELD_BYTE, DRAM_FIELD_COLUMN, DRAM_FIELD_ROW, DRAM_FIELD_BANK, DRAM_FIELD_CHANNEL };

struct dram_map {
    struct dram_map_part {
        enum dram_field field;
        int bits;
        int shift, to;       /* of the address, or of what a remainder below has left of it; of the field */
        uint64_t mask;       /* of the address >> shift; 0: above all its bits */
        uint32_t mod;        /* 0: bits of the address; else the channel is a remainder, which `bits` bits hold */
    } part[DRAM_MAP_FIELDS]; /* from the bottom */
    int parts;
    int bits[5];  /* by field */
    uint32_t mod; /* channels, where they are a remainder; else 0 */
    bool xors;
    /* With xors: bit i of the address with its XORs done is the parity of the address under forward[i]; back is the
     * inverse. */
    uint64_t forward[DRAM_MAP_BITS], back[DRAM_MAP_BITS];
};

/* -1 with *err set: what the text holds and what was expected. */
int dram_map_init(struct dram_map *map, const char *text, struct err *err);

struct dram_addr dram_map_decode(const struct dram_map *map, uint64_t addr);

/* The same faster, for maps without `mod`: what each byte of the address gives, to be added up by XOR. */
struct dram_map_table {
    int first, bytes;      /* the bytes of the address that give anything; bytes 0: a map with `mod` */
    uint64_t part[8][256]; /* row, bank, channel, column from the bottom, in 24, 8, 16 and 16 bits */
};

void dram_map_table_init(struct dram_map_table *table, const struct dram_map *map);

static inline struct dram_addr dram_map_table_decode(const struct dram_map_table *table, uint64_t addr)
{
    uint64_t all = 0;
    addr >>= 8 * table->first;
    for (int i = 0; i < table->bytes; i++, addr >>= 8)
        all ^= table->part[i][addr & 0xff];
    return (struct dram_addr){(uint32_t)(all >> 32 & 0xffff), (uint32_t)(all >> 24 & 0xff), (uint32_t)(all & 0xffffff),
                              (uint32_t)(all >> 48)};
}

/* The lowest byte address of an atom; the inverse of dram_map_decode() where the channel is below `mod`. */
uint64_t dram_map_encode(const struct dram_map *map, struct dram_addr a);
