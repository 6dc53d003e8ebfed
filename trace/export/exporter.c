#include "trace/export/exporter.h"

#include <string.h>

#include "trace/base/sorted.h"

const struct exporter *const exporters[] = {
    &export_csv, &export_perfetto, &export_dram_csv, &export_dramsim3, &export_ramulator, NULL,
};

const struct exporter *exporter_find(const char *name)
{
    return FIND_NAMED(exporters, name);
}

void exporter_skip(struct exporter_context *context, const char *reason)
{
    for (size_t i = 0; i < context->skip_count; i++)
        if (strcmp(context->skips[i].reason, reason) == 0) {
            context->skips[i].n++;
            return;
        }
    if (context->skip_count < EXPORTER_REASONS) {
        context->skips[context->skip_count].reason = reason;
        context->skips[context->skip_count++].n = 1;
    }
}

int exporter_left_out(const struct exporter *exporter, const struct exporter_context *context, char *text, size_t size,
                      struct err *err)
{
    struct facts facts;
    const uint32_t streams = context->stream >= 0 ? FACT(STREAMS) : 0;
    const uint32_t left = (FACTS_ALL & ~exporter->carries) | streams;
    if (facts_find(&facts, context->store, context->stream, left, err))
        return -1;
    (void)facts_text(&facts, left, text, size);
    return 0;
}
