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

# gcc goes over its memory again and again, first over what it read of a precompiled header; a file of ours needs less
# than half a gigabyte, so that goes faster without.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)

# Linking is most of what a small change waits for.
include(CheckLinkerFlag)
foreach(linker mold lld)
  if(EMSCRIPTEN)
    break() # which has only its own
  endif()
  check_linker_flag(CXX -fuse-ld=${linker} TILEWALK_LINKS_WITH_${linker})
  if(TILEWALK_LINKS_WITH_${linker})
    add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=${linker}>)
    break()
  endif()
endforeach()

add_library(tilewalk_options INTERFACE)
target_include_directories(tilewalk_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tilewalk_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${TILEWALK_WERROR}>:-Werror>>)
# gcc 12 takes what it inlines of std::string for overflows once the header is precompiled; that stays a warning.
if(TILEWALK_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(tilewalk_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-error=array-bounds
    -Wno-error=restrict -Wno-error=stringop-overflow -Wno-error=stringop-overread>)
endif()
if(TILEWALK_SANITIZE)
  # With sanitizers gcc 12 takes a member of std::regex for uninitialised; that stays a warning.
  target_compile_options(tilewalk_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>>)
  target_link_options(tilewalk_options INTERFACE -fsanitize=address,undefined)
endif()
