#include "replay/report/decision.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/pcie.h"
#include "replay/compare/compare_case.h"
#include "replay/report/decision_parts.h"
#include "replay/report/html_figure.h"
#include "trace/base/embedded.h"
#include "trace/base/json_tree.h"
#include "trace/base/units.h"

/* --- text --- */

void decision_text(FILE *out, const char *text)
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

void decision_element(FILE *out, const char *tag, const char *format, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    (void)fprintf(out, "<%s>", tag);
    decision_text(out, text);
    (void)fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* --- values --- */

static const char *number(const char *metric, double value, char *buf, size_t size)
{
    const char *unit = metric_unit(metric);
    if (strcmp(unit, "ns") == 0)
        return units_human_ns(value, buf, size);
    if (strcmp(unit, "bytes") == 0)
        return units_human_bytes(value, buf, size);
    (void)snprintf(buf, size, "%.3g", value);
    return buf;
}

const char *decision_value(const struct compare_row *row, const char *metric, char *buf, size_t size)
{
    const struct metric_value *v = outcome_get(&row->outcome, metric);
    char lo[64], hi[64];
    if (v->interval) {
        (void)number(metric, v->lo, lo, sizeof lo);
        (void)number(metric, v->hi, hi, sizeof hi);
        bool one = strcmp(lo, hi) == 0;
        (void)snprintf(buf, size, "%s%s%s%s", v->unbound ? "~" : "", lo, one ? "" : " to ", one ? "" : hi);
    } else if (v->least)
        (void)snprintf(buf, size, "over %s", number(metric, v->lo, lo, sizeof lo));
    else if (v->known)
        (void)snprintf(buf, size, "%s%s", v->unbound ? "~" : "", number(metric, v->real, lo, sizeof lo));
    else
        (void)snprintf(buf, size, "n/a");
    return buf;
}

double decision_link_ns(const struct compare_result *result, const struct compare_row *row)
{
    const struct metric_value *in = outcome_get(&row->outcome, "h2d_bytes");
    const struct metric_value *back = outcome_get(&row->outcome, "d2h_bytes");
    if (!platform_has(result->platform, "pcie") || !in->known)
        return 0;
    const struct pcie *link = platform_section_get(result->platform, "pcie");
    return fmax(in->real, back->known ? back->real : 0) / pcie_raw_bytes_per_s(link) * 1e9;
}

/* --- figures --- */

void decision_figure(FILE *out, const char *name, const json_t *runs, const json_t *robust, const char *caption)
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
    char *svg =
        !runs || run_set_add_json(&set, runs, "comparison", &err) == 0 ? html_figure(figure_find(name), &input) : NULL;
    if (svg) {
        (void)fprintf(out, "<figure class=\"%s\"><div class=\"scroll\"><img alt=\"", name);
        decision_text(out, caption);
        (void)fprintf(out, "\" src=\"data:image/svg+xml;base64,%s\"></div>\n<figcaption>", svg);
        decision_text(out, caption);
        json_array_foreach(notes, i, line)
        {
            (void)fputs("; ", out);
            decision_text(out, json_string_value(line));
        }
        (void)fputs("</figcaption></figure>\n", out);
    }
    free(svg);
    json_decref(notes);
    run_set_release(&set);
}

/* --- the answer --- */

static const struct {
    const char *mechanism, *what;
} phrases[] = {
    {"copy", "Copy the data to the GPU explicitly"},
    {"managed", "Use unified memory"},
    {"zerocopy", "Leave the data in host memory and let the kernels read it there (zero-copy)"},
    {"tiered", "Keep the hot rows on the GPU and read the others from host memory"},
    {"mixed", "Choose for each array by itself"},
    {"device", "Copy the data into device memory"},
    {"pinned", "Use pinned memory that both sides read"},
};

static const char *phrase(const struct compare_row *row)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strcmp(phrases[i].mechanism, compare_mechanism_name(row->mechanism)) == 0)
            return phrases[i].what;
    return compare_mechanism_name(row->mechanism);
}

static void say_second(const struct compare_result *result, const struct compare_row *next, FILE *out)
{
    char time[160], name[COMPARE_NAME];
    if (!next) {
        decision_element(out, "p", "No other mechanism has an answer.");
        return;
    }
    decision_element(
        out, "p", "Of the other mechanisms %s is best: %s, %.3g times as long%s.", compare_row_name(next, name),
        decision_value(next, "time_ns", time, sizeof time), compare_time(next) / compare_time(&result->rows[0]),
        compare_tied(&result->rows[0], next) ? ", which the models cannot tell apart: time both on the machine" : "");
}

static void answer(const struct decision *d, FILE *out)
{
    const struct compare_result *result = d->result;
    const struct compare_row *best = result->count ? &result->rows[0] : NULL;
    char time[160];
    decision_element(out, "p class=dim", "%s on %s (%s), %.4g MiB", result->program, platform_name(result->platform),
                     platform_from(result->platform), (double)result->footprint_bytes / 0x1p20);
    if (!best || !best->answered) {
        decision_element(out, "h1", "No mechanism has an answer for this input on this platform.");
        return;
    }
    const struct compare_row *next = compare_second(result);
    decision_element(out, "h1", "%s (%s): %s%s.", phrase(best), best->policy,
                     decision_value(best, "time_ns", time, sizeof time),
                     next && compare_tied(best, next) ? ", though another mechanism may be as fast" : "");
    say_second(result, next, out);
}

/* --- the page --- */

static const char *template(void)
{
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, "replay/report/decision.html") == 0)
            return embedded_files[i].text;
    return "";
}

static void head(const struct decision *d, FILE *out)
{
    static const char mark[] = "@TITLE@";
    const char *page = template(), *hole = strstr(page, mark);
    size_t before = hole ? (size_t)(hole - page) : strlen(page);
    (void)fwrite(page, 1, before, out);
    decision_text(out, d->result->program);
    (void)fputs(" on ", out);
    decision_text(out, platform_name(d->result->platform));
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
    (void)fputs("</header>\n<main>\n", out);
    decision_sure(d, out);
    decision_why(d, out, runs);
    decision_apply(d, out);
    decision_rest(d, out, runs);
    (void)fputs("</main>\n</body>\n</html>\n", out);
    json_decref(runs);
    return ferror(out) ? err_set(err, "the file could not be written") : 0;
}
