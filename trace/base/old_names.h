/* old_names: what names of an earlier release are called now, or what serves in their place.
 *
 * One table for options, settings, metrics, figures, programs and parameters: whoever types an old name is told the new
 * one instead of a guess. A row stays for one release. */
#ifndef TRACE_BASE_OLD_NAMES_H
#define TRACE_BASE_OLD_NAMES_H

/* What to write instead of an old name, as the end of "; now ..": NULL if it never was a name. Names of options stand
 * without dashes, or with them where something else has that name. */
const char *old_name(const char *name);

#endif
