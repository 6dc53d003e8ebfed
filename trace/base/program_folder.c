#include "trace/base/program_folder.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
