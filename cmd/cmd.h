/* cmd: the subcommands. To add one: write cmd/cmd_X.c with a `const struct command cmd_X`, declare it below, add it to
 * commands[] in main.c, write docs/man/offchip-X.1.scd and a case in fixtures/cli/. Only this folder prints or exits.
 */
#pragma once

#include <jansson.h>

#include "cmd/console/opt.h"
#include "trace/base/json_tree.h"

struct graph;
struct param;
struct policy_head;
struct run_set;

enum exit_status {
    EXIT_DONE = 0,
    EXIT_DATA = 1, /* data or run-time error */
    EXIT_USAGE = 2,
    EXIT_NOTHING = 3,    /* nothing of the requested kind */
    EXIT_INCOMPLETE = 4, /* incomplete input under --strict */
};

struct command {
    const char *name;
    const char *summary;  /* one line */
    const char *usage;    /* what follows "offchip NAME" */
    const char *details;  /* what to know before the options; the man page says more */
    const char *examples; /* the commonest uses, at most three lines, each a real command */
    /* The option table; ends with a zeroed row. Values are stored where the rows point (static variables). */
    const struct opt *options;
    /* argc, argv: the operands left after options. Returns an exit status. */
    int (*run)(int argc, char **argv);
    bool drops; /* it gives up what rights the program's file gives by itself (trace/base/privilege.h) */
    bool raw;   /* options end at the first operand: what follows is another program's (record CMD -x) */
};

extern const struct command *const commands[]; /* ends with NULL */

extern const struct command cmd_advise, cmd_calibrate, cmd_compare, cmd_completion, cmd_derive, cmd_diff, cmd_export,
    cmd_graph, cmd_import, cmd_info, cmd_list, cmd_merge, cmd_plot, cmd_policy, cmd_record, cmd_replay, cmd_report,
    cmd_sql, cmd_sweep, cmd_synth, cmd_verify;

/* "offchip: " and the message to stderr; returns `status`. */
int cmd_fail(enum exit_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A usage error of the running command, with a pointer to its --help. */
int cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print JSON, which is taken over, on standard output. A tree that is not whole (json_tree.h) is a failure. Returns an
 * exit status. */
int cmd_print_json(json_t *root);
/* Print the runs of a results file as `offchip report` does, in that format, with every metric or the engine's
 * headline. Returns an exit status. */
int cmd_report_print(const char *results, enum opt_format format, bool all);
/* The usage error of a name that is in no row of a list: what: "engine" of `offchip list engines`. */
int cmd_no_such(const char *what, const char *name);
/* Call `each` with every name of a list, of one owner or, with NULL, of all: ("policies", "uvm"). */
void cmd_list_names(const char *list, const char *of, void (*each)(void *ctx, const char *name), void *ctx);
/* A sentence to stderr unless -q. */
void cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* run_set_load(), and say what keeps the file from being whole. */
int cmd_load_runs(struct run_set *set, const char *path, struct err *err);
/* Say what keeps the inputs of n sets of runs from being whole, each sentence once. */
int cmd_say_limits(const struct run_set *sets, size_t n, struct err *err);
/* The texts of a JSON array, each as cmd_say() does. */
void cmd_say_notes(const json_t *notes);

/* The same of a sentence of trace/derived/limits.h; its listener. */
void cmd_say_limit(void *ctx, const char *sentence);

/* What is said on stderr, last, should a signal end the command; a whole line. */
void cmd_on_signal_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How many threads -j N, 0: not given, may be: all processors, or what can be made. */
int cmd_threads(int64_t jobs);

/* The command line as one string, for origins. */
const char *cmd_line(void);

/* --- files: what a command reads and writes, looked at before its work begins: first cmd_reads() of all that is read,
 * then cmd_writes() of each file that is written --- */

/* A word of the command line that names an input, or may: a path, a prefix as NAME.bel, "synth:W,key=FILE", "key=A|B",
 * the name of a platform. NULL is allowed. */
void cmd_reads(const char *word);
void cmd_reads_all(const char *const *words, size_t n);

/* EXIT_DONE if the file can be written, is none of those named before, and does not exist or may be replaced; otherwise
 * says what is wrong and returns the exit status. */
int cmd_writes(const char *path, bool replace);

/* The same for a results file that runs are added to: it is one, if it is there. */
int cmd_adds_to(const char *results);

/* A format's options: their defaults, then each KEY=VALUE of --set, whose texts they point into. Freed with free();
 * NULL with *err set; `before` stands before KEY=VALUE where the format has none (table NULL). */
void *cmd_format_options(const char *format, const struct param *table, size_t size, const struct opt_list *sets,
                         const char *before, struct err *err);

/* --- one client each --- */

/* With what this build was made, and with which libraries it runs (--version).
 * Name of fact `index`, from 0, NULL after the last; *value is valid until the next call. One thread at a time. */
const char *version_fact(size_t index, const char **value);

/* Compile the policy in the C file `source` with $CC (else cc; $CFLAGS come after our own flags), load it, and move it
 * to `output`. Compiler messages go to stderr. Returns the loaded head, or NULL with *err set. */
const struct policy_head *policy_build(const char *source, const char *output, bool replace, struct err *err);

/* cmd_writes() of every file of a graph, in the format that the path's ending names (or `graph --to`). */
int cmd_graph_writes(const char *path, bool replace);
/* Write it in that format. An existing file is an error unless `replace`. */
int cmd_graph_write(const char *path, bool replace, const struct graph *graph, struct err *err);
