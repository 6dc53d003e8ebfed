#include "trace/base/mem.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_BYTES = 4 << 20, PAGE_BYTES = 4096, ASKED_BYTES = 256 << 20 };

/* Large arrays are filled and read at random places: pages of 2 MiB, where the system has them, spare page faults and
 * look-ups of addresses (a quarter of the time in which a graph of 2^21 vertices is made). Without them all is well. */
static void *paged(void *p, size_t bytes)
{
    if (p && bytes >= LARGE_BYTES) {
        const uintptr_t first = (uintptr_t)p / PAGE_BYTES * PAGE_BYTES, end = (uintptr_t)p + bytes;
        (void)madvise((void *)first, end / PAGE_BYTES * PAGE_BYTES - first, MADV_HUGEPAGE);
    }
    return p;
}

/* Bytes that the kernel can give without taking them from others; UINT64_MAX: it does not say. */
static uint64_t available(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && !kib && fgets(line, sizeof line, f))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            kib = strtoull(line + 13, NULL, 10);
    if (f)
        (void)fclose(f);
    return kib ? (uint64_t)kib << 10 : UINT64_MAX;
}

int mem_room(uint64_t bytes, struct err *err)
{
    if (bytes < ASKED_BYTES)
        return 0;
    const uint64_t there = available();
    return bytes <= there ? 0
                          : err_set(err, "out of memory: %llu MiB are needed, %llu MiB are there",
                                    (unsigned long long)(bytes >> 20), (unsigned long long)(there >> 20));
}

void *mem_zalloc(size_t n, size_t size, struct err *err)
{
    const bool fits = !size || n <= SIZE_MAX / size;
    if (fits && mem_room(n * size, err))
        return NULL;
    void *p = !fits ? NULL : paged(calloc(n ? n : 1, size ? size : 1), n * size);
    if (!p)
        err_set(err, "out of memory: %zu elements of %zu bytes asked for", n, size);
    return p;
}

int mem_grow(void **array, size_t *cap, size_t need, size_t size, struct err *err)
{
    if (need <= *cap)
        return 0;
    size_t want = *cap < SIZE_MAX / 2 ? *cap * 2 : need;
    if (want < need)
        want = need;
    if (want < 16)
        want = 16;
    void *p = want > SIZE_MAX / size ? NULL : paged(realloc(*array, want * size), want * size);
    if (!p)
        return err_set(err, "out of memory: %zu elements of %zu bytes asked for", want, size);
    *array = p;
    *cap = want;
    return 0;
}

char *mem_strndup(const char *s, size_t n, struct err *err)
{
    char *p = mem_zalloc(n + 1, 1, err);
    if (p)
        memcpy(p, s, n);
    return p;
}

char *mem_strdup(const char *s, struct err *err)
{
    return mem_strndup(s, strlen(s), err);
}

static __attribute__((format(printf, 1, 0))) char *print(const char *format, va_list values)
{
    char *text = NULL;
    return vasprintf(&text, format, values) < 0 ? NULL : text;
}

char *mem_keep_own(struct mem_texts *texts, char *text, struct err *err)
{
    if (text && MEM_ADD(texts->items, texts->count, texts->cap, err, text) == 0)
        return text;
    free(text);
    return NULL;
}

char *mem_keep(struct mem_texts *texts, const char *text, struct err *err)
{
    return mem_keep_own(texts, mem_strdup(text, err), err);
}

void mem_free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free((void *)texts);
}

void mem_texts_release(struct mem_texts *texts)
{
    mem_free_texts(texts->items, texts->count);
    *texts = (struct mem_texts){0};
}

char *mem_format(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = print(format, values);
    va_end(values);
    return text;
}

int mem_append(char **text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *more = print(format, values);
    va_end(values);
    char *longer = more ? mem_format("%s%s", *text ? *text : "", more) : NULL;
    free(more);
    free(*text);
    *text = longer;
    return longer ? 0 : -1;
}

char *mem_add_text(char *buf, size_t size, const char *format, ...)
{
    const size_t used = strlen(buf);
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(buf + used, size - used, format, ap);
    va_end(ap);
    return buf;
}
