#include "models/uvm/thrashing.h"

#include <stdlib.h>

#include "trace/base/mem.h"

int uvm_thrashing_init(struct uvm_thrashing *t, uint32_t blocks, enum uvm_lapse adapt, struct err *err)
{
    *t = (struct uvm_thrashing){.block_count = blocks,
                                .lapse_ns = UVM_THRASHING_LAPSE_NS,
                                .nap_ns = UVM_THRASHING_LAPSE_NS,
                                .epoch_ns = 2000ll * UVM_THRASHING_LAPSE_NS,
                                .pin_ns = 300ll * UVM_THRASHING_LAPSE_NS,
                                .adapt = adapt};
    t->blocks = mem_zalloc(blocks, sizeof *t->blocks, err);
    return t->blocks ? 0 : -1;
}

void uvm_thrashing_release(struct uvm_thrashing *t)
{
    for (uint32_t b = 0; t->blocks && b < t->block_count; b++)
        free(t->blocks[b].pages);
    free(t->blocks);
    *t = (struct uvm_thrashing){0};
}

static bool pinned(const struct uvm_thrashing_page *p)
{
    return p->pin != UVM_NOBODY;
}

static void reset_page(struct uvm_thrashing_block *b, unsigned page)
{
    b->pinned -= pinned(&b->pages[page]);
    b->pages[page] = (struct uvm_thrashing_page){.free = UVM_NOBODY, .pin = UVM_NOBODY};
    page_mask_clear(&b->thrashing, page);
}

static void drop_table(struct uvm_thrashing_block *b)
{
    free(b->pages);
    b->pages = NULL;
    page_mask_zero(&b->thrashing);
    b->any = false;
    b->thrashed_ns = 0;
}

/* A table for the block if this event asks for one. */
static bool needs_table(struct uvm_thrashing *t, struct uvm_thrashing_block *b, enum uvm_processor to, int64_t now_ns)
{
    if (!b->any || b->to == to || now_ns - b->last_ns > t->lapse_ns)
        return false;
    b->pages = mem_zalloc(UVM_BLOCK_PAGES, sizeof *b->pages, NULL);
    t->failed |= !b->pages;
    for (unsigned i = 0; b->pages && i < UVM_BLOCK_PAGES; i++)
        b->pages[i].free = b->pages[i].pin = UVM_NOBODY;
    return b->pages != NULL;
}

static void page_event(struct uvm_thrashing *t, struct uvm_thrashing_block *b, unsigned page, enum uvm_processor to,
                       int64_t now_ns)
{
    struct uvm_thrashing_page *p = &b->pages[page];
    int64_t since = now_ns - p->last_ns;
    p->processors |= (uint8_t)(1u << to);
    p->last_ns = now_ns;
    if (!p->seen) {
        p->seen = true;
    } else if (since <= t->lapse_ns) {
        if (p->count < 7)
            p->count++;
        if (p->count == UVM_THRASHING_COUNT && !page_mask_test(&b->thrashing, page)) {
            page_mask_set(&b->thrashing, page);
            t->thrashing++;
        }
        if (p->count >= UVM_THRASHING_COUNT)
            b->thrashed_ns = now_ns;
    } else if (p->count >= UVM_THRASHING_COUNT && !pinned(p)) {
        reset_page(b, page);
    }
}

void uvm_thrashing_event(struct uvm_thrashing *t, uint32_t block, const struct page_mask *pages, enum uvm_processor to,
                         int64_t now_ns)
{
    struct uvm_thrashing_block *b = &t->blocks[block];
    bool table = b->pages || needs_table(t, b, to, now_ns);
    b->any = true;
    b->to = (uint8_t)to;
    b->last_ns = now_ns;
    if (table)
        PAGE_MASK_EACH(page, pages)
    page_event(t, b, page, to, now_ns);
}

/* One vote of a hint on the lapse, in the versions that adapt it. */
static void vote(struct uvm_thrashing *t, bool late)
{
    if (t->adapt == UVM_LAPSE_FIXED)
        return;
    t->vote += late ? 1 : -1;
    bool most = t->lapse_ns >= UVM_THRASHING_LAPSE_MAX_NS, raise, lower;
    if (t->adapt == UVM_LAPSE_SPEC) {
        raise = t->vote <= -32 && !most;
        lower = t->vote >= 32;
    } else {
        raise = (t->vote < 0 || t->vote >= 32) && !most;
        lower = t->vote >= 32; /* where it may not rise */
    }
    if (!raise && !lower)
        return;
    t->lapse_ns += raise ? t->lapse_ns / 8 : -(t->lapse_ns / 8);
    if (t->lapse_ns > UVM_THRASHING_LAPSE_MAX_NS)
        t->lapse_ns = UVM_THRASHING_LAPSE_MAX_NS;
    if (t->lapse_ns < UVM_THRASHING_LAPSE_MIN_NS)
        t->lapse_ns = UVM_THRASHING_LAPSE_MIN_NS;
    t->vote /= 2;
}

/* x86 over PCIe. */
static bool reaches(enum uvm_processor who, enum uvm_processor place)
{
    return who == place || (who == UVM_GPU && place == UVM_CPU);
}

static enum uvm_hint throttle(struct uvm_thrashing *t, struct uvm_thrashing_page *p, enum uvm_processor by)
{
    uint8_t bit = (uint8_t)(1u << by);
    if (!(p->counted & bit)) {
        if (p->throttles < UINT8_MAX)
            p->throttles++;
        t->throttles++;
    }
    p->throttled |= bit;
    p->counted |= bit;
    return UVM_HINT_THROTTLE;
}

static enum uvm_hint pin(struct uvm_thrashing *t, struct uvm_thrashing_block *b, struct uvm_thrashing_page *p,
                         enum uvm_processor where, int64_t now_ns, enum uvm_processor *place)
{
    if (p->pin != (uint8_t)where)
        p->throttled = 0;
    if (!pinned(p)) {
        b->pinned++;
        t->pins++;
        p->pin_ns = now_ns + t->pin_ns;
    }
    p->pin = (uint8_t)where;
    *place = where;
    return UVM_HINT_PIN;
}

/* Who is free of throttling in the period that `now` falls into. */
static void set_free(struct uvm_thrashing *t, struct uvm_thrashing_page *p, enum uvm_processor by, int64_t now_ns)
{
    if (now_ns > p->end_ns) {
        p->end_ns = now_ns + t->nap_ns;
        p->free = p->free == by ? UVM_NOBODY : (uint8_t)by;
        p->counted = 0;
    } else if (p->free == UVM_NOBODY) {
        p->free = (uint8_t)by;
    }
}

enum uvm_hint uvm_thrashing_hint(struct uvm_thrashing *t, uint32_t block, unsigned page, enum uvm_processor by,
                                 int64_t now_ns, enum uvm_processor *place)
{
    struct uvm_thrashing_block *b = &t->blocks[block];
    if (!b->pages)
        return UVM_HINT_NONE;
    struct uvm_thrashing_page *p = &b->pages[page];
    if (b->thrashed_ns && now_ns - b->thrashed_ns > t->epoch_ns && !b->pinned && b->resets < UVM_THRASHING_RESETS) {
        b->resets++;
        drop_table(b);
        return UVM_HINT_NONE;
    }
    if (p->count < UVM_THRASHING_COUNT)
        return UVM_HINT_NONE;
    if (p->throttled >> by & 1) {
        if (now_ns < p->end_ns && p->free != by)
            return UVM_HINT_THROTTLE; /* counted already in this period */
        p->throttled &= (uint8_t) ~(1u << by);
        p->end_ns = p->throttled ? p->end_ns : 0;
    }
    vote(t, now_ns - p->last_ns >= t->lapse_ns);
    if (now_ns - p->last_ns > t->lapse_ns && !pinned(p))
        return UVM_HINT_NONE;
    p->processors |= (uint8_t)(1u << by);
    set_free(t, p, by, now_ns);
    if (pinned(p)) {
        if (p->free == by)
            return pin(t, b, p, p->processors & 1u << UVM_CPU ? UVM_CPU : by, now_ns, place); /* which all reach */
        return reaches(by, p->pin) ? pin(t, b, p, p->pin, now_ns, place) : throttle(t, p, by);
    }
    if (p->free != by)
        return throttle(t, p, by);
    return p->throttles >= UVM_THRASHING_PIN ? pin(t, b, p, by, now_ns, place) : UVM_HINT_NONE;
}

bool uvm_thrashing_unpin(struct uvm_thrashing *t, uint32_t block, unsigned page, int64_t now_ns)
{
    struct uvm_thrashing_block *b = &t->blocks[block];
    if (!b->pages || !pinned(&b->pages[page]) || now_ns < b->pages[page].pin_ns)
        return false;
    reset_page(b, page);
    return true;
}
