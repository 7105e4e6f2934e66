# What is installed, and the packages of it: cmake --build build --target package (docs/releasing.md).
include(GNUInstallDirs)
find_program(GZIP_EXE gzip)
set(here ${PROJECT_SOURCE_DIR}/cmake/package)

install(TARGETS tilewalk RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${here}/tilewalk.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${here}/tilewalk.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${here}/org.tilewalk.tilewalk.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${here}/tilewalk-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME tilewalk.xml)

# The version is that of project(), where the commit has its tag; else with the number of commits and the commit.
set(version ${PROJECT_VERSION})
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --exact-match --match v${PROJECT_VERSION}
  OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-list --count HEAD
  OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=8 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commit AND NOT tag STREQUAL v${PROJECT_VERSION})
  string(APPEND version "+${count}.${commit}")
endif()

# What the program says of itself, and whose work is inside it, is written while it is installed.
set(packages libimgui-dev libeigen3-dev libhwy-dev libcli11-dev nlohmann-json3-dev libstb-dev)
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:tilewalk> -DSOURCE=${PROJECT_SOURCE_DIR}
  -DDATA=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR} -DGZIP=${GZIP_EXE} -DVERSION=${version}
  \"-DLIBRARIES=${packages}\" -P ${here}/documents.cmake COMMAND_ERROR_IS_FATAL ANY)")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilewalk)
set(CPACK_PACKAGE_VERSION ${version})
set(CPACK_PACKAGE_CONTACT "The Tilewalk authors <tilewalk@tilewalk.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "walk through FlashAttention, tile by tile")
set(CPACK_PACKAGE_DESCRIPTION
"Attention and FlashAttention step by step, with every number computed: the
online softmax, the tiles, the backward pass with its recomputation, one
training step, the merging of partial results on many machines, and the
kernels that do it on a GPU, instruction by instruction.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, fonts-inter")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ffmpeg")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
