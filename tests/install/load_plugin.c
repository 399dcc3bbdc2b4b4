/* SPDX-License-Identifier: Apache-2.0 */
/* load_plugin FILE.so TOOL ARGS: load a plugin with the fake host, call a tool, print the result.
 */
#include "fake_host.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    char error[FAKE_HOST_ERROR_BYTES];
    if (argc != 4) {
        (void)fprintf(stderr, "usage: load_plugin FILE.so TOOL ARGS\n");
        return 2;
    }
    fake_host *host = fake_host_load(argv[1], "{}", error);
    if (host == NULL) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
    fake_result result = fake_host_call(host, argv[2], argv[3]);
    int ok = result.status == PATCHBAY_RESULT;
    (void)printf("%s\n", result.json);
    fake_result_free(&result);
    fake_host_unload(host);
    return ok ? 0 : 1;
}
