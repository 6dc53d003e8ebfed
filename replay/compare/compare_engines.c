#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/run/platform_use.h"
#include "replay/uvm/second_run.h"
#include "replay/uvm/uvm_answer.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/mem.h"
#include "trace/workloads/scan.h"

/* A value with its bounds, as the engine has it. */
static void pass(struct compare_row *row, const char *to, const struct outcome *from, const char *name)
{
    const struct metric_value *v = outcome_get(from, name);
    if (v && v->known)
        outcome_real(&row->outcome, to, v->real);
    if (v && v->interval)
        outcome_interval(&row->outcome, to, v->lo, v->hi);
    if (v && v->lower_bound)
        outcome_at_least(&row->outcome, to, v->lo);
    if (v && v->unbound)
        outcome_unbound(&row->outcome, to);
}

/* One call of an engine, for policies of one mechanism. */
struct call {
    const struct compare_program *facts;
    const char *engine, *policies;
    enum compare_mechanism mechanism; /* of all policies but those that are named as one */
    void (*fill)(const struct compare_program *f, const struct outcome *out, struct compare_row *row,
                 const char *policy);
};

static enum compare_mechanism mechanism_of(const struct call *call, const char *policy)
{
    for (enum compare_mechanism m = 0; m < COMPARE_MECHANISMS; m++)
        if (strncmp(policy, compare_mechanisms[m], strcspn(policy, ":")) == 0 &&
            !compare_mechanisms[m][strcspn(policy, ":")])
            return m;
    return call->mechanism;
}

static int add_rows(const struct call *call, const struct replay_result *got, struct compare_result *result,
                    struct err *err)
{
    for (size_t i = 0; i < got->policy_count; i++) {
        char label[160];
        replay_policy_label(&got->policies[i], label, sizeof label);
        struct compare_row *row = compare_add(result, mechanism_of(call, got->policies[i].head->name), label, err);
        if (!row)
            return -1;
        json_decref(row->params);
        row->params = replay_policy_params_json(&got->policies[i]);
        if (!row->params)
            return err_set(err, "out of memory");
        for (size_t n = 0; n < got->runs[i].note_count; n++)
            if (!platform_use_is_head(got->runs[i].notes[n]) &&
                strcmp(got->runs[i].notes[n], UVM_ANSWER_ESTIMATES) != 0)
                outcome_note(&row->outcome, "%s", got->runs[i].notes[n]);
        const struct metric_value *beside = outcome_get(&got->runs[i], "beside_ratio");
        if (beside && beside->interval)
            outcome_note(&row->outcome,
                         "a kernel that runs meanwhile takes at most %.4g times as long: it shares multiprocessors and "
                         "memory bandwidth",
                         beside->hi);
        call->fill(call->facts, &got->runs[i], row, got->policies[i].head->name);
    }
    return 0;
}

/* Select the wanted policies; NULL: none. */
static const char *wanted(const struct call *call, char *list, size_t size)
{
    char policy[64];
    *list = 0;
    for (const char *rest = call->policies; compare_next_policy(&rest, policy, sizeof policy);)
        if (compare_wanted(call->facts, mechanism_of(call, policy), policy))
            (void)mem_add_text(list, size, "%s%s", *list ? "," : "", policy);
    return *list ? list : NULL;
}

/* Of a draw the numbers are those of facts->platform. */
int compare_execute(const struct compare_program *f, struct replay_request *request, struct replay_result *got,
                    struct err *err)
{
    request->drawn_platform = f->only ? f->platform : NULL;
    if (replay_prepare(request, got, err))
        return -1;
    if (f->engines)
        (void)pthread_mutex_lock(f->engines);
    int rc = replay_execute(request, got, err);
    if (f->engines)
        (void)pthread_mutex_unlock(f->engines);
    return rc;
}

static int run(const struct call *call, struct compare_result *result, struct err *err)
{
    const struct compare_request *asked = call->facts->request;
    char list[256];
    const char *policies = wanted(call, list, sizeof list);
    if (!policies)
        return 0;
    const struct zerocopy_options ask = {call->facts->stop_ns,
                                         call->facts->weights,
                                         true,
                                         call->facts->stop_ns > 0 && call->facts->footprint >= asked->stop_from,
                                         call->facts->took,
                                         call->facts->only != NULL,
                                         call->facts->same_reads};
    struct replay_request request = {.engine = engine_find(call->engine),
                                     .platform = asked->platform ? asked->platform : result->choice.name,
                                     .policy_list = policies,
                                     .sets = asked->sets,
                                     .set_count = asked->set_count,
                                     .set_sections = compare_sections(call->facts->platform),
                                     .inputs = call->facts->input,
                                     .input_count = 1,
                                     .threads = call->facts->threads,
                                     .engine_options = strcmp(call->engine, "zerocopy") == 0 ? &ask : NULL};
    struct replay_result got;
    struct err why = {""};
    if (compare_execute(call->facts, &request, &got, &why)) { /* the engine refuses the input, or the platform */
        char first[64];
        (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(policies, ","), policies);
        return compare_refuse(result, mechanism_of(call, first), first, &why, err);
    }
    int rc = add_rows(call, &got, result, err);
    replay_release(&got);
    progress_add(asked->progress, 1);
    return rc;
}

/* --- zero-copy --- */

static double known(const struct outcome *out, const char *name)
{
    const struct metric_value *v = outcome_get(out, name);
    return v && v->known ? v->real : 0;
}

/* Bound the time of recorded accesses by the recorded kernels. No kernel takes less than with its memory in place.
 * While requests keep the link busy they take its service; otherwise each warp goes on as in place, but a load takes
 * load_ns instead of memory_ns. */
static void bound_by_kernels(const struct compare_program *f, const struct outcome *out, double back, double *lo,
                             double *hi)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct gpu *gpu = platform_section_get(f->platform, "gpu");
    const struct request_mix mix = {{(uint64_t)known(out, "requests_32"), (uint64_t)known(out, "requests_64"),
                                     (uint64_t)known(out, "requests_96"), (uint64_t)known(out, "requests_128")},
                                    (uint64_t)(known(out, "host_dram_bytes") / 64)};
    const double busy =
        link_beside_ns(link, link_service_ns(link, &mix), (double)mix_requests(&mix), back, SECTOR_BYTES);
    const double path = f->in_place_ns * fmax(1, link->load_ns / gpu->memory_ns) + f->between_ns;
    *lo = fmax(*lo, f->in_place_low_ns + f->between_ns);
    *hi = fmax(*lo, fmin(*hi + f->in_place_ns, busy + path));
}

double compare_stores_behind_ns(const struct compare_program *f, double read_ns, double requests, double stored)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const double last = f->counted ? stored * f->totals.last_stored : 0;
    return link_beside_ns(link, read_ns, requests, stored - last, SECTOR_BYTES) +
           link_beside_ns(link, 0, 0, last, SECTOR_BYTES);
}

/* Fill a row with the engine's reads, and the kernels' stores in the other direction: every modified sector once a
 * launch. At best they go in whole lines; at worst by sector, those of a launch's last turns after its reads. */
void compare_fill_zerocopy(const struct compare_program *f, const struct outcome *out, struct compare_row *row,
                           const char *policy)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct metric_value *t = outcome_get(out, "time_ns");
    double back = f->counted ? 0 : known(out, "d2h_bytes");
    if (t->lower_bound) {
        compare_stop_row(row, t->lo);
        return;
    }
    for (uint32_t l = 0; f->counted && l < f->totals.launches; l++)
        back += f->totals.launch[l].cpu ? 0 : (double)f->totals.launch[l].modified_bytes;
    if (t->known || t->interval) {
        const double n = known(out, "requests");
        double lo = link_beside_ns(link, t->interval ? t->lo : t->real, n, back, LINE_BYTES),
               hi = compare_stores_behind_ns(f, t->interval ? t->hi : t->real, n, back);
        if (f->in_place_ns > 0 && t->interval)
            bound_by_kernels(f, out, back, &lo, &hi);
        outcome_real(&row->outcome, "time_ns", lo);
        if (hi > lo)
            outcome_interval(&row->outcome, "time_ns", lo, hi);
        compare_calls_error(f, row);
        compare_plan_zerocopy(f, row, policy);
    }
    pass(row, "h2d_bytes", out, "h2d_bytes");
    pass(row, "read_amplification_ratio", out, "read_amplification_ratio");
    if (f->counted) {
        outcome_real(&row->outcome, "d2h_bytes", back);
        outcome_real(&row->outcome, "gpu_bytes", (double)f->device_bytes);
    } else if (outcome_get(out, "d2h_bytes")->known) {
        outcome_real(&row->outcome, "d2h_bytes", back);
    } else {
        outcome_note(&row->outcome, "the time leaves out what kernels write over the link: %s", f->uncounted.msg);
    }
    outcome_real(&row->outcome, "back_ns", 0);
}

/* Least and most time of a block of a batched copy, or of its own call: its side of the cliff may be unknown. */
static void block_range(const struct platform *p, bool each, double bytes, double *low, double *high)
{
    const struct platform_number *call = platform_number(p, "pcie", "copy_setup_ns"),
                                 *large = platform_number(p, "batch", "block_ns"),
                                 *small = platform_number(p, "batch", "small_ns"),
                                 *cliff = platform_number(p, "batch", "small_bytes");
    *low = each ? call->low : bytes < cliff->low ? small->low : fmin(small->low, large->low);
    *high = each ? call->high : bytes >= cliff->high ? large->high : fmax(small->high, large->high);
}

/* Fill a row of rows copied one by one: between the ends of a block's or a call's time. */
static void fill_blocks(const struct compare_program *f, const struct outcome *out, struct compare_row *row,
                        const char *policy)
{
    struct scan_setup s;
    (void)zerocopy_scans_of(&f->input->workload, &s);
    const double bytes = (double)s.row_elements * s.structures[0].element, time = known(out, "time_ns");
    const double blocks = known(out, "h2d_bytes") / bytes;
    const char *calls = json_string_value(json_object_get(row->params, "calls"));
    const bool each = calls && strcmp(calls, "each") == 0;
    const struct link_batch *batch = platform_section_get(f->platform, "batch");
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const double now = each ? link->copy_setup_ns : bytes < batch->small_bytes ? batch->small_ns : batch->block_ns;
    double lo, hi;
    (void)policy;
    block_range(f->platform, each, bytes, &lo, &hi);
    outcome_real(&row->outcome, "time_ns", time);
    if (hi > lo)
        outcome_interval(&row->outcome, "time_ns", time + blocks * (fmin(lo, now) - now),
                         time + blocks * (fmax(hi, now) - now));
    pass(row, "h2d_bytes", out, "h2d_bytes");
    pass(row, "read_amplification_ratio", out, "read_amplification_ratio");
    outcome_real(&row->outcome, "d2h_bytes", 0);
    outcome_real(&row->outcome, "back_ns", 0);
    if (f->counted)
        outcome_real(&row->outcome, "gpu_bytes", (double)f->device_bytes);
    compare_plan_say(
        row, each ? "cudaMemcpyAsync() of each row from page-locked memory, in place of the kernel"
                  : "cudaMemcpyBatchAsync() of a launch's rows from page-locked memory, in place of the kernel");
}

/* Patterns where a list or a row is read by whom the kernel's author chooses; of all else the program's own loads. */
static int zerocopy_rows(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    const struct workload *w = &f->input->workload;
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    struct scan_setup setup;
    (void)zerocopy_scans_of(w, &setup);
    struct call call = {f, "zerocopy", "as-written", COMPARE_ZEROCOPY, compare_fill_zerocopy};
    if (setup.shape == SCAN_LISTS)
        call.policies = "naive,merged,aligned";
    else if (setup.shape == SCAN_ROWS)
        call.policies = "naive,shift";
    else if ((w->type || f->touching.kind == UVM_INPUT_ACCESSES) && link->load_ns > 0)
        call.policies = "as-written:reuse=l1";
    const struct call blocks = {f, "zerocopy", "copy-blocks,copy-blocks:calls=each", COMPARE_BLOCKS, fill_blocks};
    if (setup.shape == SCAN_ROWS && platform_has(f->platform, "batch") && run(&blocks, result, err))
        return -1;
    if (run(&call, result, err) || compare_align_rows(f, &setup, call.policies, result, err))
        return -1;
    return compare_tiered_rows(f, &setup, result, err);
}

/* --- GPU and CPU share their memory --- */

static void fill_shared(const struct compare_program *f, const struct outcome *out, struct compare_row *row,
                        const char *policy)
{
    (void)f;
    pass(row, "time_ns", out, "time_ns");
    pass(row, "h2d_bytes", out, "h2d_bytes");
    pass(row, "d2h_bytes", out, "d2h_bytes");
    pass(row, "gpu_bytes", out, "footprint_bytes");
    row->error_ratio = 0;
    compare_plan_say(row, "%s",
                     strcmp(policy, "device") == 0   ? "cudaMalloc() and cudaMemcpy() both ways"
                     : strcmp(policy, "pinned") == 0 ? "cudaHostAlloc() with cudaHostAllocMapped, or cudaMallocHost()"
                                                     : "cudaMallocManaged()");
}

/* --- recordings of migrations --- */

static void fill_recorded(const struct compare_program *f, const struct outcome *out, struct compare_row *row,
                          const char *policy)
{
    pass(row, "time_ns", out, "time_ns");
    pass(row, "h2d_bytes", out, "h2d_bytes");
    pass(row, "d2h_bytes", out, "d2h_bytes");
    pass(row, "read_amplification_ratio", out, "read_amplification_ratio");
    memcpy(row->outcome.outside_bytes, out->outside_bytes, sizeof out->outside_bytes);
    compare_plan_managed(f, row, policy);
    row->stock = strcmp(policy, "tree") == 0;
}

/* All else takes what the program touches. */
static int needs_accesses(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    struct err why;
    char command[512];
    err_set(&why, "%s would tell", second_run_command(f->input->store, false, command, sizeof command));
    return compare_wanted(f, COMPARE_ZEROCOPY, "as-written")
               ? compare_refuse(result, COMPARE_ZEROCOPY, "as-written", &why, err)
               : 0;
}

int compare_engine_rows(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    const struct workload_type *type = f->input->workload.type;
    const struct call placed = {f, "placement", "device,managed,pinned", COMPARE_DEVICE, fill_shared};
    const struct call recorded = {f, "uvm", compare_prefetchers, COMPARE_MANAGED, fill_recorded};
    struct err why;
    if (f->recorded_ns > 0 && compare_recorded_rows(f, result, err))
        return -1;
    if (f->recorded_ns > 0 && f->touching.kind == UVM_INPUT_TOUCHES)
        return needs_accesses(f, result, err);
    if (compare_is_recorded(f))
        return run(&recorded, result, err) || compare_recorded_rows(f, result, err) || needs_accesses(f, result, err)
                   ? -1
                   : 0;
    if (platform_has(f->platform, "placement"))
        return (!type || type->views & VIEW_PLACEMENT) && run(&placed, result, err) ? -1 : 0;
    return platform_whole(f->platform, "pcie", &why) ? compare_refuse(result, COMPARE_ZEROCOPY, "as-written", &why, err)
                                                     : zerocopy_rows(f, result, err);
}
