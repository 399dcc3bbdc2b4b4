# What `cmake --install` puts where: the hub, the SDK, and how others find it (find_package and
# pkg-config). Plugins install themselves, see plugins/CMakeLists.txt.
include(CMakePackageConfigHelpers)

set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/patchbay")

# The ABI is what the header says, nowhere else.
file(STRINGS "${PROJECT_SOURCE_DIR}/include/patchbay/plugin.h" _abi_line
    REGEX "^#define PATCHBAY_ABI +PATCHBAY_ABI_VERSION\\([0-9]+, [0-9]+\\)")
if(NOT _abi_line MATCHES "\\(([0-9]+), ([0-9]+)\\)")
    message(FATAL_ERROR "include/patchbay/plugin.h does not define PATCHBAY_ABI as expected")
endif()
set(PATCHBAY_ABI "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")

# The hub.
if(TARGET patchbay)
    install(TARGETS patchbay RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# Completion of command lines, and manual pages where scdoc is there: written by what is described.
if(TARGET patchbay AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
    set(_completions bash share/bash-completion/completions patchbay
                     zsh share/zsh/vendor-completions _patchbay
                     fish share/fish/vendor_completions.d patchbay.fish)
    set(_written)
    while(_completions)
        list(POP_FRONT _completions _shell _folder _name)
        set(_file "${PROJECT_BINARY_DIR}/completion/${_shell}/${_name}")
        add_custom_command(OUTPUT "${_file}"
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/completion/${_shell}"
            COMMAND patchbay completion ${_shell} > "${_file}" DEPENDS patchbay VERBATIM)
        install(FILES "${_file}" DESTINATION "${_folder}")
        list(APPEND _written "${_file}")
    endwhile()
    find_program(SCDOC scdoc)
    find_program(AWK awk)
    if(SCDOC AND AWK)
        set(_tidy "${AWK}" -f "${PROJECT_SOURCE_DIR}/cmake/manual.awk")
        set(_file "${PROJECT_BINARY_DIR}/man/patchbay.1")
        add_custom_command(OUTPUT "${_file}"
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/man"
            COMMAND patchbay manual | "${SCDOC}" | ${_tidy} > "${_file}"
            DEPENDS patchbay "${PROJECT_SOURCE_DIR}/cmake/manual.awk" VERBATIM)
        install(FILES "${_file}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
        list(APPEND _written "${_file}")
        set(_file "${PROJECT_BINARY_DIR}/man/patchbay.yaml.5")
        add_custom_command(OUTPUT "${_file}"
            COMMAND patchbay-settings manual | "${SCDOC}" | ${_tidy} > "${_file}"
            DEPENDS patchbay-settings "${PROJECT_BINARY_DIR}/man/patchbay.1" VERBATIM)
        install(FILES "${_file}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man5")
        list(APPEND _written "${_file}")
        set(_file "${PROJECT_BINARY_DIR}/man/patchbay-plugin.7")
        set(_source "${PROJECT_SOURCE_DIR}/docs/patchbay-plugin.7.scd")
        add_custom_command(OUTPUT "${_file}"
            COMMAND "${SCDOC}" < "${_source}" | ${_tidy} > "${_file}"
            DEPENDS "${_source}" "${PROJECT_BINARY_DIR}/man/patchbay.1" VERBATIM)
        install(FILES "${_file}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man7")
        list(APPEND _written "${_file}")
    endif()
    add_custom_target(manuals ALL DEPENDS ${_written})
endif()

# The SDK: headers, the target patchbay::plugin, the package.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/patchbay"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(TARGETS patchbay_plugin EXPORT patchbay-targets)
install(EXPORT patchbay-targets NAMESPACE patchbay:: DESTINATION "${_package_dir}")
set(_plugin_dir "${CMAKE_INSTALL_LIBDIR}/patchbay/plugins")
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/patchbay-config.cmake.in"
    "${PROJECT_BINARY_DIR}/patchbay-config.cmake"
    INSTALL_DESTINATION "${_package_dir}"
    PATH_VARS _plugin_dir)
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/patchbay-config-version.cmake"
    VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES
    "${PROJECT_BINARY_DIR}/patchbay-config.cmake"
    "${PROJECT_BINARY_DIR}/patchbay-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/PatchbayAddPlugin.cmake"
    DESTINATION "${_package_dir}")

# pkg-config. Paths are relative to the file, so that the tree can be moved or staged.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR _libdir_is_absolute)
if(_libdir_is_absolute)
    set(_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH _up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" _up "${_up}")
    set(_pc_prefix "\${pcfiledir}/${_up}")
    set(_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_INCLUDEDIR _includedir_is_absolute)
if(_includedir_is_absolute)
    set(_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/patchbay-plugin.pc.in"
    "${PROJECT_BINARY_DIR}/patchbay-plugin.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/patchbay-plugin.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Documents, and what a user would copy: where they are in the tree, so that they find each other.
install(FILES README.md LICENSE ABI.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md
    DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    PATTERN "build*" EXCLUDE PATTERN "*.so" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/schemas" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    FILES_MATCHING PATTERN "*.json")
file(GLOB _readmes CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/plugins/*/README.md")
foreach(document ${_readmes})
    cmake_path(GET document PARENT_PATH _folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${document}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${_folder}")
endforeach()
