#include "replay/derive/derive.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

struct walk {
    const struct derive_options *options;
    const struct derive_taker *taker;
    void *ctx;
    struct derive_counts counts;
    struct derive_op op;
    int64_t access;  /* number of the instruction in op */
    bool filled;     /* op holds an instruction */
    bool numbered;   /* the stream says which lines belong to one instruction */
    uint8_t *wanted; /* by kernel row: 1 taken, 2 not */
    size_t wanted_cap;
    regex_t regex;
    bool taking; /* the launch is one of the wanted */
};

/* --- kernels by name --- */

static int mark_kernel(void *ctx, const struct store_value *v, size_t n)
{
    struct walk *w = ctx;
    if (n < 2 || v[0].i < 0 || v[0].i > UINT32_MAX)
        return 0;
    size_t row = (size_t)v[0].i, old = w->wanted_cap;
    void *wanted = w->wanted;
    if (row >= old) {
        if (mem_grow(&wanted, &w->wanted_cap, row + 1, 1, NULL))
            return -1;
        w->wanted = wanted;
        memset(w->wanted + old, 0, w->wanted_cap - old);
    }
    w->wanted[row] = v[1].s && regexec(&w->regex, v[1].s, 0, NULL, 0) == 0 ? 1 : 2;
    return 0;
}

static int choose_kernels(struct walk *w, struct store *in, struct err *err)
{
    if (!w->options->kernel)
        return 0;
    if (regcomp(&w->regex, w->options->kernel, REG_EXTENDED | REG_NOSUB))
        return err_set(err, "'%s' is not a regular expression", w->options->kernel);
    int rc = store_rows(in, "kernels", mark_kernel, w, err);
    regfree(&w->regex);
    if (rc)
        return -1;
    if (!w->wanted || !memchr(w->wanted, 1, w->wanted_cap))
        return err_set(err, "no kernel's name matches '%s'", w->options->kernel);
    return 0;
}

static bool wanted(const struct walk *w, uint64_t kernel)
{
    return !w->options->kernel || (kernel < w->wanted_cap && w->wanted[kernel] == 1);
}

/* --- instructions --- */

static int hand_over(struct walk *w, struct err *err)
{
    if (!w->filled)
        return 0;
    w->filled = false;
    if (w->op.lines == 0) {
        w->counts.left_out++;
        return 0;
    }
    w->counts.instructions++;
    w->counts.lines += (uint64_t)w->op.lines;
    for (int i = 0; i < w->op.lines; i++)
        w->counts.sectors += (uint64_t)__builtin_popcount(w->op.line[i].sectors);
    return w->taker->op(w->ctx, &w->op, err);
}

static int take_access(struct walk *w, const struct record *r, int64_t access, struct err *err)
{
    struct derive_op *op = &w->op;
    bool same = w->filled && w->numbered && access == w->access && r->id == op->id && r->group == op->launch &&
                r->flags >> 4 == op->access && op->lines < 2 * ACCESS_LANES;
    if (!same) {
        if (hand_over(w, err))
            return -1;
        op->id = r->id;
        op->launch = r->group;
        op->access = r->flags >> 4;
        op->bytes = (uint32_t)r->bytes;
        op->lines = 0;
        w->access = access;
        w->filled = true;
    }
    uint64_t line = r->addr - r->addr % ACCESS_LINE;
    if (w->taking && line + (ACCESS_LINE - 1) >= w->options->first && line <= w->options->last && (r->flags & 15))
        op->line[op->lines++] = (struct access_line){line, r->flags & 15};
    return 0;
}

static int take_record(struct walk *w, const struct record *r, int64_t access, struct err *err)
{
    if (r->kind == RECORD_ACCESS)
        return take_access(w, r, access, err);
    if (r->kind != RECORD_KERNEL && r->kind != RECORD_KERNEL_END)
        return 0;
    if (hand_over(w, err))
        return -1;
    if (r->kind == RECORD_KERNEL_END)
        return w->taking && w->taker->end ? w->taker->end(w->ctx, r->group, err) : 0;
    w->taking = wanted(w, r->id);
    w->counts.launches += w->taking;
    return w->taking && w->taker->launch ? w->taker->launch(w->ctx, r, err) : 0;
}

static int walk_stream(struct walk *w, struct store *in, int stream, struct err *err)
{
    struct store_cursor *cursor = store_cursor_open(in, stream, err);
    if (!cursor)
        return -1;
    const struct record *r;
    const int64_t *extra;
    size_t n;
    int rc;
    while ((rc = store_cursor_next(cursor, &r, &extra, &n, err)) == 1)
        for (size_t i = 0; i < n && rc == 1; i++)
            if (take_record(w, &r[i], w->numbered ? extra[i] : 0, err))
                rc = -1;
    store_cursor_close(cursor);
    return rc == 0 ? hand_over(w, err) : -1;
}

int derive_walk(struct store *in, const struct derive_options *options, const struct derive_taker *taker, void *ctx,
                struct derive_counts *counts, struct err *err)
{
    int stream = store_stream_find(in, "accesses");
    if (stream < 0)
        return err_set(err, "%s holds no accesses: import an Accel-Sim trace or a recording of accesses",
                       store_path(in));
    struct walk *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return -1;
    w->options = options;
    w->taker = taker;
    w->ctx = ctx;
    w->numbered = strcmp(store_stream(in, stream)->extra[0], "access") == 0;
    w->taking = !options->kernel; /* accesses before any launch mark */
    int rc = choose_kernels(w, in, err);
    if (rc == 0)
        rc = walk_stream(w, in, stream, err);
    if (rc == 0 && w->counts.instructions == 0)
        rc = err_set(err, "%s: no access is left to derive from (%llu were left out)", store_path(in),
                     (unsigned long long)w->counts.left_out);
    if (counts)
        *counts = w->counts;
    free(w->wanted);
    free(w);
    return rc;
}

/* --- tables --- */

struct copying {
    struct store *out;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct copying *c = ctx;
    return store_row(c->out, "kernels", v, n, c->err);
}

int derive_copy_kernels(struct store *in, struct store *out, struct err *err)
{
    struct copying c = {out, err};
    return store_rows(in, "kernels", copy_row, &c, err) ? -1 : 0;
}
