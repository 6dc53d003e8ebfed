#include "cmd/policy/policy_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/own/own_check.h"
#include "trace/base/mem.h"
#include "trace/base/program_folder.h"
#include "trace/store/output.h"

enum { WORDS_MOST = 128, NO_COMPILER = 127 };

static const char names_header[] = "models/own/own_names.h";

/* --- where the headers are --- */

static bool has_headers(const char *folder)
{
    char header[PATH_MAX + 64];
    (void)snprintf(header, sizeof header, "%s/%s", folder, names_header);
    return access(header, R_OK) == 0;
}

/* $OFFCHIP_INCLUDE; include/offchip beside an installed program's bin/, of a bundle beside lib/; the tree that build/
 * stands in. */
static int find_headers(char folder[PATH_MAX], struct err *err)
{
    static const char *const places[] = {"/../include/offchip", "/../../include/offchip", "/..", "/../.."};
    const char *given = getenv("OFFCHIP_INCLUDE");
    char program[PATH_MAX], place[PATH_MAX + 32];
    if (given && *given) {
        if (!has_headers(given) || !realpath(given, folder))
            return err_set(err, "OFFCHIP_INCLUDE names '%.200s', which has no %s", given, names_header);
        return 0;
    }
    const bool known = program_folder(program);
    for (size_t i = 0; known && i < sizeof places / sizeof *places; i++) {
        (void)snprintf(place, sizeof place, "%s%s", program, places[i]);
        if (has_headers(place) && realpath(place, folder))
            return 0;
    }
    return err_set(err,
                   "the headers of policies are neither in %.200s/../include/offchip (make install) nor in the source "
                   "tree: name their folder in OFFCHIP_INCLUDE",
                   known ? program : "?");
}

/* --- the compiler --- */

struct command {
    char *words[WORDS_MOST + 1]; /* ends with NULL */
    size_t count;
    bool failed;
};

static void add_word(struct command *c, const char *word, size_t n)
{
    char *copy = c->count < WORDS_MOST ? mem_strndup(word, n, NULL) : NULL;
    c->failed |= !copy;
    if (copy)
        c->words[c->count++] = copy;
}

/* The words between spaces. */
static void add_words(struct command *c, const char *text)
{
    while (text && *(text += strspn(text, " \t\n"))) {
        const size_t n = strcspn(text, " \t\n");
        add_word(c, text, n);
        text += n;
    }
}

static void add_flag(struct command *c, const char *flag, const char *value)
{
    char word[PATH_MAX + 64];
    (void)snprintf(word, sizeof word, "%s%s", flag, value);
    add_word(c, word, strlen(word));
}

static void make_command(struct command *c, const char *source, const char *headers, const char *object)
{
    const char *compiler = getenv("CC");
    add_words(c, compiler && *compiler ? compiler : "cc");
    add_words(c, "-std=gnu17 -D_GNU_SOURCE -DOFFCHIP_OWN -O2 -fPIC -fvisibility=hidden -Wall -Wextra");
#ifdef __x86_64__
    add_words(c, "-march=x86-64-v2"); /* as the program itself: popcnt */
#endif
    add_flag(c, "-I", headers);
    add_words(c, "-include");
    add_flag(c, names_header, "");
    add_words(c, getenv("CFLAGS"));
    add_words(c, "-shared -o");
    add_flag(c, object, "");
    add_flag(c, *source == '-' ? "./" : "", source);
    add_words(c, "-lm");
}

static int run_command(const struct command *c, struct err *err)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout carries results only */
        (void)execvp(c->words[0], c->words);
        _exit(errno == ENOENT ? NO_COMPILER : NO_COMPILER - 1);
    }
    int status = 0;
    if (child < 0)
        return err_set(err, "cannot start the compiler: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, "cannot wait for the compiler: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) >= NO_COMPILER - 1)
        return err_set(err, "there is no C compiler '%.100s' that can be run: install gcc or clang, or name one in CC",
                       c->words[0]);
    return err_set(err, "%.100s could not compile it (status %d); its messages stand above", c->words[0], status >> 8);
}

static int compile(const char *source, const char *object, struct err *err)
{
    char headers[PATH_MAX];
    struct command c = {0};
    if (find_headers(headers, err))
        return -1;
    make_command(&c, source, headers, object);
    int rc = c.failed ? err_set(err, "the compiler's command has too many words: look at CC and CFLAGS")
                      : run_command(&c, err);
    for (size_t i = 0; i < c.count; i++)
        free(c.words[i]);
    return rc;
}

/* --- the result --- */

/* Put the seal behind what the compiler wrote. */
static int seal(const char *object, struct err *err)
{
    size_t count = 0;
    char text[OWN_SEAL_BYTES];
    unsigned char *bytes = own_file_read(object, &count, err);
    if (!bytes)
        return -1;
    own_file_seal(bytes, count, text);
    free(bytes);
    FILE *f = fopen(object, "abe");
    bool bad = !f || fwrite(text, 1, sizeof text, f) != sizeof text;
    bad |= f && fclose(f) != 0;
    return bad ? err_set(err, "cannot write '%.200s': %s", object, strerror(errno)) : 0;
}

/* Loaded and asked as a replay would, with its defaults. */
static const struct own_loaded *load_and_check(const char *object, const char *source, struct err *err)
{
    struct err inner = {""};
    const struct own_loaded *loaded = own_load(object, OWN_ANY, NULL, &inner);
    void *params = loaded ? mem_zalloc(1, loaded->head->state_size, &inner) : NULL;
    if (params)
        param_defaults(loaded->head->params, params);
    const bool well = params && own_check(loaded->head, params, &inner) == 0;
    free(params);
    if (well)
        return loaded;
    const char *said = inner.msg; /* without the name of the temporary file */
    if (*said == '\'' && strncmp(said + 1, object, strlen(object)) == 0)
        said += strlen(object) + 2 + strspn(said + strlen(object) + 2, ": ");
    err_set(err, "'%.200s' %s", source, said);
    return NULL;
}

const struct own_loaded *policy_build(const char *source, const char *output, bool replace, struct err *err)
{
    struct output out;
    if (output_begin(&out, output, replace, err))
        return NULL;
    const struct own_loaded *loaded = NULL;
    const char *object = out.temporary ? out.temporary : out.path;
    if (compile(source, object, err))
        (void)err_at(err, "'%.200s'", source);
    else if (seal(object, err) == 0)
        loaded = load_and_check(object, source, err);
    return output_close(&out, loaded ? 0 : -1, err) ? NULL : loaded;
}
