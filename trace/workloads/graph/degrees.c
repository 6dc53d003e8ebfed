/* degrees: a traversal of a graph at its published size, from its degree distribution alone.
 *
 * Every list is read `sweeps` times; what is counted of a sample of lists is scaled to the graph's elements. Levels
 * matter only for the cost of finding a vertex inactive. Nothing here knows which vertices a level reaches, so unified
 * memory cannot be expected, and there is no trace to write. Nor is it a program: the lists of a sample have no
 * addresses in the whole and name no neighbours, so requests of the list are all that can be counted. Presets:
 * dissertation, table 2.2 (sizes) and graph_source.h (widths); levels are counts of our own generators (gk, gu) or
 * guesses (the others: 10 for undirected, 20 for web graphs). */
#include <math.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/graph/graph_generate.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

/* --- degrees of a graph at its published size, without the graph ---
 *
 * What a pattern requests depends on the lists' starts and lengths alone, so lists whose lengths follow the degree
 * distribution, one behind the other, stand for a graph too large to hold. The sample is stratified, not random: it
 * takes quantiles, in a shuffled order.
 * kron: a vertex whose id has b one-bits of s is an end of 2 M 0.76^(s-b) 0.24^b edges on average; its distinct
 * neighbours are summed over the neighbours' classes (bits beside a zero: one with 0.25, beside a one: 0.05 / 0.24),
 * and the degree is Poisson around that. Checked: 4.223 G elements at scale 27, k 16 (published 4.22 G).
 * urand: Poisson with mean 2 k. lognormal: by mean and sigma of the logarithm. */
enum degree_kind { DEGREE_KRON, DEGREE_URAND, DEGREE_LOGNORMAL };

struct degree_model {
    enum degree_kind kind;
    int scale;    /* kron: log2 of the vertices */
    double k;     /* kron, urand: edges drawn per vertex */
    double mean;  /* lognormal */
    double sigma; /* likewise */
    double cap;   /* likewise; 0: none */
};

/* The Graph 500 probabilities: out-bit zero with 0.57 + 0.19; beside a zero the other bit is one with 0.19 / 0.76,
 * beside a one with 0.05 / 0.24. */
static const double zero = 0.76, one_beside_zero = 0.25, one_beside_one = 0.05 / 0.24;

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Expected distinct neighbours of a vertex with b one-bits. */
static double kron_mean(const struct degree_model *m, int b)
{
    int s = m->scale;
    double draws = 2 * m->k * pow(2, s) * pow(zero, s - b) * pow(1 - zero, b), sum = 0;
    for (int i = 0; i <= b; i++)
        for (int j = 0; j <= s - b; j++) {
            double p = pow(one_beside_one, i) * pow(1 - one_beside_one, b - i) * pow(one_beside_zero, j) *
                       pow(1 - one_beside_zero, s - b - j);
            sum += exp(log_choose(b, i) + log_choose(s - b, j)) * -expm1(-draws * p);
        }
    return sum;
}

/* Quantile q of the standard normal, by bisection: exact enough and never on a hot path. */
static double normal_quantile(double q)
{
    double lo = -9, hi = 9;
    for (int i = 0; i < 44; i++) {
        double mid = (lo + hi) / 2;
        if (erfc(-mid / sqrt(2)) / 2 < q)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

static uint32_t poisson_quantile(double mean, double q)
{
    if (mean > 200)
        return (uint32_t)fmax(0, round(mean + sqrt(mean) * normal_quantile(q)));
    double p = exp(-mean), sum = p;
    uint32_t k = 0;
    for (; sum < q && k < 2000; sum += p)
        p *= mean / ++k;
    return k;
}

struct sink {
    uint32_t *degrees;
    size_t cap;
    uint64_t count, all;
    double sum;
};

static int put(struct sink *s, double degree, struct err *err)
{
    s->all++;
    s->sum += degree;
    if (degree < 1)
        return 0;
    return MEM_ADD(s->degrees, s->count, s->cap, err, (uint32_t)fmin(degree, UINT32_MAX));
}

static int put_poisson(struct sink *s, double mean, uint64_t n, struct err *err)
{
    for (uint64_t i = 0; i < n; i++)
        if (put(s, poisson_quantile(mean, ((double)i + 0.5) / (double)n), err))
            return -1;
    return 0;
}

static int put_kron(struct sink *s, const struct degree_model *m, uint64_t n, struct err *err)
{
    double vertices = pow(2, m->scale);
    for (int b = 0; b <= m->scale; b++) {
        double share = exp(log_choose(m->scale, b)) / vertices;
        uint64_t part = (uint64_t)llround(share * (double)n);
        if (part && put_poisson(s, kron_mean(m, b), part, err))
            return -1;
    }
    return 0;
}

static int put_lognormal(struct sink *s, const struct degree_model *m, uint64_t n, struct err *err)
{
    double mu = log(m->mean) - m->sigma * m->sigma / 2, carry = 0;
    for (uint64_t i = 0; i < n; i++) {
        double x = exp(mu + m->sigma * normal_quantile(((double)i + 0.5) / (double)n));
        if (m->cap > 0)
            x = fmin(x, m->cap);
        double whole = floor(x + carry); /* rounding errors are carried on, so that the mean holds */
        carry += x - whole;
        if (put(s, whole, err))
            return -1;
    }
    return 0;
}

/* Degrees of about n vertices: *count of them, all at least 1 (vertices without elements are left out), in *degrees,
 * freed with free(). *mean gets the mean degree over all vertices. */
static int degree_sample(const struct degree_model *m, uint64_t n, uint64_t seed, uint32_t **degrees, uint64_t *count,
                         double *mean, struct err *err)
{
    struct sink s = {0};
    int rc = m->kind == DEGREE_KRON    ? put_kron(&s, m, n, err)
             : m->kind == DEGREE_URAND ? put_poisson(&s, 2 * m->k, n, err)
                                       : put_lognormal(&s, m, n, err);
    if (!rc && s.count == 0)
        rc = err_set(err, "the degree distribution has no elements");
    if (rc) {
        free(s.degrees);
        return -1;
    }
    random_shuffle(s.degrees, s.count, seed);
    *degrees = s.degrees;
    *count = s.count;
    *mean = s.sum / (double)s.all;
    return 0;
}

/* --- the workload --- */

enum { SAMPLE_VERTICES = 1 << 18 };

struct degrees_params {
    const char *graph;
    int64_t traversal, element;
    double sweeps;
};

static const struct param degrees_keys[] = {
    PARAM_TEXT_ROW(degrees_params, graph, "gk", "gk, gu, fs, ml, sk or uk5"),
    PARAM_CHOICE_ROW(degrees_params, traversal, "bfs|sssp|cc|pagerank", 0, "sssp also reads 4-byte weights"),
    PARAM_CHOICE_ROW(degrees_params, element, "8|4", 0, "bytes of an element of the edge list"),
    PARAM_REAL_ROW(degrees_params, sweeps, "", 1e-3, 1e4, 1, "how often each list is read"),
    {0}};

/* Published sizes. */
static const struct preset {
    const char *name;
    enum degree_kind kind;
    double vertices, elements, sigma, cap;
    int levels;
} presets[] = {
    {"gk", DEGREE_KRON, 134.2e6, 4.22e9, 0, 0, 7},           {"gu", DEGREE_URAND, 134.2e6, 4.29e9, 0, 0, 8},
    {"fs", DEGREE_LOGNORMAL, 65.6e6, 3.61e9, 1.6, 5214, 10}, {"ml", DEGREE_LOGNORMAL, 30.2e6, 6.67e9, 1.5, 0, 10},
    {"sk", DEGREE_LOGNORMAL, 50.6e6, 1.95e9, 1.2, 0, 20},    {"uk5", DEGREE_LOGNORMAL, 105.9e6, 3.74e9, 1.2, 0, 20},
};

struct degrees {
    struct degrees_params p;
    const struct preset *of;
    uint32_t *degrees;
    uint64_t count, total, at, first; /* total: elements of the sample */
    struct scan *scans;
};

static int choose(struct degrees *e, struct err *err)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets && !e->of; i++)
        e->of = strcmp(presets[i].name, e->p.graph) == 0 ? &presets[i] : NULL;
    return e->of ? 0 : err_set(err, "graph is '%.40s'; expected gk, gu, fs, ml, sk or uk5", e->p.graph);
}

static int draw(struct degrees *e, struct err *err)
{
    const struct degree_model m = {.kind = e->of->kind,
                                   .scale = 27,
                                   .k = 16,
                                   .mean = e->of->elements / e->of->vertices,
                                   .sigma = e->of->sigma,
                                   .cap = e->of->cap};
    double mean;
    if (degree_sample(&m, SAMPLE_VERTICES, 1, &e->degrees, &e->count, &mean, err))
        return -1;
    for (uint64_t i = 0; i < e->count; i++)
        e->total += e->degrees[i];
    e->scans = mem_zalloc(SCAN_BATCH, sizeof *e->scans, err);
    return e->scans ? 0 : -1;
}

static void degrees_close(void *state)
{
    struct degrees *e = state;
    free(e->degrees);
    free(e->scans);
    free(e);
}

static int degrees_init(struct degrees *e, struct err *err)
{
    return choose(e, err) || draw(e, err) ? -1 : 0;
}

static void setup(void *state, struct scan_setup *s)
{
    const struct degrees *e = state;
    bool weighted = e->p.traversal == 1;
    *s = (struct scan_setup){
        .shape = SCAN_LISTS,
        .structures = {{"edges", 4096, e->p.element ? 4 : 8, (uint64_t)e->of->elements},
                       {"weights", 1ULL << 46, 4, (uint64_t)e->of->elements}},
        .structure_count = weighted ? 2 : 1,
        .threads_per_block = 128,
        .lanes = (uint64_t)(e->of->vertices * e->of->levels),
        .visits = true,
        .unmasked_head = weighted,
        .scale = e->of->elements * e->p.sweeps / (double)e->total,
    };
}

static int start(void *state, struct err *err)
{
    (void)err;
    struct degrees *e = state;
    e->at = e->first = 0;
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    (void)err;
    struct degrees *e = state;
    if (e->at == e->count)
        return 0;
    size_t n = e->count - e->at < SCAN_BATCH ? e->count - e->at : SCAN_BATCH;
    for (size_t i = 0; i < n; i++) {
        e->scans[i] = (struct scan){e->first, e->degrees[e->at + i], e->at + i};
        e->first += e->scans[i].count;
    }
    e->at += n;
    *batch = (struct scan_batch){0, e->scans, n, e->at == e->count};
    return 1;
}

static const struct scan_ops degrees_ops = {setup, start, next, NULL};

WORKLOAD(degrees, workload_degrees, "degrees",
         "a traversal at published scale, expected from the degree distribution alone", "dissertation, table 2.2",
         workload_new, degrees_close, .produces = WORKLOAD_SCANS, .ops = &degrees_ops, .views = VIEW_ZEROCOPY);
