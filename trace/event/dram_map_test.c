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

START_TEST(bad_maps_are_refused)
{
    struct dram_map map;
    struct err err;
    ck_assert_int_eq(dram_map_init(&map, "row:13 bnk:4", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "found 'bnk:4'"));
    ck_assert_int_eq(dram_map_init(&map, "row:13 bank:4", &err), -1);
    ck_assert_int_eq(dram_map_init(&map, "row:30 bank:4 col:6", &err), -1);
}
END_TEST

START_TEST(packed_addresses_keep_their_fields)
{
    const struct dram_addr a = {65535, 15, 16777215, 63}, b = dram_addr_unpack(dram_addr_pack(a));
    ck_assert_mem_eq(&a, &b, sizeof a);
}
END_TEST

TEST_MAIN("dram_map", the_artifacts_map_puts_fields_where_its_masks_do, encoding_is_the_inverse, bad_maps_are_refused,
          packed_addresses_keep_their_fields)
