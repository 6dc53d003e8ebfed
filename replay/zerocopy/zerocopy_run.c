#include "replay/zerocopy/zerocopy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/zerocopy/host_reads.h"
#include "models/zerocopy/lane.h"
#include "trace/base/mem.h"

double zerocopy_structure_bytes(const struct scan_setup *setup)
{
    double bytes = (double)setup->bytes;
    for (size_t i = 0; i < setup->structure_count && !setup->bytes; i++)
        bytes += (double)setup->structures[i].elements * setup->structures[i].element;
    return bytes;
}

double zerocopy_element_bytes(const struct scan_setup *setup)
{
    double bytes = 0;
    for (size_t i = 0; i < setup->structure_count; i++)
        bytes += setup->structures[i].element;
    return bytes;
}

/* --- patterns --- */

static enum scan_reuse choose_reuse(const struct zerocopy_pattern *pattern, const struct zerocopy_context *c,
                                    struct outcome *out)
{
    enum scan_reuse reuse = c->setup.reuse;
    if (reuse == REUSE_AUTO)
        reuse = pattern->default_reuse[c->setup.shape];
    if (reuse == REUSE_GROUP4 && !pattern->lane_walks)
        reuse = REUSE_NONE;
    if (reuse == REUSE_L1 && c->pcie->l1_steady <= 0 && pattern->lane_walks && c->setup.shape == SCAN_ARRAY)
        outcome_note(out, "the platform's L1 was not measured: sectors are taken to be fetched once by a warp");
    return reuse;
}

/* reuse=l1 of lists and rows: by the workload's program with the pattern's kernel, if it has one. */
static int open_simulation(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    const struct zerocopy_context *c = run->context;
    const struct workload *w = c->workload;
    bool rows = c->setup.shape == SCAN_ROWS;
    if (run->reuse != REUSE_L1 || c->setup.shape == SCAN_ARRAY || c->tier->rank)
        return 0;
    int rc = w && w->type->program_as && c->pcie->load_ns > 0
                 ? w->type->program_as(w->state, run->pattern->head.name, &run->program, err)
                 : 0;
    run->simulated = rc == 1;
    run->refused = rc == 0 && !rows;
    if (rc == 0)
        outcome_note(out,
                     rows ? "reuse=l1 is counted, not simulated (what the warp before touched counts as cached): %s"
                          : "reuse=l1 needs a simulation, which is not possible here: %s",
                     c->pcie->load_ns > 0 ? "the input has no program with this kernel"
                                          : "the platform's latency of host memory is not known");
    return rc < 0 ? -1 : 0;
}

static int open_pattern(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    const struct scan_setup *s = &run->context->setup;
    const struct zerocopy_pattern *pattern = run->pattern;
    static const char *const shapes[] = {"neighbour lists", "rows", "arrays"};
    if (!(pattern->shapes >> s->shape & 1)) {
        outcome_note(out, "pattern %s is not defined for %s", pattern->head.name, shapes[s->shape]);
        run->refused = true;
        return 0;
    }
    run->reuse = choose_reuse(pattern, run->context, out);
    if (open_simulation(run, out, err))
        return -1;
    if (run->simulated || run->refused)
        return 0;
    for (size_t i = 0; i < s->structure_count; i++) {
        run->views[i] = (struct pattern_view){
            .shape = s->shape,
            .reuse = run->reuse,
            .request = (enum request_rule)run->context->pcie->request,
            .base = s->structures[i].base,
            .element = s->structures[i].element,
            .round = LINE_BYTES / s->structures[0].element,
            .unmasked_head = s->unmasked_head,
            .chunk = (uint64_t)s->chunk,
            .row = (uint64_t)s->row_elements,
            .residency = run->context->tier->rank ? &run->context->tier->residency : NULL,
            .block_warps = (uint64_t)(s->threads_per_block + WARP_LANES - 1) / WARP_LANES,
        };
        run->counters[i] = pattern->counter_new(&run->views[i], err);
        if (!run->counters[i])
            return -1;
    }
    return 0;
}

/* Re-fetches by lanes that walk parts of an array. */
static double fetches_of(const struct zerocopy_run *run, const struct pattern_view *view,
                         const struct pattern_count *count)
{
    const struct scan_setup *s = &run->context->setup;
    if (!run->pattern->lane_walks || run->reuse != REUSE_L1 || s->shape != SCAN_ARRAY || !count->loads)
        return 1;
    double per_sector = fmin(fmax(1, (double)SECTOR_BYTES / view->element), (double)s->chunk);
    double lines = fmin(WARP_LANES, ceil(WARP_LANES * (double)s->chunk * view->element / LINE_BYTES));
    struct l1_kernel kernel = {.blocks = ceil((double)s->lanes / (double)s->threads_per_block),
                               .blocks_per_sm = (double)s->blocks_per_sm,
                               .warps = (double)view->block_warps,
                               .lines_per_warp = lines,
                               .sector_loads = per_sector};
    return l1_fetches(run->context->pcie, run->context->gpu, &kernel);
}

static void scale(struct request_mix *mix, double by)
{
    if (by == 1)
        return;
    for (int i = 0; i < LINE_SECTORS; i++)
        mix->by_size[i] = (uint64_t)llround((double)mix->by_size[i] * by);
    mix->host_lines = (uint64_t)llround((double)mix->host_lines * by);
}

double zerocopy_dependent_ns(const struct zerocopy_context *c)
{
    const struct pcie *p = c->pcie;
    if (p->load_ns <= 0 || c->setup.shape != SCAN_LISTS || c->setup.scale > 0)
        return 0;
    return p->load_ns + (c->setup.visits ? p->visit_ns : 0);
}

/* Dependent loads of the launch's longest list, one after the other. Loops without a visit are unrolled by four. */
static double chain_ns(const struct zerocopy_run *run, const struct pattern_count *count)
{
    const struct pcie *p = run->context->pcie;
    const bool visits = run->context->setup.visits;
    const double each = zerocopy_dependent_ns(run->context);
    if (each == 0)
        return 0;
    if (run->pattern->lane_walks) {
        double sectors = ceil((double)count->longest * run->views[0].element / SECTOR_BYTES);
        return sectors * p->load_ns + ceil((double)count->longest / 4) * (visits ? p->visit_ns : 0);
    }
    return (visits ? (double)count->longest_load : ceil((double)count->longest_load / 4)) * each;
}

static double resident_warps(const struct zerocopy_run *run)
{
    const struct zerocopy_context *c = run->context;
    double warps = (double)run->views[0].block_warps;
    double sms = (double)c->gpu->sms;
    double all = sms * warps * l1_resident_blocks(c->gpu, warps, (double)c->setup.blocks_per_sm);
    if (c->setup.shape == SCAN_ARRAY && !run->pattern->lane_walks)
        return fmin(all, (double)c->setup.stride_blocks * warps);
    return all;
}

/* To the totals, and its row of --requests. */
static void add_launch(struct zerocopy_run *run, uint32_t launch, const struct link_launch *l, double time,
                       enum link_bound bound)
{
    FILE *f = run->context->launches;
    const struct request_mix *mix = &l->mix;
    double latency = run->context->pcie->load_ns; /* the longest list in loads */
    mix_add(&run->totals.mix, mix);
    run->totals.time_ns += time;
    run->totals.bound_ns[bound] += time;
    if (!f)
        return;
    (void)fprintf(f,
                  "%s,%" PRIu32 ",%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                  ",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n",
                  run->name, launch, run->launch_elements, mix->by_size[0], mix->by_size[1], mix->by_size[2],
                  mix->by_size[3], mix_requests(mix), mix_payload(mix), mix->host_lines, time, l->loads,
                  l->loads_at_once, l->resident_warps, latency > 0 ? l->chain_ns / latency : 0, l->jumps,
                  l->jumps > 0 ? l->span : 0);
}

/* A launch of such work, from the end of the one before to its own; where that is waited for, to what the host does
 * next. */
static double called_ns(struct zerocopy_run *run, double work_ns, bool waited)
{
    const double before = run->totals.time_ns;
    const double end = launch_start_ns(run->context->calls, &run->host_ns, before) + work_ns;
    return (waited ? launch_wait_ns(run->context->calls, &run->host_ns, end) : end) - before;
}

void zerocopy_run_add_launch(struct zerocopy_run *run, uint32_t launch, const struct link_launch *l, bool waited)
{
    const struct zerocopy_context *c = run->context;
    enum link_bound bound;
    double time = tier_launch_ns(c->tier, c->gpu, c->pcie, link_time_ns(c->pcie, c->gpu, l, &bound));
    add_launch(run, launch, l, called_ns(run, time, waited), bound);
}

/* Nothing says where the next of `rows` rows lies that a launch gathers, unless it lies behind the one before. */
static double jumps_of(const struct zerocopy_context *c, double rows)
{
    return c->setup.shape == SCAN_ROWS && c->rows > 0 ? rows * c->jumps / c->rows : 0;
}

static double span_of(const struct zerocopy_context *c)
{
    return (double)c->setup.structures[0].elements * c->setup.structures[0].element;
}

/* The same of a launch that was simulated, with its time. */
static void add_simulated(struct zerocopy_run *run, uint32_t launch, const struct program_launch *shape,
                          const struct host_reads_count *count)
{
    enum link_bound bound;
    const struct zerocopy_context *c = run->context;
    const struct link_launch l = {.mix = count->mix, .loads = (double)count->loads};
    double link = link_time_ns(c->pcie, c->gpu, &(struct link_launch){.mix = count->mix}, &bound);
    const double row = (double)c->setup.row_elements * c->setup.structures[0].element;
    const double rows = row > 0 ? fmin((double)mix_requests(&l.mix), (double)mix_payload(&l.mix) / row) : 0;
    const double read = link_walked_ns(c->pcie, count->time_ns, jumps_of(c, rows), span_of(c));
    double time = tier_launch_ns(c->tier, c->gpu, c->pcie, read);
    if (2 * link < time)
        bound = LINK_ISSUE;
    run->totals.launches++;
    add_launch(run, launch, &l, shape->cpu ? 0 : called_ns(run, time, shape->waited), bound);
}

static int launch_pattern(struct zerocopy_run *run, uint32_t launch, struct err *err)
{
    const struct zerocopy_context *c = run->context;
    bool unrolled = run->pattern->lane_walks || (c->setup.shape == SCAN_LISTS && !c->setup.visits);
    struct link_launch l = {.resident_warps = resident_warps(run),
                            .vertices = c->setup.shape == SCAN_LISTS ? (double)c->setup.lanes : 0,
                            .loads_at_once = unrolled ? 4 : 1,
                            .span = span_of(c)};
    l.jumps = jumps_of(c, run->launch_elements / fmax(1, (double)c->setup.row_elements));
    for (size_t i = 0; i < c->setup.structure_count; i++) {
        struct pattern_count count;
        if (run->pattern->finish(run->counters[i], &count, err))
            return -1;
        double stands_for = c->setup.scale > 0 ? c->setup.scale : 1;
        scale(&count.mix, fetches_of(run, &run->views[i], &count) * stands_for);
        mix_add(&l.mix, &count.mix);
        l.loads += (double)count.loads * stands_for;
        if (i == 0)
            l.chain_ns = chain_ns(run, &count);
    }
    zerocopy_run_add_launch(run, launch, &l, c->setup.shape != SCAN_ARRAY);
    return 0;
}

/* --- patterns and baselines --- */

int zerocopy_run_open(struct zerocopy_run *run, const struct replay_policy *chosen,
                      const struct zerocopy_context *context, struct outcome *out, struct err *err)
{
    const struct policy_head *policy = chosen->head;
    memset(run, 0, sizeof *run);
    run->name = policy->name;
    run->params = chosen->params;
    run->context = context;
    if (!policy->baseline) {
        run->pattern = (const struct zerocopy_pattern *)policy;
        return open_pattern(run, out, err);
    }
    run->baseline = (const struct zerocopy_baseline *)policy;
    return run->baseline->open ? run->baseline->open(run, out, err) : 0;
}

int zerocopy_run_scans(struct zerocopy_run *run, const struct scan *scans, size_t n, struct err *err)
{
    if (run->refused || run->simulated || run->baseline)
        return 0;
    for (size_t i = 0; i < run->context->setup.structure_count; i++)
        if (run->pattern->count(run->counters[i], scans, n, err))
            return -1;
    return 0;
}

int zerocopy_run_launch(struct zerocopy_run *run, uint32_t launch, struct err *err)
{
    run->totals.launches++;
    run->totals.elements += run->launch_elements;
    int rc = 0;
    if (!run->refused && !run->simulated && run->pattern)
        rc = launch_pattern(run, launch, err);
    else if (!run->refused && run->baseline && run->baseline->launch)
        run->baseline->launch(run);
    run->launch_elements = 0;
    return rc;
}

/* --- metrics --- */

/* tier_metrics() sets what is kept near the GPU, the engine's caller the speed-up. */
#define ROWS(ROW)                                                                                                      \
    ROW(time_ns, REAL, SUM, "time of the launches; several roots: the mean of them, as every count below",             \
        t->time_ns / runs)                                                                                             \
    ROW(speedup_ratio, REAL, GEOMEAN, "time of the baseline / time", NAN)                                              \
    ROW(requests, INT, SUM, "PCIe read requests", (double)mix_requests(&t->mix) / counted)                             \
    ROW(requests_32, INT, SUM, "of 32 B", (double)t->mix.by_size[0] / counted)                                         \
    ROW(requests_64, INT, SUM, "of 64 B", (double)t->mix.by_size[1] / counted)                                         \
    ROW(requests_96, INT, SUM, "of 96 B", (double)t->mix.by_size[2] / counted)                                         \
    ROW(requests_128, INT, SUM, "of 128 B", (double)t->mix.by_size[3] / counted)                                       \
    ROW(payload_bytes, INT, SUM, "read from the host over the link", t->payload_bytes / runs)                          \
    ROW(wire_up_bytes, INT, SUM, "16 B for each request, as hardware counters see it",                                 \
        (double)link_up_bytes(&t->mix) / counted)                                                                      \
    ROW(wire_down_bytes, INT, SUM, "payload and 12 B for each request, likewise",                                      \
        (double)link_down_bytes(&t->mix) / counted)                                                                    \
    ROW(bandwidth_bytes_per_s, REAL, MEAN, "useful: bytes of the elements read / time", needed / seconds)              \
    ROW(link_bytes_per_s, REAL, MEAN, "payload / time", t->payload_bytes / seconds)                                    \
    ROW(host_dram_bytes, INT, SUM, "read from host memory in 64 B lines", t->host_dram_bytes / runs)                   \
    ROW(host_dram_bytes_per_s, REAL, MEAN, "likewise / time", t->host_dram_bytes / seconds)                            \
    ROW(read_amplification_ratio, REAL, MEAN,                                                                          \
        "payload / bytes of the whole structure, also where rows of it are asked for",                                 \
        t->payload_bytes / runs / zerocopy_structure_bytes(setup))                                                     \
    ROW(overfetch_ratio, REAL, MEAN, "payload / bytes of the elements read", t->payload_bytes / needed)                \
    ROW(edges_per_s, REAL, MEAN, "elements of neighbour lists read / time", edges / seconds)                           \
    ROW(bound_wire_ratio, REAL, MEAN, "share of time in launches that the wire held up most",                          \
        t->bound_ns[LINK_WIRE] / bound)                                                                                \
    ROW(bound_tags_ratio, REAL, MEAN, "likewise, outstanding requests", t->bound_ns[LINK_TAGS] / bound)                \
    ROW(bound_host_ratio, REAL, MEAN, "likewise, host memory; the rest: the GPU's warps and their latency",            \
        t->bound_ns[LINK_HOST] / bound)                                                                                \
    ROW(launches, INT, SUM, "kernel launches, of all roots together", (double)t->launches)                             \
    ROW(roots, INT, SUM, "traversals that the numbers are means over", runs)                                           \
    ROW(hit_ratio, REAL, MEAN, "rows served by GPU memory / rows asked for", NAN)                                      \
    ROW(local_bytes, REAL, SUM, "of rows from the GPU's own memory", NAN)                                              \
    ROW(peer_bytes, REAL, SUM, "of rows from other GPUs", NAN)                                                         \
    ROW(beside_ratio, REAL, MEAN,                                                                                      \
        "how long a kernel beside takes meanwhile / alone: at most as if multiprocessors or memory bandwidth, "        \
        "whichever loses more, were all that it needs",                                                                \
        NAN)                                                                                                           \
    ROW(epoch_ns, REAL, SUM, "sampler, gather and consumer: the slowest for each batch, and one fill", NAN)            \
    ROW(h2d_bytes, INT, SUM,                                                                                           \
        "bytes to the GPU: requests' payload, copies, migrations (of uvm as replay uvm has them, remote accesses "     \
        "besides)",                                                                                                    \
        (t->payload_bytes - t->remote_bytes) / runs)                                                                   \
    ROW(d2h_bytes, INT, SUM,                                                                                           \
        "bytes from the GPU: migrations, stores of the program's own; n/a where only reads are known",                 \
        (t->writes_known ? t->d2h_bytes : NAN) / runs)

const struct metric zerocopy_metric_table[] = {ROWS(METRIC_ROW){0}};

void zerocopy_metrics(const struct zerocopy_totals *t, const struct scan_setup *setup, double runs, bool link,
                      struct outcome *out)
{
    const double seconds = t->time_ns / 1e9, counted = link ? runs : NAN, bound = link ? t->time_ns : NAN;
    const double needed = t->elements_known ? t->needed_bytes : NAN;
    const double edges = t->elements_known && setup->shape == SCAN_LISTS ? t->elements : NAN;
#define PUT(name, type, aggregate, help, value) outcome_set(out, #name, value);
    ROWS(PUT)
}

void zerocopy_bound_beside(const struct zerocopy_run *run, struct outcome *out)
{
    const struct metric_value *written = outcome_get(out, "link_bytes_per_s");
    const struct zerocopy_context *c = run->context;
    const double share = run->pattern ? c->settings->sm_share_pct / 100 : 0;
    const double taken = fmax(share, written->known ? written->real / c->gpu->dram_bytes_per_s : 1);
    if (taken < 1)
        outcome_interval(out, "beside_ratio", 1, 1 / (1 - taken));
}

/* What the platform has no number for. The least reach that is known of a GPU is an H100's (its platform file). */
static void note_walks(const struct zerocopy_context *c, struct outcome *out)
{
    static const double known_reach = 7e8;
    const double span = span_of(c);
    if (c->setup.shape == SCAN_ROWS && c->jumps > 0 && c->pcie->walk_ns <= 0 && span > known_reach)
        outcome_note(
            out,
            "time_ns is a lower bound: the table is %.2g GB, and translating addresses beyond a GPU's reach (%.1g GB "
            "on an H100, beyond it up to 2.4 times as long) was not measured on this platform (walk_ns)",
            span / 1e9, known_reach / 1e9);
}

int zerocopy_run_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    struct zerocopy_totals *t = &run->totals;
    if (run->refused)
        return 0;
    t->elements_known = run->context->counts_elements;
    t->needed_bytes = (t->elements + run->context->served_elements) * zerocopy_element_bytes(&run->context->setup);
    if (run->baseline)
        return run->baseline->finish(run, runs, out, err);
    note_walks(run->context, out);
    if (run->simulated) {
        if (zerocopy_simulate(run, &run->program, runs, out, err))
            return -1;
    } else {
        t->payload_bytes = (double)mix_payload(&t->mix);
        t->host_dram_bytes = 64 * (double)t->mix.host_lines;
        zerocopy_metrics(t, &run->context->setup, (double)runs, true, out);
    }
    zerocopy_bound_beside(run, out);
    return 0;
}

void zerocopy_run_close(struct zerocopy_run *run)
{
    for (size_t i = 0; i < 2; i++)
        if (run->counters[i])
            run->pattern->counter_free(run->counters[i]);
    memset(run, 0, sizeof *run);
}

struct simulating {
    struct zerocopy_run *run;
    const struct program *program;
    uint64_t sampled; /* launches */
    uint64_t taken;   /* launches, from others */
    double requests;  /* of all */
    double variance;
};

static int take_launch(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct simulating *s = ctx;
    struct program_launch shape = {0};
    (void)err;
    s->program->ops->launch(s->program->state, number, &shape);
    if (count->sampled) {
        double error = count->error * (double)mix_requests(&count->mix);
        s->sampled++;
        s->variance += error * error;
    }
    s->taken += count->taken;
    s->requests += (double)mix_requests(&count->mix);
    add_simulated(s->run, number, &shape, count);
    return 0;
}

/* Where what the launches take is kept; NULL: nowhere, or nothing is. */
static struct host_reads_count *took_of(const struct zerocopy_run *run, uint32_t launches)
{
    struct zerocopy_took *took = run->context->took;
    for (int i = 0; took && i < ZEROCOPY_TOOK; i++, took++) {
        if (!took->of && !run->context->again) {
            (void)snprintf(took->pattern, sizeof took->pattern, "%s", run->name);
            took->of = mem_zalloc(launches, sizeof *took->of, NULL);
            took->launches = launches;
            return took->of;
        }
        if (strcmp(took->pattern, run->name) == 0)
            return took->launches == launches ? took->of : NULL;
    }
    return NULL;
}

int zerocopy_simulate(struct zerocopy_run *run, const struct program *program, uint64_t runs, struct outcome *out,
                      struct err *err)
{
    struct zerocopy_totals *t = &run->totals;
    struct simulating s = {.run = run, .program = program};
    bool stopped = false;
    struct host_reads_count *took = took_of(run, program->ops->launches(program->state));
    const struct host_reads how = {.gpu = run->context->gpu,
                                   .pcie = run->context->pcie,
                                   .program = program,
                                   .weights = run->context->weights,
                                   .name = launch_weights_are_of(run->context->weights, program) ? NULL : run->name,
                                   .most_loads = (uint64_t)run->context->settings->simulated_loads,
                                   .threads = run->context->threads,
                                   .stop_ns = run->context->stop_ns * (double)runs,
                                   .stopped = &stopped,
                                   .alike = run->context->alike,
                                   .took = took,
                                   .again = took && run->context->again,
                                   .same = run->context->same,
                                   .on_launch = take_launch,
                                   .ctx = &s};
    t->launches = 0;
    if (host_reads_run(&how, err))
        return -1;
    if (stopped) {
        outcome_at_least(out, "time_ns", run->context->stop_ns);
        return 0;
    }
    struct scan_setup setup = run->context->setup;
    if (run->context->describe && !run->context->again && run->context->describe(run->context->reading, &setup, err))
        return -1; /* asked again, it is for their time */
    t->payload_bytes = (double)mix_payload(&t->mix);
    t->host_dram_bytes = 64 * (double)t->mix.host_lines;
    zerocopy_metrics(t, &setup, (double)runs, true, out);
    if (s.sampled)
        outcome_note(out, "%llu launches are sampled (simulated_loads): standard error of all requests %.2f %%",
                     (unsigned long long)s.sampled, s.requests > 0 ? 100 * sqrt(s.variance) / s.requests : 0);
    if (s.taken)
        outcome_note(
            out,
            "%llu launches are not simulated, but take what others that read about as many lines take: right within "
            "1 %% where checked (--whole: all)",
            (unsigned long long)s.taken);
    return 0;
}
