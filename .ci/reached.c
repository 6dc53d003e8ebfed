/* Part of the library that `make mutants` links: which blocks of code does a test run? The file MUTANTS_REACHED gets a 1
 * at the address of each, counted from the start of the library; processes and their children share it. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_BYTES = 1 << 24 };

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
static unsigned char *reached;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("MUTANTS_REACHED");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, CODE_BYTES))
        return;
    void *shared = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    reached = shared == MAP_FAILED ? NULL : shared;
    (void)close(fd);
}

__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
    size_t at = (size_t)((char *)__builtin_return_address(0) - __ehdr_start);
    if (reached && at < CODE_BYTES)
        reached[at] = 1;
}
