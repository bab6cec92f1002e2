// The parts of OpenSSL's libcrypto that the `Libcrypto` target calls.
// Nearly only includes: every function of libcrypto is callable from Swift as it is.
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>

// prctl(2) takes variable arguments, which Swift can't pass. It is here because what must not be dumped are keys.
#ifdef __linux__
#include <sys/prctl.h>
static inline int gatehouse_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#else
static inline int gatehouse_forbid_dumps(void) { return -1; }
#endif
