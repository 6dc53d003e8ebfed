#include "trace/event/dram_map.h"

#include "trace/base/testing.h"

static const char gv100[] = "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5";

START_TEST(the_artifacts_map_puts_fields_where_its_masks_do)
{
    struct dram_map map;
    ck_assert_int_eq(dram_map_init(&map, gv100, NULL), 0);
    const struct dram_addr a = dram_map_decode(&map, 0xC0002000);
    ck_assert_uint_eq(a.channel, 0);
    ck_assert_uint_eq(a.bank, 1);
    ck_assert_uint_eq(a.row, 3072);
    ck_assert_uint_eq(a.column, 0);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 8).channel, 1);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 5).column, 1);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 14).column, 8);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 17).bank, 2);
}
END_TEST

START_TEST(encoding_is_the_inverse)
{
    struct dram_map map;
    ck_assert_int_eq(dram_map_init(&map, gv100, NULL), 0);
    for (uint64_t addr = 0; addr < UINT64_C(1) << 33; addr += 0x12345a0 & ~31u)
        ck_assert_uint_eq(dram_map_encode(&map, dram_map_decode(&map, addr)), addr);
}
END_TEST

/* Every address has a place of its own and comes back from it; small enough to look at each. */
START_TEST(maps_are_one_to_one)
{
    static const char *const maps[] = {"row:4 bank:3 col:3 bank:1 ch:2 col:2 byte:2",
                                       "row:4 bank:2 col:3 bank:2 mod:5 col:2 byte:2",
                                       "row:5 bank:2 col:3 mod:12 bank:2 col:1 byte:2",
                                       "row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=11,13 bank1=12 ch0=7,14,15 bank3=6",
                                       "row:6 bank:4 ch:1 col:4 byte:2 xor: row0=7 bank2=3,16"};
    static bool taken[1 << 18];
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
        struct dram_map map;
        WORKS(dram_map_init(&map, maps[k], &err));
        const uint64_t channels = map.mod ? map.mod : UINT64_C(1) << map.bits[DRAM_FIELD_CHANNEL];
        const uint64_t atoms =
            channels << (map.bits[DRAM_FIELD_ROW] + map.bits[DRAM_FIELD_BANK] + map.bits[DRAM_FIELD_COLUMN]);
        memset(taken, 0, sizeof taken);
        for (uint64_t i = 0; i < atoms; i++) {
            const struct dram_addr a = dram_map_decode(&map, 4 * i);
            const uint64_t at = ((a.channel * 64 + a.row) * 16 + a.bank) * 32 + a.column;
            ck_assert(a.channel < channels && a.row < 64 && a.bank < 16 && a.column < 32);
            ck_assert_msg(at >= sizeof taken || !taken[at], "%s: two addresses at one place", maps[k]);
            if (at < sizeof taken)
                taken[at] = true;
            ck_assert_uint_eq(dram_map_encode(&map, a), 4 * i);
        }
    }
}
END_TEST

START_TEST(a_remainder_and_a_xor_are_what_they_say)
{
    struct dram_map map;
    ck_assert_int_eq(dram_map_init(&map, "row:14 bank:4 col:2 mod:80 col:3 byte:5", NULL), 0);
    ck_assert_uint_eq(dram_map_decode(&map, 256 * 79).channel, 79);
    const struct dram_addr next = dram_map_decode(&map, 256 * 80);
    ck_assert_uint_eq(next.channel, 0);
    ck_assert_uint_eq(next.column, 8);
    ck_assert_int_eq(dram_map_init(&map, "row:10 bank:4 col:5 byte:5 xor: bank0=14 bank3=17,18", NULL), 0);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 14).bank, 1);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 14).row, 1);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 17 | 1 << 18).bank, 0);
    ck_assert_uint_eq(dram_map_decode(&map, 1 << 18 | 1 << 13).bank, 0);
}
END_TEST

static int rank_of(const uint64_t *rows, int n)
{
    uint64_t m[32];
    int rank = 0;
    memcpy(m, rows, sizeof *m * (size_t)n);
    for (int bit = 0; bit < 64; bit++) {
        int pivot = rank;
        while (pivot < n && !(m[pivot] >> bit & 1))
            pivot++;
        if (pivot == n)
            continue;
        const uint64_t row = m[pivot];
        m[pivot] = m[rank];
        m[rank] = row;
        for (int i = 0; i < n; i++)
            m[i] ^= i != rank && m[i] >> bit & 1 ? row : 0;
        rank++;
    }
    return rank;
}

/* Jain et al., Fractional GPUs, RTAS 2019 (doc/REVERSE.md of its sources), by row conflicts on a V100: the bits of the
 * five functions that say the module, and of the nine that say the bank. The nine have rank 9, and with the five still:
 * a bank belongs to one module. A map of 32 modules and 16 banks each made of them is one to one. */
START_TEST(the_functions_measured_on_a_v100_make_a_map)
{
    static const char *const lists[14] = {"10,13,17,19,24,25,26,29,30,32,33",
                                          "11,13,15,23,24,26,27,29,30,31",
                                          "12,15,16,18,20,21,23,26,28,29,30",
                                          "13,19,20,22,25,27,28,29",
                                          "15,18,22,23,26,29,30,31,32,33",
                                          "10,11,20,23,25,28,30,33",
                                          "11,12,16,20,25,26,29,30,32,33",
                                          "12,16,17,19,23,25,26,27,31",
                                          "13,24,26,27,28,30,31,33",
                                          "15,17,19,20,27,28,30,31,32",
                                          "16,19,20,23,27,29,31,33",
                                          "17,18,23,24,25,27,28,30,31",
                                          "18,21,25,29,32",
                                          "19,20,22,24,25,26,29,30,31,33"};
    uint64_t rows[14] = {0};
    for (int i = 0; i < 14; i++)
        for (const char *p = lists[i]; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
            rows[i] |= UINT64_C(1) << atoi(p);
    ck_assert_int_eq(rank_of(rows, 5), 5);
    ck_assert_int_eq(rank_of(rows + 5, 9), 9);
    ck_assert_int_eq(rank_of(rows, 14), 9);
    struct dram_map map;
    WORKS(dram_map_init(&map,
                        "row:14 bank:4 ch:1 col:1 ch:4 col:5 byte:5 xor: "
                        "ch0=13,17,19,24,25,26,29,30,32,33 ch1=13,15,23,24,26,27,29,30,31 "
                        "ch2=15,16,18,20,21,23,26,28,29,30 ch3=19,20,22,25,27,28,29 "
                        "ch4=18,22,23,26,29,30,31,32,33 bank0=19,20,23,27,29,31,33 "
                        "bank1=18,23,24,25,27,28,30,31 bank2=21,25,29,32 bank3=20,22,24,25,26,29,30,31,33",
                        &err));
    for (uint64_t addr = 0; addr < UINT64_C(1) << 34; addr += 0x1234567 & ~31u) {
        const struct dram_addr a = dram_map_decode(&map, addr);
        for (int c = 0; c < 5; c++)
            ck_assert_uint_eq(a.channel >> c & 1, (unsigned)__builtin_popcountll(addr & rows[c]) & 1);
        ck_assert_uint_eq(dram_map_encode(&map, a), addr);
    }
}
END_TEST

START_TEST(bits_that_depend_on_each_other_are_named)
{
    static const char *const cases[][2] = {
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=11,12 ch0=6,7", "the bits ch0, bank0, row0, row1 depend"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: row0=11", "the bits row0 depend"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank4=11", "found 'bank4=11'"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bankx=11", "found 'bankx=11'"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank=11", "found 'bank=11'"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=17", "0 to 16"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=", "found 'bank0='"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=1,", "found 'bank0=1,'"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: byte0=9", "found 'byte0=9'"},
        {"row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=12 xor: bank1=12", "one xor:"},
        {"row:6 bank:4 mod:3 col:4 byte:2 xor: bank0=12", "no mod"},
        {"row:6 bank:4 mod:3 ch:1 col:4 byte:2", "found 'ch:1'"},
        {"row:6 bank:4 mod:1 col:4 byte:2", "found 'mod:1'"},
        {"row:6 bank:4 mod:70000 col:4 byte:2", "found 'mod:70000'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dram_map map;
        struct err err = {""};
        ck_assert_int_eq(dram_map_init(&map, cases[i][0], &err), -1);
        ck_assert_msg(strstr(err.msg, cases[i][1]) != NULL, "%s: %s", cases[i][0], err.msg);
    }
}
END_TEST

START_TEST(bad_maps_are_refused)
{
    struct dram_map map;
    FAILS_WITH(dram_map_init(&map, "row:13 bnk:4", &err), "found 'bnk:4'");
    FAILS(dram_map_init(&map, "row:13 bank:4", &err));
    FAILS(dram_map_init(&map, "row:30 bank:4 col:6", &err));
}
END_TEST

START_TEST(packed_addresses_keep_their_fields)
{
    const struct dram_addr a = {65535, 15, 16777215, 63}, b = dram_addr_unpack(dram_addr_pack(a));
    ck_assert_mem_eq(&a, &b, sizeof a);
}
END_TEST

/* Above the map too: those bits are dropped. */
START_TEST(tables_decode_as_the_map_does)
{
    static const char *const maps[] = {gv100, "row:4 bank:3 col:3 bank:1 ch:2 col:2 byte:2",
                                       "row:6 bank:4 ch:1 col:4 byte:2 xor: bank0=11,13 bank1=12 ch0=7,14,15 bank3=6",
                                       "row:24 bank:8 ch:16 col:11 byte:5", "row:4 bank:2 col:3 mod:5 col:2 byte:2"};
    static struct dram_map_table table;
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
        struct dram_map map;
        WORKS(dram_map_init(&map, maps[k], &err));
        dram_map_table_init(&table, &map);
        ck_assert_int_eq(table.bytes == 0, map.mod != 0);
        uint64_t addr = 1;
        for (int i = 0; i < 20000 && !map.mod; i++) {
            addr = addr * 0x9E3779B97F4A7C15u + 1;
            const struct dram_addr a = dram_map_decode(&map, addr), b = dram_map_table_decode(&table, addr);
            ck_assert(a.channel == b.channel && a.bank == b.bank && a.row == b.row && a.column == b.column);
        }
    }
}
END_TEST

TEST_MAIN("dram_map")
