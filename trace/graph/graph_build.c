#include "trace/graph/graph_build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/import/field.h"

int graph_builder_add(struct graph_builder *b, uint32_t from, uint32_t to, bool has_weight, int32_t weight,
                      struct err *err)
{
    if (mem_grow((void **)&b->edges, &b->cap, b->count + 1, sizeof *b->edges, err))
        return -1;
    if (has_weight && mem_grow((void **)&b->weights, &b->weight_cap, b->count + 1, sizeof *b->weights, err))
        return -1;
    b->edges[b->count] = (struct graph_edge){from, to};
    if (has_weight)
        b->weights[b->count] = weight;
    b->count++;
    return 0;
}

void graph_builder_release(struct graph_builder *b)
{
    free(b->edges);
    free(b->weights);
    memset(b, 0, sizeof *b);
}

/* Count the elements of every vertex into offsets[v + 1], then sum them up. */
static void count(const struct graph_builder *b, int flags, struct graph *g)
{
    for (size_t i = 0; i < b->count; i++) {
        struct graph_edge e = b->edges[i];
        if (e.from == e.to) {
            g->offsets[e.from + 1ULL] += !(flags & GRAPH_DROP_LOOPS);
            continue;
        }
        g->offsets[e.from + 1ULL]++;
        if (flags & GRAPH_MIRROR)
            g->offsets[e.to + 1ULL]++;
    }
    for (uint64_t v = 0; v < g->vertices; v++)
        g->offsets[v + 1] += g->offsets[v];
    g->elements = g->offsets[g->vertices];
}

static void place(struct graph *g, uint64_t *cursor, uint32_t from, uint32_t to, const int32_t *weight)
{
    uint64_t at = cursor[from]++;
    g->targets[at] = to;
    if (weight)
        g->weights[at] = *weight;
}

static void fill(const struct graph_builder *b, int flags, struct graph *g, uint64_t *cursor)
{
    for (size_t i = 0; i < b->count; i++) {
        struct graph_edge e = b->edges[i];
        const int32_t *w = b->weights ? &b->weights[i] : NULL;
        if (e.from == e.to && (flags & GRAPH_DROP_LOOPS))
            continue;
        place(g, cursor, e.from, e.to, w);
        if ((flags & GRAPH_MIRROR) && e.from != e.to)
            place(g, cursor, e.to, e.from, w);
    }
}

static void insertion_sort(uint32_t *ids, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        uint32_t id = ids[i];
        uint64_t j = i;
        for (; j > 0 && ids[j - 1] > id; j--)
            ids[j] = ids[j - 1];
        ids[j] = id;
    }
}

/* A byte at a time, the lowest first; `other` is scratch of the same size. */
static void radix_sort(uint32_t *ids, uint32_t *other, uint64_t n)
{
    uint32_t differ = 0, *at = ids;
    for (uint64_t i = 1; i < n; i++)
        differ |= ids[i] ^ ids[0];
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint64_t start[257] = {0};
        if (!(differ >> shift & 255))
            continue;
        for (uint64_t i = 0; i < n; i++)
            start[(at[i] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            start[i + 1] += start[i];
        for (uint64_t i = 0; i < n; i++)
            other[start[at[i] >> shift & 255]++] = at[i];
        uint32_t *t = at;
        at = other;
        other = t;
    }
    if (at != ids)
        memcpy(ids, at, n * sizeof *ids);
}

/* Short lists in pieces, which are merged. */
static void sort_list(uint32_t *ids, uint32_t *other, uint64_t n)
{
    enum { FEW = 24, MANY = 512 };
    if (n > MANY) {
        radix_sort(ids, other, n);
        return;
    }
    for (uint64_t i = 0; i < n; i += FEW)
        insertion_sort(ids + i, n - i < FEW ? n - i : FEW);
    uint32_t *from = ids, *to = other;
    for (uint64_t width = FEW; width < n; width *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * width) {
            uint64_t a = i, middle = i + width < n ? i + width : n, b = middle,
                     end = i + 2 * width < n ? i + 2 * width : n;
            for (uint64_t k = i; k < end; k++)
                to[k] = a < middle && (b == end || from[a] <= from[b]) ? from[a++] : from[b++];
        }
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from != ids)
        memcpy(ids, from, n * sizeof *ids);
}

static uint64_t longest(const struct graph *g)
{
    uint64_t most = 0;
    for (uint64_t v = 0; v < g->vertices; v++)
        most = graph_degree(g, v) > most ? graph_degree(g, v) : most;
    return most;
}

/* Lists without weights: sort the ids alone. */
static int sort_plain(struct graph *g, struct err *err)
{
    const uint64_t most = longest(g);
    int failed = 0;
#pragma omp parallel reduction(+ : failed)
    {
        uint32_t *scratch = mem_zalloc(most, sizeof *scratch, NULL);
        failed = !scratch;
#pragma omp for schedule(dynamic, 4096)
        for (uint64_t v = 0; v < g->vertices; v++)
            if (scratch)
                sort_list(g->targets + g->offsets[v], scratch, graph_degree(g, v));
        free(scratch);
    }
    return failed ? err_set(err, "out of memory: lists of %llu ids to sort", (unsigned long long)most) : 0;
}

struct weighted {
    uint32_t id;
    int32_t weight;
    uint64_t order;
};

static int by_id_then_order(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return ORDER_OF(x->id, y->id) ?: ORDER_OF(x->order, y->order);
}

static int sort_weighted(struct graph *g, struct err *err)
{
    struct weighted *list = NULL;
    size_t cap = 0;
    for (uint64_t v = 0; v < g->vertices; v++) {
        uint64_t n = graph_degree(g, v), start = g->offsets[v];
        if (n < 2)
            continue;
        if (mem_grow((void **)&list, &cap, n, sizeof *list, err)) {
            free(list);
            return -1;
        }
        for (uint64_t i = 0; i < n; i++)
            list[i] = (struct weighted){g->targets[start + i], g->weights[start + i], i};
        sort_items(list, n, sizeof *list, by_id_then_order);
        for (uint64_t i = 0; i < n; i++) {
            g->targets[start + i] = list[i].id;
            g->weights[start + i] = list[i].weight;
        }
    }
    free(list);
    return 0;
}

/* Keep the first of equal neighbours, moving everything down in place. */
static void unique(struct graph *g)
{
    uint64_t to = 0, start = 0;
    for (uint64_t v = 0; v < g->vertices; v++) {
        uint64_t end = g->offsets[v + 1], first = to;
        for (uint64_t i = start; i < end; i++) {
            if (to > first && g->targets[to - 1] == g->targets[i])
                continue;
            g->targets[to] = g->targets[i];
            if (g->weights)
                g->weights[to] = g->weights[i];
            to++;
        }
        start = end;
        g->offsets[v + 1] = to;
    }
    g->elements = to;
    uint32_t *smaller = realloc(g->targets, (to ? to : 1) * sizeof *smaller);
    if (smaller)
        g->targets = smaller;
}

static int build(struct graph_builder *b, uint64_t vertices, int flags, struct graph *g, struct err *err)
{
    if (vertices >= SIZE_MAX / sizeof(uint64_t) - 1)
        return err_set(err, "%llu vertices are too many", (unsigned long long)vertices);
    g->vertices = vertices;
    g->symmetric = (flags & GRAPH_MIRROR) != 0;
    g->offsets = mem_zalloc(vertices + 1, sizeof *g->offsets, err);
    if (!g->offsets)
        return -1;
    count(b, flags, g);
    g->targets = mem_zalloc(g->elements, sizeof *g->targets, err);
    if (!g->targets || (b->weights && !(g->weights = mem_zalloc(g->elements, sizeof *g->weights, err))))
        return -1;
    uint64_t *cursor = mem_zalloc(vertices + 1, sizeof *cursor, err);
    if (!cursor)
        return -1;
    memcpy(cursor, g->offsets, (vertices + 1) * sizeof *cursor);
    fill(b, flags, g, cursor);
    free(cursor);
    graph_builder_release(b);
    if ((flags & GRAPH_SORT) && (g->weights ? sort_weighted(g, err) : sort_plain(g, err)))
        return -1;
    if (flags & GRAPH_UNIQUE)
        unique(g);
    return 0;
}

int graph_builder_finish(struct graph_builder *b, uint64_t vertices, int flags, struct graph *g, struct err *err)
{
    memset(g, 0, sizeof *g);
    int rc = build(b, vertices, flags, g, err);
    graph_builder_release(b);
    if (rc)
        graph_release(g);
    return rc;
}

static int vertex(struct graph_list *list, uint64_t id, uint32_t *v, struct err *err)
{
    if (list->options->relabel)
        return id_map_number(&list->labels, id, v, err);
    if (id >= UINT32_MAX - 1)
        return err_set(err, "vertex id %" PRIu64 " is too large; expected below 2^32 - 2, or --relabel", id);
    *v = (uint32_t)id;
    if (id + 1 > list->vertices)
        list->vertices = id + 1;
    return 0;
}

int graph_list_edge(struct graph_list *list, uint64_t from, uint64_t to, bool weighted, int32_t weight, struct err *err)
{
    uint32_t u, v;
    if (vertex(list, from, &u, err) || vertex(list, to, &v, err))
        return -1;
    return graph_builder_add(&list->builder, u, v, weighted, weight, err);
}

static bool far_apart(uint64_t vertices, uint64_t edges)
{
    return vertices > 64 * (edges + 1) && vertices > (1ULL << 24);
}

int graph_list_sides(uint64_t vertices, uint64_t entries, struct err *err)
{
    if (far_apart(vertices, entries))
        return err_set(err, "%" PRIu64 " rows or columns for %" PRIu64 " entries: too sparse to be a graph", vertices,
                       entries);
    return 0;
}

int graph_list_finish(struct graph_list *list, struct graph *graph, struct err *err)
{
    uint64_t vertices = list->options->relabel ? list->labels.count : list->vertices;
    if (far_apart(vertices, list->builder.count))
        return err_set(err, "the largest id is %" PRIu64 " but there are only %zu edges; expected --relabel",
                       vertices - 1, list->builder.count);
    return graph_builder_finish(&list->builder, vertices, list->options->undirected ? GRAPH_MIRROR : 0, graph, err);
}

void graph_list_release(struct graph_list *list)
{
    graph_builder_release(&list->builder);
    id_map_release(&list->labels);
}

/* --- lines of text --- */

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';';
}

bool graph_line_done(const char *p)
{
    while (blank(*p))
        p++;
    return *p == 0;
}

bool graph_take_u64(const char **p, uint64_t *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    uint64_t v;
    if (!field_digits(&s, &v))
        return false;
    if (*s && !blank(*s))
        return false;
    *p = s;
    *value = v;
    return true;
}

bool graph_take_i64(const char **p, int64_t *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    bool negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    uint64_t v;
    if (*s < '0' || *s > '9' || !graph_take_u64(&s, &v) || v > INT64_MAX)
        return false;
    *value = negative ? -(int64_t)v : (int64_t)v;
    *p = s;
    return true;
}

bool graph_take_real(const char **p, double *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    char word[64];
    size_t n = 0;
    while (s[n] && !blank(s[n]))
        n++;
    if (n == 0 || n >= sizeof word)
        return false;
    memcpy(word, s, n);
    word[n] = 0;
    if (units_parse_real(word, value, NULL))
        return false;
    *p = s + n;
    return true;
}

bool graph_head_line(const unsigned char *head, size_t n, size_t *at, char *line, size_t size)
{
    while (*at < n) {
        size_t end = *at;
        while (end < n && head[end] != '\n')
            end++;
        size_t length = end - *at < size - 1 ? end - *at : size - 1;
        memcpy(line, head + *at, length);
        line[length] = 0;
        if (length && line[length - 1] == '\r')
            line[length - 1] = 0;
        *at = end + 1;
        if (strlen(line) == length - (length && head[end - 1] == '\r') && *line != '#' && *line != '%' &&
            !graph_line_done(line))
            return true;
    }
    return false;
}

int graph_each_line(struct input_stream *source, const char *comments,
                    int (*fn)(void *ctx, char *line, struct err *err), void *ctx, struct err *err)
{
    char *line;
    size_t length;
    int rc;
    while ((rc = input_stream_line(source, &line, &length, err)) > 0) {
        if (graph_line_done(line) || strchr(comments, *line))
            continue;
        if (strlen(line) != length ? err_set(err, "a zero byte") : fn(ctx, line, err))
            return err_at(err, "line %" PRIu64, input_stream_line_number(source));
    }
    return rc;
}

void graph_text_edges(FILE *file, const struct graph *g, uint64_t first, bool weighted)
{
    for (uint64_t v = 0; v < g->vertices; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            if (weighted)
                (void)fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRId32 "\n", v + first, graph_target(g, i) + first,
                              g->weights[i]);
            else
                (void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", v + first, graph_target(g, i) + first);
        }
}

/* --- binary values --- */

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

static int take_targets(const unsigned char *raw, uint64_t piece, int width, bool weighted, uint64_t at,
                        struct graph *g, struct err *err)
{
    size_t stride = (size_t)width + (weighted ? 4 : 0);
    for (uint64_t i = 0; i < piece; i++, raw += stride) {
        uint64_t id = 0;
        memcpy(&id, raw, (size_t)width);
        if (id >= g->vertices)
            return err_set(err, "element %llu names vertex %llu; expected below %llu", (unsigned long long)(at + i),
                           (unsigned long long)id, (unsigned long long)g->vertices);
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
    uint64_t done = 0;
    do {
        uint64_t piece = n - done < 4096 ? n - done : 4096;
        if (mem_grow((void **)&g->targets, &id_cap, done + piece + 1, sizeof *g->targets, err))
            return -1;
        if (weighted && mem_grow((void **)&g->weights, &weight_cap, done + piece + 1, sizeof *g->weights, err))
            return -1;
        if (graph_read_bytes(source, raw, piece * stride, "the elements", err) ||
            take_targets(raw, piece, width, weighted, done, g, err))
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
