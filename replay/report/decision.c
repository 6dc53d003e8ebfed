#include "replay/report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/link.h"
#include "replay/compare/compare.h"
#include "replay/run/platform_use.h"
#include "replay/run/robust.h"
#include "trace/base/embedded.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"

/* --- text --- */

/* Write text with HTML escaped; bytes that are no UTF-8 become '?'. */
static void put_text(FILE *out, const char *text)
{
    json_t *clean = json_tree_text(text);
    for (const char *p = clean ? json_string_value(clean) : ""; *p; p++)
        if (*p == '<')
            (void)fputs("&lt;", out);
        else if (*p == '>')
            (void)fputs("&gt;", out);
        else if (*p == '&')
            (void)fputs("&amp;", out);
        else if (*p == '"')
            (void)fputs("&quot;", out);
        else
            (void)fputc((unsigned char)*p < ' ' && *p != '\n' ? ' ' : *p, out);
    json_decref(clean);
}

/* An element with formatted text inside. */
__attribute__((format(printf, 3, 4))) static void element(FILE *out, const char *tag, const char *format, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    (void)fprintf(out, "<%s>", tag);
    put_text(out, text);
    (void)fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* --- values --- */

/* A value as people read it, "242 .. 331 us", "16.0 MiB", "n/a". Returns buf. */
static const char *value_text(const struct compare_row *row, const char *metric, char *buf, size_t size)
{
    const struct metric_value *v = outcome_get(&row->outcome, metric);
    return metric_text(&row->outcome.metrics[v - row->outcome.values], v, buf, size);
}

/* Least time of a row's bytes on the link; 0: not known. */
static double link_ns(const struct compare_result *result, const struct compare_row *row)
{
    const struct metric_value *in = outcome_get(&row->outcome, "h2d_bytes");
    const struct metric_value *back = outcome_get(&row->outcome, "d2h_bytes");
    if (!platform_has(result->platform, "pcie") || !in->known)
        return 0;
    const struct pcie *link = platform_section_get(result->platform, "pcie");
    return fmax(in->real, back->known ? back->real : 0) / pcie_raw_bytes_per_s(link) * 1e9;
}

/* --- figures --- */

/* Write a figure with its caption, and the parts that it does not draw or why there is none. */
static void put_figure(const struct decision *d, FILE *out, const char *name, const json_t *runs, const json_t *robust,
                       const char *caption)
{
    struct run_set set = {0};
    struct err err = {""};
    json_t *notes = json_array(), *line;
    size_t i;
    const struct figure_input input = {.path = "",
                                       .runs = &set,
                                       .metrics = strcmp(name, "bars") == 0 ? "h2d_bytes,d2h_bytes" : NULL,
                                       .json = robust,
                                       .notes = notes};
    char *svg = NULL;
    int rc = runs ? run_set_add_json(&set, runs, "comparison", &err) : 0;
    if (!rc)
        rc = html_figure(figure_find(name), &input, &svg, &err);
    if (rc < 0) {
        element(out, "p class=dim", "%s: the figure is not drawn: %s", caption, err.msg);
        (void)note(d->missing, "figure %s is not drawn: %s", name, err.msg);
    }
    if (svg) {
        (void)fprintf(out, "<figure class=\"%s\"><div class=\"scroll\"><img alt=\"", name);
        put_text(out, caption);
        (void)fprintf(out, "\" src=\"data:image/svg+xml;base64,%s\"></div>\n<figcaption>", svg);
        put_text(out, caption);
        json_array_foreach(notes, i, line)
        {
            (void)fputs("; ", out);
            put_text(out, json_string_value(line));
        }
        (void)fputs("</figcaption></figure>\n", out);
    }
    free(svg);
    json_decref(notes);
    run_set_release(&set);
}

/* --- the answer --- */

static void answer(const struct decision *d, FILE *out)
{
    const struct compare_result *result = d->result;
    char text[1024], size[64];
    element(out, "h1", "%s", compare_answer(result, text, sizeof text));
    element(out, "p class=dim", "%s%s%s%s, %s, on %s (%s)", result->recorded, *result->recorded ? " (" : "",
            result->program, *result->recorded ? ")" : "",
            units_human_bytes((double)result->footprint_bytes, size, sizeof size), result->platform->name,
            result->platform->from);
}

static void begin(FILE *out, const char *id, const char *title)
{
    (void)fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

static void end(FILE *out)
{
    (void)fputs("</section>\n", out);
}

/* --- tables --- */

static void table_head(FILE *out, const char *const *names)
{
    (void)fputs("<table>\n<thead><tr>", out);
    for (; *names; names++)
        element(out, "th", "%s", *names);
    (void)fputs("</tr></thead>\n<tbody>\n", out);
}

static void table_cell(FILE *out, const char *label, const char *text)
{
    (void)fprintf(out, "<td%s data-label=\"", strlen(text) > 24 ? " class=\"words\"" : "");
    put_text(out, label);
    (void)fputs("\">", out);
    put_text(out, text);
    (void)fputs("</td>", out);
}

/* The beginning of a row, and the cell that names it. */
static void row_head(FILE *out, const char *class, const char *text)
{
    (void)fprintf(out, "<tr%s><th scope=\"row\">", class);
    put_text(out, text);
    (void)fputs("</th>", out);
}

/* --- how sure --- */

static void say_error(const struct compare_row *best, FILE *out)
{
    if (best->error_ratio > 0)
        element(out, "li", "Times of this kind were %.3g %% off where they were measured (mean).",
                100 * best->error_ratio);
    else
        element(out, "li", "How far off such times are was never measured: no row here is known to win.");
    if (outcome_get(&best->outcome, "time_ns")->interval)
        element(out, "li", "Its time is an interval: the model leaves open what is between its ends.");
}

static void sure(const struct decision *d, FILE *out)
{
    const struct compare_result *result = d->result;
    char text[1024], name[COMPARE_NAME];
    if (!result->count || !result->rows[0].answered)
        return;
    begin(out, "sure", "How sure");
    (void)fputs("<ul>\n", out);
    if (result->drawn)
        element(out, "li",
                "%zu assumed, fitted and borrowed numbers of the platform are drawn within their ranges; a share of "
                "draws is no probability.",
                result->robust.number_count);
    else
        element(out, "li", "Whether the platform's unknown numbers decide this was not asked: add --robust 64.");
    for (size_t i = 0; i < result->drawn; i++)
        element(out, "li", "%s: %s", compare_row_name(&result->rows[i], name),
                robust_say(&result->robust, i, text, sizeof text));
    say_error(&result->rows[0], out);
    (void)fputs("</ul>\n", out);
    end(out);
}

/* --- why --- */

static const struct compare_row *prefetched(const struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].answered && result->rows[i].prefetched)
            return &result->rows[i];
    return NULL;
}

static void say_bound(const struct compare_result *result, const struct compare_row *row, FILE *out)
{
    const struct compare_row *whole = prefetched(result);
    double time = compare_time(row), link = link_ns(result, row);
    char name[COMPARE_NAME], a[64], b[64];
    if (link > 0)
        element(out, "li", "%s: its bytes alone keep the link for at least %s of %s (%.0f %%).",
                compare_row_name(row, name), units_human_ns(link, a, sizeof a), units_human_ns(time, b, sizeof b),
                100 * link / time);
    if (row->stock && !row->prefetched && whole && time > compare_time(whole))
        element(out, "li",
                "%s: %s more than with everything prefetched: what faults, and waiting for their "
                "service, cost.",
                compare_row_name(row, name), units_human_ns(time - compare_time(whole), a, sizeof a));
}

static void say_bounds(const struct compare_result *result, FILE *out)
{
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < result->count && result->rows[i].answered; i++) {
        size_t first = 0; /* the best of its mechanism, and the driver as it is */
        while (result->rows[first].mechanism != result->rows[i].mechanism)
            first++;
        if (first == i || strcmp(result->rows[i].policy, "tree") == 0)
            say_bound(result, &result->rows[i], out);
    }
    (void)fputs("</ul>\n", out);
}

static void row(const struct compare_result *result, const struct compare_verdict *v, size_t i, const char *const *head,
                FILE *out)
{
    static const char *const metrics[] = {"h2d_bytes", "d2h_bytes", "gpu_bytes", "read_amplification_ratio"};
    const struct compare_row *r = &result->rows[i];
    char text[COMPARE_NAME];
    double link = link_ns(result, r);
    const bool best = v->answers[i].wins && !v->answers[i].open;
    row_head(out, best ? " class=\"best\"" : r->answered ? "" : " class=\"none\"", compare_row_name(r, text));
    table_cell(out, head[1], value_text(r, "time_ns", text, sizeof text));
    table_cell(out, head[2], compare_of_best(v, result->count, i, text, sizeof text));
    (void)snprintf(text, sizeof text, "%.0f %%", 100 * link / compare_time(r));
    table_cell(out, head[3], r->answered && link > 0 ? text : "n/a");
    for (size_t m = 0; m < 4; m++)
        table_cell(out, head[4 + m], value_text(r, metrics[m], text, sizeof text));
    (void)fputs("</tr>\n", out);
}

static void every_row(const struct decision *d, FILE *out)
{
    static const char *const head[] = {"mechanism",  "time",        "of the best", "link busy at least",
                                       "to the GPU", "to the host", "GPU memory",  "read amplification",
                                       NULL};
    struct compare_verdict v;
    if (compare_verdict(d->result, &v, NULL))
        return;
    begin(out, "rows", "Each mechanism");
    table_head(out, head);
    for (size_t i = 0; i < d->result->count; i++)
        row(d->result, &v, i, head, out);
    compare_verdict_release(&v);
    (void)fputs("</tbody></table>\n", out);
    end(out);
}

/* Write what bounds the rows, with its figure. */
static void why(const struct decision *d, FILE *out, const json_t *runs)
{
    begin(out, "why", "Why");
    (void)fputs("<div class=\"beside\">\n", out);
    say_bounds(d->result, out);
    put_figure(d, out, "compare-times", runs, NULL,
               "Time of each mechanism, best first; whiskers reach as far as the measured error of such times");
    (void)fputs("</div>\n", out);
    end(out);
}

/* --- how to have it --- */

static void say_plan(const struct decision *d, FILE *out)
{
    const struct compare_row *planned = compare_plannable(d->result);
    char *text = NULL, name[COMPARE_NAME];
    size_t size;
    FILE *plan = planned ? open_memstream(&text, &size) : NULL;
    if (!plan)
        return;
    int rc = compare_plan_write(d->result, plan, NULL);
    (void)fclose(plan);
    if (rc == 0) {
        element(out, "h3", "The plan for record --apply: %s", compare_row_name(planned, name));
        element(out, "p",
                "As plan.ini (compare -o plan.ini writes it): offchip record --apply plan.ini -o t.db -- "
                "PROGRAM, then offchip diff plan.ini t.db for what came of it.");
        element(out, "pre", "%s", text);
    }
    free(text);
}

static void how(const struct decision *d, FILE *out)
{
    const struct compare_result *result = d->result;
    begin(out, "apply", "How to have it");
    size_t rows[COMPARE_MECHANISMS], n = compare_best_rows(result, COMPARE_MECHANISMS, rows);
    for (size_t i = 0; i < n; i++) {
        const struct compare_row *r = &result->rows[rows[i]];
        struct compare_experiment x;
        char name[COMPARE_NAME], text[3000];
        element(out, "h3", "%s%s", i ? "Or " : "", compare_row_name(r, name));
        (void)fputs("<ol>\n", out);
        for (size_t a = 0; a < r->apply_count; a++)
            element(out, "li", "%s", r->apply[a]);
        (void)fputs("</ol>\n", out);
        if (compare_experiment(result, rows[i], &x)) /* what to run on the machine itself, and what it would prove */
            element(out, "pre", "%s", compare_experiment_say(result, &x, text, sizeof text));
    }
    say_plan(d, out);
    end(out);
}

/* --- everything else --- */

static void say_robust(const struct decision *d, FILE *out)
{
    const struct compare_result *result = d->result;
    json_t *robust = result->drawn && result->drawn <= 256 ? compare_robust_json(result, NULL) : NULL;
    if (robust) {
        element(out, "h3", "What the order rests on");
        put_figure(d, out, "tornado", NULL, robust,
                   "How far the best leads the next with one unknown number at either end of its range; left of 1 "
                   "another is best");
    }
    json_decref(robust);
}

static bool noted_before(const struct compare_result *result, size_t row, const char *note)
{
    for (size_t i = 0; i < row; i++)
        if (outcome_has_note(&result->rows[i].outcome, note))
            return true;
    return false;
}

static void say_notes(const struct compare_result *result, FILE *out)
{
    element(out, "h3", "Notes");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < result->count; i++)
        for (size_t n = 0; n < result->rows[i].outcome.note_count; n++) {
            const char *note = result->rows[i].outcome.notes[n];
            char name[COMPARE_NAME];
            if (!limits_note(note) && !noted_before(result, i, note))
                element(out, "li", "%s: %s", compare_row_name(&result->rows[i], name), note);
        }
    (void)fputs("</ul>\n", out);
}

static void say_platform(const struct decision *d, FILE *out)
{
    static const char *const all[] = {"gpu", "launch", "uvm", "pcie", "placement"};
    const struct platform *platform = d->result->platform;
    const char *sections[6] = {NULL};
    size_t n = 0;
    struct platform_use use;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (platform_has(platform, all[i]))
            sections[n++] = all[i];
    platform_use_count(platform, sections, &use);
    element(out, "h3", "Made from");
    (void)fputs("<ul>\n", out);
    char size[64];
    element(out, "li", "Program: %s, %s; GPU memory for it: %s", d->result->program,
            units_human_bytes((double)d->result->footprint_bytes, size, sizeof size),
            d->result->memory_bytes ? "limited" : "enough");
    element(out, "li",
            "Platform %s (%s): %zu numbers known, %zu assumed, %zu fitted, %zu borrowed (offchip list platforms "
            "%s)",
            platform->name, platform->from, use.kinds[PLATFORM_SOURCED], use.kinds[PLATFORM_ASSUMED],
            use.kinds[PLATFORM_FITTED], use.kinds[PLATFORM_AS], platform->name);
    element(out, "li", "offchip %s: %s", d->version, d->command);
    (void)fputs("</ul>\n", out);
}

static void rest(const struct decision *d, FILE *out, const json_t *runs)
{
    begin(out, "rest", "Everything else");
    put_figure(d, out, "bars", runs, NULL, "Bytes over the link of each mechanism, both ways");
    say_robust(d, out);
    say_notes(d->result, out);
    say_platform(d, out);
    end(out);
}

/* --- the page --- */

static void head(const struct decision *d, FILE *out)
{
    static const char mark[] = "@TITLE@";
    const char *page = embedded_text("replay/report/decision.html"), *hole = page ? strstr(page, mark) : NULL;
    if (hole)
        (void)fwrite(page, 1, (size_t)(hole - page), out);
    put_text(out, d->result->program);
    (void)fputs(" on ", out);
    put_text(out, d->result->platform->name);
    (void)fputs(hole ? hole + sizeof mark - 1 : "", out);
}

int decision_write(const struct decision *d, FILE *out, struct err *err)
{
    json_t *runs = compare_runs_json(d->request, d->result, err);
    if (!runs)
        return -1;
    head(d, out);
    (void)fputs("<header>\n", out);
    answer(d, out);
    for (size_t i = 0; i < json_array_size(d->result->limits); i++)
        element(out, "p", "%s", json_string_value(json_array_get(d->result->limits, i)));
    (void)fputs("</header>\n<main>\n", out);
    every_row(d, out);
    how(d, out);
    why(d, out, runs);
    sure(d, out);
    rest(d, out, runs);
    (void)fputs("</main>\n</body>\n</html>\n", out);
    json_decref(runs);
    return ferror(out) ? err_set(err, "the file could not be written") : 0;
}
