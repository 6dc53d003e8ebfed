#include "replay/zerocopy/zerocopy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/gpu/occupancy.h"
#include "replay/derive/recorded_program.h"
#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

struct loads_params {
    int64_t reuse;
};

enum { LOADS_AUTO, LOADS_NONE, LOADS_PREVWARP, LOADS_WARP, LOADS_L1 };

static const struct param params[] = {
    PARAM_CHOICE_ROW(
        loads_params, reuse, "auto|none|prevwarp|warp|l1", LOADS_AUTO,
        "sectors that a load need not request again; l1: simulated; auto: the input's rule, if one of these"),
    {0}};

/* A warp of the launch. */
struct warp {
    uint32_t wait;  /* the last one in which it asked for something */
    uint32_t waits; /* in which it did */
};

struct counted_loads {
    struct zerocopy_run *run;
    struct derive_launches launches;
    struct coalescer reads, writes;
    uint64_t atomics;
    /* The launch that is going on. */
    uint32_t launch;
    struct program_launch shape;
    struct id_map numbers; /* of its warps */
    uint64_t last_id;      /* the warp of the load before, and its number + 1 (0: none): a walk stays with a warp */
    uint32_t last;
    struct warp *warps;
    size_t cap;
    double loads, waits;
    uint32_t longest; /* waits of the warp with the most */
};

static enum scan_reuse reuse_of(const struct zerocopy_run *run)
{
    static const enum scan_reuse rules[] = {
        [LOADS_NONE] = REUSE_NONE, [LOADS_PREVWARP] = REUSE_PREVWARP, [LOADS_WARP] = REUSE_WARP, [LOADS_L1] = REUSE_L1};
    int64_t given = ((const struct loads_params *)run->params)->reuse;
    enum scan_reuse input = run->context->setup.reuse;
    if (given != LOADS_AUTO)
        return rules[given];
    bool known =
        input == REUSE_PREVWARP || input == REUSE_WARP || (input == REUSE_L1 && run->context->program->program);
    return known ? input : REUSE_NONE;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct counted_loads *o = ctx;
    (void)err;
    o->launch = kernel->group;
    derive_launches_get(&o->launches, kernel->id, &o->shape);
    return 0;
}

/* A load that asked for something. */
static int add_load(struct counted_loads *o, const struct program_op *op, struct err *err)
{
    uint32_t known = o->numbers.count, i = o->last - 1;
    if (((!o->last || op->id != o->last_id) && id_map_number(&o->numbers, op->id, &i, err)) ||
        mem_grow((void **)&o->warps, &o->cap, (size_t)i + 1, sizeof *o->warps, err))
        return -1;
    struct warp *w = &o->warps[i];
    o->last_id = op->id;
    o->last = i + 1;
    o->loads++;
    if (i == known)
        *w = (struct warp){0};
    else if (w->wait == op->wait)
        return 0;
    w->wait = op->wait;
    w->waits++;
    o->waits++;
    o->longest = w->waits > o->longest ? w->waits : o->longest;
    return 0;
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct counted_loads *o = ctx;
    if (op->access == RECORD_WRITE)
        return derive_coalesce(&o->writes, op, err);
    if (op->access != RECORD_READ) {
        o->atomics++;
        return 0;
    }
    uint64_t before = mix_requests(&o->reads.mix);
    if (derive_coalesce(&o->reads, op, err))
        return -1;
    return mix_requests(&o->reads.mix) > before ? add_load(o, op, err) : 0;
}

/* Warps at once on the whole GPU: no more than there are. */
static double resident_warps(const struct counted_loads *o)
{
    const struct gpu *gpu = o->run->context->gpu;
    const struct program_launch *l = &o->shape;
    double all = (double)(gpu->sms * gpu->warps_per_sm), there = fmax(1, o->numbers.count);
    if (l->threads) {
        double blocks = occupancy_blocks(gpu, l->threads, l->registers, l->shared, l->blocks_most);
        all = (double)gpu->sms * fmax(1, blocks) * program_warps_of_block(l);
        there = l->blocks ? (double)program_warps(l) : there;
    }
    return fmin(all, there);
}

static void close_launch(struct counted_loads *o)
{
    const struct zerocopy_context *c = o->run->context;
    struct link_launch l = {.mix = o->reads.mix,
                            .loads = o->loads,
                            .loads_at_once = o->waits > 0 ? o->loads / o->waits : 1,
                            .resident_warps = resident_warps(o),
                            .chain_ns = o->longest * zerocopy_dependent_ns(c),
                            .vertices = c->setup.shape == SCAN_LISTS ? (double)c->setup.lanes : 0};
    zerocopy_run_add_launch(o->run, o->launch, &l, o->shape.waited);
    o->run->totals.launches++;
    o->reads.mix = (struct request_mix){0};
    coalescer_launch(&o->reads);
    id_map_clear(&o->numbers);
    o->loads = o->waits = 0;
    o->longest = o->last = 0;
    o->shape = (struct program_launch){0};
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    (void)launch;
    (void)err;
    close_launch(ctx);
    return 0;
}

static void note(const struct counted_loads *o, struct outcome *out)
{
    const struct request_mix *w = &o->writes.mix;
    outcome_note(out, "the requests of the program's own loads, of all memory that it does not keep on the GPU itself");
    if (mix_requests(w))
        outcome_note(out,
                     "stores make %" PRIu64 " writes of %" PRIu64
                     " B over the link besides, which are not counted as requests and not timed",
                     mix_requests(w), mix_payload(w));
    if (o->atomics)
        outcome_note(out, "%" PRIu64 " atomic accesses are not counted", o->atomics);
    if (o->run->context->program->store)
        outcome_note(out, "what waits for what is not recorded: each load is waited for");
}

static int walk(struct counted_loads *o, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    const struct derive_source *program = o->run->context->program;
    const struct derive_options options = {.last = UINT64_MAX, .offloadable = true};
    if (derive_launches_open(&o->launches, program, err) || derive_walk(program, &options, &taker, o, NULL, err))
        return -1;
    if (o->loads > 0) /* a recording that was cut in a launch */
        close_launch(o);
    return 0;
}

static int loads_open(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    (void)err;
    run->refused = true;
    if (!run->context->program)
        outcome_note(out, "what the program's own loads ask for is not known: the input says what is read, not by "
                          "which accesses");
    else if (run->context->tier->rank)
        outcome_note(out, "rows kept on the GPU are a matter of the access patterns, not of the program's own loads");
    else
        run->refused = false;
    return 0;
}

static int simulate_recorded(struct zerocopy_run *run, bool waits, uint64_t runs, struct outcome *out, struct err *err)
{
    struct recorded_program *recorded = recorded_program_open(run->context->program, waits, err);
    if (!recorded)
        return -1;
    const struct program program = recorded_program_of(recorded);
    run->totals.d2h_bytes = (double)recorded_program_stored(recorded);
    run->totals.writes_known = true;
    int rc = zerocopy_simulate(run, &program, runs, out, err);
    recorded_program_close(recorded);
    return rc;
}

/* The time if each load is waited for is the upper end. */
static int add_waits(const struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    struct zerocopy_context context = *run->context;
    struct zerocopy_run waits = {
        .name = run->name, .baseline = run->baseline, .context = &context, .params = run->params};
    struct outcome most;
    if (outcome_init(&most, out->metrics, err))
        return -1;
    context.launches = NULL;
    context.stop_ns = 0;
    context.took = NULL;
    int rc = simulate_recorded(&waits, true, runs, &most, err);
    if (rc == 0 && waits.totals.time_ns > run->totals.time_ns)
        outcome_interval(out, "time_ns", run->totals.time_ns, waits.totals.time_ns);
    outcome_release(&most);
    return rc;
}

/* Of a recording by its warps' accesses: what waits for what is not recorded, and leaves an interval. */
static int simulate(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    if (run->context->program->program)
        return zerocopy_simulate(run, run->context->program->program, runs, out, err);
    if (simulate_recorded(run, false, runs, out, err))
        return -1;
    outcome_note(out, "which load waits for which is not recorded: the low end has a warp's loads in flight together "
                      "until it writes or jumps back, the high end waits for each; neither has computing and barriers");
    return outcome_get(out, "time_ns")->lower_bound ? 0 : add_waits(run, runs, out, err);
}

static int loads_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    if (reuse_of(run) == REUSE_L1)
        return simulate(run, runs, out, err);
    struct counted_loads o = {.run = run};
    struct zerocopy_totals *t = &run->totals;
    t->launches = 0;
    coalescer_init(&o.reads, reuse_of(run), NULL, NULL);
    coalescer_init(&o.writes, REUSE_NONE, NULL, NULL);
    o.reads.request = (enum request_rule)run->context->pcie->request;
    int rc = walk(&o, err);
    if (rc == 0) {
        t->payload_bytes = (double)mix_payload(&t->mix);
        t->d2h_bytes = (double)mix_payload(&o.writes.mix);
        t->writes_known = o.atomics == 0;
        t->host_dram_bytes = 64 * (double)t->mix.host_lines;
        zerocopy_metrics(t, &run->context->setup, (double)runs, true, out);
        note(&o, out);
    }
    derive_launches_release(&o.launches);
    coalescer_release(&o.reads);
    coalescer_release(&o.writes);
    id_map_release(&o.numbers);
    free(o.warps);
    return rc;
}

bool zerocopy_loads_simulate(const struct replay_policy *policy)
{
    return policy->head == &zerocopy_loads.head && ((const struct loads_params *)policy->params)->reuse == LOADS_L1;
}

const struct zerocopy_baseline zerocopy_loads = {
    .head = {.name = "as-written",
             .summary = "the program's own loads, access by access, as it is written",
             .source = "dissertation, section 2.3.3 (which requests a warp's load makes)",
             .params = params,
             .state_size = sizeof(struct loads_params),
             .baseline = true},
    .open = loads_open,
    .finish = loads_finish};
