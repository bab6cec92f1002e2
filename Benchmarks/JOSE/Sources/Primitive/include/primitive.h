// The bare signature operation of libcrypto, set up once and used again and again: nothing that verifies or signs
// with libcrypto can be quicker.
#include <stddef.h>
#include <stdint.h>

typedef struct primitive primitive;

// A private key in PEM, made ready; NULL if it cannot be read. Lives as long as the process.
primitive *_Nullable primitive_new(const char *_Nonnull pem, size_t count);

// Writes libcrypto's own encoding of the signature and returns its length; 0 is failure.
size_t primitive_sign(
    primitive *_Nonnull key, const uint8_t *_Nonnull message, size_t count, uint8_t *_Nonnull out, size_t room);

// 1 if the signature, in libcrypto's own encoding, is good.
int primitive_verify(
    primitive *_Nonnull key, const uint8_t *_Nonnull message, size_t count, const uint8_t *_Nonnull signature,
    size_t signature_count);

// How many allocations there have been; -1 unless the counter is preloaded.
long primitive_allocations(void);
