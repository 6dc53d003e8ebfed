#include "replay/html.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/plot.h"
#include "trace/embedded.h"
#include "trace/mem.h"

static const char *template(void)
{
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, "replay/report.html") == 0)
            return embedded_files[i].text;
    return NULL;
}

static json_t *cell(const struct report_cell *c)
{
    if (c->text)
        return json_string(c->text);
    if (c->value.interval)
        return json_pack("[f,f]", c->value.lo, c->value.hi);
    if (!c->value.known)
        return json_null();
    return c->metric && c->metric->type == METRIC_INT ? json_integer(c->value.whole) : json_real(c->value.real);
}

static char *base64(const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = mem_zalloc((n + 2) / 3 * 4 + 1, 1, NULL);
    for (size_t i = 0, o = 0; out && i < n; i += 3, o += 4) {
        unsigned v =
            (unsigned)data[i] << 16 | (i + 1 < n ? (unsigned)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0u);
        out[o] = digits[v >> 18];
        out[o + 1] = digits[v >> 12 & 63];
        out[o + 2] = i + 1 < n ? digits[v >> 6 & 63] : '=';
        out[o + 3] = i + 2 < n ? digits[v & 63] : '=';
    }
    return out;
}

/* The figure as base64 SVG, or NULL if it cannot be drawn from these runs. */
static char *draw(const struct figure *figure, const struct run_set *runs)
{
    char path[] = "/tmp/offchip-html-XXXXXX.svg";
    int fd = mkstemps(path, 4);
    if (fd < 0)
        return NULL;
    (void)close(fd);
    struct figure_input input = {.path = "", .runs = runs};
    struct err err = {""};
    char *text = NULL;
    if (plot_draw(figure, &input, path, &err) == 0) {
        FILE *f = fopen(path, "rb");
        long size = -1;
        if (f && fseek(f, 0, SEEK_END) == 0)
            size = ftell(f);
        unsigned char *data = size > 0 ? mem_zalloc((size_t)size, 1, NULL) : NULL;
        if (data && fseek(f, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, f) == (size_t)size)
            text = base64(data, (size_t)size);
        free(data);
        if (f)
            (void)fclose(f);
    }
    (void)unlink(path);
    return text;
}

static json_t *all_figures(const struct run_set *runs)
{
    json_t *array = json_array();
    for (size_t i = 0; figures[i]; i++) {
        char *svg = figures[i]->kinds & FIGURE_RESULTS ? draw(figures[i], runs) : NULL;
        if (svg)
            (void)json_array_append_new(array, json_pack("{s:s,s:s,s:s}", "name", figures[i]->name, "summary",
                                                         figures[i]->summary, "svg", svg));
        free(svg);
    }
    return array;
}

static json_t *content(const struct report *report, const struct run_set *runs, const char *version)
{
    json_t *keys = json_array(), *metrics = json_array(), *rows = json_array();
    size_t policy = 0;
    while (policy < report->columns && strcmp(report->header[policy], "policy") != 0)
        policy++;
    for (size_t c = 0; c < report->columns; c++)
        if (c != policy)
            (void)json_array_append_new(c < policy ? keys : metrics, json_string(report->header[c]));
    for (size_t r = 0; r < report->rows; r++) {
        const struct report_cell *row = &report->cells[r * report->columns];
        json_t *cells = json_array();
        for (size_t c = 0; c < report->columns; c++)
            (void)json_array_append_new(cells, cell(&row[c]));
        (void)json_array_append_new(rows, json_pack("{s:b,s:o}", "best", row[policy].best, "cells", cells));
    }
    return json_pack("{s:s,s:o,s:o,s:o,s:o}", "version", version, "keys", keys, "metrics", metrics, "rows", rows,
                     "figures", all_figures(runs));
}

int html_write(const struct report *report, const struct run_set *runs, const char *version, FILE *out, struct err *err)
{
    static const char mark[] = "@DATA@";
    const char *page = template(), *hole = page ? strstr(page, mark) : NULL;
    json_t *root = content(report, runs, version);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!hole || !text) {
        free(text);
        return err_set(err, "out of memory while writing HTML");
    }
    (void)fwrite(page, 1, (size_t)(hole - page), out);
    for (const char *p = text; *p; p++) /* "</script>" in a name must not end the element */
        if (*p == '<' || *p == '>' || *p == '&')
            (void)fprintf(out, "\\u%04x", (unsigned)*p);
        else
            (void)fputc(*p, out);
    (void)fputs(hole + sizeof mark - 1, out);
    free(text);
    return ferror(out) ? err_set(err, "the file could not be written") : 0;
}
