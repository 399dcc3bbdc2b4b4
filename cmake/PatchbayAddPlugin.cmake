# patchbay_add_plugin(NAME source…): build NAME.so, a plugin for the hub.
# Part of the installed package, so plugins in the tree and elsewhere get the same flags.
function(patchbay_add_plugin name)
    add_library(${name} MODULE ${ARGN})
    target_link_libraries(${name} PRIVATE patchbay::plugin)
    set_target_properties(${name} PROPERTIES
        PREFIX ""
        C_VISIBILITY_PRESET hidden
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
    # An undefined symbol is an error now instead of a refusal at load; the sanitizers' run-time
    # symbols come from the hub, so those builds cannot have it.
    if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
        target_link_options(${name} PRIVATE -Wl,-z,defs)
    endif()
endfunction()
