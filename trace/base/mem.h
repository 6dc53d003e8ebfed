/* mem: memory whose size comes from input.
 *
 * Sizes are checked for overflow and a failure is an error for the caller, never an abort: a hostile file must not
 * take the program down. Everything returned is freed with free(). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* n * size zeroed bytes, or NULL with *err set. n or size 0 gives a valid pointer. */
void *mem_zalloc(size_t n, size_t size, struct err *err) PLUGIN_API(mem_zalloc);

/* Whether so many bytes can be had: -1 with *err set where the system says that it has fewer, now. What is asked for in
 * parts and filled later is refused in time by this, not ended by the system half-way. */
int mem_room(uint64_t bytes, struct err *err);

/* Make room for at least `need` elements in *array (capacity *cap, both may start as NULL and 0), at least doubling.
 * New elements are not initialised. Returns 0, or -1 with *err set and the array as it was. */
int mem_grow(void **array, size_t *cap, size_t need, size_t size, struct err *err) PLUGIN_API(mem_grow);

/* Append a value to an array of n elements, with room for cap: 0, or -1 with *err set. Each of the four is looked at
 * several times. */
#define MEM_ADD(array, n, cap, err, ...)                                                                               \
    (mem_grow((void **)&(array), &(cap), (n) + 1, sizeof *(array), err) ? -1 : ((array)[n] = __VA_ARGS__, (n)++, 0))

/* A copy of the first n bytes of s, ended with a zero byte, or NULL with *err set. */
char *mem_strndup(const char *s, size_t n, struct err *err) PLUGIN_API(mem_strndup);

/* A copy of s, or NULL with *err set. */
char *mem_strdup(const char *s, struct err *err) PLUGIN_API(mem_strdup);

/* Texts that live as long as what they are kept for; zeroed before use. */
struct mem_texts {
    char **items;
    size_t count, cap;
};

/* Keep a copy, or a text that is taken over, after a failure too. The kept one; NULL with *err set. */
char *mem_keep(struct mem_texts *texts, const char *text, struct err *err);
char *mem_keep_own(struct mem_texts *texts, char *text, struct err *err);
void mem_texts_release(struct mem_texts *texts);

/* Free an array with its texts; both may be NULL. */
void mem_free_texts(char **texts, size_t count);

/* A text as printf() writes it, or NULL without memory. */
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Append such a text to *text, which may start as NULL and is NULL after a failure. -1: no memory. */
int mem_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write such a text behind the one that stands in a buffer of so many bytes, as far as there is room. Returns buf. */
char *mem_add_text(char *buf, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
