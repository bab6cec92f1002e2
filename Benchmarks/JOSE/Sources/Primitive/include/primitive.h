// The bare signature operation of libcrypto, with contexts that are set up once: a lower bound for everything that
// signs
// or verifies with libcrypto.
#include <stddef.h>
#include <stdint.h>

typedef struct primitive primitive;

// Prepares a private key in PEM; NULL if it cannot be read. It is never freed.
primitive *_Nullable primitive_new(const char *_Nonnull pem, size_t count);

// Writes the signature in libcrypto's encoding and returns its length; 0 on failure.
size_t primitive_sign(
    primitive *_Nonnull key, const uint8_t *_Nonnull message, size_t count, uint8_t *_Nonnull out, size_t room);

// Returns 1 if the signature, in libcrypto's encoding, is valid.
int primitive_verify(
    primitive *_Nonnull key, const uint8_t *_Nonnull message, size_t count, const uint8_t *_Nonnull signature,
    size_t signature_count);

// The number of allocations so far; -1 unless the counter is preloaded.
long primitive_allocations(void);
