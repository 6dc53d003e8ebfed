/* yolov2_net: the network of yolov2.cfg: its layers' shapes, arrays and kernels.
 *
 * Source: darknet (pjreddie/darknet): cfg/yolov2.cfg; the arrays that make_*_layer() allocates, the kernels that
 * forward_*_layer_gpu() launches without cuDNN for one image, gradients not filled. Every convolution is unrolled
 * (im2col) before its product, as it was until 2018-05: 180 kernels, what bateni-2020 counts in table IV.
 * Worked example (608 x 608): weights of 50,983,561 numbers, as many as yolov2.weights holds, 203,934,244 bytes. */
#ifndef TRACE_WORKLOADS_ML_YOLOV2_NET_H
#define TRACE_WORKLOADS_ML_YOLOV2_NET_H

#include <stdbool.h>
#include <stdint.h>

enum { YOLOV2_LAYERS = 32, YOLOV2_CONVOLUTIONS = 23, YOLOV2_KERNELS = 180, YOLOV2_ANCHORS = 5, YOLOV2_STRIDE = 32 };

enum yolov2_kind { YOLOV2_CONVOLUTION, YOLOV2_MAXIMUM, YOLOV2_ROUTE, YOLOV2_REORG, YOLOV2_REGION };

struct yolov2_layer {
    enum yolov2_kind kind;
    uint32_t filters, size; /* convolution: its kernels, and their side */
    int32_t from[2];        /* route: layers put together; -1: none */
    bool normalised;        /* convolution: batch normalisation behind the product */
    /* filled by yolov2_layers(): */
    uint32_t in_side, in_channels, side, channels; /* input, output */
};

enum yolov2_kernel {
    YOLOV2_FILL,      /* out = 0 */
    YOLOV2_UNROLL,    /* workspace = columns of in */
    YOLOV2_PRODUCT,   /* out += weights x workspace */
    YOLOV2_NORMALISE, /* out, by mean and variance of its filter */
    YOLOV2_SCALE,     /* out, by its filter's */
    YOLOV2_BIAS,
    YOLOV2_ACTIVATE,
    YOLOV2_POOL,   /* out, indexes = greatest of 2 x 2 of in */
    YOLOV2_COPY,   /* out from `first` on = out of layer `input` */
    YOLOV2_SPREAD, /* out = in, 2 x 2 to channels */
    YOLOV2_LOGISTIC,
    YOLOV2_SOFTMAX /* out = softmax of in */
};

struct yolov2_launch {
    enum yolov2_kernel kernel;
    uint32_t layer;
    int32_t input;  /* layer whose output it reads; -1: the image */
    uint64_t first; /* element of out */
    uint64_t count; /* elements of out, of the workspace for YOLOV2_UNROLL */
};

/* side: of the image, a multiple of 32. */
void yolov2_layers(uint32_t side, struct yolov2_layer layers[YOLOV2_LAYERS]);

void yolov2_launches(const struct yolov2_layer layers[YOLOV2_LAYERS], struct yolov2_launch launches[YOLOV2_KERNELS]);

/* Numbers in the weights that are used, and in all arrays of a layer that the GPU has and the CPU has too (output and
 * weights included, floats or ints); in the workspace of a convolution. */
uint64_t yolov2_weights(const struct yolov2_layer *layer);
uint64_t yolov2_numbers(const struct yolov2_layer *layer);
uint64_t yolov2_workspace(const struct yolov2_layer *layer);

static inline uint64_t yolov2_outputs(const struct yolov2_layer *l)
{
    return (uint64_t)l->side * l->side * l->channels;
}

#endif
