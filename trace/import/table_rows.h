/* table_rows: a row of another tool's table becomes records, one for each of its addresses.
 *
 * Of CPU faults `bytes` is the program counter, of GPU faults their number: neither is in a unit of bytes. With columns
 * device (a number, or "GPU X (0)") or process the stream has the columns process_id, src_id and dst_id. A migration
 * without an address is none of the records: it counts, with its bytes and time, as lost by the source. */
#pragma once

#include "trace/import/csv.h"
#include "trace/import/reader.h"
#include "trace/import/table_columns.h"

struct table_rows {
    struct reader_context *context;
    struct input_stream *source;
    const struct table_columns *t;
    const struct csv_stream_options *names;
    int64_t bytes;   /* of rows without a column of bytes */
    int64_t process; /* of rows without a column of processes */
    struct stream stream;
    int index; /* of the stream; -1 before the first record */
    struct writer writer;
};

int table_rows_add(struct table_rows *g, const struct field *cells, size_t n, struct err *err);
