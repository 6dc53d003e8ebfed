/* offchip graph: graphs between formats, the scores of their vertices, and renumbering by them. */
#include <inttypes.h>
#include <jansson.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/table.h"
#include "models/zerocopy/score.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/graph/graph.h"
#include "trace/graph/graph_generate.h"
#include "trace/graph/graph_reorder.h"
#include "trace/store/output.h"
#include "trace/workloads/workload.h"

static const char *output, *weights, *mapping;
static bool force, undirected, relabel;
static int64_t seed = 1, top;
static int score_choice, format;

static const struct opt options[] = {
    OPT_GROUP("convert"),
    OPT("undirected", 0, OPT_FLAG, NULL, &undirected, "lists of edges: store both directions of each"),
    OPT("relabel", 0, OPT_FLAG, NULL, &relabel, "lists of edges: number vertices by first appearance"),
    OPT("weights", 0, OPT_TEXT, "LO:HI", &weights, "draw whole weights for every edge"),
    {"seed", 0, OPT_INT, "N", &seed, "of the weights (default 1)", 0, INT64_MAX},
    OPT_GROUP("score and reorder"),
    OPT("score", 0, OPT_CHOICE, "degree|reverse-pagerank", &score_choice, "rank vertices by (default degree)"),
    {"top", 0, OPT_INT, "N", &top, "score: print the N best vertices, not the distribution", 0, INT32_MAX},
    OPT("mapping", 0, OPT_TEXT, "FILE", &mapping, "reorder: write old,new of every vertex"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "OUT", &output, "graph to write, its ending says which format; score: FILE.csv"),
    OPT_FORMAT(&format),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite what is written"),
    {0}};

/* --- files --- */

/* The workload's graph is handed over: it is moved out of the state. */
static int generate(const char *spec, struct graph *graph, struct err *err)
{
    struct workload w;
    if (workload_open(&w, spec, err))
        return -1;
    if (w.type->produces != WORKLOAD_GRAPH) {
        (void)err_set(err, "workload %s makes no graph", w.type->name);
        workload_close(&w);
        return -1;
    }
    struct graph *made = w.state;
    *graph = *made;
    memset(made, 0, sizeof *made);
    workload_close(&w);
    return 0;
}

static int add_weights(struct graph *graph, struct err *err)
{
    int64_t lo, hi;
    if (units_parse_range(weights, &lo, &hi, err))
        return err_at(err, "--weights");
    if (lo < INT32_MIN || hi > INT32_MAX)
        return err_set(err, "--weights is '%.40s'; weights are 32-bit", weights);
    return graph_add_weights(graph, (int32_t)lo, (int32_t)hi, (uint64_t)seed, err);
}

/* A graph file or prefix, or synth:WORKLOAD of a generator of graphs. */
static int load(const char *spec, struct graph *graph, struct err *err)
{
    const struct graph_options text = {undirected, relabel};
    memset(graph, 0, sizeof *graph);
    int rc =
        strncmp(spec, "synth:", 6) == 0 ? generate(spec + 6, graph, err) : graph_load(spec, NULL, &text, graph, err);
    return rc || (weights && add_weights(graph, err)) ? -1 : 0;
}

/* The format by the path's ending. */
static const struct graph_format *format_of(const char *path, struct err *err)
{
    const struct graph_format *found = graph_format_by_suffix(path);
    char known[128] = "";
    for (size_t i = 0; graph_formats[i]; i++)
        if (graph_formats[i]->write)
            (void)mem_add_text(known, sizeof known, "%s%s", *known ? ", " : "", graph_formats[i]->suffix);
    if (found && found->write)
        return found;
    (void)err_set(err, "'%s' ends in no graph format that is written; expected one of %s", path, known);
    return NULL;
}

static int writes(void *replace, const char *file)
{
    return cmd_writes(file, *(const bool *)replace);
}

int cmd_graph_writes(const char *path, bool replace)
{
    struct err err = {""};
    const struct graph_format *as = format_of(path, &err);
    return as ? graph_format_files(as, path, writes, &replace) : cmd_usage("%s", err.msg);
}

int cmd_graph_write(const char *path, bool replace, const struct graph *graph, struct err *err)
{
    const struct graph_format *as = format_of(path, err);
    if (!as || as->write(as, path, replace, graph, err))
        return -1;
    if (graph->weights && (as == &graph_sg || as == &graph_el))
        cmd_say("left out: the weights, which format %s does not hold (w%s does)", as->name, as->name);
    return 0;
}

/* --- convert --- */

static void say_written(const struct graph *graph)
{
    cmd_say("%" PRIu64 " vertices, %" PRIu64 " elements, largest degree %" PRIu64 "%s", graph->vertices,
            graph->elements, graph->vertices ? graph_degree(graph, graph_hub(graph)) : 0,
            graph->weights ? ", weighted" : "");
}

static int convert(const char *spec)
{
    struct graph graph;
    struct err err = {""};
    int status = cmd_graph_writes(output, force);
    if (status)
        return status;
    int rc = load(spec, &graph, &err);
    if (!rc)
        rc = cmd_graph_write(output, force, &graph, &err);
    if (!rc)
        say_written(&graph);
    graph_release(&graph);
    return rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

/* --- score and reorder --- */

/* A graph with the scores and ranks of its vertices. */
struct ranked {
    struct graph graph;
    double *score;
    uint32_t *rank;
};

static void ranked_release(struct ranked *r)
{
    graph_release(&r->graph);
    free(r->score);
    free(r->rank);
}

/* Read the graph and rank its vertices. To be released also after a failure. */
static int rank_graph(const char *spec, struct ranked *r, struct err *err)
{
    enum score_kind kind = (enum score_kind)(score_choice + SCORE_DEGREE);
    memset(r, 0, sizeof *r);
    if (load(spec, &r->graph, err))
        return -1;
    if (!r->graph.vertices)
        return err_set(err, "'%.200s' has no vertices", spec);
    const struct score_options how = {.damping = SCORE_DAMPING};
    double start = omp_get_wtime();
    r->score = score_vertices(&r->graph, kind, &how, err);
    double scored = omp_get_wtime();
    r->rank = r->score ? graph_rank(r->score, r->graph.vertices, err) : NULL;
    if (r->rank && opt_verbose)
        cmd_say("scored in %.3f s, ranked in %.3f s", scored - start, omp_get_wtime() - scored);
    return r->rank ? 0 : -1;
}

static void mapping_rows(FILE *to_file, const struct ranked *r)
{
    (void)fputs("old,new\n", to_file);
    for (uint64_t v = 0; v < r->graph.vertices; v++)
        (void)fprintf(to_file, "%" PRIu64 ",%" PRIu32 "\n", v, r->rank[v]);
}

static void score_rows(FILE *to_file, const struct ranked *r)
{
    (void)fputs("vertex,degree,score,rank\n", to_file);
    for (uint64_t v = 0; v < r->graph.vertices; v++)
        (void)fprintf(to_file, "%" PRIu64 ",%" PRIu64 ",%.17g,%" PRIu32 "\n", v, graph_degree(&r->graph, v),
                      r->score[v], r->rank[v]);
}

/* The N best vertices, best first; *n of them, freed with free(). */
static uint64_t *best(const struct ranked *r, uint64_t *n)
{
    *n = (uint64_t)top < r->graph.vertices ? (uint64_t)top : r->graph.vertices;
    uint64_t *list = calloc(*n + 1, sizeof *list);
    for (uint64_t v = 0; list && v < r->graph.vertices; v++)
        if (r->rank[v] < *n)
            list[r->rank[v]] = v;
    return list;
}

enum { SHARES = 4 };

static void count_cell(struct table *t, uint64_t count)
{
    char buf[32];
    if (format == FORMAT_CSV)
        table_cell(t, "%" PRIu64, count);
    else
        table_cell(t, "%s", units_human_count((int64_t)count, buf, sizeof buf));
}

static void print_table(const struct ranked *r, const struct score_share *shares, const uint64_t *list, uint64_t n)
{
    static const char *const names[2][6] = {{"top_pct", "vertices", "elements", "elements_pct", "score_pct", NULL},
                                            {"rank", "vertex", "degree", "score", "score_pct", NULL}};
    struct table t;
    table_begin(&t, names[top > 0]);
    for (uint64_t i = 0; i < n; i++) {
        table_cell(&t, "%" PRIu64, i);
        table_cell(&t, "%" PRIu64, list[i]);
        count_cell(&t, graph_degree(&r->graph, list[i]));
        table_cell(&t, "%.10g", r->score[list[i]]);
        table_cell(&t, "%.4g", shares->score_sum > 0 ? 100 * r->score[list[i]] / shares->score_sum : 0);
    }
    for (int i = 0; i < SHARES && !top; i++) {
        table_cell(&t, "%g", shares[i].percent);
        count_cell(&t, shares[i].vertices);
        count_cell(&t, shares[i].elements);
        table_cell(&t, "%.2f", r->graph.elements ? 100.0 * (double)shares[i].elements / (double)r->graph.elements : 0);
        table_cell(&t, "%.2f", shares[i].score_sum > 0 ? 100 * shares[i].score / shares[i].score_sum : 0);
    }
    table_finish(&t, format == FORMAT_CSV);
}

static int print_json(const struct ranked *r, const struct score_share *shares, const uint64_t *list, uint64_t n)
{
    json_t *distribution = json_array(), *rows = json_array();
    for (int i = 0; i < SHARES; i++)
        json_tree_add(&distribution, json_pack("{s:f,s:I,s:I,s:f}", "top_pct", shares[i].percent, "vertices",
                                               (json_int_t)shares[i].vertices, "elements",
                                               (json_int_t)shares[i].elements, "score", shares[i].score));
    for (uint64_t i = 0; i < n; i++)
        json_tree_add(&rows,
                      json_pack("{s:I,s:I,s:I,s:f}", "rank", (json_int_t)i, "vertex", (json_int_t)list[i], "degree",
                                (json_int_t)graph_degree(&r->graph, list[i]), "score", r->score[list[i]]));
    json_t *root = json_pack("{s:i,s:s,s:I,s:I,s:f,s:o,s:o}", "schema", 1, "score",
                             score_name((enum score_kind)(score_choice + SCORE_DEGREE)), "vertices",
                             (json_int_t)r->graph.vertices, "elements", (json_int_t)r->graph.elements, "score_sum",
                             shares->score_sum, "shares", distribution, "top", rows);
    return cmd_print_json(root);
}

static int score(const char *spec)
{
    int status = output ? cmd_writes(output, force) : EXIT_DONE;
    if (status)
        return status;
    struct output file = {0};
    struct score_share shares[SHARES] = {{.percent = 1}, {.percent = 5}, {.percent = 10}, {.percent = 25}};
    struct ranked r;
    struct err err = {""};
    int rc = rank_graph(spec, &r, &err);
    if (!rc && output)
        rc = output_open(&file, output, force, &err);
    if (!rc && output)
        score_rows(file.file, &r);
    rc = output_close(&file, rc, &err); /* before it is printed */
    if (!rc) {
        uint64_t n, *list = best(&r, &n);
        score_shares(&r.graph, r.score, r.rank, shares, SHARES);
        if (!list)
            rc = err_set(&err, "out of memory: %" PRIu64 " rows", n);
        else if (format == FORMAT_JSON)
            status = print_json(&r, shares, list, n);
        else
            print_table(&r, shares, list, n);
        free(list);
    }
    ranked_release(&r);
    return status ? status : rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

static int reorder(const char *spec)
{
    int status = cmd_graph_writes(output, force);
    if (!status && mapping)
        status = cmd_writes(mapping, force);
    if (status)
        return status;
    struct output file = {0};
    struct ranked r;
    struct graph renumbered = {0};
    struct err err = {""};
    int rc = rank_graph(spec, &r, &err);
    double start = omp_get_wtime();
    if (!rc)
        rc = graph_reorder(&r.graph, r.rank, &renumbered, &err);
    if (!rc && opt_verbose)
        cmd_say("renumbered in %.3f s", omp_get_wtime() - start);
    if (!rc && mapping)
        rc = output_open(&file, mapping, force, &err);
    if (!rc && mapping) {
        mapping_rows(file.file, &r);
        rc = output_flush(&file, &err);
    }
    if (!rc)
        rc = cmd_graph_write(output, force, &renumbered, &err);
    rc = output_close(&file, rc, &err);
    if (!rc)
        say_written(&renumbered);
    graph_release(&renumbered);
    ranked_release(&r);
    return rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

/* What can be done with a graph. */
static const struct {
    const char *name;
    int (*run)(const char *spec);
    bool writes; /* an output is needed */
} actions[] = {{"convert", convert, true}, {"score", score, false}, {"reorder", reorder, true}};

static int run(int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, argv[0]) != 0)
            continue;
        if (argc != 2)
            return cmd_usage("graph %s takes one graph; found %d", argv[0], argc - 1);
        if (actions[i].writes && !output)
            return cmd_usage("an output is needed: -o OUT");
        cmd_reads(argv[1]);
        return actions[i].run(argv[1]);
    }
    return argc ? cmd_usage("graph cannot '%s'; expected convert, score or reorder", argv[0])
                : cmd_usage("one of convert, score and reorder is needed");
}

const struct command cmd_graph = {
    .name = "graph",
    .summary = "convert, score and renumber graphs",
    .usage = "convert GRAPH -o OUT [OPTIONS]\n"
             "       offchip graph score GRAPH [OPTIONS]\n"
             "       offchip graph reorder GRAPH -o OUT [OPTIONS]",
    .details = "GRAPH is a file (GAP .sg and .wsg, Matrix Market, NumPy .npy and .npz, CSV, edge list), the prefix "
               "NAME.bel of EMOGI's files, or synth:kron or synth:urand and their keys. score says what the best "
               "vertices hold; reorder gives the best number 0.",
    .examples = "  offchip graph convert web.mtx -o web.bel\n"
                "  offchip graph convert synth:kron,scale=20,k=16 -o kron20.bel\n"
                "  offchip graph reorder kron20.bel --score degree -o hot20.bel --mapping hot20.csv",
    .options = options,
    .run = run,
};
