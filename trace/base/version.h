/* version: what this build of offchip is. The texts are written by make, which looks at them every time. */
#pragma once

/* The release, "0.2.0". Models of different releases may give different numbers for one case (docs/CHANGELOG.md). */
extern const char offchip_release[];
/* The release and which commit of it, "0.2.0+2ab81ac"; the release alone where there is no git. Stands in origins,
 * results and the keys of results. */
extern const char offchip_version[];
/* Compiler's name and the flags that tell builds apart. */
extern const char offchip_build[];
