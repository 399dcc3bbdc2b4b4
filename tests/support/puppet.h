/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A puppet: a plugin whose behaviour the test program supplies. plugins/puppet.c is built twice, as
 * the modules `puppet` (native) and `puppet_proxy`. The address of the test's struct travels in the
 * configuration, {"puppet": "ADDRESS"}; the functions in it are called on the threads that the ABI
 * names. Without an address it is a toolset without tools.
 */
#ifndef PATCHBAY_TESTS_PUPPET_H
#define PATCHBAY_TESTS_PUPPET_H

#include <patchbay/catalog.h>
#include <patchbay/client.h>
#include <patchbay/plugin.h>

typedef struct puppet puppet;

/* One instance of it. */
typedef struct puppet_instance {
    puppet *puppet;
    const patchbay_host_api *api;
    patchbay_host *host;
    const patchbay_catalog_v1 *catalog;
    const patchbay_client_v1 *client;
    unsigned number; /* 1 for the first one made */
} puppet_instance;

struct puppet {
    const char *tools; /* set in create(), as the next four; NULL: none */
    const char *resources;
    const char *templates;
    const char *prompts;
    const char *capabilities;
    int defers;         /* the catalog is to be asked for */
    const char *broken; /* create() fails with this reason, having set the tools */
    void *ctx;          /* the test's */

    /* Each may be NULL: then a call is answered with {"content":[]}, the rest is ignored. */
    void (*on_create)(puppet_instance *instance);
    void (*on_call)(puppet_instance *instance, patchbay_call call, const patchbay_request *request);
    void (*on_cancel)(puppet_instance *instance, patchbay_call call);
    void (*on_destroy)(puppet_instance *instance);

    puppet_instance *latest; /* the one made last, while it lives */
    unsigned creates;        /* calls of each entry so far */
    unsigned calls;
    unsigned cancels;
    unsigned destroys;
};

#endif
