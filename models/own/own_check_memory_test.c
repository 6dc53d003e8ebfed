/* The made-up memory that policies are shown, against books kept page by page and block by block. */
#include "models/own/own_check_parts.h"
#include "trace/base/testing.h"

struct book {
    struct page_mask resident;
    uint32_t pieces, services, evictions, faulted, prefetched, served, arrived, first_batch, last_batch;
    int64_t first_ns, last_ns;
    uint32_t age[UVM_BLOCK_PIECES];
};

static struct own_memory m;
static struct book books[OWN_BLOCKS];
static struct random rng = {1};

static uint32_t all_pieces(uint32_t b)
{
    uint32_t pieces = 0;
    for (unsigned page = 0; page < m.block[b].end; page++)
        pieces |= 1u << page / UVM_BIG_PAGES;
    return pieces;
}

static uint32_t pieces_of(const struct page_mask *pages)
{
    uint32_t pieces = 0;
    for (unsigned page = 0; page < UVM_BLOCK_PAGES; page++)
        pieces |= page_mask_test(pages, page) ? 1u << page / UVM_BIG_PAGES : 0;
    return pieces;
}

/* Each holds what its book says, and the order of service is that of the books. */
static void agrees(uint64_t total)
{
    uint32_t before = UVM_NO_BLOCK, listed = 0, holding = 0;
    for (uint32_t b = m.view.oldest; b != UVM_NO_BLOCK; before = b, b = m.facts[b].newer, listed++) {
        ck_assert_uint_lt(listed, OWN_BLOCKS);
        ck_assert_uint_eq(m.facts[b].older, before);
        ck_assert(before == UVM_NO_BLOCK || books[before].served < books[b].served);
    }
    ck_assert_uint_eq(m.view.newest, before);
    for (uint32_t b = 0; b < OWN_BLOCKS; b++) {
        const struct uvm_evict_block *f = &m.facts[b];
        const struct book *k = &books[b];
        const bool pages = page_mask_equal(&m.block[b].resident, &k->resident) && f->pieces == k->pieces &&
                           f->resident == page_mask_count(&k->resident) && f->faulted == k->faulted &&
                           m.block[b].fault_pages == k->faulted && f->prefetched == k->prefetched;
        const bool times = f->services == k->services && f->evictions == k->evictions && f->arrived == k->arrived &&
                           f->first_batch == k->first_batch && f->last_batch == k->last_batch &&
                           f->asked_batch == k->last_batch && f->first_ns == k->first_ns && f->last_ns == k->last_ns &&
                           memcmp(&m.age[b * UVM_BLOCK_PIECES], k->age, sizeof k->age) == 0;
        ck_assert_msg(pages && times, "block %u: %s", b, pages ? "when it was served" : "its pages");
        ck_assert(f->pieces || (f->older == UVM_NO_BLOCK && f->newer == UVM_NO_BLOCK));
        holding += f->pieces != 0;
        total -= (uint64_t)__builtin_popcount(f->pieces);
    }
    ck_assert_uint_eq(listed, holding);
    ck_assert_uint_eq(m.view.free_pieces, total);
}

/* Faults of a block, some pages with them; told to the memory and to its book. */
static void serve(uint32_t b, uint32_t number)
{
    struct book *k = &books[b];
    struct page_mask faulted, plan = {{0}}, both;
    if (!own_memory_faults(&m, b, &rng, &faulted))
        return;
    page_mask_set_region(&plan, m.block[b].first, m.block[b].first + random_below(&rng, 100));
    uvm_block_keep_movable(&m.block[b], &faulted, &plan);
    own_memory_service(&m, b, &faulted, &plan);
    page_mask_or(&both, &faulted, &plan);
    page_mask_or(&k->resident, &k->resident, &both);
    PAGE_MASK_EACH(page, &faulted)
    k->age[page / UVM_BIG_PAGES] = number;
    k->arrived = k->pieces ? k->arrived : number;
    k->pieces |= k->pieces ? pieces_of(&both) : all_pieces(b);
    k->served = number;
    k->faulted += page_mask_count(&faulted);
    k->prefetched += page_mask_count(&plan);
    k->first_batch = k->services ? k->first_batch : m.view.batch;
    k->first_ns = k->services ? k->first_ns : m.view.time_ns;
    k->last_batch = m.view.batch;
    k->last_ns = m.view.time_ns;
    k->services++;
}

static void evict(uint32_t b, uint32_t pieces)
{
    struct book *k = &books[b];
    if (!k->pieces)
        return;
    own_memory_evict(&m, b, pieces);
    for (unsigned page = 0; page < UVM_BLOCK_PAGES; page++)
        if (pieces >> page / UVM_BIG_PAGES & 1)
            page_mask_clear(&k->resident, page);
    k->pieces &= ~pieces;
    k->evictions++;
}

START_TEST(services_and_evictions_are_kept_as_in_the_books)
{
    enum { TOTAL = 100000 };
    own_memory_init(&m, &rng, TOTAL, true);
    agrees(TOTAL);
    for (int step = 0; step < 1500; step++) {
        const uint32_t batch = m.view.batch, b = random_below(&rng, OWN_BLOCKS);
        const int64_t ns = m.view.time_ns;
        own_memory_batch(&m);
        ck_assert(m.view.batch == batch + 1 && m.view.time_ns > ns);
        const uint32_t served = m.services;
        serve(random_below(&rng, OWN_BLOCKS), served + 1);
        ck_assert_uint_le(m.services, served + 1);
        if (random_below(&rng, 2))
            evict(b, random_below(&rng, 3) ? 1u << random_below(&rng, 32) | 1u << random_below(&rng, 32) : UINT32_MAX);
        agrees(TOTAL);
    }
    ck_assert_uint_gt(m.services, 500);
}
END_TEST

START_TEST(faults_are_pages_that_can_fault_as_long_as_there_are_any)
{
    own_memory_init(&m, &rng, 1, false);
    ck_assert(m.view.total_pieces == 1 && m.view.free_pieces == 1 && !m.view.piece_age);
    for (uint32_t b = 0; b < OWN_BLOCKS; b++) {
        struct page_mask faulted, left = {{0}}, none = {{0}};
        unsigned several = 0;
        page_mask_set_region(&left, m.block[b].first, m.block[b].end);
        while (page_mask_any(&left)) {
            ck_assert(own_memory_faults(&m, b, &rng, &faulted));
            ck_assert(page_mask_any(&faulted) && page_mask_contains(&left, &faulted));
            several += page_mask_count(&faulted) > 1;
            page_mask_andnot(&left, &left, &faulted);
            own_memory_service(&m, b, &faulted, &none);
        }
        ck_assert_uint_gt(several, 2);
        ck_assert(!own_memory_faults(&m, b, &rng, &faulted));
        ck_assert(!page_mask_any(&faulted));
    }
}
END_TEST

START_TEST(blocks_are_whole_or_cut_at_either_edge)
{
    unsigned whole = 0, head = 0, tail = 0;
    for (int i = 0; i < 100; i++) {
        own_memory_init(&m, &rng, 64, true);
        ck_assert(m.view.piece_age == m.age && m.view.blocks == m.facts && m.view.block_count == OWN_BLOCKS);
        ck_assert_uint_eq(m.view.needs, UVM_NO_BLOCK);
        for (uint32_t b = 0; b < OWN_BLOCKS; b++) {
            const struct uvm_block *block = &m.block[b];
            const uint64_t first = uvm_block_addr(block, block->first), last = uvm_block_addr(block, block->end) - 1;
            ck_assert_ptr_eq(m.facts[b].block, block);
            ck_assert(uvm_block_number(first) == b && uvm_block_number(last) == b);
            ck_assert_uint_eq(own_memory_whole(&m, b), all_pieces(b));
            const bool early = first % UVM_BLOCK_BYTES == 0, late = (last + 1) % UVM_BLOCK_BYTES == 0;
            whole += early && late;
            head += !early;
            tail += !late;
        }
    }
    ck_assert_uint_gt(whole, 1600); /* three in four of 2,400, about */
    ck_assert_uint_lt(whole, 2000);
    ck_assert_uint_gt(head, 400);
    ck_assert_uint_gt(tail, 400);
}
END_TEST

TEST_MAIN("own_check_memory", services_and_evictions_are_kept_as_in_the_books,
          faults_are_pages_that_can_fault_as_long_as_there_are_any, blocks_are_whole_or_cut_at_either_edge)
