#include "trace/workloads/rodinia/parts/genome_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"

enum { KEY_BASES = 32, DIGIT = 1 << 16 };

struct suffix {
    uint64_t key; /* the first 32 bases, two bits each; what is missing counts as A */
    uint32_t at;
};

/* Characters that two suffixes have in common. */
static uint32_t common(const struct genome_tree *t, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    while (t->text[a + n] == t->text[b + n] && t->text[a + n] != GENOME_END)
        n++;
    return n;
}

/* The end comes before every base. */
static bool before(const struct genome_tree *t, const struct suffix *a, const struct suffix *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    uint32_t n = common(t, a->at, b->at);
    uint8_t x = t->text[a->at + n], y = t->text[b->at + n];
    return x == GENOME_END || (y != GENOME_END && x < y);
}

/* By 16 bits of the key. */
static void sort_digit(const struct suffix *from, struct suffix *to, uint32_t n, unsigned shift, uint32_t *count)
{
    memset(count, 0, (DIGIT + 1) * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
        count[(from[i].key >> shift) % DIGIT + 1]++;
    for (uint32_t i = 0; i < DIGIT; i++)
        count[i + 1] += count[i];
    for (uint32_t i = 0; i < n; i++)
        to[count[(from[i].key >> shift) % DIGIT]++] = from[i];
}

static void sort(const struct genome_tree *t, struct suffix *s, struct suffix *other, uint32_t *count)
{
    uint64_t key = 0;
    for (uint32_t i = t->bases; i-- > 0;) {
        key = key >> 2 | (uint64_t)t->text[i] << (2 * KEY_BASES - 2);
        s[i] = (struct suffix){key, i};
    }
    for (unsigned shift = 0; shift < 64; shift += 32) {
        sort_digit(s, other, t->bases, shift, count);
        sort_digit(other, s, t->bases, shift + 16, count);
    }
    for (uint32_t i = 1; i < t->bases; i++) { /* among equal keys */
        struct suffix moved = s[i];
        uint32_t k = i;
        for (; k > 0 && before(t, &moved, &s[k - 1]); k--)
            s[k] = s[k - 1];
        s[k] = moved;
    }
}

/* --- the tree, from the sorted suffixes --- */

static uint32_t add(struct genome_tree *t, uint32_t at, uint32_t depth, uint32_t parent)
{
    t->node[++t->nodes] = (struct genome_node){.at = at, .depth = depth, .parent = parent};
    return t->nodes;
}

/* Add a suffix that has `same` characters in common with the one before it, whose leaf is `last`; its leaf. */
static uint32_t add_suffix(struct genome_tree *t, uint32_t at, uint32_t same, uint32_t last)
{
    uint32_t below = last, up = t->node[last].parent;
    while (t->node[up].depth > same) {
        below = up;
        up = t->node[up].parent;
    }
    if (t->node[up].depth < same) { /* split the edge */
        uint32_t middle = add(t, at, same, up);
        t->node[below].parent = middle;
        up = middle;
    }
    return add(t, at, t->bases + 1 - at, up);
}

static void grow(struct genome_tree *t, const struct suffix *s)
{
    (void)add(t, 0, 0, GENOME_NONE);
    uint32_t last = add(t, t->bases, 1, GENOME_ROOT); /* the end alone comes first */
    for (uint32_t i = 0; i < t->bases; i++)
        last = add_suffix(t, s[i].at, i ? common(t, s[i - 1].at, s[i].at) : 0, last);
}

static void link_children(struct genome_tree *t)
{
    for (uint32_t v = GENOME_ROOT + 1; v <= t->nodes; v++) {
        struct genome_node *parent = &t->node[t->node[v].parent];
        parent->child[t->text[t->node[v].at + parent->depth]] = v;
    }
}

/* Put the nodes in breadth-first order: `order` gets the old numbers, `number` the new ones. */
static void renumber(struct genome_tree *t, struct genome_node *to, uint32_t *order, uint32_t *number)
{
    uint32_t end = GENOME_ROOT;
    order[end++] = GENOME_ROOT;
    for (uint32_t i = GENOME_ROOT; i < end; i++)
        for (unsigned c = 0; c < GENOME_CHILDREN; c++)
            if (t->node[order[i]].child[c])
                order[end++] = t->node[order[i]].child[c];
    for (uint32_t i = GENOME_ROOT; i < end; i++)
        number[order[i]] = i;
    number[GENOME_NONE] = GENOME_NONE;
    for (uint32_t i = GENOME_ROOT; i < end; i++) {
        to[i] = t->node[order[i]];
        to[i].parent = number[to[i].parent];
        for (unsigned c = 0; c < GENOME_CHILDREN; c++)
            to[i].child[c] = number[to[i].child[c]];
    }
    for (uint32_t i = end - 1; i > GENOME_ROOT; i--) /* the first place of each string */
        if (to[i].at < to[to[i].parent].at)
            to[to[i].parent].at = to[i].at;
    free(t->node);
    t->node = to;
}

static int build(struct genome_tree *t, struct err *err)
{
    size_t most = 2 * (size_t)t->bases + 3;
    struct suffix *s = mem_zalloc(t->bases, 2 * sizeof *s, err);
    uint32_t *count = s ? mem_zalloc(DIGIT + 1, sizeof *count, err) : NULL;
    t->node = count ? mem_zalloc(most, sizeof *t->node, err) : NULL;
    if (t->node) {
        sort(t, s, s + t->bases, count);
        grow(t, s);
        link_children(t);
    }
    free(count);
    free(s);
    struct genome_node *to = t->node ? mem_zalloc((size_t)t->nodes + 1, sizeof *to, err) : NULL;
    uint32_t *order = to ? mem_zalloc(2 * ((size_t)t->nodes + 1), sizeof *order, err) : NULL;
    if (!order) {
        free(to);
        return -1;
    }
    renumber(t, to, order, order + t->nodes + 1);
    free(order);
    return 0;
}

int genome_tree_init(struct genome_tree *t, uint32_t bases, uint64_t seed, struct err *err)
{
    struct random r = {seed};
    *t = (struct genome_tree){.bases = bases};
    t->text = mem_zalloc((size_t)bases + 1, 1, err);
    if (!t->text)
        return -1;
    for (uint32_t i = 0; i < bases; i++)
        t->text[i] = (uint8_t)random_below(&r, GENOME_BASES);
    t->text[bases] = GENOME_END;
    return build(t, err);
}

void genome_tree_release(struct genome_tree *t)
{
    free(t->text);
    free(t->node);
    memset(t, 0, sizeof *t);
}

uint32_t genome_tree_suffix(const struct genome_tree *t, uint32_t node)
{
    const struct genome_node *v = &t->node[node];
    uint32_t at = GENOME_ROOT;
    while (v->depth && t->node[at].depth < v->depth - 1)
        at = t->node[at].child[t->text[v->at + 1 + t->node[at].depth]];
    return at;
}
