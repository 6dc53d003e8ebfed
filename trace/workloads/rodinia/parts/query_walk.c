#include "trace/workloads/rodinia/parts/query_walk.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { LANES = PROGRAM_LANES, LETTER_END = 255 };

/* A lane: where its walk stands. */
struct lane {
    const uint8_t *query;
    uint32_t node, above;    /* the node reached; the one before it */
    uint32_t matched;        /* letters, q included */
    uint32_t skip;           /* letters known to match below the node */
    uint32_t at, start, end; /* base compared next; first and last of the edge */
};

struct walking {
    struct query_walk *walk;
    const struct query_set *set;
    uint32_t first, from; /* query of lane 0; letter that the walk starts behind */
    struct lane lane[LANES];
    struct query_access *put; /* the last one */
    struct err *err;
    bool failed; /* nothing is put any more, but into: */
    struct query_access none;
};

static struct query_access *put(struct walking *w, enum query_array array, uint32_t active, bool last)
{
    struct query_walk *k = w->walk;
    w->put = &w->none;
    w->failed = w->failed || mem_grow((void **)&k->list, &k->cap, k->n + 1, sizeof *k->list, w->err) ||
                mem_grow((void **)&k->body, &k->body_cap, k->bodies + 1, sizeof *k->body, w->err);
    if (w->failed)
        return w->put;
    if (k->n == 0 || k->list[k->n - 1].last)
        k->body[k->bodies++] = k->n;
    w->put = &k->list[k->n++];
    *w->put = (struct query_access){.array = (uint8_t)array, .active = active, .last = last};
    return w->put;
}

#define EACH_LANE(l, mask)                                                                                             \
    for (uint32_t rest_ = (mask), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), 1); rest_ &= rest_ - 1)

/* The letter that a lane looks at; LETTER_END behind its last base. */
static uint8_t letter(const struct walking *w, const struct lane *l)
{
    uint32_t i = w->from + l->matched;
    return i > w->set->length ? LETTER_END : l->query[i - 1];
}

static uint32_t with_letter(const struct walking *w, uint32_t lanes)
{
    uint32_t mask = 0;
    EACH_LANE(l, lanes)
    mask |= (uint32_t)(letter(w, &w->lane[l]) != LETTER_END) << l;
    return mask;
}

static void put_letters(struct walking *w, uint32_t lanes)
{
    struct query_access *a = put(w, QUERY_LETTER, lanes, true);
    EACH_LANE(l, lanes)
    a->index[l] = (w->first + l) * (w->set->length + 2) + w->from + w->lane[l].matched;
}

static void put_nodes(struct walking *w, enum query_array array, uint32_t lanes, bool above, bool last)
{
    struct query_access *a = put(w, array, lanes, last);
    EACH_LANE(l, lanes)
    a->index[l] = above ? w->lane[l].above : w->lane[l].node;
}

/* Store the matches that are long enough. */
static void put_results(struct walking *w, uint32_t lanes)
{
    uint32_t enough = 0;
    EACH_LANE(l, lanes)
    enough |= (uint32_t)(w->lane[l].matched > w->set->match) << l;
    struct query_access *a = enough ? put(w, QUERY_RESULT, enough, false) : NULL;
    EACH_LANE(l, enough)
    a->index[l] = (w->first + l) * (w->set->length - w->set->match + 1) + w->from;
}

/* Begin the edge to the node that has just been read. */
static void enter(const struct genome_tree *t, struct lane *l)
{
    uint32_t edge = t->node[l->node].depth - t->node[l->above].depth;
    l->start = t->node[l->node].at + t->node[l->above].depth;
    l->end = l->start + edge - 1;
    uint32_t known = l->skip < edge ? l->skip : edge;
    l->at = l->start + (l->skip ? known : 1);
    l->matched += l->skip ? known : 1;
    l->skip -= known;
}

static uint32_t on_edge(const struct walking *w, uint32_t lanes)
{
    uint32_t mask = 0;
    EACH_LANE(l, lanes)
    mask |= (uint32_t)(w->lane[l].at <= w->lane[l].end) << l;
    return with_letter(w, mask);
}

/* Compare along the edges; *differ gets the lanes whose letters did. */
static void follow(struct walking *w, uint32_t lanes, uint32_t *differ)
{
    for (uint32_t on = on_edge(w, lanes); on;) {
        uint32_t same = 0;
        EACH_LANE(l, on)
        same |= (uint32_t)(w->set->tree->text[w->lane[l].at] == letter(w, &w->lane[l])) << l;
        struct query_access *a = put(w, QUERY_REFERENCE, on, !same);
        EACH_LANE(l, on)
        a->index[l] = w->lane[l].at;
        EACH_LANE(l, same)
        {
            w->lane[l].matched++;
            w->lane[l].at++;
        }
        *differ |= on & ~same;
        if (same)
            put_letters(w, same);
        on = on_edge(w, same);
    }
}

/* One edge down in each lane; *lanes: those that go on behind it. *stuck gets those without an edge. */
static void descend(struct walking *w, uint32_t *lanes, uint32_t *stuck)
{
    uint32_t no_edge = 0, differ = 0;
    put_nodes(w, QUERY_CHILD, *lanes, false, false);
    EACH_LANE(l, *lanes)
    {
        struct lane *k = &w->lane[l];
        k->above = k->node;
        k->node = w->set->tree->node[k->node].child[letter(w, k)];
        no_edge |= (uint32_t)(k->node == GENOME_NONE) << l;
    }
    put_results(w, no_edge);
    *lanes &= ~no_edge;
    *stuck |= no_edge;
    w->put->last = !*lanes;
    if (!*lanes)
        return;
    put_nodes(w, QUERY_NODE, *lanes, false, false);
    EACH_LANE(l, *lanes)
    enter(w->set->tree, &w->lane[l]);
    put_letters(w, *lanes);
    follow(w, *lanes, &differ);
    *lanes = with_letter(w, *lanes & ~differ);
}

/* All lanes, from letter w->from on. */
static void start(struct walking *w, uint32_t lanes)
{
    uint32_t stuck = 0;
    EACH_LANE(l, lanes)
    {
        struct lane *k = &w->lane[l];
        if (k->node == GENOME_NONE || k->matched < 1) {
            k->node = k->above = GENOME_ROOT;
            k->matched = 1;
            k->skip = 0;
        }
    }
    put_letters(w, lanes);
    for (uint32_t on = with_letter(w, lanes); on;)
        descend(w, &on, &stuck);
    put_results(w, lanes & ~stuck);
    put_nodes(w, QUERY_NODE, lanes, true, true);
    EACH_LANE(l, lanes)
    {
        struct lane *k = &w->lane[l];
        k->skip = stuck >> l & 1 ? 0 : k->at - k->start;
        k->matched -= k->skip + 1;
        k->node = genome_tree_suffix(w->set->tree, k->above);
    }
}

int query_walk_init(struct query_walk *walk, const struct query_set *set, uint32_t first, struct err *err)
{
    struct walking w = {.walk = walk, .set = set, .first = first, .err = err};
    uint32_t lanes = first < set->queries ? program_first_lanes(set->queries - first) : 0;
    walk->n = walk->bodies = 0;
    EACH_LANE(l, lanes)
    w.lane[l].query = set->letters + (size_t)(first + l) * set->length;
    for (; lanes && !w.failed && w.from + set->match <= set->length; w.from++)
        start(&w, lanes);
    return w.failed ? -1 : 0;
}

void query_walk_release(struct query_walk *walk)
{
    free(walk->list);
    free(walk->body);
    memset(walk, 0, sizeof *walk);
}
