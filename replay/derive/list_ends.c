#include "replay/derive/list_ends.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { RING = 2 * (LIST_MOST + 1), WORD = 8 };

int list_ends_open(struct list_ends *e, uint64_t sectors, struct err *err)
{
    *e = (struct list_ends){.pages = sectors / LIST_PAGE + 1};
    e->length = mem_zalloc(e->pages, LIST_PAGE, err);
    e->used = mem_zalloc(e->pages / 64 + 1, sizeof *e->used, err);
    return e->length && e->used ? 0 : -1;
}

void list_ends_release(struct list_ends *e)
{
    free(e->length);
    free(e->used);
    *e = (struct list_ends){0};
}

/* Several threads may add runs that end with the same sector: the longest stays. */
static void add(struct list_ends *e, uint64_t last, uint8_t n)
{
    uint8_t was = __atomic_load_n(&e->length[last], __ATOMIC_RELAXED);
    uint64_t page = last / LIST_PAGE, bit = 1ull << page % 64, *used = &e->used[page / 64];
    while (was < n && !__atomic_compare_exchange_n(&e->length[last], &was, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    if (!(__atomic_load_n(used, __ATOMIC_RELAXED) & bit))
        (void)__atomic_fetch_or(used, bit, __ATOMIC_RELAXED);
}

void list_ends_add(struct list_ends *e, uint64_t first, uint64_t n)
{
    for (; n > LIST_MOST; n -= LIST_MOST, first += LIST_MOST)
        add(e, first + LIST_MOST - 1, LIST_MOST);
    add(e, first + n - 1, (uint8_t)n);
}

/* Look for pages in which runs end, as far as there is room for them. */
static void seek_ahead(struct list_ends *e)
{
    while (e->found - e->taken < LIST_AHEAD && e->sought < e->pages) {
        uint64_t *word = &e->used[e->sought / 64];
        if (!*word) {
            e->sought = (e->sought / 64 + 1) * 64;
            continue;
        }
        e->sought = e->sought / 64 * 64 + (uint64_t)__builtin_ctzll(*word);
        *word &= *word - 1;
        __builtin_prefetch(&e->length[e->sought * LIST_PAGE], 1);
        __builtin_prefetch(&e->length[e->sought * LIST_PAGE + LIST_PAGE / 2], 1);
        e->ahead[e->found++ % LIST_AHEAD] = e->sought;
    }
}

/* The next page in which runs end; false: none. */
static bool seek_page(struct list_ends *e)
{
    seek_ahead(e);
    if (e->taken == e->found)
        return false;
    e->page = e->ahead[e->taken++ % LIST_AHEAD];
    return true;
}

/* The next run by its end, which is forgotten; false: none. at = 0: the page is not looked at yet. */
static bool next_run(struct list_ends *e, struct list_run *run)
{
    for (;; e->at = 0) {
        if (e->at == 0 && !seek_page(e))
            return false;
        for (; e->at < LIST_PAGE; e->at = e->at / WORD * WORD + WORD) {
            uint64_t eight, *word = (uint64_t *)&e->length[e->page * LIST_PAGE + e->at / WORD * WORD];
            memcpy(&eight, word, sizeof eight);
            if (!eight)
                continue;
            uint64_t byte = (uint64_t)__builtin_ctzll(eight) / 8,
                     sector = e->page * LIST_PAGE + e->at / WORD * WORD + byte;
            *run = (struct list_run){sector + 1 - e->length[sector], sector + 1};
            e->length[sector] = 0;
            e->at = e->at / WORD * WORD + 1; /* not 0: the page is looked at; the word is looked at again */
            return true;
        }
    }
}

static struct list_run *waiting(struct list_ends *e, uint32_t i)
{
    return &e->waiting[i % RING];
}

size_t list_ends_next(struct list_ends *e, struct list_run *lists, size_t cap)
{
    struct list_run run = {0};
    size_t n = 0;
    while (n < cap) {
        bool more = next_run(e, &run);
        while (more && e->from != e->to && waiting(e, e->to - 1)->first > run.first)
            e->to--; /* it lies in this one */
        if (more)
            *waiting(e, e->to++) = run;
        while (e->from != e->to && n < cap && (!more || waiting(e, e->from)->end + LIST_MOST <= run.end)) {
            struct list_run *w = waiting(e, e->from++);
            lists[n++] = (struct list_run){w->first > e->done ? w->first : e->done, w->end};
            e->done = w->end;
        }
        if (!more && e->from == e->to)
            break;
    }
    if (n == 0) {
        e->page = e->at = e->done = e->sought = 0;
        e->from = e->to = e->taken = e->found = 0;
    }
    return n;
}
