/* offchip completion: scripts for shells, and the answers that they ask for. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "replay/run/engine.h"
#include "trace/base/embedded.h"

/* One question: what the word at the cursor may become. */
struct asked {
    const struct command *command;
    const char *first; /* operand; NULL: none yet */
    const char *word;  /* at the cursor */
    const char *tail;  /* in it, what is being completed */
    const char *end;   /* what stands behind a name of a list */
};

/* --- offers --- */

/* A whole word, if it begins with what is there. */
static void offer(const struct asked *a, const char *name, size_t n, const char *end)
{
    const size_t typed = strlen(a->tail);
    if (typed <= n + strlen(end) && strncmp(name, a->tail, typed < n ? typed : n) == 0)
        printf("%.*s%.*s%s\n", (int)(a->tail - a->word), a->word, (int)n, name, end);
}

/* "a|b|c". */
static void offer_choices(const struct asked *a, const char *names, size_t size)
{
    for (const char *p = names, *end = names + size; p < end;) {
        const size_t n = strcspn(p, "|]\n ");
        offer(a, p, n, "");
        p += n + 1;
    }
}

static void offer_files(const char *ending)
{
    printf(":files%s\n", ending);
}

/* A policy of a second axis follows a '+'. */
static void offer_name(void *ctx, const char *name)
{
    const struct asked *a = ctx;
    if ((*name == '+') == (*a->tail == '+'))
        offer(a, name, strlen(name), a->end);
}

/* The names of a list, of that owner. */
static void offer_list(struct asked *a, const char *name, const char *of, const char *end)
{
    a->end = end;
    cmd_list_names(name, of, offer_name, a);
    if (strcmp(name, "platforms") == 0)
        offer_files(".ini");
    if (*end)
        puts(":open");
}

/* The text behind the last of these characters in it. */
static const char *behind(const char *text, const char *marks)
{
    const char *found = text;
    for (const char *p = text; *p; p++)
        if (strchr(marks, *p))
            found = p + 1;
    return found;
}

/* OWNER,key or OWNER:key: what the owner's list has. */
static void offer_keys(struct asked *a, const char *list, const char *owner, const char *marks)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(owner, marks), owner);
    offer_list(a, list, name, "=");
}

/* "tree,fixed:granularity=64KiB+random": behind a ',' stands a policy or a further parameter of the one before. */
static void offer_policy(struct asked *a)
{
    const char *item = behind(a->tail, ","), *colon = behind(a->tail, ":"), *plus = behind(item, "+");
    const char *owner = colon;
    const bool second = plus > item && plus > colon, parameter = colon > a->tail && !second;
    if (item == a->tail && !parameter)
        offer_files(".so");
    while (owner > a->tail && (owner == colon || !strchr(",+", owner[-1])))
        owner--;
    a->tail = second ? plus - 1 : item > colon ? item : colon;
    if (!parameter || item > colon)
        offer_list(a, "policies", a->first, "");
    if (parameter)
        offer_keys(a, "parameters", owner, ":");
    else
        puts(":open");
}

/* NAME,key: the names, then the keys of that name. */
static void offer_program(struct asked *a, const char *spec)
{
    a->tail = behind(spec, ",");
    if (a->tail > spec)
        offer_keys(a, "keys", spec, ",");
    else
        offer_list(a, "programs", NULL, "");
}

/* A file, or synth: and what may follow. */
static void offer_input(struct asked *a)
{
    static const char synth[] = "synth:";
    if (strncmp(a->tail, synth, sizeof synth - 1) == 0) {
        offer_program(a, a->tail + sizeof synth - 1);
        return;
    }
    offer_files("");
    offer(a, synth, sizeof synth - 1, "");
    if (*a->tail && strncmp(synth, a->tail, strlen(a->tail)) == 0)
        puts(":open");
}

/* What the first operand is, the usage says: each line of it may begin with words to choose from. */
static void offer_first(struct asked *a)
{
    static const char again[] = "\n       offchip ";
    const char *usage = a->command->usage + (*a->command->usage == '[');
    if (strncmp(usage, "ENGINE ", 7) == 0)
        offer_list(a, "engines", NULL, "");
    else if (strncmp(usage, "FIGURE ", 7) == 0)
        offer_list(a, "figures", NULL, "");
    else if (strncmp(usage, "WORKLOAD", 8) == 0)
        offer_program(a, a->tail);
    else if (!islower((unsigned char)*usage))
        offer_input(a);
    else
        for (const char *p = usage; p; p = (p = strstr(p, again)) ? p + sizeof again + strlen(a->command->name) : NULL)
            offer_choices(a, p, islower((unsigned char)*p) ? strcspn(p, "] ") : 0);
}

/* --- options --- */

/* "--name", "--name=value" or "-x". */
static const struct opt *find_option(const struct asked *a, const char *word)
{
    if (word[1] == '-')
        return opt_find(a->command->options, word + 2, strcspn(word + 2, "="), 0);
    return word[1] && !word[2] ? opt_find(a->command->options, NULL, 0, word[1]) : NULL;
}

static void offer_options(const struct asked *a)
{
    const struct opt *const both[] = {a->command->options, opt_common};
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++) {
            char text[80];
            offer(a, text, (size_t)snprintf(text, sizeof text, "--%s", o->name), "");
        }
}

/* The value of an option. */
static void offer_value(struct asked *a, const struct opt *o)
{
    static const struct {
        const char *option, *list, *end;
    } named[] = {{"platform", "platforms", ""}, {"base", "platforms", ""}, {"metric", "metrics", ""},
                 {"format", "formats", ""},     {"set", "settings", "="},  {"grid", "settings", "="}};
    for (size_t i = 0; i < sizeof named / sizeof *named && o->type != OPT_CHOICE; i++)
        if (strcmp(o->name, named[i].option) == 0) {
            a->tail = behind(a->tail, ",");
            offer_list(a, named[i].list, *named[i].end ? a->first : NULL, named[i].end);
            return;
        }
    if (o->type == OPT_CHOICE)
        offer_choices(a, o->arg, strlen(o->arg));
    else if (strcmp(o->name, "policy") == 0 || strcmp(o->name, "baseline") == 0)
        offer_policy(a);
    else if (strcmp(o->arg, "INPUT") == 0)
        offer_input(a);
    else if (o->type != OPT_INT)
        offer_files("");
}

/* --- the words --- */

/* The option whose value is the word at the cursor, from the words before it, or NULL. Finds the first operand. */
static const struct opt *read_words(struct asked *a, char **words, int count)
{
    const struct opt *open = NULL;
    for (int i = 1; i + 1 < count; i++) {
        const bool is_option = words[i][0] == '-' && words[i][1] && !open;
        const struct opt *o = is_option ? find_option(a, words[i]) : NULL;
        if (!open && !is_option && !a->first)
            a->first = words[i];
        open = o && o->type != OPT_FLAG && !strchr(words[i], '=') ? o : NULL;
    }
    return open;
}

static void ask(int count, char **words)
{
    struct asked a = {.word = words[count - 1], .tail = words[count - 1]};
    for (size_t i = 0; commands[i]; i++)
        if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0))
            offer(&a, commands[i]->name, strlen(commands[i]->name), "");
        else if (strcmp(commands[i]->name, words[0]) == 0)
            a.command = commands[i];
    if (!a.command)
        return;
    const struct opt *option = read_words(&a, words, count);
    const char *eq = strncmp(a.word, "--", 2) == 0 ? strchr(a.word, '=') : NULL;
    if (!option && eq) {
        option = find_option(&a, a.word);
        a.tail = eq + 1;
        if (!option || option->type == OPT_FLAG)
            return;
    }
    if (option)
        offer_value(&a, option);
    else if (*a.word == '-')
        offer_options(&a);
    else if (!a.first)
        offer_first(&a);
    else if (strcmp(a.first, "platforms") == 0)
        offer_list(&a, "platforms", NULL, "");
    else
        offer_input(&a);
}

static int run(int argc, char **argv)
{
    char path[64];
    if (argc > 0 && strcmp(argv[0], "ask") == 0) {
        if (argc > 1)
            ask(argc - 1, argv + 1);
        return EXIT_DONE;
    }
    if (argc > 1)
        return cmd_usage("one shell is needed: bash, zsh or fish; found %d", argc);
    (void)snprintf(path, sizeof path, "cmd/completion/offchip.%.16s", argc ? argv[0] : "bash");
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, path) == 0) {
            (void)fputs(embedded_files[i].text, stdout);
            return EXIT_DONE;
        }
    return cmd_usage("no completion for '%s'; expected bash, zsh or fish", argv[0]);
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .usage = "[bash|zsh|fish] > FILE",
    .details = "'make install' puts the scripts where the shells look for them. They ask the program itself:\n"
               "'completion ask -- WORD...' prints what the last word may become.",
    .examples = "  offchip completion bash > ~/.local/share/bash-completion/completions/offchip\n"
                "  offchip completion zsh > ~/.zfunc/_offchip    # a folder of fpath\n"
                "  offchip completion fish > ~/.config/fish/completions/offchip.fish\n"
                "  source <(offchip completion bash)",
    .run = run,
};
