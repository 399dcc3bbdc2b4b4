/* SPDX-License-Identifier: Apache-2.0 */
#include "http/behalf.h"

#include "base/limits.h"
#include "http/syntax.h"

#include <stdlib.h>

/* The value of a header that is there once. */
static bool read_once(const hub_http_task *task, const char *name, hub_str *ret_value)
{
    const hub_http_request *request = task->request;
    const hub_http_header *header = hub_http_find_header(request, hub_str_of(name), NULL);
    if (!task->connection->forwarded.is_trusted || header == NULL ||
        hub_http_find_header(request, hub_str_of(name), header) != NULL) {
        return false;
    }
    *ret_value = header->value;
    return true;
}

static bool is_key(hub_str text)
{
    bool is_good = text.len > 0 && text.len <= HUB_LIMIT_CLIENT_ID_BYTES;
    for (size_t i = 0; is_good && i < text.len; i++) {
        is_good = hub_http_is_alnum(text.ptr[i]) || text.ptr[i] == '-' || text.ptr[i] == '_';
    }
    return is_good;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The toolsets of a list; one that is wrong anywhere permits none. `text` is what they lie in. */
static void read_toolsets(hub_str list, char *text, const char **items, hub_names *names)
{
    hub_str key;
    size_t count = 0;
    while (hub_http_next_element(&list, &key)) {
        if (!is_key(key) || count == HUB_LIMIT_PERMITTED_TOOLSETS) {
            return;
        }
        items[count++] = text;
        memcpy(text, key.ptr, key.len);
        text[key.len] = '\0';
        text += key.len + 1;
    }
    qsort(items, count, sizeof *items, compare);
    names->items = items;
    names->count = count;
}

static hub_err narrow(hub_identity **identity, hub_str client, const hub_names *toolsets)
{
    hub_identity *next = hub_identity_narrow(*identity, client, toolsets);
    if (next == NULL) {
        return HUB_ENOMEM;
    }
    hub_identity_unref(*identity);
    *identity = next;
    return HUB_OK;
}

hub_err hub_http_behalf(const hub_http_task *task, hub_identity **identity)
{
    const hub_listen_settings *listen = task->server->listen;
    hub_str client = HUB_STR_EMPTY;
    hub_str list = HUB_STR_EMPTY;
    if (listen->client_id_header == NULL && listen->toolsets_header == NULL) {
        return HUB_OK;
    }
    hub_names toolsets = {.set = listen->toolsets_header != NULL};
    if (listen->client_id_header != NULL &&
        (!read_once(task, listen->client_id_header, &client) || !hub_client_id_is_good(client))) {
        client = HUB_STR_EMPTY;
        toolsets.set = true; /* and there are none */
    } else if (listen->toolsets_header != NULL) {
        (void)read_once(task, listen->toolsets_header, &list);
    }
    char *text = list.len > 0 ? malloc(list.len + 1) : NULL;
    const char **items = calloc(HUB_LIMIT_PERMITTED_TOOLSETS, sizeof *items);
    hub_err err = HUB_ENOMEM;
    if (items != NULL && (text != NULL || list.len == 0)) {
        if (text != NULL) {
            read_toolsets(list, text, items, &toolsets);
        }
        err = narrow(identity, client, &toolsets);
    }
    free(text);
    free(items);
    return err;
}
