#include "trace/recorder/wire/call_site.h"

#include "trace/base/testing.h"

START_TEST(a_site_is_where_all_its_addresses_are_in_that_order)
{
    const char *stack = "app+0x11a9:make_arrays app+0x1f03 libc.so.6+0x271c9:__libc_start_main";
    static const char *const there[] = {
        "", "app+0x11a9", "app+0x1f03", "libc.so.6+0x271c9", "app+0x11a9,app+0x1f03", "app+0x11a9,libc.so.6+0x271c9"};
    static const char *const elsewhere[] = {"app+0x11a",
                                            "app+0x11a99",
                                            "app+0x11a8",
                                            "pp+0x11a9",
                                            "other+0x11a9",
                                            "make_arrays",
                                            "app+0x1f03,app+0x11a9",
                                            "app+0x11a9,app+0x11a9",
                                            "app+0x11a9,app+0x1f04",
                                            ",app+0x11a9"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        ck_assert_msg(call_site_matches(stack, there[i]), "%s", there[i]);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        ck_assert_msg(!call_site_matches(stack, elsewhere[i]), "%s", elsewhere[i]);
    ck_assert(!call_site_matches("", "app+0x1"));
    ck_assert(call_site_matches("", ""));
}
END_TEST

/* Any choice of a stack's addresses in their order is on it; with one of them changed it is not. */
START_TEST(every_part_of_a_stack_matches_and_none_that_was_changed)
{
    enum { FRAMES = 8 };
    char stack[256] = "", site[256], wrong[256];
    for (unsigned i = 0; i < FRAMES; i++)
        (void)snprintf(stack + strlen(stack), sizeof stack - strlen(stack), "%sm+0x%x%s", i ? " " : "", 0x100 + i,
                       i % 2 ? ":f" : "");
    for (unsigned chosen = 1; chosen < 1u << FRAMES; chosen++) {
        *site = *wrong = 0;
        for (unsigned i = 0, last = 31 - (unsigned)__builtin_clz(chosen); i < FRAMES; i++)
            if (chosen >> i & 1) {
                (void)snprintf(site + strlen(site), sizeof site - strlen(site), "%sm+0x%x", *site ? "," : "",
                               0x100 + i);
                (void)snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong), "%sm+0x%x", *wrong ? "," : "",
                               (i == last ? 0x200 : 0x100) + i);
            }
        ck_assert_msg(call_site_matches(stack, site), "%s", site);
        ck_assert_msg(!call_site_matches(stack, wrong), "%s", wrong);
    }
}
END_TEST

TEST_MAIN("call_site", a_site_is_where_all_its_addresses_are_in_that_order,
          every_part_of_a_stack_matches_and_none_that_was_changed)
