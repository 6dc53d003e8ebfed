/* Any bytes as what a recorded process sends: messages of 64 bytes, the last cut off. The first byte says how they
 * begin (bit 0: a greeting is put in front) and in what portions they come. Whatever is taken becomes a trace that
 * opens, and is complete only after a farewell. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/recorder/recorder_trace.h"
#include "trace/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static int greet(struct recorder_trace *trace, struct err *err)
{
    struct record_pipe_message hello = {.type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC, .id = 1};
    hello.bytes = RECORD_PIPE_VERSION;
    return recorder_trace_put(trace, &hello, 1, err);
}

static int put_all(struct recorder_trace *trace, const uint8_t *bytes, size_t size, size_t portion, struct err *err)
{
    size_t n = size / sizeof(struct record_pipe_message);
    struct record_pipe_message *messages = malloc(n * sizeof *messages + 1);
    if (!messages)
        abort();
    memcpy(messages, bytes, n * sizeof *messages);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i += portion)
        rc = recorder_trace_put(trace, messages + i, n - i < portion ? n - i : portion, err);
    free(messages);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static char path[64];
    struct recorder_trace_summary summary;
    struct err err = {""};
    if (size < 1)
        return 0;
    /* In memory where that can be: a trace is synchronised to its disk. */
    (void)snprintf(path, sizeof path, "%s/offchip-fuzz-%ld.db", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
                   (long)getpid());
    const struct recorder_trace_options options = {
        .path = path, .force = true, .command_line = "fuzz", .sysfs = "/nonexistent"};
    struct recorder_trace *trace = recorder_trace_new(&options, &err);
    if (!trace)
        abort();
    if (!(input[0] & 1) || greet(trace, &err) == 0)
        (void)put_all(trace, input + 1, size - 1, 1 + (input[0] >> 1), &err);
    for (size_t i = 0; recorder_trace_problem(trace, i); i++)
        assert(strlen(recorder_trace_problem(trace, i)) <= RECORD_PIPE_TEXT_MAX);
    int rc = recorder_trace_finish(trace, &summary, &err);
    if (rc == 0 && summary.path[0]) {
        struct store *store = store_open(path, &err);
        assert(store);
        assert(store_complete(store) == summary.complete && (!summary.complete || summary.ended));
        store_close(store);
    }
    (void)unlink(path);
    return 0;
}
