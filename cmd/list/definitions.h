/* definitions: what the program's tables say of everything that can be set or is reported: metrics, settings of
 * engines, parameters of policies, keys of programs, numbers of platforms. */
#ifndef CMD_LIST_DEFINITIONS_H
#define CMD_LIST_DEFINITIONS_H

#include "cmd/console/listing.h"
#include "trace/base/suggest.h"

/* Fill a listing with those of the owner called `of`, an engine, a policy, a program or a section; NULL: of all. False:
 * there is no owner of that name; the owners' names were offered as suggestions. The listing is started either way. */
bool definitions_metrics(struct listing *listing, const char *of, struct suggest *suggest);
bool definitions_settings(struct listing *listing, const char *of, struct suggest *suggest);
bool definitions_parameters(struct listing *listing, const char *of, struct suggest *suggest);
bool definitions_keys(struct listing *listing, const char *of, struct suggest *suggest);
bool definitions_numbers(struct listing *listing, const char *of, struct suggest *suggest);

#endif
