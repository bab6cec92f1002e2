// libjwt: `libjwt ALG OPERATION PRIVATE.pem PUBLIC.pem TOKEN CLAIMS COUNT`; a COUNT of 0 measures, and prints
// operations per second of processor time.
#include <jwt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!file || !fread(text, 1, 65535, file)) exit(2);
    fclose(file);
    return text;
}

static jwt_alg_t algorithm;
static char *private_key, *public_key, *token, *claims;

// The complete verification: signature and algorithm by the library; issuer, audience and dates here, because Debian's
// version does not check them.
static int verify(void) {
    jwt_t *jwt = NULL;
    if (jwt_decode(&jwt, token, (unsigned char *)public_key, (int)strlen(public_key))) return 0;
    const char *issuer = jwt_get_grant(jwt, "iss");
    char *audience = jwt_get_grants_json(jwt, "aud");
    int good = jwt_get_alg(jwt) == algorithm && issuer && strcmp(issuer, "https://gate.example.com") == 0
        && audience && strstr(audience, "\"gatehouse\"") && jwt_get_grant_int(jwt, "exp") > 1800000000
        && jwt_get_grant_int(jwt, "nbf") <= 1800000000;
    free(audience);
    jwt_free(jwt);
    return good;
}

static int sign(void) {
    jwt_t *jwt = NULL;
    if (jwt_new(&jwt) || jwt_add_grants_json(jwt, claims)) return 0;
    if (jwt_set_alg(jwt, algorithm, (unsigned char *)private_key, (int)strlen(private_key))) return 0;
    char *text = jwt_encode_str(jwt);
    int good = text != NULL;
    free(text);
    jwt_free(jwt);
    return good;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    if (count != 8) return 2;
    algorithm = jwt_str_alg(arguments[1]);
    int (*operation)(void) = strcmp(arguments[2], "verify") ? sign : verify;
    private_key = contents(arguments[3]);
    public_key = contents(arguments[4]);
    token = contents(arguments[5]);
    claims = contents(arguments[6]);
    long wanted = atol(arguments[7]);
    if (!operation()) return 1;
    if (wanted > 0) {
        while (wanted-- > 0) operation();
        return 0;
    }
    long done = 0;
    double start = seconds(), now = start;
    for (; now - start < 1.0; now = seconds())
        for (int i = 0; i < 50; i++, done++)
            if (!operation()) return 1;
    printf("%.0f\n", (double)done / (now - start));
    return 0;
}
