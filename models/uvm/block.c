#include "models/uvm/block.h"

#include <assert.h>

void uvm_block_init(struct uvm_block *block, uint64_t start, uint64_t end)
{
    assert(start < end && start % UVM_PAGE_BYTES == 0 && end % UVM_PAGE_BYTES == 0);
    assert(uvm_block_number(start) == uvm_block_number(end - 1));
    uint64_t big_first = (start + UVM_BIG_BYTES - 1) / UVM_BIG_BYTES * UVM_BIG_BYTES;
    uint64_t big_end = end / UVM_BIG_BYTES * UVM_BIG_BYTES;
    bool one_region = big_first >= big_end;
    uint64_t base = one_region ? start : start / UVM_BIG_BYTES * UVM_BIG_BYTES;
    *block = (struct uvm_block){.addr = base,
                                .first = (uint16_t)((start - base) / UVM_PAGE_BYTES),
                                .end = (uint16_t)((end - base) / UVM_PAGE_BYTES),
                                .offset = (uint16_t)(base % UVM_BLOCK_BYTES / UVM_PAGE_BYTES),
                                .one_region = one_region,
                                .populated = true};
}
