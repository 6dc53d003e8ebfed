#include "models/own/own_check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "models/own/own_check_parts.h"

static const struct own_exam *const exams[OWN_INTERFACES] = {
    [OWN_UVM_PREFETCH] = &own_exam_prefetch,    [OWN_UVM_EVICT] = &own_exam_evict,
    [OWN_DRAM_SCHEDULER] = &own_exam_scheduler, [OWN_ZEROCOPY_PATTERN] = &own_exam_pattern,
    [OWN_PLACEMENT] = &own_exam_placement,
};

int own_answer(struct own_trial *t, const char *hook, const void *bytes, size_t count, struct err *err)
{
    struct own_answers *a = &t->answers;
    if (mem_grow((void **)&a->items, &a->cap, a->count + 1, sizeof *a->items, err))
        return -1;
    const struct own_answer answer = {hook, XXH3_64bits(bytes, count)};
    const struct own_answers *e = t->expected;
    if (e && !t->differs && (a->count >= e->count || e->items[a->count].answer != answer.answer))
        t->differs = hook;
    a->items[a->count++] = answer;
    return 0;
}

int own_answer_number(struct own_trial *t, const char *hook, int64_t number, struct err *err)
{
    return own_answer(t, hook, &number, sizeof number, err);
}

int own_broken(const struct own_trial *t, const char *hook, struct err *err, const char *format, ...)
{
    char what[300];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return err_set(err, "policy %s: %s() %s", t->policy->name, hook, what);
}

void own_note_state(struct own_trial *t)
{
    memcpy(t->before, t->state, t->policy->state_size);
}

int own_same_state(const struct own_trial *t, const char *hook, struct err *err)
{
    return memcmp(t->before, t->state, t->policy->state_size) == 0
               ? 0
               : own_broken(t, hook, err, "changes its state, which it is given to read only");
}

/* --- trials --- */

static void trial_close(struct own_trial *t, const struct own_exam *exam)
{
    if (t->scene)
        exam->close(t);
    free(t->scene);
    free(t->state);
    free(t->before);
    free(t->answers.items);
}

static int trial_open(struct own_trial *t, const struct own_exam *exam, uint64_t seed, struct err *err)
{
    const size_t size = t->policy->state_size;
    t->random = (struct random){seed};
    t->state = mem_zalloc(1, size, err);
    t->before = mem_zalloc(1, size, err);
    t->scene = mem_zalloc(1, exam->scene_size, err);
    if (!t->state || !t->before || !t->scene)
        return -1;
    memcpy(t->state, t->params, size);
    return exam->open(t, err);
}

/* One run; with `beside`, a second of another seed whose steps fall between its own. */
static int trial_run(struct own_trial *t, const struct own_exam *exam, struct own_trial *beside, struct err *err)
{
    int rc = trial_open(t, exam, 1, err);
    if (rc == 0 && beside)
        rc = trial_open(beside, exam, 2, err);
    for (int i = 0; i < exam->steps && rc == 0; i++) {
        rc = exam->step(t, err);
        if (rc == 0 && beside)
            rc = exam->step(beside, err);
    }
    return rc;
}

/* The first run's answers against those of the second and third. */
static int three_runs(const struct own_trial *blank, const struct own_exam *exam, struct err *err)
{
    struct own_trial first = *blank, again = *blank, third = *blank, beside = *blank;
    int rc = trial_run(&first, exam, NULL, err);
    again.expected = third.expected = &first.answers;
    if (rc == 0)
        rc = trial_run(&again, exam, NULL, err);
    if (rc == 0 && again.differs)
        rc = own_broken(&again, again.differs, err,
                        "gives two answers to the same inputs: it must not look at a clock, a file, a random source or "
                        "memory outside its state");
    if (rc == 0)
        rc = trial_run(&third, exam, &beside, err);
    if (rc == 0 && third.differs)
        rc = own_broken(
            &third, third.differs, err,
            "answers otherwise while a second run goes on beside it: runs share memory outside their states");
    trial_close(&first, exam);
    trial_close(&again, exam);
    trial_close(&third, exam);
    trial_close(&beside, exam);
    return rc;
}

int own_check_policy(enum own_interface interface, const struct policy_head *policy, const struct dram_hooks *hooks,
                     const void *params, struct err *err)
{
    const struct own_exam *exam = exams[interface];
    const struct own_trial blank = {.policy = policy, .hooks = hooks, .params = params};
    if (three_runs(&blank, exam, err))
        return -1;
    if (!exam->after)
        return 0;
    struct own_trial t = blank;
    int rc = trial_open(&t, exam, 3, err);
    if (rc == 0)
        rc = exam->after(&t, err);
    trial_close(&t, exam);
    return rc;
}

/* --- of loaded ones, once --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t params_hash(const struct policy_head *head, const void *params)
{
    uint64_t hash = 0;
    for (const struct param *p = head->params; p && p->name; p++) {
        char text[256];
        (void)param_format(p, params, text, sizeof text);
        hash = XXH3_64bits_withSeed(text, strlen(text), hash + 1);
    }
    return hash;
}

/* The content that a list asks for by so=HASH. */
static int check_content(const struct own_loaded *loaded, const void *params, struct err *err)
{
    const char *asked = param_text(param_find(loaded->head->params, OWN_ROW), params);
    if (asked && strcmp(asked, loaded->hash) == 0)
        return 0;
    return err_set(err, "policy %s: " OWN_ROW "=%.40s is asked for, but the content of '%.200s' is %s",
                   loaded->head->name, asked ? asked : "", loaded->path, loaded->hash);
}

int own_check(const struct policy_head *head, const void *params, struct err *err)
{
    struct own_loaded *loaded = (struct own_loaded *)(uintptr_t)own_of(head);
    if (!loaded)
        return 0;
    if (check_content(loaded, params, err))
        return -1;
    const uint64_t hash = params_hash(head, params);
    (void)pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < loaded->passed_count && loaded->passed[i] != hash)
        i++;
    int rc = 0;
    if (i == loaded->passed_count) {
        rc = own_check_policy((enum own_interface)loaded->own->interface, head, loaded->own->hooks, params, err);
        if (rc == 0 &&
            mem_grow((void **)&loaded->passed, &loaded->passed_cap, i + 1, sizeof *loaded->passed, NULL) == 0)
            loaded->passed[loaded->passed_count++] = hash;
    }
    (void)pthread_mutex_unlock(&lock);
    return rc ? err_at(err, "'%.200s'", loaded->path) : 0;
}
