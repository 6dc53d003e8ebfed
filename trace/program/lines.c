#include "trace/program/lines.h"

#include <string.h>

#include "trace/access/line_set.h"

enum { MET = 2048 /* places of a filter of lines: in four of five accesses to 32 lines none is met twice */ };

/* The bytes first..last, of which no sector is left out. */
static int range(uint64_t first, uint64_t last, struct access_line *lines, uint32_t *sectors)
{
    uint64_t line = first - first % ACCESS_LINE, end = last - last % ACCESS_LINE;
    int n = 0;
    *sectors = (uint32_t)(last / ACCESS_SECTOR - first / ACCESS_SECTOR + 1);
    for (uint64_t from = first % ACCESS_LINE / ACCESS_SECTOR; line < end; line += ACCESS_LINE, from = 0)
        lines[n++] = (struct access_line){line, line_sectors(from, 3)};
    uint64_t from = n ? 0 : first % ACCESS_LINE / ACCESS_SECTOR;
    lines[n++] = (struct access_line){end, line_sectors(from, last % ACCESS_LINE / ACCESS_SECTOR)};
    return n;
}

/* Lanes that stand at the same place of different lines, in one line each. */
static int whole_lines(const struct program_access *a, uint64_t first, struct access_line *lines, uint32_t *sectors)
{
    uint64_t in = first % ACCESS_LINE, stride = (uint64_t)a->lane_stride, line = first - in;
    uint32_t mask = line_sectors(in / ACCESS_SECTOR, (in + a->bytes - 1) / ACCESS_SECTOR);
    int n = 0;
    if (a->active == UINT32_MAX)
        for (; n < ACCESS_LANES; n++, line += stride)
            lines[n] = (struct access_line){line, mask};
    else
        for (uint32_t rest = a->active; rest; rest &= rest - 1)
            lines[n++] = (struct access_line){line + (uint64_t)__builtin_ctz(rest) * stride, mask};
    *sectors = (uint32_t)(n * __builtin_popcount(mask));
    return n;
}

/* All lanes, each within one sector, and no line twice; 0: so it is not, or cannot be told, and what is in lines[] is
 * of no use. */
static int apart(const uint64_t *lane, uint64_t moved, uint32_t bytes, struct access_line *lines)
{
    uint8_t seen[MET], met = 0; /* by a hash of the line */
    uint64_t last = 0;          /* bits of where lanes end in their first sector */
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < ACCESS_LANES; i++) {
        uint64_t first = lane[i] + moved, hash = (first & ~(uint64_t)(ACCESS_LINE - 1)) * 0x9E3779B97F4A7C15u;
        met |= seen[hash >> 53];
        seen[hash >> 53] = 1;
        last |= first % ACCESS_SECTOR + bytes - 1;
        lines[i].addr = first & ~(uint64_t)(ACCESS_LINE - 1);
        lines[i].sectors = 1u << first / ACCESS_SECTOR % 4;
    }
    return met || last >= ACCESS_SECTOR ? 0 : ACCESS_LANES;
}

/* Lane by lane. */
static int scattered(const struct program_access *a, uint64_t turn, struct access_line *lines, uint32_t *sectors)
{
    uint64_t moved = turn * (uint64_t)a->turn_stride;
    if (a->lane && a->active == UINT32_MAX && apart(a->lane, moved, a->bytes, lines)) {
        *sectors = ACCESS_LANES;
        return ACCESS_LANES;
    }
    struct line_set set = {.line = lines};
    if (a->lane && a->active == UINT32_MAX)
        for (unsigned i = 0; i < ACCESS_LANES; i++)
            line_set_add(&set, a->lane[i] + moved, a->bytes);
    else
        for (uint32_t rest = a->active; rest; rest &= rest - 1)
            line_set_add(&set, program_addr(a, (unsigned)__builtin_ctz(rest), turn), a->bytes);
    *sectors = 0;
    for (int i = 0; i < set.n; i++)
        *sectors += (uint32_t)__builtin_popcount(lines[i].sectors);
    return set.n;
}

int program_lines_counted(const struct program_access *a, uint64_t turn, struct access_line lines[2 * ACCESS_LANES],
                          uint32_t *sectors)
{
    *sectors = 0;
    if (!a->active)
        return 0;
    if (a->lane)
        return scattered(a, turn, lines, sectors);
    uint32_t from = (uint32_t)__builtin_ctz(a->active), mask = a->active >> from;
    uint64_t first = program_addr(a, from, turn), bytes = a->bytes;
    bool side_by_side = (mask & (mask + 1)) == 0 && a->lane_stride > 0 && a->lane_stride <= ACCESS_SECTOR;
    if (side_by_side)
        bytes += (uint32_t)(__builtin_popcount(mask) - 1) * (uint64_t)a->lane_stride;
    if ((side_by_side || a->lane_stride == 0) && first + bytes - 1 >= first)
        return range(first, first + bytes - 1, lines, sectors);
    uint64_t lane0 = program_addr(a, 0, turn);
    if (a->lane_stride % ACCESS_LINE == 0 && a->lane_stride && lane0 % ACCESS_LINE + a->bytes <= ACCESS_LINE)
        return whole_lines(a, lane0, lines, sectors);
    return scattered(a, turn, lines, sectors);
}
