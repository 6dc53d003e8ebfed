#include "replay/zerocopy/zerocopy.h"

#include <math.h>

#include "replay/run/verdict.h"
#include "replay/uvm/actor_input.h"
#include "trace/base/param.h"

/* Bytes moved without requests of their own: host lines are the bytes themselves. */
static int moved(struct zerocopy_run *run, double bytes, uint64_t runs, struct outcome *out)
{
    run->totals.payload_bytes = bytes;
    run->totals.host_dram_bytes = bytes;
    zerocopy_metrics(&run->totals, &run->context->setup, (double)runs, false, out);
    zerocopy_bound_beside(run, out);
    return 0;
}

/* The verdict does not rank it against what runs the kernels. */
static void note_part(struct outcome *out)
{
    outcome_note(out, VERDICT_PART ": the kernel then reads GPU memory");
}

static int copy_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    (void)err;
    double bytes = zerocopy_structure_bytes(&run->context->setup);
    run->totals.time_ns = (double)runs * link_copy_ns(run->context->pcie, bytes, 1);
    note_part(out);
    return moved(run, (double)runs * bytes, runs, out);
}

/* What the launch reads, gathered by the CPU and copied. */
static void gather_launch(struct zerocopy_run *run)
{
    const struct pcie *p = run->context->pcie;
    double bytes = run->launch_elements * zerocopy_element_bytes(&run->context->setup);
    double rate = run->context->setup.shape == SCAN_LISTS ? p->cpu_lists_bytes_per_s : p->cpu_rows_bytes_per_s;
    run->totals.payload_bytes += bytes;
    run->totals.time_ns += bytes / rate * 1e9 + link_copy_ns(p, bytes, 1);
}

static int gather_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    (void)err;
    if (run->context->setup.shape != SCAN_ROWS) /* the work of a gather is to bring the rows */
        note_part(out);
    return moved(run, run->totals.payload_bytes, runs, out);
}

const struct zerocopy_baseline zerocopy_dma = {
    .head = {.name = "dma",
             .summary = "baseline: the CPU gathers what is needed, then a block copy",
             .source = "dissertation, section 3.5",
             .baseline = true},
    .cpu_gathers = true,
    .launch = gather_launch,
    .finish = gather_finish};

const struct zerocopy_baseline zerocopy_copy = {.head = {.name = "copy",
                                                         .summary = "baseline: one block copy of the whole structure",
                                                         .source = "dissertation, section 2.5 (cudaMemcpy)",
                                                         .baseline = true},
                                                .finish = copy_finish};

struct blocks_params {
    int64_t calls;
};

static const struct param blocks_params[] = {
    PARAM_CHOICE_ROW(blocks_params, calls, "batch|each", 0, "one call for all rows of a launch, or one for each"), {0}};

static int blocks_open(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    (void)err;
    run->refused = run->context->setup.shape != SCAN_ROWS;
    if (run->refused)
        outcome_note(out, "copies block by block need a program that gathers rows, whose numbers the CPU knows");
    return 0;
}

/* The host waits for the copies as it does for a kernel. */
static void blocks_launch(struct zerocopy_run *run)
{
    const struct zerocopy_context *c = run->context;
    const double rows = run->launch_elements / (double)c->setup.row_elements;
    const double row = (double)c->setup.row_elements * zerocopy_element_bytes(&c->setup);
    const bool each = ((const struct blocks_params *)run->params)->calls;
    run->totals.payload_bytes += rows * row;
    run->totals.time_ns += c->calls->wait_ns;
    run->totals.time_ns += each ? link_copy_ns(c->pcie, rows * row, rows)
                                : link_batch_ns(c->pcie, platform_section_get(c->platform, "batch"), rows, row);
}

const struct zerocopy_baseline zerocopy_copy_blocks = {
    .head = {.name = "copy-blocks",
             .summary = "baseline: each row by the copy engine, into its place",
             .source = "CUDA driver API, cuMemcpyBatchAsync and cuMemcpyHtoDAsync; models/zerocopy/link.h",
             .params = blocks_params,
             .state_size = sizeof(struct blocks_params),
             .measured = "",
             .baseline = true},
    .open = blocks_open,
    .launch = blocks_launch,
    .finish = gather_finish};

const struct zerocopy_baseline zerocopy_subgraph = {
    .head = {.name = "subgraph",
             .summary = "baseline: active lists gathered by the CPU, one copy per level",
             .source = "dissertation, table 2.4; Sabet et al., Subway, EuroSys 2020",
             .baseline = true},
    .cpu_gathers = true,
    .launch = gather_launch,
    .finish = gather_finish};

enum { FEW_CHUNKS = 50 };

struct uvm_params {
    const char *paging;
};

static const struct param params[] = {PARAM_TEXT_ROW(uvm_params, paging, "tree", UVM_MANAGED_PAGING), {0}};

static int uvm_open(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    const struct zerocopy_context *c = run->context;
    struct policy_list paging;
    int rc = uvm_managed_policy(&paging, ((const struct uvm_params *)run->params)->paging, err);
    policy_list_release(&paging);
    run->refused = true;
    if (c->setup.scale > 0)
        outcome_note(out,
                     "unified memory depends on which vertices a level reaches, which an expectation does not say");
    else if (!actor_input_is(c->input))
        outcome_note(out, "which pages are touched is not known: the input says what is read, not by which accesses");
    else if (c->tier->rank)
        outcome_note(out, "rows kept on the GPU are a matter of the access patterns, not of the program's own pages");
    else
        run->refused = false;
    return rc ? err_at(err, "policy uvm: paging") : 0;
}

static void note(const struct uvm_managed *asked, const struct uvm_metrics *m, uint64_t runs, struct outcome *out)
{
    uvm_managed_note(asked, m, out);
    if (m->chunks && m->chunks < FEW_CHUNKS)
        outcome_note(out, "GPU memory is only %llu chunks of 2 MiB: amplification depends on single chunks",
                     (unsigned long long)m->chunks);
    if (runs > 1 && m->evictions == 0)
        outcome_note(out,
                     "the data fits GPU memory and stays there: time is the mean of %llu traversals, of which the "
                     "first moves the data",
                     (unsigned long long)runs);
}

/* The settings, gpu_memory_ratio as bytes. */
static struct uvm_managed_settings settings_of(const struct zerocopy_context *c)
{
    struct uvm_managed_settings settings = c->settings->managed;
    const struct scan_structure *first = &c->setup.structures[0];
    if (c->settings->gpu_memory_ratio > 0)
        settings.gpu_memory_bytes = (int64_t)fmax(ACTOR_BLOCK_BYTES, (double)(first->elements * first->element) /
                                                                         c->settings->gpu_memory_ratio);
    return settings;
}

static int ask(struct zerocopy_run *run, const struct actor_input *touching, const struct replay_policy *paging,
               uint64_t runs, struct outcome *out, struct err *err)
{
    const struct zerocopy_context *c = run->context;
    const struct uvm_managed_settings settings = settings_of(c);
    const struct uvm_managed managed = {.ops = touching->ops,
                                        .state = touching->state,
                                        .store = touching->store,
                                        .platform = c->platform,
                                        .gpu = c->gpu,
                                        .policy = paging,
                                        .settings = &settings};
    struct uvm_metrics m;
    if (uvm_managed_run(&managed, &m, err))
        return -1;
    struct zerocopy_totals *t = &run->totals;
    t->time_ns = (double)m.time_ns;
    t->remote_bytes = (double)m.remote_bytes;
    t->d2h_bytes = (double)m.d2h_bytes;
    t->writes_known = true;
    t->payload_bytes = t->host_dram_bytes = (double)(m.h2d_bytes + m.remote_bytes);
    zerocopy_metrics(t, &c->setup, (double)runs, false, out);
    note(&managed, &m, runs, out);
    return 0;
}

static int uvm_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    struct actor_input touching;
    struct policy_list paging;
    int rc = uvm_managed_policy(&paging, ((const struct uvm_params *)run->params)->paging, err);
    if (rc == 0 && (rc = actor_input_open(&touching, run->context->input, err)) == 0) {
        rc = ask(run, &touching, paging.count ? paging.policies : NULL, runs, out, err);
        actor_input_close(&touching);
    }
    policy_list_release(&paging);
    return rc;
}

const struct zerocopy_baseline zerocopy_uvm = {
    .head = {.name = "uvm",
             .summary = "baseline: unified memory, as the uvm engine has it of the same program",
             .source = "dissertation, section 2.5; replay/uvm/uvm_managed.h",
             .params = params,
             .state_size = sizeof(struct uvm_params),
             .measured = "managed",
             .baseline = true},
    .open = uvm_open,
    .finish = uvm_finish};
