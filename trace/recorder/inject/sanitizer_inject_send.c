#include <pthread.h>

#include "trace/recorder/inject/sanitizer_inject.h"

enum { BATCH = 1024, SEND_WAIT_MS = 2000 };

/* Reasons in table dropped. */
static const char not_delivered[] = "warp accesses that the recorder did not take in time",
                  not_filled[] = "slots of the device's buffer that were not filled";

/* One launch at a time: its thread, and the helper that drains its ring, in turn. */
static struct {
    pthread_mutex_t lock; /* of `taken` */
    pthread_cond_t free;
    bool taken;
    bool touches;
    bool stuck; /* the recorder did not read for SEND_WAIT_MS: do not wait for it any more */
    size_t n;
    uint64_t accesses, lost, unfilled; /* in the messages; of the launch */
    struct record_pipe_message messages[BATCH + SANITIZER_SLOT_MESSAGES];
} sending = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = PTHREAD_COND_INITIALIZER};

void sanitizer_send_start(bool touches)
{
    sending.touches = touches;
}

void sanitizer_send_begin(const struct record_pipe_message *launch)
{
    pthread_mutex_lock(&sending.lock);
    while (sending.taken)
        pthread_cond_wait(&sending.free, &sending.lock);
    sending.taken = true;
    pthread_mutex_unlock(&sending.lock);
    sending.accesses = sending.lost = sending.unfilled = 0;
    sending.messages[0] = *launch;
    sending.n = 1;
}

void sanitizer_send_flush(void)
{
    int wait_ms = sending.stuck ? 0 : SEND_WAIT_MS;
    if (sending.n == 0)
        return;
    if (!inject_offer(sending.messages, sending.n)) {
        (void)inject_outbox_send(wait_ms);
        if (!inject_offer(sending.messages, sending.n))
            sending.lost += sending.accesses;
    }
    /* What is sent takes no memory of the program; the recorder sets the pace. */
    sending.stuck |= inject_outbox_send(wait_ms) != 0;
    sending.n = 0;
    sending.accesses = 0;
}

void sanitizer_send_slot(const void *slot)
{
    struct record_pipe_message *m = sending.messages + sending.n;
    size_t n = sending.touches ? sanitizer_touch_messages(slot, m) : sanitizer_slot_messages(slot, m);
    sending.unfilled += n == 0;
    sending.accesses += n > 0;
    sending.n += n;
    if (sending.n >= BATCH)
        sanitizer_send_flush();
}

void sanitizer_send_unfilled(uint64_t slots)
{
    sending.unfilled += slots;
}

void sanitizer_send_end(void)
{
    sending.messages[sending.n++] = (struct record_pipe_message){.type = RECORD_PIPE_LAUNCH_END};
    sanitizer_send_flush();
    inject_count(RECORD_PIPE_DROP, not_delivered, sending.lost);
    inject_count(RECORD_PIPE_DROP, not_filled, sending.unfilled);
    pthread_mutex_lock(&sending.lock);
    sending.taken = false;
    pthread_cond_signal(&sending.free);
    pthread_mutex_unlock(&sending.lock);
}
