#include "trace/recorder/wire/record_pipe.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static int make_room(struct record_pipe_texts *texts, size_t id, struct err *err)
{
    const size_t old = texts->cap;
    if (id < texts->count)
        return 0;
    if (id - texts->count > RECORD_PIPE_TEXTS_GAP)
        return err_set(err, "text number %zu does not follow those that came, %zu", id, texts->count);
    if (mem_grow((void **)&texts->texts, &texts->cap, id + 1, sizeof *texts->texts, err))
        return -1;
    memset(texts->texts + old, 0, (texts->cap - old) * sizeof *texts->texts);
    texts->count = id + 1;
    return 0;
}

/* The next fragment of a text: room doubles with what came. A text that is whole, as an empty one is when it comes
 * again, stays where it is. */
static int append(struct record_pipe_text *t, const char *fragment, uint32_t n, struct err *err)
{
    const uint32_t fragments = t->filled / RECORD_PIPE_TEXT_BYTES;
    if (!t->text || (fragments && (fragments & (fragments - 1)) == 0)) {
        const size_t twice = fragments ? 2 * (size_t)t->filled : n;
        char *grown = realloc(t->text, (twice < t->total ? twice : t->total) + 1);
        if (!grown)
            return err_set(err, "out of memory");
        t->text = grown;
    }
    memcpy(t->text + t->filled, fragment, n);
    t->filled += n;
    t->text[t->filled] = 0;
    return 0;
}

int record_pipe_text_put(struct record_pipe_texts *texts, const struct record_pipe_message *message, struct err *err)
{
    if (message->id >= RECORD_PIPE_TEXTS_MAX)
        return err_set(err, "text number %llu is over the limit of %d", (unsigned long long)message->id,
                       RECORD_PIPE_TEXTS_MAX);
    if (message->text_total > RECORD_PIPE_TEXT_MAX)
        return err_set(err, "a text of %u bytes is over the limit of %d", message->text_total, RECORD_PIPE_TEXT_MAX);
    if (make_room(texts, (size_t)message->id, err))
        return -1;
    struct record_pipe_text *t = &texts->texts[message->id];
    if (!t->text)
        t->total = message->text_total;
    if (message->text_total != t->total || message->text_offset != t->filled || (t->total > 0 && t->filled == t->total))
        return err_set(err, "text %llu: fragment at %u of %u does not follow %u of %u", (unsigned long long)message->id,
                       message->text_offset, message->text_total, t->filled, t->total);
    uint32_t n = t->total - t->filled;
    if (n > RECORD_PIPE_TEXT_BYTES)
        n = RECORD_PIPE_TEXT_BYTES;
    if (texts->bytes + n > RECORD_PIPE_TEXTS_SUM)
        return err_set(err, "the texts are over the limit of %d MiB", RECORD_PIPE_TEXTS_SUM >> 20);
    texts->bytes += n;
    return append(t, message->text, n, err);
}

const char *record_pipe_text_get(const struct record_pipe_texts *texts, uint64_t id)
{
    if (id >= texts->cap || !texts->texts[id].text || texts->texts[id].filled != texts->texts[id].total)
        return NULL;
    return texts->texts[id].text;
}

void record_pipe_texts_release(struct record_pipe_texts *texts)
{
    for (size_t i = 0; i < texts->cap; i++)
        free(texts->texts[i].text);
    free(texts->texts);
    *texts = (struct record_pipe_texts){0};
}

int record_pipe_check(const struct record_pipe_message *message, const struct record_pipe_texts *texts, struct err *err)
{
    switch (message->type) {
    case RECORD_PIPE_HELLO:
        if (message->kind != RECORD_PIPE_MAGIC)
            return err_set(err, "not a recorder's connection: magic %08x, expected %08x", message->kind,
                           (unsigned)RECORD_PIPE_MAGIC);
        if (message->bytes != RECORD_PIPE_VERSION)
            return err_set(err,
                           "the injected library speaks version %llu, this program version %d: install both from one "
                           "build",
                           (unsigned long long)message->bytes, RECORD_PIPE_VERSION);
        return 0;
    case RECORD_PIPE_FACT:
        if (!record_pipe_text_get(texts, message->addr))
            return err_set(err, "a message names text %llu, which was not sent", (unsigned long long)message->addr);
        /* fall through */
    case RECORD_PIPE_KERNEL:
    case RECORD_PIPE_COUNTER:
    case RECORD_PIPE_SKIP:
    case RECORD_PIPE_DROP:
    case RECORD_PIPE_PROBLEM:
    case RECORD_PIPE_LAUNCH:
    case RECORD_PIPE_RANGE:
        if (!record_pipe_text_get(texts, message->id))
            return err_set(err, "a message names text %llu, which was not sent", (unsigned long long)message->id);
        return 0;
    case RECORD_PIPE_UVM:
    case RECORD_PIPE_RECORD:
    case RECORD_PIPE_FREE:
    case RECORD_PIPE_BYE:
    case RECORD_PIPE_ACCESS:
    case RECORD_PIPE_LANES:
    case RECORD_PIPE_LAUNCH_END:
    case RECORD_PIPE_NARROW:
    case RECORD_PIPE_PAGES:
        return 0;
    default:
        return err_set(err, "unknown message type %u", message->type);
    }
}
