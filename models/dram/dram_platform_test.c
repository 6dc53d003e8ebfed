#include <string.h>

#include "models/dram/dram_platform.h"

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "models/dram/channel.h"
#include "models/gpu/gpu.h"
#include "trace/base/testing.h"
#include "trace/workloads/pim/pim_program.h"

/* The PIM kernels bring their own addresses, written for this chip; their walk equals their stream of requests under
 * that map (trace/workloads/pim/pim_program_test.c), so under the platform's. */
START_TEST(the_addresses_of_pim_kernels_are_those_of_gv100)
{
    struct platform *p = GIVES(platform_load("gv100", &err));
    const struct dram_platform *hw = platform_section_get(p, "dram");
    ck_assert_str_eq(hw->map, PIM_MAP);
    struct dram_map map;
    WORKS(dram_map_init(&map, hw->map, &err));
    ck_assert_int_eq(hw->channels, 1 << map.bits[DRAM_FIELD_CHANNEL]);
    ck_assert_int_eq(hw->rows, 1 << map.bits[DRAM_FIELD_ROW]);
    ck_assert_int_eq(hw->banks, 1 << map.bits[DRAM_FIELD_BANK]);
    ck_assert_int_eq(hw->columns, 1 << map.bits[DRAM_FIELD_COLUMN]);
    platform_free(p);
}
END_TEST

/* The clock's bandwidth is the data sheet's within 3 %, and all of the memory is mapped. */
START_TEST(a_platforms_dram_has_its_bandwidth_and_its_size)
{
    char name[64];
    size_t n = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        const struct dram_platform *d = platform_section_get(p, "dram");
        const struct gpu *gpu = platform_section_get(p, "gpu");
        if (platform_has(p, "dram")) {
            double rate = (double)(d->channels * d->atom_bytes) * (double)d->clock_hz / (double)d->burst_cycles;
            double bytes = (double)d->channels * (double)(d->banks * d->rows * d->columns * d->atom_bytes);
            ck_assert_msg(rate / gpu->dram_bytes_per_s > 0.97 && rate / gpu->dram_bytes_per_s < 1.03, "%s", name);
            ck_assert_msg(bytes >= (double)gpu->memory_bytes && bytes <= 1.1 * (double)gpu->memory_bytes, "%s", name);
            struct dram_map map;
            ck_assert_msg(!dram_map_init(&map, d->map, &err), "%s: %s", name, err.msg);
            ck_assert_msg(d->rows <= 1 << map.bits[DRAM_FIELD_ROW] && d->rows > 1 << (map.bits[DRAM_FIELD_ROW] - 1),
                          "%s", name);
            ck_assert_msg(d->channels == (map.mod ? (int64_t)map.mod : INT64_C(1) << map.bits[DRAM_FIELD_CHANNEL]),
                          "%s", name);
            ck_assert_msg(d->banks == 1 << map.bits[DRAM_FIELD_BANK] &&
                              d->columns == 1 << map.bits[DRAM_FIELD_COLUMN] &&
                              d->atom_bytes == 1 << map.bits[DRAM_FIELD_BYTE],
                          "%s", name);
            n++;
        }
        platform_free(p);
    }
    ck_assert_uint_ge(n, 18);
}
END_TEST

/* Whatever is drawn from the ranges of a platform is a device that the controller takes. */
START_TEST(every_draw_of_a_platform_is_a_device)
{
    static struct dram_channel channel;
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        for (uint32_t at = 0; platform_has(p, "dram") && at < 16; at++) {
            struct platform *drawn = platform_draw(p, 1, at, 16, &err);
            ck_assert_msg(drawn && !dram_channel_init(&channel, platform_section_get(drawn, "dram"), &err), "%s: %s",
                          name, err.msg);
            platform_free(drawn);
        }
        platform_free(p);
    }
}
END_TEST

/* A device with refresh states every number that is the device's; mem_share is the program's. */
START_TEST(a_device_with_refresh_leaves_nothing_to_general_defaults)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = GIVES(platform_load(name, &err));
        const struct dram_platform *d = platform_section_get(p, "dram");
        for (const struct param *row = dram_params; row->name && platform_has(p, "dram") && d->refresh; row++)
            ck_assert_msg(strcmp(row->name, "mem_share") == 0 ||
                              platform_number(p, "dram", row->name)->state == PLATFORM_STATED,
                          "%s: %s", name, row->name);
        platform_free(p);
    }
}
END_TEST

static const struct dram_energy_counts counts = {.activates = 1000, .columns = 20000, .cycles = 9330000};

/* TX2, LPDDR4: 1,000 x 1,205 pJ; 20,000 x 256 bits of 5.0 to 8.5 pJ; eight channels for 5 ms: 33.3 to 37.1 mW each, and
 * every 7,288 cycles a refresh of 22.4 nJ. */
START_TEST(energy_is_counts_times_figures)
{
    struct err err = {""};
    struct platform *p = platform_load("tx2", &err);
    double low, high;
    ck_assert_msg(p != NULL, "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    const double seconds = 9330000 / 1866e6, refresh = 8 * 9330000.0 / 7288 * 22.4e-9;
    ck_assert_double_eq_tol(seconds, 0.005, 1e-12);
    ck_assert_double_eq_tol(low, 1.205e-6 + 20000 * 256 * 5.0e-12 + refresh + 8 * seconds * 0.0333, 1e-12);
    ck_assert_double_eq_tol(high, 1.205e-6 + 20000 * 256 * 8.5e-12 + refresh + 8 * seconds * 0.0371, 1e-12);
    platform_free(p);
}
END_TEST

START_TEST(a_figure_that_is_set_has_no_range)
{
    struct err err = {""};
    struct platform *p = platform_load("titanv", &err);
    double low, high;
    ck_assert_msg(p != NULL, "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    ck_assert_double_lt(low, high);
    static const char *const set[][2] = {
        {"act_pj", "1000"}, {"bit_pj", "2"}, {"refresh_nj", "50"}, {"background_mw", "10"}, {"refresh", "none"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        ck_assert_msg(!platform_set(p, set[i][0], set[i][1], NULL, &err), "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    ck_assert_double_eq(low, high);
    ck_assert_double_eq_tol(low, 1e-6 + 20000 * 256 * 2e-12 + 48 * 9330000 / 850e6 * 0.010, 1e-12);
    platform_free(p);
}
END_TEST

START_TEST(without_figures_there_is_no_energy)
{
    static const char *const names[] = {"gv100", "h100", "t4", "orin"};
    for (size_t i = 0; i < 4; i++) {
        struct err err = {""};
        struct platform *p = platform_load(names[i], &err);
        double low, high;
        ck_assert_msg(p != NULL, "%s", err.msg);
        ck_assert_msg(!dram_energy(p, &counts, &low, &high), "%s", names[i]);
        platform_free(p);
    }
}
END_TEST

TEST_MAIN("dram_platform")
