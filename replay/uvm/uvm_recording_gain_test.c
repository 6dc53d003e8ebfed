#include "replay/uvm/uvm_recording.h"

#include <math.h>

#include "replay/uvm/tape_testing.h"

/* Kernels at 1 to 2 ms and 3 to 5 ms, and batches (start, end in us) between other events. */
static struct uvm_gain gain_of(const int64_t (*batches)[2], size_t n)
{
    static struct range spans[] = {{1000000, 2000000, 0}, {3000000, 5000000, 0}};
    struct uvm_event events[8] = {{.kind = UVM_EVENT_BACK, .start_ns = 0, .end_ns = 9000000}};
    for (size_t i = 0; i < n; i++)
        events[i + 1] = (struct uvm_event){
            .kind = UVM_EVENT_BATCH, .start_ns = batches[i][0] * 1000, .end_ns = batches[i][1] * 1000};
    const struct uvm_recording r = {.spans = {.items = spans, .count = 2},
                                    .kernel_ns = 3000000,
                                    .events = events,
                                    .event_count = n + 1,
                                    .batches = {.record_count = n}};
    return uvm_gain_of(&r, NULL);
}

START_TEST(time_is_counted_once_and_within_kernels_only)
{
    /* Before a kernel and into it; inside the one before; beside it; over the gap into the second kernel; behind. */
    static const int64_t batches[][2] = {{500, 1200}, {1100, 1150}, {1150, 1300}, {1900, 3100}, {4900, 6000}};
    static const int64_t until[] = {200, 200, 300, 500, 600}; /* us, by hand */
    for (size_t n = 1; n <= 5; n++) {
        struct uvm_gain g = gain_of(batches, n);
        ck_assert(g.records && !g.moved_ns && g.kernel_ns == 3000000);
        ck_assert_int_eq(g.served_ns, until[n - 1] * 1000);
    }
}
END_TEST

START_TEST(the_ceiling_is_what_is_left_of_the_kernels_or_what_the_link_takes)
{
    static const struct {
        int64_t served, moved; /* us */
        const char *says;
    } rows[] = {
        {0, 0, "0 ns of the kernels' 3 ms: at most 1x, leave it"},
        {272, 0, "272 us of the kernels' 3 ms: at most 1.09x, leave it"},
        {273, 0,
         "273 us of the kernels' 3 ms: how much of that can be gained is not known without the link (replay uvm "
         "--platform)"},
        {273, 1, "273 us of the kernels' 3 ms; moving the same bytes takes at least 1 us: at most 1.1x"},
        {3000, 219, "3 ms of the kernels' 3 ms; moving the same bytes takes at least 219 us: at most 13.6x"},
        {760, 219, "760 us of the kernels' 3 ms; moving the same bytes takes at least 219 us: at most 1.33x"},
        {760, 4000, "760 us of the kernels' 3 ms; moving the same bytes takes at least 4 ms: at most 1x, leave it"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t most = rows[i].moved > 3000 - rows[i].served ? rows[i].moved : 3000 - rows[i].served;
        struct uvm_gain g = {.kernel_ns = 3000000,
                             .served_ns = rows[i].served * 1000,
                             .moved_ns = (double)rows[i].moved * 1e3,
                             .records = true};
        char text[256];
        ck_assert_str_eq(uvm_gain_say(&g, text, sizeof text) + strlen("fault service covers "), rows[i].says);
        if (most > 0)
            ck_assert_double_eq_tol(uvm_gain_most(&g), fmax(1, 3000.0 / (double)most), 1e-12);
        else
            ck_assert(isinf(uvm_gain_most(&g)));
        g.cut = true;
        ck_assert(isinf(uvm_gain_most(&g)) && !strstr(uvm_gain_say(&g, text, sizeof text), "at most"));
        ck_assert_ptr_nonnull(strstr(text, "not known of a recording that is not whole"));
        g.records = false;
        ck_assert_ptr_nonnull(strstr(uvm_gain_say(&g, text, sizeof text), "nor what unified memory may gain"));
        g.kernel_ns = 0;
        ck_assert_str_eq(uvm_gain_say(&g, text, sizeof text), "");
    }
}
END_TEST

/* 100 pages over the link of a platform; behind an eviction each page counts once. */
START_TEST(what_moved_must_move)
{
    struct platform *h200 = GIVES(platform_load("h200", &err));
    struct range span = {0, 1000000, 0};
    struct uvm_recording r = {.spans = {.items = &span, .count = 1},
                              .kernel_ns = 1000000,
                              .fault_pages = 60,
                              .prefetch_pages = 40,
                              .moved_pages = 70,
                              .batches = {.record_count = 1}};
    const double page_ns = UVM_PAGE_BYTES / 54.93e9 * 1e9; /* its copies, docs/platforms.md */
    ck_assert_double_eq_tol(uvm_gain_of(&r, h200).moved_ns, 100 * page_ns, page_ns);
    r.evictions = 1;
    ck_assert_double_eq_tol(uvm_gain_of(&r, h200).moved_ns, 70 * page_ns, page_ns);
    ck_assert_double_eq(uvm_gain_of(&r, NULL).moved_ns, 0);
    platform_free(h200);
}
END_TEST

/* A kernel that runs on in silence has lost its end if as much never moved; not where little was left to do. */
START_TEST(a_silent_end_is_lost_if_memory_never_moved)
{
    static const struct {
        unsigned blocks; /* of 8 that the CPU wrote */
        int64_t silent_ns;
        bool lost;
    } rows[] = {{8, 20000000, false}, {4, 100000, false}, {4, 3000000, true}, {7, 200000000, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tape t;
        struct uvm_recording r;
        tape_init(&t, "tree", NULL, UINT64_C(0x7f) << 32, 8 * UVM_BLOCK_BYTES);
        tape_allocation(&t, UINT64_C(0x7f) << 32, 8 * UVM_BLOCK_BYTES);
        tape_cpu_writes(&t);
        const int64_t start = t.now;
        tape_sweep(&t, rows[i].blocks, 1, 64);
        tape_add(&t,
                 (struct record){.kind = RECORD_KERNEL, .time = start, .duration = t.now - start + rows[i].silent_ns});
        tape_load(&t, &r);
        ck_assert_msg(r.cut == rows[i].lost, "row %zu", i);
        ck_assert(isinf(uvm_gain_most(&(struct uvm_gain){
                      .kernel_ns = 2, .served_ns = 1, .records = true, .cut = r.cut})) == rows[i].lost);
        uvm_recording_release(&r);
        tape_release(&t);
    }
}
END_TEST

TEST_MAIN("replay/uvm_recording_gain")
