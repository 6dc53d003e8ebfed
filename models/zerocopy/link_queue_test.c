#include "models/zerocopy/link_queue.h"

#include "models/base/platform.h"
#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

static struct platform *link_of(const char *name, struct pcie *pcie)
{
    struct platform *p = platform_load(name, NULL);
    ck_assert_ptr_nonnull(p);
    *pcie = *(const struct pcie *)platform_section_get(p, "pcie");
    return p;
}

START_TEST(the_worked_example)
{
    struct pcie pcie;
    struct link_queue q;
    struct platform *platform = link_of("h200", &pcie);
    double ns = 0;
    link_queue_init(&q, &pcie);
    for (int i = 0; i < 100000; i++)
        ns += link_queue_add(&q, i % 2 ? 0 : 1, i % 2 ? 0 : 3);
    ck_assert_double_eq_tol(128 * 50000 / ns, 38.5, 0.05);
    struct request_mix one = {0}, other = {0};
    mix_run(&one, 1, 3);
    mix_run(&other, 0, 0);
    ck_assert_double_gt(link_service_ns(&pcie, &one) + link_service_ns(&pcie, &other), 1.05 * ns / 50000);
    platform_free(platform);
}
END_TEST

START_TEST(requests_of_one_kind_take_what_each_takes_alone)
{
    struct pcie pcie;
    struct link_queue q;
    struct platform *platform = link_of("v100", &pcie);
    for (uint32_t from = 0; from < LINE_SECTORS; from++)
        for (uint32_t to = from; to < LINE_SECTORS; to++) {
            struct request_mix one = {0};
            mix_run(&one, from, to);
            link_queue_init(&q, &pcie);
            for (int i = 0; i < 3000; i++)
                ck_assert_double_eq_tol(link_queue_add(&q, from, to), link_service_ns(&pcie, &one), 1e-9);
        }
    platform_free(platform);
}
END_TEST

/* Drawn mixes in any order; some requests grow. */
START_TEST(a_steady_mix_takes_what_the_formula_says)
{
    static const char *const names[] = {"h200", "v100", "rtx3090", "a100"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pcie pcie;
        struct link_queue q;
        struct platform *platform = link_of(names[seed % 4], &pcie);
        struct request_mix mix = {0};
        double ns = 0;
        uint64_t s = seed, kinds = 1 + random_mix(seed) % 6;
        link_queue_init(&q, &pcie);
        for (int i = 0; i < 100000; i++) {
            s = random_mix(s);
            uint64_t kind = random_mix(seed * 100 + s % kinds);
            uint32_t from = kind % 4, to = from + kind / 4 % (4 - from), had = from + (to - from) / 2;
            if (s >> 32 & 1) {
                ns += link_queue_add(&q, from, to);
            } else {
                ns += link_queue_add(&q, from, had);
                ns += link_queue_grow(&q, from, had, from, to);
            }
            mix_run(&mix, from, to);
        }
        ck_assert_double_eq_tol(ns / link_service_ns(&pcie, &mix), 1, 0.002);
        platform_free(platform);
    }
}
END_TEST

START_TEST(a_link_without_tags_has_a_window_too)
{
    struct pcie pcie;
    struct link_queue q;
    struct platform *platform = link_of("h200", &pcie);
    pcie.tags = 0;
    link_queue_init(&q, &pcie);
    for (int i = 0; i < 1000; i++)
        ck_assert_double_gt(link_queue_add(&q, 0, 3), 2.4);
    platform_free(platform);
}
END_TEST

TEST_MAIN("link_queue", the_worked_example, requests_of_one_kind_take_what_each_takes_alone,
          a_steady_mix_takes_what_the_formula_says, a_link_without_tags_has_a_window_too)
