# tilewalk_precompile(TARGET HEADER...)
# What nearly every file of a library includes is compiled once for all of them. Files still include what they use,
# so they compile without it as well (-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON).
function(tilewalk_precompile name)
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <deque> <functional> <limits> <map>
    <memory> <optional> <span> <string> <string_view> <utility> <vector> ${ARGN})
endfunction()

# tilewalk_module(NAME FOLDER [RECURSE] LINKS target... [SOURCES file...] [PRECOMPILE header...])
# One library per folder.
function(tilewalk_module name folder)
  cmake_parse_arguments(arg "RECURSE" "" "LINKS;SOURCES;PRECOMPILE" ${ARGN})
  if(arg_RECURSE)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  endif()
  list(APPEND sources ${arg_SOURCES})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tilewalk_options ${arg_LINKS})
  tilewalk_precompile(${name} <Eigen/Core> ${arg_PRECOMPILE})
endfunction()
