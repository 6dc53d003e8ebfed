#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/plugin/plugin_load.h"
#include "trace/base/program_folder.h"
#include "trace/store/output.h"

enum { NO_COMPILER = 127 };

static const char plugin_header[] = "models/plugin/plugin.h";

/* --- where the headers are --- */

static bool has_headers(const char *folder)
{
    char header[PATH_MAX + 64];
    (void)snprintf(header, sizeof header, "%s/%s", folder, plugin_header);
    return access(header, R_OK) == 0;
}

/* Find the headers: $OFFCHIP_INCLUDE, include/offchip beside bin/ (a bundle: beside lib/), or the source tree of
 * build/. */
static int find_headers(char folder[PATH_MAX], struct err *err)
{
    static const char *const places[] = {"/../include/offchip", "/../../include/offchip", "/..", "/../.."};
    const char *given = getenv("OFFCHIP_INCLUDE");
    char program[PATH_MAX], place[PATH_MAX + 32];
    if (given && *given) {
        if (!has_headers(given) || !realpath(given, folder))
            return err_set(err, "OFFCHIP_INCLUDE names '%.200s', which has no %s", given, plugin_header);
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

#ifdef __x86_64__
#define MACHINE "-march=x86-64-v2 " /* as the program itself: popcnt */
#else
#define MACHINE ""
#endif

/* $1: headers; $2: output; $3: source. stdout carries results only. */
static const char command[] =
    "set -f; exec 2>&1; command -v ${CC:-cc} >/dev/null || exit 127; "
    "${CC:-cc} -std=gnu17 -D_GNU_SOURCE -DOFFCHIP_PLUGIN -O2 -fPIC -fvisibility=hidden -Wall -Wextra " MACHINE
    "-I\"$1\" $CFLAGS -shared -o \"$2\" \"$3\" -lm";

static int run_shell(const char *headers, const char *object, const char *source, struct err *err)
{
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
        (void)execl("/bin/sh", "sh", "-c", command, "sh", headers, object, source, NULL);
        _exit(NO_COMPILER);
    }
    int status = 0;
    if (child < 0)
        return err_set(err, "cannot start the compiler: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, "cannot wait for the compiler: %s", strerror(errno));
    const char *given = getenv("CC"), *compiler = given && *given ? given : "cc";
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_COMPILER)
        return err_set(err, "there is no C compiler '%.100s' that can be run: install gcc or clang, or name one in CC",
                       compiler);
    return status ? err_set(err, "%.100s could not compile it (status %d); its messages stand above", compiler,
                            status >> 8)
                  : 0;
}

static int compile(const char *source, const char *object, struct err *err)
{
    char headers[PATH_MAX], path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s%s", *source == '-' ? "./" : "", source);
    return find_headers(headers, err) ? -1 : run_shell(headers, object, path, err);
}

const struct policy_head *policy_build(const char *source, const char *output, bool replace, struct err *err)
{
    struct output out;
    struct err inner = {""};
    if (output_begin(&out, output, replace, true, err))
        return NULL;
    const struct policy_head *head = NULL;
    const char *object = out.temporary ? out.temporary : out.path;
    if (compile(source, object, err)) {
        (void)err_at(err, "'%.200s'", source);
    } else if (!(head = plugin_load(object, POLICY_ANY, NULL, &inner))) {
        const char *said = strstr(inner.msg, "': "); /* behind the name of the temporary file */
        err_set(err, "'%.200s' %s", source, said ? said + 3 : inner.msg);
    }
    return output_close(&out, head ? 0 : -1, err) ? NULL : head;
}
