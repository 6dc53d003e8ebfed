/* offchip completion: the bash completion script, made from the option tables. */
#include <stdio.h>

#include "cmd/cmd.h"

static const struct opt options[] = {{0}};

static void words(const struct opt *table)
{
    for (const struct opt *o = table; o && o->name; o++)
        printf(" --%s", o->name);
}

static int run(int argc, char **argv)
{
    (void)argv;
    if (argc)
        return cmd_usage("completion takes no operands");
    puts("# bash completion for offchip; written by 'offchip completion'");
    puts("_offchip()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n    "
         "COMPREPLY=()");
    printf("    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"--help --version help");
    for (size_t i = 0; commands[i]; i++)
        printf(" %s", commands[i]->name);
    puts("\"\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return\n    fi");
    puts("    case $prev in");
    puts("    -P | --platform)\n        words=$(offchip list platforms --format csv 2>/dev/null | tail -n +2 | cut -d, "
         "-f1)\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -X '!*.ini' -- \"$cur\"))\n        "
         "return ;;");
    puts("    -p | --policy | -b | --baseline)\n        words=$(offchip list policies --format csv 2>/dev/null | tail "
         "-n +2 | cut -d, -f2)\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"${cur##*,}\"))\n        return ;;");
    puts("    --format)\n        COMPREPLY=($(compgen -W \"table csv json\" -- \"$cur\"))\n        return ;;");
    puts("    list)\n        COMPREPLY=($(compgen -W \"engines policies platforms workloads formats figures\" -- "
         "\"$cur\"))\n        return ;;");
    puts("    replay | sweep)\n        words=$(offchip list engines --format csv 2>/dev/null | tail -n +2 | cut -d, "
         "-f1)\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return ;;");
    puts("    plot)\n        words=$(offchip list figures --format csv 2>/dev/null | tail -n +2 | cut -d, -f1)\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return ;;");
    puts("    esac\n    case ${COMP_WORDS[1]} in");
    for (size_t i = 0; commands[i]; i++) {
        printf("    %s) words=\"", commands[i]->name);
        words(commands[i]->options);
        words(opt_common);
        puts("\" ;;");
    }
    puts("    *) words= ;;\n    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- "
         "\"$cur\"))\n"
         "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\ncomplete -o filenames -F _offchip "
         "offchip");
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print the bash completion script",
    .usage = "> FILE",
    .details = "'make install' puts it where bash looks for it.",
    .examples = "  offchip completion > ~/.local/share/bash-completion/completions/offchip\n"
                "  source <(offchip completion)",
    .options = options,
    .run = run,
};
