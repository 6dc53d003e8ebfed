/* Exact request counts of one graph and of one row stream, made by two separate implementations
 * (fixtures/README.md). */
#include <stdio.h>

#include "replay/run/testing_replay.h"

enum { COUNTS = 6 };

static const char *const names[COUNTS] = {"requests_32",  "requests_64",   "requests_96",
                                          "requests_128", "payload_bytes", "host_dram_bytes"};

/* Replay one policy and compare with the last six fields of a row: requests by size, payload, 64 B lines. */
static void compare(const char *spec, const char *policy, const long long *want)
{
    struct replay_result result;
    testing_replay(
        &result, (struct replay_request){.engine = engine_find("zerocopy"), .policy_list = policy, .threads = 1}, spec);
    for (int i = 0; i < COUNTS; i++) {
        long long got = (long long)outcome_get(&result.runs[0], names[i])->whole;
        ck_assert_msg(got == (i == 5 ? 64 : 1) * want[i], "%s, %s: %s is %lld; expected %lld", spec, policy, names[i],
                      got, want[i]);
    }
    replay_release(&result);
}

START_TEST(traversals_of_the_star_graph_make_the_exact_requests)
{
    FILE *f = fopen("fixtures/graphs/star_requests.csv", "r");
    char line[256];
    int rows = 0;
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        char traversal[16], root[16], pattern[16], reuse[16], spec[256];
        int element, offset;
        long long want[COUNTS];
        ck_assert_int_eq(sscanf(line, "%15[^,],%15[^,],%15[^,],%d,%d,%15[^,],%lld,%lld,%lld,%lld,%lld,%lld", traversal,
                                root, pattern, &element, &offset, reuse, &want[0], &want[1], &want[2], &want[3],
                                &want[4], &want[5]),
                         12);
        bool bfs = strcmp(traversal, "bfs") == 0;
        (void)snprintf(spec, sizeof spec,
                       "synth:%s%s,graph=fixtures/graphs/star.bel,element=%d,base_offset=%d,reuse=%s",
                       bfs ? "bfs,root=" : "cc,iterations=1", bfs ? root : "", element, offset, reuse);
        compare(spec, pattern, want);
        rows++;
    }
    (void)fclose(f);
    ck_assert_int_ge(rows, 56);
}
END_TEST

START_TEST(gathered_rows_make_the_exact_requests)
{
    FILE *f = fopen("fixtures/graphs/row_gather.csv", "r");
    char line[256];
    int rows = 0;
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        char pattern[16], reuse[16], spec[256];
        int bytes;
        long long want[COUNTS];
        ck_assert_int_eq(sscanf(line, "%d,%15[^,],%15[^,],%lld,%lld,%lld,%lld,%lld,%lld", &bytes, pattern, reuse,
                                &want[0], &want[1], &want[2], &want[3], &want[4], &want[5]),
                         9);
        (void)snprintf(spec, sizeof spec,
                       "synth:gather,rows=fixtures/graphs/row_gather_index.txt,row_bytes=%d,reuse=%s", bytes, reuse);
        compare(spec, pattern, want);
        rows++;
    }
    (void)fclose(f);
    ck_assert_int_ge(rows, 12);
}
END_TEST

TEST_MAIN("zerocopy_exact")
