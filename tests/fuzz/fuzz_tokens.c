/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens files that somebody has edited. What is accepted has to hold what tokens.h promises, since
 * it decides who may come in; what is refused has to say in which file.
 */
#include "base/limits.h"
#include "config/tokens.h"

#include <string.h>

enum { ARENA_BYTES = 4 * 1024 * 1024 };

static const char PATH[] = "/fuzz/tokens.json";

static void check_id(const char *id)
{
    size_t len = strlen(id);
    hub_assert(len > 0 && len <= HUB_TOKEN_ID_BYTES);
    hub_assert(strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
               len);
}

static void check_tokens(const hub_tokens *tokens)
{
    hub_assert(tokens->count <= HUB_LIMIT_TOKENS);
    for (size_t i = 0; i < tokens->count; i++) {
        const hub_token *token = &tokens->tokens[i];
        hub_assert(hub_tokens_name_problem(hub_str_of(token->name)) == NULL);
        check_id(token->id);
        hub_assert(token->expires >= 0);
        hub_assert(hub_tokens_find(tokens, token->id) == token); /* nobody else has it */
    }
    hub_assert(hub_tokens_find(tokens, "") == NULL);
    /* There is room for one more. */
    tokens->tokens[tokens->count] = (hub_token){.name = "one", .id = "more"};
    tokens->created[tokens->count] = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    hub_tokens tokens = {.count = 0};
    hub_error error = {.text = ""};
    hub_str text = {.ptr = (const char *)data, .len = size};
    if (arena == NULL) {
        return 0;
    }
    hub_err err = hub_tokens_parse(PATH, text, arena, &tokens, &error);
    if (err == HUB_OK) {
        check_tokens(&tokens);
    } else {
        hub_assert(err == error.code && strncmp(error.text, PATH, sizeof PATH - 1) == 0);
    }
    hub_arena_destroy(arena);
    return 0;
}
