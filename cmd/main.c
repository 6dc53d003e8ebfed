/* main: the command table, --help, --version, exit status; the only main() of the program. */
#include <omp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "replay/results/results.h"
#include "replay/results/runs.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/privilege.h"
#include "trace/base/suggest.h"
#include "trace/base/thread_pool.h"
#include "trace/base/version.h"
#include "trace/graph/graph.h"
#include "trace/store/output.h"

/* In the order of `offchip --help`. */
const struct command *const commands[] = {
    &cmd_record, &cmd_advise, &cmd_synth, &cmd_import, &cmd_info,       &cmd_verify, &cmd_derive, &cmd_compare,
    &cmd_replay, &cmd_sweep,  &cmd_merge, &cmd_report, &cmd_diff,       &cmd_plot,   &cmd_graph,  &cmd_calibrate,
    &cmd_sql,    &cmd_export, &cmd_list,  &cmd_policy, &cmd_completion, NULL,
};

static const struct command *running;
static char line[4096];

/* "offchip: ", the message and a line end to stderr; behind what was printed, where both go to one file. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list ap)
{
    (void)fflush(stdout);
    (void)fputs("offchip: ", stderr);
    printable_vprint(stderr, format, ap);
    (void)fputc('\n', stderr);
}

int cmd_fail(enum exit_status status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
    return status;
}

int cmd_usage(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
    (void)fprintf(stderr, "Try 'offchip %s --help'.\n", running ? running->name : "");
    return EXIT_USAGE;
}

void cmd_say(const char *format, ...)
{
    if (opt_quiet)
        return;
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
}

void cmd_say_limit(void *ctx, const char *sentence)
{
    (void)ctx;
    cmd_say("%s", sentence);
}

void cmd_say_notes(const json_t *notes)
{
    size_t i;
    json_t *sentence;
    json_array_foreach(notes, i, sentence) cmd_say("%s", json_string_value(sentence));
}

int cmd_load_runs(struct run_set *set, const char *path, struct err *err)
{
    const size_t before = json_array_size(set->unfinished);
    int rc = run_set_load(set, path, err);
    for (size_t i = before; i < json_array_size(set->unfinished); i++)
        cmd_say("%s", json_string_value(json_array_get(set->unfinished, i)));
    return rc;
}

int cmd_say_limits(const struct run_set *sets, size_t n, struct err *err)
{
    json_t *said = json_array();
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        rc |= run_set_note_limits(&sets[i], said);
    cmd_say_notes(said);
    json_decref(said);
    return rc ? err_set(err, "out of memory") : 0;
}

const char *cmd_line(void)
{
    return line;
}

/* --- files --- */

struct names {
    char **items;
    size_t count, cap;
};

static struct names inputs, outputs;

static void add(struct names *names, const char *text, size_t n)
{
    char *copy = n ? mem_strndup(text, n, NULL) : NULL;
    if (copy && MEM_ADD(names->items, names->count, names->cap, NULL, copy))
        free(copy);
}

/* Note a word as an input: all of it, and the values behind '=' or between '|'. */
void cmd_reads(const char *word)
{
    if (!word)
        return;
    if (strncmp(word, "synth:", 6) != 0)
        add(&inputs, word, strlen(word));
    for (const char *p = strpbrk(word, "=|"); p; p = strpbrk(p, "=|")) {
        size_t n = strcspn(++p, ",|");
        add(&inputs, p, n);
    }
}

void cmd_reads_all(const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cmd_reads(words[i]);
}

static int is_file(void *output, const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) && output_same(file, output);
}

/* Whether the output is the input, or a file of the graph that the input names. */
static bool is_output(const char *input, const char *output)
{
    if (is_file((char *)output, input))
        return true;
    for (size_t f = 0; graph_formats[f]; f++)
        if (graph_format_files(graph_formats[f], input, is_file, (char *)output))
            return true;
    return false;
}

int cmd_writes(const char *path, bool replace)
{
    struct stat st;
    struct err err = {""};
    bool file = stat(path, &st) ? true : S_ISREG(st.st_mode);
    if (strcmp(path, "-") == 0)
        return cmd_usage("'-': this goes to a file, not to standard output: name one ('./-' is one called -)");
    for (size_t i = 0; i < inputs.count && file; i++)
        if (is_output(inputs.items[i], path))
            return cmd_usage("the output '%s' is the input '%s'", path, inputs.items[i]);
    for (size_t i = 0; i < outputs.count && file; i++)
        if (output_same(outputs.items[i], path))
            return cmd_usage("the outputs '%s' and '%s' are one file", outputs.items[i], path);
    add(&outputs, path, strlen(path));
    output_reserve(path);
    if (file && !replace && stat(path, &st) == 0)
        return cmd_usage("'%s' exists; --force overwrites it", path);
    return output_try(path, replace, &err) ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

int cmd_adds_to(const char *path)
{
    struct err err = {""};
    int status = cmd_writes(path, true);
    if (status || access(path, F_OK))
        return status;
    struct results *results = results_open(path, RESULTS_APPEND, &err);
    results_close(results);
    return results ? EXIT_DONE : cmd_fail(EXIT_DATA, "%s", err.msg);
}

void *cmd_format_options(const char *format, const struct param *table, size_t size, const struct opt_list *sets,
                         const char *before, struct err *err)
{
    void *values = mem_zalloc(1, size, err);
    int rc = values ? 0 : -1;
    if (values)
        param_defaults(table, values);
    for (size_t i = 0; i < sets->count && !rc; i++) {
        const char *item = sets->items[i], *eq = strchr(item, '=');
        char name[64];
        const int n = snprintf(name, sizeof name, "%.*s", eq ? (int)(eq - item) : 0, item);
        if (n == 0 || n >= (int)sizeof name)
            rc = err_set(err, "--set %s: expected KEY=VALUE", item);
        else
            rc = table ? param_set(table, values, name, eq + 1, err)
                       : err_set(err, "%s%s: format %s has no options", before, item, format);
    }
    if (!rc)
        return values;
    free(values);
    return NULL;
}

/* --- threads --- */

/* OpenMP ends the program where it gets fewer threads than it asks for, by default as many as processors. */
int cmd_threads(int64_t jobs)
{
    return thread_pool_limit(jobs ? (int)jobs : omp_get_num_procs());
}

/* --- signals --- */

static pid_t self;
/* What is said then; NULL where there is nothing to say. */
static const char *_Atomic parting;

/* A text is written beside the one that a signal may be saying. */
void cmd_on_signal_say(const char *format, ...)
{
    static char texts[2][512];
    char *text = texts[atomic_load(&parting) == texts[0]];
    va_list ap;
    va_start(ap, format);
    atomic_store(&parting, vsnprintf(text, sizeof texts[0], format, ap) > 0 ? text : NULL);
    va_end(ap);
}

/* Remove unfinished output, then die by the signal. A child between fork and exec only dies. */
static void on_signal(int number)
{
    bool ours = getpid() == self;
    if (ours && !output_abandon(number))
        return;
    const char *last = ours ? atomic_load(&parting) : NULL;
    const ssize_t sent = last ? write(STDERR_FILENO, last, strlen(last)) : 0;
    (void)sent;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* Leave signals ignored that were ignored from the start, as under nohup. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    self = getpid();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, action = {.sa_handler = on_signal};
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &action, NULL);
    }
    /* A file over the size limit is an error like a full disk, not the end of the program. */
    (void)signal(SIGXFSZ, SIG_IGN);
}

static void keep_line(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        (void)mem_add_text(line, sizeof line, "%s%s", i ? " " : "", i ? argv[i] : "offchip");
}

enum { HELP_AT = 37, HELP_WIDTH = 100 };

/* Lines of at most HELP_WIDTH, which begin in column `at`. */
static void print_words(FILE *to, const char *text, int at)
{
    const size_t most = (size_t)(HELP_WIDTH - at);
    while (strlen(text) > most) {
        size_t end = most;
        while (text[end] != ' ')
            end--;
        (void)fprintf(to, "%.*s\n%*s", (int)end, text, at, "");
        text += end + 1;
    }
    (void)fprintf(to, "%s\n", text);
}

static void print_options(FILE *to, const struct opt *table)
{
    for (const struct opt *o = table; o && o->name; o++) {
        char left[80];
        if (o == table && *o->name)
            (void)fprintf(to, "\nOptions%s:\n", o == opt_common ? " of every command" : "");
        if (!*o->name) {
            (void)fprintf(to, "\n%s:\n", o->help);
            continue;
        }
        int n = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "    --%s", o->name);
        if (o->type != OPT_FLAG)
            (void)snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
        (void)fprintf(to, "  %-34s ", left);
        if (strlen(left) + 3 > HELP_AT)
            (void)fprintf(to, "\n%*s", HELP_AT, "");
        print_words(to, o->help, HELP_AT);
    }
}

static void print_help(const struct command *c)
{
    printf("offchip %s - %s\n\nExamples:\n%s\n\nUsage: offchip %s %s\n", c->name, c->summary, c->examples, c->name,
           c->usage);
    (void)putchar('\n');
    print_words(stdout, c->details, 0);
    print_options(stdout, c->options);
    printf("\nAlso -h, -q, -v and --progress: 'offchip --help'. In full: man offchip-%s\n", c->name);
}

static int overview(FILE *to)
{
    (void)fprintf(to, "offchip records the traffic that leaves a GPU chip and replays it offline under other policies\n"
                      "and platforms.\n\nUsage: offchip COMMAND [OPTIONS]\n\nCommands:\n");
    for (size_t i = 0; commands[i]; i++)
        (void)fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    print_options(to, opt_common);
    (void)fprintf(to, "\n'offchip help NAME' explains a command, metric, setting, policy, program, format, figure or\n"
                      "number; docs/glossary.md the terms; 'offchip --version' says what this is.\n");
    return to == stdout ? EXIT_DONE : EXIT_USAGE;
}

static int run(const struct command *c, int argc, char **argv)
{
    running = c;
    struct err err = {""};
    if (!c->drops && privilege_drop(&err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int operands = opt_parse(c->options, argc, argv, c->raw, &err);
    if (operands < 0)
        return cmd_usage("%s", err.msg);
    if (opt_help) {
        print_help(c);
        return EXIT_DONE;
    }
    omp_set_num_threads(thread_pool_limit(omp_get_max_threads())); /* where the command says nothing else */
    return c->run(operands, argv);
}

int cmd_print_json(json_t *root)
{
    struct err err = {""};
    if (json_tree_check(root, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    (void)putchar('\n');
    json_decref(root);
    return rc && !ferror(stdout) ? cmd_fail(EXIT_DATA, "cannot write JSON: out of memory") : EXIT_DONE;
}

/* Results that did not reach their destination (disk full, closed pipe, no memory) are a failure. */
static int printed(int status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == EXIT_DONE)
        return cmd_fail(EXIT_DATA, "cannot write the results to standard output");
    if (printable_failed() && status == EXIT_DONE)
        return cmd_fail(EXIT_DATA, "cannot print the results: out of memory");
    return status;
}

/* Whether the first word is one of those. */
static bool is(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int main(int argc, char **argv)
{
    keep_line(argc, argv);
    catch_signals();
    if (argc < 2)
        return overview(stderr);
    const char *name = argv[1];
    const bool help = is(name, "help", "--help", "-h");
    if (help && argc == 2)
        return printed(overview(stdout));
    if (is(name, "version", "--version", "-V")) {
        const char *value;
        printf("offchip %s\n", offchip_version);
        for (size_t i = 0; (name = version_fact(i, &value)); i++)
            printf("  %-16s %s\n", name, value);
        return printed(EXIT_DONE);
    }
    char hint[SUGGEST_HINT];
    struct suggest suggest = {.word = help ? argv[2] : name};
    for (size_t i = 0; commands[i]; i++) {
        suggest_offer(&suggest, commands[i]->name);
        if (strcmp(commands[i]->name, suggest.word) != 0)
            continue;
        if (!help)
            return printed(run(commands[i], argc - 1, argv + 1));
        print_help(commands[i]);
        return printed(EXIT_DONE);
    }
    if (help && !suggest.distance) { /* what the lists say of that name */
        char *list[] = {"list", argv[2], NULL};
        return printed(run(&cmd_list, 2, list));
    }
    return cmd_fail(EXIT_USAGE, "'%s' is not a command; see 'offchip --help'%s", suggest.word,
                    suggest_hint(&suggest, hint, sizeof hint));
}
