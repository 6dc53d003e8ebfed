/* accelsim: NVBit traces as Accel-Sim uses them: a kernelslist with its kernel traces, a folder that holds one (or one
 * for each context: kernelslist_ctx_*), or a single kernel's .trace or .traceg; each may be compressed. Tracer versions
 * 0 to 6, raw and grouped by thread block. Option kernel chooses kernels by id or name. Names with a slash are not
 * followed.
 *
 * Global accesses become ACCESS records of stream "accesses" (trace/program/access.h), one launch per kernel trace, in
 * the order of the files: kernel, block, warp, instruction. Copies to the device become COPY records and rows of table
 * allocations. There is no time. Left out and counted: shared, local, constant and texture accesses (local addresses in
 * these traces are the same for every thread, so nothing can be said of their lines), copies of other directions, list
 * lines of other kinds, instruction lines that cannot be read. Counted as dropped: thread blocks and kernel traces that
 * are missing or empty. origin accesses.outside_known_memory: lanes' addresses in none of the copies' memory. A trace
 * that ends inside a block, or a list whose files are missing, gives an incomplete trace. Source: accel-sim-framework
 * (trace-parser.cc, tracer_tool.cu, post-traces-processing.cpp), versions 3, 5 and 6. */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/base/dir_list.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/import/accelsim.h"
#include "trace/import/reader.h"

enum { PATH_BYTES = 4096 };

struct options {
    const char *kernel;
};

static const struct param options[] = {
    PARAM_TEXT_ROW(options, kernel, NULL, "only these kernels: a kernel id, or a regular expression for the name"),
    {0}};

/* --- what a line of a kernelslist is --- */

static bool is_copy(const char *line, const char *end)
{
    return (size_t)(end - line) > 6 && memcmp(line, "Memcpy", 6) == 0;
}

static bool is_kernel(const char *line, const char *end)
{
    size_t n = (size_t)(end - line);
    return n > 7 && memcmp(line, "kernel-", 7) == 0 && memmem(line, n, ".trace", 6) != NULL;
}

/* The lists of a folder: kernelslist.g, else kernelslist, else those of every context; compressed or not. Released by
 * globfree() whatever it returns: how many there are. */
static size_t find_lists(const char *folder, glob_t *found)
{
    static const char *const names[] = {"kernelslist.g", "kernelslist", "kernelslist_ctx_*.g", "kernelslist_ctx_*"};
    static const char *const endings[] = {"", ".xz", ".gz", ".zst"};
    char pattern[PATH_BYTES * 2];
    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < sizeof names / sizeof *names && !found->gl_pathc; i++)
        for (size_t e = 0; e < sizeof endings / sizeof *endings && !found->gl_pathc; e++) {
            size_t n = 0;
            for (const char *p = folder; *p && n + 64 < sizeof pattern; p++) {
                if (strchr("*?[\\", *p))
                    pattern[n++] = '\\';
                pattern[n++] = *p;
            }
            (void)snprintf(pattern + n, sizeof pattern - n, "/%s%s", names[i], endings[e]);
            globfree(found);
            (void)glob(pattern, 0, NULL, found);
        }
    return found->gl_pathc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        glob_t lists;
        size_t count = find_lists(path, &lists);
        globfree(&lists);
        return count ? PROBE_YES : PROBE_NO;
    }
    if (n == 0)
        return PROBE_NO;
    const char *p = (const char *)head, *end = p + n;
    while (p < end && (*p == '\n' || *p == '\r' || *p == ' '))
        p++;
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    if (!eol)
        eol = end;
    if ((size_t)(eol - p) >= 12 && memcmp(p, "-kernel name", 12) == 0)
        return PROBE_YES;
    return is_copy(p, eol) || is_kernel(p, eol) ? PROBE_YES : PROBE_NO;
}

/* --- list --- */

/* Open a file of the set by its name in the list, or compressed beside it. */
static struct input_stream *open_listed(const char *folder, const char *name, char *path, struct err *err)
{
    static const char *const endings[] = {"", ".xz", ".gz", ".zst"};
    struct stat st;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if ((size_t)snprintf(path, PATH_BYTES, "%s%s%s", folder, name, endings[i]) >= PATH_BYTES)
            break;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* a pipe would wait for its writer */
            return input_stream_open(path, err);
    }
    err_set(err, "%s%s, also with .xz, .gz, .zst: No such file", folder, name);
    return NULL;
}

static int take_kernel(struct accelsim_import *import, const char *folder, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    struct err missing = {""};
    size_t n = strlen(name);
    if (strchr(name, '/'))
        return reader_skip(import->context, "kernel trace outside of the list's folder", name, err);
    if (n > 7 && strcmp(name + n - 7, ".tracez") == 0)
        return err_set(err, "%s is in the post-processor's binary form: run it again with --text", name);
    struct input_stream *source = open_listed(folder, name, path, &missing);
    if (!source && import->missing_kernels++ == 0) {
        char others[300];
        reader_incomplete(import->context, "a kernel trace of the list cannot be opened: %s; %s", missing.msg,
                          dir_list(folder, others, sizeof others));
    }
    if (!source)
        return 0;
    int rc = accelsim_kernel(import, path, source, err);
    input_stream_close(source);
    return rc;
}

/* MemcpyHtoD,0x<address>,<bytes>: the structure that the kernels read. */
static int take_copy(struct accelsim_import *import, const char *line, struct err *err)
{
    char *end;
    const char *p = line + strlen("MemcpyHtoD,");
    uint64_t addr = strtoull(p, &end, 16), bytes = 0;
    bool good = end != p && *end == ',';
    if (good) {
        p = end + 1;
        bytes = strtoull(p, &end, 10);
        good = end != p && *end == 0 && bytes <= INT64_MAX;
    }
    if (!good)
        return reader_skip(import->context, "copy to the device without address and bytes", line, err);
    struct store *store = import->context->store;
    struct record r = {.kind = RECORD_COPY, .addr = addr, .bytes = bytes, .flags = RECORD_COPY_H2D};
    const int64_t extra[ACCESS_EXTRAS] = {import->sink.accesses, 0};
    struct store_value row[] = {STORE_V_INT((int64_t)import->context->file_index << 20 | import->copies++),
                                STORE_V_INT(addr),
                                STORE_V_INT(bytes),
                                STORE_V_TEXT("device"),
                                STORE_V_TEXT("copied"),
                                STORE_V_NULL,
                                STORE_V_NULL};
    if (bytes &&
        (store_row(store, "allocations", row, 7, err) || accelsim_extent_add(&import->extent, addr, bytes, err)))
        return -1;
    return writer_add(&import->sink.writer, &r, extra, err);
}

/* The place of what is wrong is put in front by the caller. */
static int take_list_line(struct accelsim_import *import, const char *folder, char *line, size_t length,
                          struct err *err)
{
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        line[--length] = 0;
    if (length == 0)
        return 0;
    if (strncmp(line, "MemcpyHtoD,", 11) == 0)
        return take_copy(import, line, err);
    if (is_kernel(line, line + length))
        return take_kernel(import, folder, line, err);
    return reader_skip(import->context,
                       is_copy(line, line + length) ? "copy that is not to the device" : "list line of another kind",
                       line, err);
}

static int read_list(struct accelsim_import *import, const char *folder, struct input_stream *source, struct err *err)
{
    char *line;
    size_t length;
    int rc;
    while ((rc = input_stream_line(source, &line, &length, err)) == 1) {
        if (take_list_line(import, folder, line, length, err))
            return err_at(err, "line %llu", (unsigned long long)input_stream_line_number(source));
    }
    return rc;
}

static int read_folder(struct accelsim_import *import, const char *path, struct err *err)
{
    char folder[PATH_BYTES], others[300];
    glob_t lists;
    if ((size_t)snprintf(folder, sizeof folder, "%s/", path) >= sizeof folder)
        return err_set(err, "the path is too long");
    size_t count = find_lists(path, &lists);
    int rc = count ? 0
                   : err_set(err, "no kernelslist.g, kernelslist or kernelslist_ctx_*; %s",
                             dir_list(folder, others, sizeof others));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct input_stream *source = input_stream_open(lists.gl_pathv[i], err);
        rc = source ? read_list(import, folder, source, err) : -1;
        input_stream_close(source);
        if (rc && count > 1)
            err_at(err, "%s", lists.gl_pathv[i]);
    }
    globfree(&lists);
    return rc;
}

/* --- the reader --- */

/* From where to where the accesses reach, and how many lanes' lie in no memory that the list names. */
static int store_extent(const struct accelsim_import *import, struct err *err)
{
    const struct accelsim_extent *x = &import->extent;
    struct store *store = import->context->store;
    char text[100];
    if (!x->lanes)
        return 0;
    (void)snprintf(text, sizeof text, "0x%" PRIx64 " to 0x%" PRIx64, x->lowest, x->highest);
    if (store_origin(store, "accesses.addresses", text, err))
        return -1;
    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " (%.1f %%)", x->outside, x->lanes,
                   100 * (double)x->outside / (double)x->lanes);
    if (import->copies == 0 || x->overflown)
        (void)snprintf(text, sizeof text, "not known: the source names %s memory",
                       x->overflown ? "too many pieces of" : "no");
    return store_origin(store, "accesses.outside_known_memory", text, err);
}

static int store_counts(struct accelsim_import *import, struct err *err)
{
    const struct {
        const char *reason;
        uint64_t n;
    } skips[] = {{"shared memory access", import->shared},
                 {"local memory access", import->local},
                 {"constant memory access", import->constant},
                 {"texture access", import->texture},
                 {"warp without instructions", import->empty_warps}};
    struct store *store = import->context->store;
    const struct {
        const char *reason;
        uint64_t n;
    } drops[] = {{"kernel trace missing", import->missing_kernels},
                 {"kernel trace empty", import->empty_kernels},
                 {"thread block not in the trace", import->missing_blocks}};
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
        if (drops[i].n && store_drop(store, drops[i].reason, drops[i].n, err))
            return -1;
    if (import->missing_blocks && import->context->strict)
        reader_incomplete(import->context, "%" PRIu64 " thread blocks are not in their traces", import->missing_blocks);
    for (size_t i = 0; i < sizeof skips / sizeof *skips; i++) {
        import->context->skips.total += skips[i].n;
        if (skips[i].n && store_skip(store, skips[i].reason, skips[i].n, err))
            return -1;
    }
    return store_origin(store, "access_order", "kernel, block, warp, instruction", err) || store_extent(import, err)
               ? -1
               : 0;
}

static int read_by_content(struct accelsim_import *import, struct input_stream *source, struct err *err)
{
    struct reader_context *c = import->context;
    struct stat st;
    if (!source || (stat(c->path, &st) == 0 && S_ISDIR(st.st_mode)))
        return read_folder(import, c->path, err);
    const unsigned char *head;
    size_t got;
    if (input_stream_peek(source, READER_PROBE_BYTES, &head, &got, err))
        return -1;
    for (size_t i = 0; i < got; i++) {
        if (head[i] == '-')
            return accelsim_kernel(import, c->path, source, err);
        if (head[i] > ' ')
            break;
    }
    char folder[PATH_BYTES] = "";
    const char *slash = strrchr(c->path, '/');
    if (slash && (size_t)(slash - c->path) + 2 <= sizeof folder) {
        memcpy(folder, c->path, (size_t)(slash - c->path) + 1);
        folder[slash - c->path + 1] = 0;
    }
    return read_list(import, folder, source, err);
}

static int choose_kernels(struct accelsim_import *import, struct err *err)
{
    const struct options *o = import->context->options;
    if (!o || !o->kernel)
        return 0;
    import->chosen = o->kernel;
    import->by_id = o->kernel[0] && strspn(o->kernel, "0123456789") == strlen(o->kernel);
    int wrong = import->by_id ? 0 : regcomp(&import->name, o->kernel, REG_EXTENDED | REG_NOSUB);
    char why[100];
    if (wrong) {
        (void)regerror(wrong, &import->name, why, sizeof why);
        import->chosen = NULL; /* nothing to free */
        return err_set(err, "kernel=%s: neither a number nor a regular expression: %s", o->kernel, why);
    }
    return store_origin(import->context->store, "kernels.chosen", o->kernel, err);
}

static int read_set(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct accelsim_import import = {.context = context};
    struct err ignored;
    if (access_open(&import.sink, context->store, err))
        return -1;
    int rc = choose_kernels(&import, err);
    if (rc == 0)
        rc = read_by_content(&import, source, err);
    if (rc == 0 && import.kernels == 0 && import.passed_over)
        rc = err_set(err, "none of %" PRIu64 " kernels is called %s", import.passed_over, import.chosen);
    else if (rc == 0 && import.kernels == 0 && !context->incomplete[0])
        rc = err_set(err, "no kernel trace in it");
    if (rc == 0 && import.unreadable && import.extent.lanes == 0)
        rc = err_set(err, "no access in it, and %" PRIu64 " instruction lines that cannot be read: of another tracer?",
                     import.unreadable);
    /* What was read before an error is kept: the trace stays incomplete. */
    if (access_flush(&import.sink, rc ? &ignored : err) || store_counts(&import, rc ? &ignored : err))
        rc = -1;
    access_close(&import.sink);
    if (import.chosen && !import.by_id)
        regfree(&import.name);
    range_map_release(&import.extent.known);
    return rc;
}

const struct reader read_accelsim = {
    .name = "accelsim",
    .summary = "Accel-Sim (NVBit) kernel traces: a kernelslist, its folder, or one .trace or .traceg",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read_set,
};
