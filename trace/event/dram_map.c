/* Address maps. Source of the default map: the artifact's configuration string dramid@8;...RRRRRRRRRRRRRBBBCCCBCCCSSSSS
 * with five channel bits put in at bit 8 (gpgpusim.config; the same masks stand in PIM_apps/common.h).
 * Differs: gupta-2025-f3fs table I prints six channel bits, which 32 channels do not have. */
#include "trace/event/dram_map.h"

#include <string.h>

static const char *const names[] = {"byte", "col", "row", "bank", "ch"};

static int one_part(struct dram_map *map, const char *text, size_t n, struct err *err)
{
    for (int f = 0; f < 5; f++) {
        const size_t len = strlen(names[f]);
        if (n < len + 2 || n > len + 3 || strncmp(text, names[f], len) != 0 || text[len] != ':')
            continue;
        int bits = 0;
        for (size_t i = len + 1; i < n; i++)
            bits = text[i] >= '0' && text[i] <= '9' ? bits * 10 + text[i] - '0' : 1000;
        if (bits < 1 || bits > 40)
            break;
        if (map->parts == DRAM_MAP_FIELDS)
            return err_set(err, "address map: more than %d fields", DRAM_MAP_FIELDS);
        map->part[map->parts].field = (enum dram_field)f;
        map->part[map->parts++].bits = bits;
        map->bits[f] += bits;
        return 0;
    }
    return err_set(err, "address map: found '%.*s'; expected row:N, bank:N, col:N, ch:N or byte:N", (int)n, text);
}

int dram_map_init(struct dram_map *map, const char *text, struct err *err)
{
    memset(map, 0, sizeof *map);
    const char *p = text;
    while (*p) {
        const size_t blanks = strspn(p, " "), n = strcspn(p + blanks, " ");
        p += blanks;
        if (n && one_part(map, p, n, err))
            return -1;
        p += n;
    }
    static const int most[] = {16, 16, 24, 8, 16};
    for (int f = 0; f < 5; f++)
        if (map->bits[f] > most[f])
            return err_set(err, "address map '%.80s': %d bits of %s; expected at most %d", text, map->bits[f], names[f],
                           most[f]);
    if (!map->bits[DRAM_FIELD_ROW] || !map->bits[DRAM_FIELD_BANK] || !map->bits[DRAM_FIELD_COLUMN])
        return err_set(err, "address map '%.80s': expected at least row, bank and col", text);
    for (int i = 0; i < map->parts / 2; i++) { /* from the bottom */
        const int j = map->parts - 1 - i;
        const enum dram_field f = map->part[i].field;
        const int bits = map->part[i].bits;
        map->part[i] = map->part[j];
        map->part[j].field = f;
        map->part[j].bits = bits;
    }
    int shift = 0, have[5] = {0};
    for (int i = 0; i < map->parts; i++) {
        const int bits = map->part[i].bits;
        map->part[i].shift = shift < 64 ? shift : 0;
        map->part[i].mask = shift < 64 ? (UINT64_C(1) << bits) - 1 : 0;
        map->part[i].to = have[map->part[i].field];
        shift += bits;
        have[map->part[i].field] += bits;
    }
    return 0;
}

struct dram_addr dram_map_decode(const struct dram_map *map, uint64_t addr)
{
    uint64_t value[5] = {0};
    for (int i = 0; i < map->parts; i++)
        value[map->part[i].field] |= (addr >> map->part[i].shift & map->part[i].mask) << map->part[i].to;
    return (struct dram_addr){(uint32_t)value[DRAM_FIELD_CHANNEL], (uint32_t)value[DRAM_FIELD_BANK],
                              (uint32_t)value[DRAM_FIELD_ROW], (uint32_t)value[DRAM_FIELD_COLUMN]};
}

uint64_t dram_map_encode(const struct dram_map *map, struct dram_addr a)
{
    uint64_t value[5] = {0, a.column, a.row, a.bank, a.channel}, addr = 0;
    int at = 0;
    for (int i = 0; i < map->parts; i++) {
        const enum dram_field f = map->part[i].field;
        const int bits = map->part[i].bits;
        addr |= (value[f] & ((UINT64_C(1) << bits) - 1)) << at;
        value[f] >>= bits;
        at += bits;
    }
    return addr;
}
