/* The check of uvm eviction policies: batches over more VA blocks than memory holds. */
#include "models/own/own_check_parts.h"

enum { HELD_BLOCKS = 10, EARLY_MOST = 64 };

struct evict_scene {
    struct own_memory memory;
    bool in_pieces, ready;
};

static const struct uvm_evict_policy *policy_of(const struct own_trial *t)
{
    return (const struct uvm_evict_policy *)t->policy;
}

static int evict_open(struct own_trial *t, struct err *err)
{
    struct evict_scene *s = t->scene;
    s->in_pieces = uvm_evict_in_pieces(policy_of(t), t->state);
    own_memory_init(&s->memory, &t->random, HELD_BLOCKS * UVM_BLOCK_PIECES, s->in_pieces);
    if (policy_of(t)->init && policy_of(t)->init(t->state, err))
        return err_at(err, "policy %s", t->policy->name);
    s->ready = true;
    return 0;
}

static void tell(struct own_trial *t, uint32_t block, enum uvm_evict_event event)
{
    struct evict_scene *s = t->scene;
    if (policy_of(t)->on_service)
        policy_of(t)->on_service(t->state, &s->memory.view, block, event);
}

/* One victim. `needs` waits for the memory, or nobody. 1: something went, 0: nothing would. */
static int ask_pick(struct own_trial *t, uint32_t needs, struct err *err)
{
    struct evict_scene *s = t->scene;
    s->memory.view.needs = needs;
    const struct uvm_victim v = policy_of(t)->pick(t->state, &s->memory.view);
    const uint64_t answer = (uint64_t)v.block << 32 | (v.block == UVM_NO_BLOCK ? 0 : v.pieces);
    if (own_answer(t, "pick", &answer, sizeof answer, err))
        return -1;
    if (v.block == UVM_NO_BLOCK && needs == UVM_NO_BLOCK)
        return 0;
    if (v.block >= OWN_BLOCKS)
        return own_broken(t, "pick", err, "picks VA block %u of %d", v.block, OWN_BLOCKS);
    const struct uvm_evict_block *f = &s->memory.facts[v.block];
    if (v.block == needs)
        return own_broken(t, "pick", err, "picks the block that needs the memory");
    if (!(f->pieces & v.pieces))
        return own_broken(t, "pick", err, "picks VA block %u, pieces %x; it holds %x", v.block, v.pieces, f->pieces);
    own_memory_evict(&s->memory, v.block, s->in_pieces ? v.pieces : UINT32_MAX);
    if (!f->pieces)
        tell(t, v.block, UVM_EVICT_EMPTIED);
    return 1;
}

/* Victims that nobody waits for. */
static int evict_early(struct own_trial *t, uint64_t most, struct err *err)
{
    int rc = 1;
    for (uint64_t i = 0; i < most && i < EARLY_MOST && rc > 0; i++)
        rc = ask_pick(t, UVM_NO_BLOCK, err);
    return rc < 0 ? -1 : 0;
}

/* A fault on a block, and what has to go for it. */
static int service(struct own_trial *t, uint32_t b, struct err *err)
{
    struct evict_scene *s = t->scene;
    struct own_memory *m = &s->memory;
    struct page_mask faulted, none = {{0}};
    if (!own_memory_faults(m, b, &t->random, &faulted))
        return 0;
    const bool fresh = !m->facts[b].pieces;
    while (m->view.free_pieces < (uint64_t)__builtin_popcount(own_memory_wants(m, b, &faulted)))
        if (ask_pick(t, b, err) < 0)
            return -1;
    own_memory_service(m, b, &faulted, &none);
    if (fresh)
        tell(t, b, UVM_EVICT_ALLOCATED);
    tell(t, b, UVM_EVICT_SERVICED);
    return 0;
}

static int ask_numbers(struct own_trial *t, struct err *err)
{
    const struct uvm_evict_policy *p = policy_of(t);
    struct evict_scene *s = t->scene;
    const uint32_t block = random_below(&t->random, OWN_BLOCKS);
    own_note_state(t);
    if (p->threshold && (own_answer_number(t, "threshold", p->threshold(t->state, &s->memory.view, block), err) ||
                         own_same_state(t, "threshold", err)))
        return -1;
    if (!p->keep_free)
        return 0;
    return own_answer_number(t, "keep_free", (int64_t)p->keep_free(t->state), err) ||
                   own_same_state(t, "keep_free", err)
               ? -1
               : 0;
}

/* A batch of three services, at times a notice of access counters, at times an allocation that is freed. */
static int evict_step(struct own_trial *t, struct err *err)
{
    struct evict_scene *s = t->scene;
    struct own_memory *m = &s->memory;
    const struct uvm_evict_policy *p = policy_of(t);
    own_memory_batch(m);
    m->view.needs = UVM_NO_BLOCK;
    if (p->before_batch) {
        const uint64_t ahead = p->before_batch(t->state, &m->view, 3);
        if (own_answer_number(t, "before_batch", (int64_t)ahead, err) || evict_early(t, ahead, err))
            return -1;
    }
    for (int i = 0; i < 3; i++)
        if (service(t, random_below(&t->random, OWN_BLOCKS), err))
            return -1;
    if (p->on_counter && random_below(&t->random, 4) == 0) {
        const uint32_t block = random_below(&t->random, OWN_BLOCKS);
        m->facts[block].notifications++;
        p->on_counter(t->state, &m->view, block, 1u << random_below(&t->random, 32));
    }
    const uint32_t gone = random_below(&t->random, 16) ? UVM_NO_BLOCK : random_below(&t->random, OWN_BLOCKS);
    if (gone != UVM_NO_BLOCK && m->facts[gone].pieces) {
        own_memory_evict(m, gone, UINT32_MAX);
        tell(t, gone, UVM_EVICT_FREED);
    }
    return ask_numbers(t, err);
}

static void evict_close(struct own_trial *t)
{
    const struct evict_scene *s = t->scene;
    if (s->ready && policy_of(t)->release)
        policy_of(t)->release(t->state);
}

const struct own_exam own_exam_evict = {.scene_size = sizeof(struct evict_scene),
                                        .steps = 128,
                                        .open = evict_open,
                                        .step = evict_step,
                                        .close = evict_close};
