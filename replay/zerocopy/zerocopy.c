/* zerocopy: what crosses PCIe when a GPU reads host memory by itself, request by request, under an access pattern. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies.h"
#include "replay/derive/derive.h"
#include "replay/derive/derive_scans.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/thread_pool.h"

static const struct param settings[] = {
    PARAM_REAL_ROW(zerocopy_settings, gpu_memory_ratio, "", 0, 1e6, 0,
                   "uvm: bytes of the edge list (or table) / GPU memory; 0: by gpu_memory_bytes, oversubscription_pct"),
    UVM_MANAGED_ROWS(zerocopy_settings),
    ZEROCOPY_TIER_ROWS(zerocopy_settings),
    PARAM_REAL_ROW(zerocopy_settings, sm_share_pct, "%", 0.1, 100, 100, "of the multiprocessors run the kernel"),
    PARAM_INT_ROW(zerocopy_settings, simulated_loads, "", 0, 1e15, 100000,
                  "reuse=l1: launches of more warp loads are sampled; 0: none are"),
    {0}};

/* The patterns of models/policies.h, the program's own loads, then the baselines of zerocopy_baseline.c. */
static const struct policy_head *const policies[] = {ZEROCOPY_PATTERNS(POLICY_HEAD) & zerocopy_loads.head,
                                                     &zerocopy_uvm.head,
                                                     &zerocopy_dma.head,
                                                     &zerocopy_copy.head,
                                                     &zerocopy_copy_blocks.head,
                                                     &zerocopy_subgraph.head,
                                                     NULL};

/* What is read of the job's input. */
struct reading {
    const struct scan_ops *ops;
    void *state;
    struct zerocopy_trace *trace; /* the state, where the scans are stored */
    struct store *view;           /* of a recording of accesses, that they are stored in */
    struct program_reads *reads;  /* the state, where a generated program is asked */
    struct derive_input program;
    bool has_program, late; /* late: `reads` are opened when they are asked what they are (describe()) */
    uint64_t bytes;         /* of a workload's structures, whose scans are taken from its program; 0: its own */
    int threads;
};

static int read_stored(struct reading *r, struct store *store, struct err *err)
{
    r->trace = zerocopy_trace_open(store, err);
    r->ops = &zerocopy_trace_ops;
    r->state = r->trace;
    return r->trace ? 0 : -1;
}

/* The reads of a generated program: gone over once for what they are. */
static int open_reads(struct reading *r, struct err *err)
{
    r->state = r->reads = program_reads_open(&r->program.source, r->threads, err);
    return r->reads ? 0 : -1;
}

static int describe(void *reading, struct scan_setup *setup, struct err *err)
{
    struct reading *r = reading;
    if (!r->reads && open_reads(r, err))
        return -1;
    r->ops->setup(r->state, setup);
    setup->bytes = r->bytes;
    return 0;
}

/* The reads of a program, as lists. */
static int read_program(struct reading *r, struct err *err)
{
    if (r->program.source.program) {
        r->ops = &program_reads_ops;
        return r->late ? 0 : open_reads(r, err);
    }
    r->view = derive_view(&r->program.source, VIEW_ZEROCOPY, err);
    return r->view ? read_stored(r, r->view, err) : -1;
}

static const struct zerocopy_options *options_of(const struct replay_job *job)
{
    static const struct zerocopy_options none = {.stop_ns = 0};
    return job->engine_options ? job->engine_options : &none;
}

/* Whether nobody asks for the scans of a generated program, or what they are of before it has been simulated. */
static bool read_late(const struct replay_job *job)
{
    size_t simulated = 0;
    for (size_t i = 0; i < job->policy_count; i++)
        simulated += zerocopy_loads_simulate(&job->policies[i]);
    return options_of(job)->link_metrics_only && simulated == job->policy_count;
}

const struct scan_ops *zerocopy_scans_of(const struct workload *w, struct scan_setup *setup)
{
    const struct workload_type *t = w->type;
    const struct scan_ops *ops = !t ? NULL : t->scans ? t->scans : t->produces == WORKLOAD_SCANS ? t->ops : NULL;
    *setup = (struct scan_setup){.shape = SCAN_ARRAY};
    if (ops)
        ops->setup(w->state, setup);
    return t && t->scans && !setup->lanes ? NULL : ops;
}

static int reading_open(struct reading *r, const struct replay_job *job, struct err *err)
{
    const struct input *input = &job->inputs[0];
    const struct workload_type *type = input->workload.type;
    *r = (struct reading){.state = input->workload.state, .late = read_late(job), .threads = job->threads};
    bool stored = input->store && store_stream_find(input->store, "scans") >= 0;
    if (!stored && derive_input_is(input, VIEW_ZEROCOPY)) {
        r->has_program = true;
        if (derive_input_open(&r->program, input, VIEW_ZEROCOPY, err))
            return -1;
    }
    if (!type)
        return r->has_program ? read_program(r, err) : read_stored(r, input->store, err);
    struct scan_setup setup;
    r->ops = zerocopy_scans_of(&input->workload, &setup);
    if (r->ops)
        return 0;
    r->bytes = (uint64_t)zerocopy_structure_bytes(&setup);
    return r->has_program ? read_program(r, err) : derive_no_view(type, VIEW_ZEROCOPY, err);
}

/* Batches of a launch on their way to the runs: enough of them at once that a thread that has done its share, and waits
 * for the others, is not waiting most of the time. */
struct feed {
    struct scan *scans;
    size_t n;
    struct zerocopy_run *runs; /* they share nothing, so each may be on a thread of its own */
    struct thread_pool *pool;
    struct err *errs; /* of each run; "" */
};

enum { FEED_SCANS = 64 * SCAN_BATCH, FEED_FEW = 1024 };

static int feed_open(struct feed *f, const struct replay_job *job, struct err *err)
{
    int runs = (int)job->policy_count;
    f->pool = thread_pool_open(job->threads < runs ? job->threads : runs);
    f->errs = mem_zalloc(job->policy_count, sizeof *f->errs, err);
    f->scans = mem_zalloc(FEED_SCANS, sizeof *f->scans, err);
    return f->errs && f->scans ? 0 : -1;
}

static void feed_close(struct feed *f)
{
    free(f->scans);
    free(f->errs);
    thread_pool_close(f->pool);
}

static void feed_run(void *ctx, size_t r)
{
    const struct feed *f = ctx;
    (void)zerocopy_run_scans(&f->runs[r], f->scans, f->n, &f->errs[r]);
}

static int feed_runs(struct feed *f, const struct replay_job *job, struct err *err)
{
    thread_pool_run(f->n > FEED_FEW ? f->pool : NULL, job->policy_count, feed_run, f);
    f->n = 0;
    for (size_t r = 0; r < job->policy_count; r++)
        if (f->errs[r].msg[0])
            return err_set(err, "%s", f->errs[r].msg);
    return 0;
}

/* A batch, and its launch's end. */
static int take_batch(const struct replay_job *job, const struct scan_batch *batch, struct zerocopy_context *context,
                      struct feed *f, struct err *err)
{
    double all = 0, scale = context->setup.scale > 0 ? context->setup.scale : 1;
    for (size_t i = 0; i < batch->n; i++) {
        const uint64_t page = batch->scans[i].first * context->setup.structures[0].element / ZEROCOPY_PAGE;
        all += (double)batch->scans[i].count;
        context->jumps += context->rows == 0 || page != context->page;
        context->rows++;
        context->page = page;
    }
    double served = tier_serve(context->tier, batch->scans, batch->n);
    context->served_elements += served;
    memcpy(f->scans + f->n, batch->scans, batch->n * sizeof *f->scans);
    f->n += batch->n;
    for (size_t r = 0; r < job->policy_count; r++)
        f->runs[r].launch_elements += (all - served) * scale;
    if ((batch->last || f->n + SCAN_BATCH > FEED_SCANS) && feed_runs(f, job, err))
        return -1;
    for (size_t r = 0; batch->last && r < job->policy_count; r++)
        if (zerocopy_run_launch(&f->runs[r], batch->launch, err))
            return -1;
    if (batch->last)
        tier_launch_end(context->tier);
    progress_add(job->progress, batch->n);
    return job->progress && job->progress->cancelled ? err_set(err, "stopped") : 0;
}

static int feed(const struct replay_job *job, const struct scan_ops *ops, void *state, struct zerocopy_context *context,
                struct zerocopy_run *runs, struct err *err)
{
    struct scan_batch batch;
    struct feed f = {.runs = runs};
    int rc = feed_open(&f, job, err) || ops->start(state, err) ? -1 : 0;
    while (!rc && (rc = ops->next(state, &batch, err)) > 0)
        rc = take_batch(job, &batch, context, &f, err);
    feed_close(&f);
    return rc;
}

/* Whether somebody reads the scans; a brief job does not want them counted otherwise. */
static bool is_read(const struct replay_job *job, const struct zerocopy_run *runs)
{
    bool any = !options_of(job)->link_metrics_only || (job->policy_count && runs->context->setup.shape == SCAN_ROWS);
    for (size_t r = 0; r < job->policy_count; r++)
        any |= !runs[r].refused && !runs[r].simulated && !zerocopy_loads_simulate(&job->policies[r]);
    return any;
}

static const char launches_head[] =
    "policy,launch,active_elements,req32,req64,req96,req128,requests,payload_bytes,host64_lines,"
    "time_ns,warp_loads,loads_at_once,resident_warps,chain_loads,jumps,span_bytes\n";

static int replay_scans(const struct replay_job *job, struct reading *reading, struct outcome *outcomes,
                        struct err *err)
{
    const struct scan_ops *ops = reading->ops;
    void *state = reading->state;
    const struct zerocopy_settings *how = job->settings;
    struct tier tier;
    struct pcie pcie = *(const struct pcie *)platform_section_get(job->platform, "pcie");
    pcie.host_bytes_per_s /= (double)how->tier.gpus; /* all GPUs read host memory at once */
    struct gpu gpu = *(const struct gpu *)platform_section_get(job->platform, "gpu");
    int64_t sms = llround(ceil((double)gpu.sms * how->sm_share_pct / 100));
    gpu.sms = sms < 1 ? 1 : sms;
    struct zerocopy_context context = {.pcie = &pcie,
                                       .gpu = &gpu,
                                       .calls = platform_section_get(job->platform, "launch"),
                                       .platform = job->platform,
                                       .input = &job->inputs[0],
                                       .settings = how,
                                       .tier = &tier,
                                       .program = reading->has_program ? &reading->program.source : NULL,
                                       .workload = job->inputs[0].workload.type ? &job->inputs[0].workload : NULL,
                                       .launches = job->requests,
                                       .threads = job->threads,
                                       .stop_ns = options_of(job)->stop_ns,
                                       .weights = options_of(job)->weights,
                                       .alike = options_of(job)->alike,
                                       .took = options_of(job)->took,
                                       .again = options_of(job)->again,
                                       .same = options_of(job)->same};
    if (ops == &program_reads_ops && !reading->reads) {
        context.setup.shape = SCAN_LISTS;
        context.describe = describe;
        context.reading = reading;
    } else {
        ops->setup(state, &context.setup);
        context.setup.bytes = reading->bytes;
    }
    struct zerocopy_run *runs = mem_zalloc(job->policy_count, sizeof *runs, err);
    int rc = tier_open(&tier, &how->tier, &context.setup, ops, state, err) || !runs ? -1 : 0;
    if (!rc && job->requests)
        (void)fputs(launches_head, job->requests);
    for (size_t r = 0; r < job->policy_count && !rc; r++)
        rc = zerocopy_run_open(&runs[r], &job->policies[r], &context, &outcomes[r], err);
    context.counts_elements = !rc && is_read(job, runs);
    if (context.counts_elements)
        rc = feed(job, ops, state, &context, runs, err);
    for (size_t r = 0; r < job->policy_count && !rc; r++)
        rc = zerocopy_run_finish(&runs[r], scan_runs(ops, state), &outcomes[r], err);
    for (size_t r = 0; r < job->policy_count && !rc && context.counts_elements; r++) {
        bool cpu = runs[r].baseline && runs[r].baseline->cpu_gathers;
        const struct tier_gather gather = {cpu, how->sm_share_pct / 100};
        tier_metrics(&tier, &gather, &outcomes[r]);
    }
    tier_close(&tier);
    for (size_t r = 0; runs && r < job->policy_count; r++)
        zerocopy_run_close(&runs[r]);
    free(runs);
    return rc;
}

static int replay(const struct replay_job *job, struct outcome *outcomes, struct err *err)
{
    struct reading reading;
    int rc = reading_open(&reading, job, err);
    if (rc == 0)
        rc = replay_scans(job, &reading, outcomes, err);
    for (size_t r = 0; r < job->policy_count && rc == 0 && (reading.view || reading.ops == &program_reads_ops); r++)
        derive_notes(&reading.program.source, VIEW_ZEROCOPY, &outcomes[r]);
    if (reading.trace)
        zerocopy_trace_close(reading.trace);
    store_close(reading.view);
    program_reads_close(reading.reads);
    return rc;
}

/* What faults and batched copies cost only where that is asked for. */
static const char *const *sections(const struct replay_job *job)
{
    static const char *const names[][6] = {{"pcie", "gpu", "launch", NULL},
                                           {"pcie", "gpu", "launch", "uvm", NULL},
                                           {"pcie", "gpu", "launch", "batch", NULL},
                                           {"pcie", "gpu", "launch", "uvm", "batch", NULL}};
    unsigned asked = 0;
    for (size_t i = 0; i < job->policy_count; i++)
        asked |= job->policies[i].head == &zerocopy_uvm.head           ? 1U
                 : job->policies[i].head == &zerocopy_copy_blocks.head ? 2U
                                                                       : 0;
    return names[asked];
}

const struct engine engine_zerocopy = {
    .name = "zerocopy",
    .summary = "GPU reads of host memory over PCIe, request by request",
    .default_platform = "v100",
    .view = VIEW_ZEROCOPY,
    .default_policies = "naive,merged,aligned,uvm",
    .policies = policies,
    .plugin_interface = POLICY_ZEROCOPY_PATTERN,
    .settings = settings,
    .settings_size = sizeof(struct zerocopy_settings),
    .metrics = zerocopy_metric_table,
    .headline =
        "time_ns,speedup_ratio,requests,payload_bytes,bandwidth_bytes_per_s,read_amplification_ratio,overfetch_ratio",
    .ranks = "-epoch_ns,-time_ns,-payload_bytes,-requests",
    .measured = "zero-copy",
    .sections = sections,
    .replay = replay,
};
