/* The check of uvm prefetch policies: batches over a few VA blocks without a bound on memory. */
#include <string.h>

#include "models/own/own_check_parts.h"

enum { BATCH_BLOCKS = 4 };

struct prefetch_scene {
    struct own_memory memory;
    uint32_t asks[UVM_ASKS];
    bool ready;
};

static const struct uvm_policy *policy_of(const struct own_trial *t)
{
    return (const struct uvm_policy *)t->policy;
}

static int prefetch_open(struct own_trial *t, struct err *err)
{
    struct prefetch_scene *s = t->scene;
    own_memory_init(&s->memory, &t->random, (uint64_t)OWN_BLOCKS * UVM_BLOCK_PIECES, false);
    if (policy_of(t)->init && policy_of(t)->init(t->state, err))
        return err_at(err, "policy %s", t->policy->name);
    s->ready = true;
    return 0;
}

/* Pages asked for in advance of the whole batch. */
static int ask_ahead(struct own_trial *t, const uint32_t *blocks, const struct page_mask *faulted, struct err *err)
{
    struct prefetch_scene *s = t->scene;
    uint32_t pages[BATCH_BLOCKS * UVM_BLOCK_PAGES];
    struct uvm_asks asks = {s->asks, 0};
    size_t n = 0;
    for (int i = 0; i < BATCH_BLOCKS; i++)
        PAGE_MASK_EACH(page, &faulted[i])
    pages[n++] = blocks[i] * UVM_BLOCK_PAGES + page;
    policy_of(t)->ahead(t->state, &(struct uvm_ahead){pages, n, &s->memory.view}, &asks);
    if (asks.count > UVM_ASKS)
        return own_broken(t, "ahead", err, "asks for %zu pages, more than %d", asks.count, UVM_ASKS);
    return own_answer(t, "ahead", s->asks, asks.count * sizeof *s->asks, err);
}

/* One service: asked twice, and once more with another plan to write over. */
static int ask_plan(struct own_trial *t, const struct uvm_block *block, const struct page_mask *faulted,
                    struct page_mask *plan, struct err *err)
{
    struct page_mask again, over;
    memset(plan, 0, sizeof *plan);
    memset(&again, 0, sizeof again);
    memset(&over, 0xff, sizeof over);
    own_note_state(t);
    policy_of(t)->plan(t->state, block, faulted, plan);
    policy_of(t)->plan(t->state, block, faulted, &again);
    policy_of(t)->plan(t->state, block, faulted, &over);
    if (own_same_state(t, "plan", err))
        return -1;
    if (!page_mask_equal(plan, &again))
        return own_broken(t, "plan", err, "gives two plans for the same faults");
    if (!page_mask_equal(plan, &over))
        return own_broken(t, "plan", err, "leaves parts of *plan as they were: it must set all of it");
    uvm_block_keep_movable(block, faulted, &again);
    if (!page_mask_equal(plan, &again))
        return own_broken(t, "plan", err,
                          "plans pages that are faulted, resident, thrashing or outside of the block: end it with "
                          "uvm_block_keep_movable()");
    return own_answer(t, "plan", plan, sizeof *plan, err);
}

static int ask_numbers(struct own_trial *t, struct err *err)
{
    const struct uvm_policy *p = policy_of(t);
    own_note_state(t);
    if (p->granularity &&
        (own_answer_number(t, "granularity", p->granularity(t->state), err) || own_same_state(t, "granularity", err)))
        return -1;
    if (!p->least)
        return 0;
    const int64_t least = p->least(t->state);
    if (least < UVM_PAGE_BYTES || least > UVM_BLOCK_BYTES || least & (least - 1))
        return own_broken(t, "least", err, "says %lld; expected a power of two from 4096 to 2097152", (long long)least);
    return own_answer_number(t, "least", least, err) || own_same_state(t, "least", err) ? -1 : 0;
}

/* Different blocks, ascending, each with faults. */
static size_t choose(struct own_trial *t, uint32_t *blocks, struct page_mask *faulted)
{
    struct prefetch_scene *s = t->scene;
    size_t n = 0;
    memset(faulted, 0, BATCH_BLOCKS * sizeof *faulted);
    for (uint32_t b = random_below(&t->random, OWN_BLOCKS / 2); b < OWN_BLOCKS && n < BATCH_BLOCKS;
         b += 1 + random_below(&t->random, 5)) {
        if (!own_memory_faults(&s->memory, b, &t->random, &faulted[n]))
            own_memory_evict(&s->memory, b, UINT32_MAX);
        else
            blocks[n++] = b;
    }
    if (n < BATCH_BLOCKS)
        page_mask_zero(&faulted[n]);
    return n;
}

/* A batch: its services one after the other, some pages of some blocks thrashing. */
static int prefetch_step(struct own_trial *t, struct err *err)
{
    struct prefetch_scene *s = t->scene;
    uint32_t blocks[BATCH_BLOCKS] = {0};
    struct page_mask faulted[BATCH_BLOCKS], plan, thrashing = {{0}};
    struct uvm_batch_block served[BATCH_BLOCKS];
    own_memory_batch(&s->memory);
    const size_t n = choose(t, blocks, faulted);
    if (policy_of(t)->ahead && ask_ahead(t, blocks, faulted, err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct uvm_block *block = &s->memory.block[blocks[i]];
        page_mask_set(&thrashing, random_below(&t->random, UVM_BLOCK_PAGES));
        page_mask_andnot(&thrashing, &thrashing, &faulted[i]);
        block->thrashing = random_below(&t->random, 3) ? NULL : &thrashing;
        const int rc = ask_plan(t, block, &faulted[i], &plan, err);
        block->thrashing = NULL;
        if (rc)
            return -1;
        own_memory_service(&s->memory, blocks[i], &faulted[i], &plan);
        served[i] = (struct uvm_batch_block){blocks[i], page_mask_count(&faulted[i]), page_mask_count(&faulted[i])};
    }
    if (policy_of(t)->learn)
        policy_of(t)->learn(t->state, &(struct uvm_batch){.blocks = served,
                                                          .block_count = n,
                                                          .evictions = random_below(&t->random, 3),
                                                          .free_chunks = random_below(&t->random, OWN_BLOCKS),
                                                          .total_chunks = OWN_BLOCKS,
                                                          .routine_end = random_below(&t->random, 2)});
    return ask_numbers(t, err);
}

static void prefetch_close(struct own_trial *t)
{
    const struct prefetch_scene *s = t->scene;
    if (s->ready && policy_of(t)->release)
        policy_of(t)->release(t->state);
}

const struct own_exam own_exam_prefetch = {.scene_size = sizeof(struct prefetch_scene),
                                           .steps = 128,
                                           .open = prefetch_open,
                                           .step = prefetch_step,
                                           .close = prefetch_close};
