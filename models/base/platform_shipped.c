#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/base/platform_type.h"
#include "trace/base/dir_list.h"
#include "trace/base/embedded.h"
#include "trace/base/suggest.h"

/* Installed files: share/offchip/platforms/NAME.ini. */
enum { NAME_BYTES = 64, NAMES_MAX = 256 };

static const char embedded_folder[] = "models/platforms/", end[] = ".ini";

static char installed_folder[PATH_MAX]; /* "": there is none */
static char names[NAMES_MAX][NAME_BYTES];
static size_t name_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_name(const char *file)
{
    size_t n = strlen(file);
    if (n < sizeof end || n - sizeof end + 1 >= NAME_BYTES || strcmp(file + n - sizeof end + 1, end) != 0 ||
        *file == '.' || name_count == NAMES_MAX)
        return;
    char name[NAME_BYTES] = "";
    memcpy(name, file, n - sizeof end + 1);
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    memcpy(names[name_count++], name, sizeof name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Beside BIN/offchip; a bundle's program is run from ROOT/lib/offchip. */
static void find_folder(void)
{
    static const char *const places[] = {"/../share/offchip/platforms", "/../../share/offchip/platforms"};
    char program[PATH_MAX], folder[PATH_MAX + 64];
    if (!program_folder(program))
        return;
    for (size_t i = 0; i < sizeof places / sizeof *places && !*installed_folder; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", program, places[i]);
        if (access(folder, F_OK) == 0 && !realpath(folder, installed_folder))
            *installed_folder = 0;
    }
}

static void find_names(void)
{
    for (size_t f = 0; embedded_files[f].path; f++)
        if (strncmp(embedded_files[f].path, embedded_folder, sizeof embedded_folder - 1) == 0)
            add_name(embedded_files[f].path + sizeof embedded_folder - 1);
    find_folder();
    DIR *folder = *installed_folder ? opendir(installed_folder) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));)
        add_name(e->d_name);
    if (folder)
        (void)closedir(folder);
    qsort(names, name_count, sizeof *names, by_name);
}

const char *platform_shipped(size_t i, char *buf, size_t size)
{
    (void)pthread_once(&once, find_names);
    if (i >= name_count)
        return NULL;
    (void)snprintf(buf, size, "%.*s", NAME_BYTES - 1, names[i]);
    return buf;
}

static const char *embedded(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s%s%s", embedded_folder, name, end);
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return embedded_files[i].text;
    return NULL;
}

/* Whether the summary of a shipped platform has that word: agx is a Xavier. */
static bool is_told_of(const char *platform, const char *word)
{
    const char *text = embedded(platform), *summary = text ? strstr(text, "\nsummary = ") : NULL;
    const char *found = summary && strlen(word) > 2 ? strcasestr(summary, word) : NULL;
    return found && found < strchr(summary + 1, '\n');
}

static int no_such_platform(const char *name, struct err *err)
{
    char shipped[NAME_BYTES], hint[96];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; platform_shipped(i, shipped, sizeof shipped); i++)
        suggest_offer(&suggest, shipped);
    for (size_t i = 0; !suggest.distance && platform_shipped(i, shipped, sizeof shipped); i++)
        if (is_told_of(shipped, name)) {
            suggest.distance = 1;
            (void)snprintf(suggest.best, sizeof suggest.best, "%s", shipped);
        }
    return err_set(err, "no platform is called '%.100s'; see 'offchip list platforms', or name an .ini file%s", name,
                   suggest_hint(&suggest, hint, sizeof hint));
}

const char *platform_shipped_text(const char *name, char *path, size_t size, struct err *err)
{
    *path = 0;
    (void)pthread_once(&once, find_names);
    char file[sizeof installed_folder + NAME_BYTES + 8];
    (void)snprintf(file, sizeof file, "%s/%.*s%s", installed_folder, NAME_BYTES - 1, name, end);
    const char *text = embedded(name);
    if (*installed_folder && strlen(name) < NAME_BYTES && access(file, F_OK) == 0) {
        (void)snprintf(path, size, "%s", file);
        return "";
    }
    if (!text)
        no_such_platform(name, err);
    return text;
}
