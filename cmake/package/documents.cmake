# cmake -DPROGRAM=... -DSOURCE=... -DDATA=... -DGZIP=... -DVERSION=... -DLIBRARIES=... -P documents.cmake
# Writes into the folder DATA (/usr/share) what the program says of itself: the manual page, the completions; and what
# has changed, and whose work is inside it.
function(write path)
  get_filename_component(folder ${DATA}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${ARGN} OUTPUT_FILE ${DATA}/${path} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# Without name and time in its head, so that the same text gives the same bytes.
function(compress path)
  execute_process(COMMAND ${GZIP} -9nf ${DATA}/${path} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

write(man/man1/tilewalk.1 ${PROGRAM} manual)
compress(man/man1/tilewalk.1)
write(bash-completion/completions/tilewalk ${PROGRAM} manual --format bash)
write(zsh/vendor-completions/_tilewalk ${PROGRAM} manual --format zsh)

write(doc/tilewalk/changelog git -C ${SOURCE} log -n 1
  "--format=tilewalk (${VERSION}) unstable%x3b urgency=medium%n%n  * %s%n%n -- The Tilewalk authors <tilewalk@tilewalk.org>  %aD")
compress(doc/tilewalk/changelog)

# Libraries whose code is within the program, each with the words that its own package has for it.
string(CONCAT text "Tilewalk\nCopyright 2026 The Tilewalk authors. No licence has been chosen for it yet.\n\n\n"
  "Within the program: Boost.Context\n\nCopyright Oliver Kowalke and others. Boost Software License, version 1.0,\n"
  "https://www.boost.org/LICENSE_1_0.txt\n")
foreach(library ${LIBRARIES})
  set(file /usr/share/doc/${library}/copyright)
  if(EXISTS ${file})
    file(READ ${file} words)
    string(APPEND text "\n\nWithin the program: ${library}\n\n${words}")
  endif()
endforeach()
file(WRITE ${DATA}/doc/tilewalk/copyright "${text}")
