/* dram_map: byte addresses to channel, bank, row and column, by a named order of address bits.
 *
 * A map is a list of fields from the top bit down, "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5": each takes the next
 * bits of the address; a field named more than once is put together in that order. Address bits above the map are
 * dropped, as in the artifact.
 * Worked example with the map above: 0xC0002000 is channel 0, bank 1, row 3072, column 0. */
#ifndef TRACE_EVENT_DRAM_MAP_H
#define TRACE_EVENT_DRAM_MAP_H

#include "trace/base/err.h"
#include "trace/event/dram_addr.h"

enum { DRAM_MAP_FIELDS = 16 };

enum dram_field { DRAM_FIELD_BYTE, DRAM_FIELD_COLUMN, DRAM_FIELD_ROW, DRAM_FIELD_BANK, DRAM_FIELD_CHANNEL };

struct dram_map {
    struct {
        enum dram_field field;
        int bits;
        int shift, to;       /* of the address; of the field */
        uint64_t mask;       /* of the address >> shift; 0: above all its bits */
    } part[DRAM_MAP_FIELDS]; /* from the bottom */
    int parts;
    int bits[5]; /* by field */
};

/* -1 with *err set: what the text holds and what was expected. */
int dram_map_init(struct dram_map *map, const char *text, struct err *err);

struct dram_addr dram_map_decode(const struct dram_map *map, uint64_t addr);

/* The lowest byte address of an atom; the inverse of dram_map_decode(). */
uint64_t dram_map_encode(const struct dram_map *map, struct dram_addr a);

#endif
