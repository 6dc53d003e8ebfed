#include "trace/base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_zalloc(size_t n, size_t size, struct err *err)
{
    void *p = size && n > SIZE_MAX / size ? NULL : calloc(n ? n : 1, size ? size : 1);
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
    void *p = want > SIZE_MAX / size ? NULL : realloc(*array, want * size);
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
