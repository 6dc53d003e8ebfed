/* offchip graph: graphs between formats. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/graph_file.h"
#include "trace/graph_generate.h"
#include "trace/units.h"

static const char *output, *from, *to, *weights;
static bool force, undirected, relabel;
static int64_t seed = 1;

static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, "OUT", &output, "file or prefix to write; its ending says which format", 0, 0},
    {"from", 0, OPT_TEXT, "FORMAT", &from, "bel, mtx, sg, wsg, el or wel; default: by content", 0, 0},
    {"to", 0, OPT_TEXT, "FORMAT", &to, "likewise; default: by OUT's ending", 0, 0},
    {"undirected", 0, OPT_FLAG, NULL, &undirected, "edge lists: store both directions of every line", 0, 0},
    {"relabel", 0, OPT_FLAG, NULL, &relabel, "edge lists: number vertices by first appearance", 0, 0},
    {"weights", 0, OPT_TEXT, "LO:HI", &weights, "draw whole weights for every edge", 0, 0},
    {"seed", 0, OPT_INT, "N", &seed, "of the weights (default 1)", 0, INT64_MAX},
    {"force", 'f', OPT_FLAG, NULL, &force, "overwrite OUT", 0, 0},
    {0}};

static int add_weights(struct graph *graph, struct err *err)
{
    char low[32];
    const char *colon = strchr(weights, ':');
    size_t n = colon ? (size_t)(colon - weights) : sizeof low;
    int64_t lo, hi;
    if (n >= sizeof low)
        return err_set(err, "--weights is '%.40s'; expected LO:HI", weights);
    memcpy(low, weights, n);
    low[n] = 0;
    if (units_parse_int(low, &lo, err) || units_parse_int(colon + 1, &hi, err))
        return err_at(err, "--weights");
    if (lo < INT32_MIN || hi > INT32_MAX)
        return err_set(err, "--weights is '%.40s'; weights are 32-bit", weights);
    return graph_add_weights(graph, (int32_t)lo, (int32_t)hi, (uint64_t)seed, err);
}

static int convert(int argc, char **argv)
{
    if (argc != 1)
        return cmd_usage("graph convert takes one graph; found %d", argc);
    if (!output)
        return cmd_usage("an output is needed: -o OUT");
    const struct graph_options text = {undirected, relabel};
    struct graph graph;
    struct err err = {""};
    int rc = graph_file_read(argv[0], from, &text, &graph, &err);
    if (!rc && weights)
        rc = add_weights(&graph, &err);
    if (!rc)
        rc = graph_file_write(output, to, force, &graph, &err);
    if (!rc)
        cmd_say("%" PRIu64 " vertices, %" PRIu64 " elements, largest degree %" PRIu64 "%s", graph.vertices,
                graph.elements, graph.vertices ? graph_degree(&graph, graph_hub(&graph)) : 0,
                graph.weights ? ", weighted" : "");
    graph_release(&graph);
    return rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

/* What can be done with a graph. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} actions[] = {{"convert", convert}};

static int run(int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, argv[0]) == 0)
            return actions[i].run(argc - 1, argv + 1);
    return argc ? cmd_usage("graph cannot '%s'; expected convert", argv[0]) : cmd_usage("one of convert is needed");
}

const struct command cmd_graph = {
    .name = "graph",
    .summary = "convert graphs between formats",
    .usage = "convert GRAPH -o OUT [--from FORMAT] [--to FORMAT] [--undirected] [--relabel] [--weights LO:HI]",
    .details =
        "GRAPH is a file (GAP .sg and .wsg, Matrix Market, edge list; gzip, xz and zstd are unpacked), the prefix\n"
        "NAME.bel of EMOGI's files NAME.bel.col, .dst and .val, or synth:kron, synth:urand and their keys.",
    .examples = "  offchip graph convert web.mtx -o web.bel\n"
                "  offchip graph convert soc.txt.gz --undirected --relabel -o soc.sg\n"
                "  offchip graph convert synth:kron,scale=20,k=16 -o kron20.bel",
    .options = options,
    .run = run,
};
