#include "replay/calibrate/host_fit.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"

/* Relative error of the estimated entries; share that other work of the GPU adds. */
static const double entries_error = 0.2, other_error = 0.03;

/* The first service of a batch, without its faulted pages. */
static double service_ns(const struct uvm_recording *r, const struct service *s, bool first_use,
                         const struct uvm_platform *p)
{
    const struct migration *m = &r->batches.services.migrations[s->first];
    unsigned runs = 1, pages = s->fault_pages + s->prefetch_pages;
    for (uint32_t i = 1; i < s->records; i++)
        runs += m[i].addr != m[i - 1].addr + m[i - 1].bytes;
    return (first_use ? p->service_ns + p->new_block_ns : p->service_again_ns) +
           (p->moved_page_ns + p->unmap_page_ns) * pages + (p->moved_run_ns + p->unmap_run_ns) * runs;
}

/* Mean of the entries of one page, 1 at least. */
static double entries_of_page(const struct batches *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->record_count; i++)
        sum += (double)b->records[i].value / (double)b->record_count;
    return fmax(1, sum);
}

/* Whether this is the first service in its block. */
static bool first_use(const struct uvm_recording *r, const struct service *s, bool *used)
{
    const struct uvm_piece *piece = uvm_recording_piece(r, r->batches.services.migrations[s->first].addr);
    if (!piece)
        return false;
    const size_t i = (size_t)(piece - r->pieces);
    const bool first = !used[i];
    used[i] = true;
    return first;
}

/* A batch that serves something; of_page: the entries of one page. */
static int add_batch(struct host_fit *f, const struct uvm_recording *r, size_t at, bool *used, double of_page,
                     const struct uvm_platform *p, struct err *err)
{
    const struct batches *b = &r->batches;
    const struct batch *batch = &b->items[at];
    const struct service *s = &b->services.items[batch->first], *last = s + batch->count - 1;
    const double behind = at ? (double)(batch->start_ns - batch[-1].end_ns) : INFINITY;
    const double before = (double)(s->start_ns - batch->start_ns) + fmin(0, behind),
                 after = (double)(batch->end_ns - last->end_ns);
    const double entries = fmin(of_page * (double)batch->fault_pages, (double)p->batch_faults) *
                           (p->raw_fault_ns + (r->traced ? p->trace_entry_ns : 0));
    const double stated = p->poll_ns - fmax(0, behind) + p->batch_before_ns + p->batch_after_ns + entries +
                          p->fault_page_ns * s->fault_pages + service_ns(r, s, first_use(r, s, used), p);
    for (const struct service *other = s + 1; other <= last; other++)
        (void)first_use(r, other, used);
    if (batch->record < 0 || behind > p->poll_ns || before <= 0 || after <= 0 || stated <= 0)
        return 0;
    f->entries_ns += entries;
    return MEM_ADD(f->rows, f->count, f->cap, err,
                   (struct host_row){(before + after) / stated, before + after, stated});
}

int host_fit_add(struct host_fit *f, const struct uvm_recording *r, const struct uvm_platform *p, struct err *err)
{
    if (r->advised || r->evictions)
        return 0;
    const double of_page = entries_of_page(&r->batches);
    bool *used = mem_zalloc(r->piece_count + 1, sizeof *used, err);
    int rc = used ? 0 : -1;
    for (size_t i = 0; i < r->batches.count && rc == 0; i++)
        if (r->batches.items[i].count)
            rc = add_batch(f, r, i, used, of_page, p, err);
    free(used);
    f->unrecorded |= r->unrecorded;
    return rc;
}

int host_fit_solve(struct host_fit *f)
{
    if (f->count < HOST_FIT_BATCHES)
        return -1;
    sort_items(f->rows, f->count, sizeof *f->rows, sorted_by_f64);
    double mean = 0, variance = 0, left = 0, square = 0, stated = 0;
    for (int q = 0; q < 2; q++)
        f->quartile[q] = f->rows[(f->count - 1) * (q ? 3 : 1) / 4].ratio;
    f->host = f->rows[f->count / 2].ratio;
    for (size_t i = 0; i < f->count; i++) {
        mean += f->rows[i].measured_ns / (double)f->count;
        stated += f->rows[i].stated_ns;
        square += pow(f->rows[i].ratio / f->host - 1, 2) / (double)f->count;
    }
    for (size_t i = 0; i < f->count; i++) {
        variance += pow(f->rows[i].measured_ns - mean, 2);
        left += pow(f->rows[i].measured_ns - f->host * f->rows[i].stated_ns, 2);
    }
    f->entries_ratio = f->entries_ns / stated;
    f->error =
        hypot((f->quartile[1] - f->quartile[0]) / 4, f->host * hypot(entries_error * f->entries_ratio, other_error));
    f->fit = (struct fit){.rows = f->count, .rms = sqrt(square), .r2 = variance > 0 ? 1 - left / variance : 0};
    return 0;
}
