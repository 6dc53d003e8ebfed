/* PageRank by a few of its launches, and by all of them. */
#include <math.h>
#include <stdlib.h>

#include "replay/compare/compare_testing.h"
#include "trace/derived/limits.h"

static struct compare_result ask(const char *spec, uint64_t stop_from)
{
    compare_asked((struct compare_request){.spec = spec, .platform = "h200", .stop_from = stop_from});
    return result;
}

/* What its limits say, %. */
static double said_off(const struct compare_result *part)
{
    ck_assert_uint_eq(json_array_size(part->limits), 1);
    const char *text = limits_note(json_string_value(json_array_get(part->limits, 0)));
    ck_assert_ptr_nonnull(text);
    const unsigned long some = strtoul(text + strlen(LIMITS_BEGIN), NULL, 10),
                        all = strtoul(strstr(text, " of ") + strlen(" of "), NULL, 10);
    ck_assert(some && 2 * some < all);
    return strtod(strstr(text, "off by ") + strlen("off by "), NULL);
}

START_TEST(a_few_launches_take_what_all_take)
{
    static const char *const specs[] = {"synth:pagerank,scale=10", "synth:pagerank,scale=9,k=40,tolerance=1e-5",
                                        "synth:pagerank,graph=urand,scale=10,k=8,kernel=merged"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct compare_result some = ask(specs[i], 1), all = ask(specs[i], 0);
        const double said = said_off(&some);
        unsigned compared = 0;
        ck_assert_ptr_null(all.limits);
        for (size_t r = 0; r < some.count; r++) {
            const struct compare_row *row = &some.rows[r], *same = compare_find(&all, row->mechanism, row->policy);
            const double time = compare_time(row), whole = compare_time(same), off = fabs(time / whole - 1) * 100;
            compared += !isnan(time);
            ck_assert_msg(isnan(time) || off < said, "%s %s: %g, whole %g ns", specs[i], row->policy, time, whole);
            ck_assert_msg(isnan(time) || row->outcome.values[0].unbound || off < 1.5, "%s %s: %g %% off", specs[i],
                          row->policy, off);
        }
        ck_assert_uint_ge(compared, 9);
        compare_release(&some);
        compare_release(&all);
    }
}
END_TEST

/* Each launch where they are not alike: what another one changes is not known of it. */
START_TEST(other_traversals_have_all_launches)
{
    struct compare_result some = ask("synth:sssp,scale=9,roots=2", 1);
    ck_assert_ptr_null(some.limits);
    compare_release(&some);
}
END_TEST

TEST_MAIN("compare_spared")
