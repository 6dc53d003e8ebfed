#include "replay/uvm/uvm_recorded.h"

#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_recorded_say.h"
#include "trace/base/mem.h"

/* A recording that does not say its policy is a policy's own if at least this share of its services is decided as
 * recorded, no fewer than the stock prefetcher explains, and if at least this share of the prefetched pages agrees. The
 * rest are services that a loss cut off, or blocks whose edges are not known. */
#define OWN_SHARE 0.95

static int loop_once(const struct uvm_recorded_run *run, enum uvm_hidden hidden, struct uvm_looped *looped,
                     struct err *err)
{
    struct uvm_open_loop_run loop = {.recording = run->recording,
                                     .policy = run->policy,
                                     .params = run->params,
                                     .platform = run->platform,
                                     .hidden = hidden,
                                     .traced = run->traced || run->recording->traced,
                                     .progress = run->progress};
    if (run->parts) {
        if (uvm_recorded_parts_tallies(run->parts, &looped->owners, err))
            return -1;
        loop.owners = &looped->owners;
    }
    return uvm_open_loop_run(&loop, &looped->out, err);
}

static void answer_release(struct uvm_answered *a)
{
    uvm_recorded_parts_free(&a->own.owners);
    uvm_recorded_parts_free(&a->other.owners);
    free(a->allocations);
}

static void add_bounds(struct uvm_bounds *to, const struct uvm_bounds *what)
{
    struct uvm_range *const sums[] = {&to->faults, &to->services, &to->moved, &to->prefetched, &to->touched};
    const struct uvm_range *const terms[] = {&what->faults, &what->services, &what->moved, &what->prefetched,
                                             &what->touched};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        sums[i]->lo += terms[i]->lo;
        sums[i]->hi += terms[i]->hi;
    }
}

/* What is proved of each owner, and of all: of an exact answer what the recording does not show besides. */
static int find_bounds(struct uvm_answered *a, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    const struct uvm_recorded_parts *parts = run->parts;
    size_t owners = parts ? parts->count[OUTCOME_BY_ALLOCATION] : 1;
    a->allocations = mem_zalloc(owners, sizeof *a->allocations, err);
    void *state = a->allocations ? mem_zalloc(1, run->policy->head.state_size + 1, err) : NULL;
    if (!state)
        return -1;
    if (run->policy->head.state_size && run->params)
        memcpy(state, run->params, run->policy->head.state_size);
    else
        param_defaults(run->policy->head.params, state);
    for (size_t p = 0; p < run->recording->piece_count; p++)
        (a->exact ? uvm_bounds_add_unseen : uvm_bounds_add)(&a->allocations[parts ? parts->allocation[p] : 0],
                                                            run->known, p, run->policy, state);
    for (size_t i = 0; i < owners; i++)
        add_bounds(&a->whole, &a->allocations[i]);
    if (!a->exact && run->policy->ahead && a->whole.touched.lo > 0)
        a->whole.faults.lo = a->whole.services.lo = 1; /* nothing comes before something faults */
    free(state);
    return 0;
}

/* --- the answers --- */

/* Whether memory would be short, by the settings, for the VA blocks that were migrated. */
static bool short_of_memory(const struct uvm_recorded_run *run, uint64_t blocks)
{
    if (run->gpu_memory_bytes)
        return (uint64_t)run->gpu_memory_bytes / UVM_BLOCK_BYTES < blocks;
    return run->oversubscription_pct > 100;
}

/* Without the eviction that is the driver's anyway. */
static size_t bare(const char *label)
{
    size_t n = strlen(label);
    return n > 4 && strcmp(label + n - 4, "+lru") == 0 ? n - 4 : n;
}

/* Whether the recording is a run of the policy, given what forcing it along gave. */
static int is_own(const struct uvm_answered *a, bool *yes, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    const struct uvm_recording *r = run->recording;
    const struct uvm_open_loop *own = &a->own.out;
    bool agrees = own->services_exact == own->all.services && own->all.services;
    *yes = false;
    if (r->policy[0] && run->label) {
        size_t n = bare(r->policy);
        *yes = n == bare(run->label) && strncmp(r->policy, run->label, n) == 0;
        /* Another one, of which the services show all that there is, and which decides each of them alike. */
        *yes |= agrees && run->known->closed && run->known->quiet && run->known->whole_data && !run->policy->learn &&
                !run->policy->ahead && !r->evictions;
        return 0;
    }
    if (run->policy->ahead || (r->evictions && run->evict && !run->evict->stock))
        return 0;
    *yes = own->all.services && (double)own->services_exact >= OWN_SHARE * (double)own->all.services &&
           (double)own->common_pages >= OWN_SHARE * (double)own->planned_pages &&
           (double)own->common_pages >= OWN_SHARE * (double)own->recorded_pages;
    if (!*yes || run->policy->stock)
        return 0;
    struct uvm_open_loop_run stock = {.recording = r,
                                      .policy = uvm_policy_stock(),
                                      .platform = run->platform,
                                      .hidden = UVM_HIDDEN_FORCED,
                                      .progress = run->progress};
    struct uvm_open_loop tree;
    if (uvm_open_loop_run(&stock, &tree, err))
        return -1;
    *yes = own->services_exact >= tree.services_exact;
    return 0;
}

/* Why a policy gets no answer, or NULL. */
static const char *refusal(const struct uvm_answered *a)
{
    const struct uvm_recorded_run *run = a->run;
    if (short_of_memory(run, a->own.out.all.blocks))
        return "with less memory than the recording's footprint pages are evicted and touched again, and the recording "
               "does not show touches of pages that were resident; use a workload or a trace of page touches";
    if (!a->exact && run->recording->advised)
        return "advice, discards, access counters or thrashing decided where pages lie, and the recording does not "
               "show what the "
               "GPU reached without a fault";
    if (!a->exact && run->recording->evictions)
        return "the recording evicted under another policy; with this one other blocks would leave, and the touches "
               "that bring them back are hidden";
    return NULL;
}

static int answer(struct uvm_answered *a, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    if (loop_once(run, UVM_HIDDEN_FORCED, &a->own, err) || is_own(a, &a->exact, err))
        return -1;
    const char *why = refusal(a);
    if (why) {
        outcome_note(o, "refused: %s", why);
        return 0;
    }
    *kind = a->exact ? UVM_EXACT : run->known->whole ? UVM_BOUND : UVM_INTERVAL;
    if (!a->exact) {
        if (loop_once(run, UVM_HIDDEN_UNTOUCHED, &a->other, err))
            return -1;
        if (!a->other.out.covers) {
            uvm_recorded_parts_free(&a->other.owners);
            if (loop_once(run, UVM_HIDDEN_TOUCHED, &a->other, err))
                return -1;
        }
    }
    return find_bounds(a, err) || uvm_recorded_say(a, o, err) ? -1 : 0;
}

int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    struct uvm_answered a = {.run = run};
    *kind = UVM_REFUSED;
    int rc = answer(&a, o, kind, err);
    answer_release(&a);
    return rc;
}
