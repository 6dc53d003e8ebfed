#include "trace/graph/graph_build.h"

#include <errno.h>
#include <string.h>

#include "trace/base/mem.h"

enum { PIECE = 1 << 16 };

int graph_read_bytes(struct input_stream *source, void *buf, size_t n, const char *what, struct err *err)
{
    size_t done = 0;
    while (done < n) {
        size_t got;
        if (input_stream_read(source, (char *)buf + done, n - done, &got, err))
            return -1;
        if (got == 0)
            return err_set(err, "the file ends at byte %llu inside %s", (unsigned long long)input_stream_offset(source),
                           what);
        done += got;
    }
    return 0;
}

int graph_read_u64(struct input_stream *source, uint64_t *value, const char *what, struct err *err)
{
    return graph_read_bytes(source, value, sizeof *value, what, err);
}

int graph_read_offsets(struct input_stream *source, uint64_t n, uint64_t **values, const char *what, struct err *err)
{
    size_t cap = 0;
    *values = NULL;
    for (uint64_t done = 0; done < n;) {
        uint64_t piece = n - done < PIECE ? n - done : PIECE;
        if (mem_grow((void **)values, &cap, done + piece, sizeof **values, err))
            return -1;
        if (graph_read_bytes(source, *values + done, piece * sizeof **values, what, err))
            return -1;
        done += piece;
    }
    return *values ? 0 : err_set(err, "there are no %s", what);
}

static int take(const unsigned char *raw, uint64_t piece, int width, bool weighted, uint64_t at, struct graph *g,
                struct err *err)
{
    size_t stride = (size_t)width + (weighted ? 4 : 0);
    for (uint64_t i = 0; i < piece; i++, raw += stride) {
        uint64_t id = 0;
        memcpy(&id, raw, (size_t)width);
        if (id >= g->vertices)
            return err_set(err, "element %llu names vertex %llu; expected below %llu", (unsigned long long)(at + i),
                           (unsigned long long)id, (unsigned long long)g->vertices);
        if (g->wide)
            g->wide[at + i] = id;
        else
            g->targets[at + i] = (uint32_t)id;
        if (weighted)
            memcpy(&g->weights[at + i], raw + width, 4);
    }
    return 0;
}

int graph_read_targets(struct input_stream *source, uint64_t n, int width, bool weighted, struct graph *g,
                       struct err *err)
{
    unsigned char raw[4096 * 12];
    size_t stride = (size_t)width + (weighted ? 4 : 0), id_cap = 0, weight_cap = 0;
    bool wide = g->vertices > (1ULL << 32);
    uint64_t done = 0;
    do {
        uint64_t piece = n - done < 4096 ? n - done : 4096;
        if (wide && mem_grow((void **)&g->wide, &id_cap, done + piece + 1, sizeof *g->wide, err))
            return -1;
        if (!wide && mem_grow((void **)&g->targets, &id_cap, done + piece + 1, sizeof *g->targets, err))
            return -1;
        if (weighted && mem_grow((void **)&g->weights, &weight_cap, done + piece + 1, sizeof *g->weights, err))
            return -1;
        if (graph_read_bytes(source, raw, piece * stride, "the elements", err) ||
            take(raw, piece, width, weighted, done, g, err))
            return -1;
        done += piece;
    } while (done < n);
    return 0;
}

int graph_read_end(struct input_stream *source, struct err *err)
{
    const unsigned char *data;
    size_t got;
    if (input_stream_peek(source, 1, &data, &got, err))
        return -1;
    if (got)
        return err_set(err, "bytes follow the end of the data at byte %llu",
                       (unsigned long long)input_stream_offset(source));
    return 0;
}

int graph_write_bytes(FILE *file, const char *path, const void *data, size_t n, struct err *err)
{
    if (n && fwrite(data, 1, n, file) != n)
        return err_set(err, "cannot write %s: %s", path, strerror(errno));
    return 0;
}
