/* SPDX-License-Identifier: Apache-2.0 */
/* Host interface login/1: tokens for the servers behind proxies. */
#include "modules/instance_internal.h"

#include "base/limits.h"

static const hub_instance_logins *logins_of(const patchbay_host *host)
{
    return host->closing ? NULL : host->events->logins;
}

static patchbay_str login_get_authorization(patchbay_host *host, uint64_t *ret_generation)
{
    const hub_instance_logins *logins = logins_of(host);
    *ret_generation = 0;
    return logins != NULL ? logins->get(host->ctx, ret_generation) : HUB_STR_EMPTY;
}

static int32_t login_prepare(patchbay_host *host, patchbay_on_login *on_login, void *arg,
                             uint64_t *ret_ticket)
{
    const hub_instance_logins *logins = logins_of(host);
    return logins != NULL ? logins->wait(host->ctx, NULL, on_login, arg, ret_ticket)
                          : PATCHBAY_ENOTFOUND;
}

static int32_t login_obtain(patchbay_host *host, const patchbay_refusal *refusal,
                            patchbay_on_login *on_login, void *arg, uint64_t *ret_ticket)
{
    const hub_instance_logins *logins = logins_of(host);
    if (refusal->struct_size < sizeof *refusal ||
        refusal->challenge.len > HUB_LIMIT_CHALLENGE_BYTES) {
        return PATCHBAY_EINVAL;
    }
    return logins != NULL ? logins->wait(host->ctx, refusal, on_login, arg, ret_ticket)
                          : PATCHBAY_ENOTFOUND;
}

static void login_forget(patchbay_host *host, uint64_t ticket)
{
    if (host->events->logins != NULL && ticket != 0) { /* also while it closes */
        host->events->logins->forget(host->ctx, ticket);
    }
}

static void login_watch(patchbay_host *host, patchbay_on_login *on_change, void *arg)
{
    host->on_login = on_change;
    host->on_login_arg = arg;
}

void hub_instance_tell_login(hub_instance *instance, patchbay_on_login *on_login, void *arg,
                             int32_t status, hub_str text)
{
    hub_watchdog_stay stay;
    hub_instance_enter(instance, &stay, "on_login", HUB_STR_EMPTY);
    on_login(arg, status, text);
    hub_watchdog_leave(instance->env->watchdog, &stay);
}

void hub_instance_login_changed(hub_instance *instance)
{
    if (!instance->closing && instance->on_login != NULL) {
        hub_instance_tell_login(instance, instance->on_login, instance->on_login_arg, PATCHBAY_OK,
                                HUB_STR_EMPTY);
    }
}

const patchbay_login_v1 HUB_HOST_LOGIN = {
    .struct_size = sizeof(patchbay_login_v1),
    .get_authorization = login_get_authorization,
    .prepare = login_prepare,
    .obtain = login_obtain,
    .forget = login_forget,
    .watch = login_watch,
};
