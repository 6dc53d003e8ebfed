#include "replay/calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/calibrate/link_fit.h"
#include "trace/base/mem.h"

/* Below this a row's time does not follow a cost enough to tell it: 5 % for twice the cost. */
static const double share_least = 0.05;

struct job {
    struct calibration *out;
    const char *base_name;
    struct link_costs base;
    struct gpu gpu;
    struct link_rows rows;
    bool *held;
    size_t requests, copies; /* rows fitted to */
};

static const struct {
    const char *key, *name;
} costs[LINK_COSTS] = {[COST_WIRE] = {"efficiency", "wire"},
                       [COST_TAGS] = {"round_trip_ns", "tags"},
                       [COST_HOST] = {"host_bytes_per_s", "host"},
                       [COST_LOAD] = {"load_ns", "issue"},
                       [COST_LAUNCH] = {"alone_ns", "launch"},
                       [COST_GAP] = {"gap_ns", "gap"},
                       [COST_FURTHER] = {"further_ns", "further requests"},
                       [COST_JUMP] = {"jump_ns", "jumps"},
                       [COST_WALK] = {"walk_ns", "walks"},
                       [COST_REACH] = {"reach_bytes", "reach"}};

static double number_of(struct link_costs p, enum link_cost which)
{
    return which == COST_TAGS && !p.pcie.tags ? 0 : *link_cost_number(&p, which);
}

static const char *section_of(enum link_cost which)
{
    return which == COST_LAUNCH || which == COST_GAP ? "launch" : "pcie";
}

/* No such bound, or from's; reach and walks go together. */
static void set_number(struct link_costs *to, enum link_cost which, const struct link_costs *from)
{
    struct pcie *p = &to->pcie;
    struct link_costs none = {.pcie.round_trip_ns = p->round_trip_ns}, other = from ? *from : none;
    if (which == COST_TAGS)
        p->tags = other.pcie.tags;
    if (which == COST_WALK || which == COST_REACH)
        p->walk_ns = other.pcie.walk_ns, p->reach_bytes = other.pcie.reach_bytes;
    else
        *link_cost_number(to, which) = *link_cost_number(&other, which);
}

static void describe(unsigned set, char *text, size_t size)
{
    *text = 0;
    for (enum link_cost k = 0; k < LINK_COSTS; k++)
        if (set >> k & 1)
            (void)mem_add_text(text, size, "%s%s", *text ? " + " : "", costs[k].name);
}

static int solve(const struct job *job, unsigned set, struct link_fit *fit, struct err *err)
{
    *fit = (struct link_fit){.to = job->base, .gpu = &job->gpu, .free = set};
    for (enum link_cost k = COST_TAGS; k < LINK_COSTS; k++)
        set_number(&fit->to, k, NULL);
    if (link_fit_solve(fit, job->rows.rows, job->held, job->rows.count, err))
        return -1;
    if (set >> COST_TAGS & 1 && job->base.pcie.tags) {
        fit->to.pcie.round_trip_ns *= (double)job->base.pcie.tags / (double)fit->to.pcie.tags;
        fit->to.pcie.tags = job->base.pcie.tags;
    }
    return 0;
}

/* Walks begin beyond a reach: neither is fitted without the other. */
static const unsigned translation = 1u << COST_WALK | 1u << COST_REACH;

/* Which costs the rows can speak of at all. */
static unsigned candidates(const struct job *job)
{
    unsigned set = 1u << COST_WIRE | 1u << COST_TAGS | 1u << COST_HOST | 1u << COST_LAUNCH;
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct link_row *row = &job->rows.rows[i];
        if (link_row_is_copy(row) || job->held[i])
            continue;
        if (!row->lines_known)
            set &= ~(1u << COST_HOST);
        if (row->launch.loads > 0)
            set |= 1u << COST_LOAD;
        if (row->launch.loads > 0 && (double)mix_requests(&row->launch.mix) > row->launch.loads)
            set |= 1u << COST_FURTHER;
        if (row->launches > 1)
            set |= 1u << COST_GAP;
        if (row->launch.jumps > 0)
            set |= 1u << COST_JUMP;
        if (row->launch.jumps > 0 && row->launch.span > 0)
            set |= translation;
    }
    return set;
}

/* The Bayesian information criterion of relative residuals; below 0.01 % they are all alike. */
static double criterion(const struct link_fit *fit)
{
    double n = (double)fit->rows;
    return n * log(fmax(fit->rms * fit->rms, 1e-8)) + (double)fit->terms * log(fmax(n, 2));
}

static bool identified(const struct link_fit *fit, enum link_cost k)
{
    return fit->share[k] >= share_least && isfinite(fit->error[k]) && fit->error[k] < fit->cost[k] / 2;
}

/* A set of costs is a candidate only if the rows identify each of them. */
static bool all_identified(const struct link_fit *fit)
{
    for (enum link_cost k = 0; k < LINK_COSTS; k++)
        if (fit->free >> k & 1 && !identified(fit, k))
            return false;
    return true;
}

/* Try the fit with one cost more or less. */
static int neighbours(struct job *job, const struct link_fit *best, unsigned may, struct err *err)
{
    char text[400] = "", name[128];
    for (enum link_cost k = COST_TAGS; k < LINK_COSTS; k++) {
        struct link_fit fit = {0};
        unsigned set = best->free ^ (k == COST_WALK ? translation : 1u << k);
        if (k == COST_REACH || !(may >> k & 1) || (size_t)__builtin_popcount(set) > job->requests)
            continue;
        if (solve(job, set, &fit, err))
            return -1;
        (void)mem_add_text(text, sizeof text, "; %s %s %.2f %%", set >> k & 1 ? "with" : "without", costs[k].name,
                           100 * fit.rms);
    }
    describe(best->free, name, sizeof name);
    calibration_note(job->out, "taken: %s; rms of residuals %.2f %%, largest %+.2f %%%s", name, 100 * best->rms,
                     100 * best->worst, text);
    if (best->rows == best->terms)
        calibration_note(job->out, "as many constants as rows: residuals and standard errors mean nothing");
    return 0;
}

static int choose(struct job *job, struct link_fit *best, struct err *err)
{
    unsigned may = candidates(job);
    double least = INFINITY;
    for (unsigned set = 1u << COST_WIRE; set <= may; set += 2) {
        struct link_fit fit = {0};
        if ((set & may) != set || (set & translation && (set & translation) != translation) ||
            (size_t)__builtin_popcount(set) > job->requests)
            continue;
        if (solve(job, set, &fit, err))
            return -1;
        bool first = set == 1u << COST_WIRE;
        if (first || (all_identified(&fit) && criterion(&fit) < least - 1e-9)) {
            least = criterion(&fit);
            *best = fit;
        }
    }
    return neighbours(job, best, may, err);
}

static double rms_of(const struct job *job, const struct link_costs *p, bool held, bool copies, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct link_row *row = &job->rows.rows[i];
        if (job->held[i] != held || link_row_is_copy(row) != copies)
            continue;
        double r = link_row_ns(p, &job->gpu, row, NULL) / row->time_ns - 1;
        sum += r * r;
        ++*n;
    }
    return *n ? sqrt(sum / (double)*n) : 0;
}

/* Settle a bound that the rows do not show: the base's unless a row contradicts it, otherwise none. */
static void settle(struct job *job, struct link_fit *fit, struct fit *quality)
{
    for (enum link_cost k = COST_TAGS; k < LINK_COSTS; k++) {
        size_t n;
        if (fit->free >> k & 1 || number_of(job->base, k) <= 0)
            continue;
        struct link_costs tried = fit->to;
        set_number(&tried, k, &job->base);
        if (rms_of(job, &tried, false, false, &n) <= 1.02 * fit->rms + 2e-3) {
            fit->to = tried;
            calibration_note(job->out, "%s: no row comes near this limit, and none contradicts %s's, which is kept",
                             costs[k].key, job->base_name);
            continue;
        }
        const char *key = k == COST_TAGS ? "tags" : costs[k].key;
        calibration_add(job->out, section_of(k), key, 0, 0, quality, "%",
                        "no such bound in the rows; the base's is too slow");
    }
}

static void add_numbers(struct job *job, const struct link_fit *fit, const struct fit *quality)
{
    char from[160];
    (void)snprintf(from, sizeof from, "%zu rows", fit->rows);
    for (enum link_cost k = 0; k < LINK_COSTS; k++) {
        if (!(fit->free >> k & 1))
            continue;
        double value = number_of(fit->to, k);
        if (k == COST_TAGS)
            calibration_add(job->out, "pcie", "tags", (double)fit->to.pcie.tags, 0, quality, "%",
                            "by convention: only tags / round trip is identified");
        double error = identified(fit, k) ? value * fit->error[k] / fit->cost[k] : INFINITY;
        calibration_add(job->out, section_of(k), costs[k].key, value, error, quality, "%", from);
    }
}

/* Rows, rms in % and R2 of the logarithm of time, for the rows fitted to. */
static struct fit quality_of(const struct job *job, const struct link_costs *p, bool copies)
{
    struct fit quality = {0};
    double rms = rms_of(job, p, false, copies, &quality.rows), sum = 0, square = 0, n = (double)quality.rows;
    for (size_t i = 0; i < job->rows.count; i++)
        if (!job->held[i] && link_row_is_copy(&job->rows.rows[i]) == copies) {
            double y = log(job->rows.rows[i].time_ns);
            sum += y;
            square += y * y;
        }
    double variance = square / n - sum / n * (sum / n);
    quality.r2 = variance > 0 ? 1 - rms * rms / variance : 0;
    quality.rms = 100 * rms;
    return quality;
}

/* Tenths of the rows, each predicted by the same costs fitted to the other nine. */
static int cross_validate(struct job *job, const struct link_fit *fit, struct err *err)
{
    enum { PARTS = 10 };
    double sum = 0;
    size_t count = 0, place = 0;
    bool *held = mem_zalloc(job->rows.count, sizeof *held, err), *kept = job->held;
    if (!held)
        return -1;
    int rc = 0;
    for (size_t part = 0; part < PARTS && fit->rows >= fit->terms + PARTS && !rc; part++) {
        struct link_fit f;
        place = 0;
        for (size_t i = 0; i < job->rows.count; i++)
            held[i] = kept[i] || (!link_row_is_copy(&job->rows.rows[i]) && place++ % PARTS == part);
        job->held = held;
        rc = solve(job, fit->free, &f, err);
        for (size_t i = 0; i < job->rows.count && !rc; i++)
            if (held[i] && !kept[i]) {
                double r = link_row_ns(&f.to, &job->gpu, &job->rows.rows[i], NULL) / job->rows.rows[i].time_ns - 1;
                sum += r * r;
                count++;
            }
        job->held = kept;
    }
    free(held);
    if (count)
        calibration_note(job->out, "each tenth of the rows predicted from the other nine: rms %.2f %%",
                         100 * sqrt(sum / (double)count));
    return rc;
}

static int fit_requests(struct job *job, struct link_costs *fitted, struct err *err)
{
    struct link_fit fit = {0};
    if (choose(job, &fit, err))
        return -1;
    if (fit.to.pcie.efficiency > 1)
        return err_set(err,
                       "the rows need %.4g GB/s of wire, more than the raw %.4g GB/s of %s: name a base with the right "
                       "gigatransfers and lanes",
                       fit.to.pcie.efficiency * pcie_raw_bytes_per_s(&job->base.pcie) / 1e9,
                       pcie_raw_bytes_per_s(&job->base.pcie) / 1e9, job->base_name);
    if (fit.to.pcie.efficiency < 0.5)
        calibration_note(
            job->out,
            "the rows use half of %s's raw %.4g GB/s or less: is the link narrower or slower than the base's?",
            job->base_name, pcie_raw_bytes_per_s(&job->base.pcie) / 1e9);
    struct fit quality = quality_of(job, &fit.to, false);
    add_numbers(job, &fit, &quality);
    settle(job, &fit, &quality);
    *fitted = fit.to;
    return cross_validate(job, &fit, err);
}

/* Relative least squares of time = copies x set-up + bytes x per byte. One size only: the set-up is the base's. */
static bool copy_costs(struct job *job, double *setup, double *per_byte, double *error)
{
    struct fit fit, one;
    fit_init(&fit, 2);
    fit_init(&one, 1);
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct link_row *row = &job->rows.rows[i];
        if (!link_row_is_copy(row) || job->held[i])
            continue;
        double t = row->time_ns;
        fit_add(&fit, (double[]){row->copies / t, row->copy_bytes / t}, 1, 1);
        fit_add(&one, (double[]){row->copy_bytes / t}, 1 - row->copies * job->base.pcie.copy_setup_ns / t, 1);
    }
    bool both = job->copies >= 2 && !fit_solve(&fit, NULL) && isfinite(fit.error[1]) && fit.x[1] > 0;
    if (!both)
        (void)fit_solve(&one, NULL);
    *setup = both ? fit.x[0] : job->base.pcie.copy_setup_ns;
    *per_byte = both ? fit.x[1] : one.x[0];
    error[0] = both ? fit.error[0] : 0;
    error[1] = both ? fit.error[1] : one.error[0];
    return both;
}

/* The completion size that gives the copies' rate at the fitted wire; without rows of requests the wire itself. */
static int fit_copies(struct job *job, struct link_costs *to, struct err *err)
{
    struct pcie *fitted = &to->pcie;
    double setup, per_byte, error[2];
    bool both = copy_costs(job, &setup, &per_byte, error);
    double raw = pcie_raw_bytes_per_s(fitted), rate = 1e9 / per_byte, overhead = (double)fitted->completion_bytes,
           payload = (double)fitted->copy_payload_bytes;
    if (!(per_byte > 0) || rate > raw)
        return err_set(err, "the block copies need %.4g GB/s, more than the raw %.4g GB/s of %s", rate / 1e9, raw / 1e9,
                       job->base_name);
    char from[160];
    (void)snprintf(from, sizeof from, "%zu block copies", job->copies);
    fitted->copy_setup_ns = setup;
    if (job->requests) {
        double share = rate / (fitted->efficiency * raw);
        payload = share < 1 ? overhead * share / (1 - share) : 4096;
        fitted->copy_payload_bytes = llround(fmin(fmax(payload, 16), 4096));
    } else {
        fitted->efficiency = fmin(1, rate / raw * (payload + overhead) / payload);
    }
    struct fit quality = quality_of(job, to, true);
    if (both)
        calibration_add(job->out, "pcie", "copy_setup_ns", setup, error[0], &quality, "%", from);
    else
        calibration_note(job->out,
                         "all copies have one size: the set-up time stays %s's, and there is no standard error",
                         job->base_name);
    double relative = error[1] / per_byte;
    if (job->requests) {
        calibration_add(job->out, "pcie", "copy_payload_bytes", (double)fitted->copy_payload_bytes,
                        payload * (payload + overhead) / overhead * relative, &quality, "%", from);
        return 0;
    }
    calibration_add(job->out, "pcie", "efficiency", fitted->efficiency, fitted->efficiency * relative, &quality, "%",
                    from);
    calibration_note(
        job->out,
        "block copies alone cannot tell efficiency from completion size: completions of %.0f bytes are the base's",
        payload);
    return 0;
}

static int fill_rows(struct job *job, const struct link_costs *p, struct err *err)
{
    static const char *const bounds[LINK_BOUNDS] = {"wire", "tags", "host", "issue"};
    struct calibration *c = job->out;
    if (!(c->rows = mem_zalloc(job->rows.count, sizeof *c->rows, err)))
        return -1;
    for (size_t i = 0; i < job->rows.count; i++) {
        const struct link_row *row = &job->rows.rows[i];
        enum link_bound bound = LINK_WIRE;
        struct calibrated_row *r = &c->rows[c->row_count++];
        memcpy(r->name, row->name, sizeof r->name);
        r->measured_ns = row->time_ns;
        r->fitted_ns = link_row_ns(p, &job->gpu, row, &bound);
        r->bound = link_row_is_copy(row) ? "copy" : bounds[bound];
        r->predicted = job->held[i];
    }
    size_t n, copies;
    double requests = rms_of(job, p, true, false, &n), block = rms_of(job, p, true, true, &copies);
    if (n)
        calibration_note(c, "predicted: %zu rows of requests, rms %.2f %%", n, 100 * requests);
    if (copies)
        calibration_note(c, "predicted: %zu block copies, rms %.2f %%", copies, 100 * block);
    return 0;
}

static int read_all(struct job *job, const struct measurements *from, struct err *err)
{
    for (size_t i = 0; i < from->count; i++)
        if (link_rows_read(&job->rows, from->paths[i], err))
            return -1;
    size_t fitted = job->rows.count;
    if (from->predict && link_rows_read(&job->rows, from->predict, err))
        return -1;
    if (!(job->held = mem_zalloc(job->rows.count, sizeof *job->held, err)))
        return -1;
    for (size_t i = 0; i < job->rows.count; i++) {
        bool copy = link_row_is_copy(&job->rows.rows[i]);
        job->held[i] = i >= fitted;
        job->requests += !copy && !job->held[i];
        job->copies += copy && !job->held[i];
    }
    if (job->rows.skipped)
        calibration_note(job->out, "%zu kernels left out: their counters and their times are of different launches",
                         job->rows.skipped);
    return job->requests + job->copies
               ? 0
               : err_set(err, "nothing to fit: the input has no row of requests or block copies");
}

int calibrate_zerocopy(struct calibration *c, const struct measurements *from, struct err *err)
{
    memset(c, 0, sizeof *c);
    struct platform *platform = platform_load(from->base, err);
    if (!platform || platform_whole(platform, "pcie", err) || platform_whole(platform, "gpu", err) ||
        platform_whole(platform, "launch", err)) {
        platform_free(platform);
        return -1;
    }
    struct job job = {.out = c, .base_name = platform->name};
    job.base.pcie = *(const struct pcie *)platform_section_get(platform, "pcie");
    job.base.launch = *(const struct launch *)platform_section_get(platform, "launch");
    job.gpu = *(const struct gpu *)platform_section_get(platform, "gpu");
    struct link_costs fitted = job.base;
    int rc = read_all(&job, from, err);
    c->limits = json_incref(job.rows.limits);
    if (!rc && job.requests)
        rc = fit_requests(&job, &fitted, err);
    if (!rc && job.copies)
        rc = fit_copies(&job, &fitted, err);
    if (!rc)
        rc = fill_rows(&job, &fitted, err);
    link_rows_release(&job.rows);
    free(job.held);
    platform_free(platform);
    return rc;
}
