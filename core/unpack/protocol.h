/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay-unpack, a program of its own: it unpacks one bundle (a ZIP archive of regular files) into
 * a folder. Its standard input is the archive, a regular file; its working folder is empty and gets
 * the files; standard error gets the reason when it ends with another code than 0. What it may do afterwards is bounded by limits and a filter of
 * system calls before it reads the first byte. The hub shares this file with it, and no code.
 */
#ifndef HUB_UNPACK_PROTOCOL_H
#define HUB_UNPACK_PROTOCOL_H

#define HUB_UNPACK_PROGRAM "patchbay-unpack"

#define HUB_UNPACK_FOLDER 3 /* in it: the descriptor of that folder */

#define HUB_UNPACK_FILES      10000
#define HUB_UNPACK_BYTES      (512ull * 1024 * 1024) /* of all files; and of the archive */
#define HUB_UNPACK_RATIO      100                    /* of that to the size of the archive */
#define HUB_UNPACK_NAME_BYTES 1024
#define HUB_UNPACK_DEPTH      32

#endif
