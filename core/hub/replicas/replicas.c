/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/replicas/replicas.h"

#include "base/buf.h"
#include "base/encoding.h"
#include "base/str.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/keys.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <sys/random.h>

enum {
    PLACE_BYTES = 19, /* version of IP, 16 of the address, 2 of the port */
    MAC_BYTES = HUB_REPLICA_HOME_DIGITS / 2 - PLACE_BYTES, /* 104 bits */
};

/* Keys of a use, derived once more from those that sign states: HMAC of SHA-256. */
typedef struct derived_keys {
    size_t count;
    hub_key keys[HUB_LIMIT_STATE_KEYS];
} derived_keys;

/* With the hub. */
typedef struct hub_replicas {
    const hub_listen_settings *listen; /* NULL: it was never told */
    bool is_there;
    hub_replica_place own;
    derived_keys homes; /* name where something lives */
    derived_keys peers; /* seal what is passed on */
} hub_replicas;

static hub_replicas *part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_REPLICAS_STATION);
}

static void derive(const hub_orchestrator *hub, const char *use, derived_keys *ret_keys)
{
    const hub_key *from;
    while (ret_keys->count < HUB_LIMIT_STATE_KEYS &&
           (from = hub_key_at(hub, HUB_KEY_STATES, ret_keys->count)) != NULL) {
        hub_key *key = &ret_keys->keys[ret_keys->count++];
        _Static_assert(sizeof key->bytes == HUB_DIGEST_BYTES, "a key is a digest");
        hub_hmac(from->bytes, sizeof from->bytes, hub_str_of(use), key->bytes);
    }
}

bool hub_replica_places_eq(const hub_replica_place *a, const hub_replica_place *b)
{
    return a->port == b->port && strcmp(a->address, b->address) == 0;
}

bool hub_replicas_configure(hub_orchestrator *hub, const hub_listen_settings *listen)
{
    hub_replicas *part = part_of(hub);
    bool is_first = part->listen == NULL;
    part->listen = listen;
    if (is_first && listen->address != NULL) {
        part->is_there = true;
        (void)snprintf(part->own.address, sizeof part->own.address, "%s", listen->address);
        part->own.port = listen->port;
        derive(hub, "patchbay homes 1", &part->homes);
        derive(hub, "patchbay peers 1", &part->peers);
    }
    return part->is_there ? listen->address != NULL && listen->port == part->own.port &&
                                strcmp(listen->address, part->own.address) == 0
                          : listen->address == NULL;
}

const hub_replica_place *hub_replicas_own(const hub_orchestrator *hub)
{
    const hub_replicas *part = part_of(hub);
    return part->is_there ? &part->own : NULL;
}

bool hub_replicas_trust(const hub_orchestrator *hub, const char *address)
{
    const hub_listen_settings *listen = part_of(hub)->listen;
    return hub_cidr_any_has(listen->trusted_proxies, listen->trusted_proxy_count, address);
}

/* ---- homes ----------------------------------------------------------------------------------- */

static void write_place(const hub_replica_place *place, unsigned char bytes[PLACE_BYTES])
{
    bool is_v6 = strchr(place->address, ':') != NULL;
    memset(bytes, 0, PLACE_BYTES);
    bytes[0] = is_v6 ? 6 : 4;
    (void)inet_pton(is_v6 ? AF_INET6 : AF_INET, place->address, bytes + 1);
    bytes[17] = (unsigned char)(place->port >> 8);
    bytes[18] = (unsigned char)place->port;
}

static bool read_place(const unsigned char bytes[PLACE_BYTES], hub_replica_place *ret_place)
{
    int family = bytes[0] == 6 ? AF_INET6 : AF_INET;
    ret_place->port = (uint16_t)(bytes[17] << 8 | bytes[18]);
    return (bytes[0] == 4 || bytes[0] == 6) &&
           inet_ntop(family, bytes + 1, ret_place->address, sizeof ret_place->address) != NULL;
}

static void digest_of(const hub_key *key, const char *use, hub_str random, hub_str rest,
                      unsigned char ret_bytes[HUB_DIGEST_BYTES])
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_printf(&text, "%s:%zu:", use, random.len);
    hub_buf_add(&text, random);
    hub_buf_add(&text, rest);
    memset(ret_bytes, 0, HUB_DIGEST_BYTES);
    if (hub_buf_ok(&text)) {
        hub_hmac(key->bytes, sizeof key->bytes, hub_buf_str(&text), ret_bytes);
    }
    hub_buf_fini(&text);
}

/* Encrypt or decrypt: the random text is never used for another place, so neither are these bytes. */
static void mask(const hub_key *key, hub_str random, unsigned char bytes[PLACE_BYTES])
{
    unsigned char stream[HUB_DIGEST_BYTES];
    digest_of(key, "mask", random, HUB_STR_EMPTY, stream);
    for (size_t i = 0; i < PLACE_BYTES; i++) {
        bytes[i] ^= stream[i];
    }
}

static void sign(const hub_key *key, hub_str random, unsigned char bytes[PLACE_BYTES + MAC_BYTES])
{
    unsigned char mac[HUB_DIGEST_BYTES];
    digest_of(key, "home", random, (hub_str){.ptr = (const char *)bytes, .len = PLACE_BYTES}, mac);
    memcpy(bytes + PLACE_BYTES, mac, MAC_BYTES);
}

void hub_replicas_name_home(const hub_orchestrator *hub, hub_str random,
                            char ret_digits[HUB_REPLICA_HOME_DIGITS + 1])
{
    unsigned char bytes[PLACE_BYTES + MAC_BYTES];
    const hub_key *key = &part_of(hub)->homes.keys[0];
    write_place(hub_replicas_own(hub), bytes);
    mask(key, random, bytes);
    sign(key, random, bytes);
    hub_hex_write(bytes, sizeof bytes, ret_digits);
    ret_digits[2 * sizeof bytes] = '\0';
}

void hub_replicas_add_home(const hub_orchestrator *hub, hub_buf *out, size_t count)
{
    char digits[HUB_REPLICA_HOME_DIGITS + 1];
    if (hub_replicas_own(hub) != NULL && hub_buf_ok(out)) {
        hub_replicas_name_home(hub, hub_str_from(hub_buf_str(out), out->len - count), digits);
        hub_buf_add(out, hub_str_of(digits));
    }
}

/* Open a name by one of the keys. */
static bool open_name(const derived_keys *keys, hub_str random, hub_str digits,
                      unsigned char ret_place[PLACE_BYTES])
{
    unsigned char given[PLACE_BYTES + MAC_BYTES];
    unsigned char own[PLACE_BYTES + MAC_BYTES];
    bool is_open = false;
    if (!hub_hex_read(digits, given, sizeof given)) {
        return false;
    }
    for (size_t age = 0; age < keys->count && !is_open; age++) {
        memcpy(own, given, sizeof own);
        sign(&keys->keys[age], random, own);
        is_open = CRYPTO_memcmp(own, given, sizeof own) == 0;
        if (is_open) {
            memcpy(ret_place, given, PLACE_BYTES);
            mask(&keys->keys[age], random, ret_place);
        }
    }
    return is_open;
}

hub_replica_home hub_replicas_judge_home(const hub_orchestrator *hub,
                                         const hub_replica_place *place)
{
    if (hub_replica_places_eq(place, hub_replicas_own(hub))) {
        return HUB_HOME_HERE;
    }
    return hub_replicas_trust(hub, place->address) ? HUB_HOME_ELSEWHERE : HUB_HOME_NOWHERE;
}

hub_replica_home hub_replicas_find_home(const hub_orchestrator *hub, hub_str random, hub_str digits,
                                        hub_replica_place *ret_place)
{
    const hub_replica_place *own = hub_replicas_own(hub);
    unsigned char bytes[PLACE_BYTES];
    if (own == NULL || !open_name(&part_of(hub)->homes, random, digits, bytes) ||
        !read_place(bytes, ret_place)) {
        return HUB_HOME_NOWHERE;
    }
    return hub_replicas_judge_home(hub, ret_place);
}

hub_replica_home hub_replicas_find_home_in(const hub_orchestrator *hub, hub_str text,
                                           hub_replica_place *ret_place)
{
    size_t point = hub_str_find(text, HUB_STR("."));
    hub_str run = point != SIZE_MAX ? hub_str_from(text, point + 1) : HUB_STR_EMPTY;
    size_t count = 0;
    while (count < run.len && hub_str_hex_digit(run.ptr[count]) >= 0) {
        count++;
    }
    if (count <= HUB_REPLICA_HOME_DIGITS) {
        return HUB_HOME_NOWHERE;
    }
    size_t random = count - HUB_REPLICA_HOME_DIGITS;
    return hub_replicas_find_home(
        hub, (hub_str){.ptr = run.ptr, .len = random},
        (hub_str){.ptr = run.ptr + random, .len = HUB_REPLICA_HOME_DIGITS}, ret_place);
}

/* ---- proofs ---------------------------------------------------------------------------------- */

hub_err hub_replicas_challenge(char ret_digits[HUB_REPLICA_CHALLENGE_DIGITS + 1])
{
    unsigned char random[HUB_REPLICA_CHALLENGE_DIGITS / 2];
    /* So few bytes come whole, or not at all: getrandom(2). */
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return HUB_ESYSTEM;
    }
    hub_hex_write(random, sizeof random, ret_digits);
    ret_digits[2 * sizeof random] = '\0';
    return HUB_OK;
}

/* The digest of a claim: what is long is digested by itself first, so nothing is copied. */
static void prove_by(const hub_key *key, const hub_replica_claim *claim,
                     char ret_proof[HUB_DIGEST_HEX_BYTES])
{
    unsigned char digest[HUB_DIGEST_BYTES];
    char text[256];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_digest_of(claim->text, digest);
    hub_digest_hex(digest, hex);
    int len =
        snprintf(text, sizeof text, HUB_STR_FMT " " HUB_STR_FMT " %llu %s", HUB_STR_ARG(claim->use),
                 HUB_STR_ARG(claim->challenge), (unsigned long long)claim->number, hex);
    hub_assert(len > 0 && (size_t)len < sizeof text);
    hub_hmac(key->bytes, sizeof key->bytes, (hub_str){.ptr = text, .len = (size_t)len}, digest);
    hub_digest_hex(digest, ret_proof);
}

void hub_replicas_prove(const hub_orchestrator *hub, const hub_replica_claim *claim,
                        char ret_proof[HUB_DIGEST_HEX_BYTES])
{
    prove_by(&part_of(hub)->peers.keys[0], claim, ret_proof);
}

bool hub_replicas_accept(const hub_orchestrator *hub, const hub_replica_claim *claim, hub_str proof)
{
    const derived_keys *keys = &part_of(hub)->peers;
    char own[HUB_DIGEST_HEX_BYTES];
    bool is_good = false;
    for (size_t age = 0; age < keys->count && proof.len == sizeof own - 1 && !is_good; age++) {
        prove_by(&keys->keys[age], claim, own);
        is_good = CRYPTO_memcmp(own, proof.ptr, proof.len) == 0;
    }
    return is_good;
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_station_place place;

const hub_station HUB_REPLICAS_STATION = {
    .name = "replicas",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_replicas)},
};
