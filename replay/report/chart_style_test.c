#include "replay/report/chart.h"

#include <string.h>

#include "trace/base/testing.h"

/* Grey as an eye sees it, 0 to 255. */
static double grey(unsigned colour)
{
    return 0.299 * (colour >> 16) + 0.587 * (colour >> 8 & 255) + 0.114 * (colour & 255);
}

static struct style of(const char *engine, const char *name)
{
    char text[64];
    char *const names[] = {text};
    struct style style;
    (void)snprintf(text, sizeof text, "%s", name);
    style_policies(engine, names, 1, &style);
    return style;
}

START_TEST(a_policy_has_its_colour_whatever_stands_beside_it)
{
    static char tree[] = "tree", fixed[] = "fixed", none[] = "none", mem[] = "f3fs";
    char *const three[] = {none, fixed, tree};
    struct style styles[3];
    style_policies("uvm", three, 3, styles);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(styles[i].colour, of("uvm", three[i]).colour);
    ck_assert_uint_ne(of("uvm", tree).colour, of("uvm", fixed).colour);
    ck_assert_uint_ne(of("dram", mem).colour, of("dram", "fcfs").colour);
}
END_TEST

START_TEST(no_two_of_a_figure_look_alike)
{
    static char names[10][32] = {"fcfs",  "mem-first", "pim-first",    "frfcfs",         "frfcfs-cap",
                                 "bliss", "frrr-fcfs", "gather-issue", "f3fs:mem_cap=1", "f3fs:mem_cap=64"};
    char *list[10];
    struct style styles[10];
    for (int i = 0; i < 10; i++)
        list[i] = names[i];
    style_policies("dram", list, 10, styles);
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < i; k++) {
            ck_assert_uint_ne(styles[i].colour, styles[k].colour);
            if (i < 7) /* there are seven fills */
                ck_assert_int_ne(styles[i].fill, styles[k].fill);
            if (i < 8)
                ck_assert_int_ne(styles[i].point, styles[k].point);
        }
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++) {
            const struct style a = style_plain(i), b = style_plain(k);
            ck_assert(a.fill != b.fill || grey(a.colour) - grey(b.colour) > 30 || grey(b.colour) - grey(a.colour) > 30);
        }
}
END_TEST

START_TEST(variants_keep_their_hue_and_evictions_have_one)
{
    const unsigned base = of("uvm", "tree").colour;
    ck_assert_uint_eq(of("uvm", "tree+lru").colour, base);
    ck_assert_uint_ne(of("uvm", "tree+random").colour, base);
    ck_assert_uint_ne(of("uvm", "fixed:granularity=4KiB").colour, of("uvm", "fixed:granularity=64KiB").colour);
    ck_assert_uint_ne(of("uvm", "fixed:granularity=4KiB").colour, of("uvm", "fixed:granularity=2MiB").colour);
}
END_TEST

START_TEST(policies_stand_as_they_are_listed_and_variants_by_their_numbers)
{
    static const char *const order[] = {
        "tree",     "none",        "fixed:granularity=4KiB", "fixed:granularity=64KiB", "fixed:granularity=2MiB",
        "adaptive", "tree+random", "adaptive+random"};
    for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++) {
        ck_assert_msg(style_order("uvm", order[i], order[i + 1]) < 0, "%s", order[i]);
        ck_assert_msg(style_order("uvm", order[i + 1], order[i]) > 0, "%s", order[i]);
    }
    ck_assert_int_eq(style_order("uvm", "tree", "tree"), 0);
}
END_TEST

TEST_MAIN("chart_style")
