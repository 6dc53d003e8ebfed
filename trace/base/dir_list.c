#include "trace/base/dir_list.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 4, NAME_BYTES = 48, FOLDER_BYTES = 4096, ENTRIES_MAX = 100000 };

/* Keep the NAMES smallest names, in order. */
static void keep(char names[NAMES][NAME_BYTES], size_t *kept, const char *name)
{
    size_t at = *kept;
    while (at > 0 && strncmp(name, names[at - 1], NAME_BYTES - 1) < 0)
        at--;
    if (at == NAMES)
        return;
    size_t moved = *kept < NAMES ? *kept - at : NAMES - 1 - at;
    memmove(names[at + 1], names[at], moved * NAME_BYTES);
    (void)snprintf(names[at], NAME_BYTES, "%.*s", NAME_BYTES - 1, name);
    *kept += *kept < NAMES;
}

const char *dir_list(const char *folder, char *text, size_t size)
{
    char names[NAMES][NAME_BYTES];
    size_t kept = 0, all = 0, used = 0;
    DIR *dir = opendir(*folder ? folder : ".");
    if (!dir) {
        (void)snprintf(text, size, "its folder cannot be read: %s", strerror(errno));
        return text;
    }
    for (struct dirent *e; all < ENTRIES_MAX && (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            keep(names, &kept, e->d_name);
            all++;
        }
    (void)closedir(dir);
    (void)snprintf(text, size, "its folder is empty");
    for (size_t i = 0; i < kept && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "its folder holds ", names[i]);
    if (all > kept && used < size)
        (void)snprintf(text + used, size - used, " and %zu more", all - kept);
    return text;
}

const char *dir_list_beside(const char *path, char *text, size_t size)
{
    char folder[FOLDER_BYTES] = "";
    const char *slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) + 1 < sizeof folder)
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    return dir_list(folder, text, size);
}

bool program_folder(char folder[PATH_MAX])
{
    Dl_info self;
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash && (strncmp(slash, "/ld-", 4) == 0 || strcmp(slash, "/ld.so") == 0) &&
        dladdr((const void *)(uintptr_t)program_folder, &self) && realpath(self.dli_fname, folder))
        slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}
