/* The program of a bundle (make bundle): bin/offchip, linked statically, so that it runs where there is no libc, starts
 * lib/offchip/offchip by the bundle's own loader with the bundle's own libraries. They are named on the loader's
 * command line only: nothing is put into the environment, so programs that offchip starts find their own. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char folder[PATH_MAX], loader[PATH_MAX + 64], program[PATH_MAX + 64], own[PATH_MAX + 64], *libraries;
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    char **all = calloc((size_t)argc + 8, sizeof *all);
    if (n <= 0 || !all) {
        (void)fputs("offchip: /proc is not there: the bundle does not find itself\n", stderr);
        return 1;
    }
    folder[n] = 0;
    for (int up = 0; up < 2; up++) { /* ROOT/bin/offchip */
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
    }
    (void)snprintf(loader, sizeof loader, "%s/lib/libc/ld.so", folder);
    /* This takes the place of the user's own path, which is where a driver may be. */
    const char *users = getenv("LD_LIBRARY_PATH");
    if (asprintf(&libraries, "%s/lib/libc%s%s", folder, users && *users ? ":" : "", users ? users : "") < 0)
        return 1;
    (void)snprintf(program, sizeof program, "%s/lib/offchip/offchip", folder);
    (void)snprintf(own, sizeof own, "%s/bin/offchip", folder); /* by which the program finds its folders */
    int k = 0;
    all[k++] = loader;
    all[k++] = "--library-path";
    all[k++] = libraries;
    all[k++] = "--argv0";
    all[k++] = own;
    all[k++] = program;
    for (int i = 1; i < argc; i++)
        all[k++] = argv[i];
    execv(loader, all);
    perror(loader);
    return 1;
}
