/* dram_addr: channel, bank, row and column packed into the addr of a DRAM record whose stream has space "dram-packed".
 *
 * From the top: channel 16 bits, bank 8, row 24, column 16. Columns count atoms of the platform (32 B under HBM2).
 * Both kinds of request state the bank; a PIM request works on all banks, its bank says which one its column is of. */
#ifndef TRACE_EVENT_DRAM_ADDR_H
#define TRACE_EVENT_DRAM_ADDR_H

#include <stdint.h>

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

#endif
