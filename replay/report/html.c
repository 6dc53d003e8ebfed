#include "replay/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/embedded.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

/* --- a figure --- */

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

int html_figure(const struct figure *figure, const struct figure_input *input, char **svg, struct err *err)
{
    char *bytes = NULL;
    size_t size = 0;
    *svg = NULL;
    int rc = plot_draw_bytes(figure, input, "figure.svg", &bytes, &size, err);
    if (!rc && !(*svg = base64((const unsigned char *)bytes, size)))
        rc = err_set(err, "out of memory");
    free(bytes);
    return rc;
}

/* --- the page --- */

/* An interval is [lo, hi], an estimate {"near":v}. */
static json_t *cell(const struct report_cell *c)
{
    if (c->text)
        return json_tree_text(c->text);
    if (c->value.interval)
        return json_pack("[o,o]", json_tree_real(c->value.lo), json_tree_real(c->value.hi));
    if (c->value.lower_bound)
        return json_pack("{s:f,s:b}", "near", c->value.lo, "over", 1);
    if (!c->value.known)
        return json_null();
    json_t *value =
        c->metric && c->metric->type == METRIC_INT ? json_integer(c->value.whole) : json_tree_real(c->value.real);
    return c->value.unbound ? json_pack("{s:o}", "near", value) : value;
}

/* Add a figure, or a line in its place if it was asked for or failed; one with nothing to draw is left out. */
static void add_figure(json_t **array, const struct run_set *runs, const char *name, const char *metric, bool asked,
                       json_t *missing)
{
    const struct figure *figure = figure_find(name);
    json_t *notes = json_array();
    const struct figure_input input = {.path = "", .runs = runs, .metrics = metric, .notes = notes};
    struct err err = {""};
    char *svg;
    int rc = html_figure(figure, &input, &svg, &err);
    const bool told = rc < 0 || (rc && asked);
    if (told) {
        (void)json_array_clear(notes);
        (void)note(notes, "not drawn: %s", err.msg);
        (void)note(missing, "figure %s%s%s is not drawn: %s", name, metric ? " of " : "", metric ? metric : "",
                   err.msg);
    }
    if (svg || told)
        json_tree_add(array, json_pack("{s:s,s:s,s:o,s:O}", "name", name, "summary", metric ? metric : figure->summary,
                                       "svg", svg ? json_string(svg) : json_null(), "said", notes));
    json_decref(notes);
    free(svg);
}

/* Bars of each metric that was asked for, else of the engine's first, and what else can be drawn. */
static json_t *all_figures(const struct run_set *runs, const struct engine *engine, const char *asked, json_t *missing)
{
    enum { USUAL = 4 };
    static const char *const others[] = {"compare-times", "box", "lines"};
    json_t *array = json_array();
    char metric[64];
    const char *p = asked ? asked : engine ? engine->headline : "time_ns";
    for (int n = 0; *p && (asked || n < USUAL); n++, p += strcspn(p, ","), p += *p == ',') {
        (void)snprintf(metric, sizeof metric, "%.*s", (int)strcspn(p, ","), p);
        add_figure(&array, runs, "bars", metric, asked != NULL, missing);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_figure(&array, runs, others[i], NULL, false, missing);
    return array;
}

/* Metrics to show: those asked for or the engine's headline, then its ranks. */
static char *metric_list(const char *engine, const char *asked, json_t **ranks, struct err *err)
{
    const struct engine *e = engine_of_results(engine);
    const char *list = asked ? asked : e ? e->headline : "time_ns,speedup_ratio";
    char *text = mem_strdup(list, err), name[64];
    bool more;
    for (size_t n = 0; text && engine_rank(e, n, name, sizeof name, &more); n++) {
        (void)mem_append(&text, ",%s", name);
        json_tree_add(ranks, json_pack("{s:s,s:b}", "metric", name, "more", more));
    }
    return text;
}

static json_t *header(const struct report *report)
{
    json_t *keys = json_array(), *metrics = json_array();
    for (size_t c = 0; c < report->columns; c++) {
        const struct metric *m = report->cells[c].metric;
        char label[80];
        if (c + 1 < report->texts)
            json_tree_add(&keys, json_tree_text(report->header[c]));
        else if (c >= report->texts)
            json_tree_add(&metrics, json_pack("{s:s,s:s,s:s,s:b}", "name", report->header[c], "label",
                                              metric_label(report->header[c], label, sizeof label), "help",
                                              m ? m->help : "", "whole", m && m->type == METRIC_INT));
    }
    return json_pack("{s:o,s:o}", "keys", keys, "metrics", metrics);
}

static json_t *row(const struct report *report, size_t r, const struct run *run)
{
    const struct report_cell *cells = &report->cells[r * report->columns];
    json_t *keys = json_array(), *values = json_array();
    for (size_t c = 0; c < report->columns; c++)
        if (c + 1 != report->texts)
            json_tree_add(c < report->texts ? &keys : &values, cell(&cells[c]));
    return json_pack("{s:i,s:s,s:s,s:s,s:b,s:b,s:o,s:o,s:O,s:f}", "group", (int)report->case_of[r], "input", run->input,
                     "platform", run->platform, "policy", cells[report->texts - 1].text, "baseline", run->baseline,
                     "starved", run_starved(run), "keys", keys, "values", values, "notes", run->notes, "error",
                     report_error(run));
}

static json_t *section_of_report(const struct report *report, const struct run_set *runs, struct err *err)
{
    json_t *section = header(report), *rows = json_array();
    for (size_t r = 0; r < report->rows; r++)
        json_tree_add(&rows, row(report, r, &runs->runs[report->run_of[r]]));
    json_tree_put(&section, "rows", rows);
    json_t *said = json_array();
    bool failed = report_platforms(runs, said) || json_array_extend(said, report->notes) ||
                  (runs->unfinished && json_array_extend(said, runs->unfinished));
    json_tree_put(&section, "said", failed ? NULL : json_incref(said));
    json_decref(said);
    (void)json_tree_check(section, err);
    return section;
}

static json_t *section(const struct run_set *all, const char *name, const char *asked, json_t *missing, struct err *err)
{
    const struct engine *engine = engine_of_results(name);
    struct run_set runs = {0};
    struct report report = {0};
    json_t *ranks = json_array(), *section = NULL;
    char *list = metric_list(name, asked, &ranks, err);
    struct report_options how = {.metrics = list, .no_best = true};
    if (list && run_set_add_engine(&runs, all, name, err) == 0 && report_make(&report, &runs, &how, err) == 0)
        section = section_of_report(&report, &runs, err);
    if (section) {
        json_tree_put(&section, "engine", json_string(name));
        json_tree_put(&section, "answer", json_tree_text(report.answer));
        json_tree_put(&section, "summary", json_string(engine ? engine->summary : ""));
        json_tree_put(&section, "ranks", json_incref(ranks));
        json_tree_put(&section, "figures", all_figures(&runs, engine, asked, missing));
        (void)json_tree_check(section, err);
    }
    json_decref(ranks);
    free(list);
    report_release(&report);
    run_set_release(&runs);
    return section;
}

static json_t *content(const struct run_set *runs, const char *metrics, const char *version, json_t *missing,
                       struct err *err)
{
    json_t *sections = json_array();
    for (size_t i = 0; i < runs->count; i++) {
        size_t first = 0;
        while (strcmp(runs->runs[first].engine, runs->runs[i].engine) != 0)
            first++;
        json_t *s = first == i ? section(runs, runs->runs[i].engine, metrics, missing, err) : NULL;
        if (first == i && !s) {
            json_decref(sections);
            return NULL;
        }
        if (s)
            json_tree_add(&sections, s);
    }
    json_t *root = json_pack("{s:s,s:o}", "version", version, "sections", sections);
    (void)json_tree_check(root, err);
    return root;
}

int html_write(const struct run_set *runs, const char *metrics, const char *version, FILE *out, json_t *missing,
               struct err *err)
{
    static const char mark[] = "@DATA@";
    const char *page = embedded_text("replay/report/report.html"), *hole = page ? strstr(page, mark) : NULL;
    struct err why = {"out of memory"};
    json_t *root = content(runs, metrics, version, missing, &why);
    char *text = root ? json_tree_dump(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!hole || !text) {
        free(text);
        return err_set(err, "%s", why.msg);
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
