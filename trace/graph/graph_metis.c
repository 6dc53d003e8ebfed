/* graph_metis: undirected graphs in METIS's text form (.graph), also that of KaHIP, Chaco and the DIMACS 10 challenge.
 *
 * First line: vertices edges [fmt [ncon]]; then a line for each vertex, in order from 1, with its neighbours. fmt has
 * up to three digits, 0 or 1: vertex sizes, vertex weights (ncon of them, else one), edge weights; a line begins with
 * the vertex's size and weights, and each neighbour is followed by the edge's weight. Lines that start with % are
 * comments; an empty line is a vertex without neighbours. Every edge stands in the lists of both its ends.
 * Worked example: "3 2 1\n2 5\n1 5 3 7\n2 7\n" is 1 -(5)- 2 -(7)- 3: 4 elements with the weights 5, 5, 7, 7.
 * Source: METIS 5.1.0 manual, section 4.1.1. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph.h"
#include "trace/import/input_stream.h"

/* A hub's line is longer than any buffer, so the file is cut into numbers and ends of lines, not into lines. */
enum token { TOKEN_BAD = -1, TOKEN_END, TOKEN_NUMBER, TOKEN_LINE };

struct tokens {
    struct input_stream *source; /* NULL: only what is in the buffer */
    const unsigned char *at, *end;
    uint64_t line; /* of the token last returned, from 1 */
    bool begins;   /* at the first byte of a line */
    unsigned char buffer[1 << 16];
};

/* The next byte without taking it; -1 at the end, -2 with *err set. */
static int peek(struct tokens *t, struct err *err)
{
    if (t->at == t->end && t->source) {
        size_t got;
        if (input_stream_read(t->source, t->buffer, sizeof t->buffer, &got, err))
            return -2;
        t->at = t->buffer;
        t->end = t->buffer + got;
    }
    return t->at == t->end ? -1 : *t->at;
}

static int number(struct tokens *t, uint64_t *value, struct err *err)
{
    int c;
    *value = 0;
    while ((c = peek(t, err)) >= '0' && c <= '9') {
        uint64_t digit = (uint64_t)(c - '0');
        if (*value > (INT64_MAX - digit) / 10)
            return err_set(err, "line %" PRIu64 ": a number above 2^63", t->line);
        *value = *value * 10 + digit;
        t->at++;
    }
    if (c == -2)
        return -1;
    if (c >= 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n')
        return err_set(err, "line %" PRIu64 ": byte 0x%02x inside a number; expected whole numbers and blanks", t->line,
                       (unsigned)c);
    return 0;
}

static enum token next(struct tokens *t, uint64_t *value, struct err *err)
{
    for (int c;;) {
        if ((c = peek(t, err)) < 0)
            return c == -2 ? TOKEN_BAD : TOKEN_END;
        if (t->begins)
            t->line++;
        if (t->begins && c == '%') {
            while ((c = peek(t, err)) >= 0 && c != '\n')
                t->at++;
            if (c == -2)
                return TOKEN_BAD;
            t->at += c == '\n';
            continue;
        }
        t->begins = c == '\n';
        if (c >= '0' && c <= '9')
            return number(t, value, err) ? TOKEN_BAD : TOKEN_NUMBER;
        t->at++;
        if (c == '\n')
            return TOKEN_LINE;
        if (c != ' ' && c != '\t' && c != '\r') {
            (void)err_set(err, "line %" PRIu64 ": byte 0x%02x; expected whole numbers and blanks", t->line,
                          (unsigned)c);
            return TOKEN_BAD;
        }
    }
}

struct metis {
    struct tokens *tokens;
    uint64_t vertices, edges;
    uint64_t before;    /* numbers before a line's first neighbour */
    bool weighted;      /* a number behind each neighbour */
    uint64_t first;     /* numbers in the header */
    uint64_t done;      /* vertices */
    uint64_t imbalance; /* 0 if every edge stands in both lists: see direction() */
    size_t offset_cap, target_cap, weight_cap;
};

/* "011": whether its last three digits ask for sizes, vertex weights and edge weights. */
static int parse_fmt(struct metis *m, uint64_t fmt, uint64_t constraints, struct err *err)
{
    if (fmt > 111 || fmt % 10 > 1 || fmt / 10 % 10 > 1)
        return err_set(err, "line %" PRIu64 ": fmt is %" PRIu64 "; expected up to three digits 0 or 1", m->tokens->line,
                       fmt);
    if (constraints > 64)
        return err_set(err, "line %" PRIu64 ": ncon is %" PRIu64 "; expected at most 64", m->tokens->line, constraints);
    m->weighted = fmt % 10;
    m->before = (fmt >= 100) + (fmt / 10 % 10 ? constraints : 0);
    return 0;
}

static int parse_header(struct metis *m, struct err *err)
{
    uint64_t numbers[4] = {0, 0, 0, 1}, value = 0;
    int n = 0;
    enum token token;
    while ((token = next(m->tokens, &value, err)) == TOKEN_NUMBER || (token == TOKEN_LINE && n == 0))
        if (token == TOKEN_NUMBER && n++ < 4)
            numbers[n - 1] = value;
    if (token == TOKEN_BAD)
        return -1;
    if (n < 2 || n > 4 || !numbers[0])
        return err_set(err, "line %" PRIu64 ": expected the header 'vertices edges [fmt [ncon]]'", m->tokens->line);
    if (numbers[0] >= UINT32_MAX || numbers[1] > (UINT64_MAX >> 9))
        return err_set(err, "line %" PRIu64 ": %" PRIu64 " vertices and %" PRIu64 " edges; ids are 32-bit",
                       m->tokens->line, numbers[0], numbers[1]);
    m->vertices = numbers[0];
    m->edges = numbers[1];
    m->first = (uint64_t)n;
    return parse_fmt(m, numbers[2], numbers[3], err);
}

/* An edge adds this in the list of its lower end and takes it away in the other's. */
static uint64_t direction(uint64_t from, uint64_t to, uint64_t weight)
{
    uint64_t low = from < to ? from : to, high = from < to ? to : from;
    uint64_t mixed = (low * 0x9e3779b97f4a7c15u ^ high) * 0xbf58476d1ce4e5b9u + weight * 0x94d049bb133111ebu;
    mixed ^= mixed >> 29;
    mixed *= 0xd6e8feb86659fd93u;
    mixed ^= mixed >> 32;
    return from < to ? mixed : -mixed;
}

static int add(struct metis *m, struct graph *g, uint64_t neighbour, uint64_t weight, struct err *err)
{
    uint64_t line = m->tokens->line, vertex = m->done + 1;
    if (neighbour < 1 || neighbour > m->vertices)
        return err_set(err, "line %" PRIu64 ": neighbour %" PRIu64 " of vertex %" PRIu64 "; expected 1 to %" PRIu64,
                       line, neighbour, vertex, m->vertices);
    if (neighbour == vertex)
        return err_set(err, "line %" PRIu64 ": vertex %" PRIu64 " is its own neighbour", line, vertex);
    if (g->elements >= 2 * m->edges)
        return err_set(err, "line %" PRIu64 ": more than the %" PRIu64 " neighbours of the header's %" PRIu64 " edges",
                       line, 2 * m->edges, m->edges);
    if (weight > INT32_MAX)
        return err_set(err, "line %" PRIu64 ": weight %" PRIu64 "; weights are 32-bit", line, weight);
    if (mem_grow((void **)&g->targets, &m->target_cap, g->elements + 1, sizeof *g->targets, err) ||
        (m->weighted && mem_grow((void **)&g->weights, &m->weight_cap, g->elements + 1, sizeof *g->weights, err)))
        return -1;
    g->targets[g->elements] = (uint32_t)(neighbour - 1);
    if (m->weighted)
        g->weights[g->elements] = (int32_t)weight;
    g->elements++;
    m->imbalance += direction(vertex, neighbour, weight);
    return 0;
}

/* One vertex's line: 1, 0 at the end of the file before it, -1. */
static int parse_vertex(struct metis *m, struct graph *g, struct err *err)
{
    uint64_t value = 0, neighbour = 0, n = 0;
    enum token token;
    while ((token = next(m->tokens, &value, err)) == TOKEN_NUMBER) {
        if (n++ < m->before)
            continue;
        bool second = m->weighted && (n - m->before) % 2 == 0;
        if (m->weighted && !second)
            neighbour = value;
        else if (add(m, g, second ? neighbour : value, second ? value : 0, err))
            return -1;
    }
    if (token == TOKEN_BAD)
        return -1;
    if (token == TOKEN_END && n == 0)
        return 0;
    if (n < m->before || (m->weighted && (n - m->before) % 2))
        return err_set(err,
                       "line %" PRIu64 ": %" PRIu64 " numbers for vertex %" PRIu64 "; expected %" PRIu64 " and then %s",
                       m->tokens->line, n, m->done + 1, m->before, m->weighted ? "neighbour and weight" : "neighbours");
    return 1;
}

/* The first vertex of which some edge stands in one list only. */
static int one_sided(const struct graph *g, struct err *err)
{
    uint64_t *sums = mem_zalloc(g->vertices, sizeof *sums, err);
    if (!sums)
        return -1;
    for (uint64_t v = 0; v < g->vertices; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            uint64_t amount = direction(v + 1, g->targets[i] + 1ULL, g->weights ? (uint64_t)g->weights[i] : 0);
            sums[v] += amount;
            sums[g->targets[i]] += amount;
        }
    uint64_t v = 0;
    while (v + 1 < g->vertices && !sums[v])
        v++;
    free(sums);
    return err_set(
        err, "vertex %" PRIu64 ": an edge of it is not listed, or not with the same weight, by its other end", v + 1);
}

static int parse(struct metis *m, struct graph *g, struct err *err)
{
    int rc = 1;
    uint64_t value;
    enum token token;
    if (parse_header(m, err) || mem_grow((void **)&g->targets, &m->target_cap, 1, sizeof *g->targets, err) ||
        (m->weighted && mem_grow((void **)&g->weights, &m->weight_cap, 1, sizeof *g->weights, err)))
        return -1;
    for (; m->done < m->vertices && rc > 0; m->done += rc > 0) {
        if (mem_grow((void **)&g->offsets, &m->offset_cap, m->done + 2, sizeof *g->offsets, err))
            return -1;
        g->offsets[m->done] = g->elements;
        rc = parse_vertex(m, g, err);
    }
    if (rc < 0)
        return -1;
    if (m->done < m->vertices)
        return err_set(err, "the file ends after %" PRIu64 " of %" PRIu64 " vertices", m->done, m->vertices);
    g->vertices = m->vertices;
    g->offsets[m->vertices] = g->elements;
    while ((token = next(m->tokens, &value, err)) == TOKEN_LINE)
        ;
    if (token == TOKEN_BAD)
        return -1;
    if (token == TOKEN_NUMBER)
        return err_set(err, "line %" PRIu64 ": more lines than the header's %" PRIu64 " vertices", m->tokens->line,
                       m->vertices);
    if (g->elements != 2 * m->edges)
        return err_set(err, "%" PRIu64 " neighbours; expected 2 for each of the header's %" PRIu64 " edges",
                       g->elements, m->edges);
    return m->imbalance ? one_sided(g, err) : 0;
}

/* Memory follows the lines read, not the header. Errors name the line. */
static int parse_metis(const struct graph_format *format, struct input_stream *source,
                       const struct graph_options *options, struct graph *graph, struct err *err)
{
    (void)format, (void)options;
    struct metis m = {.tokens = mem_zalloc(1, sizeof *m.tokens, err)};
    if (!m.tokens)
        return -1;
    *graph = (struct graph){.symmetric = true};
    m.tokens->source = source;
    m.tokens->begins = true;
    int rc = parse(&m, graph, err);
    free(m.tokens);
    return rc;
}

/* What the whole lines at hand are: a METIS graph's so far, and whether they could be an edge list's too, which has as
 * many numbers in each line. */
struct sight {
    bool metis, list;
};

/* Whether edges between vertices of the lines at hand stand in both lists. */
static bool both_ways(const struct graph *g, uint64_t lines)
{
    uint64_t sum = 0;
    for (uint64_t v = 0; v < lines; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
            if (g->targets[i] < lines)
                sum += direction(v, g->targets[i], 0);
    return sum == 0;
}

static struct sight look(struct tokens *t, bool whole)
{
    /* Every line is parsed as a vertex's; what fails is no METIS graph. */
    struct metis m = {.tokens = t};
    struct graph g = {0};
    struct sight sight = {false, true};
    int rc = parse_header(&m, NULL) ? -1 : 1;
    uint64_t before = 0;
    for (; rc > 0 && m.done<m.vertices; m.done += rc> 0) {
        if (mem_grow((void **)&g.offsets, &m.offset_cap, m.done + 2, sizeof *g.offsets, NULL))
            break;
        g.offsets[m.done] = g.offsets[m.done + 1] = before = g.elements;
        rc = parse_vertex(&m, &g, NULL);
        if (rc <= 0)
            break;
        g.offsets[m.done + 1] = g.elements;
        uint64_t numbers = m.before + (g.elements - before) * (1 + m.weighted);
        sight.list = sight.list && numbers == m.first;
    }
    uint64_t value;
    enum token token = TOKEN_END;
    while (rc >= 0 && m.done == m.vertices && (token = next(t, &value, NULL)) == TOKEN_LINE)
        ;
    bool ends = m.done == m.vertices && token == TOKEN_END && g.elements == 2 * m.edges;
    sight.metis = rc >= 0 && m.vertices && token == TOKEN_END && (ends || (!whole && m.done < m.vertices)) &&
                  both_ways(&g, m.done);
    graph_release(&g);
    return sight;
}

/* Whether the piece of a line has more numbers than an edge has. */
static bool long_line(const unsigned char *p, const unsigned char *end)
{
    int numbers = 0;
    for (bool inside = false; p < end; p++) {
        numbers += *p > ' ' && !inside;
        inside = *p > ' ';
    }
    return numbers > 5;
}

static enum graph_probe probe(const char *path, const unsigned char *head, size_t n)
{
    size_t end = n;
    bool whole = n < GRAPH_HEAD, named = graph_ends_in(path, ".graph") || graph_ends_in(path, ".metis");
    while (!whole && end > 0 && head[end - 1] != '\n')
        end--;
    if (!end)
        return named && n ? GRAPH_YES : GRAPH_NO; /* a line longer than the head is for the reader */
    struct tokens *t = mem_zalloc(1, sizeof *t, NULL);
    if (!t)
        return GRAPH_NO;
    t->at = head;
    t->end = head + end;
    t->begins = true;
    struct sight sight = look(t, whole);
    free(t);
    if (named)
        return GRAPH_YES;
    if (!sight.metis)
        return GRAPH_NO;
    return sight.list && !long_line(head + end, head + n) ? GRAPH_MAYBE : GRAPH_YES;
}

const struct graph_format graph_metis = {
    .name = "metis",
    .suffix = ".graph",
    .summary = "METIS, KaHIP and DIMACS 10: a line of neighbours for each vertex, from 1; read only",
    .probe = probe,
    .parse = parse_metis,
};
