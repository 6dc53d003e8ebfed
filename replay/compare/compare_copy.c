#include <math.h>

#include "models/gpu/launch.h"
#include "models/gpu/occupancy.h"
#include "models/zerocopy/link.h"
#include "replay/compare/compare_rows.h"

static bool is_loaded(const struct program_totals *t, size_t alloc)
{
    for (uint32_t l = 0; l < t->launches; l++)
        if (t->launch[l].loaded >> alloc & 1)
            return true;
    return false;
}

static void apply(const struct compare_program *f, struct compare_row *row)
{
    const struct program_copies *c = &f->copies;
    char names[COMPARE_NAME] = "";
    compare_plan_say(row, "cudaMalloc() for %zu allocation%s, %.4g MiB together", f->alloc_count,
                     f->alloc_count > 1 ? "s" : "", (double)f->footprint / 0x1p20);
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        if (c->copied >> i & 1 && f->totals.allocs[i].host)
            compare_plan_name(names, f->totals.allocs[i].name);
    if (*names)
        compare_plan_say(row, "cudaMemcpy() of %s to the GPU before the first kernel", names);
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        if (c->copied >> i & 1 && f->totals.allocs[i].host && !is_loaded(&f->totals, i))
            compare_plan_say(row,
                             "kernels only store to %s: if they use no old value of it, leave its copy out (%.3g MiB)",
                             f->totals.allocs[i].name, (double)f->totals.allocs[i].bytes / 0x1p20);
    if (c->back_copies > c->last_copies)
        compare_plan_say(row, "and back before the CPU touches it: %lld copies in, %lld back", (long long)c->in_copies,
                         (long long)(c->back_copies - c->last_copies));
}

/* The first of them finds the GPU idle. */
double compare_kernels_ns(const struct compare_program *f, const struct uvm_metrics *prefetched)
{
    const struct launch *calls = platform_section_get(f->platform, "launch");
    double ns = 0, host_ns = 0;
    if (prefetched->time_ns && prefetched->faults == 0)
        return (double)prefetched->time_ns + calls->alone_ns -
               fmax((double)prefetched->prefetch_ns + calls->gap_ns, calls->alone_ns);
    for (uint32_t l = 0; l < f->totals.launches; l++) {
        const struct launch_totals *launch = &f->totals.launch[l];
        if (launch->cpu) /* what it takes is not the kernels' */
            host_ns = ns;
        else
            ns = launch_start_ns(calls, &host_ns, ns) + launch->ms * 1e6;
        if (launch->waited)
            ns = launch_wait_ns(calls, &host_ns, ns);
    }
    return ns;
}

/* By cudaMemcpy(), which waits for its end. */
static double copied_ns(const struct compare_program *f, int64_t bytes, int64_t copies)
{
    const struct launch *calls = platform_section_get(f->platform, "launch");
    return link_copy_ns(platform_section_get(f->platform, "pcie"), (double)bytes, (double)copies) +
           (double)copies * calls->wait_ns;
}

double compare_copies_ns(const struct compare_program *f, const struct program_copies *c)
{
    return copied_ns(f, c->in_bytes, c->in_copies) +
           copied_ns(f, c->back_bytes - c->last_bytes, c->back_copies - c->last_copies);
}

/* The most that a number of [launch] may be off by; of a rate, of a byte's ns. */
static double off_by(const struct compare_program *f, const char *key, double value)
{
    const struct platform_number *n = platform_number(f->platform, "launch", key);
    return strstr(key, "bytes") ? 1e9 / n->low - 1e9 / value : fmax(n->high - value, value - n->low);
}

double compare_transfers_off_by(const struct compare_program *f, const struct compare_transfers *t)
{
    const struct launch *calls = platform_section_get(f->platform, "launch");
    return t->copies * off_by(f, "wait_ns", calls->wait_ns) +
           t->calls * off_by(f, "prefetch_call_ns", calls->prefetch_call_ns) +
           t->blocks * off_by(f, "prefetch_block_ns", calls->prefetch_block_ns) +
           t->empty * off_by(f, "zero_bytes_per_s", calls->zero_bytes_per_s);
}

/* Possible error of prefetching all allocations, ns. */
static double prefetches_off_by(const struct compare_program *f)
{
    struct compare_transfers all = {0};
    for (size_t i = 0; i < f->totals.alloc_count; i++) {
        const struct program_alloc *a = &f->totals.allocs[i];
        const double bytes = a->device ? 0 : (double)a->bytes;
        all.calls += bytes > 0;
        all.blocks += a->host ? ceil(bytes / ACTOR_BLOCK_BYTES) : 0;
        all.empty += a->host ? 0 : bytes;
    }
    return compare_transfers_off_by(f, &all);
}

/* Possible error of the row's launches and calls, ns. */
static double calls_off_by(const struct compare_program *f, const struct compare_row *row)
{
    const struct launch *calls = platform_section_get(f->platform, "launch");
    const struct program_totals *t = &f->totals;
    const bool copies = row->mechanism == COMPARE_COPY || row->mechanism == COMPARE_MIXED;
    double waits = 0, work = 0;
    for (uint32_t l = 0; l < t->launches; l++) {
        waits += t->launch[l].waited;
        work += t->launch[l].ms * 1e6;
    }
    const double behind = fmax(0, t->kernels - 1 - waits);
    const double gap = off_by(f, "gap_ns", calls->gap_ns), enqueue = off_by(f, "enqueue_ns", calls->enqueue_ns);
    double ns = behind * fmax(gap, calls->enqueue_ns + enqueue - calls->gap_ns - work / fmax(1, t->kernels));
    ns += (1 + waits) * off_by(f, "alone_ns", calls->alone_ns) + (row->prefetched ? prefetches_off_by(f) : 0);
    waits += copies ? (double)(f->copies.in_copies + f->copies.back_copies - f->copies.last_copies) : 0;
    waits += row->mechanism == COMPARE_TIERED;
    return ns + waits * off_by(f, "wait_ns", calls->wait_ns);
}

void compare_calls_error(const struct compare_program *f, struct compare_row *row)
{
    const double time = compare_time(row);
    if (f->counted && row->error_ratio > 0 && time > 0)
        row->error_ratio = fmax(row->error_ratio, calls_off_by(f, row) / time);
}

/* Write the time of some bytes at a rate of [launch], "10.7 .. 128 ms". */
static const char *at_rate(const struct compare_program *f, const char *key, double bytes, double besides, char *text,
                           size_t size)
{
    const struct platform_number *n = platform_number(f->platform, "launch", key);
    const struct launch *calls = platform_section_get(f->platform, "launch");
    const double rate = key[0] == 'l' ? calls->lock_bytes_per_s : calls->pageable_bytes_per_s;
    const struct metric_value takes = {.known = true,
                                       .real = besides + bytes / rate * 1e9,
                                       .interval = n->high > n->low,
                                       .lo = besides + bytes / n->high * 1e9,
                                       .hi = besides + bytes / n->low * 1e9};
    return metric_text(&compare_metrics[0], &takes, text, size);
}

void compare_say_locked(const struct compare_program *f, double bytes, double locked, double time, struct outcome *out)
{
    char lock[64], pageable[64];
    const double besides = time - link_copy_ns(platform_section_get(f->platform, "pcie"), bytes, 0);
    if (bytes > 0)
        outcome_note(out, COMPARE_LOCKED "; locking takes %s, pageable %s",
                     at_rate(f, "lock_bytes_per_s", locked, 0, lock, sizeof lock),
                     at_rate(f, "pageable_bytes_per_s", bytes, besides, pageable, sizeof pageable));
}

static void say_memory(const struct compare_program *f, double time, struct outcome *out)
{
    const struct program_copies *c = &f->copies;
    double locked = 0;
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        locked += c->copied >> i & 1 ? (double)f->totals.allocs[i].bytes : 0;
    compare_say_locked(f, (double)(c->in_bytes + c->back_bytes - c->last_bytes), locked, time, out);
}

static void fill(const struct compare_program *f, const struct uvm_metrics *prefetched, struct compare_row *row)
{
    struct outcome *out = &row->outcome;
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct program_copies *c = &f->copies;
    double kernels = compare_kernels_ns(f, prefetched), copies = compare_copies_ns(f, c);
    if (prefetched->faults)
        outcome_note(out,
                     "kernels: each launch is timed alone by the issue model, since the CPU works between launches");
    outcome_real(out, "time_ns", kernels + copies);
    outcome_real(out, "h2d_bytes", (double)c->in_bytes);
    outcome_real(out, "d2h_bytes", (double)(c->back_bytes - c->last_bytes));
    outcome_real(out, "gpu_bytes", (double)(f->footprint + f->device_bytes));
    outcome_real(out, "read_amplification_ratio", f->footprint ? (double)c->in_bytes / (double)f->footprint : NAN);
    outcome_real(out, "back_ns",
                 c->last_copies ? link_copy_ns(link, (double)c->last_bytes, (double)c->last_copies) : 0);
    outcome_note(out, "%.4g ms are copies, %.4g ms kernels; nothing overlaps", copies / 1e6, kernels / 1e6);
    say_memory(f, kernels + copies, out);
    compare_calls_error(f, row);
}

/* --- of recorded accesses --- */

/* How 4 KiB of it are used. */
struct used_page {
    uint32_t written; /* by launch so much - 1 first; 0: by none */
    bool brought;
};

/* A launch's warps: the longest, and all together, each load waited for and all loads under way at once; ns. */
struct used_launch {
    struct issue issue;
    double longest[2], all[2];
};

static void use_step(struct used_page *of, uint32_t launch, const struct actor_step *step)
{
    for (uint32_t i = 0; i < step->count + step->stores; i++) {
        struct used_page *p = &of[step->page[i]];
        p->brought |= i < step->count && (!p->written || p->written == launch + 1);
        if (!p->written && (i >= step->count || step->writes >> i & 1))
            p->written = launch + 1;
    }
}

static int use_launch(const struct compare_program *f, uint32_t launch, uint32_t actors, struct used_page *of,
                      struct used_launch *u, struct err *err)
{
    struct actor_step step;
    int rc = 0;
    for (uint32_t a = 0; a < actors && rc == 0; a++) {
        struct actor_at at = {0};
        double ns[2] = {0};
        while ((rc = f->ops->step((void *)f->actors, launch, a, &at, &step, err)) == 1) {
            const double wait = issue_wait_ns(&u->issue, step.count > 0, step.waits);
            use_step(of, launch, &step);
            ns[0] += step.turns * issue_ns(&u->issue, step.instructions, step.sectors, wait, 1);
            ns[1] = fmax(ns[1], wait) + step.turns * issue_ns(&u->issue, step.instructions, step.sectors, 0, 1);
        }
        for (int i = 0; i < 2; i++) {
            u->longest[i] = fmax(u->longest[i], ns[i]);
            u->all[i] += ns[i];
        }
    }
    return rc;
}

static int add_allocation(void *ctx, const struct store_value *v, size_t n)
{
    struct compare_program *f = ctx;
    const struct compare_used one = {.addr = (uint64_t)v[1].i, .bytes = (uint64_t)v[2].i};
    for (size_t i = 0; i < f->used_count; i++)
        if (one.addr < f->used[i].addr + f->used[i].bytes && f->used[i].addr < one.addr + one.bytes)
            return 0; /* allocated anew where another was */
    return n > 2 && one.bytes ? MEM_ADD(f->used, f->used_count, f->used_cap, NULL, one) : 0;
}

/* Count pages of `u` that lie in f->allocs[i], or take them out once they are counted. */
static void count_pages(const struct compare_program *f, size_t i, struct compare_used *u, struct used_page *of,
                        bool take)
{
    const struct actor_alloc *a = &f->allocs[i];
    const uint64_t from = u->addr > a->addr ? u->addr : a->addr, own = u->addr + u->bytes, all = a->addr + a->bytes,
                   end = own < all ? own : all;
    for (uint64_t p = from; p < end; p += ACTOR_PAGE_BYTES - p % ACTOR_PAGE_BYTES) {
        struct used_page *page = &of[actor_page(a, p - a->addr)];
        u->in += page->brought && !take ? ACTOR_PAGE_BYTES : 0;
        u->back += page->written && !take ? ACTOR_PAGE_BYTES : 0;
        if (take)
            *page = (struct used_page){0};
    }
}

/* What is used of allocations, then of the rest. */
static int count_used(struct compare_program *f, struct used_page *of, struct err *err)
{
    if (store_rows(f->input->store, "allocations", add_allocation, f, err))
        return -1;
    const size_t known = f->used_count;
    for (int take = 0; take < 2; take++)
        for (size_t u = 0; u < known; u++)
            for (size_t i = 0; i < f->alloc_count; i++)
                count_pages(f, i, &f->used[u], of, take);
    for (size_t i = 0; i < f->alloc_count; i++) {
        struct compare_used rest = {.addr = f->allocs[i].addr, .bytes = f->allocs[i].bytes};
        count_pages(f, i, &rest, of, false);
        if (MEM_ADD(f->used, f->used_count, f->used_cap, err, rest))
            return -1;
    }
    return 0;
}

int compare_used_count(struct compare_program *f, struct err *err)
{
    const struct gpu *gpu = platform_section_get(f->platform, "gpu");
    struct used_page *of = mem_zalloc(actor_space_pages(f->allocs, f->alloc_count), sizeof *of, err);
    struct actor_launch l;
    int rc = of ? 0 : -1;
    for (uint32_t i = 0; rc == 0 && i < f->ops->launches(f->actors); i++) {
        f->ops->launch(f->actors, i, &l);
        const uint32_t per_sm =
            l.per_sm ? l.per_sm : occupancy_blocks(gpu, l.threads, l.registers, l.shared, l.blocks_most) * l.together;
        const double places = fmax(1, fmin(l.actors, (double)per_sm * (double)gpu->sms));
        struct used_launch u = {.all = {0}};
        issue_init(&u.issue, gpu, l.actors, per_sm);
        rc = use_launch(f, i, l.actors, of, &u, err);
        f->used_waits_ns += fmax(u.longest[0], u.all[0] / places) - fmax(u.longest[1], u.all[1] / places);
    }
    rc = rc ? rc : count_used(f, of, err);
    free(of);
    return rc;
}

/* The least and most bytes to copy of what kernels use: its pages, or the allocations that they are of. */
struct used_bytes {
    double low, high, copies;
};

static void add_used(struct used_bytes *sum, double used, uint64_t all)
{
    sum->low += fmin(used, (double)all);
    sum->high += used > 0 ? (double)all : 0;
    sum->copies += used > 0;
}

static void fill_used(const struct compare_program *f, const struct uvm_metrics *prefetched, struct compare_row *row)
{
    struct outcome *out = &row->outcome;
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const double most = compare_kernels_ns(f, prefetched), least = fmax(0, most - f->used_waits_ns);
    struct used_bytes in = {0}, back = {0};
    char names[COMPARE_NAME] = "", text[2][32];
    for (const struct compare_used *u = f->used; u < f->used + f->used_count; u++) {
        add_used(&in, u->in, u->bytes);
        add_used(&back, u->back, u->bytes);
        (void)snprintf(text[0], sizeof text[0], "0x%llx", (unsigned long long)u->addr);
        if (u->in > 0)
            compare_plan_name(names, text[0]);
    }
    const double low = least + copied_ns(f, (int64_t)in.low, (int64_t)in.copies);
    const struct compare_transfers open = {.copies = in.copies};
    compare_put(out, "time_ns", low, most + copied_ns(f, (int64_t)in.high, (int64_t)in.copies));
    compare_put(out, "h2d_bytes", in.low, in.high);
    outcome_real(out, "d2h_bytes", 0);
    outcome_real(out, "gpu_bytes", (double)f->footprint);
    compare_put(out, "read_amplification_ratio", in.low / (double)f->footprint, in.high / (double)f->footprint);
    compare_put(out, "back_ns", link_copy_ns(link, back.low, back.copies), link_copy_ns(link, back.high, back.copies));
    row->error_ratio = fmax(row->error_ratio, compare_transfers_off_by(f, &open) / low);
    outcome_note(out,
                 "the CPU's own use is not recorded: taken is that what kernels read first goes in once, and what "
                 "they write comes back at the end; kernels %s to %s, by which load waits for which",
                 compare_time_text(least, 3, text[0], sizeof text[0]),
                 compare_time_text(most, 3, text[1], sizeof text[1]));
    compare_say_locked(f, in.high, in.high, compare_time_high(row), out);
    compare_plan_say(row, "cudaMalloc() for all of it, %.4g MiB", (double)f->footprint / 0x1p20);
    if (*names)
        compare_plan_say(row, "cudaMemcpy() of the memory at %s to the GPU before the first kernel", names);
}

int compare_copy_row(const struct compare_program *f, struct compare_result *result,
                     const struct uvm_metrics *prefetched, struct err *err)
{
    if (!platform_has(f->platform, "uvm") && !platform_has(f->platform, "pcie"))
        return 0; /* its memory is the CPU's too */
    if (!compare_wanted(f, COMPARE_COPY, "cudaMemcpy") || compare_is_recorded(f) || f->recorded_ns > 0)
        return 0;
    struct compare_row *row = compare_add(result, COMPARE_COPY, "cudaMemcpy", err);
    if (!row)
        return -1;
    if (!f->counted && !f->used)
        outcome_note(&row->outcome, "%s", f->uncounted.msg);
    else if (!compare_fits(f))
        outcome_note(&row->outcome, "the program's data does not fit the GPU's memory at once");
    else if (!platform_has(f->platform, "pcie") || !prefetched->time_ns)
        outcome_note(&row->outcome, "the platform has no [%s]: what it takes is not known",
                     prefetched->time_ns ? "pcie" : "uvm");
    else if (f->counted) {
        fill(f, prefetched, row);
        apply(f, row);
    } else if (prefetched->faults)
        outcome_note(&row->outcome, "how long kernels take with all their memory there is not known");
    else
        fill_used(f, prefetched, row);
    return 0;
}
