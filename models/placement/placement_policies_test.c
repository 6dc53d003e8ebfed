#include "models/policies.h"
#include "trace/base/testing.h"

START_TEST(fixed_policies_do_not_look_and_auto_follows_guideline_1)
{
    struct placement_overheads o = {.ms = {9, 2, 3}, .margin_managed = 1, .margin_pinned = -1};
    for (size_t i = 0; placement_policies[i]; i++)
        ck_assert_uint_eq(placement_policies[i]->state_size, 0); /* NULL is one */
    ck_assert_int_eq(placement_device.choose(NULL, &o), PLACEMENT_DEVICE);
    ck_assert_int_eq(placement_managed.choose(NULL, &o), PLACEMENT_MANAGED);
    ck_assert_int_eq(placement_pinned.choose(NULL, &o), PLACEMENT_PINNED);
    ck_assert_int_eq(placement_source.choose(NULL, &o), PLACEMENT_DEVICE);
    ck_assert_int_eq(placement_auto.choose(NULL, &o), PLACEMENT_MANAGED);
    o.margin_managed = -1;
    ck_assert_int_eq(placement_auto.choose(NULL, &o), PLACEMENT_DEVICE);
}
END_TEST

START_TEST(names_are_those_of_placements)
{
    static const struct placement_overheads o;
    for (int i = 0; i < PLACEMENTS; i++) {
        const struct policy_head *p = GIVES(policy_find(placement_policies, placement_name((enum placement)i)));
        ck_assert_int_eq(((const struct placement_policy *)p)->choose(NULL, &o), i);
    }
}
END_TEST

TEST_MAIN("placement_policies")
