#include "cmd/completion/complete.h"

#include <string.h>

#include "replay/figure/plot.h"
#include "replay/run/engine.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"
#include "trace/workloads/workload.h"

enum { OPERANDS_MOST = 64 };

/* One question. */
struct asked {
    FILE *to;
    const struct complete_command *commands, *command; /* NULL: none is known yet */
    const char *operands[OPERANDS_MOST];
    size_t operand_count;
    const struct engine *engine; /* the first operand, or the only engine there can be; NULL: none */
    const char *word;            /* the whole word at the cursor */
    const char *value;           /* in it, behind "--option=" */
    const char *tail;            /* in it, what is being completed */
    size_t offered;
    char last; /* character of what was offered last */
};

/* --- offers --- */

static void offer(struct asked *a, const char *name, size_t n, const char *end)
{
    const size_t typed = strlen(a->tail), whole = n + strlen(end);
    char text[256];
    if (whole >= sizeof text)
        return;
    (void)snprintf(text, sizeof text, "%.*s%s", (int)n, name, end);
    if (typed > whole || memcmp(text, a->tail, typed) != 0)
        return;
    (void)fprintf(a->to, "%.*s%s\n", (int)(a->tail - a->word), a->word, text);
    a->offered++;
    a->last = text[whole - 1];
}

static void offer_name(struct asked *a, const char *name)
{
    offer(a, name, strlen(name), "");
}

/* "a|b|c". */
static void offer_choices(struct asked *a, const char *names)
{
    for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|')
        offer(a, p, strcspn(p, "|"), "");
}

static void offer_rows(struct asked *a, const struct param *table, const char *end)
{
    for (const struct param *p = table; p && p->name; p++)
        offer(a, p->name, strlen(p->name), end);
}

static void offer_policies(struct asked *a, const struct policy_head *const *policies)
{
    for (size_t i = 0; policies && policies[i]; i++)
        offer_name(a, policies[i]->name);
}

static void offer_files(struct asked *a, const char *ending)
{
    (void)fprintf(a->to, ":files%s\n", ending);
}

static void offer_platforms(struct asked *a)
{
    char name[64];
    offer_files(a, ".ini");
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++)
        offer_name(a, name);
}

/* More may follow what is offered. */
static void leave_open(struct asked *a)
{
    if (a->offered)
        (void)fputs(":open\n", a->to);
    a->offered = 0;
}

/* --- where in a word --- */

/* The text behind the last of these characters in it. */
static const char *behind(const char *text, const char *marks)
{
    const char *found = text;
    for (const char *p = text; *p; p++)
        if (strchr(marks, *p))
            found = p + 1;
    return found;
}

static const struct param *row_of(const struct param *table, const char *key, size_t n)
{
    for (const struct param *p = table; p && p->name; p++)
        if (strlen(p->name) == n && memcmp(p->name, key, n) == 0)
            return p;
    return NULL;
}

/* The values of a choice: of "key=VALUE", VALUE being the tail. */
static void offer_value(struct asked *a, const struct param *table, const char *pair)
{
    const struct param *row = row_of(table, pair, strcspn(pair, "="));
    if (row && row->type == PARAM_CHOICE)
        offer_choices(a, row->unit);
}

static const struct policy_head *policy_of(const struct policy_head *const *policies, const char *name, size_t n)
{
    for (size_t i = 0; policies && policies[i]; i++)
        if (strlen(policies[i]->name) == n && memcmp(policies[i]->name, name, n) == 0)
            return policies[i];
    return NULL;
}

/* --- values --- */

/* "fixed:gr", "fixed:granularity=64KiB+random:ca": a parameter, or its value, of the policy before the last ':'. */
static void offer_parameter(struct asked *a, const char *colon)
{
    const struct engine *e = a->engine;
    const char *name = colon - 1, *pair = behind(colon, ",");
    while (name > a->value && !strchr(",+", name[-1]))
        name--;
    const bool second = name > a->value && name[-1] == '+';
    const struct policy_head *head = policy_of(second ? e->second : e->policies, name, (size_t)(colon - 1 - name));
    a->tail = strchr(pair, '=') ? behind(pair, "=") : pair;
    if (strchr(pair, '='))
        offer_value(a, head ? head->params : NULL, pair);
    else
        offer_rows(a, head ? head->params : NULL, "=");
}

/* "tree,fixed:granularity=64KiB,none+random:capacity=piece": behind a ',' stands a policy, or a further parameter of
 * the one before. */
static void offer_policy(struct asked *a)
{
    const char *item = behind(a->value, ","), *colon = behind(a->value, ":"), *plus = behind(item, "+");
    if (!a->engine)
        return;
    if (plus > item && plus > colon) {
        a->tail = plus;
        offer_policies(a, a->engine->second);
    } else {
        a->tail = item;
        if (colon <= item && !strchr(item, '='))
            offer_policies(a, a->engine->policies);
        if (item == a->value && colon == a->value)
            offer_files(a, ".so");
        if (colon > a->value)
            offer_parameter(a, colon);
    }
    leave_open(a);
}

static const struct workload_type *workload_of(const char *spec)
{
    for (size_t i = 0; workload_types[i]; i++)
        if (strlen(workload_types[i]->name) == strcspn(spec, ",") &&
            strncmp(workload_types[i]->name, spec, strcspn(spec, ",")) == 0)
            return workload_types[i];
    return NULL;
}

/* NAME,key=value: the names, then the keys of that name, then the values of a choice. */
static void offer_workload(struct asked *a, const char *spec)
{
    const struct workload_type *type = workload_of(spec);
    const char *piece = behind(spec, ",");
    a->tail = strchr(piece, '=') ? behind(piece, "=") : piece;
    if (piece == spec)
        for (size_t i = 0; workload_types[i]; i++)
            offer_name(a, workload_types[i]->name);
    else if (type && strchr(piece, '='))
        offer_value(a, type->params, piece);
    else if (type)
        offer_rows(a, type->params, "=");
    leave_open(a);
}

static bool is_synth(const char *word)
{
    return strncmp(word, "synth:", 6) == 0;
}

/* A file, or synth: and what may follow. */
static void offer_input(struct asked *a)
{
    if (is_synth(a->value)) {
        offer_workload(a, a->value + 6);
    } else {
        offer_files(a, "");
        offer_name(a, "synth:");
    }
}

/* Keys of import and export, settings of an engine, numbers of platforms, keys of swept workloads. */
static void offer_setting(struct asked *a, bool grid)
{
    const char *item = behind(a->value, ",");
    a->tail = item;
    if (strchr(item, '=')) {
        a->tail = behind(item, "=|");
        offer_value(a, a->engine ? a->engine->settings : NULL, item);
        return;
    }
    if (strcmp(a->command->name, "import") == 0 || strcmp(a->command->name, "export") == 0) {
        for (size_t i = 0; readers[i]; i++)
            offer_rows(a, readers[i]->options, "=");
        for (size_t i = 0; exporters[i]; i++)
            offer_rows(a, exporters[i]->options, "=");
        return;
    }
    offer_rows(a, a->engine ? a->engine->settings : NULL, "=");
    for (size_t i = 0; *item && platform_sections[i]; i++)
        offer_rows(a, platform_sections[i]->params, "=");
    if (grid)
        offer_name(a, "platform=");
    for (size_t i = 1; grid && i < a->operand_count; i++) {
        const struct workload_type *type = is_synth(a->operands[i]) ? workload_of(a->operands[i] + 6) : NULL;
        offer_rows(a, type ? type->params : NULL, "=");
    }
}

static void offer_metric(struct asked *a)
{
    a->tail = behind(a->value, ",");
    for (size_t e = 0; engines[e]; e++)
        for (const struct metric *m = engines[e]->metrics; m->name; m++)
            offer_name(a, m->name);
    leave_open(a);
}

static void offer_pivot(struct asked *a)
{
    offer_choices(a, "policy|workload|platform|engine");
    for (size_t e = 0; engines[e]; e++)
        offer_rows(a, engines[e]->settings, "");
}

static void offer_format(struct asked *a, bool import)
{
    for (size_t i = 0; import && readers[i]; i++)
        offer_name(a, readers[i]->name);
    for (size_t i = 0; !import && exporters[i]; i++)
        offer_name(a, exporters[i]->name);
}

/* The value of an option. */
static void offer_option_value(struct asked *a, const struct opt *o)
{
    const bool import = strcmp(a->command->name, "import") == 0, export = strcmp(a->command->name, "export") == 0;
    a->tail = a->value;
    if (o->type == OPT_CHOICE)
        offer_choices(a, o->arg);
    else if (strcmp(o->name, "policy") == 0 || strcmp(o->name, "baseline") == 0)
        offer_policy(a);
    else if (strcmp(o->name, "set") == 0 || strcmp(o->name, "grid") == 0)
        offer_setting(a, o->name[0] == 'g');
    else if (strcmp(o->name, "platform") == 0 || strcmp(o->name, "base") == 0)
        offer_platforms(a);
    else if (strcmp(o->name, "metric") == 0)
        offer_metric(a);
    else if (strcmp(o->name, "pivot") == 0)
        offer_pivot(a);
    else if (strcmp(o->name, "mem") == 0 || strcmp(o->name, "pim") == 0)
        offer_input(a);
    else if (strcmp(o->name, "format") == 0 && (import || export))
        offer_format(a, import);
    else if (o->type != OPT_INT)
        offer_files(a, "");
}

/* --- operands --- */

/* What the first operand of a command is, if it is a name; false: it is none. */
static bool offer_first(struct asked *a)
{
    static const struct {
        const char *command, *names;
    } words[] = {
        {"list", "engines|policies|platforms|programs|formats|figures|metrics|settings|parameters|keys|numbers"},
        {"calibrate", "uvm|zerocopy|placement|ledger"},
        {"derive", "touches|requests|dram|accesses|migrations"},
        {"graph", "convert|reorder|score"},
        {"policy", "build"},
        {"completion", "bash|zsh|fish"}};
    const char *command = a->command->name;
    if (strcmp(command, "replay") == 0 || strcmp(command, "sweep") == 0)
        for (size_t i = 0; engines[i]; i++)
            offer_name(a, engines[i]->name);
    else if (strcmp(command, "plot") == 0)
        for (size_t i = 0; figures[i]; i++)
            offer_name(a, figures[i]->name);
    else if (strcmp(command, "synth") == 0)
        offer_workload(a, a->word);
    else {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strcmp(words[i].command, command) == 0) {
                offer_choices(a, words[i].names);
                return true;
            }
        return false;
    }
    return true;
}

static bool takes_programs(const char *command)
{
    static const char *const commands[] = {"replay", "sweep", "graph", "compare", "derive"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i], command) == 0)
            return true;
    return false;
}

static void offer_operand(struct asked *a)
{
    const char *command = a->command->name;
    if (strcmp(command, "list") == 0 && a->operand_count == 1 && strcmp(a->operands[0], "platforms") == 0)
        offer_platforms(a);
    else if (is_synth(a->word))
        offer_workload(a, a->word + 6);
    else if (a->operand_count == 0 && offer_first(a))
        return;
    else if (takes_programs(command))
        offer_input(a);
    else
        offer_files(a, "");
}

/* --- options --- */

static const struct opt *find_option(const struct asked *a, const char *word)
{
    const struct opt *const both[] = {a->command->options, opt_common};
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++) {
            const size_t n = strlen(o->name);
            if (word[1] == '-' ? strncmp(word + 2, o->name, n) == 0 && (word[2 + n] == 0 || word[2 + n] == '=')
                               : o->letter && word[1] == o->letter && !word[2])
                return o;
        }
    return NULL;
}

static void offer_options(struct asked *a)
{
    const struct opt *const both[] = {a->command->options, opt_common};
    char text[80];
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++) {
            (void)snprintf(text, sizeof text, "--%s", o->name);
            offer_name(a, text);
        }
}

/* The option whose value is the word at the cursor, from the words before it, or NULL. Gathers the operands. */
static const struct opt *read_words(struct asked *a, const char *const *words, size_t count)
{
    const struct opt *open = NULL;
    for (size_t i = 1; i + 1 < count && a->operand_count < OPERANDS_MOST; i++) {
        const struct opt *o = words[i][0] == '-' && words[i][1] && !open ? find_option(a, words[i]) : NULL;
        if (open)
            open = NULL;
        else if (words[i][0] != '-' || !words[i][1])
            a->operands[a->operand_count++] = words[i];
        else if (o && o->type != OPT_FLAG && !strchr(words[i], '='))
            open = o;
    }
    return open;
}

static void in_command(struct asked *a, const char *const *words, size_t count)
{
    const struct opt *option = read_words(a, words, count);
    a->engine = a->operand_count ? engine_find(a->operands[0]) : NULL;
    const char *eq = a->word[0] == '-' && a->word[1] == '-' ? strchr(a->word, '=') : NULL;
    if (!option && eq) {
        option = find_option(a, a->word);
        a->value = a->tail = eq + 1;
        if (!option || option->type == OPT_FLAG)
            return;
    }
    if (option)
        offer_option_value(a, option);
    else if (a->word[0] == '-')
        offer_options(a);
    else
        offer_operand(a);
    if (a->offered == 1 && strchr("=:", a->last))
        leave_open(a);
}

void complete(FILE *to, const struct complete_command *commands, const char *const *words, size_t count)
{
    struct asked a = {.to = to, .commands = commands, .word = words[count - 1]};
    a.value = a.tail = a.word;
    if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        for (const struct complete_command *c = commands; c->name; c++)
            offer_name(&a, c->name);
        if (count == 1)
            offer_choices(&a, "help|--help|--version");
        return;
    }
    for (a.command = commands; a.command->name && strcmp(a.command->name, words[0]) != 0;)
        a.command++;
    if (a.command->name)
        in_command(&a, words, count);
}
