# tilewalk_hopper(KERNELS ROOT): takes f7 and b4 out of a list of kernels and compiles them by themselves. wgmma and TMA are
# there for sm_90a alone, whatever else is compiled for: code for it runs on compute capability 9.0 and nowhere else. Where
# nvcc does not know it, the rungs stay in the list and refuse.
function(tilewalk_hopper name_of_list root)
  set(hopper ${root}/cuda/kernels/f7_hopper.cu ${root}/cuda/kernels/b4_hopper.cu)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
    set_source_files_properties(${hopper} PROPERTIES COMPILE_DEFINITIONS TILEWALK_WITHOUT_HOPPER)
    return()
  endif()
  if(NOT TARGET tilewalk_hopper)
    add_library(tilewalk_hopper OBJECT ${hopper})
    target_include_directories(tilewalk_hopper PRIVATE ${root})
    set_target_properties(tilewalk_hopper PROPERTIES CUDA_ARCHITECTURES 90a-real POSITION_INDEPENDENT_CODE ON)
  endif()
  set(others ${${name_of_list}})
  list(REMOVE_ITEM others ${hopper})
  set(${name_of_list} ${others} $<TARGET_OBJECTS:tilewalk_hopper> PARENT_SCOPE)
endfunction()
