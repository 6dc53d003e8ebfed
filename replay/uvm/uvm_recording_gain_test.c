#include "replay/uvm/uvm_recording.h"

#include <math.h>

#include "trace/base/testing.h"

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
    return uvm_gain_of(&r);
}

START_TEST(time_is_counted_once_and_within_kernels_only)
{
    /* Before a kernel and into it; inside the one before; beside it; over the gap into the second kernel; behind. */
    static const int64_t batches[][2] = {{500, 1200}, {1100, 1150}, {1150, 1300}, {1900, 3100}, {4900, 6000}};
    static const int64_t until[] = {200, 200, 300, 500, 600}; /* us, by hand */
    for (size_t n = 1; n <= 5; n++) {
        struct uvm_gain g = gain_of(batches, n);
        ck_assert(g.whole && g.kernel_ns == 3000000);
        ck_assert_int_eq(g.served_ns, until[n - 1] * 1000);
    }
}
END_TEST

START_TEST(the_ceiling_is_what_is_left_of_the_kernels)
{
    static const struct {
        int64_t served;
        const char *says;
    } rows[] = {{0, "covers 0 % of the kernels' 3 ms: a change to unified memory gains at most 1.00x: leave it"},
                {270, "covers 9 % of the kernels' 3 ms: a change to unified memory gains at most 1.10x: leave it"},
                {273, "covers 9 % of the kernels' 3 ms: a change to unified memory gains at most 1.1x"},
                {760, "covers 25 % of the kernels' 3 ms: a change to unified memory gains at most 1.34x"},
                {1421, "covers 47 % of the kernels' 3 ms: a change to unified memory gains at most 1.9x"},
                {2940, "covers 98 % of the kernels' 3 ms: a change to unified memory gains at most 50x"},
                {3000, "covers 100 % of the kernels' 3 ms: a change to unified memory gains any time"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct uvm_gain g = {.kernel_ns = 3000000, .served_ns = rows[i].served * 1000, .whole = true};
        char text[256];
        ck_assert_str_eq(uvm_gain_say(&g, text, sizeof text) + strlen("fault service "), rows[i].says);
        if (rows[i].served < 3000)
            ck_assert_double_eq_tol(uvm_gain_most(&g), 3000.0 / (double)(3000 - rows[i].served), 1e-12);
        else
            ck_assert(isinf(uvm_gain_most(&g)));
        g.whole = false;
        ck_assert_ptr_nonnull(strstr(uvm_gain_say(&g, text, sizeof text), "nor what unified memory may gain"));
        g.kernel_ns = 0;
        ck_assert_str_eq(uvm_gain_say(&g, text, sizeof text), "");
    }
}
END_TEST

TEST_MAIN("replay/uvm_recording_gain", time_is_counted_once_and_within_kernels_only,
          the_ceiling_is_what_is_left_of_the_kernels)
