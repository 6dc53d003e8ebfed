/* derive_scans: the reads of each launch as the lists that the zerocopy engine replays.
 *
 * What a warp instruction reads without a gap is a list; the lists of a launch are put in order of address, and what an
 * earlier one holds already is left out (list_ends.h): each sector is read once per launch. The structure is the
 * stretches of memory that are read, one after the other without the gaps between them. Under the pattern merged these
 * lists make the requests of the accesses themselves where no sector is read twice; under naive they tell what a thread
 * per list would have made. */
#ifndef REPLAY_DERIVE_DERIVE_SCANS_H
#define REPLAY_DERIVE_DERIVE_SCANS_H

#include "replay/derive/derive.h"
#include "replay/derive/derive_space.h"
#include "replay/derive/list_ends.h"
#include "trace/store/writer.h"

/* Zeroed before open. */
struct derive_scans {
    struct derive_space space;
    uint64_t element, base; /* bytes of an element; address of the structure */
    struct writer writer;
    struct list_ends ends; /* of the launch */
    uint64_t last_page;    /* touched, + 1; 0: none */
};

/* Go over the accesses once for the structure, and describe it in `out`. Without any read nothing is written. */
int derive_scans_open(struct derive_scans *scans, const struct derive_source *source, struct store *out,
                      const struct derive_options *options, struct err *err);
void derive_scans_op(struct derive_scans *scans, const struct program_op *op);
int derive_scans_end(struct derive_scans *scans, uint32_t launch, struct err *err);
int derive_scans_flush(struct derive_scans *scans, struct err *err);
void derive_scans_close(struct derive_scans *scans);

/* All of it: the lists of a source and nothing else, for an engine that asks for them. Without any read an error. */
int derive_lists(const struct derive_source *source, struct store *out, const struct derive_options *options,
                 struct err *err);

/* What an instruction reads, as runs of sectors of the structure that `space` lays out. */
void derive_lists_lines(struct list_ends *ends, const struct derive_space *space, const struct access_line *line,
                        int lines);

#endif
