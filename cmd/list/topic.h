/* topic: everything that the program's tables say of one name: a metric, a setting, a policy and its parameters, a
 * program and its keys, a number of platforms, a platform. */
#ifndef CMD_LIST_TOPIC_H
#define CMD_LIST_TOPIC_H

#include <stdio.h>

#include "trace/base/suggest.h"

/* Print what is known of suggest->word; how many things have that name. The other names are offered as suggestions. */
size_t topic_print(FILE *to, struct suggest *suggest);

#endif
