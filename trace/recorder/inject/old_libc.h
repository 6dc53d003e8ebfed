/* old_libc: included in front of all that is injected: which version of glibc's functions is meant.
 *
 * The libraries go into programs of any distribution from CentOS 7 on (glibc 2.17), so they must not ask for what a
 * later glibc brought. Of these functions glibc 2.32 to 2.34 made new versions, though only their place changed
 * (libpthread and libdl became parts of libc): the old ones are there in every glibc. `make check` looks at the symbol
 * tables (case inject-symbols). Source: glibc's NEWS for 2.32, 2.33 and 2.34; sysdeps/unix/sysv/linux/x86_64/64 and
 * aarch64 for the first version of each architecture. */
#pragma once

#include <features.h>

#if defined(__has_feature)
#define OLD_LIBC_SANITISED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OLD_LIBC_SANITISED 1
#else
#define OLD_LIBC_SANITISED 0
#endif

#if defined(__GLIBC__) && !OLD_LIBC_SANITISED && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define OLD_LIBC(NAME, VERSION) __asm__(".symver " #NAME "," #NAME "@GLIBC_" VERSION)
#else
#define OLD_LIBC(NAME, VERSION) __asm__(".symver " #NAME "," #NAME "@GLIBC_2.17")
#endif
OLD_LIBC(dlopen, "2.2.5");
OLD_LIBC(dlsym, "2.2.5");
OLD_LIBC(dlerror, "2.2.5");
OLD_LIBC(dlclose, "2.2.5");
OLD_LIBC(dladdr, "2.2.5");
OLD_LIBC(dladdr1, "2.3.3");
OLD_LIBC(pthread_create, "2.2.5");
OLD_LIBC(pthread_detach, "2.2.5");
OLD_LIBC(pthread_sigmask, "2.2.5");
OLD_LIBC(pthread_timedjoin_np, "2.3.3");
OLD_LIBC(sem_init, "2.2.5");
OLD_LIBC(sem_post, "2.2.5");
OLD_LIBC(sem_timedwait, "2.2.5");
#endif
