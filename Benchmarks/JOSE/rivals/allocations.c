// A library to preload, which counts the allocations of a process.
#include <stddef.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static long count;

long allocations_so_far(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

static void note(void) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) { return note(), __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return note(), __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return note(), __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return note(), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return note(), __libc_memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size) {
    return note(), (*out = __libc_memalign(alignment, size)) ? 0 : 12;
}
