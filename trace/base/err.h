/* err: what went wrong, as one sentence, carried back to the caller.
 *
 * Every fallible function returns 0 or -1 (a reader's next(): 1, 0 or -1) and takes a `struct err *` as its last
 * argument. The message is set where the failure is first seen and untouched on success; a caller may put the place
 * (file, line, row) in front. Only cmd/ prints it. */
#pragma once

#include <stdbool.h>

/* Behind the declaration of a function that policies may call (models/plugin/plugin.h): the program exports it, under a
 * name that no other library has. */
#define PLUGIN_API(name) __asm__("offchip_" #name) __attribute__((visibility("protected")))

struct err {
    char msg[512];
};

/* Set the message; always returns -1, so that `return err_set(err, ...)` reads well. err may be NULL. */
int err_set(struct err *err, const char *format, ...) PLUGIN_API(err_set) __attribute__((format(printf, 2, 3)));

/* Whether it is that memory ran out, which all messages of it (SQLite's too) say as "out of memory". Where an error is
 * an answer, as that a policy cannot do something, this one is none: it is passed on. */
bool err_is_memory(const struct err *err);

/* 0; -1 with *err set to the same where `why` is that memory ran out. */
int err_pass_memory(const struct err *why, struct err *err);

/* Put `format` and ": " in front of the message already there; always returns -1. */
int err_at(struct err *err, const char *format, ...) PLUGIN_API(err_at) __attribute__((format(printf, 2, 3)));
