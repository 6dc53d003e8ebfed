/* degree_sample: degrees of a graph at its published size, without the graph; what `expect` reads instead.
 *
 * What a pattern requests depends on the lists' starts and lengths alone, so lists whose lengths follow the degree
 * distribution, one behind the other, stand for a graph too large to hold. The sample is stratified, not random: it
 * takes quantiles, in a shuffled order.
 * kron: a vertex whose id has b one-bits of s is an end of 2 M 0.76^(s-b) 0.24^b edges on average; its distinct
 * neighbours are summed over the neighbours' classes (bits beside a zero: one with 0.25, beside a one: 0.05 / 0.24),
 * and the degree is Poisson around that. Checked: 4.223 G elements at scale 27, k 16 (published 4.22 G).
 * urand: Poisson with mean 2 k. lognormal: by mean and sigma of the logarithm. */
#ifndef TRACE_WORKLOADS_GRAPH_DEGREE_SAMPLE_H
#define TRACE_WORKLOADS_GRAPH_DEGREE_SAMPLE_H

#include <stdint.h>

#include "trace/base/err.h"

enum degree_kind { DEGREE_KRON, DEGREE_URAND, DEGREE_LOGNORMAL };

struct degree_model {
    enum degree_kind kind;
    int scale;    /* kron: log2 of the vertices */
    double k;     /* kron, urand: edges drawn per vertex */
    double mean;  /* lognormal */
    double sigma; /* likewise */
    double cap;   /* likewise; 0: none */
};

/* Degrees of about n vertices: *count of them, all at least 1 (vertices without elements are left out), in *degrees,
 * freed with free(). *mean gets the mean degree over all vertices. */
int degree_sample(const struct degree_model *model, uint64_t n, uint64_t seed, uint32_t **degrees, uint64_t *count,
                  double *mean, struct err *err);

#endif
