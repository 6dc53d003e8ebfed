/* graph_mtx: Matrix Market coordinate files as graphs: entry (i, j) is an edge i -> j, ids from 1.
 *
 * Symmetric, skew-symmetric and hermitian files store one triangle: off-diagonal entries are mirrored (skew: the weight
 * negated), diagonal ones are not. Neighbour lists are sorted by id; equal entries stay. Values become weights where
 * all are whole and fit 32 bits; pattern files and other values give no weights. Array files are refused.
 * Source: R. F. Boisvert et al., The Matrix Market Exchange Formats, NISTIR 5935 (1996). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/import/input_stream.h"
#include "trace/store/output.h"

static const char banner[] = "%%MatrixMarket";

enum field { FIELD_PATTERN, FIELD_INTEGER, FIELD_REAL, FIELD_COMPLEX };

struct mtx {
    enum field field;
    bool mirrored, skew;
    uint64_t rows, columns, entries;
    bool whole; /* every value so far is a whole number that fits */
};

static bool probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    bool is = n >= sizeof banner - 1 && strncasecmp((const char *)head, banner, sizeof banner - 1) == 0;
    return is;
}

static int choose(const char *word, const char *const *names, const char *what, struct err *err)
{
    for (int i = 0; names[i]; i++)
        if (strcasecmp(names[i], word) == 0)
            return i;
    return err_set(err, "line 1: '%.40s' is no %s of a Matrix Market file", word, what);
}

static int parse_banner(const char *line, struct mtx *m, struct err *err)
{
    static const char *const fields[] = {"pattern", "integer", "real", "complex", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    char object[41] = "", layout[41] = "", field[41] = "", symmetry[41] = "";
    if (strncasecmp(line, banner, sizeof banner - 1) != 0 ||
        sscanf(line + sizeof banner - 1, "%40s %40s %40s %40s", object, layout, field, symmetry) != 4)
        return err_set(err, "line 1: expected '%%%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(layout, "coordinate") != 0)
        return err_set(err, "line 1: '%.40s %.40s' is not supported; expected 'matrix coordinate'", object, layout);
    int f = choose(field, fields, "field", err);
    int s = f < 0 ? -1 : choose(symmetry, symmetries, "symmetry", err);
    if (s < 0)
        return -1;
    m->field = (enum field)f;
    m->mirrored = s > 0;
    m->skew = s == 2;
    m->whole = f == FIELD_INTEGER || f == FIELD_REAL;
    return 0;
}

/* The next line that is no comment and not empty: 1, 0 at the end, -1. */
static int content(struct input_stream *source, char **line, struct err *err)
{
    size_t length;
    int rc;
    while ((rc = input_stream_line(source, line, &length, err)) > 0)
        if (**line != '%' && !graph_line_done(*line))
            return 1;
    return rc;
}

static int parse_size(struct input_stream *source, struct mtx *m, struct err *err)
{
    char *line;
    int rc = content(source, &line, err);
    if (rc < 0)
        return -1;
    const char *p = line;
    if (rc == 0 || !graph_take_u64(&p, &m->rows) || !graph_take_u64(&p, &m->columns) ||
        !graph_take_u64(&p, &m->entries) || !graph_line_done(p))
        return err_set(err, "line %" PRIu64 ": expected the size line 'rows columns entries'",
                       input_stream_line_number(source));
    if (m->rows >= UINT32_MAX || m->columns >= UINT32_MAX)
        return err_set(err, "line %" PRIu64 ": %" PRIu64 " rows and %" PRIu64 " columns; ids are 32-bit",
                       input_stream_line_number(source), m->rows, m->columns);
    if (m->rows != m->columns)
        return err_set(err,
                       "line %" PRIu64 ": a matrix of %" PRIu64 " rows and %" PRIu64 " columns is no graph: as many "
                       "columns as rows are expected",
                       input_stream_line_number(source), m->rows, m->columns);
    return 0;
}

/* "i j [value [imaginary]]" */
static int parse_entry(const char *p, const struct mtx *m, uint64_t *i, uint64_t *j, double *value)
{
    double imaginary;
    if (!graph_take_u64(&p, i) || !graph_take_u64(&p, j))
        return -1;
    if (m->field != FIELD_PATTERN && !graph_take_real(&p, value))
        return -1;
    if (m->field == FIELD_COMPLEX && !graph_take_real(&p, &imaginary))
        return -1;
    return graph_line_done(p) ? 0 : -1;
}

static int add(struct graph_builder *b, struct mtx *m, uint32_t i, uint32_t j, double value, struct err *err)
{
    m->whole = m->whole && value == floor(value) && fabs(value) <= INT32_MAX;
    int32_t weight = m->whole ? (int32_t)value : 0;
    bool weighted = m->field == FIELD_INTEGER || m->field == FIELD_REAL;
    if (graph_builder_add(b, i, j, weighted, weight, err))
        return -1;
    if (m->mirrored && i != j)
        return graph_builder_add(b, j, i, weighted, m->skew ? -weight : weight, err);
    return 0;
}

static int parse_entries(struct input_stream *source, struct mtx *m, struct graph_builder *b, struct err *err)
{
    for (uint64_t n = 0; n < m->entries; n++) {
        char *line;
        int rc = content(source, &line, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return err_set(err, "the file ends after %" PRIu64 " of %" PRIu64 " entries", n, m->entries);
        uint64_t i = 0, j = 0;
        double value = 1;
        if (parse_entry(line, m, &i, &j, &value))
            return err_set(err, "line %" PRIu64 ": '%.60s' is no entry 'row column%s'",
                           input_stream_line_number(source), line, m->field == FIELD_PATTERN ? "" : " value");
        if (i < 1 || i > m->rows || j < 1 || j > m->columns)
            return err_set(err, "line %" PRIu64 ": entry (%" PRIu64 ", %" PRIu64 ") is outside %" PRIu64 " x %" PRIu64,
                           input_stream_line_number(source), i, j, m->rows, m->columns);
        if (add(b, m, (uint32_t)(i - 1), (uint32_t)(j - 1), value, err))
            return -1;
    }
    return 0;
}

static int parse(struct input_stream *source, struct graph_builder *b, struct graph *graph, struct err *err)
{
    struct mtx m = {0};
    char *line;
    size_t length;
    int rc = input_stream_line(source, &line, &length, err);
    if (rc < 0)
        return -1;
    if (parse_banner(rc ? line : "", &m, err) || parse_size(source, &m, err) || parse_entries(source, &m, b, err))
        return -1;
    if ((rc = content(source, &line, err)) < 0)
        return -1;
    if (rc > 0)
        return err_set(err, "line %" PRIu64 ": more than the %" PRIu64 " entries that the size line states",
                       input_stream_line_number(source), m.entries);
    const uint64_t vertices = m.rows;
    if (graph_list_sides(vertices, b->count, err) || graph_builder_finish(b, vertices, GRAPH_SORT, graph, err))
        return -1;
    if (!m.whole) {
        free(graph->weights);
        graph->weights = NULL;
    }
    graph->symmetric = m.mirrored;
    return 0;
}

static int parse_mtx(const struct graph_format *format, struct input_stream *source,
                     const struct graph_options *options, struct graph *graph, struct err *err)
{
    (void)format, (void)options;
    struct graph_builder b = {0};
    int rc = parse(source, &b, graph, err);
    graph_builder_release(&b);
    return rc;
}

static int write_mtx(const struct graph_format *format, const char *path, bool replace, const struct graph *g,
                     struct err *err)
{
    (void)format;
    struct output output;
    if (output_open(&output, path, replace, err))
        return -1;
    (void)fprintf(output.file, "%%%%MatrixMarket matrix coordinate %s general\n", g->weights ? "integer" : "pattern");
    (void)fprintf(output.file, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", g->vertices, g->vertices, g->elements);
    graph_text_edges(output.file, g, 1, g->weights);
    return output_close(&output, 0, err);
}

const struct graph_format graph_mtx = {
    .name = "mtx",
    .suffix = ".mtx",
    .summary = "Matrix Market coordinate file",
    .probe = probe,
    .parse = parse_mtx,
    .write = write_mtx,
};
