#include "models/zerocopy/link.c"

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

/* Useful GB/s of `requests` of one size on a platform, long enough for nothing else to count. */
static double rate(const char *name, int sectors, int lines, enum link_bound *bound)
{
    struct platform *platform = GIVES(platform_load(name, &err));
    struct link_launch l = {.mix = {.host_lines = (uint64_t)lines * 100000000}};
    l.mix.by_size[sectors - 1] = 100000000;
    double ns = link_time_ns(platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), &l, bound);
    platform_free(platform);
    return (double)mix_payload(&l.mix) / ns;
}

/* Dissertation, figure 2.5: strided 4.74 to 4.77, aligned 12.23 GB/s. H200: measured 2026-11. */
START_TEST(toy_bandwidths_are_the_published_and_measured_ones)
{
    enum link_bound bound;
    ck_assert_double_eq_tol(rate("v100", 1, 1, &bound), 4.75, 0.05);
    ck_assert_int_eq(bound, LINK_TAGS);
    ck_assert_double_eq_tol(rate("v100", 4, 2, &bound), 12.23, 0.1);
    ck_assert_int_eq(bound, LINK_WIRE);
    ck_assert_double_eq_tol(rate("h200", 4, 2, &bound), 50.5, 0.8);
    ck_assert_double_eq_tol(rate("h200", 2, 1, &bound), 42.9, 1.5);
}
END_TEST

START_TEST(block_copies_have_the_measured_curve)
{
    static const struct {
        double bytes, ns;
    } measured[] = {{4096, 2605}, {65536, 3810}, {262144, 7584}, {1048576, 22167}, {67108864, 1213068}};
    struct platform *platform = platform_load("h200", NULL);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double ns = link_copy_ns(platform_section_get(platform, "pcie"), measured[i].bytes, 1);
        ck_assert_double_eq_tol(ns / measured[i].ns, 1, 0.05);
    }
    platform_free(platform);
}
END_TEST

/* Multiprocessors of 32 warps, one 128 B load each at a time: GB/s, measured on an H200, 2026-11. */
START_TEST(few_multiprocessors_are_bound_by_their_warps)
{
    static const struct {
        double sms, rate;
    } measured[] = {{1, 3.113}, {4, 11.926}, {8, 23.249}, {16, 40.436}, {24, 49.675}, {132, 49.286}};
    struct platform *platform = platform_load("h200", NULL);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct link_launch l = {
            .mix = {{0, 0, 0, 4194304}, 8388608}, .loads = 4194304, .resident_warps = 32 * measured[i].sms};
        enum link_bound bound;
        double ns =
            link_time_ns(platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), &l, &bound);
        ck_assert_double_eq_tol(536870912 / ns / measured[i].rate, 1, 0.08);
    }
    platform_free(platform);
}
END_TEST

/* A link sends both ways at once: what is stored counts once it takes about as long as what is read. */
START_TEST(stores_go_up_beside_what_comes_down)
{
    struct platform *platform = platform_load("h200", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const double read = link_service_ns(p, &(struct request_mix){{0, 0, 0, 8192}, 16384});
    ck_assert_double_eq_tol(read, 20770, 30);
    ck_assert_double_eq(link_beside_ns(p, read, 8192, 0, 128), read);
    ck_assert_double_eq_tol(link_beside_ns(p, read, 8192, 1 << 18, 128), read, 1);
    ck_assert_double_eq_tol(link_beside_ns(p, read, 8192, 1 << 20, 128), 24630, 30);
    ck_assert_double_eq_tol(link_beside_ns(p, 0, 0, 1 << 20, 32), 1.75 * (1 << 20) / 59.23, 30);
    platform_free(platform);
}
END_TEST

START_TEST(wire_bytes_are_what_counters_see)
{
    const struct request_mix mix = {{0, 0, 0, 524288}, 1048576};
    ck_assert_uint_eq(link_up_bytes(&mix), 16 * 524288);
    ck_assert_uint_eq(link_down_bytes(&mix), 140 * 524288);
}
END_TEST

/* A translation cache of 64 pages that throws out any of them, and reads that jump about in more: it misses as often as
 * the link's formula has it, after the first of each page. */
START_TEST(walks_are_the_misses_of_a_cache_that_forgets_at_random)
{
    enum { PAGES = 64, READS = 400000 };
    for (uint64_t span = 32; span <= 1024; span *= 2) {
        uint64_t held[PAGES], random = 88172645463325252u, misses = 0;
        bool has[1024] = {false};
        size_t n = 0;
        for (int i = 0; i < READS; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint64_t page = (random >> 20) % span;
            if (has[page])
                continue;
            misses++;
            size_t place = n < PAGES ? n++ : (random >> 50) % PAGES;
            if (misses > PAGES)
                has[held[place]] = false;
            held[place] = page;
            has[page] = true;
        }
        struct pcie p;
        struct gpu gpu;
        enum link_bound bound;
        param_defaults(pcie_params, &p);
        param_defaults(gpu_params, &gpu);
        p.walk_ns = 1000;
        p.reach_bytes = PAGES * 65536.0;
        struct link_launch l = {.mix = {.host_lines = READS}, .jumps = READS, .span = (double)span * 65536};
        double ns = link_time_ns(&p, &gpu, &l, &bound), first = (double)(span < PAGES ? span : PAGES);
        ck_assert_double_eq_tol(ns / 1000, (double)misses - first, 0.01 * READS);
    }
}
END_TEST

/* Measured: H100, driver 580.159.04, 2026-11: 2,097,152 lines drawn from a window, ms. */
START_TEST(lines_drawn_from_beyond_the_reach_take_the_measured_time)
{
    static const double measured[] = {5.33, 5.33, 17.91, 33.87, 43.32, 47.97};
    struct platform *platform = platform_load("h100", NULL);
    for (int i = 0; i < 6; i++) {
        struct link_launch l = {.mix = {{0, 0, 0, 1 << 21}, 1 << 22}, .jumps = 1 << 21, .span = ldexp(0x1p28, i)};
        enum link_bound bound;
        double ns =
            link_time_ns(platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), &l, &bound);
        ck_assert_double_eq_tol(ns / 1e6 / measured[i], 1, 0.03);
    }
    platform_free(platform);
}
END_TEST

/* By hand: 1,000 loads of 4 lines by 10 warps: each waits 1,000 ns and 3 times 40. 1,000 jumps of 5 ns. */
START_TEST(further_requests_wait_for_the_first_and_jumps_add_to_host_memory)
{
    struct pcie p;
    struct gpu gpu;
    enum link_bound bound;
    param_defaults(pcie_params, &p);
    param_defaults(gpu_params, &gpu);
    p.load_ns = 1000;
    p.further_ns = 40;
    p.efficiency = 1;
    p.gigatransfers = 128;
    p.lanes = 32;
    struct link_launch l = {
        .mix = {.by_size = {0, 0, 0, 4000}, .host_lines = 8000}, .loads = 1000, .resident_warps = 10};
    ck_assert_double_eq_tol(link_time_ns(&p, &gpu, &l, &bound), 112000, 10);
    ck_assert_int_eq(bound, LINK_ISSUE);
    l.jumps = 1000;
    l.loads = 0;
    p.jump_ns = 5000;
    ck_assert_double_eq_tol(link_time_ns(&p, &gpu, &l, &bound), 5e6, 10);
    ck_assert_int_eq(bound, LINK_HOST);
}
END_TEST

static struct platform *link_of(const char *name, struct pcie *pcie)
{
    struct platform *p = GIVES(platform_load(name, NULL));
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

/* Every way to make s sectors of n requests. */
static void enumerate(uint64_t n, uint64_t s, struct counter_sizes *b, int *ways)
{
    *ways = 0;
    for (uint64_t a = 0; a <= n; a++)
        for (uint64_t c = 0; a + c <= n; c++)
            for (uint64_t d = 0; a + c + d <= n; d++) {
                const uint64_t count[LINE_SECTORS] = {a, c, d, n - a - c - d};
                if (count[0] + 2 * count[1] + 3 * count[2] + 4 * count[3] != s)
                    continue;
                for (int k = 0; k < LINE_SECTORS; k++) {
                    b->least[k] = *ways == 0 || count[k] < b->least[k] ? count[k] : b->least[k];
                    b->most[k] = *ways == 0 || count[k] > b->most[k] ? count[k] : b->most[k];
                }
                ++*ways;
            }
}

START_TEST(bounds_are_those_of_all_ways_to_make_the_sectors)
{
    for (uint64_t n = 0; n <= 12; n++)
        for (uint64_t s = 0; s <= 4 * n + 2; s++) {
            struct counter_sizes found = {0}, expected = {0};
            int ways;
            enumerate(n, s, &expected, &ways);
            ck_assert_int_eq(counter_sizes(n, s, &found), ways > 0);
            for (int k = 0; k < LINE_SECTORS; k++) {
                ck_assert_msg(found.least[k] == expected.least[k] && found.most[k] == expected.most[k],
                              "%lu requests, %lu sectors, size %d", (unsigned long)n, (unsigned long)s, k + 1);
                /* One way, or none: the bounds meet. */
                ck_assert(ways > 1 || found.least[k] == found.most[k]);
            }
        }
}
END_TEST

/* Measured: H200, driver 580.159.04, 64 MiB of u32: aligned and strided. */
START_TEST(the_measured_aligned_and_strided_sweeps_have_one_size)
{
    struct counter_sizes b;
    ck_assert(counter_sizes(524288, 2097152, &b));
    ck_assert_uint_eq(b.least[3], 524288);
    ck_assert_uint_eq(b.most[3], 524288);
    ck_assert_uint_eq(b.most[0] + b.most[1] + b.most[2], 0);
    ck_assert(counter_sizes(3244883, 3244883, &b));
    ck_assert_uint_eq(b.least[0], 3244883);
    ck_assert_uint_eq(b.most[3], 0);
    ck_assert(!counter_sizes(UINT64_MAX, UINT64_MAX, &b));
}
END_TEST

/* The same two sweeps' bytes on the link, and the model's own way there and back. */
START_TEST(link_bytes_give_the_requests_and_the_payload)
{
    ck_assert_double_eq_tol(counter_link_requests(8390000), 524288, 524288 * 1e-3);
    ck_assert_double_eq_tol(counter_link_payload(8390000, 73400000), 67108864, 67108864 * 1e-3);
    ck_assert_double_eq_tol(counter_link_requests(51920000), 3244883, 3244883 * 1e-3);
    ck_assert_double_eq_tol(counter_link_payload(51920000, 142780000), 3244883.0 * 32, 3244883 * 32e-3);
    const struct request_mix mix = {.by_size = {5, 3, 2, 7}};
    ck_assert_double_eq(counter_link_requests((double)link_up_bytes(&mix)), 17);
    ck_assert_double_eq(counter_link_payload((double)link_up_bytes(&mix), (double)link_down_bytes(&mix)),
                        (double)mix_payload(&mix));
}
END_TEST

/* Public, 2026: H100, cuMemcpyBatchAsync of 10,000 blocks; the cliff lies between the first two. */
START_TEST(batched_copies_have_the_given_rates)
{
    static const struct {
        double kib, gbps;
    } given[] = {{8, 6.8}, {28, 27.5}, {64, 38.8}};
    struct platform *platform = platform_load("h100", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const struct link_batch *b = platform_section_get(platform, "batch");
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(given[i].kib * 1024 * 10000 / link_batch_ns(p, b, 10000, given[i].kib * 1024),
                                given[i].gbps, 0.01 * given[i].gbps);
    ck_assert_double_eq_tol(link_batch_ns(p, b, 1, 16383) - link_batch_ns(p, b, 1, 16384), 1057 - 515, 1);
    ck_assert_double_eq(link_batch_ns(p, b, 0, 4096), p->copy_setup_ns); /* the call */
    platform_free(platform);
}
END_TEST

TEST_MAIN("link")
