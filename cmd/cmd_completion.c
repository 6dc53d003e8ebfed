/* offchip completion: a script for bash, and the answers that it asks for. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "trace/base/embedded.h"

/* One question: what the word at the cursor may become. */
struct asked {
    const struct command *command;
    const char *first; /* operand; NULL: none yet */
    const char *word;  /* at the cursor */
    const char *tail;  /* in it, what is being completed */
};

/* Print a word that begins with the text at the cursor; a policy of a second axis follows a '+'. */
static void offer(void *ctx, const char *name)
{
    const struct asked *a = ctx;
    if (strncmp(name, a->tail, strlen(a->tail)) == 0 && (*name != '+' || *a->tail))
        printf("%.*s%s\n", (int)(a->tail - a->word), a->word, name);
}

/* "a|b|c", up to a ']' or a blank. */
static void offer_choices(struct asked *a, const char *names)
{
    for (const char *p = names; islower((unsigned char)*p);) {
        char name[64];
        const size_t n = strcspn(p, "|]\n ");
        (void)snprintf(name, sizeof name, "%.*s", (int)n, p);
        offer(a, name);
        p += n + (p[n] == '|');
    }
}

/* Offer the names of a comma-separated list. */
static void offer_list(struct asked *a, const char *list, const char *of)
{
    const char *comma = strrchr(a->tail, ',');
    a->tail = comma ? comma + 1 : a->tail;
    cmd_list_names(list, of, offer, a);
}

/* NAME,key: the names, then the keys of that name. */
static void offer_program(struct asked *a)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(a->tail, ","), a->tail);
    offer_list(a, strchr(a->tail, ',') ? "keys" : "programs", strchr(a->tail, ',') ? name : NULL);
}

/* synth: and what may follow; files are for the shell. */
static void offer_input(struct asked *a)
{
    static const char synth[] = "synth:";
    if (strncmp(a->tail, synth, sizeof synth - 1) == 0) {
        a->tail += sizeof synth - 1;
        offer_program(a);
    } else if (*a->tail) {
        offer(a, synth);
    }
}

/* Offer first operands: each line of the usage may begin with words to choose from. */
static void offer_first(struct asked *a)
{
    static const char again[] = "\n       offchip ";
    const char *usage = a->command->usage;
    if (strncmp(usage, "ENGINE ", 7) == 0)
        offer_list(a, "engines", NULL);
    else if (strncmp(usage, "FIGURE ", 7) == 0)
        offer_list(a, "figures", NULL);
    else if (strncmp(usage, "PROGRAM", 7) == 0)
        offer_program(a);
    else if (!islower((unsigned char)*usage))
        offer_input(a);
    else
        for (const char *p = usage; p; p = (p = strstr(p, again)) ? p + sizeof again + strlen(a->command->name) : NULL)
            offer_choices(a, p);
}

/* --- options --- */

/* "--name", "--name=value" or "-x". */
static const struct opt *find_option(const struct asked *a, const char *word)
{
    if (word[1] == '-')
        return opt_find(a->command->options, word + 2, strcspn(word + 2, "="), 0);
    return word[1] && !word[2] ? opt_find(a->command->options, NULL, 0, word[1]) : NULL;
}

static void offer_options(struct asked *a)
{
    const struct opt *const both[] = {a->command->options, opt_common};
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++) {
            char text[80];
            (void)snprintf(text, sizeof text, "--%s", o->name);
            if (*o->name)
                offer(a, text);
        }
}

/* The value of an option. */
static void offer_value(struct asked *a, const struct opt *o)
{
    static const struct {
        const char *option, *list;
        bool engine; /* of the engine that is the first operand */
    } named[] = {{"platform", "platforms", false}, {"base", "platforms", false},  {"metric", "metrics", false},
                 {"format", "formats", false},     {"set", "settings", true},     {"grid", "settings", true},
                 {"policy", "policies", true},     {"baseline", "policies", true}};
    if (o->type == OPT_CHOICE) {
        offer_choices(a, o->arg);
        return;
    }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(o->name, named[i].option) == 0)
            offer_list(a, named[i].list, named[i].engine ? a->first : NULL);
    if (o->type != OPT_FLAG && strcmp(o->arg, "INPUT") == 0)
        offer_input(a);
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
            offer(&a, commands[i]->name);
        else if (strcmp(commands[i]->name, words[0]) == 0)
            a.command = commands[i];
    if (!a.command)
        return;
    const struct opt *option = read_words(&a, words, count);
    const char *eq = strncmp(a.word, "--", 2) == 0 ? strchr(a.word, '=') : NULL;
    if (!option && eq) {
        option = find_option(&a, a.word);
        a.tail = eq + 1;
    }
    if (option)
        offer_value(&a, option);
    else if (*a.word == '-')
        offer_options(&a);
    else if (!a.first)
        offer_first(&a);
    else if (strcmp(a.first, "platforms") == 0)
        offer_list(&a, "platforms", NULL);
    else
        offer_input(&a);
}

static int run(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "ask") != 0)
        return cmd_usage("the script is bash's and takes no name; found '%s'", argv[0]);
    if (argc > 1)
        ask(argc - 1, argv + 1);
    else if (argc == 0)
        (void)fputs(embedded_text("cmd/completion/offchip.bash"), stdout);
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print bash's completion script",
    .usage = "> FILE",
    .details = "'make install' puts it where bash looks for it.",
    .examples = "  offchip completion > ~/.local/share/bash-completion/completions/offchip\n"
                "  source <(offchip completion)",
    .run = run,
};
