/* cmd: the subcommands. To add one: write cmd/cmd_X.c with a `const struct command cmd_X`, declare it below, add it to
 * commands[] in main.c, write docs/man/offchip-X.1.scd and a case in fixtures/cli/. Only this folder prints or exits.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <jansson.h>

#include "cmd/console/opt.h"
#include "trace/base/json_tree.h"

struct graph;
struct graph_options;
struct policy_head;
struct run_diff;
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
    const char *details;  /* a paragraph or two, wrapped at 80 columns */
    const char *examples; /* at least two lines, each a real command */
    /* The option table; ends with a zeroed row. Values are stored where the rows point (static variables). */
    const struct opt *options;
    /* argc, argv: the operands left after options. Returns an exit status. */
    int (*run)(int argc, char **argv);
    bool raw; /* options end at the first operand: what follows is another program's (record CMD -x) */
};

extern const struct command *const commands[]; /* ends with NULL */

extern const struct command cmd_compare, cmd_merge, cmd_policy, cmd_sql;
extern const struct command cmd_sweep;
extern const struct command cmd_derive, cmd_diff;
extern const struct command cmd_synth;
extern const struct command cmd_graph;
extern const struct command cmd_record;
extern const struct command cmd_calibrate, cmd_completion, cmd_export, cmd_import, cmd_info, cmd_list, cmd_plot,
    cmd_replay, cmd_report, cmd_verify;

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
/* The usage error of an engine that does not exist. */
int cmd_no_engine(const char *name);
/* A sentence to stderr unless -q. */
void cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The texts of a JSON array, each as cmd_say() does. */
void cmd_say_notes(const json_t *notes);

/* What is said on stderr, last, should a signal end the command; a whole line. */
void cmd_on_signal_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Status, or that of an error if what was printed so far did not reach its destination: before a file is replaced. */
int cmd_printed(int status);

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

/* --- one client each --- */

/* With what this build was made, and with which libraries it runs (--version).
 * Name of fact `index`, from 0, NULL after the last; *value is valid until the next call. One thread at a time. */
const char *version_fact(size_t index, const char **value);

/* `offchip record --check`: what this machine has for recording, what is missing, and how to get it. program: what is
 * to be recorded, may be NULL. Returns an exit status: 0 if unified memory can be recorded. */
int cmd_record_check(const char *program);

/* Compile `source`, the C file of a policy, with the C compiler ($CC, else cc; $CFLAGS behind our own flags), load what
 * comes of it, and write it to `output`, which takes its name when it is whole. The compiler's messages go to stderr.
 * The loaded head; NULL with *err set. */
const struct policy_head *policy_build(const char *source, const char *output, bool replace, struct err *err);

/* --- diff_runs: in what runs differ, printed; and the operands that name them: FILE or FILE#N --- */

/* Whether an operand names runs: a results file or JSON, or one run of it. */
bool diff_runs_is(const char *operand);

/* FILE#N where there is no file of that name: FILE and N; else the operand and 0. Freed with free(); NULL: no memory.
 */
char *diff_runs_split(const char *operand, size_t *nth);

/* The documented object; NULL as json_tree.h says. operands, sets: of both. */
json_t *diff_runs_json(const struct run_diff *diff, const char *const operands[2], const struct run_set *sets);

void diff_runs_csv(const struct run_diff *diff);

/* Tables for people. Unless `all`, the numbers of a platform where they are many, and parts of runs, are left out:
 * *numbers and *parts get how many. */
void diff_runs_table(const struct run_diff *diff, const char *const operands[2], const struct run_set *sets, bool all,
                     size_t *numbers, size_t *parts);

/* --- graph_file: graphs on the command line; used by `graph` and `synth` --- */

/* Read `spec`: a graph file or prefix, or synth:WORKLOAD of a generator of graphs. from: a format's name, or NULL. */
int graph_file_read(const char *spec, const char *from, const struct graph_options *options, struct graph *graph,
                    struct err *err);

/* cmd_writes() of every file that graph_file_write() would make. */
int graph_file_writes(const char *path, const char *to, bool force);

/* Write to `path`, in the format named `to` or, if that is NULL, by the path's ending. An existing file is an error
 * unless force. */
int graph_file_write(const char *path, const char *to, bool force, const struct graph *graph, struct err *err);

#endif
