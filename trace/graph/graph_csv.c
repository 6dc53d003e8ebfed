/* graph_csv: edges in a table whose first line names the columns; separated by commas, semicolons, tabs or blanks.
 *
 * The ends of an edge are the columns called source and target (src and dst, from and to, u and v, node_1 and node_2,
 * :START_ID and :END_ID ...: graph_csv.c has the list; case, blanks and punctuation do not matter); of a table with two
 * columns of other names (not separated by blanks), the first and the second. A column called weight gives the weights
 * if all are whole 32-bit numbers, as in a Matrix Market file; other columns are passed over. Worked example:
 * "id,src,dst\n7,0,2\n" is the one edge 0 -> 2. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/import/input_stream.h"

/* Names in lower case, without anything but letters and digits. */
static const char *const sources[] = {"source",     "src",      "from",       "u",     "sourceid", "srcid",
                                      "fromid",     "fromnode", "fromnodeid", "node1", "nodeid1",  "id1",
                                      "numericid1", "start",    "startid",    "row",   NULL};
static const char *const targets[] = {"target", "dst",      "to",    "v",           "targetid", "dstid",      "toid",
                                      "tonode", "tonodeid", "node2", "nodeid2",     "id2",      "numericid2", "end",
                                      "endid",  "col",      "dest",  "destination", "column",   NULL};
static const char *const weights[] = {"weight", "weights", "edgeweight", "w", NULL};

struct csv {
    char separator;
    int columns;
    int source, target, weight; /* columns; weight -1: none */
    bool whole;                 /* every weight so far fits */
    struct graph_list list;
};

struct piece {
    const char *text;
    size_t length;
};

/* The next field of a line, without quotes around it; false after the last. *at becomes NULL behind the last. */
static bool take(const struct csv *c, const char **at, struct piece *field)
{
    const char *p = *at;
    if (!p)
        return false;
    if (*p == '"') {
        field->text = ++p;
        while (*p && (*p != '"' || p[1] == '"'))
            p += *p == '"' ? 2 : 1;
        field->length = (size_t)(p - field->text);
        p += *p == '"';
    } else {
        field->text = p;
        while (*p && *p != c->separator)
            p++;
        field->length = (size_t)(p - field->text);
    }
    while (*p && *p != c->separator)
        p++;
    if (c->separator == ' ')
        while (*p == ' ' && p[1] == ' ')
            p++;
    *at = *p ? p + 1 : NULL;
    return true;
}

static bool called(const struct piece *name, const char *const *names)
{
    char plain[32];
    size_t n = 0;
    for (size_t i = 0; i < name->length && n < sizeof plain - 1; i++)
        if (isalnum((unsigned char)name->text[i]))
            plain[n++] = (char)tolower((unsigned char)name->text[i]);
    plain[n] = 0;
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], plain) == 0)
            return true;
    return false;
}

/* The field as a text, without blanks before it; false if it is longer. */
static bool text_of(const struct piece *field, char *text, size_t size)
{
    const char *from = field->text;
    size_t n = field->length;
    for (; n && (*from == ' ' || *from == '\t'); from++)
        n--;
    if (n >= size)
        return false;
    memcpy(text, from, n);
    text[n] = 0;
    return true;
}

static bool number_of(const struct piece *field, uint64_t *value)
{
    char text[32];
    const char *p = text;
    return text_of(field, text, sizeof text) && graph_take_u64(&p, value) && graph_line_done(p);
}

/* Two columns may have one meaning only. */
static int found(int *column, int here, const char *what, struct err *err)
{
    if (*column >= 0)
        return err_set(err, "columns %d and %d both name the %s", *column + 1, here + 1, what);
    *column = here;
    return 0;
}

/* A header: no field is a number, two at least, and it says which are the ends. */
static int parse_header(struct csv *c, const char *line, struct err *err)
{
    static const char separators[] = ",;\t ";
    const char *at = line;
    struct piece field;
    uint64_t value;
    c->columns = 0;
    c->source = c->target = c->weight = -1;
    for (int i = 0; separators[i]; i++)
        if ((c->separator = separators[i]) && strchr(line, c->separator))
            break;
    for (; take(c, &at, &field); c->columns++) {
        if (number_of(&field, &value))
            return err_set(err, "column %d is called '%.*s'; expected a line of names", c->columns + 1,
                           field.length < 20 ? (int)field.length : 20, field.text);
        if ((called(&field, sources) && found(&c->source, c->columns, "source", err)) ||
            (called(&field, targets) && found(&c->target, c->columns, "target", err)) ||
            (called(&field, weights) && found(&c->weight, c->columns, "weight", err)))
            return -1;
    }
    if (c->columns == 2 && c->source < 0 && c->target < 0 && c->separator != ' ') {
        c->source = 0;
        c->target = 1;
        c->weight = -1;
    }
    if (c->source < 0 || c->target < 0)
        return err_set(err, "'%.60s' names no %s; expected columns such as source and target, src and dst, from and to",
                       line, c->source < 0 ? "source" : "target");
    return 0;
}

static int weight_of(struct csv *c, const struct piece *field, int32_t *weight, struct err *err)
{
    char text[64];
    double value;
    if (!text_of(field, text, sizeof text))
        return err_set(err, "a weight of %zu bytes", field->length);
    const char *p = text;
    if (!graph_take_real(&p, &value) || !graph_line_done(p))
        return err_set(err, "weight '%.40s' is no number", text);
    c->whole = c->whole && value == floor(value) && fabs(value) <= INT32_MAX;
    *weight = c->whole ? (int32_t)value : 0;
    return 0;
}

static int parse_edge(struct csv *c, const char *line, struct err *err)
{
    uint64_t ends[2] = {0, 0};
    int32_t weight = 0;
    int columns = 0;
    struct piece field;
    for (const char *at = line; take(c, &at, &field); columns++) {
        bool end = columns == c->source || columns == c->target;
        if (end && !number_of(&field, &ends[columns == c->target]))
            return err_set(err, "column %d is '%.*s'; expected the number of a vertex", columns + 1,
                           field.length < 40 ? (int)field.length : 40, field.text);
        if (columns == c->weight && weight_of(c, &field, &weight, err))
            return -1;
    }
    if (columns != c->columns)
        return err_set(err, "%d columns; the header has %d", columns, c->columns);
    return graph_list_edge(&c->list, ends[0], ends[1], c->weight >= 0, weight, err);
}

static int parse_line(void *ctx, const char *line, struct err *err)
{
    struct csv *c = ctx;
    return c->columns ? parse_edge(c, line, err) : parse_header(c, line, err);
}

static int parse_csv(const struct graph_format *format, struct input_stream *source,
                     const struct graph_options *options, struct graph *graph, struct err *err)
{
    (void)format;
    struct csv c = {.whole = true, .list = {.options = options}};
    int rc = graph_each_line(source, "#", parse_line, &c, err);
    if (rc == 0 && !c.columns)
        rc = err_set(err, "the file has no line of names");
    rc = rc || graph_list_finish(&c.list, graph, err) ? -1 : 0;
    graph_list_release(&c.list);
    if (!rc && !c.whole) {
        free(graph->weights);
        graph->weights = NULL;
    }
    return rc;
}

/* A line of names, and below it numbers where the names say so; a name that ends in .csv makes a line of names
 * enough, so that the reader says what is wrong. */
static bool probe(const char *path, const unsigned char *head, size_t n)
{
    struct csv c = {0};
    struct err err = {""};
    char line[GRAPH_HEAD];
    size_t at = 0;
    if (n == 0 || *head == '%' || !graph_head_line(head, n, &at, line, sizeof line))
        return false;
    const char *names = line;
    if (!strpbrk(names, ",;\t ") || names[strspn(names, "0123456789,;\t .+-eE")] == 0)
        return false;
    int rc = parse_header(&c, names, &err);
    if (graph_ends_in(path, ".csv") || graph_ends_in(path, ".tsv"))
        return strstr(err.msg, "expected a line of names") ? false : true;
    if (rc || !graph_head_line(head, n, &at, line, sizeof line))
        return false;
    const char *cursor = line;
    struct piece field;
    uint64_t value;
    bool numbers = true;
    for (int i = 0; take(&c, &cursor, &field); i++)
        if (i == c.source || i == c.target)
            numbers = numbers && number_of(&field, &value);
    return numbers;
}

const struct graph_format graph_csv = {
    .name = "csv",
    .suffix = ".csv",
    .summary = "edges in a table with a line of names: source,target[,weight]; read only",
    .probe = probe,
    .parse = parse_csv,
};
