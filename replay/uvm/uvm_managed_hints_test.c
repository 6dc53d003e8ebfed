#include "replay/uvm/uvm_managed.h"

#include "trace/base/testing.h"

static const struct actor_alloc allocs[] = {{.name = "A"}, {.name = "tmp"}, {.name = "B"}};

START_TEST(advice_adds_up_and_all_means_every_allocation)
{
    struct uvm_hints h;
    ck_assert_int_eq(
        uvm_hints_init(&h, allocs, 3, "[A:read-mostly,all:accessed-by,B:preferred-host]", "tmp", "[A,B]", NULL), 0);
    ck_assert_uint_eq(h.advice[0], ACTOR_READ_MOSTLY | ACTOR_ACCESSED_BY);
    ck_assert_uint_eq(h.advice[1], ACTOR_ACCESSED_BY);
    ck_assert_uint_eq(h.advice[2], ACTOR_PREFERRED_HOST | ACTOR_ACCESSED_BY);
    ck_assert(!h.prefetch[0] && h.prefetch[1] && !h.prefetch[2]);
    ck_assert(h.discard[0] && !h.discard[1] && h.discard[2]);
    uvm_hints_release(&h);
    ck_assert_int_eq(uvm_hints_init(&h, allocs, 3, NULL, NULL, NULL, NULL), 0);
    ck_assert(!h.advice && !h.prefetch && !h.discard);
}
END_TEST

START_TEST(what_is_not_known_is_refused_with_what_is)
{
    static const struct {
        const char *advise, *prefetch, *discard, *says;
    } bad[] = {{"A", NULL, NULL, "expected ALLOCATION:read-mostly"},
               {"A:often", NULL, NULL, "'A:often'"},
               {"C:read-mostly", NULL, NULL, "expected all, A, tmp, B"},
               {NULL, "[A,C]", NULL, "prefetch: no allocation is called 'C'"},
               {NULL, "", NULL, "called ''"},
               {NULL, NULL, "[A,C]", "discard: no allocation is called 'C'"},
               {"[A:read-mostly,]", NULL, NULL, "''"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct uvm_hints h;
        FAILS_WITH(uvm_hints_init(&h, allocs, 3, bad[i].advise, bad[i].prefetch, bad[i].discard, &err), bad[i].says);
        uvm_hints_release(&h);
    }
}
END_TEST

TEST_MAIN("replay/uvm_managed_hints")
