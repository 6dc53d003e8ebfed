#include "trace/graph/npy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/graph/graph_values.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_MOST = 65536 };

/* The value of a key in the header's dictionary; NULL if it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ')
        at++;
    if (*at++ != ':')
        return NULL;
    while (*at == ' ')
        at++;
    return at;
}

/* "'<i8'" */
static int parse_descr(const char *at, struct npy_shape *s, struct err *err)
{
    char quote = at ? *at : 0;
    const char *p = at ? at + 1 : "";
    unsigned width = 0;
    if ((quote == '\'' || quote == '"') && *p && strchr("<>|=", *p) && p[1]) {
        char kind = p[1];
        s->big = *p == '>';
        for (p += 2; isdigit((unsigned char)*p) && width < 65536; p++)
            width = 10 * width + (unsigned)(*p - '0');
        s->kind = kind == 'U' ? 'S' : kind;
        s->width = kind == 'U' ? 4 * width : width;
        bool text = (kind == 'S' || kind == 'U') && width, real = kind == 'f' && (width == 4 || width == 8);
        bool whole = (kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
        if (*p == quote && (text || real || whole || (kind == 'b' && width == 1)))
            return 0;
    }
    return err_set(err, "its items are %.*s; expected whole or floating-point numbers of 1 to 8 bytes",
                   at ? (int)strcspn(at, ",}\n") : 7, at ? at : "nothing");
}

/* "(2, 10)", "(5,)", "()" */
static int parse_shape(const char *at, struct npy_shape *s, struct err *err)
{
    s->items = 1;
    if (!at || *at++ != '(')
        return err_set(err, "its header has no shape");
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')')
            return 0;
        uint64_t size = 0;
        if (!isdigit((unsigned char)*at))
            return err_set(err, "its header's shape is not one of whole numbers");
        for (; isdigit((unsigned char)*at); at++) {
            if (size > (UINT64_MAX >> 8) / 10)
                return err_set(err, "its header's shape is too large");
            size = size * 10 + (uint64_t)(*at - '0');
        }
        if (*at == 'L')
            at++;
        if (s->dimensions < 2)
            s->size[s->dimensions] = size;
        s->dimensions++;
        if (s->dimensions > 32 || (size && s->items > (UINT64_MAX >> 8) / size))
            return err_set(err, "its header's shape is too large");
        s->items *= size;
    }
}

static int parse_header(char *header, struct npy_shape *s, struct err *err)
{
    const char *order = value_of(header, "'fortran_order'");
    if (*header != '{' || !order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return err_set(err, "its header is no dictionary with descr, fortran_order and shape");
    s->fortran = *order == 'T';
    return parse_descr(value_of(header, "'descr'"), s, err) || parse_shape(value_of(header, "'shape'"), s, err) ? -1
                                                                                                                : 0;
}

static int read_header(struct source *source, struct npy_shape *s, struct err *err)
{
    unsigned char head[12];
    size_t length;
    if (graph_read_bytes(source, head, 10, "NumPy's header", err))
        return -1;
    if (memcmp(head, magic, sizeof magic) != 0)
        return err_set(err, "byte 0: no array of NumPy begins here");
    if (head[6] < 1 || head[6] > 3)
        return err_set(err, "byte 6: version %u.%u of NumPy's form; expected 1.0 to 3.0", head[6], head[7]);
    length = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        if (graph_read_bytes(source, head + 10, 2, "NumPy's header", err))
            return -1;
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > HEADER_MOST)
        return err_set(err, "byte 8: a header of %zu bytes; expected at most %d", length, HEADER_MOST);
    char *header = calloc(length + 1, 1);
    if (!header)
        return err_set(err, "out of memory");
    int rc = graph_read_bytes(source, header, length, "NumPy's header", err);
    if (!rc)
        rc = parse_header(header, s, err);
    free(header);
    return rc;
}

/* Whether the bytes behind the header are those of the items; false where it cannot be known before they are read. */
static int check_size(const struct npy_place *place, uint64_t header, struct npy_shape *s, struct err *err)
{
    struct stat st;
    unsigned char first[6];
    uint64_t bytes = place->part ? place->part->bytes : 0, items = s->items * s->width;
    if (!place->part) {
        FILE *file = fopen(place->path, "rb");
        bool plain = file && fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, magic, 6) == 0 &&
                     fstat(fileno(file), &st) == 0;
        if (file)
            (void)fclose(file);
        if (!plain)
            return 0;
        bytes = (uint64_t)st.st_size;
    }
    if (bytes < header || bytes - header != items)
        return err_set(err, "byte %llu: %llu bytes of items; its shape needs %llu", (unsigned long long)header,
                       (unsigned long long)(bytes < header ? 0 : bytes - header), (unsigned long long)items);
    s->sure = true;
    return 0;
}

int npy_open(struct npy *a, const struct npy_place *place, uint64_t skip, struct err *err)
{
    *a = (struct npy){.name = place->name, .at = skip};
    a->source = place->part ? source_open_part(place->path, place->part, err) : source_open(place->path, err);
    if (!a->source)
        return -1;
    if (read_header(a->source, &a->shape, err) || check_size(place, source_offset(a->source), &a->shape, err) ||
        (skip && source_skip(a->source, skip * a->shape.width, err))) {
        npy_close(a);
        return err_at(err, "%s", place->name);
    }
    return 0;
}

void npy_close(struct npy *a)
{
    source_close(a->source);
    a->source = NULL;
}

static int take(struct npy *a, unsigned char *raw, size_t n, struct err *err)
{
    size_t width = a->shape.width;
    if (graph_read_bytes(a->source, raw, n * width, "the items", err))
        return err_at(err, "%s", a->name);
    if (a->shape.big && width > 1)
        for (unsigned char *p = raw; p < raw + n * width; p += width)
            for (size_t i = 0; i < width / 2; i++) {
                unsigned char byte = p[i];
                p[i] = p[width - 1 - i];
                p[width - 1 - i] = byte;
            }
    return 0;
}

/* Items of one type to ids; the or of all is negative if one is. */
#define WIDEN(type)                                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        type item;                                                                                                     \
        memcpy(&item, raw + i * sizeof item, sizeof item);                                                             \
        ids[i] = (uint64_t)(int64_t)item;                                                                              \
        any |= ids[i];                                                                                                 \
    }

static uint64_t widen(const struct npy_shape *s, const unsigned char *raw, uint64_t *ids, size_t n)
{
    uint64_t any = 0;
    if (s->kind == 'i' && s->width == 8)
        WIDEN(int64_t)
    else if (s->kind == 'i' && s->width == 4)
        WIDEN(int32_t)
    else if (s->kind == 'i' && s->width == 2)
        WIDEN(int16_t)
    else if (s->kind == 'i')
        WIDEN(int8_t)
    else if (s->width == 8)
        WIDEN(uint64_t)
    else if (s->width == 4)
        WIDEN(uint32_t)
    else if (s->width == 2)
        WIDEN(uint16_t)
    else
        WIDEN(uint8_t)
    return any;
}

int npy_ids(struct npy *a, uint64_t *ids, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    if (a->shape.kind != 'i' && a->shape.kind != 'u')
        return err_set(err, "%s: its items are of type '%c%u'; ids are whole numbers ('i' or 'u')", a->name,
                       a->shape.kind, a->shape.width);
    if (take(a, raw, n, err))
        return -1;
    if (widen(&a->shape, raw, ids, n) >> 63)
        for (size_t i = 0; i < n; i++)
            if (ids[i] >> 63)
                return err_set(err, "%s: item %llu is %lld; expected an id or offset from 0", a->name,
                               (unsigned long long)(a->at + i), (long long)ids[i]);
    a->at += n;
    return 0;
}

int npy_reals(struct npy *a, double *values, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    uint64_t whole[NPY_PIECE];
    float narrow;
    if (a->shape.kind == 'S')
        return err_set(err, "%s: its items are text; expected numbers", a->name);
    if (take(a, raw, n, err))
        return -1;
    a->at += n;
    if (a->shape.kind == 'f' && a->shape.width == 8) {
        memcpy(values, raw, n * sizeof *values);
        return 0;
    }
    if (a->shape.kind != 'f')
        (void)widen(&a->shape, raw, whole, n);
    for (size_t i = 0; i < n; i++) {
        if (a->shape.kind == 'f')
            memcpy(&narrow, raw + i * 4, 4);
        values[i] = a->shape.kind == 'f'   ? (double)narrow
                    : a->shape.kind == 'i' ? (double)(int64_t)whole[i]
                                           : (double)whole[i];
    }
    return 0;
}

bool npy_text(struct npy *a, char *text, size_t size)
{
    unsigned char raw[256];
    size_t n = a->shape.width, used = 0;
    if (a->shape.kind != 'S' || a->shape.items != 1 || n > sizeof raw ||
        graph_read_bytes(a->source, raw, n, "the text", NULL))
        return false;
    for (size_t i = 0; i < n && used < size - 1; i++)
        if (raw[i])
            text[used++] = (char)raw[i];
    text[used] = 0;
    return true;
}

int npy_end(struct npy *a, struct err *err)
{
    return graph_read_end(a->source, err) ? err_at(err, "%s", a->name) : 0;
}
