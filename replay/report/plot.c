#include "replay/report/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/report/chart.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/store/output.h"

const struct figure *figure_find(const char *name)
{
    return FIND_NAMED(figures, name);
}

#define LEGEND_SMALL 0.75 /* of letters, in a legend of many lines */

static const char style[] = "set encoding utf8\n"
                            "set grid ytics linecolor rgb '#dddddd' linewidth 1\n"
                            "set border 3 linecolor rgb '#444444'\n"
                            "set tics nomirror\n"
                            "set key tmargin center horizontal reverse Left samplen 1.5 width 1\n"
                            "set errorbars small\n"
                            "set rmargin 3\n"
                            "if (!exists('letter')) letter = 12\nif (!exists('dot')) dot = 1\nset pointsize dot\n";

static int write_results(const struct figure *figure, const struct figure_input *input, FILE *out, struct err *err)
{
    struct run_set runs = {0};
    const char *engine = figure->engine || !input->runs->count ? figure->engine : input->runs->runs[0].engine;
    if (!engine)
        return err_set(err, "the results hold no run");
    int rc = run_set_add_engine(&runs, input->runs, engine, err);
    if (!rc && !runs.count)
        rc = err_set(err, "the results hold no run of the %s engine", engine);
    const size_t others = input->runs->count - runs.count;
    if (!rc && others)
        rc = note(input->notes, "%zu runs of other engines than %s are left out", others, engine);
    struct figure_input own = *input;
    own.runs = &runs;
    if (!rc)
        rc = run_set_note_foreign(&runs, input->notes) || figure->write(&own, out, err) ? -1 : 0;
    run_set_release(&runs);
    return rc;
}

/* Make a figure's part of a script, always freed by the caller. */
static int make_script(const struct figure *figure, const struct figure_input *input, char **text, size_t *n,
                       struct err *err)
{
    struct figure_size size = {(double)figure->width / PLOT_LETTERS, figure->height};
    struct figure_input own = *input;
    if (!own.size)
        own.size = &size;
    FILE *out = open_memstream(text, n);
    if (!out)
        return err_set(err, "out of memory");
    (void)fprintf(out, "# offchip figure %s: %s\n", figure->name, figure->summary);
    (void)fputs(style, out);
    style_put_lines(out);
    int rc = figure->kinds & FIGURE_RESULTS ? write_results(figure, &own, out, err) : figure->write(&own, out, err);
    own.size->height = fmin(fmax(own.size->height, figure->height * 0.5), figure->height * 4.0);
    (void)fprintf(out, "unset multiplot\n# drawn at %d x %.0f pixels\n", figure->width, own.size->height);
    if (fclose(out))
        rc = err_set(err, "out of memory");
    return rc ? err_at(err, "figure %s", figure->name) : 0;
}

int plot_script(const struct figure *figure, const struct figure_input *input, FILE *out, struct err *err)
{
    char *text = NULL;
    size_t n = 0;
    int rc = make_script(figure, input, &text, &n, err);
    if (!rc)
        (void)fwrite(text, 1, n, out);
    free(text);
    return rc;
}

void plot_note_missing(const struct figure_input *input, size_t runs, const char *what)
{
    if (runs)
        (void)note(input->notes, "%zu of %zu runs are not drawn: %s", runs, input->runs->count, what);
}

void plot_note_unbound(const struct figure_input *input, const char *metric)
{
    size_t open = 0;
    double value;
    for (size_t i = 0; i < input->runs->count; i++)
        open += run_unbound(&input->runs->runs[i], metric) && run_metric(&input->runs->runs[i], metric, &value);
    if (open)
        (void)note(input->notes, "the %s of %zu of %zu runs is an estimate", metric, open, input->runs->count);
}

void plot_quote(FILE *script, const char *text)
{
    (void)fputc('"', script);
    for (const char *p = text; *p; p++) {
        if (strchr("\"\\$`", *p))
            (void)fprintf(script, "\\%c", *p);
        else if (strchr("_^@&~{}", *p)) /* enhanced text mode's own signs */
            (void)fprintf(script, "\\\\%c", *p);
        else if (*p == '>' && p - text >= 2 && p[-1] == ']' &&
                 p[-2] == ']') /* no XML text, and gnuplot's SVGs keep it */
            (void)fputs(" >", script);
        else if ((unsigned char)*p < ' ')
            (void)fputc('?', script);
        else
            (void)fputc(*p, script);
    }
    (void)fputc('"', script);
}

double plot_taller(const struct figure_input *input, double letters)
{
    input->size->height += letters * input->size->letter;
    return input->size->height / input->size->letter;
}

/* Lines of a legend in letters of this scale, as wide as gnuplot takes them to be. */
static double lines_of(size_t entries, size_t longest, double scale)
{
    const double width = ((double)longest * 0.68 + 6) * scale;
    return ceil((double)entries / fmax(1, floor((PLOT_LETTERS - 10) / width))) * scale;
}

double plot_legend_lines(size_t entries, size_t longest)
{
    const double lines = lines_of(entries, longest, 1);
    return lines > 2 ? lines_of(entries, longest, LEGEND_SMALL) : lines;
}

void plot_legend(const struct figure_input *input, FILE *script, size_t entries, size_t longest)
{
    if (lines_of(entries, longest, 1) > 2)
        (void)fprintf(script, "small = sprintf(',%%g', %g * letter)\nset key font small\n", LEGEND_SMALL);
    (void)plot_taller(input, (plot_legend_lines(entries, longest) - 1) * PLOT_LINE);
}

/* common: a line below it, "": none; small: one below that. */
static void put_title(FILE *script, bool panels, const char *what, const char *common, const char *small)
{
    (void)fprintf(script, "set multiplot%s title ", panels ? "" : " layout 1,1");
    (void)fputs(" \"{/:Bold*1.05 \".", script);
    plot_quote(script, what);
    (void)fputs(".\"}", script);
    if (*common) {
        (void)fputs("\\n{/*0.85 \".", script);
        plot_quote(script, common);
        if (*small) {
            (void)fputs(".\"}\\n{/*0.7 \".", script);
            plot_quote(script, small);
        }
        (void)fputs(".\"}\\n{/*0.2  }", script);
    }
    (void)fputs("\"\n", script);
}

void plot_title(const struct figure_input *input, FILE *script, const char *what, const char *common)
{
    char line[400];
    const bool whole = json_array_size(input->limits) == 0;
    (void)snprintf(line, sizeof line, "%.380s%s%s", common, *common && !whole ? "; " : "", whole ? "" : "not whole");
    put_title(script, false, what, line, "");
}

void plot_xlabel(const struct figure_input *input, FILE *script, const char *label, size_t lines)
{
    const double line = 1.3, below = 2.6 + line * (double)lines;
    (void)fprintf(script,
                  "set bmargin at screen %.4f\nset label \"%s\" at screen 0.5, screen 0 offset 0,%.1f center # x\n",
                  below / plot_taller(input, 0), label, (double)lines - 0.4);
}

void plot_tics(FILE *script, double lo, double hi)
{
    double step = pow(10, floor(log10((hi - lo) / 5)));
    step *= (hi - lo) / step > 25 ? 5 : (hi - lo) / step > 10 ? 2 : 1;
    (void)fputs("set xtics (", script);
    int n = 0;
    if (hi / lo < 5) {
        for (double k = ceil(lo / step); k * step <= hi && n < 40; k++)
            (void)fprintf(script, "%s'%g' %.9g", n++ ? ", " : "", k * step, k * step);
    } else {
        static const double parts[] = {1, 2, 5};
        const bool decades = hi / lo > 1e4;
        for (double d = floor(log10(lo)); d <= log10(hi) && n < 60; d++)
            for (int p = 0; p < (decades ? 1 : 3); p++)
                if (parts[p] * pow(10, d) >= lo && parts[p] * pow(10, d) <= hi)
                    (void)fprintf(script, "%s'%g' %.9g", n++ ? ", " : "", parts[p] * pow(10, d), parts[p] * pow(10, d));
    }
    (void)fputs(")\n", script);
}

/* Whether all runs that have such a key have the same; its text, "" where none has it. */
static bool same(const struct run_set *runs, const char *key, char *text, size_t size)
{
    char other[256];
    *text = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const char *value = run_key(&runs->runs[i], key, other, sizeof other);
        if (i == 0)
            (void)snprintf(text, size, "%s", value ? value : "");
        else if (strcmp(text, value ? value : "") != 0)
            return false;
    }
    return true;
}

/* What share of its kernels the runs simulate, and how many have warnings of a kind; "" where neither is so. */
static const char *about_cut(const struct run_set *runs, char *text, size_t size)
{
    static const char *const sides[] = {"mem", "pim", "mem2"}, *const kinds[] = {"faster than alone", "not settled"};
    char name[40];
    double v, low, high;
    *text = 0;
    for (size_t s = 0; s < 3; s++) {
        low = INFINITY, high = -INFINITY;
        (void)snprintf(name, sizeof name, "%s_simulated_ratio", sides[s]);
        for (size_t i = 0; i < runs->count; i++)
            if (run_metric(&runs->runs[i], name, &v))
                low = fmin(low, v), high = fmax(high, v);
        if (low <= high)
            (void)mem_add_text(text, size, low < high ? "%s%s %.2g to %.2g %%" : "%s%s %.2g %%",
                               *text ? ", " : "simulated: ", sides[s], 100 * low, 100 * high);
    }
    for (size_t k = 0; k < 2; k++) {
        size_t n = 0;
        for (size_t i = 0; i < runs->count; i++) {
            char *warnings = run_warnings(&runs->runs[i]);
            n += warnings && strstr(warnings, kinds[k]) != NULL;
            free(warnings);
        }
        if (n)
            (void)mem_add_text(text, size, "%s%zu of %zu %s", *text ? "; " : "", n, runs->count, kinds[k]);
    }
    return text;
}

bool plot_title_runs(FILE *script, bool panels, const char *what, const struct run_set *runs)
{
    static const struct {
        const char *key, *before, *after;
    } keys[] = {{"platform", "", ""}, {"workload", "", ""}, {"mem", "mem ", ""},
                {"pim", "pim ", ""},  {"bytes", "", ""},    {"oversubscription_pct", "footprint ", " % of memory"}};
    char text[128], line[400] = "", cut[160];
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (!same(runs, keys[k].key, text, sizeof text) || !*text || strchr(text, '='))
            continue;
        if (strncmp(text, "synth:", 6) == 0)
            memmove(text, text + 6, strlen(text + 6) + 1);
        const bool fits = k == 5 && strcmp(text, "0") == 0;
        (void)mem_add_text(line, sizeof line, "%s%s%s%s", *line ? ", " : "",
                           fits ? "memory sufficient" : keys[k].before, fits ? "" : text, fits ? "" : keys[k].after);
    }
    json_t *limits = json_array();
    const bool whole = run_set_note_limits(runs, limits) == 0 && json_array_size(limits) == 0;
    json_decref(limits);
    const bool ended = json_array_size(runs->unfinished) == 0;
    (void)mem_add_text(line, sizeof line, "%s%s%s%s", *line && !(whole && ended) ? "; " : "",
                       whole ? "" : "not whole inputs", whole || ended ? "" : ", ", ended ? "" : "unfinished sweep");
    put_title(script, panels, what, line, about_cut(runs, cut, sizeof cut));
    return *cut != 0;
}

static const char *terminal(const char *path, int width, int height, char *buf, size_t size)
{
    const char *dot = strrchr(path, '.');
    const double letter = (double)width / PLOT_LETTERS;
    if (dot && strcmp(dot, ".svg") == 0)
        (void)snprintf(buf, size,
                       "set terminal svg size %d,%d dynamic enhanced font 'sans,%.0f' background rgb 'white'\nletter = "
                       "%.0f\ndot = 0.5\n",
                       width, height, letter, letter);
    else if (dot && strcmp(dot, ".png") == 0)
        (void)snprintf(buf, size, "set terminal pngcairo size %d,%d enhanced font 'sans,%.1f'\nletter = %.1f\n", width,
                       height, letter * 0.75, letter * 0.75);
    else if (dot && strcmp(dot, ".pdf") == 0)
        (void)snprintf(buf, size, "set terminal pdfcairo size %.2fin,%.2fin enhanced font 'sans,%.1f'\nletter = %.1f\n",
                       width / 96.0, height / 96.0, letter * 0.75, letter * 0.75);
    else
        return NULL;
    return buf;
}

bool plot_can_draw(const char *path)
{
    char term[256];
    return terminal(path, 0, 0, term, sizeof term) != NULL;
}

/* All that comes through a pipe until its writers are gone, freed by the caller. */
static int read_all(int fd, char **bytes, size_t *size, struct err *err)
{
    char part[1 << 14];
    FILE *all = open_memstream(bytes, size);
    ssize_t n = 1;
    while (all && n > 0 && !ferror(all)) {
        n = read(fd, part, sizeof part);
        if (n > 0)
            (void)fwrite(part, 1, (size_t)n, all);
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    bool failed = !all || n < 0 || ferror(all);
    if (all && fclose(all))
        failed = true;
    return failed ? err_set(err, "cannot read what gnuplot draws: %s", strerror(errno)) : 0;
}

/* Of the environment gnuplot has only what finds programs and libraries, so that a figure is the same for everybody:
 * no terminal, fonts, paths or language of the user's. */
static void plain_environment(const char *env[], size_t size)
{
    static const char *const kept[] = {"PATH=", "LD_LIBRARY_PATH=", "TMPDIR="};
    size_t n = 0;
    env[n++] = "LC_ALL=C.UTF-8";
    env[n++] = "TZ=UTC0";
    for (char **e = environ; e && *e; e++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (strncmp(*e, kept[k], strlen(kept[k])) == 0 && n + 1 < size)
                env[n++] = *e;
    env[n] = NULL;
}

/* It draws to `to` and says what it has to say into `said`. A file named on its command line would need /proc. */
static pid_t start_gnuplot(FILE *script, int to, FILE *said)
{
    static char *const arguments[] = {(char *)"gnuplot", (char *)"-d", (char *)"-", NULL};
    const char *env[16];
    plain_environment(env, sizeof env / sizeof *env);
    rewind(script);
    const pid_t pid = fork();
    if (pid)
        return pid;
    (void)dup2(fileno(script), STDIN_FILENO);
    (void)dup2(to, STDOUT_FILENO);
    (void)dup2(fileno(said), STDERR_FILENO);
    (void)execvpe(arguments[0], arguments, (char *const *)env);
    _exit(127);
}

/* The first line of what gnuplot said, or ""; that a locale has no degree sign says nothing of the figure. */
static const char *first_words(FILE *said, char *text, size_t size)
{
    rewind(said);
    while (fgets(text, (int)size, said)) {
        text[strcspn(text, "\n")] = 0;
        const char *words = text + strspn(text, " \t");
        if (*words && !strstr(words, "degree sign"))
            return words;
    }
    return "";
}

/* Run gnuplot on a script; returns its drawing, freed by the caller, and its messages. */
static int run_gnuplot(FILE *script, FILE *said, char **bytes, size_t *size, struct err *err)
{
    int ends[2], status = 0;
    char words[300];
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    const pid_t pid = start_gnuplot(script, ends[1], said);
    int rc = pid < 0 ? err_set(err, "cannot start gnuplot: %s", strerror(errno)) : 0;
    (void)close(ends[1]);
    if (!rc)
        rc = read_all(ends[0], bytes, size, err);
    (void)close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, "cannot wait for gnuplot: %s", strerror(errno));
    if (!rc && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, "gnuplot is not installed (Debian package gnuplot-nox)");
    if (!rc && WIFSIGNALED(status))
        return err_set(err, "gnuplot was ended by signal %d", WTERMSIG(status));
    return !rc && status ? err_set(err, "gnuplot failed: %s", first_words(said, words, sizeof words)) : rc;
}

/* Whether a drawing begins and ends as its form does; gnuplot's exit status ignores failed writes. */
static bool is_whole(const char *name, const char *bytes, size_t n)
{
    static const struct {
        const char *ending, *begin, *end;
    } forms[] = {
        {".svg", "<?xml", "</svg>"}, {".png", "\x89PNG\r\n", "IEND\xae\x42\x60\x82"}, {".pdf", "%PDF-", "%%EOF"}};
    const char *dot = strrchr(name, '.');
    while (n && bytes[n - 1] == '\n')
        n--;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const size_t begin = strlen(forms[f].begin), end = strlen(forms[f].end);
        if (strcmp(dot, forms[f].ending) == 0)
            return n > begin + end && memcmp(bytes, forms[f].begin, begin) == 0 &&
                   memcmp(bytes + n - end, forms[f].end, end) == 0;
    }
    return false;
}

/* Set the time at which cairo says it made a PDF to 1970: the same command, the same bytes. */
static void forget_time(char *bytes, size_t n)
{
    static const char key[] = "/CreationDate (D:", time[] = "19700101000000";
    char *at = memmem(bytes, n, key, sizeof key - 1);
    if (at && (size_t)(bytes + n - at) >= sizeof key + sizeof time)
        memcpy(at + sizeof key - 1, time, sizeof time - 1);
}

/* `body`: the figure's part of the script. */
static int draw(const char *terminal_line, const char *body, size_t length, const struct figure_input *input,
                char **bytes, size_t *size, struct err *err)
{
    char words[300];
    FILE *script = output_aside(true, err), *said = script ? output_aside(true, err) : NULL;
    int rc = said ? 0 : -1;
    if (!rc) {
        (void)fputs(terminal_line, script);
        (void)fwrite(body, 1, length, script);
        (void)fputs("set output\n", script);
        rc = fflush(script) || ferror(script) ? err_set(err, "cannot write the figure's script: %s", strerror(errno))
                                              : run_gnuplot(script, said, bytes, size, err);
    }
    const char *warning = rc ? "" : first_words(said, words, sizeof words);
    if (*warning)
        (void)note(input->notes, "gnuplot says: %s", warning);
    if (said)
        (void)fclose(said);
    if (script)
        (void)fclose(script);
    return rc;
}

/* The figure's part of the script comes first, since it says how high the figure is. */
int plot_draw_bytes(const struct figure *figure, const struct figure_input *input, const char *name, char **bytes,
                    size_t *size, struct err *err)
{
    struct figure_size room = {(double)figure->width / PLOT_LETTERS, figure->height};
    struct figure_input own = *input;
    own.size = &room;
    char *body = NULL, term[256];
    size_t length = 0;
    *bytes = NULL;
    if (!plot_can_draw(name))
        return err_set(err, "'%s' should end in .svg, .png or .pdf", name);
    int rc = make_script(figure, &own, &body, &length, err);
    if (rc && !err_is_memory(err))
        rc = PLOT_NOTHING;
    if (!rc)
        rc = draw(terminal(name, figure->width, (int)room.height, term, sizeof term), body, length, input, bytes, size,
                  err);
    free(body);
    if (!rc && !is_whole(name, *bytes, *size))
        rc = err_set(err, "what gnuplot drew is cut off after %zu bytes", *size);
    if (!rc)
        forget_time(*bytes, *size);
    if (rc) {
        free(*bytes);
        *bytes = NULL;
    }
    return rc;
}

int plot_draw(const struct figure *figure, const struct figure_input *input, const char *path, bool replace,
              struct err *err)
{
    struct output output;
    char *bytes = NULL;
    size_t size = 0;
    if (output_open(&output, path, replace, err))
        return -1;
    int rc = plot_draw_bytes(figure, input, path, &bytes, &size, err) ? -1 : 0;
    if (!rc && (fwrite(bytes, 1, size, output.file) < size || fflush(output.file)))
        rc = err_set(err, "cannot write '%s': %s", path, strerror(errno));
    free(bytes);
    return output_close(&output, rc, err);
}
