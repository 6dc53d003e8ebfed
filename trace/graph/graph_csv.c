/* graph_csv: edges in a table whose first line names the columns; separated by commas, semicolons, tabs or blanks.
 *
 * The ends of an edge are the columns called source and target (src and dst, from and to, u and v, node_1 and node_2,
 * :START_ID and :END_ID ...: graph_csv.c has the list; case, blanks and punctuation do not matter); of a table with two
 * columns of other names (not separated by blanks), the first and the second. A column called weight gives the weights
 * if all are whole 32-bit numbers, as in a Matrix Market file; other columns are passed over. Worked example:
 * "id,src,dst\n7,0,2\n" is the one edge 0 -> 2. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/param_value.h"
#include "trace/base/units.h"
#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/import/text_table.h"

enum role { SOURCE, TARGET, WEIGHT, ROLES };
enum { NOWHERE = -1 };

/* What a column may be called: in lower case, without anything but letters and digits. */
static const char *const roles[ROLES] = {"source", "target", "weight"};
static const char *const names[ROLES] = {
    "source|src|from|u|sourceid|srcid|fromid|fromnode|fromnodeid|node1|nodeid1|id1|numericid1|start|startid|row",
    ("target|dst|to|v|targetid|dstid|toid|tonode|tonodeid|node2|nodeid2|id2|numericid2|end|endid|col|dest|destination|"
     "column"),
    "weight|weights|edgeweight|w"};

struct csv {
    char separator;
    size_t columns; /* 0: no header so far */
    int at[ROLES];  /* columns, or NOWHERE */
    bool whole;     /* every weight so far fits */
    struct graph_list list;
};

static enum role role_of(const struct field *name)
{
    char plain[32];
    size_t n = 0;
    enum role role = SOURCE;
    for (size_t i = 0; i < name->length && n < sizeof plain - 1; i++)
        if (isalnum((unsigned char)name->text[i]))
            plain[n++] = (char)tolower((unsigned char)name->text[i]);
    plain[n] = 0;
    while (role < ROLES && param_position(names[role], plain) < 0)
        role++;
    return role;
}

static bool number_of(const struct field *field, uint64_t *value)
{
    const char *p = field->text;
    return field_digits(&p, value) && p == field->text + field->length;
}

static int most(const struct field *field, int bytes)
{
    return field->length < (size_t)bytes ? (int)field->length : bytes;
}

/* A header: no field is a number, two at least, and it says which are the ends. The line is changed. */
static int parse_header(struct csv *c, char *line, struct err *err)
{
    static const char separators[] = ",;\t ";
    struct field cells[TEXT_TABLE_COLUMNS];
    uint64_t value;
    c->at[SOURCE] = c->at[TARGET] = c->at[WEIGHT] = NOWHERE;
    for (int i = 0; separators[i]; i++)
        if ((c->separator = separators[i]) && strchr(line, c->separator))
            break;
    char begins[61];
    (void)snprintf(begins, sizeof begins, "%s", line);
    c->columns = text_table_split(line, c->separator, cells);
    for (size_t i = 0; i < c->columns; i++) {
        const enum role role = role_of(&cells[i]);
        if (number_of(&cells[i], &value))
            return err_set(err, "column %zu is called '%.*s'; expected a line of names", i + 1, most(&cells[i], 20),
                           cells[i].text);
        if (role < ROLES && c->at[role] != NOWHERE)
            return err_set(err, "columns %d and %zu both name the %s", c->at[role] + 1, i + 1, roles[role]);
        if (role < ROLES)
            c->at[role] = (int)i;
    }
    if (c->columns == 2 && c->at[SOURCE] < 0 && c->at[TARGET] < 0 && c->separator != ' ') {
        c->at[TARGET] = 1;
        c->at[SOURCE] = 0;
        c->at[WEIGHT] = NOWHERE;
    }
    if (c->at[SOURCE] < 0 || c->at[TARGET] < 0)
        return err_set(err, "'%s' names no %s; expected columns such as source and target, src and dst, from and to",
                       begins, roles[c->at[SOURCE] < 0 ? SOURCE : TARGET]);
    return 0;
}

static int weight_of(struct csv *c, const struct field *field, int32_t *weight, struct err *err)
{
    char text[64];
    double value;
    (void)snprintf(text, sizeof text, "%.*s", most(field, sizeof text), field->text);
    if (field->length >= sizeof text || units_parse_real(text, &value, NULL))
        return err_set(err, "weight '%.40s' is no number", text);
    c->whole = c->whole && value == floor(value) && fabs(value) <= INT32_MAX;
    *weight = c->whole ? (int32_t)value : 0;
    return 0;
}

static int parse_edge(struct csv *c, char *line, struct err *err)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, c->separator, cells);
    uint64_t ends[2];
    int32_t weight = 0;
    if (n != c->columns)
        return err_set(err, "%zu columns; the header has %zu", n, c->columns);
    for (int i = SOURCE; i <= TARGET; i++)
        if (!number_of(&cells[c->at[i]], &ends[i]))
            return err_set(err, "column %d is '%.*s'; expected the number of a vertex", c->at[i] + 1,
                           most(&cells[c->at[i]], 40), cells[c->at[i]].text);
    if (c->at[WEIGHT] >= 0 && weight_of(c, &cells[c->at[WEIGHT]], &weight, err))
        return -1;
    return graph_list_edge(&c->list, ends[SOURCE], ends[TARGET], c->at[WEIGHT] >= 0, weight, err);
}

static int parse_line(void *ctx, char *line, struct err *err)
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
    struct field cells[TEXT_TABLE_COLUMNS];
    char line[GRAPH_HEAD];
    size_t at = 0;
    uint64_t value;
    if (n == 0 || *head == '%' || !graph_head_line(head, n, &at, line, sizeof line))
        return false;
    if (!strpbrk(line, ",;\t ") || line[strspn(line, "0123456789,;\t .+-eE")] == 0)
        return false;
    int rc = parse_header(&c, line, &err);
    if (graph_ends_in(path, ".csv") || graph_ends_in(path, ".tsv"))
        return strstr(err.msg, "expected a line of names") ? false : true;
    if (rc || !graph_head_line(head, n, &at, line, sizeof line))
        return false;
    const int cut = (int)text_table_split(line, c.separator, cells); /* perhaps before an end */
    for (int i = SOURCE; i <= TARGET; i++)
        if (c.at[i] < cut && !number_of(&cells[c.at[i]], &value))
            return false;
    return true;
}

const struct graph_format graph_csv = {
    .name = "csv",
    .suffix = ".csv",
    .summary = "edges in a table with a line of names: source,target[,weight]; read only",
    .probe = probe,
    .parse = parse_csv,
};
