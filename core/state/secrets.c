/* SPDX-License-Identifier: Apache-2.0 */
#include "state/secrets.h"

#include "base/digest.h"
#include "base/limits.h"

#include <errno.h>
#include <assert.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEY_BYTES = 32,
    NONCE_BYTES = 12,
    TAG_BYTES = 16,
    TEXT_BYTES = 4096, /* of all keys, with comments of white space */
    AAD_BYTES = 16 * 1024,
};

static_assert((int)NONCE_BYTES + (int)TAG_BYTES == (int)HUB_STATE_SEAL_BYTES, "as the header says");

typedef struct one_key {
    unsigned char bytes[KEY_BYTES];
    char id[HUB_STATE_KEY_ID_BYTES];
} one_key;

struct hub_state_keys {
    size_t count;     /* 0: they are broken … */
    char broken[256]; /* … for this reason */
    one_key keys[HUB_LIMIT_STATE_KEYS];
};

/* What the environment held; main is alone when it is taken. */
static char *from_environment;

/* ---- keys ------------------------------------------------------------------------------------ */

void hub_state_keys_take_environment(void)
{
    char *found = getenv(HUB_STATE_KEY_VARIABLE);
    if (found != NULL) {
        size_t len = strlen(found);
        from_environment = hub_str_dup((hub_str){.ptr = found, .len = len});
        OPENSSL_cleanse(found, len);
        (void)unsetenv(HUB_STATE_KEY_VARIABLE); /* the name is valid */
    }
}

static bool read_hex(hub_str text, unsigned char ret_bytes[KEY_BYTES])
{
    bool is_hex = text.len == 2 * (size_t)KEY_BYTES;
    for (size_t i = 0; is_hex && i < KEY_BYTES; i++) {
        int high = hub_str_hex_digit(text.ptr[2 * i]);
        int low = hub_str_hex_digit(text.ptr[2 * i + 1]);
        is_hex = high >= 0 && low >= 0;
        ret_bytes[i] = (unsigned char)(is_hex ? high * 16 + low : 0);
    }
    return is_hex;
}

/* A digest of the key, which says nothing about it. */
static void name_key(one_key *key)
{
    static const char PURPOSE[] = "patchbay state key";
    unsigned char bytes[HUB_DIGEST_BYTES];
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_hmac(key->bytes, sizeof key->bytes, hub_str_of(PURPOSE), bytes);
    hub_digest_hex(bytes, hex);
    memcpy(key->id, hex, HUB_STATE_KEY_ID_BYTES - 1);
    key->id[HUB_STATE_KEY_ID_BYTES - 1] = '\0';
}

static hub_err add_key(hub_state_keys *keys, hub_str word, hub_error *reterr)
{
    if (keys->count == HUB_LIMIT_STATE_KEYS) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d keys for the store",
                        HUB_LIMIT_STATE_KEYS);
    }
    one_key *key = &keys->keys[keys->count];
    if (!read_hex(word, key->bytes)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "key %zu of the store is not 64 hexadecimal digits (make one with "
                        "`openssl rand -hex 32`)",
                        keys->count + 1);
    }
    name_key(key);
    keys->count++;
    return HUB_OK;
}

/* The next word of *text, which is taken off; empty at the end. */
static hub_str take_word(hub_str *text)
{
    *text = hub_str_skip_space(*text);
    size_t len = 0;
    while (len < text->len && strchr(" \t\r\n\v\f", text->ptr[len]) == NULL) {
        len++;
    }
    hub_str word = {.ptr = text->ptr, .len = len};
    *text = hub_str_from(*text, len);
    return word;
}

hub_err hub_state_keys_parse(hub_str text, hub_state_keys **ret_keys, hub_error *reterr)
{
    hub_state_keys *keys = calloc(1, sizeof *keys);
    hub_err err = keys != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    for (hub_str word = take_word(&text); err == HUB_OK && word.len > 0; word = take_word(&text)) {
        err = add_key(keys, word, reterr);
    }
    if (err == HUB_OK && keys->count == 0) {
        err =
            hub_fail(reterr, HUB_EINVAL,
                     "there is no key for the store in it (make one with `openssl rand -hex 32`)");
    }
    if (err != HUB_OK) {
        hub_state_keys_destroy(keys);
        return err;
    }
    *ret_keys = keys;
    return HUB_OK;
}

hub_err hub_state_keys_broken(const char *why, hub_state_keys **ret_keys, hub_error *reterr)
{
    hub_state_keys *keys = calloc(1, sizeof *keys);
    if (keys == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    (void)snprintf(keys->broken, sizeof keys->broken, "%s", why);
    *ret_keys = keys;
    return HUB_OK;
}

static hub_err refuse_broken(const hub_state_keys *keys, hub_error *reterr)
{
    return hub_fail(reterr, HUB_EDENIED, "secrets cannot be used: %s", keys->broken);
}

void hub_state_keys_destroy(hub_state_keys *keys)
{
    if (keys != NULL) {
        OPENSSL_cleanse(keys, sizeof *keys);
        free(keys);
    }
}

const char *hub_state_keys_id(const hub_state_keys *keys)
{
    return keys->keys[0].id;
}

static const one_key *find_key(const hub_state_keys *keys, hub_str id)
{
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        if (hub_str_is(id, keys->keys[i].id)) {
            return &keys->keys[i];
        }
    }
    return NULL;
}

/* A key that others can read is none. systemd makes credentials for the service alone. */
static hub_err check_key_file(int fd, const char *path, hub_error *reterr)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "%s: %s", path, strerrordesc_np(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return hub_fail(reterr, HUB_EINVAL, "%s: a key for the store is a regular file", path);
    }
    if (about.st_uid != geteuid() && about.st_uid != 0) {
        return hub_fail(reterr, HUB_EDENIED, "%s: belongs to user %u, and this process is user %u",
                        path, (unsigned)about.st_uid, (unsigned)geteuid());
    }
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return hub_fail(reterr, HUB_EDENIED,
                        "%s: others have access to this key (mode %04o): chmod 600 it", path,
                        (unsigned)about.st_mode & 07777u);
    }
    return HUB_OK;
}

static hub_err read_key_file(const char *path, hub_state_keys **ret_keys, hub_error *reterr)
{
    char text[TEXT_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        bool is_absent = errno == ENOENT;
        return hub_fail(reterr, is_absent ? HUB_ENOTFOUND : HUB_ESYSTEM,
                        "%s: the key cannot be read: %s%s", path, strerrordesc_np(errno),
                        is_absent ? " (openssl rand -hex 32 >FILE; chmod 600 FILE makes one)" : "");
    }
    hub_err err = check_key_file(fd, path, reterr);
    ssize_t len = err == HUB_OK ? read(fd, text, sizeof text) : 0;
    if (err == HUB_OK && len < 0) {
        err = hub_fail(reterr, HUB_ESYSTEM, "%s: %s", path, strerrordesc_np(errno));
    }
    (void)close(fd); /* read only */
    if (err == HUB_OK && len > TEXT_BYTES) {
        err = hub_fail(reterr, HUB_ELIMIT, "%s: longer than %d bytes", path, TEXT_BYTES);
    } else if (err == HUB_OK) {
        err = hub_state_keys_parse((hub_str){.ptr = text, .len = (size_t)len}, ret_keys, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "%s", path);
        }
    }
    OPENSSL_cleanse(text, sizeof text);
    return err;
}

/* systemd.exec(5), LoadCredential=: a folder of this service alone. */
static hub_err read_credential(hub_state_keys **ret_keys, hub_error *reterr)
{
    char path[4096];
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    *ret_keys = NULL;
    if (folder == NULL || folder[0] != '/') {
        return HUB_OK;
    }
    int len = snprintf(path, sizeof path, "%s/patchbay.state.key", folder);
    if (len < 0 || (size_t)len >= sizeof path || access(path, F_OK) != 0) {
        return HUB_OK;
    }
    return read_key_file(path, ret_keys, reterr);
}

hub_err hub_state_keys_load(const char *file, hub_state_keys **ret_keys, hub_error *reterr)
{
    if (from_environment != NULL) {
        hub_err err = hub_state_keys_parse(hub_str_of(from_environment), ret_keys, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, HUB_STATE_KEY_VARIABLE);
        }
        return err;
    }
    return file != NULL ? read_key_file(file, ret_keys, reterr) : read_credential(ret_keys, reterr);
}

/* Each part with its length in front, so that no two records have the same. */
hub_err hub_state_keys_read(const char *file, hub_state_keys **ret_keys, hub_error *reterr)
{
    return read_key_file(file, ret_keys, reterr);
}

size_t hub_state_keys_count(const hub_state_keys *keys)
{
    return keys->count;
}

/* Extract with no salt, which is 32 zeros, and the first block of expand. */
bool hub_state_keys_derive(const hub_state_keys *keys, size_t at, const char *use,
                           unsigned char ret_key[HUB_STATE_DERIVED_BYTES])
{
    static const unsigned char SALT[HUB_DIGEST_BYTES];
    unsigned char extracted[HUB_DIGEST_BYTES];
    hub_str secret = {.ptr = (const char *)keys->keys[at].bytes, .len = KEY_BYTES};
    hub_buf info;
    hub_buf_init(&info, AAD_BYTES);
    hub_buf_add(&info, hub_str_of(use));
    hub_buf_add_char(&info, 1);
    bool is_done = hub_buf_ok(&info);
    if (is_done) {
        hub_hmac(SALT, sizeof SALT, secret, extracted);
        hub_hmac(extracted, sizeof extracted, hub_buf_str(&info), ret_key);
    }
    OPENSSL_cleanse(extracted, sizeof extracted);
    hub_buf_fini(&info);
    return is_done;
}

/* ---- sealing --------------------------------------------------------------------------------- */

static void add_part(hub_buf *out, hub_str part)
{
    hub_buf_printf(out, "%zu:", part.len);
    hub_buf_add(out, part);
}

static void add_associated(hub_buf *out, const hub_state_record *record, hub_str key_id)
{
    add_part(out, HUB_STR("patchbay state 1"));
    add_part(out, record->scope);
    add_part(out, record->kind);
    add_part(out, record->owner);
    add_part(out, record->key);
    hub_buf_add_u64(out, record->version);
    hub_buf_add_char(out, ':');
    add_part(out, key_id);
}

static const unsigned char *bytes_of(hub_str text)
{
    return (const unsigned char *)text.ptr;
}

static bool begin_cipher(EVP_CIPHER_CTX *cipher, const one_key *key, const unsigned char *nonce,
                         hub_str associated, bool seals)
{
    int unused = 0;
    return EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, key->bytes, nonce, seals) == 1 &&
           EVP_CipherUpdate(cipher, NULL, &unused, bytes_of(associated), (int)associated.len) == 1;
}

hub_err hub_state_seal(const hub_state_keys *keys, const hub_state_record *record,
                       hub_buf *ret_sealed, hub_error *reterr)
{
    const one_key *key = &keys->keys[0];
    if (keys->count == 0) {
        return refuse_broken(keys, reterr);
    }
    hub_str text = record->document;
    hub_buf associated;
    hub_buf_init(&associated, AAD_BYTES);
    add_associated(&associated, record, hub_str_of(key->id));
    unsigned char *out =
        (unsigned char *)hub_buf_reserve(ret_sealed, text.len + HUB_STATE_SEAL_BYTES);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    hub_err err = HUB_OK;
    int len = 0;
    if (out == NULL || cipher == NULL || !hub_buf_ok(&associated)) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else if (getrandom(out, NONCE_BYTES, 0) != NONCE_BYTES) {
        err = hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    } else if (!begin_cipher(cipher, key, out, hub_buf_str(&associated), true) ||
               EVP_CipherUpdate(cipher, out + NONCE_BYTES, &len, bytes_of(text), (int)text.len) !=
                   1 ||
               EVP_CipherFinal_ex(cipher, out + NONCE_BYTES + len, &len) != 1 ||
               EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES,
                                   out + NONCE_BYTES + text.len) != 1) {
        err = hub_fail(reterr, HUB_ESYSTEM, "libcrypto cannot encrypt by AES-256-GCM");
    } else {
        ret_sealed->len += text.len + HUB_STATE_SEAL_BYTES;
    }
    EVP_CIPHER_CTX_free(cipher);
    hub_buf_fini(&associated);
    return err;
}

static hub_err refuse_key(hub_str id, hub_error *reterr)
{
    return hub_fail(reterr, HUB_EDENIED,
                    "a secret is encrypted with key " HUB_STR_FMT
                    ", which this process does not have: give it that key",
                    HUB_STR_ARG(id));
}

hub_err hub_state_open(const hub_state_keys *keys, const hub_state_record *record,
                       hub_buf *ret_document, hub_error *reterr)
{
    const one_key *key = find_key(keys, record->key_id);
    hub_str sealed = record->document;
    if (key == NULL) {
        return keys != NULL && keys->count == 0 ? refuse_broken(keys, reterr)
                                                : refuse_key(record->key_id, reterr);
    }
    size_t text_len =
        sealed.len >= HUB_STATE_SEAL_BYTES ? sealed.len - HUB_STATE_SEAL_BYTES : SIZE_MAX;
    hub_buf associated;
    hub_buf_init(&associated, AAD_BYTES);
    add_associated(&associated, record, record->key_id);
    unsigned char tag[TAG_BYTES];
    unsigned char *out =
        (unsigned char *)(text_len < SIZE_MAX ? hub_buf_reserve(ret_document, text_len) : NULL);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    hub_err err = HUB_OK;
    int len = 0;
    if (text_len < SIZE_MAX && (out == NULL || cipher == NULL || !hub_buf_ok(&associated))) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else if (text_len == SIZE_MAX ||
               !begin_cipher(cipher, key, bytes_of(sealed), hub_buf_str(&associated), false) ||
               EVP_CipherUpdate(cipher, out, &len, bytes_of(sealed) + NONCE_BYTES, (int)text_len) !=
                   1 ||
               EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES,
                                   memcpy(tag, sealed.ptr + NONCE_BYTES + text_len, sizeof tag)) !=
                   1 ||
               EVP_CipherFinal_ex(cipher, out + len, &len) != 1) {
        err = hub_fail(reterr, HUB_EDENIED,
                       "an encrypted secret is damaged, or was moved here from another record");
    } else {
        ret_document->len += text_len;
    }
    EVP_CIPHER_CTX_free(cipher);
    hub_buf_fini(&associated);
    return err;
}
