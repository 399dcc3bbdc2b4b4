# Libraries, each as an imported target. libev has no .pc file.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
if(PATCHBAY_HTTP)
    pkg_check_modules(WEBSOCKETS REQUIRED IMPORTED_TARGET libwebsockets)
    pkg_check_modules(SSL REQUIRED IMPORTED_TARGET libssl)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
    find_path(WSLAY_INCLUDE_DIR wslay/wslay.h REQUIRED) # Debian ships it without a .pc file
    find_library(WSLAY_LIBRARY wslay REQUIRED)
endif()
find_path(LIBEV_INCLUDE_DIR ev.h REQUIRED)
find_library(LIBEV_LIBRARY ev REQUIRED)
add_library(patchbay_libev INTERFACE)
# libev's header wants type punning through ev_watcher, which is fine for us as a system header.
target_include_directories(patchbay_libev SYSTEM INTERFACE "${LIBEV_INCLUDE_DIR}")
target_link_libraries(patchbay_libev INTERFACE "${LIBEV_LIBRARY}")
if(BUILD_TESTING)
    # The scanner is held against another JSON library; the hub itself builds no trees.
    pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
