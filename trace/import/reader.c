#include "trace/import/reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"

/* In the order of probing: formats with a signature first, plain text last. */
const struct reader *const readers[] = {
    &read_nettlp,    &read_offchip,   &read_nsys,     &read_accelsim, &read_accesses, &read_uvmeval,
    &read_cupti_csv, &read_dram_csv,  &read_dramsim3, &read_dramsys,  &read_nvbit,    &read_cutracer,
    &read_pytorch,   &read_ramulator, &read_table,    &read_csv,      NULL,
};

const struct reader *reader_find(const char *name)
{
    return FIND_NAMED(readers, name);
}

bool reader_head_line(const char **p, const char *end, char *line, size_t size)
{
    const char *start = *p, *nl = memchr(start, '\n', (size_t)(end - start));
    const size_t n = (size_t)((nl ? nl : end) - start);
    if (start == end)
        return false;
    (void)snprintf(line, size, "%.*s", (int)(n < size ? n : size - 1), start);
    line[strcspn(line, "\r")] = 0;
    *p = nl ? nl + 1 : end;
    return true;
}

/* Files of other tools that no reader takes, and what makes one of them that a reader does. */
static const struct {
    const char *ending, *advice;
} foreign[] = {
    {".nsys-rep", "a report of Nsight Systems; 'nsys export --type sqlite' makes a file of it that import reads"},
    {".qdrep", "a report of Nsight Systems; 'nsys export --type sqlite' makes a file of it that import reads"},
    {".tracez",
     "a binary trace of Accel-Sim 2.0; its post-processor's option --text writes .traceg files, which import "
     "reads"},
    {".ncu-rep", "a report of Nsight Compute, which holds no records of traffic; record the program with 'offchip "
                 "record --counters'"}};

const char *reader_advice(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t m = strlen(foreign[i].ending);
        if (n > m && strcmp(path + n - m, foreign[i].ending) == 0)
            return foreign[i].advice;
    }
    return NULL;
}

/* How much of the input its first line is, if that is text; else 0. */
static size_t text_line(const unsigned char *head, size_t n)
{
    size_t length = 0;
    while (length < n && head[length] != '\n' && head[length] != '\r')
        if (head[length++] < ' ' && head[length - 1] != '\t')
            return 0;
    json_t *text = json_stringn((const char *)head, length); /* NULL: no UTF-8 */
    json_decref(text);
    return text ? length : 0;
}

#define FOREIGN_SUMS                                                                                                   \
    "sums, where no event has a time of its own; 'nsys stats -r cuda_gpu_trace -f csv' prints events, 'nsys export "   \
    "--type sqlite' has all"
#define FOREIGN_CALLS                                                                                                  \
    "calls of the CPU; 'nsys stats -r cuda_gpu_trace -f csv' prints what the GPU does, 'nsys export --type sqlite' "   \
    "has all"

/* Texts of other tools that no reader takes, by words that stand in all of them, and what to do. */
static const struct {
    const char *words[2], *advice;
} foreign_texts[] = {
    {{"NVPROF is profiling", ""},
     "nvprof's sums or calls ('nvprof --print-gpu-trace' prints events of the GPU), or a table that begins far down "
     "(--format table reads it)"},
    {{"Profiling result:", "Duration"}, "calls of the CPU; 'nvprof --print-gpu-trace' prints what the GPU does"},
    {{"Total Time (", "Name"}, FOREIGN_SUMS},
    {{"Migration Size (", "Page"}, FOREIGN_SUMS},
    {{"Start (", "Result"}, FOREIGN_CALLS},
    {{"API Start (", "Kernel Start ("},
     "calls of the CPU and their kernels; --columns 'time=Kernel Start,dur=Kernel Dur,kind=Kernel Name,name=Kernel "
     "Name' --kinds '*=KERNEL' reads the kernels"},
    {{"| Start (", "Duration ("}, "a framed table; 'nsys stats -r cuda_gpu_trace -f csv' prints one that import reads"},
};

static const char *text_advice(const unsigned char *head, size_t n)
{
    for (size_t i = 0; i < sizeof foreign_texts / sizeof *foreign_texts; i++) {
        const char *const *w = foreign_texts[i].words;
        if (memmem(head, n, w[0], strlen(w[0])) && memmem(head, n, w[1], strlen(w[1])))
            return foreign_texts[i].advice;
    }
    return NULL;
}

/* Nobody claims it: how it begins, and what would be claimed. */
static void unknown(const char *path, const unsigned char *head, size_t n, const char *known, struct err *err)
{
    const size_t text = text_line(head, n);
    if (text_advice(head, n)) {
        err_set(err, "%s: %s", path, text_advice(head, n));
        return;
    }
    if (n >= 2 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0)) {
        err_set(err,
                "%s: text in UTF-16, as a shell of Windows writes it: 'iconv -f UTF-16 -t UTF-8' makes it readable",
                path);
        return;
    }
    const char *columns = memchr(head, ',', text) || memchr(head, ';', text) || memchr(head, '\t', text)
                              ? "; a table of another tool: --columns names its columns"
                              : "";
    if (text)
        err_set(err, "%s: line 1 '%.*s%s': no known format; formats known (offchip list formats): %s%s", path,
                (int)(text > 60 ? 60 : text), (const char *)head, text > 60 ? "..." : "", known, columns);
    else
        err_set(err, "%s: byte 0: %s; formats known (offchip list formats): %s", path,
                n == 0 ? "nothing in it" : "no known format", known);
}

const struct reader *reader_probe(const char *path, const unsigned char *head, size_t n, struct err *err)
{
    const struct reader *maybe = NULL;
    size_t candidates = 0;
    char names[256] = "", all[256] = "";
    const size_t mark = input_stream_mark(head, n);
    head += mark;
    n -= mark;
    for (size_t i = 0; readers[i]; i++) {
        enum probe p = readers[i]->probe(path, head, n);
        if (p == PROBE_YES)
            return readers[i];
        if (p == PROBE_MAYBE) {
            maybe = readers[i];
            candidates++;
            (void)mem_add_text(names, sizeof names, "%s%s", *names ? ", " : "", readers[i]->name);
        }
        (void)mem_add_text(all, sizeof all, "%s%s", *all ? ", " : "", readers[i]->name);
    }
    if (candidates == 1)
        return maybe;
    if (candidates > 1)
        err_set(err, "%s: may be one of several formats (%s); choose with --format", path, names);
    else if (reader_advice(path))
        err_set(err, "%s: %s", path, reader_advice(path));
    else
        unknown(path, head, n, all, err);
    return NULL;
}

/* Times that fell in this input. */
static int store_late(struct reader_context *context, uint64_t late, struct err *err)
{
    char key[48], text[24];
    (void)snprintf(key, sizeof key, "source.%d.late_records", context->file_index);
    (void)snprintf(text, sizeof text, "%" PRIu64, late);
    return store_origin(context->store, key, text, err);
}

int reader_run(const struct reader *reader, struct reader_context *context, struct input_stream *source,
               struct err *err)
{
    const uint64_t late = context->late;
    context->newest = INT64_MIN;
    int rc = reader->read(context, source, err);
    if (rc == 0)
        rc = reader_flush(context, err);
    if (rc == 0 && context->late > late)
        rc = store_late(context, context->late - late, err);
    if (rc)
        return err_at(err, "%s", strcmp(context->path, "-") == 0 ? "standard input" : context->path);
    return 0;
}

int reader_skip(struct reader_context *context, const char *reason, const char *place, struct err *err)
{
    if (context->strict)
        return err_set(err, "%s: %s", place, reason);
    struct reader_skips *skips = &context->skips;
    skips->total++;
    for (size_t i = 0; i < skips->count; i++)
        if (strncmp(skips->rows[i].reason, reason, sizeof skips->rows[i].reason - 1) == 0) {
            skips->rows[i].n++;
            return 0;
        }
    if (skips->count == READER_REASONS && reader_flush(context, err))
        return -1;
    (void)snprintf(skips->rows[skips->count].reason, sizeof skips->rows[0].reason, "%s", reason);
    skips->rows[skips->count++].n = 1;
    return 0;
}

int reader_nothing(const struct reader_context *context, const char *what, struct err *err)
{
    char text[360] = "";
    for (size_t i = 0; i < context->skips.count; i++)
        (void)mem_add_text(text, sizeof text, "%s%" PRIu64 " left out: %s", i ? ", " : ": ", context->skips.rows[i].n,
                           context->skips.rows[i].reason);
    return err_set(err, "no %s in it%s%s%s", what, text, *context->advice ? "; " : "", context->advice);
}

int reader_skip_line(struct reader_context *context, const char *reason, const struct input_stream *source,
                     struct err *err)
{
    char place[SOURCE_PLACE];
    return reader_skip(context, reason, input_stream_place(source, place), err);
}

int reader_count(struct reader_context *context, bool skipped, const struct store_value *row, struct err *err)
{
    if (row[1].i < 0)
        return err_set(err, "a count of %" PRId64 " items '%.80s'", row[1].i, row[0].s);
    context->skips.total += skipped ? (uint64_t)row[1].i : 0;
    return (skipped ? store_skip : store_drop)(context->store, row[0].s, (uint64_t)row[1].i, err);
}

int reader_lose(struct reader_context *context, const struct record *migration)
{
    context->lost++;
    context->lost_bytes[migration->kind == RECORD_MIGRATE_H2D] += (double)migration->bytes;
    context->lost_ns += (double)migration->duration;
    return 0;
}

static int store_lost(struct reader_context *context, struct err *err)
{
    char reason[160], to[32], other[32], ns[32];
    if (!context->lost)
        return 0;
    (void)snprintf(reason, sizeof reason, "migrations without an address (%s to the GPU, %s elsewhere, in %s)",
                   units_human_bytes(context->lost_bytes[true], to, sizeof to),
                   units_human_bytes(context->lost_bytes[false], other, sizeof other),
                   units_human_ns(context->lost_ns, ns, sizeof ns));
    const int rc = store_drop(context->store, reason, context->lost, err);
    context->lost = 0;
    context->lost_bytes[0] = context->lost_bytes[1] = context->lost_ns = 0;
    return rc;
}

int reader_flush(struct reader_context *context, struct err *err)
{
    struct reader_skips *skips = &context->skips;
    if (store_lost(context, err))
        return -1;
    for (size_t i = 0; i < skips->count; i++)
        if (store_skip(context->store, skips->rows[i].reason, skips->rows[i].n, err))
            return -1;
    skips->count = 0;
    return 0;
}

static bool same_stream(const struct stream *a, const struct stream *b)
{
    for (int i = 0; i < STORE_EXTRAS; i++)
        if (strcmp(a->extra[i], b->extra[i]) != 0)
            return false;
    return a->unit == b->unit && strcmp(a->clock, b->clock) == 0 && a->clock_hz == b->clock_hz &&
           a->space == b->space && strcmp(a->addr_layout, b->addr_layout) == 0;
}

int reader_stream(struct reader_context *context, const struct stream *stream, int *index, struct err *err)
{
    struct stream named = *stream;
    for (int n = 2;; n++) {
        *index = store_stream_find(context->store, named.name);
        if (*index < 0)
            return store_stream_add(context->store, &named, index, err);
        if (same_stream(store_stream(context->store, *index), &named))
            return 0;
        (void)snprintf(named.name, sizeof named.name, "%.50s-%d", stream->name, n);
    }
}

int reader_kernel(struct reader_context *context, const char *name, int64_t start_ns, int64_t duration_ns,
                  const struct store_value *shape, int64_t *id, struct err *err)
{
    *id = context->launches;
    struct store_value row[5 + READER_SHAPE] = {STORE_V_INT(*id), STORE_V_TEXT(name), STORE_V_INT(*id),
                                                STORE_V_INT(start_ns), STORE_V_INT(duration_ns)};
    if (shape)
        memcpy(row + 5, shape, READER_SHAPE * sizeof *shape);
    if (start_ns == INT64_MIN)
        row[3] = row[4] = STORE_V_NULL;
    if (store_row(context->store, "kernels", row, sizeof row / sizeof *row, err))
        return -1;
    context->launches++;
    return 0;
}

/* The first sentence stands. */
static __attribute__((format(printf, 3, 0))) void say_once(char *text, size_t size, const char *format, va_list ap)
{
    if (!text[0])
        (void)vsnprintf(text, size, format, ap);
}

void reader_incomplete(struct reader_context *context, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say_once(context->incomplete, sizeof context->incomplete, format, ap);
    va_end(ap);
}

void reader_note(struct reader_context *context, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say_once(context->note, sizeof context->note, format, ap);
    va_end(ap);
}
