# Flags for our own targets; the libraries that we use are compiled (and warned about) by their owners.
find_program(CCACHE_EXE ccache)
if(CCACHE_EXE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the checkout are taken as relative, so that another checkout finds what this one compiled.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_EXE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# A precompiled header is found again in the cache only if its text is kept beside it.
if(CCACHE_EXE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

add_library(tilewalk_options INTERFACE)
target_include_directories(tilewalk_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tilewalk_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TILEWALK_WERROR}>:-Werror>>)
if(TILEWALK_SANITIZE)
  target_compile_options(tilewalk_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(tilewalk_options INTERFACE -fsanitize=address,undefined)
endif()
