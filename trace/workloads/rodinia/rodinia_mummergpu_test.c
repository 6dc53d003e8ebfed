#include "trace/base/random.h"
#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { QUERY, QADDR, QLEN, NODE, CHILD, REF, RESULT, NODES = 8000, THREADS = 256 };

/* A suffix tree by inserting one suffix after the other, and its numbers. */
static struct {
    uint32_t n, count;
    uint8_t text[2048]; /* 4: the end */
    struct {
        uint32_t start, end, child[5], depth, number; /* edge: text[start..end]; depth: string's */
    } node[NODES];
} tree;

static uint32_t new_node(uint32_t start, uint32_t end, uint32_t depth)
{
    ck_assert_uint_lt(++tree.count, NODES);
    memset(&tree.node[tree.count], 0, sizeof *tree.node);
    tree.node[tree.count].start = start;
    tree.node[tree.count].end = end;
    tree.node[tree.count].depth = depth;
    return tree.count;
}

static void insert(uint32_t suffix)
{
    uint32_t at = 1, i = suffix;
    for (;;) {
        uint32_t c = tree.text[i], below = tree.node[at].child[c], k = 0;
        if (!below) {
            tree.node[at].child[c] = new_node(i, tree.n, tree.n + 1 - suffix);
            return;
        }
        uint32_t edge = tree.node[below].end - tree.node[below].start + 1;
        while (k < edge && tree.text[tree.node[below].start + k] == tree.text[i + k])
            k++;
        i += k;
        if (k == edge) {
            at = below;
            continue;
        }
        uint32_t start = tree.node[below].start;
        uint32_t middle = new_node(start, start + k - 1, tree.node[at].depth + k);
        tree.node[below].start = start + k;
        tree.node[middle].child[tree.text[start + k]] = below;
        tree.node[at].child[c] = middle;
        at = middle;
    }
}

static void grow(uint32_t bases, uint64_t seed)
{
    static uint32_t queue[NODES];
    struct random r = {seed};
    uint32_t end = 1;
    tree.n = bases;
    tree.count = 0;
    for (uint32_t i = 0; i < bases; i++)
        tree.text[i] = (uint8_t)random_below(&r, 4);
    tree.text[bases] = 4;
    (void)new_node(0, 0, 0);
    for (uint32_t i = 0; i <= bases; i++)
        insert(i);
    queue[0] = 1;
    for (uint32_t i = 0; i < end; i++) {
        tree.node[queue[i]].number = i + 1;
        for (int c = 0; c < 5; c++)
            if (tree.node[queue[i]].child[c])
                queue[end++] = tree.node[queue[i]].child[c];
    }
}

/* The node for a string of `depth` characters from text[p] on. */
static uint32_t find(uint32_t p, uint32_t depth)
{
    uint32_t at = 1;
    while (tree.node[at].depth < depth)
        at = tree.node[at].child[tree.text[p + tree.node[at].depth]];
    ck_assert_uint_eq(tree.node[at].depth, depth);
    return at;
}

static int64_t texel(uint32_t node)
{
    int64_t id = tree.node[node].number, bigx = id & 0x1ffff, bigy = id >> 17;
    return (((bigy << 5) + (bigx & 31)) * 4096 + (bigx >> 5)) * 16;
}

struct query {
    struct thread t;
    int64_t number, length, match;
    bool interleaved;
    char letters[64];
};

/* Lanes are together in a start, a loop over edges, a loop over an edge's letters. */
static void at(struct query *q, int64_t start, int64_t edge, int64_t base)
{
    q->t.when = 100 + (((uint64_t)start * 200 + (uint64_t)edge) * 200 + (uint64_t)base) * 8;
}

static int letter(struct query *q, int64_t i)
{
    thread_does(&q->t, true, RECORD_READ, QUERY, q->number * (q->length + 2) + i, 1);
    return q->letters[i];
}

static void result(struct query *q, int64_t start, int64_t matched)
{
    thread_does(&q->t, matched > q->match, RECORD_WRITE, RESULT, 8 * (q->number * (q->length - q->match + 1) + start),
                8);
}

static int reference(struct query *q, int64_t base)
{
    int64_t p = base + 1, x = p & 0x3ffff;
    int64_t byte = q->interleaved ? 65536 * (((p >> 18) << 2) + (x & 3)) + (x >> 2) : p;
    thread_does(&q->t, true, RECORD_READ, REF, byte, 1);
    return "ACGT$"[tree.text[base]];
}

/* The kernel's loops for one thread. */
static void match(struct query *q)
{
    uint32_t cur = 0, prev = 1;
    int64_t mustmatch = 0, qml = 0;
    reads(&q->t, true, QLEN, q->number);
    reads(&q->t, true, QADDR, q->number);
    for (int64_t s = 0; s <= q->length - q->match; s++) {
        int64_t edges = 0, refpos = 0, start = 0;
        bool no_edge = false;
        if (cur == 0 || qml < 1) {
            cur = 1;
            qml = 1;
            mustmatch = 0;
        }
        at(q, s, 0, 0);
        int c = letter(q, s + qml);
        while (c) {
            at(q, s, ++edges, 0);
            thread_does(&q->t, true, RECORD_READ, CHILD, texel(cur), 16);
            prev = cur;
            cur = tree.node[cur].child[strchr("ACGT", c) - "ACGT"];
            no_edge = cur == 0;
            if (no_edge) {
                result(q, s, qml);
                break;
            }
            q->t.when++;
            thread_does(&q->t, true, RECORD_READ, NODE, texel(cur), 16);
            start = tree.node[cur].start;
            int64_t end = tree.node[cur].end, edge = end - start + 1;
            if (mustmatch) {
                refpos = start + mustmatch < end + 1 ? start + mustmatch : end + 1;
                qml += edge < mustmatch ? edge : mustmatch;
                mustmatch = mustmatch > edge ? mustmatch - edge : 0;
            } else {
                qml++;
                refpos = start + 1;
            }
            c = letter(q, s + qml);
            int64_t base = 0;
            bool differs = false;
            while (refpos <= end && c && !differs) {
                at(q, s, edges, ++base);
                differs = reference(q, refpos) != c;
                if (differs)
                    break;
                qml++;
                refpos++;
                c = letter(q, s + qml);
            }
            if (differs)
                break;
        }
        at(q, s, 199, 0);
        if (no_edge) {
            qml--;
            mustmatch = 0;
            q->t.when++;
        } else {
            result(q, s, qml);
            mustmatch = refpos - start;
            qml -= mustmatch + 1;
        }
        thread_does(&q->t, true, RECORD_READ, NODE, texel(prev), 16);
        uint32_t depth = tree.node[prev].depth, leaf = prev; /* any suffix below: its place in the text */
        while (tree.node[leaf].end != tree.n)
            for (int k = 0; k < 5; k++)
                if (tree.node[leaf].child[k]) {
                    leaf = tree.node[leaf].child[k];
                    break;
                }
        cur = depth ? find(tree.n + 1 - tree.node[leaf].depth + 1, depth - 1) : 1;
    }
}

static void compare(uint32_t bases, uint32_t queries, int64_t length, int64_t least, double errors, bool interleaved)
{
    char spec[200];
    struct workload w;
    struct program_notes notes = {0};
    (void)snprintf(spec, sizeof spec,
                   "rodinia-mummergpu,bases=%u,queries=%u,length=%lld,match=%lld,errors=%g,reference=%s,seed=%u", bases,
                   queries, (long long)length, (long long)least, errors, interleaved ? "interleaved" : "plain", bases);
    struct program program = program_opened(&w, spec, 0, 0);
    struct query q = {.length = length, .match = least, .interleaved = interleaved};
    struct random r = {(uint64_t)bases + 1};
    grow(bases, bases);
    for (q.number = 0; q.number < queries; q.number++) {
        uint32_t from = random_below(&r, bases - (uint32_t)length + 1);
        q.letters[0] = 'q';
        for (int64_t i = 0; i < length; i++) {
            uint32_t base = tree.text[from + i];
            if (random_chance(&r, errors))
                base = (base + 1 + random_below(&r, 3)) % 4;
            q.letters[i + 1] = "ACGT"[base];
        }
        q.letters[length + 1] = 0;
        q.t = (struct thread){.notes = &notes, .program = &program, .threads = queries < THREADS ? queries : THREADS};
        q.t.block = (uint64_t)q.number / q.t.threads;
        q.t.thread = (uint32_t)q.number % q.t.threads;
        match(&q);
    }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(queries_follow_the_tree_as_the_kernel_does)
{
    compare(1000, 100, 25, 20, 0.02, false);
    compare(2000, 300, 25, 20, 0.3, true);
    compare(30, 9, 12, 4, 0.5, false);
    compare(300, 33, 20, 1, 1, false);
    compare(7, 1, 7, 7, 0, false);
    compare(1, 3, 1, 1, 0.5, false);
    compare(500, 64, 40, 30, 0, false);
}
END_TEST

START_TEST(every_value_is_waited_for)
{
    uint32_t ptx, hoisted;
    ck_assert_uint_eq(stalls_of("rodinia-mummergpu,bases=5000,queries=100", 0, 0, 0, &ptx), 1 << 1);
    ck_assert_uint_eq(stalls_of("rodinia-mummergpu,bases=5000,queries=100,order=hoisted", 0, 0, 0, &hoisted), 0);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(stalls_of("rodinia-mummergpu,bases=5000,queries=100", 0, 0, 2, &ptx), 1 << 1 | 1 << 2);
}
END_TEST

START_TEST(queries_longer_than_the_genome_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-mummergpu,bases=20"), "none longer than the next"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-mummergpu,match=26"), "none longer than the next"));
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-mummergpu,bases=1000,queries=10", 270, 40, 40, 4096 * 32 * 16, 4096 * 32 * 16, 1002, 480);
    CHECK_ARRAYS("rodinia-mummergpu,bases=1000,queries=10,reference=interleaved", 270, 40, 40, 4096 * 32 * 16,
                 4096 * 32 * 16, 5 * 65536, 480);
}
END_TEST

TEST_MAIN("rodinia_mummergpu")
