/* json_tree: builds JSON step by step and checks for failure once.
 *
 * A step that fails (no memory, not a number, a key that is not UTF-8) makes the object or array NULL. A NULL absorbs
 * what is put into it, and makes its parent NULL. So a failure reaches the root, and nothing is left out silently.
 * json_pack() with "o" follows the same rule. */
#pragma once

#include <jansson.h>

#include "trace/base/err.h"

/* Set a member, or append an item; `value` is taken over. */
void json_tree_put(json_t **object, const char *key, json_t *value);
void json_tree_add(json_t **array, json_t *value);

/* A text from a file or command line; where it is not UTF-8, each of its bytes beyond ASCII becomes '?'. NULL without
 * memory. */
json_t *json_tree_text(const char *text);
/* The same of so many bytes, zero bytes among them. */
json_t *json_tree_bytes(const char *text, size_t bytes);

/* A number; null for what JSON cannot hold (infinite, none). */
json_t *json_tree_real(double value);

/* A copy whose objects and arrays are its own; texts and numbers are shared. NULL of NULL, or without memory; jansson's
 * own copies then lack members. */
json_t *json_tree_copy(const json_t *tree);

/* A text as JSON, keys that stand twice refused; NULL with *where set (which may be NULL). jansson 2.14's own
 * json_loadb() leaves characters out where memory ends; here that is the error "out of memory". */
json_t *json_tree_parse(const char *text, size_t bytes, json_error_t *where);

/* The tree as a text, with jansson's flags; the caller frees it. NULL of NULL, or without memory, where json_dumps()
 * leaves out the rest of a key. */
char *json_tree_dump(const json_t *tree, size_t flags);

/* 0 if the tree is whole, else -1 with *err set. */
int json_tree_check(const json_t *root, struct err *err);
