#include "trace/workloads/ml/gather.h"

#include "trace/base/testing.h"

/* Every layer loads the same blocks, each once, from its own region of the pool. */
START_TEST(layers_load_the_same_blocks_of_their_regions)
{
    static const char *const specs[] = {"kv-load,blocks=9,layers=3,pool=40,block_bytes=64",
                                        "kv-load,blocks=9,layers=3,pool=40,block_bytes=64,order=in-order"};
    for (int in_order = 0; in_order < 2; in_order++) {
        struct workload w;
        struct scan_batch batch;
        struct scan_setup setup;
        uint64_t first[9], n = 0, moved = 0, seen = 0;
        ck_assert_int_eq(workload_open(&w, specs[in_order], NULL), 0);
        gather_ops.setup(w.state, &setup);
        ck_assert(setup.structures[0].element == 16 && setup.structures[0].elements == 3 * 40 * 64 / 16);
        ck_assert_int_eq(gather_ops.start(w.state, NULL), 0);
        for (; gather_ops.next(w.state, &batch, NULL) > 0; seen = 0)
            for (size_t i = 0; i < batch.n; i++, n++) {
                const uint64_t place = batch.scans[i].first / 4 - 40 * batch.launch;
                first[i] = batch.launch ? first[i] : place;
                ck_assert(place < 40 && place == first[i] && !(seen >> place & 1));
                seen |= 1ULL << place;
                moved += place != i;
            }
        ck_assert_uint_eq(n, 27);
        ck_assert(in_order ? moved == 0 : moved > 0);
        workload_close(&w);
    }
}
END_TEST

START_TEST(a_pool_smaller_than_its_blocks_and_odd_blocks_are_refused)
{
    struct workload w;
    FAILS_WITH(workload_open(&w, "kv-load,blocks=9,pool=8", &err), "pool is 8; expected at least 9");
    FAILS_WITH(workload_open(&w, "kv-load,block_bytes=100", &err), "a multiple of 16");
}
END_TEST

TEST_MAIN("kv_load")
