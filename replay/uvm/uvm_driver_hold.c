/* The part of uvm_driver that holds thrashing pages back: throttled, or pinned to the CPU and mapped. */
#include "replay/uvm/uvm_driver_parts.h"
#include "trace/base/mem.h"

int uvm_driver_notice(struct uvm_driver *d, enum uvm_lapse lapse, struct err *err)
{
    if (uvm_thrashing_init(&d->thrashing, d->memory->block_count, lapse, err))
        return -1;
    d->notices = true;
    for (uint32_t i = 0; i < d->memory->block_count; i++)
        d->memory->blocks[i].block.thrashing = &d->thrashing.blocks[i].thrashing;
    return 0;
}

int uvm_driver_pin_to_cpu(struct uvm_driver *d, uint32_t number, unsigned page, struct err *err)
{
    struct page_mask one = {{0}};
    if (mem_grow((void **)&d->pinned, &d->pinned_cap, d->pinned_head + d->pinned_count + 1, sizeof *d->pinned, err))
        return -1;
    page_mask_set(&one, page);
    uvm_memory_map_remote(d->memory, number, &one, false);
    d->pinned[d->pinned_head + d->pinned_count++] =
        (struct uvm_pinned){d->thrashing.blocks[number].pages[page].pin_ns, number, (uint16_t)page};
    return 0;
}

int64_t uvm_driver_unpin(struct uvm_driver *d, int64_t time_ns)
{
    for (; d->pinned_count && d->pinned[d->pinned_head].until_ns <= time_ns; d->pinned_count--) {
        const struct uvm_pinned *p = &d->pinned[d->pinned_head++];
        struct page_mask one = {{0}};
        page_mask_set(&one, p->page);
        (void)uvm_thrashing_unpin(&d->thrashing, p->block, p->page, time_ns);
        uvm_memory_unmap_remote(d->memory, p->block, &one);
    }
    if (d->pinned_count)
        return d->pinned[d->pinned_head].until_ns;
    d->pinned_head = 0;
    return INT64_MAX;
}

int uvm_driver_hold_back(struct uvm_driver *d, uint32_t number, struct page_mask *faulted, struct uvm_clocks *at,
                         struct err *err)
{
    struct page_mask held = {{0}};
    uint32_t mapped = 0;
    if (!d->thrashing.blocks[number].pages)
        return 0;
    PAGE_MASK_EACH(page, faulted)
    {
        enum uvm_processor place;
        enum uvm_hint hint = uvm_thrashing_hint(&d->thrashing, number, page, UVM_GPU, (int64_t)at->cpu, &place);
        if (hint == UVM_HINT_NONE || (hint == UVM_HINT_PIN && place == UVM_GPU))
            continue;
        page_mask_set(&held, page);
        d->throttled |= hint == UVM_HINT_THROTTLE;
        if (hint == UVM_HINT_PIN && uvm_driver_pin_to_cpu(d, number, page, err))
            return -1;
        mapped += hint == UVM_HINT_PIN;
        if (!d->thrashing.blocks[number].pages)
            break; /* the hint dropped the table */
    }
    page_mask_andnot(faulted, faulted, &held);
    if (!mapped)
        return 0;
    at->cpu += d->platform->service_ns + d->platform->fault_page_ns * mapped;
    d->faults += mapped;
    uvm_memory_note_mapped(d->memory, number, mapped, !page_mask_any(faulted));
    return 0;
}

int64_t uvm_driver_sleep(struct uvm_driver *d, uint32_t number, unsigned page, int64_t time_ns, bool *pin)
{
    enum uvm_processor place = UVM_NOBODY;
    enum uvm_hint hint;
    while ((hint = uvm_thrashing_hint(&d->thrashing, number, page, UVM_CPU, time_ns, &place)) == UVM_HINT_THROTTLE)
        time_ns = d->thrashing.blocks[number].pages[page].end_ns + 1;
    *pin = hint == UVM_HINT_PIN;
    return time_ns;
}
