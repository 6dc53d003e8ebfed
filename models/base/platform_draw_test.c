#include "models/base/platform.h"

#include <math.h>

#include "models/gpu/gpu.h"
#include "models/uvm/uvm_platform.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

static const char mine[] = "[platform]\nname = mine\n[gpu]\nsms = 80 | sheet\n"
                           "memory_ns = 100 | assumed 10..1000: log\ndependent_cycles = 4 | fitted 2..6: "
                           "linear\nl2_ways = 3 | assumed 1..4: whole\n"
                           "[uvm]\nas = titanv | 0.25..4: another host\nutlbs = 30 | assumed 20..40: whole\n";

static struct platform *load(void)
{
    return GIVES(platform_load(testing_write("x.ini", mine, strlen(mine)), &err));
}

static struct platform *draw(const struct platform *p, uint64_t seed, uint32_t at, uint32_t n)
{
    return GIVES(platform_draw(p, seed, at, n, &err));
}

static double value(const struct platform *p, const char *section, const struct param *row)
{
    return param_number(row, platform_section_get(p, section));
}

/* The share of an axis at which a drawn platform stands; log for those that are drawn so. */
static double share(const struct platform_axis *a, const struct platform *p)
{
    double v = value(p, a->section, a->row);
    bool in_log = a->low > 0 && a->high / a->low > 4;
    return in_log ? log(v / a->low) / log(a->high / a->low) : (v - a->low) / (a->high - a->low);
}

START_TEST(axes_are_what_is_uncertain)
{
    struct platform *p = load();
    struct platform_axis a;
    const char *expected[] = {"l2_ways", "dependent_cycles", "memory_ns", "", "utlbs", "utlb", "trace_record_ns"};
    char found[200] = "";
    size_t count = 0, known = 0;
    for (; platform_axis(p, count, &a); count++) {
        const char *name = a.row ? a.row->name : "";
        ck_assert_msg(a.low < a.high && a.low <= a.value && a.value <= a.high, "%s", name);
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            known += strcmp(expected[i], name) == 0;
        (void)snprintf(found + strlen(found), sizeof found - strlen(found), " %s", name);
    }
    /* trace_record_ns moves with the section, fresh_ns of a 0 not; pcie has general defaults with a range */
    ck_assert_msg(known == 6, "%s", found);
    ck_assert(!platform_axis(p, count, &a));
    ck_assert_ptr_null(strstr(found, "sms"));
    ck_assert_ptr_null(strstr(found, "service_ns"));
    platform_free(p);
}
END_TEST

START_TEST(each_share_of_each_axis_is_drawn_once)
{
    struct platform *p = load();
    static const uint32_t sizes[] = {1, 2, 3, 7, 16, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            uint32_t n = sizes[s];
            unsigned hit[3][100] = {{0}};
            for (uint32_t at = 0; at < n; at++) {
                struct platform *d = draw(p, seed, at, n);
                struct platform_axis a;
                size_t real = 0;
                for (size_t i = 0; platform_axis(p, i, &a); i++)
                    if (a.row && a.row->type == PARAM_REAL && strcmp(a.section, "gpu") == 0)
                        hit[real++][(size_t)(share(&a, d) * n)]++;
                ck_assert_uint_eq(real, 2);
                platform_free(d);
            }
            for (uint32_t k = 0; k < n; k++)
                ck_assert_msg(hit[0][k] == 1 && hit[1][k] == 1, "%u draws, share %u", n, k);
        }
    platform_free(p);
}
END_TEST

START_TEST(a_wide_range_is_drawn_in_its_logarithm)
{
    struct platform *p = load();
    size_t below = 0;
    for (uint32_t at = 0; at < 100; at++) {
        struct platform *d = draw(p, 7, at, 100);
        below += ((const struct gpu *)platform_section_get(d, "gpu"))->memory_ns < 100;
        platform_free(d);
    }
    ck_assert_uint_eq(below, 50);
    platform_free(p);
}
END_TEST

START_TEST(draws_stay_in_range_and_leave_what_is_known)
{
    static const char *const shipped[] = {"titanv", "v100", "h200", "rtx3090", "orin", "gm200"};
    for (size_t f = 0; f < sizeof shipped / sizeof *shipped; f++) {
        struct platform *p = platform_load(shipped[f], NULL);
        for (uint32_t at = 0; at < 50; at++) {
            struct platform *d = draw(p, 1, at, 50);
            for (size_t s = 0; platform_sections[s]; s++)
                for (const struct param *row = platform_sections[s]->params; row->name; row++) {
                    const char *section = platform_sections[s]->name;
                    const struct platform_number *n = platform_number(p, section, row->name);
                    double v = value(d, section, row);
                    if (row->type == PARAM_TEXT)
                        ck_assert_pstr_eq(param_text(row, platform_section_get(d, section)),
                                          param_text(row, platform_section_get(p, section)));
                    else if (n->state == PLATFORM_UNSTATED || n->low == n->high)
                        ck_assert_msg(v == value(p, section, row), "%s.%s moved", section, row->name);
                    else
                        ck_assert_msg(n->low <= v && v <= n->high, "%s.%s is %g", section, row->name, v);
                    if (row->type != PARAM_REAL)
                        ck_assert_double_eq(v, round(v));
                }
            platform_free(d);
        }
        platform_free(p);
    }
}
END_TEST

START_TEST(a_borrowed_section_moves_by_one_factor)
{
    struct platform *p = load();
    const struct uvm_platform *own = platform_section_get(p, "uvm");
    double least = 4, most = 0.25;
    for (uint32_t at = 0; at < 40; at++) {
        struct platform *d = draw(p, 3, at, 40);
        const struct uvm_platform *u = platform_section_get(d, "uvm");
        double factor = u->service_ns / own->service_ns;
        ck_assert_double_eq_tol(u->new_block_ns, own->new_block_ns * factor, 1e-6);
        ck_assert_double_eq_tol(u->h2d_bytes_per_s, own->h2d_bytes_per_s / factor, 1);
        ck_assert_double_eq_tol(u->fault_gap_ns, own->fault_gap_ns * factor, 1e-9);
        ck_assert_int_eq(u->utlb_faults, own->utlb_faults);
        ck_assert_double_eq_tol(platform_borrowed(d, "uvm")->low, factor, 1e-12);
        least = fmin(least, factor);
        most = fmax(most, factor);
        platform_free(d);
    }
    ck_assert(least >= 0.25 && least < 0.28 && most <= 4 && most > 3.6);
    platform_free(p);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_draw_and_another_seed_another)
{
    struct platform *p = load(), *a = draw(p, 5, 3, 10), *b = draw(p, 5, 3, 10), *c = draw(p, 6, 3, 10);
    const struct gpu *ga = platform_section_get(a, "gpu"), *gb = platform_section_get(b, "gpu"),
                     *gc = platform_section_get(c, "gpu");
    ck_assert_double_eq(ga->memory_ns, gb->memory_ns);
    ck_assert(ga->memory_ns != gc->memory_ns);
    /* Another number becomes known: this one stays where it was. */
    WORKS(platform_set(p, "dependent_cycles", "4", NULL, &err));
    struct platform *d = draw(p, 5, 3, 10);
    ck_assert_double_eq(((const struct gpu *)platform_section_get(d, "gpu"))->memory_ns, ga->memory_ns);
    ck_assert_double_eq(((const struct gpu *)platform_section_get(d, "gpu"))->dependent_cycles, 4);
    GIVES_NONE(platform_draw(p, 5, 10, 10, &err), "");
    struct platform *all[] = {p, a, b, c, d};
    for (size_t i = 0; i < 5; i++)
        platform_free(all[i]);
}
END_TEST

START_TEST(one_axis_is_moved_alone)
{
    struct platform *p = load();
    struct platform_axis a;
    struct err err = {""};
    for (size_t i = 0; platform_axis(p, i, &a); i++) {
        struct platform *low = platform_moved(p, i, 0, &err), *high = platform_moved(p, i, 1, &err);
        if (a.row) {
            ck_assert_double_eq(value(low, a.section, a.row), a.low);
            ck_assert_double_eq(value(high, a.section, a.row), a.high);
        }
        for (size_t s = 0; platform_sections[s]; s++) {
            const char *name = platform_sections[s]->name;
            ck_assert_msg(platform_same(low, high, name, NULL) == (strcmp(name, a.section) != 0), "%s: %s", a.section,
                          name);
            const char *const moved[] = {"no number", a.row ? a.row->name : "as", NULL};
            ck_assert(!a.row || platform_same(low, high, name, moved));
        }
        struct platform_axis b;
        for (size_t k = 0, skipped = 0; platform_axis(p, k, &b); k++) {
            if (b.row == a.row && strcmp(a.section, b.section) == 0) {
                skipped = 1;
                continue;
            }
            if (b.row)
                ck_assert_double_eq(value(high, b.section, b.row), b.value);
            struct platform_axis left;
            ck_assert(platform_axis(high, k - skipped, &left) && left.row == b.row);
        }
        platform_free(low);
        platform_free(high);
    }
    ck_assert_ptr_null(platform_moved(p, 1000, 0, &err));
    ck_assert(!platform_same(p, p, "no section", NULL));
    platform_free(p);
}
END_TEST

START_TEST(a_share_is_where_a_value_stands)
{
    static const char *const names[] = {"gpu.l2_ways", "gpu.dependent_cycles", "gpu.memory_ns", "uvm.as", "uvm.utlbs"};
    struct platform *p = load();
    struct platform_axis a;
    size_t known = 0;
    for (size_t i = 0; platform_axis(p, i, &a); i++) {
        char name[96];
        platform_axis_name(&a, name, sizeof name);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            known += strcmp(name, names[k]) == 0;
        double share = platform_axis_share(&a, a.value);
        ck_assert_msg(share >= 0 && share <= 1, "%s stands at %g", name, share);
        ck_assert_double_eq_tol(platform_axis_at(&a, share), a.value, 1e-9 * (a.value + 1));
        ck_assert_double_eq(platform_axis_at(&a, 0), a.low);
        ck_assert_double_eq(platform_axis_at(&a, 1), a.high);
        struct platform *moved = a.row ? platform_moved(p, i, 0.3, NULL) : NULL;
        if (moved)
            ck_assert_double_eq(value(moved, a.section, a.row), platform_axis_at(&a, 0.3));
        platform_free(moved);
    }
    ck_assert_uint_eq(known, 5);
    platform_free(p);
}
END_TEST

/* Each axis has an order of its own, and draws are not in the order of their numbers. */
START_TEST(axes_are_drawn_apart)
{
    struct platform *p = load();
    double ab = 0, an = 0;
    struct platform_axis a = {0}, b = {0}, axis;
    for (size_t i = 0; platform_axis(p, i, &axis); i++)
        if (axis.row && strcmp(axis.row->name, "memory_ns") == 0)
            a = axis;
        else if (axis.row && strcmp(axis.row->name, "dependent_cycles") == 0)
            b = axis;
    for (uint32_t at = 0; at < 200; at++) {
        struct platform *d = draw(p, 2, at, 200);
        double x = share(&a, d) - 0.5, y = share(&b, d) - 0.5;
        ab += x * y * 12 / 200; /* the correlation: the variance of a share is 1/12 */
        an += x * (at / 200. - 0.5) * 12 / 200;
        platform_free(d);
    }
    ck_assert_msg(fabs(ab) < 0.25 && fabs(an) < 0.25, "correlations %g and %g", ab, an);
    platform_free(p);
}
END_TEST

START_TEST(a_choice_takes_each_of_its_names_as_often)
{
    struct platform *p = platform_load("titanv", NULL);
    size_t blocked = 0;
    for (uint32_t at = 0; at < 10; at++) {
        struct platform *d = draw(p, 1, at, 10);
        blocked += ((const struct uvm_platform *)platform_section_get(d, "uvm"))->utlb == UVM_UTLB_BLOCKED;
        platform_free(d);
    }
    ck_assert_uint_eq(blocked, 5);
    platform_free(p);
}
END_TEST

/* Worked out apart (Python), from what platform.h and platform.c say: a seed means the same draws for good.
 */
START_TEST(a_seed_gives_the_draws_that_it_gave)
{
    static const uint32_t sizes[] = {4, 5, 16}, strata[][16] = {{2, 0, 1, 3},
                                                                {4, 2, 1, 3, 0},
                                                                {7, 15, 5, 3, 0, 9, 2, 4, 13, 10, 11, 12, 1, 8, 6, 14}};
    struct platform *p = load();
    struct platform_axis a = {0}, axis;
    for (size_t i = 0; platform_axis(p, i, &axis); i++)
        if (axis.row && strcmp(axis.row->name, "memory_ns") == 0)
            a = axis;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint32_t at = 0; at < sizes[s]; at++) {
            struct platform *d = draw(p, 5, at, sizes[s]);
            ck_assert_uint_eq((uint32_t)(share(&a, d) * sizes[s]), strata[s][at]);
            if (sizes[s] == 16 && at == 9)
                ck_assert_double_eq_tol(share(&a, d), 0.6818687829409166, 1e-12);
            platform_free(d);
        }
    platform_free(p);
}
END_TEST

TEST_MAIN("platform_draw")
