# SPDX-License-Identifier: Apache-2.0
"""Check messages that a server wrote against the official JSON schema of a protocol revision."""

import json
import re
from functools import lru_cache
from pathlib import Path

import jsonschema

LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
MODERN = "2026-07-28"
HAS_BATCHES = ("2025-03-26",)

FOLDER = Path(__file__).resolve().parent.parent / "schemas"

# What a successful answer to a method is called in the schemas.
SKILLS = ("skills/list", "skills/get", "resources/directory/read")  # of the extension io.modelcontextprotocol/skills
RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tasks/get": "GetTaskResult",
    "tasks/cancel": "CancelTaskResult",
    "tasks/result": "CallToolResult",  # of the one request that can be a task
}

# The extension io.modelcontextprotocol/tasks has a schema of its own: a task's members with their types, and what
# comes with a status.
TASK = {
    "taskId": str,
    "status": str,
    "createdAt": str,
    "lastUpdatedAt": str,
    "ttlMs": (int, type(None)),
}
TASK_STATUS = {"working": None, "input_required": "inputRequests", "completed": "result", "failed": "error",
               "cancelled": None}

NOTIFICATIONS = {
    "notifications/cancelled": "CancelledNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/elicitation/complete": "ElicitationCompleteNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/tasks/status": "TaskStatusNotification",
}

REQUESTS = {
    "ping": "PingRequest",
    "roots/list": "ListRootsRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "elicitation/create": "ElicitRequest",
}

MODERN_ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}


@lru_cache(maxsize=None)
def _schema(revision):
    return json.loads((FOLDER / f"{revision}.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=None)
def _validator(revision, definition):
    schema = _schema(revision)
    place = "$defs" if "$defs" in schema else "definitions"
    if definition not in schema[place]:
        return None
    kind = jsonschema.validators.validator_for(schema)
    return kind({"$ref": f"#/{place}/{definition}", place: schema[place]})


def _problems(revision, definition, value):
    validator = _validator(revision, definition)
    if validator is None:
        return [f"{revision} has no {definition}"]
    found = []
    for error in validator.iter_errors(value):
        where = "/".join(str(step) for step in error.absolute_path)
        found.append(f"{revision} {definition}: at '{where}': {error.message[:300]}")
    return found


def is_valid(revision, definition, value):
    """Whether a value is what the schema of the revision calls `definition`."""
    return _validator(revision, definition).is_valid(value)


def _task_problems(method, result):
    """What is wrong with a result of the extension for tasks."""
    if method in ("tasks/update", "tasks/cancel"):
        return [] if result == {"resultType": "complete"} else [f"not an acknowledgement: {result}"]
    found = [f"a task's {key} is no {kind}" for key, kind in TASK.items() if not isinstance(result.get(key, 0.5), kind)]
    more = TASK_STATUS.get(result.get("status"), "a known status")
    if method == "tasks/get" and more is not None and more not in result:
        found.append(f"a task without {more}")
    if result.get("resultType") != ("complete" if method == "tasks/get" else "task"):
        found.append(f"resultType {result.get('resultType')} of {method}")
    return found


def _is_skill(entry):
    files = entry.get("resources")
    is_complete = files == "dynamic" or (
        isinstance(files, list)
        and any(f["uri"] == entry["uri"] for f in files)
        and all(isinstance(f["size"], int) and re.fullmatch("sha256:[0-9a-f]{64}", f["digest"]) for f in files)
    )
    name, said = entry["uri"].split("/")[-2], entry["frontmatter"]
    return is_complete and entry["uri"].endswith("/SKILL.md") and name == said["name"] and "description" in said


def _skill_problems(method, result, legacy):
    """By the text of the extension: it has no JSON Schema."""
    found = [] if legacy or result.get("resultType") == "complete" else [f"no resultType of {method}"]
    if method == "resources/directory/read":
        good = all("uri" in r and "name" in r for r in result["resources"])
    else:
        good = legacy or (result.get("ttlMs", -1) >= 0 and result.get("cacheScope") in ("public", "private"))
        good = good and all(map(_is_skill, result["skills"] if method == "skills/list" else [result["skill"]]))
    return found if good else found + [f"not a result of {method}"]


def problems(revision, message, method=None):
    """Everything that is wrong with one message of a server. `method` is what a response answers."""
    return list(_problems_like(revision, json.dumps(_without_accidents(message)), method))


def _without_accidents(message):
    """The message with another id of the same type, and other words for an error: no schema asks more of these."""
    message_id, error = message.get("id"), message.get("error")
    if type(message_id) in (str, int):
        message = {**message, "id": type(message_id)()}
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        message = {**message, "error": {**error, "message": ""}}
    return message


@lru_cache(maxsize=200)
def _problems_like(revision, text, method):
    """Of all messages that differ by accidents alone, most of what a hub says, one is held against the schema."""
    return tuple(_problems_of(revision, json.loads(text), method))


def _problems_of(revision, message, method):
    legacy = revision != MODERN
    if "method" in message:
        name = message["method"]
        if "id" in message:
            if not legacy:
                return [f"{revision}: a server must not send requests ({name})"]
            definition, envelope = REQUESTS.get(name), "JSONRPCRequest"
        else:
            definition, envelope = NOTIFICATIONS.get(name), "JSONRPCNotification"
        if definition is None:
            return [f"{revision}: not a message of a server: {name}"]
        return _problems(revision, envelope, message) + _problems(revision, definition, message)
    if "error" in message:
        envelope = "JSONRPCErrorResponse" if _validator(revision, "JSONRPCErrorResponse") else "JSONRPCError"
        if message.get("id") is None and envelope == "JSONRPCError":
            # These schemas have no words for an error about a message whose id cannot be read;
            # JSON-RPC 2.0, 5 does: null.
            message = {**message, "id": 0}
        found = _problems(revision, envelope, message)
        special = MODERN_ERRORS.get(message["error"].get("code")) if not legacy else None
        if special:
            found += _problems(revision, special, message)
        return found
    envelope = "JSONRPCResultResponse" if _validator(revision, "JSONRPCResultResponse") else "JSONRPCResponse"
    found = _problems(revision, envelope, message)
    definition = RESULTS.get(method)
    result = message.get("result")
    is_task = (method or "").startswith("tasks/") or (isinstance(result, dict) and result.get("resultType") == "task")
    if not legacy and is_task:
        return found + _task_problems(method, result)
    if (method or "").startswith("patchbay/"):
        return found  # the hub's own
    if method in SKILLS:
        return found + _skill_problems(method, result, legacy)
    if definition is None:
        return found + [f"a result for {method}, which has none"]
    if legacy and method == "tools/call" and isinstance(result, dict) and "task" in result:
        definition = "CreateTaskResult"
    if not legacy and isinstance(result, dict) and result.get("resultType") == "input_required":
        definition = "InputRequiredResult"
    return found + _problems(revision, definition, result)
