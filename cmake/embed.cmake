# cmake -DFOLDER=assets/... -DENDING=json -DFUNCTION=... -DOUTPUT=... -P embed.cmake
# Writes the C++ file whose function gives every file of the folder with this ending as text, sorted by file
# name.
file(GLOB files ${FOLDER}/*.${ENDING})
list(SORT files)
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  # A literal holds 64 KiB at least; longer files are joined of several.
  string(LENGTH "${text}" length)
  set(literals "")
  foreach(from RANGE 0 ${length} 16000)
    string(SUBSTRING "${text}" ${from} 16000 part)
    string(APPEND literals "R\"tilewalk(${part})tilewalk\" ")
  endforeach()
  string(APPEND entries "    {\"${name}\", ${literals}},\n")
  math(EXPR count "${count} + 1")
endforeach()

set(code "// Generated; edit the files in assets.\n#include \"app/io/embedded.h\"\n\n")
set(head "std::span<const tilewalk::EmbeddedFile> tilewalk::${FUNCTION}() { return")
if(count GREATER 0)
  string(APPEND code "static const tilewalk::EmbeddedFile files[] = {\n${entries}};\n\n${head} files; }\n")
else()
  string(APPEND code "${head} {}; }\n")
endif()
file(WRITE ${OUTPUT} "${code}")
