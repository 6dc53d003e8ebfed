#include "models/own/own_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/mem.h"

unsigned char *own_file_read(const char *path, size_t *count, struct err *err)
{
    FILE *f = fopen(path, "rbe");
    struct stat st;
    if (!f || fstat(fileno(f), &st)) {
        err_set(err, "cannot be read: %s", strerror(errno));
        if (f)
            (void)fclose(f);
        return NULL;
    }
    unsigned char *bytes = NULL;
    if (!S_ISREG(st.st_mode))
        err_set(err, "is not a file");
    else if (st.st_size > OWN_FILE_BYTES)
        err_set(err, "is of %lld bytes; a policy has at most %d", (long long)st.st_size, OWN_FILE_BYTES);
    else
        bytes = mem_zalloc(1, (size_t)st.st_size, err);
    *count = bytes ? fread(bytes, 1, (size_t)st.st_size, f) : 0;
    (void)fclose(f);
    return bytes;
}

void own_file_seal(const unsigned char *bytes, size_t count, char seal[OWN_SEAL_BYTES])
{
    const XXH128_hash_t h = XXH3_128bits(bytes, count);
    char text[OWN_SEAL_BYTES + 1];
    (void)snprintf(text, sizeof text, OWN_SEAL_MARK "%016llx%016llx\n", (unsigned long long)h.high64,
                   (unsigned long long)h.low64);
    memcpy(seal, text, OWN_SEAL_BYTES);
}

/* The kind of machine that this program is for; EM_NONE: not looked at. */
static unsigned this_machine(void)
{
#if defined __x86_64__
    return EM_X86_64;
#elif defined __aarch64__
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

static int check_elf(const unsigned char *bytes, size_t count, struct err *err)
{
    Elf64_Ehdr head;
    if (count < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return err_set(err, "is not a shared object: 'offchip policy build FILE.c -o FILE.so' makes one");
    memcpy(&head, bytes, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        (this_machine() != EM_NONE && head.e_machine != this_machine()))
        return err_set(err, "is for another kind of machine (ELF machine %u): build it on this one", head.e_machine);
    if (head.e_type != ET_DYN)
        return err_set(err, "is an ELF file, but not a shared object: 'offchip policy build' makes one");
    return 0;
}

int own_file_check(const unsigned char *bytes, size_t count, char hash[OWN_HASH], struct err *err)
{
    if (check_elf(bytes, count, err))
        return -1;
    if (count < sizeof(Elf64_Ehdr) + OWN_SEAL_BYTES ||
        memcmp(bytes + count - OWN_SEAL_BYTES, OWN_SEAL_MARK, sizeof OWN_SEAL_MARK - 1) != 0)
        return err_set(err, "is cut short, or was not made by 'offchip policy build': build it anew");
    char seal[OWN_SEAL_BYTES];
    own_file_seal(bytes, count - OWN_SEAL_BYTES, seal);
    if (memcmp(bytes + count - OWN_SEAL_BYTES, seal, OWN_SEAL_BYTES) != 0)
        return err_set(err, "is damaged: its content is not what 'offchip policy build' sealed; build it anew");
    (void)snprintf(hash, OWN_HASH, "%.32s", seal + sizeof OWN_SEAL_MARK - 1);
    return 0;
}
