#include "replay/derive/derive_scans.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

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

static int note_reads(void *ctx, const struct program_op *op, struct err *err)
{
    struct derive_scans *s = ctx;
    if (op->access != RECORD_READ)
        return 0;
    if (op->bytes < 8)
        s->element = 4;
    for (int i = 0; i < op->lines; i++) {
        uint64_t page = op->line[i].addr / ACTOR_PAGE_BYTES;
        if (s->last_page == page + 1)
            continue;
        s->last_page = page + 1;
        if (derive_space_touch(&s->space, page, true, err))
            return -1;
    }
    return 0;
}

int derive_scans_open(struct derive_scans *s, const struct derive_source *source, struct store *out,
                      const struct derive_options *options, struct err *err)
{
    static const struct program_taker taker = {.op = note_reads};
    s->element = 8;
    if (derive_walk(source, options, &taker, s, NULL, err) || derive_space_merge(&s->space, NULL, NULL, err))
        return -1;
    if (s->space.count == 0)
        return 0;
    s->base = s->space.rows[0].first * ACTOR_PAGE_BYTES;
    struct store_value row[] = {STORE_V_INT(0),
                                STORE_V_TEXT("read"),
                                STORE_V_INT(s->base),
                                STORE_V_INT(s->element),
                                STORE_V_INT(derive_space_bytes(&s->space) / s->element),
                                STORE_V_NULL};
    if (store_row(out, "structures", row, 6, err))
        return -1;
    int stream = writer_stream(out, "scans", TIME_NONE, NULL, 0, err);
    if (stream < 0 || list_ends_open(&s->ends, derive_space_bytes(&s->space) / ACCESS_SECTOR, err))
        return -1;
    return writer_open(&s->writer, out, stream, 0, err);
}

void derive_lists_lines(struct list_ends *ends, const struct derive_space *space, const struct access_line *line,
                        int lines)
{
    uint64_t first = 0, n = 0;
    for (int i = 0; i < lines; i++) {
        uint64_t sector = derive_space_offset(space, line[i].addr) / ACCESS_SECTOR;
        for (uint32_t rest = line[i].sectors; rest; rest &= rest - 1) {
            uint64_t at = sector + (uint64_t)__builtin_ctz(rest);
            if (n && at == first + n) {
                n++;
                continue;
            }
            if (n)
                list_ends_add(ends, first, n);
            first = at;
            n = 1;
        }
    }
    if (n)
        list_ends_add(ends, first, n);
}

void derive_scans_op(struct derive_scans *s, const struct program_op *op)
{
    if (op->access == RECORD_READ && s->writer.records)
        derive_lists_lines(&s->ends, &s->space, op->line, op->lines);
}

int derive_scans_end(struct derive_scans *s, uint32_t launch, struct err *err)
{
    struct list_run lists[512];
    if (!s->writer.records)
        return 0;
    uint64_t number = 0;
    for (size_t n; (n = list_ends_next(&s->ends, lists, sizeof lists / sizeof *lists)) > 0;)
        for (size_t i = 0; i < n; i++) {
            struct record r = {.kind = RECORD_SCAN,
                               .addr = s->base + lists[i].first * ACCESS_SECTOR,
                               .bytes = (lists[i].end - lists[i].first) * ACCESS_SECTOR,
                               .id = number++,
                               .group = launch};
            if (writer_add(&s->writer, &r, NULL, err))
                return -1;
        }
    struct record end = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&s->writer, &end, NULL, err);
}

int derive_scans_flush(struct derive_scans *s, struct err *err)
{
    return s->writer.records ? writer_flush(&s->writer, err) : 0;
}

void derive_scans_close(struct derive_scans *s)
{
    derive_space_release(&s->space);
    writer_close(&s->writer);
    list_ends_release(&s->ends);
    *s = (struct derive_scans){0};
}

/* --- lists alone --- */

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    (void)err;
    derive_scans_op(ctx, op);
    return 0;
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    return derive_scans_end(ctx, launch, err);
}

int derive_lists(const struct derive_source *source, struct store *out, const struct derive_options *options,
                 struct err *err)
{
    static const struct program_taker taker = {.op = take_op, .end = end_launch};
    struct derive_options o = *options;
    struct derive_scans scans = {0};
    o.offloadable = true;
    int rc = derive_scans_open(&scans, source, out, &o, err);
    if (rc == 0 && !scans.writer.records)
        rc = err_set(err, "%s: nothing is read", source->name);
    if (rc == 0)
        rc = derive_walk(source, &o, &taker, &scans, NULL, err);
    if (rc == 0)
        rc = derive_scans_flush(&scans, err);
    derive_scans_close(&scans);
    return rc;
}
