/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of PEM texts share. Thread: [any]. */
#ifndef HUB_IDENTITY_PEM_H
#define HUB_IDENTITY_PEM_H

/* A pem_password_cb (OpenSSL): nobody is asked for a password at a terminal, so what is encrypted cannot
 * be read. */
static inline int hub_pem_refuse_password(char *text, int size, int is_write, void *ctx)
{
    (void)text;
    (void)size;
    (void)is_write;
    (void)ctx;
    return -1;
}

#endif
