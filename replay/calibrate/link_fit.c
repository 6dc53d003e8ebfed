#include "replay/calibrate/link_fit.h"

#include <math.h>
#include <string.h>

#include "replay/calibrate/fit.h"

enum { ROUNDS = 200, HALVINGS = 30 };

double link_row_ns(const struct pcie *p, const struct gpu *gpu, const struct link_row *row, enum link_bound *bound)
{
    enum link_bound most;
    if (link_row_is_copy(row))
        return link_copy_ns(p, row->copy_bytes, row->copies);
    struct link_launch launch = row->launch;
    launch.chain_ns = row->chain_loads * p->load_ns;
    double ns = link_time_ns(p, gpu, &launch, bound ? bound : &most);
    return ns + (row->launches - 1) * p->launch_ns; /* all else is proportional to the counts */
}

double *link_cost_number(struct pcie *p, enum link_cost which)
{
    double *const numbers[LINK_COSTS] = {
        [COST_WIRE] = &p->efficiency, [COST_TAGS] = &p->round_trip_ns, [COST_HOST] = &p->host_bytes_per_s,
        [COST_LOAD] = &p->load_ns,    [COST_LAUNCH] = &p->launch_ns,   [COST_FURTHER] = &p->further_ns,
        [COST_JUMP] = &p->jump_ns,    [COST_WALK] = &p->walk_ns,       [COST_REACH] = &p->reach_bytes};
    return numbers[which];
}

static void put(struct pcie *p, enum link_cost which, double cost)
{
    if (which == COST_TAGS && !p->tags)
        p->tags = 256;
    *link_cost_number(p, which) = which == COST_WIRE   ? 1e9 / (cost * pcie_raw_bytes_per_s(p))
                                  : which == COST_TAGS ? cost * (double)p->tags
                                  : which == COST_HOST ? (cost > 0 ? 64e9 / cost : 0)
                                                       : cost;
}

/* What the cost is paid for, of one row: time = cost x this where nothing else counts. */
static double paid_for(const struct link_fit *fit, const struct link_row *row, enum link_cost which)
{
    const struct link_launch *l = &row->launch;
    double n = (double)mix_requests(&l->mix), warps = l->resident_warps;
    if (warps <= 0)
        warps = (double)(fit->gpu->sms * fit->gpu->warps_per_sm);
    switch (which) {
    case COST_WIRE:
        return fmax((double)mix_payload(&l->mix) + (double)fit->pcie.completion_bytes * n,
                    (double)fit->pcie.request_bytes * n);
    case COST_TAGS:
        return n;
    case COST_HOST:
        return (double)l->mix.host_lines;
    case COST_LOAD:
        return fmax(row->chain_loads, l->loads / (warps * fmax(1, l->loads_at_once)));
    case COST_FURTHER:
        return l->loads > 0 ? (n - l->loads) / (warps * fmax(1, l->loads_at_once)) : 0;
    case COST_JUMP:
    case COST_WALK:
        return l->jumps;
    default:
        return row->launches;
    }
}

struct problem {
    struct link_fit *fit;
    const struct link_row *rows;
    const bool *held;
    size_t n;
    enum link_cost costs[LINK_COSTS]; /* the free ones */
    size_t terms;
};

static bool used(const struct problem *p, size_t i)
{
    return !link_row_is_copy(&p->rows[i]) && !(p->held && p->held[i]);
}

static struct pcie with(const struct problem *p, const double *x)
{
    struct pcie pcie = p->fit->pcie;
    for (size_t k = 0; k < p->terms; k++)
        put(&pcie, p->costs[k], x[k]);
    return pcie;
}

static double residual(const struct problem *p, const double *x, double *worst)
{
    struct pcie pcie = with(p, x);
    double sum = 0;
    if (worst)
        *worst = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!used(p, i))
            continue;
        double r = link_row_ns(&pcie, p->fit->gpu, &p->rows[i], NULL) / p->rows[i].time_ns - 1;
        sum += r * r;
        if (worst && fabs(r) > fabs(*worst))
            *worst = r;
    }
    return sum;
}

/* Between the narrowest span and the widest. */
static double start_of_reach(const struct problem *p)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct link_launch *l = &p->rows[i].launch;
        if (!used(p, i) || l->jumps <= 0 || l->span <= 0)
            continue;
        least = fmin(least, l->span);
        most = fmax(most, l->span);
    }
    return most > 0 ? sqrt(least * most) : 0;
}

/* The largest value that no row contradicts; a launch may take half of that, and so may what reads far apart cost. */
static double start_of(const struct problem *p, enum link_cost which)
{
    double least = INFINITY;
    if (which == COST_REACH)
        return start_of_reach(p);
    for (size_t i = 0; i < p->n; i++) {
        double by = used(p, i) ? paid_for(p->fit, &p->rows[i], which) : 0;
        if (by > 0)
            least = fmin(least, p->rows[i].time_ns / by);
    }
    return isfinite(least) ? (which >= COST_LAUNCH ? least / 2 : least) : 0;
}

/* The problem made linear at x; share[k] gets the largest elasticity of any row. */
static void linearise(const struct problem *p, const double *x, struct fit *linear, double *share)
{
    fit_init(linear, p->terms);
    for (size_t k = 0; k < p->terms; k++)
        share[k] = 0;
    struct pcie here = with(p, x);
    for (size_t i = 0; i < p->n; i++) {
        if (!used(p, i))
            continue;
        const struct link_row *row = &p->rows[i];
        double at = link_row_ns(&here, p->fit->gpu, row, NULL), a[LINK_COSTS], y = row->time_ns - at;
        for (size_t k = 0; k < p->terms; k++) {
            double step = 1e-5 * x[k], moved[LINK_COSTS];
            memcpy(moved, x, sizeof moved);
            moved[k] = x[k] + step;
            struct pcie above = with(p, moved);
            moved[k] = x[k] - step;
            struct pcie below = with(p, moved);
            double slope =
                step > 0 ? (link_row_ns(&above, p->fit->gpu, row, NULL) - link_row_ns(&below, p->fit->gpu, row, NULL)) /
                               (2 * step)
                         : 0;
            share[k] = fmax(share[k], fabs(slope) * x[k] / at);
            a[k] = slope / row->time_ns;
            y += slope * x[k];
        }
        fit_add(linear, a, y / row->time_ns, 1);
    }
}

/* One step from x; false if none makes the residual smaller. */
static bool improve(const struct problem *p, double *x, double *best, struct err *err)
{
    struct fit linear;
    double share[LINK_COSTS], next[LINK_COSTS] = {0};
    linearise(p, x, &linear, share);
    if (fit_solve(&linear, err))
        return false;
    double length = 1;
    for (int h = 0; h < HALVINGS; h++, length /= 2) {
        for (size_t k = 0; k < p->terms; k++) /* a cost that is 0 has no slope, and would stay so */
            next[k] = fmin(fmax(x[k] + length * (linear.x[k] - x[k]), x[k] / 8), 8 * x[k]);
        double sum = residual(p, next, NULL);
        if (sum < *best) {
            bool more = *best - sum > 1e-12 * *best;
            memcpy(x, next, sizeof next);
            *best = sum;
            return more;
        }
    }
    return false;
}

int link_fit_solve(struct link_fit *fit, const struct link_row *rows, const bool *held, size_t n, struct err *err)
{
    struct problem p = {.fit = fit, .rows = rows, .held = held, .n = n};
    double x[LINK_COSTS] = {0}, share[LINK_COSTS];
    fit->rows = 0;
    for (size_t i = 0; i < n; i++)
        fit->rows += used(&p, i);
    for (enum link_cost k = 0; k < LINK_COSTS; k++)
        if (fit->free >> k & 1) {
            x[p.terms] = start_of(&p, k);
            p.costs[p.terms++] = k;
        }
    fit->terms = p.terms;
    if (fit->rows < p.terms)
        return err_set(err, "%zu rows cannot fix %zu constants of the link", fit->rows, p.terms);
    double best = residual(&p, x, NULL);
    for (int round = 0; round < ROUNDS && improve(&p, x, &best, err); round++)
        ;
    struct fit linear;
    linearise(&p, x, &linear, share);
    if (fit_solve(&linear, err))
        return -1;
    fit->rms = sqrt(residual(&p, x, &fit->worst) / (double)fit->rows);
    fit->pcie = with(&p, x);
    for (size_t k = 0; k < p.terms; k++) {
        fit->cost[p.costs[k]] = x[k];
        fit->error[p.costs[k]] = linear.error[k];
        fit->share[p.costs[k]] = share[k];
    }
    return 0;
}
