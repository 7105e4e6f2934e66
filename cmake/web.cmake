# The browser edition (./web.sh): the libraries as their sources, which Debian has for another machine only. No threads,
# no driver of a GPU, no other program: what needs them says so (core/base/platform.h).
set(TILEWALK_WEB_SOURCES "" CACHE PATH "Where web.sh has put the sources of Dear ImGui and Highway")
file(GLOB imgui_sources ${TILEWALK_WEB_SOURCES}/imgui-*)
file(GLOB hwy_sources ${TILEWALK_WEB_SOURCES}/highway-*)
if(NOT IS_DIRECTORY "${imgui_sources}" OR NOT IS_DIRECTORY "${hwy_sources}")
  message(FATAL_ERROR "TILEWALK_WEB_SOURCES must hold the sources of Dear ImGui and Highway; ./web.sh fetches them")
endif()

# Exceptions of WebAssembly itself, four numbers at once, and what the C++ library here lacks. Emscripten leaves inlining
# to what runs when it links; the compiler's own, first, makes the page a fifth smaller.
add_compile_options(-fwasm-exceptions -msimd128 $<$<NOT:$<CONFIG:Debug>>:-Oz> -finline-functions)
# Eigen goes over two numbers at once as on the desktop, so that sums are added in the same order and traces are equal to
# the bit. What it writes as assembler for gcc from 6 on, and before 5, is left out.
add_compile_options(-msse2 -fgnuc-version=5.99)
add_link_options(-fwasm-exceptions)
# No type is asked for its name; what is thrown has one all the same.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
# Sizes are 64 bits there as everywhere else.
add_compile_definitions("EIGEN_DEFAULT_DENSE_INDEX_TYPE=long long")
# It tells the number of registers from the size of a pointer, and from that the order in which a product adds.
add_compile_definitions(EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS=16)
include_directories(BEFORE SYSTEM ${PROJECT_SOURCE_DIR}/app/web/lacking)

# Headers of the system by themselves, lest those of its C library come with them
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(name eigen3 nlohmann stb boost)
  file(CREATE_LINK /usr/include/${name} ${headers}/${name} SYMBOLIC)
endforeach()
function(tilewalk_headers target)
  string(REPLACE "::" "_" plain ${target})
  add_library(${plain} INTERFACE)
  if(NOT plain STREQUAL target)
    add_library(${target} ALIAS ${plain})
  endif()
  target_include_directories(${plain} SYSTEM INTERFACE ${ARGN})
endfunction()
tilewalk_headers(Eigen3::Eigen ${headers}/eigen3)
tilewalk_headers(nlohmann_json::nlohmann_json ${headers})
tilewalk_headers(Threads::Threads)

tilewalk_headers(stb ${headers}/stb ${headers})

# Where nothing is thrown or caught, what would be cleared up on the way is left out.
function(tilewalk_throws_nothing target)
  target_compile_options(${target} PRIVATE -fno-exceptions)
endfunction()

# A stream asks its locale how numbers are written. The C++ library's own brings money, dates and wide letters with it; these lines
# are left out of it.
set(library ${EMSCRIPTEN_ROOT_PATH}/system/lib/libcxx/src)
set(TILEWALK_LOCALE ${PROJECT_BINARY_DIR}/locale.cpp)
execute_process(COMMAND sed -E "/^ *install(_from)?(\\(|<).*(wchar_t|char16_t|char32_t|char8_t|money|time_|messages)/d" ${library}/locale.cpp
  OUTPUT_FILE ${TILEWALK_LOCALE} COMMAND_ERROR_IS_FATAL ANY)
set(TILEWALK_LOCALE_OPTIONS -D_LIBCPP_BUILDING_LIBRARY -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS -DLIBCXX_BUILDING_LIBCXXABI=1
  -I${library} -I${library}/include)
add_library(tilewalk_locale OBJECT ${TILEWALK_LOCALE})
target_compile_options(tilewalk_locale PRIVATE ${TILEWALK_LOCALE_OPTIONS})

add_library(hwy STATIC ${hwy_sources}/hwy/targets.cc ${hwy_sources}/hwy/aligned_allocator.cc)
target_include_directories(hwy SYSTEM PUBLIC ${hwy_sources})
add_library(hwy::hwy ALIAS hwy)

add_library(imgui STATIC ${imgui_sources}/imgui.cpp ${imgui_sources}/imgui_draw.cpp ${imgui_sources}/imgui_tables.cpp
  ${imgui_sources}/imgui_widgets.cpp ${imgui_sources}/misc/cpp/imgui_stdlib.cpp ${imgui_sources}/backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui SYSTEM PUBLIC ${imgui_sources} ${imgui_sources}/misc/cpp)
target_compile_definitions(imgui PUBLIC IMGUI_IMPL_OPENGL_ES3 IMGUI_DISABLE_DEMO_WINDOWS IMGUI_DISABLE_SSE)
add_library(PkgConfig::IMGUI ALIAS imgui)
foreach(library hwy imgui)
  tilewalk_throws_nothing(${library})
endforeach()
