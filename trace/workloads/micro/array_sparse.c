#include <string.h>

#include "trace/workloads/micro/array.h"

/* The pages of a block that sparse reads: draws, each of which takes the next free page if its own is taken. */
static void draw_pages(uint64_t block, uint64_t per, bool taken[ARRAY_BLOCK_PAGES])
{
    memset(taken, 0, ARRAY_BLOCK_PAGES * sizeof *taken);
    for (uint64_t i = 0; i < per; i++) {
        uint64_t page = array_hash(block * (1024 + per) + i) % ARRAY_BLOCK_PAGES;
        while (taken[page])
            page = (page + 1) % ARRAY_BLOCK_PAGES;
        taken[page] = true;
    }
}

/* The first words of the pages that the lanes read, in ascending order from a thread on. */
static void sparse_words(const struct array *a, uint64_t thread, uint64_t lanes, int64_t word[PROGRAM_LANES])
{
    uint64_t per = (uint64_t)a->p.pages_per_block, block = thread / per, skip = thread % per, page = 0;
    bool taken[ARRAY_BLOCK_PAGES];
    draw_pages(block, per, taken);
    for (uint64_t lane = 0; lane < lanes; page++) {
        if (page == ARRAY_BLOCK_PAGES) {
            draw_pages(++block, per, taken);
            page = 0;
        }
        if (!taken[page])
            continue;
        if (skip)
            skip--;
        else
            word[lane++] = (int64_t)(block * ARRAY_BLOCK_PAGES + page) * ARRAY_WORDS;
    }
}

int array_sparse(struct emit *e)
{
    int64_t word[PROGRAM_LANES];
    sparse_words(e->state, e->at.thread, e->at.lanes, word);
    emit_load(e, ARRAY_TABLE, (int64_t)e->at.thread, 15, 1);
    emit_each(e, ARRAY_READ, 0, word, 1, 1);
    return emit_end(e, 2);
}
