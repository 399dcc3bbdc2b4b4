/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access/explain.h"

#include "hub/access/classes.h"
#include "wire/json.h"

static void add_decision(const hub_access_question *question, const hub_access_subject *subject,
                         const hub_access_decision *decision, hub_buf *out)
{
    const hub_access_rule *rule = decision->rule;
    hub_buf scopes;
    hub_buf_init(&scopes, SIZE_MAX / 4);
    hub_access_add_scopes(subject, decision, &scopes);
    hub_json_add_member(out, "decision", hub_str_of(hub_access_verdict_name(decision->verdict)));
    if (rule != NULL && rule->reason != NULL) {
        hub_json_add_member(out, "reason", hub_str_of(rule->reason));
    }
    if (question->shows_rules && rule != NULL) {
        hub_json_add_member(out, "rule", hub_str_of(rule->source));
    } else if (question->shows_rules) {
        hub_buf_add(out, HUB_STR(",\"rule\":null"));
    }
    if (scopes.len > 0) {
        hub_json_add_member(out, "scopes", hub_buf_str(&scopes));
    }
    hub_buf_printf(out, ",\"conditional\":%s", decision->is_conditional ? "true" : "false");
    hub_buf_fini(&scopes);
}

void hub_access_explain(const hub_orchestrator *hub, const hub_access_question *question,
                        hub_buf *out)
{
    const hub_access_settings *rules = &hub_settings_of(hub)->access;
    const hub_item *item = question->item;
    hub_access_subject subject =
        hub_access_subject_of(question->toolset, question->name, item, true);
    hub_access_class who;
    hub_access_decision decision;
    hub_error why = {.code = HUB_OK};
    hub_access_class_of(rules, question->who, question->profile, question->transport, &who);
    bool is_kept_back = item != NULL && item->is_withheld;
    bool is_listed = !is_kept_back && hub_access_shows(rules, &who, &subject);
    hub_err err = hub_access_decide(rules, question->who, &who, &subject, question->arguments,
                                    &decision, &why);
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "principal", hub_str_of(question->who->name));
    if (err == HUB_OK) {
        add_decision(question, &subject, &decision, out);
    } else {
        hub_json_add_member(out, "decision", HUB_STR("refuse"));
        hub_json_add_member(out, "reason", hub_str_of(why.text));
    }
    hub_buf_printf(out, ",\"listed\":%s,\"withheld\":%s}", is_listed ? "true" : "false",
                   is_kept_back ? "true" : "false");
}
