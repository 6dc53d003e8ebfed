#include "trace/export/perfetto_tracks.h"

#include <stdlib.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"

struct group {
    UT_hash_handle hh;
    struct key {
        int64_t process, stream;
        uint64_t kind;
    } key;
    uint32_t lanes;
    struct lane {
        uint32_t id;
        int64_t end; /* of the last slice */
    } lane[PERFETTO_LANES];
};

struct perfetto_tracks {
    struct group *groups;
    uint32_t count; /* of lines */
};

struct perfetto_tracks *perfetto_tracks_new(struct err *err)
{
    return mem_zalloc(1, sizeof(struct perfetto_tracks), err);
}

void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
    struct group *g, *next;
    if (!tracks)
        return;
    HASH_ITER(hh, tracks->groups, g, next)
    {
        HASH_DEL(tracks->groups, g);
        free(g);
    }
    free(tracks);
}

static struct group *group_new(struct perfetto_tracks *tracks, struct key key, struct err *err)
{
    struct group *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return NULL;
    g->key = key;
    HASH_ADD(hh, tracks->groups, key, sizeof key, g);
    if (hash_has(g))
        return g;
    free(g);
    (void)err_set(err, "out of memory");
    return NULL;
}

static struct group *group_of(struct perfetto_tracks *tracks, struct key key, struct err *err)
{
    struct group *g;
    HASH_FIND(hh, tracks->groups, &key, sizeof key, g);
    return g ? g : group_new(tracks, key, err);
}

int perfetto_tracks_place(struct perfetto_tracks *tracks, int64_t process, uint32_t kind, int64_t stream, int64_t start,
                          int64_t end, struct perfetto_track *track, struct err *err)
{
    struct group *g = group_of(tracks, (struct key){process, stream, kind}, err);
    if (!g)
        return -1;
    uint32_t i = 0;
    while (end > start && i < g->lanes && g->lane[i].end > start)
        i++;
    if (i == PERFETTO_LANES)
        return 1;
    track->fresh = i == g->lanes;
    if (track->fresh)
        g->lane[g->lanes++] = (struct lane){++tracks->count, INT64_MIN};
    if (end > start)
        g->lane[i].end = end;
    track->id = g->lane[i].id;
    track->lane = i;
    return 0;
}
