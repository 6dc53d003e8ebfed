#include "trace/derived/tlp_tally.h"

#include "trace/base/testing.h"

static uint64_t seen, sum;

static int add(void *ctx, enum tlp_type type, const char *direction, uint32_t bytes, uint64_t count)
{
    (void)ctx;
    (void)type;
    ck_assert_int_gt((int)strlen(direction), 0);
    seen++;
    sum += bytes * count;
    return 0;
}

START_TEST(packets_are_counted_by_type_direction_and_size)
{
    struct tlp_tally *t = tlp_tally_new(NULL);
    uint16_t up = tlp_tally_direction(t, "upstream"), down = tlp_tally_direction(t, "downstream");
    ck_assert_uint_ne(up, down);
    ck_assert_uint_eq(tlp_tally_direction(t, "upstream"), up);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tlp_tally_add(t, TLP_MRD, up, 512, NULL), 0);
    ck_assert_int_eq(tlp_tally_add(t, TLP_MRD, down, 512, NULL), 0);
    ck_assert_int_eq(tlp_tally_add(t, TLP_MRD, down, 4096, NULL), 0);
    ck_assert_int_eq(tlp_tally_add(t, TLP_MSG, down, 0, NULL), 0);
    seen = sum = 0;
    ck_assert_int_eq(tlp_tally_walk(t, add, NULL), 0);
    ck_assert_uint_eq(seen, 4);
    ck_assert_uint_eq(sum, 4 * 512 + 4096);
    ck_assert_int_eq(tlp_tally_add(t, TLP_MRD, 2, 4, &(struct err){""}), -1);
    tlp_tally_free(t);
}
END_TEST

START_TEST(directions_beyond_the_limit_share_the_last_number)
{
    struct tlp_tally *t = tlp_tally_new(NULL);
    char name[16];
    for (int i = 0; i < TLP_TALLY_DIRECTIONS + 100; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        int want = i < TLP_TALLY_DIRECTIONS ? i : TLP_TALLY_DIRECTIONS - 1;
        ck_assert_int_eq(tlp_tally_direction(t, name), want);
    }
    tlp_tally_free(t);
}
END_TEST

TEST_MAIN("tlp_tally")
