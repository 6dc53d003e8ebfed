#include <math.h>

#include "models/zerocopy/link.h"
#include "replay/compare/compare_rows.h"

static void apply(const struct compare_program *f, struct compare_row *row)
{
    const struct program_copies *c = &f->copies;
    compare_plan_say(row, "cudaMalloc() for each of the %zu allocations, %.4g MiB together", f->alloc_count,
                     (double)f->footprint / 0x1p20);
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        if (c->copied >> i & 1 && f->totals.allocs[i].host)
            compare_plan_say(row, "cudaMemcpy() of %s to the GPU before the first kernel", f->totals.allocs[i].name);
    if (c->back_copies > c->last_copies)
        compare_plan_say(row, "and back before the CPU touches it: %lld copies in, %lld back", (long long)c->in_copies,
                         (long long)(c->back_copies - c->last_copies));
}

double compare_kernels_ns(const struct compare_program *f, const struct uvm_metrics *prefetched)
{
    double ns = 0;
    if (prefetched->time_ns && prefetched->faults == 0)
        return (double)(prefetched->time_ns - prefetched->prefetch_ns);
    for (uint32_t l = 0; l < f->totals.launches; l++)
        ns += f->totals.launch[l].ms * 1e6;
    return ns;
}

double compare_copies_ns(const struct compare_program *f, const struct program_copies *c)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    double ns = c->in_copies ? link_copy_ns(link, (double)c->in_bytes, (double)c->in_copies) : 0;
    if (c->back_copies > c->last_copies)
        ns += link_copy_ns(link, (double)(c->back_bytes - c->last_bytes), (double)(c->back_copies - c->last_copies));
    return ns;
}

static void fill(const struct compare_program *f, const struct uvm_metrics *prefetched, struct compare_row *row)
{
    struct outcome *out = &row->outcome;
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct program_copies *c = &f->copies;
    double kernels = compare_kernels_ns(f, prefetched), copies = compare_copies_ns(f, c);
    if (prefetched->faults)
        outcome_note(out, "kernels: each launch alone by the issue model, since the CPU works between them");
    outcome_real(out, "time_ns", kernels + copies);
    outcome_real(out, "h2d_bytes", (double)c->in_bytes);
    outcome_real(out, "d2h_bytes", (double)(c->back_bytes - c->last_bytes));
    outcome_real(out, "gpu_bytes", (double)(f->footprint + f->device_bytes));
    outcome_real(out, "read_amplification_ratio", f->footprint ? (double)c->in_bytes / (double)f->footprint : NAN);
    outcome_real(out, "back_ns",
                 c->last_copies ? link_copy_ns(link, (double)c->last_bytes, (double)c->last_copies) : 0);
    outcome_note(out, "%.4g ms are copies, %.4g ms kernels; host memory is page-locked, nothing overlaps", copies / 1e6,
                 kernels / 1e6);
}

int compare_copy_row(const struct compare_program *f, struct compare_result *result,
                     const struct uvm_metrics *prefetched, struct err *err)
{
    if (!platform_has(f->platform, "uvm") && !platform_has(f->platform, "pcie"))
        return 0; /* its memory is the CPU's too */
    if (!compare_wanted(f, COMPARE_COPY, "cudaMemcpy"))
        return 0;
    struct compare_row *row = compare_add(result, COMPARE_COPY, "cudaMemcpy", err);
    if (!row)
        return -1;
    if (!f->counted)
        outcome_note(&row->outcome, "%s", f->uncounted.msg);
    else if (!compare_fits(f))
        outcome_note(&row->outcome, "the GPU's memory does not hold the program's at once");
    else if (!platform_has(f->platform, "pcie") || !prefetched->time_ns)
        outcome_note(&row->outcome, "the platform has no [%s]: what it takes is not known",
                     prefetched->time_ns ? "pcie" : "uvm");
    else {
        fill(f, prefetched, row);
        apply(f, row);
    }
    return 0;
}
