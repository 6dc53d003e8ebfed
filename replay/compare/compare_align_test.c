#include "replay/compare/compare_testing.h"

static const struct compare_row *best_zerocopy(void)
{
    for (size_t i = 0; i < result.count; i++)
        if (result.rows[i].mechanism == COMPARE_ZEROCOPY)
            return &result.rows[i];
    ck_abort_msg("no zero-copy row");
    return NULL;
}

/* By hand: an array of 1 MiB is 8,192 lines, one request each. Eight words in, each warp's line is 96 bytes of one and
 * 32 of the next: two requests, but for the last warp, whose end is past the array's. */
START_TEST(an_array_off_its_line_says_by_how_many_bytes)
{
    compare_with("synth:array,bytes=1MiB,offset=8", "h200", NULL, 1);
    const struct compare_row *row = best_zerocopy();
    ck_assert(told(row, "begin what is read of array 96 bytes later, on a multiple of 128: 8192 requests instead of "
                        "16383, "));
    ck_assert(!told(row, "within the model's error"));
    compare_release(&result);
    compare_with("synth:array,bytes=1MiB,offset=32", "h200", NULL, 1); /* on a line */
    ck_assert(!told(best_zerocopy(), "instead of"));
    compare_release(&result);
}
END_TEST

/* Eight rows of 96 bytes fill six lines; each in a line of its own is one request. */
START_TEST(rows_off_their_lines_say_how_far_apart_they_should_lie)
{
    compare_with("synth:gather,row_bytes=96,count=2048,table_rows=8192", "h200", NULL, 1);
    const struct compare_row *row = best_zerocopy();
    ck_assert(told(row, "let rows of table lie 128 bytes apart, not 96 (32 bytes more each, 0.25 MiB together)"));
    compare_release(&result);
    compare_with("synth:gather,row_bytes=96,graph=kron,scale=9,fan_outs=[2,3],batches=2,seeds=4", "h200", NULL, 1);
    ck_assert(told(best_zerocopy(), "128 bytes apart, not 96 (32 bytes more each, 0.01562 MiB together)"));
    compare_release(&result);
    compare_with("synth:gather,row_bytes=128,count=2048,table_rows=8192", "h200", NULL, 1);
    ck_assert(!told(best_zerocopy(), "instead of"));
    compare_release(&result);
}
END_TEST

START_TEST(a_list_off_its_line_says_so_too)
{
    compare_with("synth:bfs,scale=12,root=auto,base_offset=32", "h200", NULL, 1);
    ck_assert(
        told(row_of("zerocopy", "aligned"), "begin what is read of edges 96 bytes later, on a multiple of 128: "));
    compare_release(&result);
    compare_with("synth:bfs,scale=12,root=auto,base_offset=128", "h200", NULL, 1);
    ck_assert(!told(row_of("zerocopy", "aligned"), "instead of"));
    compare_release(&result);
}
END_TEST

TEST_MAIN("compare_align")
