/* complete: what may stand at the cursor of a command line, from the program's own tables: names of commands, options,
 * engines, policies, settings, programs. The scripts for shells (offchip.bash, .zsh, .fish) only ask and show. */
#ifndef CMD_COMPLETION_COMPLETE_H
#define CMD_COMPLETION_COMPLETE_H

#include <stdio.h>

#include "cmd/console/opt.h"

/* A command as far as completion must know it. */
struct complete_command {
    const char *name;
    const struct opt *options;
};

/* Print what words[count - 1], the word at the cursor, may become: a line for each whole word that begins with it.
 * Lines that begin with ':' are for the shell: ":files" and ":files.ini" stand for names of files (with that ending),
 * behind
 * "--option=" if the word begins so; ":open" says that more may follow without a space. words are those behind
 * "offchip"; count is at least 1, the last word may be "". commands ends with a zeroed row. */
void complete(FILE *to, const struct complete_command *commands, const char *const *words, size_t count);

#endif
