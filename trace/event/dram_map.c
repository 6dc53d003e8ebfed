/* Address maps. Source of the default map: the artifact's configuration string dramid@8;...RRRRRRRRRRRRRBBBCCCBCCCSSSSS
 * with five channel bits put in at bit 8 (gpgpusim.config; the same masks stand in PIM_apps/common.h).
 * Differs: gupta-2025-f3fs table I prints six channel bits, which 32 channels do not have. */
#include "trace/event/dram_map.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"

static const char *const names[] = {"byte", "col", "row", "bank", "ch"};

/* --- reading --- */

/* A decimal number below 10^6 that fills text[0..n). -1: it is none. */
static int number(const char *text, size_t n)
{
    int value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || value >= 100000)
            return -1;
        value = value * 10 + text[i] - '0';
    }
    return n ? value : -1;
}

static int add_part(struct dram_map *map, enum dram_field field, int bits, uint32_t mod, struct err *err)
{
    if (map->parts == DRAM_MAP_FIELDS)
        return err_set(err, "address map: more than %d fields", DRAM_MAP_FIELDS);
    map->part[map->parts].field = field;
    map->part[map->parts].mod = mod;
    map->part[map->parts++].bits = bits;
    map->bits[field] += bits;
    map->mod = mod ? mod : map->mod;
    return 0;
}

static int one_part(struct dram_map *map, const char *text, size_t n, struct err *err)
{
    if (n > 4 && strncmp(text, "mod:", 4) == 0) {
        const int mod = number(text + 4, n - 4);
        if (mod > 1 && mod <= DRAM_ADDR_CHANNELS && !map->bits[DRAM_FIELD_CHANNEL])
            return add_part(map, DRAM_FIELD_CHANNEL, 32 - __builtin_clz((unsigned)mod - 1), (uint32_t)mod, err);
    }
    for (int f = 0; f < 5; f++) {
        const size_t len = strlen(names[f]);
        if (n < len + 2 || n > len + 3 || strncmp(text, names[f], len) != 0 || text[len] != ':')
            continue;
        const int bits = number(text + len + 1, n - len - 1);
        if (bits < 1 || bits > 40 || (f == DRAM_FIELD_CHANNEL && map->mod))
            break;
        return add_part(map, (enum dram_field)f, bits, 0, err);
    }
    return err_set(err, "address map: found '%.*s'; expected row:N, bank:N, col:N, byte:N, and ch:N or one mod:N",
                   (int)n, text);
}

static void turn(struct dram_map *map) /* from the bottom */
{
    for (int i = 0; i < map->parts / 2; i++) {
        const int j = map->parts - 1 - i;
        const struct dram_map_part kept = map->part[i];
        map->part[i] = map->part[j];
        map->part[j] = kept;
    }
}

static int all_bits(const struct dram_map *map)
{
    int n = 0;
    for (int f = 0; f < 5; f++)
        n += map->bits[f];
    return n;
}

/* --- xor --- */

/* Address bit of a field's bit; -1: the field has none of that number. Parts stand from the bottom. */
static int place(const struct dram_map *map, enum dram_field field, int bit)
{
    int at = 0;
    for (int i = 0; i < map->parts && bit >= 0; at += map->part[i++].bits) {
        if (map->part[i].field != field)
            continue;
        if (bit < map->part[i].bits)
            return at + bit;
        bit -= map->part[i].bits;
    }
    return -1;
}

/* "bank1" of an address bit. */
static void name_of(const struct dram_map *map, int at, char *buf, size_t size)
{
    for (int f = 0; f < 5; f++)
        for (int bit = 0; bit < map->bits[f]; bit++)
            if (place(map, (enum dram_field)f, bit) == at)
                (void)snprintf(buf, size, "%s%d", names[f], bit);
}

/* "bank0=20,24" of n characters. */
static int one_xor(struct dram_map *map, const char *text, size_t n, struct err *err)
{
    const char *const end = text + n, *const equals = memchr(text, '=', n);
    int at = -1;
    for (int f = 0; f < 5 && equals; f++) {
        const size_t len = strlen(names[f]);
        if ((size_t)(equals - text) > len && strncmp(text, names[f], len) == 0 && f != DRAM_FIELD_BYTE)
            at = place(map, (enum dram_field)f, number(text + len, (size_t)(equals - text) - len));
    }
    const char *p = at < 0 ? end : equals + 1;
    bool good = p < end;
    while (good && p < end) {
        const char *const comma = memchr(p, ',', (size_t)(end - p)), *const stop = comma ? comma : end;
        const int bit = number(p, (size_t)(stop - p));
        good = bit >= 0 && bit < all_bits(map) && stop + 1 != end;
        if (good)
            map->forward[at] ^= UINT64_C(1) << bit;
        p = stop + 1;
    }
    if (good)
        return 0;
    return err_set(err,
                   "address map: found '%.*s' after xor:; expected FIELDn=BIT,BIT... with bits of the map, 0 to %d",
                   (int)n, text, all_bits(map) - 1);
}

static int depends(const struct dram_map *map, uint64_t bits, struct err *err)
{
    char list[200] = "";
    for (; bits && strlen(list) < 160; bits &= bits - 1) {
        char name[16] = "";
        name_of(map, __builtin_ctzll(bits), name, sizeof name);
        (void)mem_add_text(list, sizeof list, "%s%s", *list ? ", " : "", name);
    }
    return err_set(err, "address map: two addresses meet: after xor, the bits %s depend on each other", list);
}

/* The inverse, by elimination. -1: there is none. */
static int invert(struct dram_map *map, struct err *err)
{
    const int n = all_bits(map);
    uint64_t m[DRAM_MAP_BITS];
    memcpy(m, map->forward, sizeof m);
    for (int i = 0; i < n; i++)
        map->back[i] = UINT64_C(1) << i;
    int rank = 0;
    for (int column = 0; column < n; column++) {
        int pivot = rank;
        while (pivot < n && !(m[pivot] >> column & 1))
            pivot++;
        if (pivot == n)
            continue;
        const uint64_t row = m[pivot], from = map->back[pivot];
        m[pivot] = m[rank];
        map->back[pivot] = map->back[rank];
        m[rank] = row;
        map->back[rank] = from;
        for (int i = 0; i < n; i++)
            if (i != rank && m[i] >> column & 1) {
                m[i] ^= row;
                map->back[i] ^= from;
            }
        rank++;
    }
    return rank == n ? 0 : depends(map, map->back[rank], err); /* that row is empty: these bits add up to nothing */
}

static uint64_t parities(const uint64_t *rows, int n, uint64_t addr)
{
    uint64_t out = 0;
    for (int i = 0; i < n; i++)
        out |= (uint64_t)(__builtin_popcountll(rows[i] & addr) & 1) << i;
    return out;
}

/* --- the map --- */

static int check_bits(const struct dram_map *map, const char *text, struct err *err)
{
    static const int most[] = {16, 16, 24, 8, 16};
    for (int f = 0; f < 5; f++)
        if (map->bits[f] > most[f])
            return err_set(err, "address map '%.80s': %d bits of %s; expected at most %d", text, map->bits[f], names[f],
                           most[f]);
    if (!map->bits[DRAM_FIELD_ROW] || !map->bits[DRAM_FIELD_BANK] || !map->bits[DRAM_FIELD_COLUMN])
        return err_set(err, "address map '%.80s': expected at least row, bank and col", text);
    return 0;
}

static int begin_xor(struct dram_map *map, const char *text, struct err *err)
{
    if (check_bits(map, text, err))
        return -1;
    turn(map);
    if (map->mod || all_bits(map) >= DRAM_MAP_BITS || map->xors)
        return err_set(err, "address map '%.80s': expected one xor:, fewer than %d bits and no mod beside it", text,
                       DRAM_MAP_BITS);
    for (int i = 0; i < all_bits(map); i++)
        map->forward[i] = UINT64_C(1) << i;
    map->xors = true;
    return 0;
}

/* Where each part lies, so that decoding takes shifts and masks. */
static void find_shifts(struct dram_map *map)
{
    int shift = 0, have[5] = {0};
    for (int i = 0; i < map->parts; i++) {
        const int bits = map->part[i].bits;
        map->part[i].shift = shift < 64 ? shift : 0;
        map->part[i].mask = shift < 64 ? (UINT64_C(1) << bits) - 1 : 0;
        map->part[i].to = have[map->part[i].field];
        shift = map->part[i].mod ? 0 : shift + bits;
        have[map->part[i].field] += bits;
    }
}

int dram_map_init(struct dram_map *map, const char *text, struct err *err)
{
    memset(map, 0, sizeof *map);
    const char *p = text;
    while (*p) {
        p += strspn(p, " ");
        const size_t n = strcspn(p, " ");
        int rc = 0;
        if (n == 4 && strncmp(p, "xor:", 4) == 0)
            rc = begin_xor(map, text, err);
        else if (n)
            rc = (map->xors ? one_xor : one_part)(map, p, n, err);
        if (rc)
            return -1;
        p += n;
    }
    if (!map->xors) {
        if (check_bits(map, text, err))
            return -1;
        turn(map);
    }
    find_shifts(map);
    return map->xors ? invert(map, err) : 0;
}

struct dram_addr dram_map_decode(const struct dram_map *map, uint64_t addr)
{
    uint64_t value[5] = {0};
    if (map->xors)
        addr = parities(map->forward, all_bits(map), addr);
    for (int i = 0; i < map->parts; i++) {
        const uint64_t above = addr >> map->part[i].shift;
        if (map->part[i].mod) {
            value[map->part[i].field] = above % map->part[i].mod;
            addr = above / map->part[i].mod;
        } else {
            value[map->part[i].field] |= (above & map->part[i].mask) << map->part[i].to;
        }
    }
    return (struct dram_addr){(uint32_t)value[DRAM_FIELD_CHANNEL], (uint32_t)value[DRAM_FIELD_BANK],
                              (uint32_t)value[DRAM_FIELD_ROW], (uint32_t)value[DRAM_FIELD_COLUMN]};
}

void dram_map_table_init(struct dram_map_table *table, const struct dram_map *map)
{
    uint64_t bit[64], any[8] = {0};
    memset(table, 0, sizeof *table);
    if (map->mod)
        return;
    for (int i = 0; i < 64; i++) {
        const struct dram_addr a = dram_map_decode(map, UINT64_C(1) << i);
        bit[i] = a.row | (uint64_t)a.bank << 24 | (uint64_t)a.channel << 32 | (uint64_t)a.column << 48;
        any[i / 8] |= bit[i];
    }
    int last = 8;
    while (last > 0 && !any[last - 1])
        last--;
    while (table->first < last && !any[table->first])
        table->first++;
    table->bytes = last - table->first;
    for (int i = 0; i < table->bytes; i++)
        for (unsigned v = 1; v < 256; v++) {
            const int low = __builtin_ctz(v);
            table->part[i][v] = table->part[i][v & (v - 1)] ^ bit[8 * (table->first + i) + low];
        }
}

uint64_t dram_map_encode(const struct dram_map *map, struct dram_addr a)
{
    uint64_t value[5] = {0, a.column, a.row, a.bank, a.channel}, addr = 0, unit = 1;
    for (int i = 0; i < map->parts; i++) {
        const enum dram_field f = map->part[i].field;
        const int bits = map->part[i].bits;
        const uint64_t radix = map->part[i].mod ? map->part[i].mod : UINT64_C(1) << bits;
        addr += value[f] % radix * unit;
        value[f] /= radix;
        unit *= radix;
    }
    return map->xors ? parities(map->back, all_bits(map), addr) : addr;
}
