#include "trace/graph/graph_labels.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_text.h"

/* One line into *vertex; `seen` is a bitmap of vertices. */
static int take(struct source *source, const char *line, uint64_t vertices, unsigned char *seen, uint64_t *vertex,
                struct err *err)
{
    unsigned long long at = source_line_number(source);
    const char *p = line;
    if (!graph_take_u64(&p, vertex) || !graph_line_done(p))
        return err_set(err, "line %llu: '%.40s' is no vertex", at, line);
    if (*vertex >= vertices)
        return err_set(err, "line %llu: vertex %llu; the graph has %llu", at, (unsigned long long)*vertex,
                       (unsigned long long)vertices);
    if (seen[*vertex / 8] >> (*vertex % 8) & 1)
        return err_set(err, "line %llu: vertex %llu stands twice", at, (unsigned long long)*vertex);
    seen[*vertex / 8] |= (unsigned char)(1U << (*vertex % 8));
    return 0;
}

int graph_labels_read(struct source *source, uint64_t vertices, uint32_t **labelled, uint64_t *count, struct err *err)
{
    *labelled = NULL;
    *count = 0;
    if (vertices > UINT32_MAX)
        return err_set(err, "%llu vertices; at most %u can be labelled", (unsigned long long)vertices, UINT32_MAX);
    unsigned char *seen = mem_zalloc(vertices / 8 + 1, 1, err);
    if (!seen)
        return -1;
    char *line;
    size_t length, cap = 0;
    uint64_t vertex = 0;
    int rc;
    while ((rc = source_line(source, &line, &length, err)) > 0) {
        if (*line == '#' || graph_line_done(line))
            continue;
        if ((rc = take(source, line, vertices, seen, &vertex, err)) ||
            (rc = mem_grow((void **)labelled, &cap, (size_t)*count + 1, sizeof **labelled, err)))
            break;
        (*labelled)[(*count)++] = (uint32_t)vertex;
    }
    free(seen);
    if (rc == 0 && !*count)
        rc = err_set(err, "no vertices");
    if (rc) {
        free(*labelled);
        *labelled = NULL;
        *count = 0;
    }
    return rc;
}
