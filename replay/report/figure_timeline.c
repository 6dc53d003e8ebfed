/* Figure timeline: the pages of a recording over time, or the tasks of a file (figure_placement.c). */
#include <stdio.h>
#include <stdlib.h>

#include "replay/report/plot.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/mem.h"

/* Marks are gathered in the cells of this grid, about two pixels each, which bounds the size of the script. */
enum { GRID_X = 450, GRID_Y = 225 };

/* Kinds of marks. Pages that went to the GPU are drawn with the share of them that faulted. */
enum layer { FAULTED, PREFETCHED, CPU_FAULT, BACK, EVICTED, USER, LAYERS };
static const char *const layer_names[LAYERS] = {[CPU_FAULT] = "CPU fault",
                                                [BACK] = "back to the CPU",
                                                [EVICTED] = "evicted",
                                                [USER] = "the program's own prefetch"};
static const int layer_linetypes[LAYERS] = {[CPU_FAULT] = 3, [BACK] = 5, [EVICTED] = 8, [USER] = 2};

struct timeline {
    const struct uvm_recording *recording;
    double *base_mib; /* of each piece, on the y axis */
    double height_mib;
    int64_t origin_ns, begin_ns, last_ns; /* the trace's start; where the figure begins; the last record */
    double span_ns;
    float *cells; /* [layer][y][x]: pages */
    size_t early; /* CPU faults before the first migration */
    FILE *script;
};

/* The span of everything drawn: from the first migration to the last record, or the part that is asked for. */
static void find_span(struct timeline *t, const struct figure_input *input)
{
    const struct uvm_recording *r = t->recording;
    int64_t lo = r->events[0].start_ns, hi = lo;
    for (size_t e = 0; e < r->event_count; e++)
        hi = r->events[e].end_ns > hi ? r->events[e].end_ns : hi;
    for (size_t i = 0; i < r->cpu_fault_count; i++)
        hi = r->cpu_faults[i].time_ns > hi ? r->cpu_faults[i].time_ns : hi;
    t->origin_ns = lo;
    for (int s = 0; s < store_stream_count(input->store); s++) {
        const struct stream *stream = store_stream(input->store, s);
        if (stream->unit == TIME_NS && stream->records && stream->time_first < t->origin_ns)
            t->origin_ns = stream->time_first;
    }
    t->last_ns = hi;
    if (input->window) {
        lo = t->origin_ns + input->from_ns;
        hi = input->to_ns - 1 < hi - t->origin_ns ? t->origin_ns + input->to_ns - 1 : hi;
    }
    t->begin_ns = lo;
    t->span_ns = hi > lo ? (double)(hi - lo) : 1;
}

static void mark(struct timeline *t, enum layer layer, int64_t time_ns, uint64_t addr, float pages)
{
    const struct uvm_recording *r = t->recording;
    const struct uvm_piece *piece = uvm_recording_piece(r, addr);
    if (!piece || time_ns < t->begin_ns || (double)(time_ns - t->begin_ns) > t->span_ns)
        return;
    double mib = t->base_mib[piece - r->pieces] + (double)(addr - piece->start) / 1048576;
    size_t x = (size_t)((double)(time_ns - t->begin_ns) / t->span_ns * (GRID_X - 1));
    size_t y = (size_t)(mib / t->height_mib * (GRID_Y - 1));
    if (x < GRID_X && y < GRID_Y)
        t->cells[((size_t)layer * GRID_Y + y) * GRID_X + x] += pages;
}

static enum layer layer_of(const struct uvm_event *event, const struct migration *m)
{
    switch (event->kind) {
    case UVM_EVENT_BATCH:
        return m->cause == RECORD_CAUSE_PREFETCH ? PREFETCHED : FAULTED;
    case UVM_EVENT_USER_IN:
        return USER;
    case UVM_EVENT_EVICT:
        return EVICTED;
    default:
        return BACK;
    }
}

static void mark_all(struct timeline *t)
{
    const struct uvm_recording *r = t->recording;
    uint64_t step = (uint64_t)(t->height_mib * 1048576 / GRID_Y / 2) + UVM_PAGE_BYTES;
    for (size_t e = 0; e < r->event_count; e++)
        for (size_t v = r->events[e].first; v < r->events[e].first + r->events[e].count; v++)
            for (uint32_t i = 0; i < r->visits[v].count; i++) {
                const struct migration *m = &r->visits[v].migrations[i];
                for (uint64_t at = 0; at < m->bytes; at += step) {
                    uint64_t part = m->bytes - at < step ? m->bytes - at : step;
                    mark(t, layer_of(&r->events[e], m), m->start_ns, m->addr + at, (float)part / UVM_PAGE_BYTES);
                }
            }
    for (size_t i = 0; i < r->cpu_fault_count; i++) {
        t->early += r->cpu_faults[i].time_ns < t->begin_ns;
        mark(t, CPU_FAULT, r->cpu_faults[i].time_ns, r->cpu_faults[i].addr, 1);
    }
}

/* Stack the pieces on the y axis, without the gaps of the address space. */
static int stack_pieces(struct timeline *t, struct err *err)
{
    const struct uvm_recording *r = t->recording;
    t->base_mib = mem_zalloc(r->piece_count + 1, sizeof *t->base_mib, err);
    t->cells = t->base_mib ? mem_zalloc((size_t)LAYERS * GRID_X * GRID_Y, sizeof *t->cells, err) : NULL;
    if (!t->cells)
        return -1;
    size_t gaps = 0;
    for (size_t p = 0; p < r->piece_count; p++) {
        if (p && r->pieces[p].start != r->pieces[p - 1].end && gaps++ < 64)
            (void)fprintf(t->script,
                          "set arrow from graph 0, first %.4f to graph 1, first %.4f nohead dashtype 3 "
                          "linecolor rgb '#888888'\n",
                          t->height_mib, t->height_mib);
        t->base_mib[p] = t->height_mib;
        t->height_mib += (double)(r->pieces[p].end - r->pieces[p].start) / 1048576;
    }
    return 0;
}

/* One line for each cell of a layer that is not empty: ms, MiB, share faulted. How many. */
static size_t layer_data(struct timeline *t, enum layer layer)
{
    size_t count = 0;
    const double begin_ms = (double)(t->begin_ns - t->origin_ns) / 1e6;
    (void)fprintf(t->script, "$d%d << EOD\n", (int)layer);
    for (size_t y = 0; y < GRID_Y; y++)
        for (size_t x = 0; x < GRID_X; x++) {
            size_t i = y * GRID_X + x, plane = (size_t)GRID_X * GRID_Y;
            float pages = t->cells[layer * plane + i], other = layer == FAULTED ? t->cells[PREFETCHED * plane + i] : 0;
            if (pages + other <= 0)
                continue;
            (void)fprintf(t->script, "%.6g %.6g %.3g\n", begin_ms + ((double)x + 0.5) / GRID_X * t->span_ns / 1e6,
                          ((double)y + 0.5) / GRID_Y * t->height_mib, (double)(pages / (pages + other)));
            count++;
        }
    (void)fprintf(t->script, "NaN NaN NaN\nEOD\n");
    return count;
}

static int draw_timeline(struct timeline *t, const struct figure_input *input, struct err *err)
{
    if (stack_pieces(t, err))
        return -1;
    find_span(t, input);
    mark_all(t);
    size_t cells[LAYERS] = {0}, all = 0;
    for (int l = 0; l < LAYERS; l++)
        if (l != PREFETCHED) /* drawn with the faulted ones */
            all += cells[l] = layer_data(t, (enum layer)l);
    if (!all)
        return err_set(err, "no migration or fault begins in that part of the recording, which lasts %.6g ms",
                       (double)(t->last_ns - t->origin_ns) / 1e6);
    const double begin_ms = (double)(t->begin_ns - t->origin_ns) / 1e6;
    char before[100] = "";
    if (t->early && !input->window)
        (void)snprintf(before, sizeof before, "%zu CPU faults before the first migration are not shown", t->early);
    plot_title(input, t->script, "Pages over time", before);
    (void)fputs("set linetype 2 linecolor rgb '#E69F00'\nset linetype 3 linecolor rgb '#009E73'\n"
                "set linetype 5 linecolor rgb '#CC79A7'\nset linetype 8 linecolor rgb '#000000'\n",
                t->script);
    (void)fprintf(t->script,
                  "set xlabel 'time since the recording began (ms)'\nset ylabel 'managed memory, by address (MiB)'\n"
                  "set xrange [%.9g:%.9g]\nset yrange [0:%.6g]\nset cbrange [0:1]\n"
                  "set palette defined (0 '#7FB8DD', 0.5 '#C2703D', 1 '#6B1E00')\n"
                  "set cblabel 'faulted, not prefetched (ratio)'\n"
                  "plot $d0 using 1:2:3 with points palette pointtype 5 pointsize 0.25 notitle",
                  begin_ms, begin_ms + t->span_ns / 1e6, t->height_mib);
    for (int l = CPU_FAULT; l < LAYERS; l++)
        if (cells[l])
            (void)fprintf(
                t->script,
                ", $d%d using 1:2 with points linetype %d pointtype 5 pointsize 0.25 notitle, NaN with points "
                "linetype %d pointtype 5 title \"%s\"",
                l, layer_linetypes[l], layer_linetypes[l], layer_names[l]);
    (void)fputc('\n', t->script);
    return 0;
}

static int write_timeline(const struct figure_input *input, FILE *script, struct err *err)
{
    struct uvm_recording recording;
    if (!input->store)
        return figure_tasks_timeline(input, script, err);
    if (uvm_recording_load(&recording, input->store, (struct recording){RECORDING_ANY, RECORDING_ANY}, err))
        return -1;
    struct timeline t = {.recording = &recording, .script = script};
    int rc =
        recording.event_count ? draw_timeline(&t, input, err) : err_set(err, "%s holds no migrations", input->path);
    free(t.base_mib);
    free(t.cells);
    uvm_recording_release(&recording);
    return rc;
}

const struct figure figure_timeline = {
    .name = "timeline",
    .summary = "pages of a recording over time, by cause; or tasks under auto, pairs that overlap",
    .needs = "a recording of migrations, or a task file",
    .source = "Bateni et al. 2020, figures 6 and 7",
    .kinds = FIGURE_TRACE | FIGURE_WINDOW | FIGURE_SPEC,
    .width = 1100,
    .height = 560,
    .write = write_timeline,
};
