/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to verify a token, in microseconds of processor time, for each algorithm and for the largest key that is taken. Ends
 * with 1 when one costs more than the millisecond that the loop may be held up for. */
#include "base/limits.h"
#include "identity/jws.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 200, MOST_US = 1000 };

static const struct {
    const char *name;
    const char *curve; /* NULL: RSA, or Ed25519 */
    unsigned bits;     /* of RSA */
} CASES[] = {
    {"RS256", NULL, 2048}, {"RS256", NULL, 4096}, {"RS512", NULL, 8192}, {"PS256", NULL, 2048},
    {"ES256", "P-256", 0}, {"ES384", "P-384", 0}, {"ES512", "P-521", 0}, {"EdDSA", NULL, 0},
};

static EVP_PKEY *make_key(size_t i)
{
    return CASES[i].bits > 0        ? EVP_RSA_gen(CASES[i].bits)
           : CASES[i].curve != NULL ? EVP_EC_gen(CASES[i].curve)
                                    : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

static double cpu_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Of one verification; negative: the token is not good. */
static double measure(hub_str token, const hub_jwk *key)
{
    double begin = cpu_us();
    for (int round = 0; round < ROUNDS; round++) {
        hub_jws jws;
        bool is_good = hub_jws_read(token, &jws, NULL) == HUB_OK && hub_jws_is_signed_by(&jws, key);
        hub_jws_fini(&jws);
        if (!is_good) {
            return -1;
        }
    }
    return (cpu_us() - begin) / ROUNDS;
}

int main(void)
{
    char claims[1024];
    int status = 0;
    (void)snprintf(claims, sizeof claims, "{\"iss\":\"https://id.example.com\",\"pad\":\"%0900d\"}",
                   0);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char header[64];
        const hub_jws_algorithm *algorithm = hub_jws_algorithm_of(hub_str_of(CASES[i].name));
        hub_jwk key = {.key = make_key(i), .kind = algorithm->kind, .curve = CASES[i].curve};
        hub_buf token;
        hub_buf_init(&token, HUB_LIMIT_JWS_BYTES);
        (void)snprintf(header, sizeof header, "{\"alg\":\"%s\"}", CASES[i].name);
        double us = -1;
        if (key.key != NULL && hub_jws_sign(hub_str_of(header), hub_str_of(claims), algorithm,
                                            key.key, &token) == HUB_OK) {
            us = measure(hub_buf_str(&token), &key);
        }
        (void)printf("%s %5u bits %8.1f us\n", CASES[i].name, CASES[i].bits, us);
        status = us < 0 || us > MOST_US ? 1 : status;
        hub_buf_fini(&token);
        EVP_PKEY_free(key.key);
    }
    return status;
}
