/* SPDX-License-Identifier: Apache-2.0 */
/* Host interface catalog/1: what a toolset offers, once it is known and when it changes. */
#include "modules/instance_internal.h"

#include "base/limits.h"
#include "base/log.h"

#include <stdio.h>

static void catalog_defer(patchbay_host *host)
{
    if (host->creating) {
        host->events->on_defer(host->ctx);
    }
}

static void catalog_set_state(patchbay_host *host, uint32_t state, patchbay_str detail)
{
    if (!host->closing) {
        host->events->on_state(host->ctx, state, detail);
    }
}

/* A list that is no list: the log says why, and so does create() when it fails for it. */
static int32_t refuse_json(hub_instance *instance, const char *reason)
{
    hub_log(HUB_LOG_WARNING, "tools.catalog.refused", HUB_F_TEXT("toolset", instance->key),
            HUB_F_TEXT("module", instance->module->name), HUB_F_TEXT("reason", reason));
    if (instance->creating && hub_env_on_loop(instance->env)) {
        (void)snprintf(instance->refusal, sizeof instance->refusal, "%.*s",
                       (int)sizeof instance->refusal - 1, reason);
    }
    return PATCHBAY_EINVAL;
}

static int32_t refuse(const hub_instance *instance, const char *what, size_t count, size_t most)
{
    hub_log(HUB_LOG_WARNING, "tools.catalog.refused", HUB_F_TEXT("toolset", instance->key),
            HUB_F_TEXT("reason", "the list is too long"), HUB_F_INT(what, count),
            HUB_F_INT("limit", most));
    return PATCHBAY_ELIMIT;
}

/* Whether it is a list that is not too long: `*ret_value`, without white space around it. */
static int32_t check_list(hub_instance *instance, hub_str json, hub_str *ret_value)
{
    hub_error why = {0};
    if (json.len > HUB_LIMIT_CATALOG_BYTES) {
        return refuse(instance, "bytes", json.len, HUB_LIMIT_CATALOG_BYTES);
    }
    if (hub_json_check(json, ret_value, &why) != HUB_OK) {
        return refuse_json(instance, why.text);
    }
    return hub_json_type_of(*ret_value) == HUB_JSON_ARRAY
               ? PATCHBAY_OK
               : refuse_json(instance, "the list is not a JSON array");
}

/* Whether nothing is to be done, since the hub has that list. */
static bool has_list(const hub_instance *instance, uint32_t kind, hub_str json)
{
    return json.len <= HUB_LIMIT_CATALOG_BYTES && hub_env_on_loop(instance->env) &&
           !instance->closing && instance->events->has_list(instance->ctx, kind, json);
}

int32_t hub_instance_set_list(hub_instance *instance, uint32_t kind, hub_str json)
{
    hub_str value;
    if (kind > PATCHBAY_PROMPTS) {
        return PATCHBAY_EINVAL;
    }
    if (has_list(instance, kind, json)) {
        return PATCHBAY_OK;
    }
    int32_t status = check_list(instance, json, &value);
    if (status != PATCHBAY_OK) {
        return status;
    }
    size_t count = hub_json_count(value);
    if (count > HUB_LIMIT_TOOLS_PER_TOOLSET) {
        return refuse(instance, "count", count, HUB_LIMIT_TOOLS_PER_TOOLSET);
    }
    if (hub_env_on_loop(instance->env)) {
        if (!instance->closing) {
            instance->events->on_list(instance->ctx, kind, value);
        }
        return PATCHBAY_OK;
    }
    hub_mail *mail = hub_mail_create(instance, HUB_MAIL_LIST, value);
    if (mail != NULL) {
        mail->list = kind;
    }
    return hub_mail_send(mail);
}

static int32_t read_part(const hub_instance *instance, uint32_t kind, const hub_str *list_json)
{
    bool is_end = false;
    hub_err err = instance->events->on_list_part(instance->ctx, kind, list_json, &is_end);
    if (err != HUB_OK) {
        return err == HUB_ESTATE   ? PATCHBAY_ESTATE
               : err == HUB_ENOMEM ? PATCHBAY_ENOMEM
                                   : PATCHBAY_ELIMIT;
    }
    return is_end ? PATCHBAY_OK : PATCHBAY_EAGAIN;
}

/* To check a list takes a turn of its own. */
static int32_t catalog_set_in_turns(patchbay_host *host, uint32_t kind,
                                    const patchbay_str *list_json)
{
    hub_str value;
    if (!hub_env_on_loop(host->env)) {
        return PATCHBAY_ESTATE;
    }
    if (kind > PATCHBAY_PROMPTS) {
        return PATCHBAY_EINVAL;
    }
    if (host->closing) {
        return PATCHBAY_OK;
    }
    if (list_json == NULL) {
        return read_part(host, kind, NULL);
    }
    if (host->creating || list_json->len <= HUB_LIMIT_CATALOG_PART_BYTES ||
        has_list(host, kind, *list_json)) {
        return hub_instance_set_list(host, kind, *list_json);
    }
    int32_t status = check_list(host, *list_json, &value);
    return status == PATCHBAY_OK ? read_part(host, kind, &value) : status;
}

static int32_t catalog_set_capabilities(patchbay_host *host, patchbay_str capabilities_json)
{
    hub_str value;
    if (capabilities_json.len > HUB_LIMIT_CATALOG_BYTES ||
        hub_json_check(capabilities_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_OBJECT) {
        return PATCHBAY_EINVAL;
    }
    if (!host->closing) {
        host->events->on_capabilities(host->ctx, value);
    }
    return PATCHBAY_OK;
}

static int32_t catalog_set_about(patchbay_host *host, patchbay_str result_json)
{
    hub_str value;
    if (result_json.len > HUB_LIMIT_CATALOG_BYTES ||
        hub_json_check(result_json, &value, NULL) != HUB_OK ||
        hub_json_type_of(value) != HUB_JSON_OBJECT) {
        return PATCHBAY_EINVAL;
    }
    if (!host->closing) {
        host->events->on_about(host->ctx, value);
    }
    return PATCHBAY_OK;
}

static int32_t catalog_updated(patchbay_host *host, patchbay_str uri)
{
    if (uri.len == 0 || uri.len > HUB_LIMIT_URI_BYTES) {
        return PATCHBAY_EINVAL;
    }
    if (hub_env_on_loop(host->env)) {
        if (!host->closing) {
            host->events->on_updated(host->ctx, uri);
        }
        return PATCHBAY_OK;
    }
    return hub_mail_send(hub_mail_create(host, HUB_MAIL_UPDATED, uri));
}

static void catalog_set_health(patchbay_host *host, const patchbay_health *health)
{
    if (!host->closing && health->struct_size >= sizeof *health) {
        host->events->on_health(host->ctx, health);
    }
}

const patchbay_catalog_v1 HUB_HOST_CATALOG = {
    .struct_size = sizeof(patchbay_catalog_v1),
    .defer = catalog_defer,
    .set_state = catalog_set_state,
    .set = hub_instance_set_list,
    .set_capabilities = catalog_set_capabilities,
    .updated = catalog_updated,
    .set_health = catalog_set_health,
    .set_about = catalog_set_about,
    .set_in_turns = catalog_set_in_turns,
};
