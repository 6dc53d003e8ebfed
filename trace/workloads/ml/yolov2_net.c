#include "trace/workloads/ml/yolov2_net.h"

#include <stddef.h>
#include <string.h>

#define LAYER(KIND, N, SIZE, A, B, NORMALISED)                                                                         \
    {                                                                                                                  \
        .kind = (KIND), .filters = (N), .size = (SIZE), .from = {(A), (B)}, .normalised = (NORMALISED)                 \
    }
#define CONVOLUTION(N, SIZE) LAYER(YOLOV2_CONVOLUTION, N, SIZE, -1, -1, true)
#define LINEAR(N, SIZE)      LAYER(YOLOV2_CONVOLUTION, N, SIZE, -1, -1, false)
#define ROUTE(A, B)          LAYER(YOLOV2_ROUTE, 0, 0, A, B, false)
#define MAXIMUM              LAYER(YOLOV2_MAXIMUM, 0, 0, -1, -1, false)
#define REORG                LAYER(YOLOV2_REORG, 0, 0, -1, -1, false)
#define REGION               LAYER(YOLOV2_REGION, 0, 0, -1, -1, false)

/* The last product: 5 anchors x (80 classes + 4 + 1). .ci/reproduction/yolov2.py reads it too. */
static const struct yolov2_layer table[YOLOV2_LAYERS] = {CONVOLUTION(32, 3),   MAXIMUM,
                                                         CONVOLUTION(64, 3),   MAXIMUM,
                                                         CONVOLUTION(128, 3),  CONVOLUTION(64, 1),
                                                         CONVOLUTION(128, 3),  MAXIMUM,
                                                         CONVOLUTION(256, 3),  CONVOLUTION(128, 1),
                                                         CONVOLUTION(256, 3),  MAXIMUM,
                                                         CONVOLUTION(512, 3),  CONVOLUTION(256, 1),
                                                         CONVOLUTION(512, 3),  CONVOLUTION(256, 1),
                                                         CONVOLUTION(512, 3),  MAXIMUM,
                                                         CONVOLUTION(1024, 3), CONVOLUTION(512, 1),
                                                         CONVOLUTION(1024, 3), CONVOLUTION(512, 1),
                                                         CONVOLUTION(1024, 3), CONVOLUTION(1024, 3),
                                                         CONVOLUTION(1024, 3), ROUTE(16, -1),
                                                         CONVOLUTION(64, 1),   REORG,
                                                         ROUTE(27, 24),        CONVOLUTION(1024, 3),
                                                         LINEAR(425, 1),       REGION};

void yolov2_layers(uint32_t side, struct yolov2_layer layers[YOLOV2_LAYERS])
{
    memcpy(layers, table, sizeof table);
    uint32_t channels = 3;
    for (int i = 0; i < YOLOV2_LAYERS; i++) {
        struct yolov2_layer *l = &layers[i];
        l->in_side = side;
        l->in_channels = channels;
        if (l->kind == YOLOV2_CONVOLUTION) {
            channels = l->filters;
        } else if (l->kind == YOLOV2_ROUTE) {
            side = layers[l->from[0]].side;
            channels = layers[l->from[0]].channels + (l->from[1] >= 0 ? layers[l->from[1]].channels : 0);
        } else if (l->kind != YOLOV2_REGION) {
            side /= 2;
            channels *= l->kind == YOLOV2_REORG ? 4 : 1;
        }
        l->side = side;
        l->channels = channels;
    }
}

uint64_t yolov2_weights(const struct yolov2_layer *l)
{
    if (l->kind != YOLOV2_CONVOLUTION)
        return 0;
    return (uint64_t)l->in_channels * l->filters * l->size * l->size + (l->normalised ? 4 : 1) * (uint64_t)l->filters;
}

uint64_t yolov2_numbers(const struct yolov2_layer *l)
{
    if (l->kind != YOLOV2_CONVOLUTION)
        return (l->kind == YOLOV2_MAXIMUM ? 3 : 2) * yolov2_outputs(l); /* output, delta, indexes */
    uint64_t products = (uint64_t)l->in_channels * l->filters * l->size * l->size;
    /* weights and updates; biases and updates; output and delta; with normalisation scales and updates, mean and
     * variance, their deltas and rolling ones, x and its normal form */
    return 2 * products + (l->normalised ? 10 : 2) * (uint64_t)l->filters + (l->normalised ? 4 : 2) * yolov2_outputs(l);
}

uint64_t yolov2_workspace(const struct yolov2_layer *l)
{
    return l->kind == YOLOV2_CONVOLUTION ? (uint64_t)l->side * l->side * l->in_channels * l->size * l->size : 0;
}

static struct yolov2_launch *add(struct yolov2_launch *at, enum yolov2_kernel kernel, uint32_t layer, uint64_t count)
{
    *at = (struct yolov2_launch){.kernel = kernel, .layer = layer, .input = (int32_t)layer - 1, .count = count};
    return at + 1;
}

static struct yolov2_launch *add_region(struct yolov2_launch *at, uint32_t i, const struct yolov2_layer *l)
{
    uint64_t cells = (uint64_t)l->side * l->side, anchor = l->channels / YOLOV2_ANCHORS * cells;
    at = add(at, YOLOV2_COPY, i, yolov2_outputs(l));
    for (uint64_t n = 0; n < YOLOV2_ANCHORS; n++) { /* x and y; whether there is an object */
        at = add(at, YOLOV2_LOGISTIC, i, 2 * cells);
        at[-1].first = n * anchor;
        at = add(at, YOLOV2_LOGISTIC, i, cells);
        at[-1].first = n * anchor + 4 * cells;
    }
    return add(at, YOLOV2_SOFTMAX, i, YOLOV2_ANCHORS * cells);
}

void yolov2_launches(const struct yolov2_layer layers[YOLOV2_LAYERS], struct yolov2_launch launches[YOLOV2_KERNELS])
{
    static const enum yolov2_kernel normalised[] = {YOLOV2_NORMALISE, YOLOV2_SCALE, YOLOV2_BIAS, YOLOV2_ACTIVATE};
    struct yolov2_launch *at = launches;
    for (uint32_t i = 0; i < YOLOV2_LAYERS; i++) {
        const struct yolov2_layer *l = &layers[i];
        uint64_t n = yolov2_outputs(l);
        if (l->kind == YOLOV2_CONVOLUTION) {
            at = add(at, YOLOV2_FILL, i, n);
            at = add(at, YOLOV2_UNROLL, i, yolov2_workspace(l));
            at = add(at, YOLOV2_PRODUCT, i, n);
            for (size_t k = l->normalised ? 0 : 2; k < 4; k++)
                at = add(at, normalised[k], i, n);
        } else if (l->kind == YOLOV2_ROUTE) {
            uint64_t first = 0;
            for (int k = 0; k < 2 && l->from[k] >= 0; k++) {
                at = add(at, YOLOV2_COPY, i, yolov2_outputs(&layers[l->from[k]]));
                at[-1].input = l->from[k];
                at[-1].first = first;
                first += at[-1].count;
            }
        } else if (l->kind == YOLOV2_REGION) {
            at = add_region(at, i, l);
        } else {
            at = add(at, l->kind == YOLOV2_MAXIMUM ? YOLOV2_POOL : YOLOV2_SPREAD, i, n);
        }
    }
}
