#include "replay/zerocopy/zerocopy_tier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/row_cache.h"
#include "trace/base/mem.h"
#include "trace/graph/graph_reorder.h"

/* Two that use the same thing: side by side at best, one after the other at worst. */
static struct epoch_stage together(struct epoch_stage a, struct epoch_stage b)
{
    return (struct epoch_stage){fmax(a.lo, b.lo), a.hi + b.hi};
}

static struct epoch_stage slowest(struct epoch_stage a, struct epoch_stage b)
{
    return (struct epoch_stage){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}

struct epoch_stage epoch_bounds(const struct epoch *e)
{
    struct epoch_stage training = e->training, longest;
    if (e->cpu_gathers) {
        longest = slowest(together(e->sampler, e->gather), training);
    } else if (e->share < 1) {
        training.hi /= 1 - e->share;
        longest = slowest(slowest(e->sampler, e->gather), training);
    } else {
        longest = slowest(e->sampler, together(e->gather, training));
    }
    double rest = (double)e->batches - 1;
    return (struct epoch_stage){e->sampler.lo + e->gather.lo + training.lo + rest * longest.lo,
                                e->sampler.hi + e->gather.hi + training.hi + rest * longest.hi};
}

struct epoch_stage epoch_on_host(struct epoch_stage one, uint64_t gpus)
{
    return (struct epoch_stage){one.lo, one.hi * (double)gpus};
}

/* Rank of each row, the hottest 0; NULL with *err set. */
static uint32_t *rank_rows(const struct tier_settings *settings, const struct scan_setup *setup, uint64_t *rows,
                           struct err *err)
{
    if (settings->resident == TIER_RECORDED) {
        *rows = setup->structures[0].elements / (uint64_t)setup->row_elements;
        if (setup->recorded)
            return graph_rank(setup->recorded, *rows, err);
        (void)err_set(err, "resident=recorded needs the row numbers of another run: gather,...,recorded=FILE");
        return NULL;
    }
    if (!setup->graph) {
        (void)err_set(err, "rows can be ranked by score only if they come from a graph: gather,graph=...");
        return NULL;
    }
    struct score_options how = {
        .damping = SCORE_DAMPING, .labelled = setup->labelled, .labelled_count = setup->labelled_count};
    double *score = score_vertices(setup->graph, (enum score_kind)settings->resident, &how, err);
    uint32_t *rank = score ? graph_rank(score, setup->graph->vertices, err) : NULL;
    *rows = setup->graph->vertices;
    free(score);
    return rank;
}

int tier_rows(const struct scan_setup *setup, const struct scan_ops *ops, void *state, uint64_t **rows, size_t *n,
              struct err *err)
{
    struct scan_batch batch;
    size_t cap = 0;
    *rows = NULL;
    *n = 0;
    int rc = ops->start(state, err) ? -1 : 1;
    while (rc > 0 && (rc = ops->next(state, &batch, err)) > 0)
        for (size_t i = 0; i < batch.n && rc > 0; i++)
            if (MEM_ADD(*rows, *n, cap, err, batch.scans[i].first / (uint64_t)setup->row_elements))
                rc = -1;
    return rc;
}

/* Each lookup's depth for its rank. */
static int open_cache(struct tier *tier, const struct scan_setup *setup, const struct scan_ops *ops, void *state,
                      struct err *err)
{
    const struct tier_settings *s = tier->settings;
    const uint64_t table = setup->structures[0].elements / (uint64_t)setup->row_elements;
    uint64_t *rows;
    size_t n;
    if (s->shared_pct > 0)
        return err_set(err, "shared_pct: a cache of rows is each GPU's own");
    int rc = tier_rows(setup, ops, state, &rows, &n, err);
    tier->rank = rc ? NULL : mem_zalloc(n + 1, sizeof *tier->rank, err);
    rc = tier->rank ? row_cache_depths((enum row_cache)(s->resident - TIER_CACHES), rows, n, tier->rank, err) : -1;
    free(rows);
    residency_init(&tier->residency, tier->rank, table, s->local_pct, 0, 1, RESIDENCY_INTERLEAVE);
    tier->residency.by_lookup = true;
    tier->residency.rows = n;
    return rc;
}

int tier_open(struct tier *tier, const struct tier_settings *settings, const struct scan_setup *setup,
              const struct scan_ops *ops, void *state, struct err *err)
{
    memset(tier, 0, sizeof *tier);
    tier->settings = settings;
    tier->batches = settings->batches ? (uint64_t)settings->batches : setup->batches ? setup->batches : 1;
    if (setup->shape != SCAN_ROWS) {
        if (settings->resident)
            return err_set(err, "resident rows need a workload that gathers rows");
        return 0;
    }
    tier->row_elements = (uint64_t)setup->row_elements;
    tier->row_bytes = (double)setup->row_elements * setup->structures[0].element;
    if (!settings->resident)
        return 0;
    if (settings->local_pct + settings->shared_pct > 100)
        return err_set(err, "local_pct and shared_pct are %g and %g; together at most 100", settings->local_pct,
                       settings->shared_pct);
    if (settings->resident >= TIER_CACHES)
        return open_cache(tier, setup, ops, state, err);
    uint64_t rows = 0;
    tier->rank = rank_rows(settings, setup, &rows, err);
    if (!tier->rank)
        return -1;
    residency_init(&tier->residency, tier->rank, rows, settings->local_pct, settings->shared_pct,
                   (uint64_t)settings->gpus, (enum residency_layout)settings->layout);
    return 0;
}

void tier_close(struct tier *tier)
{
    free(tier->rank);
    memset(tier, 0, sizeof *tier);
}

double tier_serve(struct tier *tier, const struct scan *scans, size_t n)
{
    double served = 0;
    if (!tier->rank) {
        tier->link_total += (double)n * tier->row_bytes;
        return 0;
    }
    tier->lookups += n;
    for (size_t i = 0; i < n; i++) {
        const enum residency_place place = residency_at(&tier->residency, &scans[i], tier->row_elements);
        double *bytes = place == RESIDENCY_LOCAL  ? &tier->local_bytes
                        : place == RESIDENCY_PEER ? &tier->peer_bytes
                                                  : &tier->link_total;
        *bytes += tier->row_bytes;
        served += place == RESIDENCY_LINK ? 0 : (double)scans[i].count;
    }
    return served;
}

double tier_launch_ns(const struct tier *tier, const struct gpu *gpu, const struct pcie *pcie, double link_ns)
{
    double own = tier->local_bytes / gpu->dram_bytes_per_s * 1e9;
    double peer =
        tier->peer_bytes > 0 && pcie->peer_bytes_per_s > 0 ? tier->peer_bytes / pcie->peer_bytes_per_s * 1e9 : 0;
    return fmax(link_ns, fmax(own, peer));
}

void tier_launch_end(struct tier *tier)
{
    tier->local_total += tier->local_bytes;
    tier->peer_total += tier->peer_bytes;
    tier->local_bytes = tier->peer_bytes = 0;
    tier->residency.first += tier->lookups;
    tier->lookups = 0;
}

/* Batches are shared among the GPUs. */
static void bound_epoch(const struct tier *tier, const struct tier_gather *how, double gather_ns, struct outcome *out)
{
    const struct tier_settings *s = tier->settings;
    uint64_t gpus = (uint64_t)s->gpus;
    const struct epoch_stage sampler = {s->sampler_ns, fmax(s->sampler_ns, s->sampler_hi_ns)};
    struct epoch e = {.sampler = epoch_on_host(sampler, gpus),
                      .gather = {gather_ns, gather_ns},
                      .training = {s->consumer_ns, fmax(s->consumer_ns, s->consumer_hi_ns)},
                      .cpu_gathers = how->by_cpu,
                      .share = how->share,
                      .batches = (tier->batches + gpus - 1) / gpus};
    if (how->by_cpu)
        e.gather = epoch_on_host(e.gather, gpus);
    struct epoch_stage bounds = epoch_bounds(&e);
    if (bounds.lo < bounds.hi)
        outcome_interval(out, "epoch_ns", bounds.lo, bounds.hi);
    else
        outcome_real(out, "epoch_ns", bounds.lo);
}

/* Without one an epoch is the gathers' time. */
static bool has_stages(const struct tier_settings *s)
{
    return s->overlap || s->sampler_ns > 0 || s->consumer_ns > 0 || s->sampler_hi_ns > 0 || s->consumer_hi_ns > 0;
}

void tier_metrics(const struct tier *tier, const struct tier_gather *how, struct outcome *out)
{
    if (!tier->row_elements)
        return;
    double all = tier->local_total + tier->peer_total + tier->link_total;
    outcome_real(out, "hit_ratio", (tier->local_total + tier->peer_total) / all);
    outcome_real(out, "local_bytes", tier->local_total);
    outcome_real(out, "peer_bytes", tier->peer_total);
    const struct metric_value *time = outcome_get(out, "time_ns");
    if (!time || !time->known || !has_stages(tier->settings))
        return;
    double gather = time->real / (double)tier->batches, sampler = tier->settings->sampler_ns,
           consumer = tier->settings->consumer_ns;
    if (tier->settings->overlap)
        bound_epoch(tier, how, gather, out);
    else
        outcome_real(out, "epoch_ns",
                     sampler + gather + consumer + ((double)tier->batches - 1) * fmax(gather, fmax(sampler, consumer)));
}
