#include "models/policies.h"
#include "trace/base/testing.h"

START_TEST(fixed_policies_do_not_look_and_auto_follows_guideline_1)
{
    struct placement_overheads o = {.ms = {9, 2, 3}, .margin_managed = 1, .margin_pinned = -1};
    static const enum placement expect[] = {PLACEMENT_DEVICE, PLACEMENT_MANAGED, PLACEMENT_PINNED, PLACEMENT_MANAGED,
                                            PLACEMENT_DEVICE};
    for (size_t i = 0; placement_policies[i]; i++) {
        ck_assert_uint_eq(placement_policies[i]->state_size, 0); /* NULL is one */
        ck_assert_int_eq(((const struct placement_policy *)placement_policies[i])->choose(NULL, &o), expect[i]);
    }
    o.margin_managed = -1;
    ck_assert_int_eq(placement_auto.choose(NULL, &o), PLACEMENT_DEVICE);
}
END_TEST

START_TEST(names_are_those_of_placements)
{
    for (int i = 0; i < PLACEMENTS; i++)
        ck_assert_str_eq(placement_policies[i]->name, placement_name((enum placement)i));
}
END_TEST

TEST_MAIN("placement_policies", fixed_policies_do_not_look_and_auto_follows_guideline_1, names_are_those_of_placements)
