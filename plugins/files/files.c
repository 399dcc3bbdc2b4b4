/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "schemas.h"

#define LOOKS (PATCHBAY_TOOL_READ_ONLY | PATCHBAY_TOOL_IDEMPOTENT)

/* The tools that only look come first: they are published alone when no root is writable. */
static const patchbay_tool tools[] = {
    {.name = "list",
     .title = "List a folder",
     .description = "Lists a folder: path, type, size and time of each entry, in byte order of "
                    "names. 'depth' above 1 includes folders inside it. Without 'path' it lists "
                    "the root, or the roots when there are several. When 'next_offset' is in the "
                    "result there are more entries: repeat the call with it as 'offset'.",
     .input_schema = list_input,
     .output_schema = list_output,
     .flags = LOOKS,
     .handler = files_list},
    {.name = "stat",
     .title = "Describe a file or folder",
     .description = "Type, size, time and mode of one file or folder. A symbolic link is described "
                    "itself, with its target and what it leads to inside the root.",
     .input_schema = stat_input,
     .output_schema = stat_output,
     .flags = LOOKS,
     .handler = files_stat},
    {.name = "read",
     .title = "Read a file",
     .description = "Reads a file, or a part of it: by bytes (offset, length) or by lines (line, "
                    "lines). Text comes as text, an image as an image, anything else as base64. A "
                    "last block in brackets says which part it was, and how to read on.",
     .input_schema = read_input,
     .flags = LOOKS,
     .handler = files_read},
    {.name = "search_name",
     .title = "Find files by name",
     .description = "Finds files and folders by pattern, below a folder. A pattern without slash "
                    "is matched against the name (*.c, *.{h,c}), one with a slash against the path "
                    "below the folder (src/**/*.c). Symbolic links are found, not followed.",
     .input_schema = search_name_input,
     .output_schema = search_name_output,
     .flags = LOOKS,
     .handler = files_search_name},
    {.name = "search_text",
     .title = "Search in files",
     .description = "Searches lines that contain a text, or match a POSIX extended regular "
                    "expression (regex: true), in one file or all files below a folder. Binary "
                    "files are left out. 'stopped' in the result says why not all was searched.",
     .input_schema = search_text_input,
     .output_schema = search_text_output,
     .flags = LOOKS,
     .handler = files_search_text},
#define LOOKING_COUNT 5
    {.name = "write",
     .title = "Write a file",
     .description = "Creates a file, or replaces its whole content. Others see the old content or "
                    "the new, never a part. Permissions are kept.",
     .input_schema = write_input,
     .output_schema = write_output,
     .flags = PATCHBAY_TOOL_DESTRUCTIVE | PATCHBAY_TOOL_IDEMPOTENT | PATCHBAY_TOOL_TAKES_NUL,
     .handler = files_write},
    {.name = "edit",
     .title = "Edit a file",
     .description = "Replaces a text in a file by another. It must occur exactly 'count' times "
                    "(usually once), or nothing is changed. The result holds the difference; with "
                    "dry_run that is all that happens.",
     .input_schema = edit_input,
     .output_schema = edit_output,
     .flags = PATCHBAY_TOOL_DESTRUCTIVE | PATCHBAY_TOOL_TAKES_NUL,
     .handler = files_edit},
    {.name = "mkdir",
     .title = "Make a folder",
     .description = "Makes a folder; one that is there already is fine ('created' is false).",
     .input_schema = mkdir_input,
     .output_schema = mkdir_output,
     .flags = PATCHBAY_TOOL_IDEMPOTENT,
     .handler = files_mkdir},
    {.name = "move",
     .title = "Move or rename",
     .description = "Moves or renames a file or folder, within one file system.",
     .input_schema = move_input,
     .output_schema = move_output,
     .flags = PATCHBAY_TOOL_DESTRUCTIVE,
     .handler = files_move},
    {.name = "delete",
     .title = "Delete a file",
     .description = "Deletes a file, a symbolic link (not its target), or an empty folder.",
     .input_schema = delete_input,
     .output_schema = delete_output,
     .flags = PATCHBAY_TOOL_DESTRUCTIVE,
     .handler = files_delete},
};

int32_t files_publish(patchbay_toolset *toolset, int writable)
{
    size_t count = sizeof tools / sizeof tools[0];
    return patchbay_set_tools(toolset, tools, writable ? count : LOOKING_COUNT);
}

PATCHBAY_TOOLSET_WITH("files", "1.0.0", "Reads, searches and edits files in allowed folders.", NULL,
                      0, config_schema, files_setup, files_teardown)
