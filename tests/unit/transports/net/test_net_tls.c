/* SPDX-License-Identifier: Apache-2.0 */
/* Links over TLS, with certificates made here: RELIABILITY rows H16 (versions, slow handshakes) and
 * H17 (no HTTP/2 by accident). */
#include "net_fixture.h"

#include "base/limits.h"
#include "net/internal.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- certificates ---------------------------------------------------------------------------- */

static char g_folder[] = "/tmp/patchbay-tls-XXXXXX";

/* The path of a file in the folder of this test; the last four stay valid. */
static const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", g_folder, name);
    return path;
}

static X509 *make_certificate(EVP_PKEY *key, const char *name)
{
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);
    assert_int_equal(X509_set_version(certificate, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600));
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(certificate, subject), 1);
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    return certificate;
}

/* NAME.pem, NAME.key and NAME.locked, which is the key with a passphrase. Frees the key. */
static void make_pair(const char *name, EVP_PKEY *key)
{
    char file_name[64];
    assert_non_null(key);
    X509 *certificate = make_certificate(key, name);
    (void)snprintf(file_name, sizeof file_name, "%s.pem", name);
    FILE *file = fopen(path_of(file_name), "we");
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(file_name, sizeof file_name, "%s.key", name);
    file = fopen(path_of(file_name), "we");
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(file_name, sizeof file_name, "%s.locked", name);
    file = fopen(path_of(file_name), "we");
    unsigned char secret[] = "secret";
    assert_int_equal(PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(), secret, 6, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static int make_certificates(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(g_folder));
    make_pair("one", EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"));
    make_pair("two", EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"));
    make_pair("rsa", EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048));
    FILE *file = fopen(path_of("text.pem"), "we");
    (void)fputs("no certificate\n", file);
    assert_int_equal(fclose(file), 0);
    return 0;
}

static int remove_certificates(void **state)
{
    static const char *const FILES[] = {"one.pem",    "one.key",    "one.locked", "two.pem",
                                        "two.key",    "two.locked", "rsa.pem",    "rsa.key",
                                        "rsa.locked", "text.pem"};
    (void)state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        assert_int_equal(unlink(path_of(FILES[i])), 0);
    }
    assert_int_equal(rmdir(g_folder), 0);
    return 0;
}

static hub_listen_settings settings_of(const char *min_version)
{
    return (hub_listen_settings){.address = "127.0.0.1",
                                 .tls = {.certificate = path_of("one.pem"),
                                         .key = path_of("one.key"),
                                         .min_version = min_version}};
}

static int setup_tls(void **state)
{
    (void)net_setup(state);
    net_fixture *f = *state;
    hub_listen_settings settings = settings_of("1.2");
    f->listener = net_listen(f, &settings);
    return 0;
}

/* ---- clients --------------------------------------------------------------------------------- */

typedef struct client {
    SSL_CTX *ctx;
    SSL *ssl;
    int fd;
} client;

static client client_of(net_fixture *f, int min_version, int max_version)
{
    client c = {.ctx = SSL_CTX_new(TLS_client_method()), .fd = net_dial(f)};
    assert_int_equal(SSL_CTX_set_min_proto_version(c.ctx, min_version), 1);
    assert_int_equal(SSL_CTX_set_max_proto_version(c.ctx, max_version), 1);
    c.ssl = SSL_new(c.ctx);
    assert_int_equal(SSL_set_fd(c.ssl, c.fd), 1);
    assert_int_equal(fcntl(c.fd, F_SETFL, O_NONBLOCK), 0);
    return c;
}

static void client_free(client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    (void)close(c->fd);
}

/* Whether OpenSSL wants to be called again, after the loop has had its turn. */
static bool again(const net_fixture *f, const client *c, int result)
{
    int error = SSL_get_error(c->ssl, result);
    ERR_clear_error();
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        return false;
    }
    ev_run(f->loop, EVRUN_NOWAIT);
    return true;
}

static bool shake_hands(const net_fixture *f, const client *c)
{
    int result;
    do {
        result = SSL_connect(c->ssl);
    } while (result != 1 && again(f, c, result));
    return result == 1;
}

static void tls_send(const net_fixture *f, const client *c, size_t len)
{
    static char block[16384];
    for (size_t sent = 0; sent < len;) {
        size_t step = len - sent < sizeof block ? len - sent : sizeof block;
        net_fill(block, step, sent);
        int n = SSL_write(c->ssl, block, (int)step);
        if (n > 0) {
            sent += (size_t)n;
        } else {
            assert_true(again(f, c, n));
        }
    }
}

/* Until `len` bytes or the end. */
static size_t tls_receive(const net_fixture *f, const client *c, size_t len)
{
    static char block[16384];
    size_t total = 0;
    while (total < len) {
        int n = SSL_read(c->ssl, block, sizeof block);
        if (n > 0) {
            assert_true(net_is_pattern(block, (size_t)n, total));
            total += (size_t)n;
        } else if (!again(f, c, n)) {
            break;
        }
    }
    return total;
}

/* ---- talking --------------------------------------------------------------------------------- */

static void talk(net_fixture *f, int version, const char *name)
{
    size_t opened = f->opened;
    client c = client_of(f, version, version);
    assert_true(shake_hands(f, &c));
    assert_string_equal(SSL_get_version(c.ssl), name);
    assert_true(hub_link_is_tls(f->owners[opened].link));
    assert_string_equal(hub_link_peer(f->owners[opened].link), "127.0.0.1");
    tls_send(f, &c, NET_QUEUE_BYTES);
    assert_int_equal(tls_receive(f, &c, NET_QUEUE_BYTES), NET_QUEUE_BYTES);
    client_free(&c);
    RUN_UNTIL(f, f->owners[opened].ended == 1);
}

/* A megabyte both ways, in either version. */
static void test_echo(void **state)
{
    net_fixture *f = *state;
    talk(f, TLS1_2_VERSION, "TLSv1.2");
    talk(f, TLS1_3_VERSION, "TLSv1.3");
}

/* H16. */
static void test_min_version(void **state)
{
    net_fixture *f = *state;
    hub_listen_settings settings = settings_of("1.3");
    f->listener = net_listen(f, &settings);
    client c = client_of(f, TLS1_VERSION, TLS1_2_VERSION);
    assert_false(shake_hands(f, &c));
    RUN_UNTIL(f, hub_net_link_count(f->net) == 0);
    client_free(&c);
    talk(f, TLS1_3_VERSION, "TLSv1.3");
}

/* Old versions stay off even where OpenSSL's own settings would allow them. */
static void test_old_versions(void **state)
{
    net_fixture *f = *state;
    client c = client_of(f, TLS1_VERSION, TLS1_1_VERSION);
    SSL_set_security_level(c.ssl, 0);
    assert_false(shake_hands(f, &c));
    RUN_UNTIL(f, hub_net_link_count(f->net) == 0);
    client_free(&c);
}

/* Two listeners, two certificates. */
static void test_certificates_of_listeners(void **state)
{
    net_fixture *f = *state;
    hub_listen_settings settings = settings_of("1.2");
    settings.tls.certificate = path_of("two.pem");
    settings.tls.key = path_of("two.key");
    hub_listener *listeners[] = {f->listener, net_listen(f, &settings)};
    static const char *const NAMES[] = {"one", "two"};
    for (size_t i = 0; i < 2; i++) {
        char name[16];
        f->listener = listeners[i];
        client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
        assert_true(shake_hands(f, &c));
        X509 *certificate = SSL_get1_peer_certificate(c.ssl);
        assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                              name, sizeof name) > 0);
        assert_string_equal(name, NAMES[i]);
        X509_free(certificate);
        client_free(&c);
    }
}

/* H17: whoever offers HTTP/2, too, gets HTTP/1.1. */
static void test_alpn(void **state)
{
    net_fixture *f = *state;
    static const unsigned char OFFER[] = "\x02h2\x08http/1.1";
    const unsigned char *chosen;
    unsigned len;
    client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
    assert_int_equal(SSL_set_alpn_protos(c.ssl, OFFER, sizeof OFFER - 1), 0);
    assert_true(shake_hands(f, &c));
    SSL_get0_alpn_selected(c.ssl, &chosen, &len);
    assert_int_equal(len, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    client_free(&c);

    c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION); /* nothing but HTTP/2 */
    assert_int_equal(SSL_set_alpn_protos(c.ssl, OFFER, 3), 0);
    if (shake_hands(f, &c)) {
        SSL_get0_alpn_selected(c.ssl, &chosen, &len);
        assert_int_equal(len, 0);
    }
    client_free(&c);
}

/* ---- the handshake --------------------------------------------------------------------------- */

/* Send bytes without a handshake, and return what comes back until the hub has nothing to add. */
static const char *say_plainly(net_fixture *f, int fd, const char *bytes)
{
    static char answer[1024];
    size_t len = 0;
    ssize_t n;
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
    do {
        ev_run(f->loop, EVRUN_NOWAIT);
        n = recv(fd, answer + len, sizeof answer - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EAGAIN)); /* it may end with a reset */
    answer[len] = '\0';
    (void)close(fd);
    RUN_UNTIL(f, hub_net_link_count(f->net) == 0);
    return answer;
}

static void test_a_plain_peer(void **state)
{
    net_fixture *f = *state;
    static const char *const OTHERS[] = {"hello there", " GET / HTTP", "get / HTTP/1.1\r\n",
                                         "GET\t/ HTTP"};
    const char *answer = say_plainly(f, net_dial(f), "GET / HTTP/1.1\r\n\r\n");
    assert_int_equal(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
    assert_non_null(strstr(answer, "This port speaks TLS"));
    assert_non_null(strstr(answer, "Connection: close"));
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    assert_int_equal(strlen(body), strtoul(strstr(answer, "Content-Length: ") + 16, NULL, 10));
    assert_int_equal(f->owners[0].received, 0);
    int fd = net_dial(f); /* says nothing at first */
    RUN_UNTIL(f, hub_net_link_count(f->net) == 1);
    assert_non_null(strstr(say_plainly(f, fd, "POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n{}"), "TLS"));
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_string_equal(say_plainly(f, net_dial(f), OTHERS[i]), "");
    }
    fd = net_dial(f); /* says nothing, and goes */
    RUN_UNTIL(f, hub_net_link_count(f->net) == 1);
    (void)close(fd);
    RUN_UNTIL(f, hub_net_link_count(f->net) == 0);
    talk(f, TLS1_3_VERSION, "TLSv1.3");
}

/* H16: whoever does not shake hands is gone after HUB_LIMIT_HANDSHAKE_MS, and not before. Time is
 * moved on by moving the beginning back. */
static void test_a_peer_without_handshake(void **state)
{
    net_fixture *f = *state;
    int fd = net_dial(f);
    RUN_UNTIL(f, f->opened == 1);
    hub_link *link = f->owners[0].link;
    link->wait.since_ms -= HUB_LIMIT_HANDSHAKE_MS / 2;
    net_pass_ticks(f, 2);
    assert_int_equal(f->ended, 0);
    link->wait.since_ms -= HUB_LIMIT_HANDSHAKE_MS / 2;
    net_pass_ticks(f, 2);
    assert_int_equal(f->ended, 1);
    (void)close(fd);
}

/* After a handshake there is no such limit. */
static void test_a_silent_peer(void **state)
{
    net_fixture *f = *state;
    client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
    assert_true(shake_hands(f, &c));
    net_pass_ticks(f, 2);
    assert_null(f->owners[0].link->wait.list);
    assert_int_equal(f->ended, 0);
    client_free(&c);
}

static void greet(net_owner *owner)
{
    char bytes[1000];
    net_fill(bytes, sizeof bytes, 0);
    hub_str word = {.ptr = bytes, .len = sizeof bytes};
    assert_int_equal(hub_link_write(owner->link, &word, 1), HUB_OK);
    assert_int_equal(hub_link_queued(owner->link), sizeof bytes);
}

/* What is written before the handshake waits for it, and does not wait for the peer to speak. */
static void test_the_first_word_is_ours(void **state)
{
    net_fixture *f = *state;
    f->on_link = greet;
    client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
    assert_true(shake_hands(f, &c));
    assert_int_equal(tls_receive(f, &c, 1000), 1000);
    RUN_UNTIL(f, f->owners[0].drained == 1);
    net_pass_ticks(f, 4); /* longer than stall_ms */
    assert_int_equal(f->ended, 0);
    client_free(&c);
}

static void greet_again(net_owner *owner, hub_str bytes)
{
    char more[500];
    (void)bytes;
    net_fill(more, sizeof more, 1000);
    hub_str word = {.ptr = more, .len = sizeof more};
    assert_int_equal(hub_link_write(owner->link, &word, 1), HUB_OK);
}

/* What is written when it is over goes behind what has waited for it. */
static void test_the_second_word_is_second(void **state)
{
    net_fixture *f = *state;
    f->echoes = false;
    f->on_link = greet;
    f->on_bytes = greet_again;
    client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
    assert_true(shake_hands(f, &c));
    tls_send(f, &c, 1);
    assert_int_equal(tls_receive(f, &c, 1500), 1500);
    client_free(&c);
}

/* The stall limit does not replace the one of the handshake. */
static void test_a_word_to_nobody(void **state)
{
    net_fixture *f = *state;
    f->on_link = greet;
    int fd = net_dial(f);
    RUN_UNTIL(f, f->opened == 1);
    net_pass_ticks(f, 4);
    assert_int_equal(f->ended, 0);
    assert_true(net_is_waiting(f->owners[0].link, NET_WAIT_HANDSHAKE));
    hub_link_close(f->owners[0].link, true); /* nobody there to hear it */
    RUN_UNTIL(f, f->ended == 1);
    (void)close(fd);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* The last word arrives whole, and the peer is told that it was the last. */
static void test_close_with_flush(void **state)
{
    net_fixture *f = *state;
    static char block[NET_QUEUE_BYTES];
    client c = client_of(f, TLS1_2_VERSION, TLS1_3_VERSION);
    assert_true(shake_hands(f, &c));
    tls_send(f, &c, 1);
    assert_int_equal(tls_receive(f, &c, 1), 1);
    net_fill(block, sizeof block, 0);
    hub_str word = {.ptr = block, .len = sizeof block};
    assert_int_equal(hub_link_write(f->owners[0].link, &word, 1), HUB_OK);
    hub_link_close(f->owners[0].link, true);
    assert_int_equal(tls_receive(f, &c, SIZE_MAX), sizeof block);
    assert_int_equal(SSL_get_shutdown(c.ssl) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
    client_free(&c);
    RUN_UNTIL(f, f->ended == 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What is wrong is said of the file that it is wrong with. */
static void test_files(void **state)
{
    net_fixture *f = *state;
    static const struct {
        const char *certificate;
        const char *key;
        const char *culprit;
        const char *reason;
    } CASES[] = {
        {"none.pem", "one.key", "none.pem", "No such file"},
        {"one.pem", "none.key", "none.key", "No such file"},
        {"text.pem", "one.key", "text.pem", "not a PEM file"},
        {"one.pem", "text.pem", "text.pem", "not a PEM file"},
        {"one.pem", "two.key", "two.key", "does not belong to the certificate"},
        {"one.pem", "rsa.key", "rsa.key", "does not belong to the certificate"},
        {"one.pem", "one.locked", "one.locked", "passphrase"},
        {"one.key", "one.key", "one.key", "not a PEM file"},
        {".", "one.key", "/.", "not a regular file"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        hub_listen_settings settings = {
            .address = "127.0.0.1",
            .tls = {.certificate = path_of(CASES[i].certificate), .key = path_of(CASES[i].key)}};
        const char *why = net_cannot_listen(f, &settings, HUB_EINVAL);
        if (strstr(why, CASES[i].culprit) == NULL || strstr(why, CASES[i].reason) == NULL) {
            fail_msg("%zu: %s", i, why);
        }
    }
    assert_int_equal(ERR_peek_error(), 0); /* none is left for whoever asks next */
    talk(f, TLS1_3_VERSION, "TLSv1.3");
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, setup_tls, net_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TLS_TEST(test_echo),
        TLS_TEST(test_min_version),
        TLS_TEST(test_old_versions),
        TLS_TEST(test_certificates_of_listeners),
        TLS_TEST(test_alpn),
        TLS_TEST(test_a_plain_peer),
        TLS_TEST(test_a_peer_without_handshake),
        TLS_TEST(test_a_silent_peer),
        TLS_TEST(test_the_first_word_is_ours),
        TLS_TEST(test_the_second_word_is_second),
        TLS_TEST(test_a_word_to_nobody),
        TLS_TEST(test_close_with_flush),
        TLS_TEST(test_files),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
