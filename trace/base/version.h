/* version: what this build of offchip is. Both texts are written by make, which looks at them every time. */
#ifndef TRACE_BASE_VERSION_H
#define TRACE_BASE_VERSION_H

/* As git names the sources; the release where there is no git. Stands in origins, results and the keys of results. */
extern const char offchip_version[];
/* Compiler's name and the flags that tell builds apart. */
extern const char offchip_build[];

#endif
