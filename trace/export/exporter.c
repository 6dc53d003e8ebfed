#include "trace/export/exporter.h"

#include <string.h>

const struct exporter *const exporters[] = {&export_csv, &export_perfetto, NULL};

const struct exporter *exporter_find(const char *name)
{
    for (size_t i = 0; exporters[i]; i++)
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}
