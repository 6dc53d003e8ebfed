/* cmd: the subcommands. To add one: write cmd/cmd_X.c with a `const struct command cmd_X`, declare it below, add it to
 * commands[] in main.c, write docs/man/offchip-X.1.scd and a case in fixtures/cli/. Only this folder prints or exits.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <jansson.h>

#include "cmd/console/opt.h"
#include "cmd/files.h"
#include "trace/base/json_tree.h"

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

#endif
