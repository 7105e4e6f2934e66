# cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
# Writes the C++ file that holds every example as text, sorted by file name.
file(GLOB files ${FOLDER}/*.json)
list(SORT files)
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"tilewalk(${text})tilewalk\"},\n")
  math(EXPR count "${count} + 1")
endforeach()

set(code "// Generated from assets/examples; edit the files there.\n#include \"app/io/embedded.h\"\n\n")
if(count GREATER 0)
  string(APPEND code "static const tilewalk::EmbeddedFile files[] = {\n${entries}};\n\n"
                     "std::span<const tilewalk::EmbeddedFile> tilewalk::embedded_examples() { return files; }\n")
else()
  string(APPEND code "std::span<const tilewalk::EmbeddedFile> tilewalk::embedded_examples() { return {}; }\n")
endif()
file(WRITE ${OUTPUT} "${code}")
