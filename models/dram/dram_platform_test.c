#include "models/dram/dram_platform.h"

#include "models/base/platform.h"
#include "trace/base/testing.h"
#include "trace/workloads/pim/pim_program.h"

/* The PIM kernels bring their own addresses, written for this chip; their walk equals their stream of requests under
 * that map (trace/workloads/pim/pim_program_test.c), so under the platform's. */
START_TEST(the_addresses_of_pim_kernels_are_those_of_gv100)
{
    struct err err = {""};
    struct platform *p = platform_load("gv100", &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    const struct dram_platform *hw = platform_section_get(p, "dram");
    ck_assert_str_eq(hw->map, PIM_MAP);
    struct dram_map map;
    ck_assert_int_eq(dram_map_init(&map, hw->map, &err), 0);
    ck_assert_int_eq(hw->channels, 1 << map.bits[DRAM_FIELD_CHANNEL]);
    ck_assert_int_eq(hw->rows, 1 << map.bits[DRAM_FIELD_ROW]);
    ck_assert_int_eq(hw->banks, 1 << map.bits[DRAM_FIELD_BANK]);
    ck_assert_int_eq(hw->columns, 1 << map.bits[DRAM_FIELD_COLUMN]);
    platform_free(p);
}
END_TEST

TEST_MAIN("dram_platform", the_addresses_of_pim_kernels_are_those_of_gv100)
