include(CheckCCompilerFlag)

# Flags of the hub's own code, as one target; nothing is set globally.
add_library(patchbay_warnings INTERFACE)
target_compile_options(patchbay_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough -Wwrite-strings -Wcast-qual
    $<$<BOOL:${PATCHBAY_WERROR}>:-Werror>)
target_compile_definitions(patchbay_warnings INTERFACE _GNU_SOURCE)

# GCC clears and copies what is larger than a few registers by `rep stos`, which takes 30 cycles to begin.
check_c_compiler_flag(-mstringop-strategy=libcall PATCHBAY_HAS_STRINGOP_STRATEGY)
if(PATCHBAY_HAS_STRINGOP_STRATEGY)
    target_compile_options(patchbay_warnings INTERFACE -mstringop-strategy=libcall)
endif()

# With the usual 40 %, which is counted for the whole program, GCC calls small functions of the way of a call instead of
# making them part of it, more of them with each thing that the hub learns: 5 % of the instructions of a call.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(patchbay_warnings INTERFACE $<$<NOT:$<CONFIG:Debug>>:--param=inline-unit-growth=80>)
endif()
