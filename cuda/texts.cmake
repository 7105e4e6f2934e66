# What the page Inside shows: the kernels' text.
set(texts ${CMAKE_CURRENT_BINARY_DIR}/kernel_sources.cpp)
file(GLOB headers CONFIGURE_DEPENDS kernels/*.h)
file(GLOB sources_of_kernels CONFIGURE_DEPENDS kernels/*.cu)
add_custom_command(
  OUTPUT ${texts}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/kernels "-DENDING=*" -DFUNCTION=gpu::kernel_sources
          -DHEADER=cuda/host/gpu.h -DOUTPUT=${texts} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${sources_of_kernels} ${headers} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Embedding cuda/kernels"
  VERBATIM)
