/* Any bytes as any graph format: the first byte chooses, for .bel the second says where .col ends. */
#include <stddef.h>
#include <stdint.h>

#include "trace/graph/graph.h"
#include "trace/import/testing_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_bel(const uint8_t *data, size_t size, struct graph *graph)
{
    size_t cut = size ? data[0] * (size - 1) / 255 : 0;
    struct input_stream *col = size ? input_stream_from_memory(data + 1, cut, NULL) : NULL;
    struct input_stream *dst = col ? input_stream_from_memory(data + 1 + cut, size - 1 - cut, NULL) : NULL;
    if (dst)
        (void)graph_bel_parse(col, dst, NULL, graph, NULL);
    if (col)
        input_stream_close(col);
    if (dst)
        input_stream_close(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph graph = {0};
    if (size == 0)
        return 0;
    const struct graph_options options = {.undirected = data[0] & 64, .relabel = data[0] & 32};
    if (data[0] == 255) {
        struct input_stream *source = input_stream_from_memory(data + 1, size - 1, NULL);
        if (source)
            (void)graph_gr.parse(&graph_gr, source, &options, &graph, NULL);
        input_stream_close(source);
    } else if (data[0] % 8 == 0) {
        fuzz_bel(data + 1, size - 1, &graph);
    } else {
        struct input_stream *source = input_stream_from_memory(data + 1, size - 1, NULL);
        if (!source)
            return 0;
        static const struct graph_format *const formats[] = {NULL,      &graph_sg,  &graph_wsg, &graph_mtx,
                                                             &graph_el, &graph_wel, &graph_gr,  &graph_csv};
        const struct graph_format *format = formats[data[0] % 8];
        (void)format->parse(format, source, &options, &graph, NULL);
        input_stream_close(source);
    }
    graph_release(&graph);
    return 0;
}
