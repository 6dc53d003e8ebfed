#include "models/base/platform.h"

#include <stdbool.h>
#include <string.h>

#include "trace/base/ini.h"

static const char white[] = " \t";
static const char *const kinds[PLATFORM_KINDS] = {"sourced", "assumed", "fitted", "as"};
static const char *const forms[PLATFORM_KINDS] = {"VALUE | where it comes from", "VALUE | assumed LOW..HIGH: why",
                                                  "VALUE | fitted LOW..HIGH: to what",
                                                  "VALUE | as NAME LOW..HIGH: why"};

const char *platform_kind_name(enum platform_kind kind)
{
    return kinds[kind];
}

/* Cut the text at the first character of `stops`: the part before it is returned, *text stands behind it; NULL if there
 * is no such character. */
static char *cut(char **text, const char *stops)
{
    char *start = *text, *stop = strpbrk(start, stops);
    if (!stop)
        return NULL;
    *stop = 0;
    *text = stop + 1;
    return ini_trim(start, white);
}

/* "LOW..HIGH" to two texts; without `range` there is none. False: it is something else. */
static bool cut_range(char *range, struct platform_form *form)
{
    char *dots = strstr(range, "..");
    if (!*range)
        return true;
    if (!dots || strpbrk(range, white))
        return false;
    *dots = 0;
    form->low = range;
    form->high = dots + 2;
    return *form->low && *form->high;
}

/* The kind that the first word names; *rest stands behind the word. */
static enum platform_kind first_word(char *text, char **rest)
{
    size_t n = strcspn(text, " \t:,;");
    for (int kind = PLATFORM_ASSUMED; kind < PLATFORM_KINDS; kind++)
        if (strlen(kinds[kind]) == n && memcmp(text, kinds[kind], n) == 0) {
            *rest = text + n;
            return (enum platform_kind)kind;
        }
    *rest = text;
    return PLATFORM_SOURCED;
}

/* "NAME LOW..HIGH" or "LOW..HIGH", before the colon. */
static bool cut_claim(char *claim, struct platform_form *form)
{
    if (form->kind == PLATFORM_AS) {
        size_t n = strcspn(claim, white);
        form->as = claim;
        claim += n;
        if (n == 0)
            return false;
        if (*claim)
            *claim++ = 0;
    }
    return cut_range(ini_trim(claim, white), form);
}

static int split(char *text, const char *key, struct platform_form *form, char **rest, struct err *err)
{
    *form = (struct platform_form){.kind = PLATFORM_SOURCED};
    form->value = cut(&text, "|");
    if (!form->value)
        return err_set(err, "%.60s has no source; expected '%.60s = %s'", key, key, forms[PLATFORM_SOURCED]);
    *rest = ini_trim(text, white);
    if (!**rest)
        return err_set(err, "%.60s has an empty source after '|'", key);
    return 0;
}

int platform_form_cut(char *text, const char *key, struct platform_form *form, struct err *err)
{
    char *rest;
    if (split(text, key, form, &rest, err))
        return -1;
    form->kind = first_word(rest, &rest);
    form->why = rest;
    if (form->kind == PLATFORM_SOURCED)
        return 0;
    char *claim = cut(&rest, ":");
    form->why = ini_trim(rest, white);
    if (claim && cut_claim(claim, form) && *form->why)
        return 0;
    return err_set(err, "%.60s: what stands after '|' begins with '%s'; expected '%.60s = %s'", key, kinds[form->kind],
                   key, forms[form->kind]);
}

int platform_form_cut_section(char *text, struct platform_form *form, struct err *err)
{
    char *rest;
    if (split(text, "as", form, &rest, err))
        return -1;
    form->kind = PLATFORM_AS;
    form->as = form->value;
    form->why = rest;
    if (strcmp(form->as, "none") == 0)
        return 0;
    char *range = cut(&rest, ":");
    form->why = ini_trim(rest, white);
    if (*form->as && range && cut_range(range, form) && form->low && *form->why)
        return 0;
    return err_set(err, "expected 'as = NAME | LOW..HIGH: why', LOW..HIGH a factor of NAME's times, or 'as = none | "
                        "why'");
}
