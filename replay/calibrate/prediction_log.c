#include "replay/calibrate/prediction_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/csv_text.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/store/output.h"

enum { BYTES_MAX = 64 << 20 };

static const char header[] =
    "program,platform,plan,recording,mechanism,policy,metric,state,predicted,low,high,measured,"
    "measured_per_predicted\n";

static void write_number(FILE *to, double value, const char *behind)
{
    if (isfinite(value))
        (void)fprintf(to, "%.10g", value);
    (void)fputs(behind, to);
}

/* The row as a line behind the end of another; *known: how much of it says which row it is. NULL: no memory. */
static char *line_of(const struct prediction *row, size_t *known)
{
    char *line = NULL;
    size_t bytes;
    FILE *to = open_memstream(&line, &bytes);
    if (!to)
        return NULL;
    (void)fputc('\n', to);
    for (int t = 0; t < LEDGER_TEXTS; t++) {
        csv_text_put(to, row->texts[t] ? row->texts[t] : "", true);
        (void)fputc(',', to);
        if (t == LEDGER_METRIC)
            *known = (size_t)ftell(to);
    }
    write_number(to, row->predicted, ",");
    write_number(to, row->low, ",");
    write_number(to, row->high, ",");
    write_number(to, row->measured, ",");
    write_number(to, row->predicted > 0 ? row->measured / row->predicted : NAN, "");
    if (fclose(to) == 0)
        return line;
    free(line);
    return NULL;
}

/* The ledger's text, without the end of its last line; of a new one its header. NULL with *err set. */
static char *read_text(const char *path, bool there, struct err *err)
{
    size_t bytes = sizeof header - 1;
    char *text = there ? regular_file_read(path, BYTES_MAX, &bytes, err) : mem_strdup(header, err);
    if (!text)
        return NULL;
    if (strlen(text) == bytes && strncmp(text, header, sizeof header - 1) == 0) {
        while (bytes && text[bytes - 1] == '\n')
            text[--bytes] = 0;
        return text;
    }
    err_set(err, "%s:1: found '%.*s'; expected a ledger of 'offchip diff --ledger', which begins with '%.60s..'", path,
            (int)(strcspn(text, "\r\n") < 60 ? strcspn(text, "\r\n") : 60), text, header);
    free(text);
    return NULL;
}

static int add_rows(FILE *to, const char *text, const struct prediction *rows, size_t n, size_t *added, struct err *err)
{
    (void)fputs(text, to);
    for (size_t i = 0; i < n; i++) {
        size_t known = 0;
        char *line = line_of(&rows[i], &known);
        if (!line)
            return err_set(err, "out of memory");
        const bool new = memmem(text, strlen(text), line, known) == NULL;
        *added += new;
        if (new)
            (void)fputs(line, to);
        free(line);
    }
    (void)fputc('\n', to);
    return 0;
}

static int replace(const char *path, bool there, const struct prediction *rows, size_t n, size_t *added,
                   struct err *err)
{
    struct output file;
    char *text = read_text(path, there, err);
    *added = 0;
    int rc = text ? output_open(&file, path, there, err) : -1;
    if (rc == 0) {
        rc = add_rows(file.file, text, rows, n, added, err);
        if (rc == 0 && ferror(file.file))
            rc = err_set(err, "cannot write '%s'", path);
        rc = output_close(&file, rc, err);
    }
    free(text);
    return rc;
}

/* A new ledger that another command makes at the same moment is not replaced: then it is added to. */
int prediction_log_append(const char *path, const struct prediction *rows, size_t n, size_t *added, struct err *err)
{
    enum { WAIT_MS = 60000 };
    bool there;
    int rc;
    do {
        there = access(path, F_OK) == 0;
        int lock = there ? output_lock(path, WAIT_MS, err) : -1;
        rc = there && lock < 0 ? -1 : replace(path, there, rows, n, added, err);
        if (lock >= 0)
            (void)close(lock);
    } while (rc && there != (access(path, F_OK) == 0));
    return rc;
}
