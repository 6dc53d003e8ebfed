/* opt: option tables; parsed, range-checked, printed as help. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* Of OPT_JOIN, texts given again follow behind a comma; of OPT_LIST, in the list; a flag may be given again; all others
 * are refused then. */
enum opt_type { OPT_FLAG, OPT_TEXT, OPT_JOIN, OPT_INT, OPT_LIST, OPT_CHOICE };

/* Texts given by a repeatable option, in order. */
struct opt_list {
    const char **items;
    size_t count, cap;
};

struct opt {
    const char *name; /* long name without dashes */
    char letter;      /* short form, 0: none */
    enum opt_type type;
    const char *arg; /* placeholder in help: "FILE"; for OPT_CHOICE the names "table|csv|json" */
    void *value;     /* bool *, const char ** (text, joined), int64_t *, struct opt_list *, int * (position) */
    const char *help;
    int64_t lo, hi; /* OPT_INT, inclusive */
};

/* The title of the rows behind it, in help. */
#define OPT_GROUP(TITLE)                                                                                               \
    {                                                                                                                  \
        "", 0, OPT_FLAG, NULL, NULL, TITLE, 0, 0                                                                       \
    }

/* A row that is not of OPT_INT. */
#define OPT(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__, 0, 0                                                                                              \
    }

/* Options every command has: --help, -q, -v, --progress. */
extern const struct opt opt_common[];
extern bool opt_help, opt_quiet, opt_verbose;
extern int opt_progress; /* 0 auto, 1 always, 2 never */

/* Output format of the commands that have --format: 0 table, 1 csv, 2 json. */
enum opt_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };
#define OPT_FORMAT(VARIABLE)                                                                                           \
    OPT("format", 0, OPT_CHOICE, "table|csv|json", VARIABLE, "how results are printed (default table)")

#define OPT_ROBUST(VARIABLE)                                                                                           \
    {                                                                                                                  \
        "robust", 0, OPT_INT, "N", VARIABLE,                                                                           \
            "draw unknown platform numbers N times: in how many draws does each policy win, what flips", 1, 1000000    \
    }

/* The row of that long name, of n bytes, or with NULL of that letter, in the table or of every command; NULL: none. */
const struct opt *opt_find(const struct opt *table, const char *name, size_t n, char letter);

/* Parse argv[1..]; options and operands may be mixed, "--" ends options. Operands are moved to the front of argv;
 * returns their number, or -1 with *err set. With stop_at_operand the first operand ends the options. */
int opt_parse(const struct opt *table, int argc, char **argv, bool stop_at_operand, struct err *err);
