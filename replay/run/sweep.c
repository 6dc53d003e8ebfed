#include "replay/run/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "replay/run/engine.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/units.h"
#include "trace/base/version.h"

enum { AXIS_VALUES_MAX = 100000 };

static int add_value(struct sweep_axis *axis, const char *text, size_t n, struct err *err)
{
    if (n == 0)
        return err_set(err, "--grid %s: an empty value", axis->key);
    if (axis->count >= AXIS_VALUES_MAX)
        return err_set(err, "--grid %s: more than %d values", axis->key, AXIS_VALUES_MAX);
    char *value = mem_strndup(text, n, err);
    if (value && MEM_ADD(axis->values, axis->count, axis->cap, err, value) == 0)
        return 0;
    free(value);
    return -1;
}

/* A number, plain or in bytes. */
static int number(const char *text, size_t n, double *value)
{
    char buf[64];
    (void)snprintf(buf, sizeof buf, "%.*s", (int)(n < sizeof buf ? n : sizeof buf - 1), text);
    if (units_parse_real(buf, value, NULL) == 0)
        return 0;
    int64_t bytes;
    if (units_parse_bytes(buf, &bytes, NULL))
        return -1;
    *value = (double)bytes;
    return 0;
}

static int add_range(struct sweep_axis *axis, const char *text, struct err *err)
{
    double lo, hi, step;
    const char *c1 = strchr(text, ':'), *c2 = strchr(c1 + 1, ':');
    const char *end = text + strlen(text);
    if (!c2)
        return err_set(err, "--grid %s=%.60s has no step; expected lo:hi:step or lo:hi:xFACTOR", axis->key, text);
    bool factor = c2[1] == 'x';
    if (number(text, (size_t)(c1 - text), &lo) || number(c1 + 1, (size_t)(c2 - c1 - 1), &hi) ||
        number(c2 + 1 + factor, (size_t)(end - c2 - 1 - factor), &step) || (factor ? step <= 1 : step <= 0) ||
        lo > hi || (factor && lo <= 0))
        return err_set(err, "--grid %s=%.60s is not lo:hi:step or lo:hi:xFACTOR with lo <= hi", axis->key, text);
    for (size_t i = 0; i <= AXIS_VALUES_MAX; i++) {
        double v = lo + (double)i * step;
        if (factor) {
            v = lo;
            for (size_t k = 0; k < i; k++)
                v *= step;
        }
        if (v > hi * (1 + 1e-12))
            break;
        char buf[64];
        (void)snprintf(buf, sizeof buf, "%.15g", v);
        if (add_value(axis, buf, strlen(buf), err))
            return -1;
    }
    return 0;
}

int sweep_add_axis(struct sweep *sweep, const char *text, struct err *err)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text || !eq[1])
        return err_set(err, "--grid '%.60s' is not key=lo:hi:step or key=a|b|c", text);
    if (mem_grow((void **)&sweep->axes, &sweep->axis_cap, sweep->axis_count + 1, sizeof *sweep->axes, err))
        return -1;
    struct sweep_axis *axis = &sweep->axes[sweep->axis_count];
    memset(axis, 0, sizeof *axis);
    axis->key = mem_strndup(text, (size_t)(eq - text), err);
    if (!axis->key)
        return -1;
    sweep->axis_count++;
    if (!strchr(eq + 1, '|') && strchr(eq + 1, ':'))
        return add_range(axis, eq + 1, err);
    if (strstr(eq + 1, "..") && strspn(eq + 1, "0123456789"))
        return err_set(err, "--grid %.60s has no step; expected lo:hi:step, lo:hi:xFACTOR or a|b|c", text);
    for (const char *p = eq + 1;; p++) {
        size_t n = strcspn(p, "|");
        if (add_value(axis, p, n, err))
            return -1;
        p += n;
        if (!*p)
            return 0;
    }
}

void sweep_release(struct sweep *sweep)
{
    for (size_t a = 0; a < sweep->axis_count; a++) {
        mem_free_texts(sweep->axes[a].values, sweep->axes[a].count);
        free(sweep->axes[a].key);
    }
    free(sweep->axes);
    sweep->axes = NULL;
    sweep->axis_count = sweep->axis_cap = 0;
}

size_t sweep_inputs(const struct sweep *s)
{
    size_t pairs = s->pim_count && s->mem_count ? s->mem_count * s->pim_count
                   : s->mem_count > 1           ? s->mem_count * (s->mem_count - 1) / 2
                                                : s->mem_count + s->pim_count;
    return s->input_count + pairs;
}

size_t sweep_jobs(const struct sweep *sweep, struct err *err)
{
    size_t jobs = sweep_inputs(sweep);
    if (!jobs)
        err_set(err, "a sweep needs at least one input");
    for (size_t a = 0; a < sweep->axis_count && jobs; a++)
        if (__builtin_mul_overflow(jobs, sweep->axes[a].count, &jobs) || jobs > SIZE_MAX / 2) {
            err_set(err, "the sweep has too many points");
            return 0;
        }
    return jobs;
}

static int pick_inputs(struct sweep_job *job, const struct sweep *s, size_t set, struct err *err)
{
    const char *specs[2] = {NULL, NULL};
    const char *roles[2] = {"", ""};
    if (set < s->input_count) {
        specs[0] = s->inputs[set];
    } else {
        set -= s->input_count;
        roles[0] = s->mem_count ? "mem" : "pim";
        if (s->mem_count && s->pim_count) {
            specs[0] = s->mems[set / s->pim_count];
            specs[1] = s->pims[set % s->pim_count];
            roles[1] = "pim";
        } else if (s->mem_count > 1) {
            size_t a = 0;
            while (set >= s->mem_count - 1 - a) {
                set -= s->mem_count - 1 - a;
                a++;
            }
            specs[0] = s->mems[a];
            specs[1] = s->mems[a + 1 + set];
            roles[1] = "mem";
        } else {
            specs[0] = s->mem_count ? s->mems[set] : s->pims[set];
        }
    }
    for (size_t i = 0; i < 2 && specs[i]; i++) {
        job->specs[i] = mem_strdup(specs[i], err);
        job->roles[i] = roles[i];
        job->spec_count++;
        if (!job->specs[i])
            return -1;
    }
    return 0;
}

/* --- where a grid value goes --- */

/* A text that was made for the job's sets; NULL: there was no memory. */
static int add_set(struct sweep_job *job, char *text, struct err *err)
{
    if (text && MEM_ADD(job->sets, job->set_count, job->set_cap, err, text) == 0)
        return 0;
    free(text);
    return err_set(err, "out of memory");
}

/* Whether the first n characters of a key are a name. */
static bool is_called(const char *name, const char *key, size_t n)
{
    return strlen(name) == n && strncmp(name, key, n) == 0;
}

/* The key in a policy of "POLICY.PARAMETER", which names a half of it or "evict"; NULL: it has no such half. */
static const char *key_in(const struct replay_policy *p, const char *key, char *buf, size_t size)
{
    size_t n = strcspn(key, ".");
    if (is_called(p->head->name, key, n))
        return key + n + 1;
    if (!p->second || !(is_called(p->second->name, key, n) || is_called(p->second_key, key, n)))
        return NULL;
    (void)snprintf(buf, size, "%s%s", p->second_key, key + n);
    return buf;
}

/* policy.parameter: set it in every policy of that name. */
static int set_policy(struct sweep_job *job, const struct engine *engine, const char *key, const char *value,
                      bool *taken, struct err *err)
{
    if (!strchr(key, '.'))
        return 0;
    struct policy_list list = {0};
    int rc = policy_list_add(&list, engine, job->policy_list, err);
    char *text = NULL;
    for (size_t i = 0; i < list.count && !rc; i++) {
        const struct replay_policy *p = &list.policies[i];
        char buf[128];
        const char *name = key_in(p, key, buf, sizeof buf);
        if (name) {
            *taken = true;
            if (replay_policy_set(p, name, value, err))
                rc = err_at(err, "--grid %.60s", key);
        }
        char label[512];
        replay_policy_label(p, label, sizeof label);
        if (!rc && mem_append(&text, "%s%s", i ? "," : "", label))
            rc = err_set(err, "out of memory");
    }
    if (!rc && *taken) {
        free(job->policy_list);
        job->policy_list = text;
        text = NULL;
    }
    free(text);
    policy_list_release(&list);
    return rc;
}

/* A key of a workload: appended to the specs whose workload knows it. */
static int set_workload(struct sweep_job *job, const char *key, const char *value, bool *taken, struct err *err)
{
    for (size_t i = 0; i < job->spec_count; i++) {
        if (strncmp(job->specs[i], "synth:", 6) != 0)
            continue;
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(job->specs[i] + 6, ","), job->specs[i] + 6);
        const struct workload_type *type = workload_find(name);
        if (!type || !param_find(type->params, key))
            continue;
        *taken = true;
        if (mem_append(&job->specs[i], ",%s=%s", key, value))
            return err_set(err, "out of memory");
    }
    return 0;
}

/* Whether the key is POLICY.PARAMETER of a policy of the engine; set_policy() has not found it in the list. */
static bool unlisted_policy(const struct engine *engine, const char *key)
{
    const struct policy_head *const *const lists[] = {engine->policies, engine->second};
    size_t n = strcspn(key, ".");
    bool known = engine->second && is_called(engine->second_key, key, n);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && lists[l][i]; i++)
            known |= is_called(lists[l][i]->name, key, n);
    return known && key[n];
}

static int apply(struct sweep_job *job, const struct sweep *sweep, const char *key, const char *value, struct err *err)
{
    bool taken = false;
    if (param_find(sweep->engine->settings, key))
        return add_set(job, mem_format("%s=%s", key, value), err);
    if (strcmp(key, "platform") == 0) {
        free(job->platform);
        job->platform = mem_strdup(value, err);
        return job->platform ? 0 : -1;
    }
    if (set_policy(job, sweep->engine, key, value, &taken, err) ||
        (!taken && set_workload(job, key, value, &taken, err)))
        return -1;
    if (taken)
        return 0;
    return unlisted_policy(sweep->engine, key) ? err_set(err, "--grid %.60s: no policy %.*s is in the list '%.100s'",
                                                         key, (int)strcspn(key, "."), key, job->policy_list)
                                               : add_set(job, mem_format("%s=%s", key, value), err);
}

int sweep_job_init(struct sweep_job *job, const struct sweep *sweep, size_t index, struct err *err)
{
    memset(job, 0, sizeof *job);
    size_t sets = sweep_inputs(sweep);
    job->policy_list = mem_strdup(sweep->policy_list ? sweep->policy_list : sweep->engine->default_policies, err);
    int rc = job->policy_list ? pick_inputs(job, sweep, index % sets, err) : -1;
    if (!rc && sweep->platform)
        rc = (job->platform = mem_strdup(sweep->platform, err)) ? 0 : -1;
    for (size_t i = 0; i < sweep->set_count && !rc; i++)
        rc = add_set(job, mem_strdup(sweep->sets[i], err), err);
    index /= sets;
    for (size_t a = 0; a < sweep->axis_count && !rc; a++) {
        const struct sweep_axis *axis = &sweep->axes[a];
        rc = apply(job, sweep, axis->key, axis->values[index % axis->count], err);
        index /= axis->count;
    }
    if (rc)
        sweep_job_release(job);
    return rc;
}

void sweep_job_release(struct sweep_job *job)
{
    free(job->specs[0]);
    free(job->specs[1]);
    free(job->policy_list);
    free(job->platform);
    mem_free_texts(job->sets, job->set_count);
    memset(job, 0, sizeof *job);
}

static void hash_texts(XXH3_state_t *state, const char *const *texts, size_t n)
{
    (void)XXH3_128bits_update(state, &n, sizeof n);
    for (size_t i = 0; i < n; i++)
        (void)XXH3_128bits_update(state, texts[i] ? texts[i] : "", (texts[i] ? strlen(texts[i]) : 0) + 1);
}

void sweep_id(const struct sweep *sweep, const char *part, char id[33])
{
    const char *const words[] = {sweep->engine->name, sweep->policy_list, sweep->baseline, sweep->platform, part,
                                 offchip_version};
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    (void)XXH3_128bits_reset(&state);
    hash_texts(&state, words, sizeof words / sizeof *words);
    if (sweep->draws)
        (void)XXH3_128bits_update(&state, &sweep->draws, sizeof sweep->draws);
    hash_texts(&state, sweep->inputs, sweep->input_count);
    hash_texts(&state, sweep->mems, sweep->mem_count);
    hash_texts(&state, sweep->pims, sweep->pim_count);
    hash_texts(&state, sweep->sets, sweep->set_count);
    for (size_t a = 0; a < sweep->axis_count; a++) {
        hash_texts(&state, (const char *const *)&sweep->axes[a].key, 1);
        hash_texts(&state, (const char *const *)sweep->axes[a].values, sweep->axes[a].count);
    }
    XXH128_hash_t value = XXH3_128bits_digest(&state);
    (void)snprintf(id, 33, "%016llx%016llx", (unsigned long long)value.high64, (unsigned long long)value.low64);
}
