/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access rules as plain values: who may do what with which tools. They are read from a manifest
 * (config/), and applied by access.h. Strings are NUL-terminated and belong to whoever made the
 * value. A resource, a template or a prompt is judged by the same rules: its canonical id is
 * "toolset:URI" or "toolset:prompt". Any thread, once made.
 */
#ifndef HUB_IDENTITY_RULES_H
#define HUB_IDENTITY_RULES_H

#include "tools/rules.h"

/* What a rule says of what it matches. */
typedef enum hub_access_verdict {
    HUB_ACCESS_ALLOW,
    HUB_ACCESS_DENY,      /* as if there were no such tool */
    HUB_ACCESS_CHALLENGE, /* listed; a call needs scopes */
    HUB_ACCESS_CONFIRM,   /* allowed, after its user has been asked */
} hub_access_verdict;

/* A claim of the credential: one of the values equals it, or an element of it. */
typedef struct hub_access_claim {
    const char *name;
    hub_names values; /* JSON texts of scalars */
} hub_access_claim;

/* Whom a rule is about; everything that is set has to fit. */
typedef struct hub_access_who {
    hub_names principals; /* globs over names with their kind; any */
    hub_names groups;     /* any */
    hub_names scopes;     /* all; of a challenge: what it asks for, and no condition */
    hub_names profiles;   /* any */
    hub_names transports; /* any: stdio, http, sse, websocket, unix */
    const hub_access_claim *claims;
    size_t claim_count; /* all */
} hub_access_who;

typedef enum hub_access_flag {
    HUB_ACCESS_EITHER, /* nothing was said */
    HUB_ACCESS_YES,
    HUB_ACCESS_NO,
} hub_access_flag;

/* Which tools; everything that is set has to fit. */
typedef struct hub_access_tools {
    hub_names match;      /* globs over canonical ids; any */
    hub_names tags;       /* any */
    hub_names categories; /* any */
    hub_access_flag read_only;
    hub_access_flag destructive;
} hub_access_tools;

/* What an argument has to be; everything that is set has to fit. Values are JSON texts. */
typedef struct hub_access_condition {
    const char *pointer; /* RFC 6901 */
    const char *equals;  /* a scalar; NULL: not set */
    hub_names in;        /* one of these scalars */
    hub_names globs;     /* text that one of these matches */
    hub_names beneath;   /* an absolute path in, or the same as, one of these folders */
    const char *max;     /* a number, at most this one; NULL: not set */
} hub_access_condition;

typedef struct hub_access_rule {
    hub_access_who who;
    hub_access_tools tools;
    const hub_access_condition *conditions; /* all */
    size_t condition_count;
    hub_access_verdict then;
    const char *reason; /* for people; NULL: none */
    const char *source; /* "FILE:LINE", for explanations */
} hub_access_rule;

/* The first rule that matches decides. */
typedef struct hub_access_settings {
    bool is_set;                  /* false: nobody said anything, and nothing is judged */
    hub_access_verdict otherwise; /* ALLOW or DENY: when no rule matches */
    const hub_access_rule *rules;
    size_t count; /* at most HUB_LIMIT_ACCESS_RULES */
} hub_access_settings;

#endif
