/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says of itself: title, description, instructions. Texts of strangers that people and
 * models read: bounded, without what is not seen, each one line but for the
 * instructions, secrets masked. Thread: [loop].
 * spec: MCP 2026-07-28 schema DiscoverResult, Implementation; 2025-11-25 schema InitializeResult
 */
#ifndef HUB_HUB_KERNEL_ABOUT_H
#define HUB_HUB_KERNEL_ABOUT_H

#include "base/buf.h"

typedef struct hub_about {
    char *title;             /* NULL: nothing was said … */
    char *description;       /* … */
    char *instructions;      /* … */
    bool hides_instructions; /* they are not as somebody has approved them: nobody is shown them */
} hub_about;

/* Read an InitializeResult, a DiscoverResult, or what hub_about_write has written (checked JSON).
 * What is not a string, or blank, counts as not said.
 * owns:    *ret_about, release it with hub_about_fini
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_about_read(hub_str json, hub_about *ret_about);
void hub_about_fini(hub_about *about);

/* Append it as an object. */
void hub_about_write(const hub_about *about, hub_buf *out);

/* The instructions, if clients may have them; or NULL. */
const char *hub_about_instructions(const hub_about *about);

/* What says best what it is for: description, else instructions, else title; NULL: nothing does. */
const char *hub_about_purpose(const hub_about *about);

#endif
