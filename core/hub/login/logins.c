/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/login/logins.h"

#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/call.h"
#include "hub/instances/principal_instance.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/way.h"
#include "hub/login/asking.h"
#include "hub/login/work.h"
#include "wire/json.h"

#include <stdlib.h>
#include <utlist.h>

/* A proxy waits for a token. */
typedef struct proxy_wait {
    struct proxy_wait *next;
    struct proxy_wait *prev;
    hub_binding *binding;
    hub_login *login; /* held */
    hub_login_wait *wait;
    uint64_t ticket;
    uint64_t call; /* whose request was refused; 0: the proxy's own */
    patchbay_on_login *on_login;
    void *arg;
    bool only_reads;
} proxy_wait;

/* With the hub. */
typedef struct hub_part_logins {
    hub_logins *logins;
    proxy_wait *waits;
    uint64_t last_ticket;
    ev_timer again; /* a proxy waits that came when there was a link already */
    ev_timer over;  /* a principal has logged out */
} hub_part_logins;

/* With a toolset. */
typedef struct toolset_login {
    hub_login *login; /* NULL: not looked for yet, or there is none */
    bool is_known;
    bool is_over; /* its principal has logged out: the instance ends when the loop comes round */
} toolset_login;

static hub_part_logins *part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_LOGINS_STATION);
}

static hub_part_logins *part_with(const hub_binding *binding)
{
    return part_of(hub_toolset_hub(hub_binding_toolset(binding)));
}

static toolset_login *of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_LOGINS_STATION);
}

static void on_link(void *ctx, hub_login *login);
static void on_change(void *ctx, hub_login *login);
static const char *find_token(void *ctx, const hub_login *login, const char *issuer);
static void on_again(struct ev_loop *loop, ev_timer *timer, int events);
static void on_over(struct ev_loop *loop, ev_timer *timer, int events);

hub_logins *hub_logins_of(hub_orchestrator *hub)
{
    hub_part_logins *part = part_of(hub);
    const hub_logins_options options = {
        .on_link = on_link, .on_change = on_change, .find_token = find_token, .ctx = hub};
    if (part->logins == NULL) {
        ev_timer_init(&part->again, on_again, 0., 0.);
        part->again.data = part;
        ev_timer_init(&part->over, on_over, 0., 0.);
        part->over.data = hub;
        if (hub_logins_create(hub_loop(hub), hub_store_of(hub), &options, &part->logins) !=
            HUB_OK) {
            part->logins = NULL;
        }
    }
    return part->logins;
}

/* ---- which login ----------------------------------------------------------------------------- */

/* A text of the module's configuration; NULL: it has none. owns:    the result */
static char *dup_config(const hub_toolset_settings *settings, const char *key)
{
    hub_buf text;
    char *made = NULL;
    hub_str raw = hub_json_get(hub_str_of(settings->config_json), hub_str_of(key));
    hub_buf_init(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
    if (hub_json_type_of(raw) == HUB_JSON_STRING && hub_json_decode(raw, &text) == HUB_OK) {
        made = hub_buf_take(&text);
    }
    hub_buf_fini(&text);
    return made;
}

static bool is_public(const hub_toolset_settings *settings)
{
    return hub_json_string_is(hub_json_get(hub_str_of(settings->config_json), HUB_STR("addresses")),
                              HUB_STR("public"));
}

/* Whose login a toolset uses: the hub's own ("") or, of a principal's instance, that one's. NULL: of what
 * stands in for those of principals, nobody's. */
static const char *owner_of(const hub_toolset *toolset)
{
    const hub_principal *principal = hub_principal_instance_owner(toolset);
    return principal != NULL                                    ? hub_principal_name(principal)
           : hub_toolset_settings_of(toolset)->is_per_principal ? NULL
                                                                : "";
}

/* The login of that one; NULL: there is none. owns:    the result, one reference */
static hub_login *get_login(hub_toolset *toolset, const char *owner)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    hub_error why = {.code = HUB_OK};
    hub_login *login = NULL;
    if (settings->login != NULL && settings->login[0] == '\0') {
        return NULL; /* auth: none */
    }
    char *url = dup_config(settings, "url");
    char *ca = dup_config(settings, "ca");
    const hub_login_what what = {.toolset = hub_toolset_key(toolset),
                                 .owner = owner,
                                 .url = url,
                                 .ca = ca,
                                 .only_public = is_public(settings),
                                 .settings = settings->login};
    hub_logins *logins = hub_logins_of(hub_toolset_hub(toolset));
    if (url != NULL && logins != NULL && hub_login_get(logins, &what, &login, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "login.unusable", HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_TEXT("reason", why.text));
        login = NULL;
    }
    free(url);
    free(ca);
    return login;
}

static void find_login(hub_toolset *toolset)
{
    const char *owner = owner_of(toolset);
    if (owner != NULL) {
        of(toolset)->is_known = true;
        of(toolset)->login = get_login(toolset, owner);
    }
}

static hub_login *login_of(hub_toolset *toolset)
{
    if (!of(toolset)->is_known) {
        find_login(toolset);
    }
    return of(toolset)->login;
}

hub_login *hub_logins_get(hub_toolset *toolset, const char *owner)
{
    bool is_principals = owner[0] != '\0' && strcmp(owner, "anonymous") != 0;
    if (hub_toolset_settings_of(toolset)->is_per_principal) {
        return is_principals ? get_login(toolset, owner) : NULL;
    }
    hub_login *login = owner[0] == '\0' ? login_of(toolset) : NULL;
    return login != NULL ? hub_login_ref(login) : NULL;
}

const char *hub_logins_owner(const hub_toolset *toolset, const char *principal)
{
    return hub_toolset_settings_of(toolset)->is_per_principal ? principal : "";
}

static void forget_login(hub_toolset *toolset)
{
    toolset_login *part = of(toolset);
    hub_login *login = part->login;
    part->login = NULL;
    part->is_known = false;
    hub_login_unref(login);
}

/* ---- proxies that wait ----------------------------------------------------------------------- */

static void drop(hub_part_logins *part, proxy_wait *one)
{
    DL_DELETE(part->waits, one);
    hub_login_wait_cancel(one->wait);
    hub_login_unref(one->login);
    free(one);
}

/* Tell the proxy, which may be closing: then it hears nothing. */
static void tell(proxy_wait *one, int32_t status, hub_str text)
{
    hub_part_logins *part = part_with(one->binding);
    hub_instance *instance = hub_binding_instance(one->binding);
    patchbay_on_login *on_login = one->on_login;
    void *arg = one->arg;
    drop(part, one);
    if (instance != NULL) {
        hub_instance_tell_login(instance, on_login, arg, status, text);
    }
}

void hub_logins_add_command(const hub_toolset *toolset, hub_buf *out)
{
    const char *owner = owner_of(toolset);
    hub_buf_printf(out, "`patchbay login %s", hub_toolset_key(toolset));
    if (owner != NULL && owner[0] != '\0') {
        hub_buf_printf(out, " --principal %s", owner);
    }
    hub_buf_add_char(out, '`');
}

static void tell_failure(proxy_wait *one, const char *why)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOGIN_TEXT_BYTES);
    hub_buf_printf(&text, "%s", why);
    if (!hub_login_is_of_caller(one->login)) {
        hub_buf_printf(&text, ": run ");
        hub_logins_add_command(hub_binding_toolset(one->binding), &text);
    }
    tell(one, PATCHBAY_ESTATE, hub_buf_ok(&text) ? hub_buf_str(&text) : hub_str_of(why));
    hub_buf_fini(&text);
}

static void on_end(void *ctx, hub_err err, const char *why)
{
    proxy_wait *one = ctx;
    one->wait = NULL;
    if (err == HUB_OK) {
        tell(one, PATCHBAY_OK, HUB_STR_EMPTY);
    } else if (err == HUB_ENOTFOUND || one->only_reads) {
        tell(one, PATCHBAY_ENOTFOUND, hub_str_of(why));
    } else {
        tell_failure(one, why);
    }
}

/* ---- the user has to follow a link ----------------------------------------------------------- */

static proxy_wait *find_wait(const hub_part_logins *part, uint64_t ticket)
{
    proxy_wait *one = part->waits;
    while (one != NULL && one->ticket != ticket) {
        one = one->next;
    }
    return one;
}

/* Who is asked now, for a proxy that waits; it waits no longer when nobody can be. */
static void ask_for(proxy_wait *one, const char *link)
{
    hub_binding *binding = one->binding;
    hub_part_logins *part = part_with(binding);
    uint64_t ticket = one->ticket;
    uint64_t id = one->call;
    bool is_asked = false;
    hub_call *next;
    for (hub_call *call = hub_binding_calls(binding); call != NULL; call = next) {
        next = hub_call_next_of_binding(call);
        if (id == 0 || hub_call_id(call) == id) {
            is_asked |= hub_login_ask_client(binding, call, link);
        }
    }
    one = find_wait(part, ticket); /* it goes with a call that is over */
    if (one != NULL && !is_asked) {
        tell_failure(one, "nobody has logged in");
    }
}

/* The first that waits for a user and came after `ticket`. */
static proxy_wait *find_next(const hub_part_logins *part, uint64_t ticket)
{
    proxy_wait *one = part->waits;
    while (one != NULL &&
           (one->ticket <= ticket || one->only_reads || hub_login_link(one->login) == NULL)) {
        one = one->next;
    }
    return one;
}

/* Every proxy that waits for a user looks for somebody to ask. */
static void ask_all(hub_part_logins *part)
{
    proxy_wait *one = find_next(part, 0);
    while (one != NULL) {
        uint64_t ticket = one->ticket;
        ask_for(one, hub_login_link(one->login));
        one = find_next(part, ticket);
    }
}

static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    ask_all(timer->data);
}

/* The toolset that uses a login; NULL: none does now. */
static hub_toolset *find_user(const hub_orchestrator *hub, const hub_login *login)
{
    hub_str key = hub_str_of(hub_login_toolset(login));
    hub_str owner = hub_str_of(hub_login_owner(login));
    hub_toolset *toolset =
        owner.len > 0 ? hub_principal_instance_find(hub, owner, key) : hub_find_toolset(hub, key);
    return toolset != NULL && of(toolset)->login == login ? toolset : NULL;
}

static void log_login(const char *event, const hub_login *login, const char *by)
{
    hub_log_field fields[] = {HUB_F_TEXT("toolset", hub_login_toolset(login)),
                              HUB_F_TEXT("by", by),
                              {.key = NULL},
                              {.key = NULL}};
    if (hub_login_owner(login)[0] != '\0') {
        fields[2] = fields[1];
        fields[1] = HUB_F_TEXT("principal", hub_login_owner(login));
    }
    hub_log_fields(HUB_LOG_INFO, event, fields);
}

static void on_link(void *ctx, hub_login *login)
{
    hub_orchestrator *hub = ctx;
    hub_toolset *toolset = find_user(hub, login);
    hub_login_works_tell(hub, login);
    if (toolset == NULL) {
        return;
    }
    hub_toolset_review(toolset); /* calls that come now are asked, too */
    if (hub_login_link(login) != NULL) {
        log_login("login.wanted", login, HUB_BY_SERVER);
        ask_all(part_of(hub));
    } else if (hub_toolset_binding(toolset) != NULL) {
        hub_login_ask_no_more(hub_toolset_binding(toolset));
    }
}

/* Instances whose principals have logged out end: what their servers know them by ends with that. */
static void on_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_orchestrator *hub = timer->data;
    (void)loop;
    (void)events;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset *own = hub_principal_instances_of(hub_toolset_at(hub, i));
        while (own != NULL && !of(own)->is_over) {
            own = hub_principal_instances_next(own);
        }
        if (own != NULL) {
            hub_principal_instance_end(own);
            i--; /* there may be more */
        }
    }
}

/* What was refused may be let in; `is_likely`: somebody hopes so. */
static void try_again(hub_toolset *toolset, bool is_likely)
{
    const hub_binding *binding = hub_toolset_binding(toolset);
    if (binding == NULL || hub_binding_instance(binding) == NULL) {
        return;
    }
    hub_instance_login_changed(hub_binding_instance(binding));
    if (is_likely && hub_discovery_has_failed(toolset)) {
        hub_discovery_try(toolset, NULL, NULL); /* calls that come now wait for what it says */
    }
}

static void on_change(void *ctx, hub_login *login)
{
    hub_orchestrator *hub = ctx;
    hub_toolset *toolset = find_user(hub, login);
    if (toolset == NULL) {
        return;
    }
    uint64_t generation;
    if (hub_login_header(login, &generation).len > 0) {
        const char *owner = hub_login_owner(login);
        log_login("login.token", login, owner[0] != '\0' ? owner : HUB_BY_HUB);
    } else if (hub_toolset_is_apart(toolset) && hub_login_is_absent(login)) {
        of(toolset)->is_over = true;
        hub_loop_start_timer(hub_loop(hub), &part_of(hub)->over, 0.);
        return;
    }
    try_again(toolset, hub_login_header(login, &generation).len > 0);
}

/* What failed with an earlier token of its own may be let in with this one. */
static void principal_shows(hub_orchestrator *hub, hub_principal *principal)
{
    hub_str name = hub_str_of(hub_principal_name(principal));
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_str key = hub_str_of(hub_toolset_key(hub_toolset_at(hub, i)));
        hub_toolset *own = hub_principal_instance_find(hub, name, key);
        if (own != NULL && of(own)->login != NULL && hub_login_is_of_caller(of(own)->login) &&
            hub_discovery_has_failed(own)) {
            try_again(own, true);
        }
    }
}

/* A token names its issuer in its principal: nobody else is shown it. */
static const char *find_token(void *ctx, const hub_login *login, const char *issuer)
{
    static const hub_str KIND = {.ptr = "jwt:", .len = 4};
    const hub_orchestrator *hub = ctx;
    hub_str owner = hub_str_of(hub_login_owner(login));
    hub_str of = hub_str_from(owner, KIND.len);
    size_t len = strlen(issuer);
    const hub_principal *principal = hub_principal_find(hub, owner);
    bool is_its = hub_str_starts(owner, KIND) && hub_str_starts(of, hub_str_of(issuer)) &&
                  of.len > len && of.ptr[len] == '#';
    return principal != NULL && is_its ? hub_principal_token(principal) : NULL;
}

/* ---- what proxies ask ------------------------------------------------------------------------ */

static hub_str get(void *ctx, uint64_t *ret_generation)
{
    const hub_binding *binding = ctx;
    hub_login *login = login_of(hub_binding_toolset(binding));
    *ret_generation = 0;
    return login != NULL ? hub_login_header(login, ret_generation) : HUB_STR_EMPTY;
}

static int32_t wait_for(void *ctx, const patchbay_refusal *refusal, patchbay_on_login *on_login,
                        void *arg, uint64_t *ret_ticket)
{
    hub_binding *binding = ctx;
    hub_part_logins *part = part_with(binding);
    hub_login *login = login_of(hub_binding_toolset(binding));
    proxy_wait *one = login != NULL ? calloc(1, sizeof *one) : NULL;
    if (one == NULL) {
        return login == NULL ? PATCHBAY_ENOTFOUND : PATCHBAY_ENOMEM;
    }
    *one = (proxy_wait){.binding = binding,
                        .login = hub_login_ref(login),
                        .ticket = ++part->last_ticket,
                        .call = refusal != NULL ? refusal->call.id : 0,
                        .on_login = on_login,
                        .arg = arg,
                        .only_reads = refusal == NULL};
    hub_login_need need = {.generation = refusal != NULL ? refusal->generation : 0,
                           .challenge = refusal != NULL ? refusal->challenge : HUB_STR_EMPTY,
                           .is_again = refusal != NULL && refusal->is_again != 0};
    hub_err err =
        hub_login_wait_for(login, refusal != NULL ? &need : NULL, on_end, one, &one->wait);
    if (err != HUB_OK) {
        hub_login_unref(one->login);
        free(one);
        return err == HUB_ELIMIT ? PATCHBAY_ELIMIT : PATCHBAY_ENOMEM;
    }
    DL_APPEND(part->waits, one);
    if (hub_login_link(login) != NULL) {
        ev_timer_stop(hub_loop(hub_toolset_hub(hub_binding_toolset(binding))), &part->again);
        hub_loop_start_timer(hub_loop(hub_toolset_hub(hub_binding_toolset(binding))), &part->again,
                             0.);
    }
    *ret_ticket = one->ticket;
    return PATCHBAY_OK;
}

static void forget(void *ctx, uint64_t ticket)
{
    hub_part_logins *part = part_with(ctx);
    proxy_wait *one = find_wait(part, ticket);
    if (one != NULL) {
        drop(part, one);
    }
}

void hub_logins_forget_binding(hub_binding *binding)
{
    hub_part_logins *part = part_with(binding);
    for (proxy_wait *one = part->waits; one != NULL;) {
        proxy_wait *next = one->next;
        if (one->binding == binding) {
            drop(part, one);
        }
        one = next;
    }
}

const hub_instance_logins HUB_BINDING_LOGINS = {.get = get, .wait = wait_for, .forget = forget};

/* ---- the station ----------------------------------------------------------------------------- */

static void stop_hub(hub_orchestrator *hub)
{
    if (part_of(hub)->logins != NULL) {
        hub_logins_stop(part_of(hub)->logins);
        ev_timer_stop(hub_loop(hub), &part_of(hub)->again);
        ev_timer_stop(hub_loop(hub), &part_of(hub)->over);
    }
}

static void end_hub(hub_orchestrator *hub)
{
    hub_logins_destroy(part_of(hub)->logins);
    part_of(hub)->logins = NULL;
}

const char *hub_logins_link(const hub_toolset *toolset)
{
    const hub_login *login = of(toolset)->login;
    return login != NULL ? hub_login_link(login) : NULL;
}

const char *hub_logins_code(const hub_toolset *toolset)
{
    const hub_login *login = of(toolset)->login;
    return login != NULL ? hub_login_code(login) : NULL;
}

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_logins_link(toolset) != NULL;
}

/* The user of a call that comes while somebody has to log in is asked; the call goes on then, since its
 * proxy waits for the same. */
static hub_verdict hand_over(hub_call *call, hub_handover *handover)
{
    hub_toolset *toolset = handover->way->toolset;
    hub_binding *binding = hub_call_binding(call);
    uint64_t generation;
    hub_login *login = of(toolset)->login;
    if (login == NULL || hub_login_link(login) == NULL || hub_call_is_internal(call) ||
        hub_login_header(login, &generation).len > 0) {
        return HUB_GO_ON;
    }
    if (!hub_login_ask_client(binding, call, hub_login_link(login))) {
        return HUB_ANSWERED;
    }
    hub_instance_login_changed(hub_binding_instance(binding)); /* it may have given up */
    return HUB_GO_ON;
}

static hub_station_place place;

const hub_station HUB_LOGINS_STATION = {
    .name = "logins",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_part_logins),
              [HUB_PART_TOOLSET] = sizeof(toolset_login),
              [HUB_PART_CALL] = sizeof(login_asked)},
    .wants_toolset = wants_toolset,
    .hand_over = hand_over,
    .toolset_is_silent = hub_login_answer,
    .principal_shows = principal_shows,
    .hub_ends = stop_hub,
    .hub_drops = end_hub,
    .toolset_tuned = forget_login,
    .toolset_rebinds = forget_login,
    .toolset_ends = forget_login,
};
