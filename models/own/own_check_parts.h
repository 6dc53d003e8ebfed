/* own_check_parts: what the checks of the five interfaces have in common (models/own/own_check.h). */
#ifndef MODELS_OWN_OWN_CHECK_PARTS_H
#define MODELS_OWN_OWN_CHECK_PARTS_H

#include "models/own/own_check.h"

struct own_answers {
    struct own_answer {
        const char *hook;
        uint64_t answer; /* its hash */
    } * items;
    size_t count, cap;
};

/* One run over the inputs of a seed. */
struct own_trial {
    const struct policy_head *policy;
    const struct dram_hooks *hooks;
    const void *params;
    struct random random;
    void *state;  /* of the policy; its parameters are stored */
    void *before; /* as large: for comparing */
    void *scene;  /* of the interface */
    struct own_answers answers;
    const struct own_answers *expected; /* of the run before with the same seed; NULL: this is the first */
    const char *differs;                /* the first hook that answered otherwise; NULL: none */
};

/* What an interface brings. */
struct own_exam {
    size_t scene_size; /* bytes, zeroed before open() */
    int steps;
    int (*open)(struct own_trial *trial, struct err *err); /* the state is prepared by it */
    int (*step)(struct own_trial *trial, struct err *err);
    void (*close)(struct own_trial *trial);                 /* also after a failed open() */
    int (*after)(struct own_trial *trial, struct err *err); /* once, of a run of its own; NULL: nothing */
};

extern const struct own_exam own_exam_prefetch, own_exam_evict, own_exam_scheduler, own_exam_pattern,
    own_exam_placement;

/* A hook answered with these bytes, of which none is padding. */
int own_answer(struct own_trial *trial, const char *hook, const void *bytes, size_t count, struct err *err);
int own_answer_number(struct own_trial *trial, const char *hook, int64_t number, struct err *err);

/* A hook broke a rule: *err names the policy, the hook and what it did. Returns -1. */
int own_broken(const struct own_trial *trial, const char *hook, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Around a hook that must leave the state as it is. */
void own_note_state(struct own_trial *trial);
int own_same_state(const struct own_trial *trial, const char *hook, struct err *err);

/* VA blocks of GPU memory, some of which hold some, as eviction policies and ahead() are shown them. */
enum { OWN_BLOCKS = 24 };
struct own_memory {
    struct uvm_block block[OWN_BLOCKS];
    struct uvm_evict_block facts[OWN_BLOCKS];
    uint32_t age[OWN_BLOCKS * UVM_BLOCK_PIECES];
    struct uvm_evict_view view;
    uint32_t services;
};

/* Nothing holds memory; of some blocks the allocation is short. */
void own_memory_init(struct own_memory *memory, struct random *random, uint64_t total_pieces, bool in_pieces);
/* A batch begins; then blocks are asked for by its faults. */
void own_memory_batch(struct own_memory *memory);
/* Pieces that come with these pages of a block: all if it holds none, else those of the pages that it lacks. */
uint32_t own_memory_wants(const struct own_memory *memory, uint32_t block, const struct page_mask *pages);
/* Pages of a block come, and the pieces that they want; it is the newest. */
void own_memory_service(struct own_memory *memory, uint32_t block, const struct page_mask *faulted,
                        const struct page_mask *plan);
/* Pieces of a block go. */
void own_memory_evict(struct own_memory *memory, uint32_t block, uint32_t pieces);
/* Pieces that a block has when whole. */
uint32_t own_memory_whole(const struct own_memory *memory, uint32_t block);
/* Of the pages of a block that are not resident, some, at least one; false: there is none. */
bool own_memory_faults(const struct own_memory *memory, uint32_t block, struct random *random,
                       struct page_mask *faulted);

#endif
