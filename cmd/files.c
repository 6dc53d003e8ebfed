#include "cmd/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "replay/results/results.h"
#include "trace/base/mem.h"
#include "trace/graph/graph.h"
#include "trace/store/output.h"

struct names {
    char **items;
    size_t count, cap;
};

static struct names inputs, outputs;

static void add(struct names *names, const char *text, size_t n)
{
    if (n && mem_grow((void **)&names->items, &names->cap, names->count + 1, sizeof *names->items, NULL) == 0) {
        char *copy = mem_strndup(text, n, NULL);
        if (copy)
            names->items[names->count++] = copy;
    }
}

/* The whole word, and what stands in it as a value: behind '=' or between '|'. */
void cmd_reads(const char *word)
{
    if (!word)
        return;
    if (strncmp(word, "synth:", 6) != 0)
        add(&inputs, word, strlen(word));
    for (const char *p = strpbrk(word, "=|"); p; p = strpbrk(p, "=|")) {
        size_t n = strcspn(++p, ",|");
        add(&inputs, p, n);
    }
}

void cmd_reads_all(const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cmd_reads(words[i]);
}

struct looked_for {
    const char *output;
};

static int is_file(void *ctx, const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) && output_same(file, ((const struct looked_for *)ctx)->output);
}

/* Whether the input's name, or a file that it stands for as a graph, is that of the output. */
static bool is_output(const char *input, const char *output)
{
    struct looked_for it = {output};
    if (is_file(&it, input))
        return true;
    for (size_t f = 0; graph_formats[f]; f++)
        if (graph_format_files(graph_formats[f], input, is_file, &it))
            return true;
    return false;
}

int cmd_writes(const char *path, bool replace)
{
    struct stat st;
    struct err err = {""};
    bool file = stat(path, &st) ? true : S_ISREG(st.st_mode);
    for (size_t i = 0; i < inputs.count && file; i++)
        if (is_output(inputs.items[i], path))
            return cmd_usage("the output '%s' is the input '%s'", path, inputs.items[i]);
    for (size_t i = 0; i < outputs.count && file; i++)
        if (output_same(outputs.items[i], path))
            return cmd_usage("the outputs '%s' and '%s' are one file", outputs.items[i], path);
    add(&outputs, path, strlen(path));
    output_reserve(path);
    if (file && !replace && stat(path, &st) == 0)
        return cmd_usage("'%s' exists; --force overwrites it", path);
    return output_try(path, replace, &err) ? cmd_fail(EXIT_DATA, "%s", err.msg) : EXIT_DONE;
}

int cmd_adds_to(const char *path)
{
    struct err err = {""};
    int status = cmd_writes(path, true);
    if (status || access(path, F_OK))
        return status;
    struct results *results = results_open(path, RESULTS_APPEND, &err);
    results_close(results);
    return results ? EXIT_DONE : cmd_fail(EXIT_DATA, "%s", err.msg);
}
