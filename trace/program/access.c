#include "trace/program/access.h"

#include <stdlib.h>

int access_lines(const uint64_t *addrs, int n, uint32_t bytes, struct access_line *lines)
{
    struct line_set set = {.line = lines};
    for (int i = 0; i < n; i++)
        line_set_add(&set, addrs[i], bytes);
    return set.n;
}

bool access_dim(const char *text, uint32_t dim[3])
{
    uint32_t v[3];
    text += *text == '(';
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long n = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : UINT64_MAX;
        if (n > UINT32_MAX || (i < 2 && *end != ','))
            return false;
        v[i] = (uint32_t)n;
        text = end + 1;
    }
    for (int i = 0; i < 3; i++)
        dim[i] = v[i];
    return true;
}

uint32_t access_of_flags(uint32_t flags)
{
    if (flags & 8 || !(flags & 7))
        return 0;
    if (flags & 4 || (flags & 3) == 3)
        return RECORD_ATOMIC;
    return flags & 2 ? RECORD_WRITE : RECORD_READ;
}

int access_open(struct access_sink *s, struct store *store, struct err *err)
{
    static const char *const extra[ACCESS_EXTRAS] = {"access", "pc"};
    *s = (struct access_sink){0};
    int stream = writer_stream(store, "accesses", TIME_NONE, extra, ACCESS_EXTRAS, err);
    return stream < 0 ? -1 : writer_open(&s->writer, store, stream, ACCESS_EXTRAS, err);
}

void access_close(struct access_sink *s)
{
    writer_close(&s->writer);
}

static int add_mark(struct access_sink *s, struct record r, struct err *err)
{
    const int64_t extra[ACCESS_EXTRAS] = {s->accesses, 0};
    r.group = (uint32_t)s->launch;
    return writer_add(&s->writer, &r, extra, err);
}

int access_launch(struct access_sink *s, int64_t kernel, struct err *err)
{
    s->launch = kernel;
    return add_mark(s, (struct record){.kind = RECORD_KERNEL, .id = (uint64_t)kernel}, err);
}

int access_launch_end(struct access_sink *s, struct err *err)
{
    return add_mark(s, (struct record){.kind = RECORD_KERNEL_END}, err);
}

int access_add(struct access_sink *s, const struct access_op *op, struct err *err)
{
    struct access_line lines[2 * ACCESS_LANES];
    int n = access_lines(op->addrs, op->lanes, op->bytes, lines);
    return access_add_lines(s, op, lines, n, err);
}

int access_add_lines(struct access_sink *s, const struct access_op *op, const struct access_line *lines, int n,
                     struct err *err)
{
    const int64_t extra[ACCESS_EXTRAS] = {s->accesses++, (int64_t)op->pc};
    struct record r = {.kind = RECORD_ACCESS,
                       .bytes = op->bytes,
                       .id = (uint64_t)op->block << 32 | op->warp,
                       .group = (uint32_t)s->launch};
    for (int i = 0; i < n; i++) {
        r.addr = lines[i].addr;
        r.flags = lines[i].sectors | op->access << 4;
        if (writer_add(&s->writer, &r, extra, err))
            return -1;
    }
    return 0;
}

int access_flush(struct access_sink *s, struct err *err)
{
    return writer_flush(&s->writer, err);
}

int access_finish(struct access_sink *s, struct store *store, int rc, struct err *err)
{
    struct err *to = rc ? NULL : err;
    if (s->writer.records && (access_flush(s, to) || store_origin(store, "access_order", "order of arrival", to)))
        rc = -1;
    access_close(s);
    return rc;
}
