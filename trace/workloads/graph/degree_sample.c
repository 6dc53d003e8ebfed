#include "trace/workloads/graph/degree_sample.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_generate.h"

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
    if (mem_grow((void **)&s->degrees, &s->cap, s->count + 1, sizeof *s->degrees, err))
        return -1;
    s->degrees[s->count++] = (uint32_t)fmin(degree, UINT32_MAX);
    return 0;
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

static void shuffle(uint32_t *degrees, uint64_t n, uint64_t seed)
{
    uint64_t s = random_mix(seed);
    for (uint64_t i = n; i > 1; i--) {
        s = random_mix(s);
        uint64_t j = s % i;
        uint32_t kept = degrees[i - 1];
        degrees[i - 1] = degrees[j];
        degrees[j] = kept;
    }
}

int degree_sample(const struct degree_model *m, uint64_t n, uint64_t seed, uint32_t **degrees, uint64_t *count,
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
    shuffle(s.degrees, s.count, seed);
    *degrees = s.degrees;
    *count = s.count;
    *mean = s.sum / (double)s.all;
    return 0;
}
