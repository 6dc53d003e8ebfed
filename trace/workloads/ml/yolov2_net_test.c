/* The network is its own: by including it. */
#include "trace/workloads/ml/yolov2.c"

#include "trace/base/testing.h"

START_TEST(weights_are_as_many_as_the_published_file_holds)
{
    struct yolov2_layer l[YOLOV2_LAYERS];
    uint64_t weights = 0, flop = 0;
    yolov2_layers(608, l);
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        weights += yolov2_weights(&l[i]);
        flop += 2 * yolov2_outputs(&l[i]) * l[i].in_channels * l[i].size * l[i].size;
    }
    ck_assert_uint_eq(4 * weights, 203934260 - 16); /* yolov2.weights, less its header */
    ck_assert_uint_eq(flop, 62938253312);           /* the 62.94 BFLOPs that darknet prints */
    ck_assert_uint_eq(l[30].side, 19);
    ck_assert_uint_eq(l[30].channels, 425);
    ck_assert_uint_eq(l[28].channels, 1280);
}
END_TEST

START_TEST(arrays_of_all_layers_by_hand)
{
    struct yolov2_layer l[YOLOV2_LAYERS];
    uint64_t numbers = 0;
    yolov2_layers(608, l);
    /* The first: 864 weights and their updates, 10 arrays of 32, 4 of 608 x 608 x 32. */
    ck_assert_uint_eq(yolov2_numbers(&l[0]), 2 * 864 + 320 + 4ull * 608 * 608 * 32);
    ck_assert_uint_eq(yolov2_numbers(&l[1]), 3ull * 304 * 304 * 32);
    ck_assert_uint_eq(yolov2_numbers(&l[30]), 2 * 425 * 1024 + 2 * 425 + 2ull * 19 * 19 * 425);
    ck_assert_uint_eq(yolov2_workspace(&l[2]), 304ull * 304 * 32 * 9);
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        numbers += yolov2_numbers(&l[i]);
        ck_assert_uint_le(yolov2_workspace(&l[i]), yolov2_workspace(&l[2]));
    }
    ck_assert_uint_eq(4 * numbers, 1041052760); /* .ci/reproduction/yolov2.py */
}
END_TEST

START_TEST(the_kernels_are_the_180_of_the_table)
{
    struct yolov2_layer l[YOLOV2_LAYERS];
    struct yolov2_launch k[YOLOV2_KERNELS + 1];
    memset(k, 0xff, sizeof k);
    yolov2_layers(416, l);
    yolov2_launches(l, k);
    ck_assert_int_eq(k[0].kernel, YOLOV2_FILL);
    ck_assert_int_eq(k[0].input, -1);
    ck_assert_int_eq(k[YOLOV2_KERNELS - 1].kernel, YOLOV2_SOFTMAX);
    ck_assert_uint_eq(k[YOLOV2_KERNELS].count, UINT64_MAX); /* and no more */
    uint64_t written[YOLOV2_LAYERS] = {0};
    for (int i = 0; i < YOLOV2_KERNELS; i++)
        if (k[i].kernel == YOLOV2_PRODUCT || k[i].kernel == YOLOV2_POOL || k[i].kernel == YOLOV2_COPY ||
            k[i].kernel == YOLOV2_SPREAD)
            written[k[i].layer] += k[i].count;
    for (int i = 0; i < YOLOV2_LAYERS; i++)
        ck_assert_uint_eq(written[i], yolov2_outputs(&l[i]));
}
END_TEST

TEST_MAIN("yolov2_net")
