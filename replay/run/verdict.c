#include "replay/run/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"

enum { NAMED = 3 }; /* of those that are tied, beside the one to use */

void verdict_take(const struct verdict *verdict, struct verdict_answer *answer, const struct metric_value *value,
                  double error)
{
    answer->error = error;
    answer->open = !value->known && !value->interval && value->lower_bound && !verdict->more_is_better;
    if (value->interval && (error > 0 || !value->known))
        answer->value = robust_between(value->lo, value->hi);
    else if (value->known || value->interval || answer->open)
        answer->value = robust_point(value->known      ? value->real
                                     : value->interval ? (value->lo + value->hi) / 2
                                                       : value->lo);
    else
        answer->value.state = ROBUST_REFUSED;
    answer->open |= error > 0 && value->unbound;
    char *dots = strstr(metric_text(verdict->metric, value, answer->text, sizeof answer->text), " .. ");
    if (dots)
        memcpy(dots, " to ", 4);
}

void verdict_leave_out(struct verdict_answer *answer)
{
    answer->left_out = true;
    answer->open = false;
    answer->value.state = ROBUST_REFUSED;
}

bool verdict_part_note(const char *note)
{
    return note && strncmp(note, VERDICT_PART, sizeof VERDICT_PART - 1) == 0;
}

bool verdict_wins(const struct verdict *verdict, const struct verdict_answer *answers, size_t n,
                  const struct verdict_answer *answer)
{
    bool wins = answer->value.state == ROBUST_STANDS;
    for (size_t i = 0; i < n && wins; i++)
        wins = answers[i].open || !robust_beats(&answers[i].value, &answer->value,
                                                fmax(answers[i].error, answer->error), verdict->more_is_better);
    return wins;
}

double verdict_margin(const struct verdict *verdict, const struct verdict_answer *a, const struct verdict_answer *b)
{
    return verdict->more_is_better ? a->value.lo / b->value.hi
                                   : b->value.lo / (a->value.hi - fmin(a->value.common, b->value.common));
}

/* The nearest of the others to the best, closed: of those that are no estimate; n: none stands. */
static size_t next_of(const struct verdict *verdict, const struct verdict_answer *answers, size_t n, size_t best,
                      bool closed)
{
    size_t next = n;
    for (size_t i = 0; i < n; i++)
        if (i != best && answers[i].value.state == ROBUST_STANDS && !(closed && answers[i].open) &&
            (next == n || verdict_margin(verdict, &answers[best], &answers[i]) <
                              verdict_margin(verdict, &answers[best], &answers[next])))
            next = i;
    return next;
}

const char *verdict_sure(bool measured, bool unlike)
{
    return !measured ? "; the model's error was never measured"
           : unlike  ? ", more than tree's measured error"
                     : ", more than the models' errors";
}

/* Whether draws say how sure the pick is. */
static bool is_drawn(const struct verdict *v)
{
    return v->draws && v->pick < v->draws->answers;
}

/* Its ends lie over those of another one, which it beats all the same. */
static const char *say_common(const struct verdict_answer *a, const struct verdict_answer *b)
{
    return a->value.hi > b->value.lo && b->value.hi > a->value.lo ? " with the same kernels" : "";
}

/* "copy: 645 us; zerocopy takes 3.41 times as long (2.20 ms)", or of what is to be large "f3fs: fairness_index 0.953,
 * 1.94 times that of fcfs (0.492)". */
static void say_margin(struct verdict *v, const char *label, const struct verdict_answer *a,
                       const struct verdict_answer *b)
{
    const bool time = strcmp(label, "time") == 0;
    char margin[64];
    const double times = verdict_margin(v, a, b);
    (void)snprintf(margin, sizeof margin, "%s%.*f times",
                   a->value.lo < a->value.hi || b->value.lo < b->value.hi || *b->text == '>' ? "at least " : "",
                   times < 10    ? 2
                   : times < 100 ? 1
                                 : 0,
                   times);
    (void)mem_add_text(v->say, sizeof v->say, "%s %s", a->error > 0 ? "Use" : "Best is", a->name);
    if (*a->text)
        (void)mem_add_text(v->say, sizeof v->say, ": %s%s%s", time ? "" : label, time ? "" : " ", a->text);
    if (v->more_is_better)
        (void)mem_add_text(v->say, sizeof v->say, ", %s that of %s", margin, b->name);
    else
        (void)mem_add_text(v->say, sizeof v->say, "; %s %s %s as %s", b->name, time ? "takes" : "has", margin,
                           time ? "long" : "much");
    (void)mem_add_text(v->say, sizeof v->say, "%s%s%s%s%s", *b->text ? " (" : "", b->text, *b->text ? ")" : "",
                       say_common(a, b), verdict_sure(a->error > 0, a->unlike || b->unlike));
    if (is_drawn(v) && robust_holds(v->draws, v->pick))
        (void)mem_add_text(v->say, sizeof v->say, "; it wins in %u of %u draws", v->draws->wins[v->pick],
                           v->draws->draws);
    (void)mem_add_text(v->say, sizeof v->say, ".");
}

/* Where the draws turn it round that comes first. */
static void say_not_robust(struct verdict *v, const struct verdict_answer *pick)
{
    char flips[1024], say[sizeof v->say];
    if (!is_drawn(v) || robust_holds(v->draws, v->pick))
        return;
    (void)robust_say_flips(v->draws, v->pick, flips, sizeof flips);
    const size_t first = strcspn(flips, ";");
    memcpy(say, v->say, sizeof say);
    (void)snprintf(v->say, sizeof v->say, "Not robust: %s wins in %u of %u draws%s%.*s%s. ", pick->name,
                   v->draws->wins[v->pick], v->draws->draws, *flips ? ", not when " : "", (int)first, flips,
                   flips[first] ? " and others" : "");
    (void)mem_add_text(v->say, sizeof v->say, "%s", say);
}

/* "a 242 to 331 us, b 317 us and others": those that win and are open, or are not, but `pick`; at most so many. Returns
 * how many there are. */
static size_t list_winners(struct verdict *v, const struct verdict_answer *answers, size_t n, bool open, size_t pick,
                           size_t most)
{
    size_t count = 0, said = 0;
    for (size_t i = 0; i < n; i++)
        count += i != pick && answers[i].wins && answers[i].open == open;
    const size_t named = count <= most ? count : most > 1 ? most - 1 : 1;
    for (size_t i = 0; i < n && said < named; i++)
        if (i != pick && answers[i].wins && answers[i].open == open) {
            (void)mem_add_text(v->say, sizeof v->say, "%s%s%s%s",
                               said == 0           ? ""
                               : said + 1 == count ? " and "
                                                   : ", ",
                               answers[i].name, *answers[i].text ? " " : "", answers[i].text);
            said++;
        }
    if (count > named)
        (void)mem_add_text(v->say, sizeof v->say, " and %s", count > named + 1 ? "others" : "another");
    return count;
}

/* "Use c, the simplest: 332 us; a 331 us and b 317 us are the same within the models' errors." */
static void say_tied(struct verdict *v, const char *label, const struct verdict_answer *answers, size_t n)
{
    const struct verdict_answer *pick = &answers[v->pick];
    const bool time = strcmp(label, "time") == 0;
    (void)snprintf(v->say, sizeof v->say, "Use %s, the simplest%s%s%s%s; ", pick->name, *pick->text ? ": " : "",
                   *pick->text && !time ? label : "", *pick->text && !time ? " " : "", pick->text);
    const size_t others = list_winners(v, answers, n, false, v->pick, NAMED);
    (void)mem_add_text(v->say, sizeof v->say, " %s the same%s.", others > 1 ? "are" : "is",
                       v->measured ? " within the models' errors" : "");
}

/* Nobody has measured, and their ends meet. */
static void say_meeting(struct verdict *v, const struct verdict_answer *answers, size_t n)
{
    (void)snprintf(v->say, sizeof v->say, "No answer: the bounds of ");
    list_winners(v, answers, n, false, n, NAMED);
    (void)mem_add_text(v->say, sizeof v->say, " meet.");
}

/* Open ones may be better than the `closed` of the winners, whose values stand. */
static void say_open(struct verdict *v, const struct verdict_answer *answers, size_t n, size_t closed)
{
    (void)snprintf(v->say, sizeof v->say, "%s to decide: %s", v->decides ? v->decides : "Record the program's touches",
                   closed ? "" : "only estimates (~) or bounds (>) are known, ");
    list_winners(v, answers, n, false, n, 2);
    if (v->next < n) {
        const struct verdict_answer *next = &answers[v->next];
        const char *common = say_common(&answers[v->pick], next);
        (void)mem_add_text(v->say, sizeof v->say, " %s %s%s%s%s%s", *common ? "takes less than" : "beats", next->name,
                           *next->text ? " (" : "", next->text, *next->text ? ")" : "", common);
    }
    (void)mem_add_text(v->say, sizeof v->say, "%s", closed ? "; " : "");
    list_winners(v, answers, n, true, n, closed ? 1 : NAMED);
    (void)mem_add_text(v->say, sizeof v->say, "%s.",
                       !closed             ? ""
                       : v->more_is_better ? " may have more"
                                           : " may take less");
}

void verdict_make(struct verdict *v, struct verdict_answer *answers, size_t n)
{
    size_t winners = 0, closed = 0;
    bool open = false, others = false, ends = false;
    char label[80];
    (void)metric_label(v->metric->name, label, sizeof label);
    v->pick = n;
    v->measured = false;
    *v->say = 0;
    for (size_t i = 0; i < n; i++) {
        answers[i].wins = verdict_wins(v, answers, n, &answers[i]);
        winners += answers[i].wins;
        others |= answers[i].left_out;
        ends |= answers[i].wins && answers[i].value.lo < answers[i].value.hi;
        closed += answers[i].wins && !answers[i].open;
        open |= answers[i].wins && answers[i].open;
        v->measured |= answers[i].wins && answers[i].error > 0;
        if (answers[i].wins &&
            (v->pick == n || answers[i].open < answers[v->pick].open ||
             (answers[i].open == answers[v->pick].open && answers[i].simple < answers[v->pick].simple)))
            v->pick = i;
    }
    v->tied = winners > 1 || open;
    const bool meet = winners > 1 && !open && !v->measured && ends;
    v->next = closed == 1 || !v->tied ? next_of(v, answers, n, v->pick, open) : n;
    if (winners == 0)
        (void)snprintf(v->say, sizeof v->say, "No answer: nothing here has a %s.", label);
    else if (!v->tied && v->next == n && others)
        (void)snprintf(v->say, sizeof v->say, "Nothing to compare %s with%s%s: no other's time is of the whole work.",
                       answers[v->pick].name, *answers[v->pick].text ? ", " : "", answers[v->pick].text);
    else if (!v->tied && v->next == n)
        (void)snprintf(v->say, sizeof v->say, "Only %s has a %s%s%s: there is nothing to compare it with.",
                       answers[v->pick].name, label, *answers[v->pick].text ? ", " : "", answers[v->pick].text);
    else if (!v->tied)
        say_margin(v, label, &answers[v->pick], &answers[v->next]);
    else if (open)
        say_open(v, answers, n, closed);
    else if (meet)
        say_meeting(v, answers, n);
    else
        say_tied(v, label, answers, n);
    v->pick = open || meet ? n : v->pick;
    say_not_robust(v, &answers[v->pick]);
}
