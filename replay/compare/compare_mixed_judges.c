#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/host_reads.h"
#include "replay/compare/compare_mixed.h"
#include "trace/base/mem.h"
#include "trace/program/wrapped.h"

enum { SIMULATED_LOADS = 100000 }; /* of a launch: what replay zerocopy has where nobody says otherwise */

uint64_t mix_members(const struct mixing *m, uint32_t ahead)
{
    uint64_t members = 0;
    for (size_t i = 0; i < m->count; i++)
        members |= ahead >> i & 1 ? m->units[i].members : 0;
    return members;
}

double mix_bytes(const struct mixing *m, uint32_t ahead)
{
    double bytes = 0;
    for (size_t i = 0; i < m->count; i++)
        bytes += ahead >> i & 1 ? (double)m->units[i].bytes : 0;
    return bytes;
}

/* --- copies --- */

int mix_copies(const struct compare_facts *f, uint64_t members, struct program_copies *copies, struct err *err)
{
    struct program_totals some = f->totals;
    struct program_alloc *allocs = mem_zalloc(some.alloc_count, sizeof *allocs, err);
    some.launch = allocs ? mem_zalloc(some.launches, sizeof *some.launch, err) : NULL;
    int rc = some.launch ? 0 : -1;
    for (size_t i = 0; i < some.alloc_count && rc == 0; i++) {
        allocs[i] = f->totals.allocs[i];
        allocs[i].host &= members >> i & 1;
    }
    for (uint32_t l = 0; l < some.launches && rc == 0; l++) {
        some.launch[l] = f->totals.launch[l];
        some.launch[l].touched &= members;
        some.launch[l].modified &= members;
    }
    some.allocs = allocs;
    if (rc == 0)
        program_copies_count(copies, &some);
    free(some.launch);
    free(allocs);
    return rc;
}

double mix_copies_ns(const struct compare_facts *f, const struct program_copies *c)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    double ns = c->in_copies ? link_copy_ns(link, (double)c->in_bytes, (double)c->in_copies) : 0;
    if (c->back_copies > c->last_copies)
        ns += link_copy_ns(link, (double)(c->back_bytes - c->last_bytes), (double)(c->back_copies - c->last_copies));
    return ns;
}

static int take_copies(const struct mixing *m, struct mix *mix)
{
    const struct compare_facts *f = m->facts;
    struct program_copies c;
    if (mix_copies(f, mix_members(m, mix->ahead), &c, &mix->err))
        return -1;
    mix->copy_ns = mix_copies_ns(f, &c);
    mix->h2d = (double)c.in_bytes;
    mix->d2h = (double)(c.back_bytes - c.last_bytes);
    mix->back_ns = c.last_copies ? link_copy_ns(platform_section_get(f->platform, "pcie"), (double)c.last_bytes,
                                                (double)c.last_copies)
                                 : 0;
    return 0;
}

/* --- the rest is read over the link --- */

struct reading {
    const struct mixing *mixing;
    double time, least, payload; /* ns: as simulated, and at least */
};

/* No launch is faster than with all of its memory on the GPU, nor than its requests; one without requests is what a
 * copy makes of it. */
static int take_launch(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct reading *r = ctx;
    const struct launch_totals *launch = &r->mixing->facts->totals.launch[number];
    const struct pcie *link = platform_section_get(r->mixing->facts->platform, "pcie");
    (void)err;
    if (launch->cpu)
        return 0;
    double kernel = launch->ms * 1e6 * r->mixing->slower;
    bool asks = mix_requests(&count->mix) > 0;
    r->time += asks ? fmax(count->time_ns, kernel) : kernel;
    r->least += fmax(kernel, asks ? fmin(count->time_ns, link_service_ns(link, &count->mix)) : 0);
    r->payload += (double)mix_payload(&count->mix);
    return 0;
}

/* Bytes that kernels store to memory of the host. */
static double stored(const struct compare_facts *f, uint64_t on_gpu)
{
    double bytes = 0;
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        bytes += on_gpu >> i & 1 ? 0 : (double)f->totals.modified_of[i];
    return bytes;
}

static int ask_link(const struct mixing *m, const struct program *program, struct mix *mix)
{
    const struct compare_facts *f = m->facts;
    struct reading r = {.mixing = m};
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct host_reads how = {.gpu = platform_section_get(f->platform, "gpu"),
                                   .pcie = link,
                                   .program = program,
                                   .weights = f->weights,
                                   .most_loads = SIMULATED_LOADS,
                                   .launch = take_launch,
                                   .ctx = &r};
    if (host_reads_run(&how, &mix->err))
        return -1;
    const double stores = stored(f, mix_members(m, mix->ahead));
    double store_ns = stores / pcie_raw_bytes_per_s(link) * 1e9;
    mix->time = mix->copy_ns + fmax(r.time, store_ns);
    mix->lo = mix->copy_ns + fmax(r.least, store_ns);
    mix->hi = mix->copy_ns + r.time + store_ns;
    mix->h2d += r.payload;
    mix->d2h += stores;
    mix->gpu_bytes = mix_bytes(m, mix->ahead) + (double)f->device_bytes;
    return 0;
}

/* --- the rest is managed --- */

static void take_managed(struct mix *mix, const struct uvm_metrics *metrics)
{
    mix->time += (double)metrics->time_ns;
    mix->lo = mix->hi = mix->time;
    mix->h2d += (double)(metrics->h2d_bytes + metrics->remote_bytes);
    mix->d2h += (double)metrics->d2h_bytes;
    mix->did = uvm_managed_did(metrics);
}

static int ask_managed(const struct mixing *m, const struct program *program, struct mix *mix)
{
    const struct compare_facts *f = m->facts;
    struct uvm_managed_settings settings = f->set->managed;
    struct uvm_touching touching;
    struct uvm_metrics metrics;
    settings.oversubscription_pct = 0;
    settings.gpu_memory_bytes = (int64_t)((double)f->memory - mix_bytes(m, mix->ahead));
    if (uvm_touching_program(&touching, program, &mix->err))
        return -1;
    const struct uvm_managed asked = {.ops = touching.ops,
                                      .state = touching.state,
                                      .store = touching.store,
                                      .platform = f->platform,
                                      .settings = &settings};
    int rc = uvm_managed_run(&asked, &metrics, &mix->err);
    uvm_touching_close(&touching);
    if (rc)
        return -1;
    mix->time = mix->copy_ns;
    take_managed(mix, &metrics);
    mix->gpu_bytes = (double)(f->memory + f->device_bytes);
    return 0;
}

void mix_ask(const struct mixing *m, struct mix *mix)
{
    mix->asked = true;
    struct program_placed *p = program_placed_new(&m->facts->touching.program, mix_members(m, mix->ahead), &mix->err);
    const struct program *program = p ? program_placed_program(p) : NULL;
    mix->failed = !p || take_copies(m, mix) || (m->kind == MIX_LINK ? ask_link : ask_managed)(m, program, mix);
    program_placed_free(p);
}
