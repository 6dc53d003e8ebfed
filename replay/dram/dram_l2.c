#include "replay/dram/dram_memory.h"

/* What of an address says the slice. With XORs no bits are the slice's own: the whole line number says the set. */
static void slice_of_map(const struct dram_l2 *l, struct l2_shape *shape)
{
    const struct dram_map *map = &l->map;
    const uint64_t channel = dram_map_encode(map, (struct dram_addr){.channel = 1});
    const uint64_t sub = dram_map_encode(map, (struct dram_addr){.bank = DRAM_SUBS - 1});
    if (map->xors)
        return;
    if (!map->mod) {
        shape->slice_bits = dram_map_encode(map, (struct dram_addr){.channel = l->channels - 1, .bank = DRAM_SUBS - 1});
        return;
    }
    shape->mod = map->mod;
    shape->mod_shift = __builtin_ctzll(channel);
    shape->slice_bits = sub > channel ? sub / map->mod : sub;
}

/* The map must give as many channels as there are, and put a line into one slice. */
static int map_init(struct dram_l2 *l, const struct dram_platform *dram, struct err *err)
{
    if (dram_map_init(&l->map, dram->map, err))
        return -1;
    const struct dram_map *map = &l->map;
    const uint32_t mapped = map->mod ? map->mod : 1u << map->bits[DRAM_FIELD_CHANNEL];
    if (mapped != l->channels)
        return err_set(err, "[dram] %u channels and %u in the map", l->channels, mapped);
    if (INT64_C(1) << map->bits[DRAM_FIELD_BANK] > dram->banks)
        return err_set(err, "[dram] %lld banks and %lld in the map", (long long)dram->banks,
                       (long long)(INT64_C(1) << map->bits[DRAM_FIELD_BANK]));
    if (l->hash_channels && l->channels & (l->channels - 1))
        return err_set(err, "[dram] channel_hash is xor and there are %u channels; expected a power of two",
                       l->channels);
    for (uint64_t at = 0; at < L2_LINE; at += L2_SECTOR)
        if (dram_l2_sub(dram_map_decode(map, at), false) != dram_l2_sub(dram_map_decode(map, 0), false))
            return err_set(err, "[dram] map: a line of %d bytes lies on several channels or sub-partitions", L2_LINE);
    return 0;
}

/* Parts of the map that are looked at: not the byte, nor the column. */
static void leave_out(struct dram_map *map)
{
    int n = 0;
    for (int i = 0; i < map->parts; i++)
        if (map->part[i].field != DRAM_FIELD_BYTE && map->part[i].field != DRAM_FIELD_COLUMN)
            map->part[n++] = map->part[i];
    map->parts = n;
}

int dram_l2_init(struct dram_l2 *l, const struct dram_platform *dram, const struct gpu *gpu, struct err *err)
{
    *l = (struct dram_l2){.hash_channels = dram->channel_hash, .channels = (uint32_t)dram->channels};
    if (map_init(l, dram, err))
        return -1;
    l->wanted = l->map;
    leave_out(&l->wanted);
    dram_map_table_init(&l->table, &l->wanted);
    struct l2_shape shape = {.bytes = gpu->l2_bytes,
                             .ways = gpu->l2_ways,
                             .slices = l->channels * DRAM_SUBS,
                             .hash = gpu->l2_bytes ? dram->l2_set_hash : L2_HASH_NONE,
                             .misses = (uint32_t)dram->l2_misses,
                             .merges = (uint32_t)dram->l2_merges};
    slice_of_map(l, &shape);
    l->cache = l2_open(&shape, err);
    return l->cache ? 0 : -1;
}

void dram_l2_release(struct dram_l2 *l)
{
    l2_free(l->cache);
    l->cache = NULL;
}

void dram_l2_put(struct dram_l2 *l, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    l2_put(l->cache, dram_l2_sub(dram_l2_decode(l, addr, false), false), addr, valid, dirty);
}

void dram_l2_copy_in(struct dram_l2 *l, const struct program *program, uint64_t offset, int64_t l2_bytes)
{
    size_t n;
    const struct program_alloc *a = program->ops->allocs(program->state, &n);
    uint64_t left = (uint64_t)l2_bytes, skip[PROGRAM_ALLOCS] = {0};
    for (size_t i = n; i-- > 0;) {
        skip[i] = !a[i].host || !left ? a[i].bytes : a[i].bytes > left ? a[i].bytes - left : 0;
        left -= a[i].bytes - skip[i];
    }
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = (a[i].addr + skip[i]) & ~(uint64_t)(L2_LINE - 1); at < a[i].addr + a[i].bytes; at += L2_LINE)
            if (skip[i] < a[i].bytes)
                dram_l2_put(l, at + offset, L2_WHOLE, 0);
}
