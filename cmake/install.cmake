# SPDX-License-Identifier: MIT
# Install rules: the libraries, the headers, and the files for find_package(vkgemm) and pkg-config.
include(CMakePackageConfigHelpers)

# vkgemm_install_built(TARGET ARGUMENTS...): install(TARGETS TARGET ARGUMENTS...) if the target was built, so that
# `cmake --build build --target vkgemm_tool && cmake --install build` works. Prints what is left out.
function(vkgemm_install_built target)
  install(TARGETS ${target} ${ARGN} OPTIONAL)
  install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
    message(STATUS \"Not installed, because it was not built: $<TARGET_FILE_NAME:${target}> (cmake --build ${CMAKE_BINARY_DIR} --target ${target})\")
  endif()")
endfunction()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vkgemm)
set(targets vkgemm)
set(headers chain.h chain.hpp tables.h native.h problem.h problem.hpp elements.hpp float_exceptions.hpp formats.hpp hash.hpp operands.hpp rounding.hpp text.hpp vkgemm.h vkgemm.hpp engine.h context.h plan.h debug.h debug.hpp explain.h explain.hpp groups.h)
if(VKGEMM_HOST)
  list(APPEND targets vkgemm_host)
  list(APPEND headers host.hpp)
endif()
list(TRANSFORM headers PREPEND include/vkgemm/)
install(TARGETS ${targets} EXPORT vkgemm)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vkgemm)
install(EXPORT vkgemm NAMESPACE vkgemm:: FILE vkgemm-targets.cmake DESTINATION ${config_dir})

# What a program that is linked without a C++ compiler must link besides: -lstdc++ -lm, or -lc++ -lm.
list(TRANSFORM CMAKE_CXX_IMPLICIT_LINK_LIBRARIES REPLACE "^([^-/].*)" "-l\\1" OUTPUT_VARIABLE cxx_runtime)
list(FILTER cxx_runtime INCLUDE REGEX "-l((std)?c\\+\\+|m$)")
list(REMOVE_DUPLICATES cxx_runtime)

configure_package_config_file(cmake/vkgemm-config.cmake.in vkgemm-config.cmake INSTALL_DESTINATION ${config_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(vkgemm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vkgemm-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/vkgemm-config-version.cmake
  cmake/vulkan-headers.cmake DESTINATION ${config_dir})

# The paths in a .pc file are relative to its own folder, so that the installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(dir LIBDIR INCLUDEDIR)
  set(pc_${dir} ${CMAKE_INSTALL_${dir}})
  if(NOT IS_ABSOLUTE ${pc_${dir}})
    file(RELATIVE_PATH up /prefix/${pc_dir} /prefix)
    set(pc_${dir} \${pcfiledir}/${up}${pc_${dir}})
  endif()
endforeach()
get_target_property(kind vkgemm TYPE)
if(kind STREQUAL "STATIC_LIBRARY")
  set(pc_cflags " -DVKGEMM_STATIC")
  list(JOIN cxx_runtime " " pc_libs)
  set(pc_libs " ${pc_libs} ${CMAKE_THREAD_LIBS_INIT}")  # not Libs.private: there is no other library to link
endif()
configure_file(cmake/vkgemm.pc.in vkgemm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vkgemm.pc DESTINATION ${pc_dir})
if(VKGEMM_HOST)
  set(pc_libs "")
  foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND pc_libs " -l${library}")
  endforeach()
  configure_file(cmake/vkgemm-host.pc.in vkgemm-host.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vkgemm-host.pc DESTINATION ${pc_dir})
endif()
