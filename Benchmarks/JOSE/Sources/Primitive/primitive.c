#define _GNU_SOURCE
#include "primitive.h"

#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>

struct primitive {
    EVP_PKEY *key;
    EVP_PKEY_CTX *signing, *verifying;
    EVP_MD_CTX *hashing;
    EVP_MD *sha256;
    int hashes_itself;
};

static EVP_PKEY_CTX *context(EVP_PKEY *key, EVP_MD *digest, int signing) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    int ready = signing ? EVP_PKEY_sign_init(context) : EVP_PKEY_verify_init(context);
    if (ready != 1) return NULL;
    if (EVP_PKEY_get_id(key) == EVP_PKEY_RSA && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) != 1)
        return NULL;
    return EVP_PKEY_CTX_set_signature_md(context, digest) == 1 ? context : NULL;
}

primitive *primitive_new(const char *pem, size_t count) {
    BIO *text = BIO_new_mem_buf(pem, (int)count);
    primitive *made = calloc(1, sizeof *made);
    made->key = PEM_read_bio_PrivateKey(text, NULL, NULL, NULL);
    BIO_free(text);
    if (!made->key) return NULL;
    made->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    made->hashing = EVP_MD_CTX_new();
    made->hashes_itself = EVP_PKEY_get_id(made->key) == EVP_PKEY_ED25519;
    if (made->hashes_itself) return made;
    made->signing = context(made->key, made->sha256, 1);
    made->verifying = context(made->key, made->sha256, 0);
    return made->signing && made->verifying ? made : NULL;
}

static int digest(primitive *key, const uint8_t *message, size_t count, uint8_t out[32]) {
    return EVP_DigestInit_ex2(key->hashing, key->sha256, NULL) == 1
        && EVP_DigestUpdate(key->hashing, message, count) == 1 && EVP_DigestFinal_ex(key->hashing, out, NULL) == 1;
}

size_t primitive_sign(primitive *key, const uint8_t *message, size_t count, uint8_t *out, size_t room) {
    uint8_t hash[32];
    if (key->hashes_itself) {
        if (EVP_MD_CTX_reset(key->hashing) != 1) return 0;
        if (EVP_DigestSignInit(key->hashing, NULL, NULL, NULL, key->key) != 1) return 0;
        return EVP_DigestSign(key->hashing, out, &room, message, count) == 1 ? room : 0;
    }
    if (!digest(key, message, count, hash)) return 0;
    return EVP_PKEY_sign(key->signing, out, &room, hash, sizeof hash) == 1 ? room : 0;
}

int primitive_verify(
    primitive *key, const uint8_t *message, size_t count, const uint8_t *signature, size_t signature_count) {
    uint8_t hash[32];
    int result;
    if (key->hashes_itself) {
        if (EVP_MD_CTX_reset(key->hashing) != 1) return 0;
        if (EVP_DigestVerifyInit(key->hashing, NULL, NULL, NULL, key->key) != 1) return 0;
        result = EVP_DigestVerify(key->hashing, signature, signature_count, message, count);
    } else {
        if (!digest(key, message, count, hash)) return 0;
        result = EVP_PKEY_verify(key->verifying, signature, signature_count, hash, sizeof hash);
    }
    if (result != 1) ERR_clear_error();
    return result == 1;
}

long primitive_allocations(void) {
    long (*count)(void) = (long (*)(void))dlsym(RTLD_DEFAULT, "allocations_so_far");
    return count ? count() : -1;
}
