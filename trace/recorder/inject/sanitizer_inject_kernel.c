#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "trace/recorder/inject/sanitizer_inject.h"

/* The C++ runtime's own, from the program or from libstdc++; without either only mangled names are matched. */
typedef char *(*demangle_function)(const char *name, char *out, size_t *bytes, int *status);

static struct {
    bool all;
    regex_t regex;
    demangle_function demangle;
} choice = {.all = true};

static demangle_function find_demangle(void)
{
    void *p = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!p) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        p = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    demangle_function f;
    memcpy(&f, &p, sizeof f);
    return f;
}

bool sanitizer_choose(const char *regex)
{
    if (!regex || !*regex)
        return true;
    if (regcomp(&choice.regex, regex, REG_EXTENDED | REG_NOSUB)) {
        inject_problem(RECORD_PIPE_FATAL, "'%.200s' is not a regular expression", regex);
        return false;
    }
    choice.all = false;
    choice.demangle = find_demangle();
    return true;
}

bool sanitizer_chosen(const char *name)
{
    if (choice.all)
        return true;
    if (!name)
        return false;
    if (regexec(&choice.regex, name, 0, NULL, 0) == 0)
        return true;
    int status = -1;
    char *plain = choice.demangle ? choice.demangle(name, NULL, NULL, &status) : NULL;
    bool chosen = plain && status == 0 && regexec(&choice.regex, plain, 0, NULL, 0) == 0;
    free(plain);
    return chosen;
}
