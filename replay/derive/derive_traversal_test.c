/* A graph traversal recorded access by access makes, over the link, the requests that `replay zerocopy` counts for the
 * same graph. The recording is generated: breadth-first search by levels and a sweep over all lists, with the kernels
 * that docs/accesses.md shows: a thread for each vertex, or a warp, and with its first index rounded down. Beside the
 * neighbour list in host memory, each instruction that reads or writes GPU memory (labels, offsets, the flag of the
 * next level) is in it, and the warps come in any order, as in a real one. */
#include <inttypes.h>
#include <stdio.h>

#include "replay/derive/derive.h"
#include "replay/run/testing_replay.h"
#include "trace/graph/graph_generate.h"
#include "trace/import/reader.h"
#include "trace/import/testing_access.h"

enum { LANES = 32, BLOCK_WARPS = 4, BLOCK_THREADS = BLOCK_WARPS * LANES };

/* Where things lie: the list in pinned memory, the rest on the GPU. */
#define LIST    0x7f2a00001000ull
#define LABELS  0x7f4c00000000ull
#define OFFSETS 0x7f4d00000000ull
#define FLAG    0x7f4e00000000ull

enum pattern { NAIVE, MERGED, ALIGNED };
static const char *const patterns[] = {"naive", "merged", "aligned"};

/* One launch: the lines of its warps, and how many. */
struct launch {
    char **text; /* by warp, each from open_memstream() */
    size_t *size;
    FILE **warp;
    uint64_t warps, accesses;
};

struct recorded {
    const struct graph *graph;
    enum pattern pattern;
    uint64_t element, list; /* bytes; address */
    uint32_t *label;        /* by vertex; UINT32_MAX: not reached */
    bool *active;           /* read in this launch */
    struct launch launch;
};

/* One instruction: the addresses of the lanes in `mask`. */
static void access_line(struct recorded *r, uint64_t warp, unsigned pc, uint32_t mask, bool write, unsigned bytes,
                        const uint64_t *addr)
{
    if (!mask)
        return;
    FILE *f = r->launch.warp[warp];
    (void)fprintf(f, "7f0000000%03x %08x %d %u %" PRIu64 " %" PRIu64, pc, mask, write ? 2 : 1, bytes,
                  warp / BLOCK_WARPS, warp % BLOCK_WARPS);
    for (int lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            (void)fprintf(f, " %" PRIx64, addr[lane]);
    (void)fputc('\n', f);
    r->launch.accesses++;
}

/* Elements index[lane] of the list, the label of each neighbour, and, where it is new, the store of its label. */
static void visit(struct recorded *r, uint64_t warp, uint32_t mask, const uint64_t *index, uint32_t level)
{
    uint64_t addr[LANES], label[LANES];
    uint32_t fresh = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        uint64_t n = graph_target(r->graph, index[lane]);
        addr[lane] = r->list + index[lane] * r->element;
        label[lane] = LABELS + 4 * n;
        if (r->label[n] == UINT32_MAX) {
            r->label[n] = level + 1;
            fresh |= 1u << lane;
        }
    }
    access_line(r, warp, 0x40, mask, false, (unsigned)r->element, addr);
    access_line(r, warp, 0x50, mask, false, 4, label);
    access_line(r, warp, 0x60, fresh, true, 4, label);
    for (int lane = 0; lane < LANES; lane++)
        addr[lane] = FLAG;
    access_line(r, warp, 0x70, fresh, true, 1, addr);
}

/* A thread for each vertex. */
static void naive_warp(struct recorded *r, uint64_t warp, uint32_t level)
{
    const struct graph *g = r->graph;
    uint64_t addr[LANES], at[LANES], left[LANES];
    uint32_t there = 0, active = 0;
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t v = warp * LANES + (uint64_t)lane;
        if (v >= g->vertices)
            continue;
        there |= 1u << lane;
        addr[lane] = LABELS + 4 * v;
        if (!r->active[v])
            continue;
        active |= 1u << lane;
        at[lane] = g->offsets[v];
        left[lane] = graph_degree(g, v);
    }
    access_line(r, warp, 0x10, there, false, 4, addr);
    for (int which = 0; which < 2; which++) {
        for (int lane = 0; lane < LANES; lane++)
            addr[lane] = OFFSETS + 8 * (warp * LANES + (uint64_t)lane + (uint64_t)which);
        access_line(r, warp, 0x20 + (unsigned)which, active, false, 8, addr);
    }
    for (;;) {
        uint32_t mask = 0;
        for (int lane = 0; lane < LANES; lane++)
            if (active >> lane & 1 && left[lane])
                mask |= 1u << lane;
        if (!mask)
            return;
        visit(r, warp, mask, at, level);
        for (int lane = 0; lane < LANES; lane++)
            if (mask >> lane & 1) {
                at[lane]++;
                left[lane]--;
            }
    }
}

/* A warp for each vertex. */
static void vertex_warp(struct recorded *r, uint64_t v, uint32_t level)
{
    const struct graph *g = r->graph;
    uint64_t addr[LANES], index[LANES], first = g->offsets[v], end = g->offsets[v + 1], from = first;
    for (int lane = 0; lane < LANES; lane++)
        addr[lane] = LABELS + 4 * v;
    access_line(r, v, 0x10, UINT32_MAX, false, 4, addr);
    if (!r->active[v])
        return;
    for (uint64_t which = 0; which < 2; which++) {
        for (int lane = 0; lane < LANES; lane++)
            addr[lane] = OFFSETS + 8 * (v + which);
        access_line(r, v, 0x20 + (unsigned)which, UINT32_MAX, false, 8, addr);
    }
    if (r->pattern == ALIGNED)
        from -= from % (128 / r->element);
    for (; from < end; from += LANES) {
        uint32_t mask = 0;
        for (uint64_t lane = 0; lane < LANES; lane++) {
            index[lane] = from + lane;
            if (from + lane >= first && from + lane < end)
                mask |= 1u << lane;
        }
        visit(r, v, mask, index, level);
    }
}

static void open_warps(struct launch *l, uint64_t warps)
{
    *l = (struct launch){.warps = warps};
    l->text = calloc(warps, sizeof *l->text);
    l->size = calloc(warps, sizeof *l->size);
    l->warp = calloc(warps, sizeof *l->warp);
    for (uint64_t w = 0; w < warps; w++)
        l->warp[w] = open_memstream(&l->text[w], &l->size[w]);
}

/* Write the launch: the next line of any warp, over and over. */
static void close_warps(struct launch *l, const char *name, FILE *out)
{
    uint64_t *live = calloc(l->warps, sizeof *live), n = 0, random = 1;
    char **at = calloc(l->warps, sizeof *at);
    (void)fprintf(out, "#kernel %s grid %" PRIu64 ",1,1 block %d,1,1 accesses %" PRIu64 "\n", name,
                  (l->warps + BLOCK_WARPS - 1) / BLOCK_WARPS, BLOCK_THREADS, l->accesses);
    for (uint64_t w = 0; w < l->warps; w++) {
        (void)fclose(l->warp[w]);
        at[w] = l->text[w];
        if (l->size[w])
            live[n++] = w;
    }
    while (n) {
        uint64_t k = (random = random_mix(random)) % n, w = live[k];
        char *end = strchr(at[w], '\n') + 1;
        (void)fwrite(at[w], 1, (size_t)(end - at[w]), out);
        at[w] = end;
        if (!*end)
            live[k] = live[--n];
    }
    for (uint64_t w = 0; w < l->warps; w++)
        free(l->text[w]);
    free(l->text);
    free(l->size);
    free((void *)l->warp);
    free((void *)at);
    free(live);
}

static void run_launch(struct recorded *r, uint32_t level, const char *kernel, FILE *out)
{
    const struct graph *g = r->graph;
    bool naive = r->pattern == NAIVE;
    uint64_t warps = naive ? (g->vertices + LANES - 1) / LANES : g->vertices;
    open_warps(&r->launch, warps);
    for (uint64_t w = 0; w < warps; w++)
        (naive ? naive_warp : vertex_warp)(r, w, level);
    close_warps(&r->launch, testing_text("%s_%s", kernel, patterns[r->pattern]), out);
}

/* The text of a search from the hub, or of one sweep in which no neighbour is new. Returns its launches. */
static uint32_t record(struct recorded *r, bool bfs, const char *path)
{
    const struct graph *g = r->graph;
    FILE *out = fopen(path, "w");
    uint32_t level = 0;
    bool more = true;
    r->label = calloc(g->vertices, sizeof *r->label);
    r->active = calloc(g->vertices, sizeof *r->active);
    for (uint64_t v = 0; bfs && v < g->vertices; v++)
        r->label[v] = UINT32_MAX;
    if (bfs)
        r->label[graph_hub(g)] = 0;
    for (; more; level++) {
        for (uint64_t v = 0; v < g->vertices; v++)
            r->active[v] = r->label[v] == level;
        run_launch(r, level, bfs ? "bfs" : "sweep", out);
        more = false;
        for (uint64_t v = 0; v < g->vertices; v++)
            more |= r->label[v] == level + 1;
    }
    free(r->label);
    free(r->active);
    (void)fclose(out);
    return level;
}

enum { COUNTS = 7 };
static const char *const names[COUNTS] = {"requests",     "requests_32",   "requests_64",    "requests_96",
                                          "requests_128", "payload_bytes", "host_dram_bytes"};

struct totals {
    int64_t value[COUNTS];
};

static int take_total(void *ctx, const struct store_value *v, size_t n)
{
    struct totals *t = ctx;
    for (int i = 0; i < COUNTS; i++)
        if (n >= 3 && v[1].s && strcmp(v[1].s, names[i]) == 0)
            t->value[i] = v[2].i;
    return 0;
}

/* What `derive requests --addr LIST` makes of a recording. */
static struct totals derived(const char *path, const struct recorded *r, uint32_t launches)
{
    struct totals totals = {{0}};
    struct program_counts counts;
    const struct derive_options only_list = {.first = r->list, .last = r->list + r->graph->elements * r->element - 1};
    struct store *in = testing_import(&read_accesses, path, true);
    ck_assert(store_complete(in)); /* every announced access was found */
    const struct derive_source source = {.store = in, .name = path};
    struct store *out = GIVES(store_create(testing_file("requests.db"), true, "test", &err));
    WORKS(derive_requests(&source, out, &only_list, &counts, &err));
    WORKS(store_finish(out, &err));
    store_close(out);
    store_close(in);
    ck_assert_uint_eq(counts.launches, launches);
    ck_assert_uint_gt(counts.left_out, counts.instructions); /* labels alone are as many */
    out = GIVES(store_open(testing_file("requests.db"), &err));
    WORKS(store_rows(out, "tlp_totals", take_total, &totals, &err));
    store_close(out);
    return totals;
}

/* What the engine counts for the graph. */
static struct totals replayed(const char *spec, const char *policy)
{
    struct replay_result result;
    struct totals totals;
    testing_replay(
        &result, (struct replay_request){.engine = engine_find("zerocopy"), .policy_list = policy, .threads = 1}, spec);
    for (int i = 0; i < COUNTS; i++)
        totals.value[i] = outcome_get(&result.runs[0], names[i])->whole;
    replay_release(&result);
    return totals;
}

static void compare(const struct graph *graph, int scale, bool bfs, enum pattern pattern, int element, int offset)
{
    struct recorded r = {
        .graph = graph, .pattern = pattern, .element = (uint64_t)element, .list = LIST + (uint64_t)offset};
    const char *path = testing_file("traversal.txt");
    uint32_t launches = record(&r, bfs, path);
    struct totals from_accesses = derived(path, &r, launches);
    const char *spec = testing_text("synth:%s,graph=kron,scale=%d,element=%d,base_offset=%d,reuse=none",
                                    bfs ? "bfs,root=auto" : "cc,iterations=1", scale, element, offset);
    struct totals from_graph = replayed(spec, patterns[pattern]);
    ck_assert_int_gt(from_graph.value[0], (int64_t)graph->vertices / 4);
    for (int i = 0; i < COUNTS; i++)
        ck_assert_msg(from_accesses.value[i] == from_graph.value[i],
                      "%s, %s: %s is %" PRId64 " by accesses, %" PRId64 " by the graph", spec, patterns[pattern],
                      names[i], from_accesses.value[i], from_graph.value[i]);
}

START_TEST(recorded_traversals_agree_with_the_graph_to_the_request)
{
    for (int scale = 8; scale <= 10; scale += 2) {
        struct graph graph;
        WORKS(graph_kron(scale, 16, 1, &graph, &err));
        for (int p = NAIVE; p <= ALIGNED; p++) {
            compare(&graph, scale, true, (enum pattern)p, 8, 0);
            compare(&graph, scale, true, (enum pattern)p, 4, 64);
            compare(&graph, scale, false, (enum pattern)p, 8, 8);
        }
        graph_release(&graph);
    }
}
END_TEST

TEST_MAIN("derive_traversal")
