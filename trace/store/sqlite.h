/* sqlite: SQLite's header, for code that is part of the program and of the loadable extension alike: an extension
 * reaches SQLite through the table its host hands over, never by linking. */
#pragma once

#ifdef OFFCHIP_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif
