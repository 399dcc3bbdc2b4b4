# Libraries, each as an imported target. libev has no .pc file.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson) # what wants a tree, off the way of calls
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
# SQLite is loaded when there is something to keep (core/state/sqlite_library.c), never linked.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
add_library(patchbay_sqlite_headers INTERFACE)
target_include_directories(patchbay_sqlite_headers SYSTEM INTERFACE ${SQLITE_INCLUDE_DIRS})
pkg_check_modules(ZIP REQUIRED IMPORTED_TARGET libzip) # patchbay-unpack alone
# hiredis is linked with the engine of shared stores alone (engines/valkey), which is left out without it.
pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis)
if(HIREDIS_FOUND)
    find_path(HIREDIS_INCLUDE_DIR hiredis/adapters/libev.h REQUIRED)
    add_library(patchbay_hiredis INTERFACE)
    target_include_directories(patchbay_hiredis SYSTEM INTERFACE "${HIREDIS_INCLUDE_DIR}")
    target_link_libraries(patchbay_hiredis INTERFACE ${HIREDIS_LINK_LIBRARIES})
endif()
if(PATCHBAY_HTTP)
    pkg_check_modules(WEBSOCKETS REQUIRED IMPORTED_TARGET libwebsockets)
    pkg_check_modules(SSL REQUIRED IMPORTED_TARGET libssl)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
    find_path(WSLAY_INCLUDE_DIR wslay/wslay.h REQUIRED) # Debian ships it without a .pc file
    find_library(WSLAY_LIBRARY wslay REQUIRED)
endif()
# Loaded while the hub runs, by the name that a program linked with it would have.
find_path(STEMMER_INCLUDE_DIR libstemmer.h REQUIRED)
find_library(STEMMER_LIBRARY stemmer REQUIRED)
execute_process(COMMAND "${CMAKE_READELF}" -d "${STEMMER_LIBRARY}" OUTPUT_VARIABLE STEMMER_ELF)
if(NOT STEMMER_ELF MATCHES "SONAME[^[]*[[]([^]]+)[]]")
    message(FATAL_ERROR "${STEMMER_LIBRARY} has no SONAME: it is not a shared library")
endif()
set(STEMMER_SONAME "${CMAKE_MATCH_1}")
find_path(LIBEV_INCLUDE_DIR ev.h REQUIRED)
find_library(LIBEV_LIBRARY ev REQUIRED)
add_library(patchbay_libev INTERFACE)
# libev's header wants type punning through ev_watcher, which is fine for us as a system header.
target_include_directories(patchbay_libev SYSTEM INTERFACE "${LIBEV_INCLUDE_DIR}")
target_link_libraries(patchbay_libev INTERFACE "${LIBEV_LIBRARY}")
if(BUILD_TESTING)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
