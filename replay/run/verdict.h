/* verdict: the sentence that a comparison begins with: what to use, by how much it wins and how sure that is.
 *
 * What nothing beats (robust_beats()) wins. Of several the simplest is to be used; where one of them is an estimate, or
 * has only a bound, the sentence says what decides. Worked example, errors of 6 %: "Use copy, the simplest: 317 us;
 * zerocopy 242 to 331 us is the same within the models' errors."; and of 645 us beside 2.2 ms: "Use copy: 645 us;
 * zerocopy takes 3.41 times as long (2.20 ms), more than the models' errors." Where draws or a single number turn it
 * round it begins "Not robust: copy wins in 9 of 16 draws." */
#pragma once

#include "replay/run/robust.h"

struct verdict_answer {
    const char *name;
    char text[80]; /* its value as tables have it; "": it is not to be said */
    struct robust_value value;
    double error;    /* measured, a ratio; 0: nobody has measured */
    bool unlike;     /* measured of the driver's own policy, and not of this one */
    bool open;       /* it may be better than its value: an estimate, or what is more than a bound */
    bool left_out;   /* by verdict_leave_out(): it neither wins nor beats anything */
    bool wins;       /* nothing beats it; what is open beats nothing */
    unsigned simple; /* its place in the order of simplicity, the least first */
};

struct verdict {
    const struct metric *metric;
    bool more_is_better;
    const struct robust *draws; /* of the first of the answers, its own are; NULL: nothing was drawn */
    const char *decides;        /* what to do about what is open; NULL: record the program's touches */
    size_t pick;                /* the winner, the simplest of several; n: there is none */
    size_t next;                /* the nearest of the others to it; n: none stands, or several win */
    bool tied;                  /* several win, or an open one does */
    bool measured;              /* the error of one that wins is known */
    char say[1024];
};

/* The value to be judged by, and its text. Without a measured error
 * the value counts, and its ends where there is none. */
void verdict_take(const struct verdict *verdict, struct verdict_answer *answer, const struct metric_value *value,
                  double error);
/* What is no answer to the question: a bound that nobody can reach, or part of the work. */
void verdict_leave_out(struct verdict_answer *answer);
/* Whether a note says that its run's time is not that of the whole work. */
bool verdict_part_note(const char *note);
#define VERDICT_PART "time of the transfer alone"
/* Whether nothing of the n answers beats it. */
bool verdict_wins(const struct verdict *verdict, const struct verdict_answer *answers, size_t n,
                  const struct verdict_answer *answer);
/* Fill `wins` of the answers, and all behind `decides`. */
void verdict_make(struct verdict *verdict, struct verdict_answer *answers, size_t n);

/* How a sentence ends that says what is best: what its lead was measured against. */
const char *verdict_sure(bool measured, bool unlike);

/* How much better a is than b at least, a ratio: their ends that are nearest to each other. */
double verdict_margin(const struct verdict *verdict, const struct verdict_answer *a, const struct verdict_answer *b);
