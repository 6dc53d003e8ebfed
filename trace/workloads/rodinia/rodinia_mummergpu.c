/* rodinia-mummergpu: queries matched along a suffix tree, a thread for each; the least exact of Rodinia's programs
 * here.
 *
 * A query is the letter q, its bases and a zero byte. From each start whose rest is at least `match` bases long a
 * thread goes down the tree: CHILD of the node, NODE of the child, then letter by letter REF and the next letter, until
 * they differ or the edge ends; if the match is long enough it stores RESULT; then on behind the suffix link of the
 * edge's upper node, as much further down as was matched on the edge. All loads depend on each other; lanes that are
 * done with a loop wait for the others.
 * Node i lies in row 32 (i >> 17) + i mod 32, column (i mod 2^17) >> 5 of a texture of 4096 columns of 16 B.
 * reference=plain: base p is byte p' = p + 1; interleaved: byte 65536 (4 (p' >> 18) + p' mod 4) + (p' mod 2^18) / 4.
 * Queries are parts of a random genome, from places drawn evenly; a base is changed to one of the three others with a
 * chance of `errors`.
 * Worked example: 25 bases, match = 20: 6 starts, the first from the root: a node for each of some 10 levels, then base
 * by base. "AA" and its end: the root has the edges "A" (2) and end (3), node 2 has "A" and end (4) and end (5).
 * Uses and instructions: assumed; three behind a loop.
 * Source: Rodinia 3.1, cuda/mummergpu/src/mummergpu_kernel.cu mummergpuKernel, suffix-tree.cpp (numbering:
 * renumberTree; children; id2addr), common.cu (REORDER_REF is 0 where the Makefile does not set it: plain); sizes: the
 * F3FS artifact (NC_003997.20k.fna: 20,000 lines; 50,000 queries of 25 bases; match 20).
 * Differs: genome and queries are drawn, a genome has repeats; below level 16 Rodinia numbers five generations at a
 * time; textures are read like other memory; the kernel that prints the matches, and the search for reverse ones, are
 * left out. */
#include <string.h>

#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 256, TEXEL = 16, WIDTH = 4096, BLOCK_ROWS = 32, PITCH = 65536, GUARD = 6 };
enum { QUERY, QADDR, QLEN, NODE, CHILD, REF, RESULT };
enum { BASES = 4, END = 4, CHILDREN = 5, NONE = 0, ROOT = 1, NO_LETTER = 255, BODY_STEPS = 4, LINK = 1 << 30 };

/* The suffix tree of a genome, bases 0 to 3 (A, C, G, T) and 4 behind the last, which ends every suffix. A node stands
 * for the string from the root to it; nodes are numbered breadth first from 1 on, children in the order A, C, G, T,
 * end. */
struct tree {
    uint32_t nodes;
    uint8_t *text;
    struct node {
        uint32_t child[CHILDREN]; /* NONE: no such edge */
        uint32_t at, depth;       /* its string: `depth` characters from text[at] on, its first place */
        uint32_t up;              /* its parent; once it is known its suffix, and LINK */
    } * node;
};

struct mummergpu {
    struct layout layout;
    int64_t bases, queries, length, match, reference, seed;
    double errors;
    struct tree tree;
    uint8_t *letters; /* bases of all queries, one behind the other */
};

static const struct param mummergpu_keys[] = {
    PARAM_INT_ROW(mummergpu, bases, "", 1, 1 << 23, 1400000, "of the genome"),
    PARAM_INT_ROW(mummergpu, queries, "", 1, 1 << 22, 50000, "matched"),
    PARAM_INT_ROW(mummergpu, length, "bases", 1, 1000, 25, "of a query"),
    PARAM_INT_ROW(mummergpu, match, "bases", 1, 1000, 20, "that must match"),
    PARAM_REAL_ROW(mummergpu, errors, "", 0, 1, 0.02, "share of a query's bases that are not the genome's"),
    PARAM_CHOICE_ROW(mummergpu, reference, "plain|interleaved", 0, "how the genome lies in memory"),
    PARAM_INT_ROW(mummergpu, seed, "", 0, 0x1p53, 1, "of genome and queries"),
    RODINIA_KEYS("time of a warp's step, its data at hand")};

/* --- genome and queries --- */

/* A node's suffixes are a run of at[], ascending: child[0] is its first, child[1] how many, until it gets its children:
 * those that go on with the same character. other: room for as many. */
static void branch(struct tree *t, uint32_t v, uint32_t *at, uint32_t *other)
{
    uint32_t n = t->node[v].child[1], depth = t->node[v].depth, to = t->node[v].child[0], size[CHILDREN],
             next[CHILDREN];
    memset(t->node[v].child, 0, sizeof t->node[v].child);
    at += to;
    do {
        memset(size, 0, sizeof size);
        for (uint32_t i = 0; i < n; i++)
            size[t->text[at[i] + depth]]++;
    } while (size[t->text[at[0] + depth]] == n && ++depth);
    t->node[v].depth = depth;
    for (uint32_t c = 0, first = 0; c < CHILDREN; first += size[c++])
        next[c] = first;
    for (uint32_t i = 0; i < n; i++)
        other[next[t->text[at[i] + depth]]++] = at[i];
    memcpy(at, other, n * sizeof *at);
    for (uint32_t c = 0, first = 0; c < CHILDREN; first += size[c++])
        if (size[c])
            t->node[t->node[v].child[c] = ++t->nodes] =
                (struct node){.child = {to + first, size[c]}, .at = at[first], .depth = depth + 1, .up = v};
}

static int tree_init(struct tree *t, uint32_t bases, uint64_t seed, struct err *err)
{
    struct random r = {seed};
    uint32_t *at = mem_zalloc((size_t)bases + 1, 2 * sizeof *at, err);
    t->text = at ? mem_zalloc((size_t)bases + 1, 1, err) : NULL;
    t->node = t->text ? mem_zalloc(2 * (size_t)bases + 3, sizeof *t->node, err) : NULL;
    for (uint32_t i = 0; i <= bases && t->node; i++) {
        t->text[i] = i < bases ? (uint8_t)random_below(&r, BASES) : END;
        at[i] = i;
    }
    if (t->node)
        t->node[t->nodes = ROOT] = (struct node){.child = {0, bases + 1}, .up = ROOT | LINK};
    for (uint32_t v = ROOT; t->node && v <= t->nodes; v++)
        if (t->node[v].child[1] > 1)
            branch(t, v, at, at + bases + 1);
        else {
            t->node[v].depth = bases + 1 - t->node[v].at;
            t->node[v].child[0] = t->node[v].child[1] = NONE;
        }
    free(at);
    return t->node ? 0 : -1;
}

/* The inner node for the string of an inner node without its first character; the root's is the root. Below that of its
 * parent; whichever thread finds it keeps the same. */
static uint32_t suffix(const struct tree *t, uint32_t node)
{
    struct node *v = &t->node[node];
    uint32_t up = __atomic_load_n(&v->up, __ATOMIC_RELAXED);
    if (up & LINK)
        return up & ~(uint32_t)LINK;
    uint32_t at = suffix(t, up);
    while (t->node[at].depth < v->depth - 1)
        at = t->node[at].child[t->text[v->at + 1 + t->node[at].depth]];
    __atomic_store_n(&v->up, at | LINK, __ATOMIC_RELAXED);
    return at;
}

static int draw_queries(struct mummergpu *m, uint64_t seed, struct err *err)
{
    struct random r = {seed};
    uint8_t *letter = m->letters = mem_zalloc(m->queries, m->length, err);
    for (int64_t q = 0; q < m->queries && letter; q++) {
        const uint8_t *from = m->tree.text + random_below(&r, (uint32_t)(m->bases - m->length + 1));
        for (int64_t i = 0; i < m->length; i++) {
            bool wrong = random_chance(&r, m->errors);
            *letter++ = wrong ? (uint8_t)((from[i] + 1 + random_below(&r, 3)) % BASES) : from[i];
        }
    }
    return letter ? 0 : -1;
}

/* --- the walk of a warp along the tree, in lockstep --- */

struct step {
    uint8_t array;   /* only RESULT is stored */
    uint32_t active; /* lanes */
    uint32_t index[PROGRAM_LANES];
};

struct walk {
    struct body {
        uint32_t count;
        struct step step[BODY_STEPS];
    } * body; /* NULL: not there */
    size_t bodies, cap;
};

struct walking {
    struct walk *walk;
    const struct mummergpu *m;
    uint32_t first, from; /* query of lane 0; letter that the walk starts behind */
    struct lane {
        uint32_t node, above;    /* the node reached; the one before it */
        uint32_t matched;        /* letters, q included */
        uint32_t skip;           /* letters known to match below the node */
        uint32_t at, start, end; /* base compared next; first and last of the edge */
    } lane[PROGRAM_LANES];
    bool within, failed; /* the last body is not at its end; there is no room for more */
    struct err *err;
};

/* The element of the array for lane l. */
static uint32_t place(const struct walking *w, unsigned array, uint32_t l)
{
    const struct lane *k = &w->lane[l];
    uint32_t length = (uint32_t)w->m->length, i = k->node, p = k->at + 1; /* a letter s goes before the bases */
    if (array == QUERY)
        return (w->first + l) * (length + 2) + w->from + k->matched;
    if (array == RESULT)
        return (w->first + l) * (length - (uint32_t)w->m->match + 1) + w->from;
    if (array == REF)
        return w->m->reference ? PITCH * ((p >> 18) * 4 + p % 4) + (p & 0x3ffff) / 4 : p;
    return ((i >> 17) * BLOCK_ROWS + i % BLOCK_ROWS) * WIDTH + (i & 0x1ffff) / BLOCK_ROWS;
}

/* The next access; last: of its body. */
static void put(struct walking *w, unsigned array, uint32_t lanes, bool last)
{
    struct walk *k = w->walk;
    if (!w->within && !w->failed) {
        w->failed = mem_grow((void **)&k->body, &k->cap, k->bodies + 1, sizeof *k->body, w->err);
        if (!w->failed)
            k->body[k->bodies++].count = 0;
    }
    w->within = !last;
    if (w->failed)
        return;
    struct step *s = &k->body[k->bodies - 1].step[k->body[k->bodies - 1].count++];
    s->array = (uint8_t)array;
    s->active = lanes;
    EMIT_LANES (l, lanes)
        s->index[l] = place(w, array, l);
}

/* The letter that a lane looks at; NO_LETTER behind its last base. */
static uint8_t letter(const struct walking *w, uint32_t l)
{
    uint32_t i = w->from + w->lane[l].matched;
    return i > w->m->length ? NO_LETTER : w->m->letters[(size_t)(w->first + l) * (size_t)w->m->length + i - 1];
}

static uint32_t with_letter(const struct walking *w, uint32_t lanes)
{
    EMIT_LANES (l, lanes)
        if (letter(w, l) == NO_LETTER)
            lanes &= ~(1u << l);
    return lanes;
}

/* Store the matches that are long enough. */
static void put_results(struct walking *w, uint32_t lanes)
{
    EMIT_LANES (l, lanes)
        if (w->lane[l].matched <= w->m->match)
            lanes &= ~(1u << l);
    if (lanes)
        put(w, RESULT, lanes, false);
}

/* Begin the edge to the node that has just been read. */
static void enter(const struct tree *t, struct lane *l)
{
    uint32_t above = t->node[l->above].depth, edge = t->node[l->node].depth - above;
    uint32_t known = l->skip == 0 ? 1 : l->skip < edge ? l->skip : edge;
    l->start = t->node[l->node].at + above;
    l->end = l->start + edge - 1;
    l->at = l->start + known;
    l->matched += known;
    l->skip -= l->skip ? known : 0;
}

/* Compare along the edges; the lanes whose letters differed. */
static uint32_t follow(struct walking *w, uint32_t lanes)
{
    uint32_t differ = 0;
    for (;;) {
        EMIT_LANES (l, lanes)
            if (w->lane[l].at > w->lane[l].end)
                lanes &= ~(1u << l);
        uint32_t on = lanes = with_letter(w, lanes);
        if (!on)
            return differ;
        EMIT_LANES (l, on)
            if (w->m->tree.text[w->lane[l].at] != letter(w, l))
                lanes &= ~(1u << l);
        put(w, REF, on, !lanes);
        differ |= on & ~lanes;
        EMIT_LANES (l, lanes) {
            w->lane[l].matched++;
            w->lane[l].at++;
        }
        if (lanes)
            put(w, QUERY, lanes, true);
    }
}

/* One edge down in each lane; those that go on behind it. *stuck gets those without an edge. */
static uint32_t descend(struct walking *w, uint32_t lanes, uint32_t *stuck)
{
    uint32_t no_edge = 0;
    put(w, CHILD, lanes, false);
    EMIT_LANES (l, lanes) {
        struct lane *k = &w->lane[l];
        k->above = k->node;
        k->node = w->m->tree.node[k->node].child[letter(w, l)];
        __builtin_prefetch(&w->m->tree.node[k->node]);
        no_edge |= (uint32_t)(k->node == NONE) << l;
    }
    put_results(w, no_edge);
    *stuck |= no_edge;
    lanes &= ~no_edge;
    w->within = lanes;
    if (!lanes)
        return 0;
    put(w, NODE, lanes, false);
    EMIT_LANES (l, lanes)
        enter(&w->m->tree, &w->lane[l]);
    put(w, QUERY, lanes, true);
    return with_letter(w, lanes & ~follow(w, lanes));
}

/* All lanes, from letter w->from on. */
static void match_from(struct walking *w, uint32_t lanes)
{
    uint32_t stuck = 0;
    EMIT_LANES (l, lanes)
        if (w->lane[l].node == NONE || w->lane[l].matched < 1)
            w->lane[l] = (struct lane){.node = ROOT, .above = ROOT, .matched = 1};
    put(w, QUERY, lanes, true);
    for (uint32_t on = with_letter(w, lanes); on;)
        on = descend(w, on, &stuck);
    put_results(w, lanes & ~stuck);
    EMIT_LANES (l, lanes)
        w->lane[l].node = w->lane[l].above;
    put(w, NODE, lanes, true);
    EMIT_LANES (l, lanes) {
        struct lane *k = &w->lane[l];
        k->skip = stuck >> l & 1 ? 0 : k->at - k->start;
        k->matched -= k->skip + 1;
        k->node = suffix(&w->m->tree, k->above);
        __builtin_prefetch(&w->m->tree.node[k->node]);
    }
}

/* What the warp of queries from `first` on does: a zeroed walk, to be released. */
static int walk_init(struct walk *walk, const struct mummergpu *m, uint32_t first, struct err *err)
{
    struct walking w = {.walk = walk, .m = m, .first = first, .err = err};
    uint32_t lanes = first < m->queries ? program_first_lanes(m->queries - first) : 0;
    for (; lanes && !w.failed && w.from + m->match <= m->length; w.from++)
        match_from(&w, lanes);
    return w.failed ? -1 : 0;
}

static void walk_release(struct walk *walk)
{
    free(walk->body);
    memset(walk, 0, sizeof *walk);
}

/* --- a run: the walks of the warps under way --- */

struct run {
    struct layout_run layout_run;
    uint64_t warps;
    struct walk walk[]; /* of each warp */
};

static void *run_open(const void *state, struct err *err)
{
    uint64_t warps = program_warps(&((const struct layout *)state)->kernel[0].launch);
    struct run *r = mem_zalloc(1, sizeof *r + warps * sizeof *r->walk, err);
    if (r)
        r->warps = warps;
    return r;
}

static void run_close(void *run)
{
    struct run *r = run;
    for (uint64_t i = 0; i < r->warps; i++)
        walk_release(&r->walk[i]);
    free(r);
}

/* Body 0: the query's length and place; then one for each step of the longest walk. */
static int match(struct emit *e)
{
    static const uint8_t bytes[] = {[QUERY] = 1, [NODE] = TEXEL, [CHILD] = TEXEL, [REF] = 1, [RESULT] = 8};
    struct walk *w = &((struct run *)e->run)->walk[e->at.thread / PROGRAM_LANES];
    if (e->index == 0) {
        emit_load(e, QLEN, e->at.thread, GUARD, 1);
        emit_load(e, QADDR, e->at.thread, 2, 1);
        emit_hoist(e, 0);
        return emit_end(e, 0);
    }
    if (!w->body && walk_init(w, e->state, (uint32_t)e->at.thread, e->err))
        return -1;
    if (e->index > w->bodies) {
        walk_release(w);
        return 0;
    }
    const struct body *b = &w->body[e->index - 1];
    for (const struct step *s = b->step; s < b->step + b->count; s++) {
        int64_t index[PROGRAM_LANES];
        struct emit here = emit_of(e, bytes[s->array]);
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            index[l] = s->index[l];
        here.active = s->active;
        struct program_access *a = emit_gather(&here, s->array, index, 2, 1);
        if (s->array == RESULT)
            emit_as(a, RECORD_WRITE);
    }
    return emit_end(e, 3);
}

/* --- memory and launch --- */

static void mummergpu_close(void *state)
{
    struct mummergpu *m = state;
    free(m->tree.text);
    free(m->tree.node);
    free(m->letters);
    free(m);
}

static int mummergpu_init(struct mummergpu *m, struct err *err)
{
    uint64_t q = m->queries, end = m->bases + 2; /* with s and the end */
    uint32_t threads = q < THREADS ? (uint32_t)q : THREADS;
    if (m->match > m->length || m->length > m->bases)
        return err_set(err, "match %lld, length %lld, bases %lld; expected none longer than the next",
                       (long long)m->match, (long long)m->length, (long long)m->bases);
    if (tree_init(&m->tree, (uint32_t)m->bases, m->seed, err) || draw_queries(m, m->seed + 1, err))
        return -1;
    uint64_t texels = layout_blocks((uint64_t)m->tree.nodes + 1, WIDTH * BLOCK_ROWS) * BLOCK_ROWS * WIDTH * TEXEL;
    LAYOUT_ARRAYS(&m->layout, {"+queries", q * (m->length + 2)}, {"+queryAddrs|queryLengths", q * 4},
                  {"+nodes|children", texels},
                  {"+reference", m->reference ? (layout_blocks(end, PITCH) + 4) * PITCH : end},
                  {"match_coords", q * (m->length - m->match + 1) * 8});
    layout_kernel(&m->layout, match, "mummergpuKernel", layout_blocks(q, threads), threads, 31, 0);
    layout_guard(&m->layout, q, GUARD);
    m->layout.run_open = run_open;
    m->layout.run_close = run_close;
    return 0;
}

RODINIA(mummergpu, "mummergpu", "mummergpu", "queries matched along a genome's suffix tree, after the F3FS artifact",
        mummergpu_close);
