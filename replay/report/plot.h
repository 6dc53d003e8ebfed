/* plot: figures by gnuplot. A figure is one file in replay/report/ (figure_X.c) and one line in figures[]; it writes
 * gnuplot commands with its data inline, and nothing about terminals or output files: that is done here, for SVG, PNG
 * and PDF alike, and `--script` prints the same script for people to change. */
#pragma once

#include <stdio.h>

#include "replay/results/runs.h"
#include "trace/store/store.h"

/* What a figure is drawn from. */
enum figure_kind {
    FIGURE_RESULTS = 1, /* results files or JSON of `replay` */
    FIGURE_TRACE = 2,   /* one trace */
    FIGURE_WINDOW = 8,  /* and it can show a part of the time */
    FIGURE_SPEC = 4,    /* something else named on the command line: a graph, a task file, "platform" */
};

/* Of a figure while it is written. */
struct figure_size {
    double letter, height; /* pixels */
};

struct figure_input {
    const char *path;           /* the first file as given */
    const struct run_set *runs; /* FIGURE_RESULTS: all runs; a figure's write() is given those of its engine only */
    const char *metrics;        /* FIGURE_RESULTS: comma-separated; NULL: the figure's own */
    const char *over;           /* a key; NULL: the figure's own, or none */
    int aggregate;              /* over inputs: 0: not, else 1 + enum aggregate_how */
    struct store *store;        /* FIGURE_TRACE, opened read-only */
    const char *platform;       /* of task files; NULL: the engine's default */
    const json_t *json;         /* figure tornado: what robust_json() gives, instead of the file; may be NULL */
    bool window;                /* FIGURE_WINDOW: only what begins from from_ns on and before to_ns, */
    int64_t from_ns, to_ns;     /* counted from the trace's start; INT64_MAX: to the end */
    json_t *limits;             /* FIGURE_TRACE: of the trace (trace/derived/limits.h); of runs they are notes */
    json_t *notes;              /* sentences on what is not drawn are added; NULL: nobody listens */
    struct figure_size *size;   /* set for write() */
};

struct figure {
    const char *name;    /* "bars" */
    const char *summary; /* one line for `offchip list figures` */
    const char *needs;   /* what it is drawn from, for `offchip list figures` */
    const char *source;  /* which published figure it mirrors, or "ours" */
    int kinds;           /* enum figure_kind, or-ed */
    int width, height;   /* pixels at 96 dpi; letters are as large as the width: PLOT_LETTERS fill it */
    /* Write the script. Nothing to draw is an error that says what is missing. */
    int (*write)(const struct figure_input *input, FILE *script, struct err *err);
    const char *engine; /* FIGURE_RESULTS: runs of other engines are left out, which a note says; NULL: of others than
                           the first run's */
};

extern const struct figure *const figures[]; /* ends with NULL */
extern const struct figure figure_bars, figure_stacked, figure_shares, figure_box, figure_lines, figure_timeline,
    figure_tornado, figure_compare_times, figure_placement_overhead, figure_tlp_sizes, figure_tlp_latency,
    figure_miss_ratio;

const struct figure *figure_find(const char *name);

int figure_tasks_timeline(const struct figure_input *input, FILE *script, struct err *err);

/* The script: common style (grid, legend, margins; looks of series are chart.h's), then the figure's own. Nothing is
 * written of one that cannot be made whole. */
int plot_script(const struct figure *figure, const struct figure_input *input, FILE *out, struct err *err);

/* Whether the name of a file to draw into ends in .svg, .png or .pdf. */
bool plot_can_draw(const char *path);

/* Draw into `path` by its ending. The file is made whole or not at all; an existing one needs `replace`. */
int plot_draw(const struct figure *figure, const struct figure_input *input, const char *path, bool replace,
              struct err *err);

/* Draw into memory, in the form that the ending of `name` says; freed by the caller. PLOT_NOTHING: the figure has
 * nothing to draw of this, and *err says what is missing; -1: it could not be drawn. */
enum { PLOT_NOTHING = 1 };
int plot_draw_bytes(const struct figure *figure, const struct figure_input *input, const char *name, char **bytes,
                    size_t *size, struct err *err);

/* Note how many runs of those that a figure could show have not what it shows. */
void plot_note_missing(const struct figure_input *input, size_t runs, const char *what);
/* Note how many runs are drawn by an estimate of the metric. */
void plot_note_unbound(const struct figure_input *input, const char *metric);

/* What fits in one line of the whole width, and what letters and lines are wide and high. */
enum { PLOT_LETTERS = 44 };
#define PLOT_CHAR_WIDTH 0.6
#define PLOT_LINE       1.6

/* Begin the figure with its title, and below it, smaller, what all of it has in common ("": nothing) and that the input
 * is not whole. */
void plot_title(const struct figure_input *input, FILE *script, const char *what, const char *common);
/* The same with what all these runs have in common: platform, input, memory; panels: over several plots, which place
 * themselves (chart.h). Returns whether a third line says what was cut and warned of. */
bool plot_title_runs(FILE *script, bool panels, const char *what, const struct run_set *runs);

/* The label of a horizontal axis, in the middle of the figure; lines end in "\\n" as gnuplot reads it. */
void plot_xlabel(const struct figure_input *input, FILE *script, const char *label, size_t lines);

/* Tics of a horizontal axis, round numbers from lo to hi: evenly where the range is short, else 1, 2, 5. */
void plot_tics(FILE *script, double lo, double hi);

/* Let the figure be so many letters higher, within half and four times its table's height. Returns that in letters. */
double plot_taller(const struct figure_input *input, double letters);
/* Make room for a legend over the figure: so many entries, the longest of so many characters. */
void plot_legend(const struct figure_input *input, FILE *script, size_t entries, size_t longest);
double plot_legend_lines(size_t entries, size_t longest);

/* Write text as a gnuplot string in double quotes, with nothing in it active (no enhanced markup, no escapes). */
void plot_quote(FILE *script, const char *text);
