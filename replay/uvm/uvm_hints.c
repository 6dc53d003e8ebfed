#include "replay/uvm/uvm_hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static const struct {
    const char *name;
    uint32_t advice;
} advices[] = {
    {"read-mostly", ACTOR_READ_MOSTLY}, {"preferred-host", ACTOR_PREFERRED_HOST}, {"accessed-by", ACTOR_ACCESSED_BY}};

static bool names(const char *text, size_t n, const struct actor_alloc *a)
{
    return (n == 3 && memcmp(text, "all", 3) == 0) || (strlen(a->name) == n && memcmp(a->name, text, n) == 0);
}

/* One of the settings: where what it says of an allocation goes. */
struct hint {
    const char *name;
    uint32_t *advice; /* NULL: it takes names alone, and sets */
    bool *yes;
};

/* "A" or "A:read-mostly", n characters. */
static int add_one(const struct hint *h, const struct actor_alloc *allocs, size_t count, const char *text, size_t n,
                   struct err *err)
{
    bool advise = h->advice != NULL;
    const char *colon = advise ? memchr(text, ':', n) : NULL;
    size_t name = colon ? (size_t)(colon - text) : n, found = 0;
    uint32_t advice = 0;
    for (size_t i = 0; colon && i < sizeof advices / sizeof *advices; i++)
        if (strlen(advices[i].name) == n - name - 1 && memcmp(advices[i].name, colon + 1, n - name - 1) == 0)
            advice = advices[i].advice;
    if (advise && !advice)
        return err_set(err, "advise: '%.*s'; expected ALLOCATION:read-mostly, :preferred-host or :accessed-by", (int)n,
                       text);
    for (size_t i = 0; i < count; i++)
        if (names(text, name, &allocs[i])) {
            found++;
            if (advise)
                h->advice[i] |= advice;
            else
                h->yes[i] = true;
        }
    if (found)
        return 0;
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", allocs[i].name);
    return err_set(err, "%s: no allocation is called '%.*s'; expected all, %s", h->name, (int)name, text, known);
}

/* "[A,B]" or "A", item by item. */
static int add_all(const struct hint *h, const struct actor_alloc *allocs, size_t n, const char *text, struct err *err)
{
    size_t end = strlen(text);
    if (end > 1 && text[0] == '[' && text[end - 1] == ']') {
        text++;
        end -= 2;
    }
    for (size_t at = 0; at <= end;) {
        const char *comma = memchr(text + at, ',', end - at);
        size_t length = comma ? (size_t)(comma - text) - at : end - at;
        if (add_one(h, allocs, n, text + at, length, err))
            return -1;
        at += length + 1;
    }
    return 0;
}

int uvm_hints_init(struct uvm_hints *h, const struct actor_alloc *allocs, size_t n, const char *advise,
                   const char *prefetch, const char *discard, struct err *err)
{
    *h = (struct uvm_hints){0};
    if (advise && (!(h->advice = mem_zalloc(n, sizeof *h->advice, err)) ||
                   add_all(&(struct hint){"advise", h->advice, NULL}, allocs, n, advise, err)))
        return -1;
    if (prefetch && (!(h->prefetch = mem_zalloc(n, sizeof *h->prefetch, err)) ||
                     add_all(&(struct hint){"prefetch", NULL, h->prefetch}, allocs, n, prefetch, err)))
        return -1;
    if (discard && (!(h->discard = mem_zalloc(n, sizeof *h->discard, err)) ||
                    add_all(&(struct hint){"discard", NULL, h->discard}, allocs, n, discard, err)))
        return -1;
    return 0;
}

void uvm_hints_release(struct uvm_hints *h)
{
    free(h->advice);
    free(h->prefetch);
    free(h->discard);
    *h = (struct uvm_hints){0};
}
