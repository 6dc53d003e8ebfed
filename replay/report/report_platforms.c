#include <string.h>

#include "replay/report/report.h"
#include "replay/results/note.h"
#include "replay/run/platform_use.h"

int report_platforms(const struct run_set *runs, json_t *lines)
{
    int rc = 0;
    for (size_t r = 0; r < runs->count && !rc; r++) {
        const char *head = NULL;
        size_t n;
        json_t *said;
        json_array_foreach(runs->runs[r].notes, n, said)
        {
            const char *text = json_string_value(said);
            head = text && platform_use_is_head(text) ? text : head;
        }
        rc = head ? note(lines, "%s", head) : note(lines, "platform %s", runs->runs[r].platform);
    }
    return rc;
}
