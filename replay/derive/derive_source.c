#include "replay/derive/derive_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/derive/derive_scans.h"

static const struct {
    enum workload_view view;
    const char *name, *lacks;
} views[] = {{VIEW_UVM, "uvm", "has no pages to touch"},
             {VIEW_ZEROCOPY, "zerocopy", "reads no host memory"},
             {VIEW_DRAM, "dram", "makes no DRAM requests"},
             {VIEW_PLACEMENT, "placement", "is no task to be placed"}};
enum { VIEWS = sizeof views / sizeof *views };

int derive_no_view(const struct workload_type *type, enum workload_view view, struct err *err)
{
    char names[64] = "";
    const char *lacks = "has no such view";
    for (size_t i = 0; i < VIEWS; i++) {
        if (views[i].view == view)
            lacks = views[i].lacks;
        if (type->views & views[i].view)
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                           views[i].name);
    }
    return err_set(err, "workload %s %s; its views: %s", type->name, lacks, *names ? names : "none");
}

bool derive_input_is(const struct input *input, enum workload_view view)
{
    const struct workload_type *type = input->workload.type;
    if (type)
        return type->program && type->views & view;
    return input->store && store_stream_find(input->store, "accesses") >= 0;
}

int derive_input_open(struct derive_input *in, const struct input *input, enum workload_view view, struct err *err)
{
    const struct workload *w = &input->workload;
    memset(in, 0, sizeof *in);
    in->source = (struct derive_source){.store = input->store, .name = input->spec};
    if (!w->type)
        return store_stream_find(input->store, "accesses") >= 0
                   ? 0
                   : err_set(err, "%s holds no accesses: import an Accel-Sim trace or a recording of accesses",
                             input->spec);
    if (!derive_input_is(input, view))
        return derive_no_view(w->type, view, err);
    in->source.program = &in->program;
    return w->type->program(w->state, &in->program, err);
}

/* --- a view for one replay --- */

static int write_view(const struct derive_source *source, enum workload_view view, struct store *out, struct err *err)
{
    const struct derive_options all = {.last = UINT64_MAX, .reuse = REUSE_NONE};
    struct program_counts counts;
    return view == VIEW_UVM ? derive_touches(source, out, &all, &counts, err) : derive_lists(source, out, &all, err);
}

struct store *derive_view(const struct derive_source *source, enum workload_view view, struct err *err)
{
    struct store *out = store_create_temporary(source->name, err);
    if (out && write_view(source, view, out, err) == 0)
        return out;
    store_close(out);
    return NULL;
}

/* --- what a recording lacks --- */

/* A list of counts and reasons, as much as there is room for. */
struct list {
    char text[400];
};

static int add_row(void *ctx, const struct store_value *v, size_t n)
{
    struct list *list = ctx;
    size_t used = strlen(list->text);
    if (n >= 2 && v[0].s)
        (void)snprintf(list->text + used, sizeof list->text - used, "%s%" PRId64 " x %s", used ? ", " : "", v[1].i,
                       v[0].s);
    return 0;
}

static void note_table(struct store *store, const char *table, const char *what, struct outcome *outcome)
{
    struct list list = {""};
    struct err why;
    if (store_rows(store, table, add_row, &list, &why))
        outcome_fail(outcome, &why);
    else if (list.text[0])
        outcome_note(outcome, "%s: %s", what, list.text);
}

void derive_note_extent(struct store *store, struct outcome *outcome)
{
    const char *chosen = store_origin_get(store, "kernels.chosen");
    if (!store_complete(store))
        outcome_note(outcome, "the recording is incomplete: it holds the accesses up to where it was cut");
    note_table(store, "dropped", "the recording is not whole", outcome);
    note_table(store, "skipped", "left out when it was recorded", outcome);
    if (chosen)
        outcome_note(outcome, "the recording holds only kernels that match '%s'", chosen);
}

void derive_notes(const struct derive_source *source, enum workload_view view, struct outcome *outcome)
{
    if (!source->store) {
        if (view == VIEW_DRAM)
            outcome_note(outcome, "the warps of as many blocks as are resident take turns, an instruction each");
        return;
    }
    derive_note_extent(source->store, outcome);
    if (view == VIEW_UVM) {
        outcome_note(outcome, "what waits for what is not recorded: each load is waited for, no store is");
        outcome_note(outcome, "computing between accesses is not recorded: time_ns is without it");
    }
    const char *order = store_origin_get(source->store, "access_order");
    if (view == VIEW_DRAM)
        outcome_note(outcome, "accesses reach L2 in the order of the recording: %s", order ? order : "not known");
}
