/* SPDX-License-Identifier: Apache-2.0 */
/* See ../puppet.h. PUPPET_NAME and PUPPET_FLAGS come from the build. */
#include "puppet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static patchbay_str str(const char *text)
{
    return (patchbay_str){.ptr = text, .len = strlen(text)};
}

/* The address in {"puppet":"1234"}; NULL when there is none. */
static puppet *find_puppet(patchbay_str config)
{
    static const char key[] = "\"puppet\":\"";
    const char *at = memmem(config.ptr, config.len, key, sizeof key - 1);
    return at != NULL ? (puppet *)(uintptr_t)strtoull(at + sizeof key - 1, NULL, 10) : NULL;
}

static void set_lists(const puppet *master, const patchbay_catalog_v1 *catalog, patchbay_host *host)
{
    const char *const lists[] = {
        [PATCHBAY_RESOURCES] = master->resources,
        [PATCHBAY_RESOURCE_TEMPLATES] = master->templates,
        [PATCHBAY_PROMPTS] = master->prompts,
    };
    for (uint32_t kind = PATCHBAY_RESOURCES; kind <= PATCHBAY_PROMPTS; kind++) {
        if (lists[kind] != NULL) {
            (void)catalog->set(host, kind, str(lists[kind]));
        }
    }
    if (master->capabilities != NULL) {
        (void)catalog->set_capabilities(host, str(master->capabilities));
    }
}

static int32_t create(const patchbay_host_api *api, patchbay_host *host, patchbay_str config_json,
                      void **ret_inst, patchbay_error *reterr)
{
    puppet *master = find_puppet(config_json);
    *ret_inst = NULL;
    if (master == NULL) {
        return api->set_tools(host, str("[]"));
    }
    unsigned number = ++master->creates;
    const patchbay_catalog_v1 *catalog = api->get_interface(host, PATCHBAY_CATALOG_V1);
    if (master->defers) {
        catalog->defer(host);
    }
    if (master->tools != NULL) {
        (void)api->set_tools(host, str(master->tools));
    }
    set_lists(master, catalog, host);
    if (master->broken != NULL) {
        (void)snprintf(reterr->text, sizeof reterr->text, "%s", master->broken);
        return PATCHBAY_ESYSTEM;
    }
    puppet_instance *instance = calloc(1, sizeof *instance);
    if (instance == NULL) {
        return PATCHBAY_ENOMEM;
    }
    *instance = (puppet_instance){.puppet = master,
                                  .api = api,
                                  .host = host,
                                  .catalog = catalog,
                                  .client = api->get_interface(host, PATCHBAY_CLIENT_V1),
                                  .number = number};
    master->latest = instance;
    if (master->on_create != NULL) {
        master->on_create(instance);
    }
    *ret_inst = instance;
    return PATCHBAY_OK;
}

static void call(void *inst, patchbay_call id, const patchbay_request *request)
{
    puppet_instance *instance = inst;
    instance->puppet->calls++;
    if (instance->puppet->on_call != NULL) {
        instance->puppet->on_call(instance, id, request);
    } else {
        (void)instance->api->finish(instance->host, id, PATCHBAY_RESULT, str("{\"content\":[]}"));
    }
}

static void cancel(void *inst, patchbay_call id)
{
    puppet_instance *instance = inst;
    instance->puppet->cancels++;
    if (instance->puppet->on_cancel != NULL) {
        instance->puppet->on_cancel(instance, id);
    }
}

static void destroy(void *inst)
{
    puppet_instance *instance = inst;
    if (instance == NULL) {
        return;
    }
    puppet *master = instance->puppet;
    master->destroys++;
    if (master->on_destroy != NULL) {
        master->on_destroy(instance);
    }
    if (master->latest == instance) {
        master->latest = NULL;
    }
    free(instance);
}

PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1 = {
    .magic = PATCHBAY_MAGIC,
    .struct_size = sizeof(patchbay_plugin),
    .abi = PATCHBAY_ABI,
    .abi_min = PATCHBAY_ABI_VERSION(1, 0),
    .name = PUPPET_NAME,
    .version = "1.0.0000",
    .description = "Does what the test says.",
    .config_schema_json = "{\"type\":\"object\",\"properties\":{\"puppet\":{\"type\":\"string\"}}}",
    .flags = PUPPET_FLAGS,
    .create = create,
    .call = call,
    .cancel = cancel,
    .destroy = destroy,
};
