/* offchip completion: scripts for shells, and the answers that they ask for. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/completion/complete.h"
#include "trace/base/embedded.h"

enum { COMMANDS_MOST = 64 };

static const struct opt options[] = {{0}};

/* What may stand at the cursor, behind these words. */
static int ask(int count, char **words)
{
    struct complete_command table[COMMANDS_MOST] = {{0}};
    for (size_t i = 0; commands[i] && i + 1 < COMMANDS_MOST; i++)
        table[i] = (struct complete_command){commands[i]->name, commands[i]->options};
    if (count)
        complete(stdout, table, (const char *const *)words, (size_t)count);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    char path[64];
    if (argc > 0 && strcmp(argv[0], "ask") == 0)
        return ask(argc - 1, argv + 1);
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
    .options = options,
    .run = run,
};
