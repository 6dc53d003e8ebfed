#include "replay/run/platform_use.h"

#include <stdio.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/json_tree.h"
#include "trace/base/param.h"

static const char head_begins[] = "platform ";

int platform_use_check(const struct platform *platform, const char *const *sections, struct err *err)
{
    for (size_t i = 0; sections[i]; i++)
        if (platform_whole(platform, sections[i], err))
            return -1;
    return 0;
}

static const struct param *table_of(const char *section)
{
    for (size_t s = 0; platform_sections[s]; s++)
        if (strcmp(platform_sections[s]->name, section) == 0)
            return platform_sections[s]->params;
    return NULL;
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

static const char *chosen_by(const struct replay_result *result, char *buf, size_t size)
{
    if (result->choice.how == PLATFORM_CHOICE_DEFAULT)
        (void)snprintf(buf, size, ", default of %s", result->engine->name);
    else if (result->choice.how == PLATFORM_CHOICE_RECORDED)
        (void)snprintf(buf, size, ", the recording's %s", result->choice.gpu);
    else
        buf[0] = 0;
    return buf;
}

const char *platform_use_head(const struct replay_result *result, char *buf, size_t size)
{
    struct platform_use use;
    char chosen[300], sections[128] = "", given[48] = "";
    platform_use_count(result->platform, result->sections, &use);
    for (size_t i = 0, used = 0; result->sections[i] && used < sizeof sections; i++)
        used += (size_t)snprintf(sections + used, sizeof sections - used, " [%s]", result->sections[i]);
    if (use.given)
        (void)snprintf(given, sizeof given, ", %zu given by --set", use.given);
    (void)snprintf(buf, size, "%s%s (%s%s): %zu numbers of%s, %zu known, %zu assumed, %zu fitted, %zu borrowed%s",
                   head_begins, result->platform->name, result->platform->from,
                   chosen_by(result, chosen, sizeof chosen), use.numbers, sections,
                   use.kinds[PLATFORM_SOURCED] - use.given, use.kinds[PLATFORM_ASSUMED], use.kinds[PLATFORM_FITTED],
                   use.kinds[PLATFORM_AS], given);
    return buf;
}

bool platform_use_is_head(const char *note)
{
    return strncmp(note, head_begins, sizeof head_begins - 1) == 0 && strstr(note, " borrowed");
}

void platform_use_note(const struct replay_result *result, struct outcome *run)
{
    char head[1024];
    outcome_note(run, "%s", platform_use_head(result, head, sizeof head));
    for (size_t i = 0; result->sections[i]; i++) {
        const struct platform_borrowed *b = platform_borrowed(result->platform, result->sections[i]);
        if (b)
            outcome_note(run, "[%s] is borrowed from %s; its times may be %.6g to %.6g times as long here: %s",
                         result->sections[i], b->as, b->low, b->high, b->why);
    }
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
