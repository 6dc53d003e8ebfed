#include "replay/figure/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/results/note.h"
#include "trace/store/output.h"

const struct figure *figure_find(const char *name)
{
    for (size_t i = 0; figures[i]; i++)
        if (strcmp(figures[i]->name, name) == 0)
            return figures[i];
    return NULL;
}

/* Okabe and Ito's eight colours. */
static const char style[] = "set encoding utf8\n"
                            "set grid ytics linecolor rgb '#dddddd' linewidth 1\n"
                            "set border 3 linecolor rgb '#444444'\n"
                            "set tics nomirror\n"
                            "set key top left reverse Left samplen 1.5\n"
                            "set linetype 1 linecolor rgb '#0072B2' linewidth 2 pointtype 7\n"
                            "set linetype 2 linecolor rgb '#E69F00' linewidth 2 pointtype 5\n"
                            "set linetype 3 linecolor rgb '#009E73' linewidth 2 pointtype 9\n"
                            "set linetype 4 linecolor rgb '#D55E00' linewidth 2 pointtype 11\n"
                            "set linetype 5 linecolor rgb '#CC79A7' linewidth 2 pointtype 13\n"
                            "set linetype 6 linecolor rgb '#56B4E9' linewidth 2 pointtype 6\n"
                            "set linetype 7 linecolor rgb '#F0E442' linewidth 2 pointtype 4\n"
                            "set linetype 8 linecolor rgb '#000000' linewidth 2 pointtype 8\n"
                            "set linetype cycle 8\n";

/* Write a figure from the runs of its engine, each of which stands in its cell of the table. */
static int write_results(const struct figure *figure, const struct figure_input *input, FILE *out, struct err *err)
{
    struct run_set runs = {0};
    struct case_table cases = {0};
    int rc = run_set_add_engine(&runs, input->runs, figure->engine, err);
    if (!rc && !runs.count)
        rc = err_set(err, "the results hold no run of the %s engine", figure->engine);
    const size_t others = input->runs->count - runs.count;
    if (!rc && others)
        rc = note(input->notes, "%zu runs of other engines than %s are left out", others, figure->engine);
    if (!rc)
        rc = run_set_note_foreign(&runs, input->notes) || case_table_make(&cases, &runs, NULL, err) ? -1 : 0;
    struct figure_input own = {.path = input->path, .runs = &runs, .cases = &cases, .notes = input->notes};
    if (!rc)
        rc = figure->write(&own, out, err);
    case_table_release(&cases);
    run_set_release(&runs);
    return rc;
}

int plot_script(const struct figure *figure, const struct figure_input *input, FILE *out, struct err *err)
{
    (void)fprintf(out, "# offchip figure %s: %s\n", figure->name, figure->summary);
    (void)fputs(style, out);
    int rc = figure->engine && !input->store ? write_results(figure, input, out, err) : figure->write(input, out, err);
    return rc ? err_at(err, "figure %s", figure->name) : 0;
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
        (void)note(input->notes, "nothing bounds the %s of %zu of %zu runs", metric, open, input->runs->count);
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

static const char *terminal(const char *path, const struct figure *figure, char *buf, size_t size)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".svg") == 0)
        (void)snprintf(buf, size,
                       "set terminal svg size %d,%d dynamic enhanced font 'sans,13' background rgb 'white'\n",
                       figure->width, figure->height);
    else if (dot && strcmp(dot, ".png") == 0)
        (void)snprintf(buf, size, "set terminal pngcairo size %d,%d enhanced font 'sans,11'\n", figure->width,
                       figure->height);
    else if (dot && strcmp(dot, ".pdf") == 0)
        (void)snprintf(buf, size, "set terminal pdfcairo size %.2fin,%.2fin enhanced font 'sans,10'\n",
                       figure->width / 96.0, figure->height / 96.0);
    else
        return NULL;
    return buf;
}

bool plot_can_draw(const char *path)
{
    static const struct figure any = {.name = ""};
    char term[256];
    return terminal(path, &any, term, sizeof term) != NULL;
}

/* Run gnuplot on `script`: it draws into `to`; what it says on stderr goes to *err. */
static int run_gnuplot(FILE *script, FILE *to, struct err *err)
{
    int fds[2];
    if (pipe(fds))
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(fileno(script), STDIN_FILENO);
        (void)dup2(fileno(to), STDOUT_FILENO);
        (void)dup2(fds[1], STDERR_FILENO);
        (void)close(fds[0]);
        (void)execlp("gnuplot", "gnuplot", "/dev/stdin", (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    char said[300] = "";
    size_t n = 0;
    for (;;) {
        char rest[256];
        size_t room = sizeof said - 1 - n;
        ssize_t got = read(fds[0], room ? said + n : rest, room ? room : sizeof rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += room ? (size_t)got : 0;
    }
    said[n] = 0;
    (void)close(fds[0]);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return err_set(err, "cannot start gnuplot: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, "gnuplot is not installed (Debian package gnuplot-nox)");
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(err, "gnuplot failed: %s", said);
    return 0;
}

static int draw(const struct figure *figure, const struct figure_input *input, const char *term, FILE *script, FILE *to,
                struct err *err)
{
    (void)fputs(term, script);
    if (plot_script(figure, input, script, err))
        return -1;
    (void)fputs("\nset output\n", script);
    if (fflush(script) || ferror(script) || fflush(to))
        return err_set(err, "cannot write the figure's script: %s", strerror(errno));
    return run_gnuplot(script, to, err);
}

/* Set the time at which cairo says it made a PDF to 1970: the same command gives the same bytes. A pipe stays as it is.
 */
static int forget_time(FILE *file, struct err *err)
{
    static const char key[] = "/CreationDate (D:", time[] = "19700101000000";
    size_t matched = 0;
    int c;
    if (fseek(file, 0, SEEK_SET))
        return 0;
    while (matched < sizeof key - 1 && (c = fgetc(file)) != EOF)
        matched = c == key[matched] ? matched + 1 : c == key[0];
    bool bad = matched == sizeof key - 1 && (fseek(file, 0, SEEK_CUR) || fputs(time, file) < 0);
    bad |= fseek(file, 0, SEEK_END) != 0;
    return bad ? err_set(err, "cannot write the figure: %s", strerror(errno)) : 0;
}

int plot_draw_into(const struct figure *figure, const struct figure_input *input, const char *name, FILE *to,
                   struct err *err)
{
    char term[256];
    if (!terminal(name, figure, term, sizeof term))
        return err_set(err, "'%s' should end in .svg, .png or .pdf", name);
    FILE *script = tmpfile();
    if (!script)
        return err_set(err, "cannot make a temporary file: %s", strerror(errno));
    int rc = draw(figure, input, term, script, to, err);
    (void)fclose(script);
    if (!rc && strstr(term, "pdfcairo"))
        rc = forget_time(to, err);
    return rc;
}

int plot_draw(const struct figure *figure, const struct figure_input *input, const char *path, bool replace,
              struct err *err)
{
    struct output output;
    if (output_open(&output, path, replace, err))
        return -1;
    return output_close(&output, plot_draw_into(figure, input, path, output.file, err), err);
}
