#include "replay/run/platform_use.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/base/platform.h"
#include "replay/run/engine.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

static const char head_begins[] = "platform ";

int platform_use_check(const struct platform *platform, const char *const *sections, struct err *err)
{
    for (size_t i = 0; sections[i]; i++)
        if (platform_whole(platform, sections[i], err))
            return -1;
    return 0;
}

static const struct platform_section *section_of(const char *name)
{
    size_t s = 0;
    while (platform_sections[s] && strcmp(platform_sections[s]->name, name) != 0)
        s++;
    return platform_sections[s];
}

static const struct param *table_of(const char *section)
{
    const struct platform_section *s = section_of(section);
    return s ? s->params : NULL;
}

void platform_use_count(const struct platform *platform, const char *const *sections, struct platform_use *use)
{
    *use = (struct platform_use){0};
    for (size_t i = 0; sections[i]; i++)
        for (const struct param *row = table_of(sections[i]); row && row->name; row++) {
            const struct platform_number *n = platform_number(platform, sections[i], row->name);
            use->numbers++;
            use->kinds[n->kind]++;
            use->given += n->given;
        }
}

const char *platform_use_head(const struct replay_result *result, char *buf, size_t size)
{
    struct platform_use use;
    char sections[128] = "", given[48] = "";
    const enum platform_choice_how how = result->choice.how;
    platform_use_count(result->platform, result->sections, &use);
    for (size_t i = 0; result->sections[i]; i++)
        (void)mem_add_text(sections, sizeof sections, " [%s]", result->sections[i]);
    if (use.given)
        (void)snprintf(given, sizeof given, ", %zu given by --set", use.given);
    (void)snprintf(buf, size, "%s%s (%s%s%s): %zu numbers of%s, %zu known, %zu assumed, %zu fitted, %zu borrowed%s",
                   head_begins, result->platform->name, result->platform->from,
                   how == PLATFORM_CHOICE_DEFAULT    ? ", default of "
                   : how == PLATFORM_CHOICE_RECORDED ? ", the recording's "
                                                     : "",
                   how == PLATFORM_CHOICE_DEFAULT    ? result->engine->name
                   : how == PLATFORM_CHOICE_RECORDED ? result->choice.gpu
                                                     : "",
                   use.numbers, sections, use.kinds[PLATFORM_SOURCED] - use.given, use.kinds[PLATFORM_ASSUMED],
                   use.kinds[PLATFORM_FITTED], use.kinds[PLATFORM_AS], given);
    return buf;
}

bool platform_use_is_head(const char *note)
{
    return strncmp(note, head_begins, sizeof head_begins - 1) == 0 && strstr(note, " borrowed");
}

/* ", with host another 0.33 to 3.5": of the number that is not borrowed with its section. "": it has no range. */
static const char *unlent_range(const struct platform *platform, const char *section, char *buf, size_t size)
{
    const char *key = section_of(section)->unlent;
    const struct platform_number *n = key ? platform_number(platform, section, key) : NULL;
    *buf = 0;
    if (n && n->low < n->high)
        (void)snprintf(buf, size, ", with %s another %.6g to %.6g", key, n->low, n->high);
    return buf;
}

void platform_use_note_borrowed(const struct platform *platform, const char *const *sections, struct outcome *run)
{
    char text[128];
    for (; *sections; sections++) {
        const struct platform_borrowed *b = platform_borrowed(platform, *sections);
        if (b)
            outcome_note(run, "[%s] is borrowed from %s; its times may be %.6g to %.6g times as long here%s: %s",
                         *sections, b->as, b->low, b->high, unlent_range(platform, *sections, text, sizeof text),
                         b->why);
    }
}

void platform_use_note(const struct replay_result *result, struct outcome *run)
{
    char head[1024];
    outcome_note(run, "%s", platform_use_head(result, head, sizeof head));
    platform_use_note_borrowed(result->platform, result->sections, run);
}

static json_t *borrowed_json(const struct replay_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; result->sections[i]; i++) {
        const struct platform_borrowed *b = platform_borrowed(result->platform, result->sections[i]);
        if (b)
            json_tree_add(&list, json_pack("{s:s,s:o,s:f,s:f,s:o}", "section", result->sections[i], "as",
                                           json_tree_text(b->as), "low", b->low, "high", b->high, "why",
                                           json_tree_text(b->why)));
    }
    return list;
}

json_t *platform_use_json(const struct replay_result *result)
{
    static const char *const chosen[] = {"given", "default", "recording"};
    struct platform_use use;
    json_t *sections = json_array();
    platform_use_count(result->platform, result->sections, &use);
    for (size_t i = 0; result->sections[i]; i++)
        json_tree_add(&sections, json_string(result->sections[i]));
    json_t *gpu = *result->choice.gpu ? json_tree_text(result->choice.gpu) : json_null();
    json_t *object =
        json_pack("{s:o,s:s,s:o,s:o,s:I}", "from", json_tree_text(result->platform->from), "chosen",
                  chosen[result->choice.how], "gpu", gpu, "sections", sections, "numbers", (json_int_t)use.numbers);
    for (int kind = 0; kind < PLATFORM_KINDS; kind++)
        json_tree_put(&object, platform_kind_name((enum platform_kind)kind), json_integer((json_int_t)use.kinds[kind]));
    json_tree_put(&object, "given", json_integer((json_int_t)use.given));
    json_tree_put(&object, "borrowed", borrowed_json(result));
    return object;
}

enum { GPUS_MAX = 64 };

/* Parts of product names and the compute capability of what is called so; the first that a name holds counts. Source:
 * NVIDIA, CUDA GPU compute capability (the table of products). */
static const struct {
    const char *part, *compute;
} families[] = {
    {"Ada", "8.9"},       {"Blackwell", "12.0"}, {"Quadro RTX", "7.5"}, {"GB200", "10.0"}, {"B200", "10.0"},
    {"B100", "10.0"},     {"RTX 50", "12.0"},    {"GB10", "12.1"},      {"GH200", "9.0"},  {"H100", "9.0"},
    {"H200", "9.0"},      {"H800", "9.0"},       {"H20", "9.0"},        {"RTX 40", "8.9"}, {"L40", "8.9"},
    {"L4", "8.9"},        {"Orin", "8.7"},       {"RTX 30", "8.6"},     {"RTX A", "8.6"},  {"A100", "8.0"},
    {"A800", "8.0"},      {"A30", "8.0"},        {"A40", "8.6"},        {"A10", "8.6"},    {"A16", "8.6"},
    {"A2", "8.6"},        {"T4", "7.5"},         {"RTX 20", "7.5"},     {"GTX 16", "7.5"}, {"TITAN RTX", "7.5"},
    {"Xavier", "7.2"},    {"V100", "7.0"},       {"TITAN V", "7.0"},    {"GV100", "7.0"},  {"Tegra X2", "6.2"},
    {"GTX TITAN", "5.2"}, {"GTX 10", "6.1"},     {"TITAN X", "6.1"},    {"P40", "6.1"},    {"P4", "6.1"},
    {"P6000", "6.1"},     {"P5000", "6.1"},      {"P100", "6.0"},       {"GP100", "6.0"},  {"GTX 9", "5.2"},
    {"M40", "5.2"},       {"M60", "5.2"}};

const char *platform_choice_compute(const char *gpu)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcasestr(gpu, families[i].part))
            return families[i].compute;
    return "";
}

/* How many letters a name begins with as one of the platform's GPUs does. */
static size_t alike(const struct platform *p, const char *gpu)
{
    size_t most = 0;
    for (const char *name = p->gpus; *name; name += strcspn(name, ",")) {
        name += strspn(name, " ,");
        size_t n = 0;
        while (gpu[n] && gpu[n] == name[n])
            n++;
        most = n > most ? n : most;
    }
    return most;
}

/* The shipped platform with unified memory whose GPUs are nearest in generation, then in name; false if the name tells
 * no generation. */
static bool nearest(const char *gpu, const char *compute, char *buf, size_t size)
{
    double wanted = strtod(*compute ? compute : platform_choice_compute(gpu), NULL), best = INFINITY;
    size_t most = 0;
    char name[64];
    for (size_t i = 0; wanted > 0 && platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        bool real = p && *p->gpus && *p->compute && !platform_none(p, "uvm");
        double off = real ? fabs(strtod(p->compute, NULL) - wanted) : INFINITY;
        size_t same = real ? alike(p, gpu) : 0;
        platform_free(p);
        if (off < best || (off == best && same > most)) {
            best = off;
            most = same;
            (void)snprintf(buf, size, "%s", name);
        }
    }
    return isfinite(best);
}

static bool find(const char *gpu, char *buf, size_t size)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, NULL);
        bool found = p && platform_is_of(p, gpu);
        platform_free(p);
        if (found) {
            (void)snprintf(buf, size, "%s", name);
            return true;
        }
    }
    return false;
}

/* The fact of GPU i, by either spelling; NULL: not told. */
static const char *fact(const struct store *store, int i, const char *what)
{
    char key[64];
    (void)snprintf(key, sizeof key, "gpu.%d.%s", i, what);
    const char *found = store_origin_get(store, key);
    (void)snprintf(key, sizeof key, "gpu.%s.%d", what, i);
    return found ? found : store_origin_get(store, key);
}

static int none_of(const struct store *store, const char *gpu, int which, struct err *err)
{
    const char *major = fact(store, which, "compute_major"), *minor = fact(store, which, "compute_minor");
    char compute[40] = "", name[64], near[120] = "";
    if (major && minor)
        (void)snprintf(compute, sizeof compute, "%.8s.%.8s", major, minor);
    if (nearest(gpu, compute, name, sizeof name))
        (void)snprintf(near, sizeof near, "; the nearest is %s", name);
    return err_set(
        err,
        "the recording is of '%.100s', which no platform describes: name one with --platform%s ('offchip list "
        "platforms')",
        gpu, near);
}

/* The name of the last GPU that is told of, and of another one if there is one; *which: the number of the first. */
static const char *gpus(const struct store *store, const char **other, int *which)
{
    const char *gpu = NULL;
    *other = NULL;
    for (int i = 0; i < GPUS_MAX; i++) {
        const char *name = fact(store, i, "name");
        if (!name)
            continue;
        if (!gpu)
            *which = i;
        else if (strcmp(gpu, name) != 0)
            *other = gpu;
        gpu = name;
    }
    return gpu;
}

const char *platform_choice_gpu(const struct store *store)
{
    const char *other;
    int which;
    const char *gpu = gpus(store, &other, &which);
    return other ? NULL : gpu;
}

int platform_choice_recorded(const struct store *store, struct platform_choice *choice, struct err *err)
{
    const char *other;
    int which;
    const char *gpu = gpus(store, &other, &which);
    if (!gpu)
        return 0;
    if (other)
        return err_set(err, "the recording is of a machine with '%.80s' and '%.80s': name a platform with --platform",
                       other, gpu);
    (void)snprintf(choice->gpu, sizeof choice->gpu, "%s", gpu);
    if (!find(gpu, choice->name, sizeof choice->name))
        return none_of(store, gpu, which, err);
    choice->how = PLATFORM_CHOICE_RECORDED;
    return 1;
}

void platform_choice_default(const char *name, struct platform_choice *choice)
{
    *choice = (struct platform_choice){.how = PLATFORM_CHOICE_DEFAULT};
    (void)snprintf(choice->name, sizeof choice->name, "%s", name);
}

json_t *platform_json_value(const struct param *row, const void *owner)
{
    char buf[256];
    if (row->type == PARAM_REAL)
        return json_real(param_real(row, owner));
    if (row->type == PARAM_CHOICE)
        return json_string(param_format(row, owner, buf, sizeof buf));
    if (row->type == PARAM_TEXT)
        return param_text(row, owner) ? json_tree_text(param_text(row, owner)) : json_null();
    return json_integer(param_int(row, owner));
}

json_t *platform_json_numbers(const struct platform *platform)
{
    json_t *numbers = json_object();
    for (size_t s = 0; platform_sections[s]; s++) {
        const struct platform_section *section = platform_sections[s];
        for (const struct param *p = section->params; p->name; p++) {
            char name[128];
            (void)snprintf(name, sizeof name, "%s.%s", section->name, p->name);
            json_tree_put(&numbers, name, platform_json_value(p, platform_section_get(platform, section->name)));
        }
    }
    return numbers;
}

/* An end of a range, in the form of its value. */
static json_t *end(const struct param *row, double value)
{
    char name[64];
    if (row->type == PARAM_TEXT)
        return json_null();
    if (row->type == PARAM_CHOICE)
        return json_string(param_choice(row, (int64_t)value, name, sizeof name));
    return row->type == PARAM_REAL ? json_real(value) : json_integer((json_int_t)value);
}

const char *platform_json_source(const struct platform *platform, const char *section, const struct platform_number *n,
                                 char *buf, size_t size)
{
    const struct platform_borrowed *b = platform_borrowed(platform, section);
    const char *source = n->source ? n->source : "";
    if (n->state == PLATFORM_GENERAL)
        (void)snprintf(buf, size, "general default: %s", source);
    else if (!n->as)
        (void)snprintf(buf, size, "%s", source);
    else if (b && n->borrowed && n->moves)
        (void)snprintf(buf, size, "%s, with [%s] times %.6g..%.6g (%s): %s", n->as, section, b->low, b->high, b->why,
                       source);
    else if (b && n->borrowed)
        (void)snprintf(buf, size, "%s, with [%s] (%s): %s", n->as, section, b->why, source);
    else
        (void)snprintf(buf, size, "%s: %s", n->as, source);
    return buf;
}

static json_t *number_json(const struct platform *platform, const char *section, const struct param *row)
{
    const struct platform_number *n = platform_number(platform, section, row->name);
    char source[1200];
    platform_json_source(platform, section, n, source, sizeof source);
    return json_pack("{s:o,s:s,s:s,s:o,s:o,s:o}", "value",
                     platform_json_value(row, platform_section_get(platform, section)), "unit", row->unit, "kind",
                     platform_kind_name(n->kind), "source", json_tree_text(source), "low", end(row, n->low), "high",
                     end(row, n->high));
}

static json_t *section_json(const struct platform *platform, const struct platform_section *section)
{
    json_t *numbers = json_object();
    for (const struct param *row = section->params; row->name; row++)
        if (platform_number(platform, section->name, row->name)->state != PLATFORM_UNSTATED)
            json_tree_put(&numbers, row->name, number_json(platform, section->name, row));
    return numbers;
}

json_t *platform_json_list(const struct platform *platform)
{
    json_t *sections = json_object();
    for (size_t s = 0; platform_sections[s]; s++)
        if (platform_has(platform, platform_sections[s]->name))
            json_tree_put(&sections, platform_sections[s]->name, section_json(platform, platform_sections[s]));
    return json_pack("{s:o,s:o,s:o}", "name", json_tree_text(platform->name), "summary",
                     json_tree_text(platform->summary), "sections", sections);
}
