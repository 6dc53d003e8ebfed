#include "models/zerocopy/link_queue.h"

#include <math.h>
#include <string.h>

enum { LOOK = 64, WITHOUT_TAGS = 256 };

void link_queue_init(struct link_queue *q, const struct pcie *p)
{
    memset(q, 0, sizeof *q);
    q->sharpness = p->sharpness;
    q->half = (uint32_t)(p->tags ? p->tags : WITHOUT_TAGS) / 2;
    q->half += q->half == 0;
    q->look = 1;
    for (uint32_t from = 0; from < LINE_SECTORS; from++)
        for (uint32_t to = from; to < LINE_SECTORS; to++) {
            struct request_mix one = {0};
            mix_run(&one, from, to);
            link_bounds_ns(p, &one, q->of[from][to]);
        }
}

/* The weights of what is around. */
static void look(struct link_queue *q)
{
    double sum[LINK_ISSUE], f = 0;
    for (int i = 0; i < LINK_ISSUE; i++)
        sum[i] = q->now[i] + q->before[i];
    f = link_join(sum, LINK_ISSUE, q->sharpness);
    for (int i = 0; i < LINK_ISSUE; i++)
        q->weight[i] = f > 0 ? pow(sum[i] / f, q->sharpness - 1) : 0;
    if (q->n < q->half) {
        q->look = q->n + (q->n < LOOK ? q->n : LOOK);
        return;
    }
    memcpy(q->before, q->now, sizeof q->before);
    memset(q->now, 0, sizeof q->now);
    q->n = 0;
    q->look = q->half < LOOK ? q->half : LOOK;
}

static double weigh(const struct link_queue *q, const double *bounds)
{
    double ns = 0;
    for (int i = 0; i < LINK_ISSUE; i++)
        ns += q->weight[i] * bounds[i];
    return ns;
}

double link_queue_add(struct link_queue *q, uint32_t from, uint32_t to)
{
    const double *bounds = q->of[from][to];
    for (int i = 0; i < LINK_ISSUE; i++)
        q->now[i] += bounds[i];
    if (++q->n >= q->look)
        look(q);
    return weigh(q, bounds);
}

double link_queue_grow(struct link_queue *q, uint32_t had_from, uint32_t had_to, uint32_t from, uint32_t to)
{
    const double *had = q->of[had_from][had_to], *bounds = q->of[from][to];
    for (int i = 0; i < LINK_ISSUE; i++)
        q->now[i] += bounds[i] - had[i];
    return weigh(q, bounds) - weigh(q, had);
}
