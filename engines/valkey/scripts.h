/* SPDX-License-Identifier: Apache-2.0 */
/* The script that runs in the server: state.lua, as the build found it. */
#ifndef ENGINES_VALKEY_SCRIPTS_H
#define ENGINES_VALKEY_SCRIPTS_H

extern const char VALKEY_STATE_SCRIPT[];

/* How EVALSHA names it. */
extern const char VALKEY_STATE_SHA[];

/* The keys of state.lua, in its order; the last one, the stage, gets the engine's own number behind
 * it. All that the hub keeps begins with "patchbay:". */
enum { VALKEY_KEYS = 6 };
#define VALKEY_KEYS_TEXT "6"
extern const char *const VALKEY_KEY_NAMES[VALKEY_KEYS];

/* Of the database's number: what is told there of a change. */
#define VALKEY_CHANNEL "patchbay:changes:%u"

/* How the records are laid out (state.lua, "layout"). */
#define VALKEY_LAYOUT "1"

#endif
