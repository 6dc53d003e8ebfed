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

struct weighted {
    uint32_t id;
    int32_t weight;
    uint64_t order;
};

SORTED_AS(by_id_then_order, struct weighted, ORDER_OF(x->id, y->id) ?: ORDER_OF(x->order, y->order))

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

/* --- lists without weights, sorted ---
 *
 * Elements go to buckets of neighbouring vertices, each as a number of 32 bits: the vertex's place in its bucket, then
 * the neighbour's id. The numbers of a bucket in their order are its vertices' lists, one behind the other. */

struct buckets {
    unsigned id, low; /* bits of an id, of a place in a bucket */
    uint64_t count;
    uint64_t *end; /* of each; while it is filled: where the next goes */
};

static inline void put(const struct buckets *k, uint32_t *numbers, uint32_t from, uint32_t to)
{
    const uint64_t at = k->end[from >> k->low]++, place = from & ((1u << k->low) - 1);
    if (numbers)
        numbers[at] = (uint32_t)(place << k->id | to);
}

/* Every element; numbers: NULL: they are counted. */
static inline __attribute__((always_inline)) void put_all(const struct graph_builder *b, int flags,
                                                          const struct buckets *k, uint32_t *numbers)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct graph_edge e = b->edges[i];
        if (e.from == e.to && flags & GRAPH_DROP_LOOPS)
            continue;
        put(k, numbers, e.from, e.to);
        if (flags & GRAPH_MIRROR && e.from != e.to)
            put(k, numbers, e.to, e.from);
    }
}

/* So many bits at a time, the lowest first; `other` is scratch of the same size. */
static void radix_sort(uint32_t *numbers, uint32_t *other, uint64_t n)
{
    enum { FEW = 4096, SHORT = 8, LONG = 11 };
    const unsigned bits = n < FEW ? SHORT : LONG, mask = (1u << bits) - 1;
    uint32_t *at = numbers;
    for (unsigned shift = 0; shift < 32; shift += bits) {
        uint64_t start[1 << LONG], sum = 0;
        memset(start, 0, ((size_t)mask + 1) * sizeof *start);
        for (uint64_t i = 0; i < n; i++)
            start[at[i] >> shift & mask]++;
        if (start[at[0] >> shift & mask] == n)
            continue;
        for (unsigned i = 0; i <= mask; i++) {
            const uint64_t more = start[i];
            start[i] = sum;
            sum += more;
        }
        for (uint64_t i = 0; i < n; i++)
            other[start[at[i] >> shift & mask]++] = at[i];
        uint32_t *t = at;
        at = other;
        other = t;
    }
    if (at != numbers)
        memcpy(numbers, at, n * sizeof *numbers);
}

/* The sorted numbers of a bucket become its vertices' lists, and their lengths. Returns how long they are together. */
static uint64_t take_lists(struct graph *g, const struct buckets *k, uint64_t bucket, uint32_t *numbers, uint64_t n,
                           bool unique)
{
    const uint32_t mask = (uint32_t)(UINT64_MAX >> (64 - k->id));
    uint64_t *length = g->offsets + (bucket << k->low) + 1, kept = 0;
    uint32_t before = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t number = numbers[i];
        if (unique && i && number == before)
            continue;
        before = number;
        length[(uint64_t)number >> k->id]++;
        numbers[kept++] = number & mask;
    }
    return kept;
}

/* What each bucket holds, sorted; k->end[i]: how much of it is left. */
static int sort_buckets(struct graph *g, const struct buckets *k, bool unique, uint64_t *start, struct err *err)
{
    uint64_t most = 0;
    int failed = 0;
    for (uint64_t i = 0; i < k->count; i++) {
        start[i] = i ? k->end[i - 1] : 0;
        most = k->end[i] - start[i] > most ? k->end[i] - start[i] : most;
    }
#pragma omp parallel reduction(+ : failed)
    {
        uint32_t *scratch = mem_zalloc(most, sizeof *scratch, NULL);
        failed = !scratch;
#pragma omp for schedule(dynamic, 16)
        for (uint64_t i = 0; i < k->count; i++) {
            uint32_t *numbers = g->targets + start[i];
            const uint64_t n = k->end[i] - start[i];
            if (scratch && n)
                radix_sort(numbers, scratch, n);
            k->end[i] = scratch ? take_lists(g, k, i, numbers, n, unique) : 0;
        }
        free(scratch);
    }
    return failed ? err_set(err, "out of memory: lists of %llu ids to sort", (unsigned long long)most) : 0;
}

static int fill_sorted(struct graph_builder *b, int flags, struct graph *g, struct buckets *k, uint64_t *start,
                       struct err *err)
{
    put_all(b, flags, k, NULL);
    for (uint64_t i = 0; i < k->count; i++) {
        const uint64_t more = k->end[i];
        k->end[i] = g->elements;
        g->elements += more;
    }
    g->targets = mem_zalloc(g->elements, sizeof *g->targets, err);
    if (!g->targets)
        return -1;
    put_all(b, flags, k, g->targets);
    graph_builder_release(b);
    if (sort_buckets(g, k, flags & GRAPH_UNIQUE, start, err))
        return -1;
    g->elements = 0;
    for (uint64_t i = 0; i < k->count; g->elements += k->end[i++])
        if (g->elements < start[i])
            memmove(g->targets + g->elements, g->targets + start[i], k->end[i] * sizeof *g->targets);
    for (uint64_t v = 0; v < g->vertices; v++)
        g->offsets[v + 1] += g->offsets[v];
    uint32_t *smaller = realloc(g->targets, (g->elements ? g->elements : 1) * sizeof *smaller);
    g->targets = smaller ? smaller : g->targets;
    return 0;
}

static int build_sorted(struct graph_builder *b, int flags, struct graph *g, struct err *err)
{
    enum { BUCKETS = 10 }; /* bits of their number, at least where there are so many vertices */
    struct buckets k = {.id = g->vertices > 1 ? 64 - (unsigned)__builtin_clzll(g->vertices - 1) : 1};
    k.low = k.id < BUCKETS ? 0 : k.id - BUCKETS < 32 - k.id ? k.id - BUCKETS : 32 - k.id;
    k.count = (g->vertices >> k.low) + 1;
    k.end = mem_zalloc(k.count, sizeof *k.end, err);
    uint64_t *start = mem_zalloc(k.count, sizeof *start, err);
    int rc = k.end && start ? fill_sorted(b, flags, g, &k, start, err) : -1;
    free(k.end);
    free(start);
    return rc;
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
    if (flags & GRAPH_SORT && !b->weights)
        return build_sorted(b, flags, g, err);
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
    if (flags & GRAPH_SORT && sort_weighted(g, err))
        return -1;
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
