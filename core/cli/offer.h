/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that was found, in a registry or a bundle, and that somebody is to agree to: its inputs,
 * what is shown of it, the question, the secrets that go to the store, and the toolset that is added.
 */
#ifndef HUB_CLI_OFFER_H
#define HUB_CLI_OFFER_H

#include "cli/cli.h"
#include "registry/launch.h"

enum { CLI_OFFER_SECRETS = 64 };

typedef struct cli_offer {
    cli_options *options;
    hub_arena *arena;
    const char *key;            /* of the toolset */
    bool is_used[CLI_MAX_LIST]; /* by number of --input */
    struct {
        const char *name;
        const char *value;
    } secrets[CLI_OFFER_SECRETS];
    size_t secret_count;
    struct {
        const char *name;
        size_t nth;
        const char *value;
    } answers[CLI_MAX_LIST]; /* given already: nobody is asked twice */
    size_t answer_count;
    bool is_failed; /* a value could not be kept; said already */
} cli_offer;

/* The key of the toolset is that of --name, else one made of `name`. Complains, and says
 * EXIT_CONFIG, when the manifest has it already. owns: offer->arena, cli_offer_end */
int cli_offer_begin(cli_offer *offer, cli_options *options, hub_str name);
void cli_offer_end(cli_offer *offer);

/* Values of --input, else of the terminal for what is required: a hub_launch_giver. A secret becomes
 * ${secret:…}. */
const char *cli_offer_give(void *ctx, const hub_launch_input *input, size_t nth);

/* Show which server it is, the digest of its bundle (NULL: it is none) and what its entry would run,
 * and ask; --yes is the answer yes. What strangers say of it is text on a line: it cannot look like
 * another line. EXIT_OK: it is to be added; else it has been said why not. */
int cli_offer_decide(cli_offer *offer, const hub_launch *launch, const char *digest);

/* Append a word of a command as a shell would need it, so that nothing in it looks like two; behind a
 * space, unless it is the first. */
void cli_add_word(hub_buf *out, hub_str word);

/* Keep the secrets and add the entry to the manifest. */
int cli_offer_add(cli_offer *offer, hub_str entry);

/* add with one argument: a name of a registry. (registry.c) */
int cli_add_registered(cli_options *options);

/* Add an entry (a JSON object) under a name. (manifest.c) */
int cli_add_entry(cli_options *options, const char *name, hub_str json);

#endif
