#include "trace/program/walk.h"

#include <string.h>

#include "trace/program/access.h"

/* A filter of lines: which call met a hash last. What earlier calls left in it changes no answer, so it need not be
 * cleared for each: in 15 of 16 accesses to 32 lines none is met twice. */
enum { MET = 8192, MET_SHIFT = 64 - 13 };
struct filter {
    uint8_t call, met[MET];
};
static _Thread_local struct filter own_filter;

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

/* All lanes, each within one sector, and no line twice; false: so it is not, or cannot be told, and what is in lines[]
 * is of no use. */
static bool apart(const uint64_t *lane, uint64_t moved, uint32_t bytes, struct access_line *lines,
                  struct filter *filter)
{
    if (++filter->call == 0) {
        memset(filter->met, 0, sizeof filter->met);
        filter->call = 1;
    }
    uint8_t call = filter->call, *met = filter->met;
    uint64_t ends = 0; /* bits of where lanes end in their first sector */
    uint32_t twice = 0;
    for (unsigned i = 0; i < ACCESS_LANES; i++) {
        uint64_t first = lane[i] + moved, line = first & ~(uint64_t)(ACCESS_LINE - 1);
        uint64_t hash = line * 0x9E3779B97F4A7C15u >> MET_SHIFT;
        twice |= met[hash] == call;
        met[hash] = call;
        ends |= first % ACCESS_SECTOR + bytes - 1;
        lines[i].addr = line;
        lines[i].sectors = 1u << first / ACCESS_SECTOR % 4;
    }
    return !twice && ends < ACCESS_SECTOR;
}

/* Lanes that begin where the lane before begins, or less than a sector behind: between the two no sector is left out.
 */
static uint32_t joined(const uint64_t *lane)
{
    uint32_t mask = 0;
    for (unsigned i = 1; i < ACCESS_LANES; i++)
        mask |= (uint32_t)(lane[i] - lane[i - 1] < ACCESS_SECTOR) << i;
    return mask;
}

/* The bytes first..last, of which no sector is left out, into a set. */
static void add_range(struct line_set *set, uint64_t first, uint64_t last)
{
    uint64_t line = first - first % ACCESS_LINE, end = last - last % ACCESS_LINE, from = first % ACCESS_LINE;
    for (; line < end; line += ACCESS_LINE, from = 0)
        line_set_mark(set, line, line_sectors(from / ACCESS_SECTOR, 3));
    line_set_mark(set, end, line_sectors(from / ACCESS_SECTOR, last % ACCESS_LINE / ACCESS_SECTOR));
}

/* Lanes of `active`, all within one row. */
static void add_row(struct line_set *set, const struct program_access *a, uint64_t row, uint32_t active)
{
    unsigned from = (unsigned)__builtin_ctz(active), to = 31u - (unsigned)__builtin_clz(active);
    uint32_t mask = active >> from;
    uint64_t stride = (uint64_t)a->lane_stride, first = row + from * stride, last = row + to * stride + a->bytes - 1;
    if ((mask & (mask + 1)) == 0 && stride <= ACCESS_SECTOR && last >= first)
        add_range(set, first, last);
    else
        for (; active; active &= active - 1)
            line_set_add(set, row + (uint64_t)__builtin_ctz(active) * stride, a->bytes);
}

/* Lanes far apart, their rows near each other: where a lane's bytes in all rows lie in one line, lane by lane, which is
 * the order of the first row. False: so it is not, or rows have other lanes than the first. */
static bool add_columns(struct line_set *set, const struct program_access *a, uint64_t row)
{
    if ((uint32_t)a->row_stride > ACCESS_SECTOR || (uint64_t)a->lane_stride <= ACCESS_SECTOR)
        return false;
    uint32_t first = (uint32_t)__builtin_ctz(a->active) / a->row, rest = a->active >> first * a->row, rows = 0;
    uint32_t mask = rest & program_first_lanes(a->row);
    for (; (rest & program_first_lanes(a->row)) == mask; rows++)
        rest >>= a->row;
    uint64_t high = (uint64_t)(rows - 1) * (uint64_t)a->row_stride + a->bytes - 1, stride = (uint64_t)a->lane_stride;
    bool fits = rest == 0;
    row += first * (uint64_t)a->row_stride;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
        fits &= (row + (uint64_t)__builtin_ctz(lanes) * stride) % ACCESS_LINE + high < ACCESS_LINE;
    for (; fits && mask; mask &= mask - 1)
        line_set_add(set, row + (uint64_t)__builtin_ctz(mask) * stride, (uint32_t)high + 1);
    return fits;
}

/* Lanes in rows. */
static void add_rows(struct line_set *set, const struct program_access *a, uint64_t row)
{
    uint32_t lanes = program_first_lanes(a->row);
    if (add_columns(set, a, row))
        return;
    for (unsigned first = 0; first < ACCESS_LANES; first += a->row, row += (uint64_t)a->row_stride)
        if (a->active >> first & lanes)
            add_row(set, a, row, a->active >> first & lanes);
}

/* Run by run: lanes of `active` joined to those before them go with them. */
static void add_runs(struct line_set *set, const uint64_t *lane, uint64_t moved, uint32_t bytes, uint32_t active)
{
    uint32_t run = active & active << 1 & joined(lane); /* lanes that begin no run */
    for (uint32_t begin = active & ~run; begin; begin &= begin - 1) {
        unsigned i = (unsigned)__builtin_ctz(begin), end = i;
        end += (unsigned)__builtin_ctzll(~((uint64_t)run >> 1 >> i));
        uint64_t first = lane[i] + moved, last = lane[end] + moved + bytes - 1;
        if (last >= first)
            add_range(set, first, last);
        else
            for (; i <= end; i++) /* over the end of the address space */
                line_set_add(set, lane[i] + moved, bytes);
    }
}

/* Whether the first active lanes lie like those of a run. */
static bool begins_near(const uint64_t *lane, uint32_t active)
{
    unsigned i = (unsigned)__builtin_ctz(active);
    return active >> i >> 1 & 1 && lane[i + 1] - lane[i] < ACCESS_SECTOR;
}

static uint32_t sectors_of(const struct line_set *set)
{
    uint32_t sectors = 0;
    for (int i = 0; i < set->n; i++)
        sectors += (uint32_t)__builtin_popcount(set->line[i].sectors);
    return sectors;
}

static int in_rows(const struct program_access *a, uint64_t turn, struct access_line *lines, uint32_t *sectors)
{
    struct line_set set = {.line = lines};
    add_rows(&set, a, program_addr(a, 0, turn));
    *sectors = sectors_of(&set);
    return set.n;
}

/* Lanes with an address each. */
static int scattered(const uint64_t *lane, uint64_t moved, uint32_t bytes, uint32_t active, struct access_line *lines,
                     uint32_t *sectors)
{
    struct line_set set = {.line = lines};
    if (begins_near(lane, active)) {
        add_runs(&set, lane, moved, bytes, active);
    } else {
        *sectors = ACCESS_LANES;
        if (active == UINT32_MAX && apart(lane, moved, bytes, lines, &own_filter))
            return ACCESS_LANES;
        for (uint32_t rest = active; rest; rest &= rest - 1)
            line_set_add(&set, lane[__builtin_ctz(rest)] + moved, bytes);
    }
    *sectors = sectors_of(&set);
    return set.n;
}

/* Lanes a stride apart that has no closed form. */
static int strided(const struct program_access *a, uint64_t first, struct access_line *lines, uint32_t *sectors)
{
    uint64_t lane[ACCESS_LANES];
    for (unsigned i = 0; i < ACCESS_LANES; i++, first += (uint64_t)a->lane_stride)
        lane[i] = first;
    return scattered(lane, 0, a->bytes, a->active, lines, sectors);
}

int program_lines_counted(const struct program_access *a, uint64_t turn, struct access_line lines[2 * ACCESS_LANES],
                          uint32_t *sectors)
{
    *sectors = 0;
    if (!a->active)
        return 0;
    if (a->lane)
        return scattered(a->lane, turn * (uint64_t)a->turn_stride, a->bytes, a->active, lines, sectors);
    if (a->row)
        return in_rows(a, turn, lines, sectors);
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
    return strided(a, lane0, lines, sectors);
}
