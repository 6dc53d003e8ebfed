/* perfetto_tracks: the lines of a timeline. What overlaps does not stand in one: the form allows slices of a line to
 * lie inside each other, never to cross (Trace Event Format, "Duration Events"; ui.perfetto.dev drops such slices). So
 * each group of things that belong together (a kind of a process, a CUDA stream) has as many lines as it needs, filled
 * first fit by time. */
#ifndef TRACE_EXPORT_PERFETTO_TRACKS_H
#define TRACE_EXPORT_PERFETTO_TRACKS_H

#include <stdint.h>

#include "trace/base/err.h"

enum { PERFETTO_LANES = 64 }; /* of a group, at most */

struct perfetto_tracks;

struct perfetto_track {
    uint32_t id;   /* from 1 */
    uint32_t lane; /* of its group, from 0 */
    int fresh;     /* nobody had this track before */
};

struct perfetto_tracks *perfetto_tracks_new(struct err *err);
void perfetto_tracks_free(struct perfetto_tracks *tracks);

/* The line for a slice of process, kind and stream, from start to end; start == end: something without length, which
 * stands in the first. Starts may come in any order. 0; 1: all lines of the group are taken; -1 with *err set. */
int perfetto_tracks_place(struct perfetto_tracks *tracks, int64_t process, uint32_t kind, int64_t stream, int64_t start,
                          int64_t end, struct perfetto_track *track, struct err *err);

#endif
