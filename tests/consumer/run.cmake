# SPDX-License-Identifier: MIT
# Builds the projects beside this file against vkgemm as a user would, and runs them.
#     cmake -DMODE=... -DSOURCE=<vkgemm> -DBUILD=<its build> -DWORK=<folder of our own>
#           -DHEADERS=<include folder of Vulkan's headers> -DVERSION=... -DARCHIVE=<SPIR-V archive>
#           -DGENERATOR=... -DC=... -DCXX=... [-DOLD_HEADERS=<include folder>] [-DPREFIX=<where a package was unpacked>]
#           -P run.cmake
# MODE is installed | subdirectory | prebuilt | stale | old_headers | package. The SDK is out of reach: Vulkan's headers
# are all that a project finds. OLD_HEADERS are older than those that compiling vkgemm needs, and may be absent:
# old_headers is then skipped, and subdirectory uses HEADERS. package uses what is installed in PREFIX.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(COPY ${HEADERS}/vulkan ${HEADERS}/vk_video DESTINATION ${WORK}/headers/include)
set(ENV{VULKAN_SDK} ${WORK}/headers)
set(ENV{DESTDIR})
set(project ${CMAKE_CURRENT_LIST_DIR}/project)
set(compilers -G ${GENERATOR} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug)

function(run)
  list(JOIN ARGV " " words)
  message(STATUS "${words}")
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(build_consumer)
  run(${CMAKE_COMMAND} -S ${project} -B ${WORK}/consumer ${compilers} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/consumer)
  run(${WORK}/consumer/consumer)
  run(${WORK}/consumer/consumer_c)
endfunction()
# A project that has no C++ compiler links the library all the same.
function(build_c_project)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/c_project -B ${WORK}/c_project -G ${GENERATOR}
      -DCMAKE_C_COMPILER=${C} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${WORK}/c_project)
  run(${WORK}/c_project/consumer_c)
endfunction()
# configure(OUT ARGUMENTS...): the exit code of configuring, and in OUT what was printed, on one line.
macro(configure out)
  file(REMOVE_RECURSE ${WORK}/configured)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${WORK}/configured ${compilers} ${ARGN}
    RESULT_VARIABLE failed OUTPUT_VARIABLE ${out} ERROR_VARIABLE errors)
  string(REGEX REPLACE "[ \n]+" " " ${out} "${${out}}${errors}")
endmacro()
function(build_installed)
  set(find -DCMAKE_PREFIX_PATH=${WORK}/prefix -DWANT=)
  build_consumer(${find}${VERSION})
  build_c_project()
  configure(printed ${find}99.0)
  if(NOT failed)
    message(FATAL_ERROR "find_package(vkgemm 99.0) found version ${VERSION}")
  endif()
  # A part of the build that adds the sources after another part has found the installed library.
  configure(printed ${find}${VERSION} -DVKGEMM_AGAIN=${SOURCE})
  if(failed OR NOT printed MATCHES "vkgemm ${VERSION} is part of this build already")
    message(FATAL_ERROR "find_package, then add_subdirectory: ${printed}")
  endif()
endfunction()
# The same program by pkg-config, after the tree was moved.
function(build_by_pkg_config)
  find_program(pkg_config pkg-config)
  if(NOT pkg_config)
    message(STATUS "pkg-config is not here: that part is left out")
    return()
  endif()
  file(RENAME ${WORK}/prefix ${WORK}/moved)
  file(GLOB_RECURSE pc ${WORK}/moved/vkgemm.pc)
  cmake_path(GET pc PARENT_PATH dir)
  set(ENV{PKG_CONFIG_PATH} ${dir})
  execute_process(COMMAND ${pkg_config} --cflags --libs "vkgemm = ${VERSION}" OUTPUT_VARIABLE flags
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  cmake_path(GET dir PARENT_PATH lib)
  run(${C} -std=c99 ${project}/main.c -o ${WORK}/by_pkg_config -isystem ${WORK}/headers/include ${flags}
      -Wl,-rpath,${lib})
  run(${WORK}/by_pkg_config)
endfunction()
# Nothing but vkgemm's functions is visible, and no Vulkan loader is asked for.
function(check_shared_library)
  find_program(nm nm REQUIRED)
  find_program(readelf readelf REQUIRED)
  file(GLOB_RECURSE library ${WORK}/prefix/libvkgemm.so)
  execute_process(COMMAND ${nm} -D --defined-only --format=posix ${library} OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  list(LENGTH symbols count)
  list(FILTER symbols EXCLUDE REGEX "^vkgemm[A-Z][A-Za-z]* T ")
  if(symbols OR count LESS 10)
    message(FATAL_ERROR "of ${count} symbols that ${library} exports these are none of vkgemm's: ${symbols}")
  endif()
  execute_process(COMMAND ${readelf} -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "NEEDED[^\n]*vulkan" OR NOT dynamic MATCHES "NEEDED")
    message(FATAL_ERROR "${library} must not need a Vulkan loader:\n${dynamic}")
  endif()
endfunction()

if(MODE STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  build_installed()
  if(EXISTS ${BUILD}/vkgemm)  # the tool comes with its pages
    foreach(file bin/vkgemm share/man/man1/vkgemm.1 share/bash-completion/completions/vkgemm
        share/zsh/site-functions/_vkgemm share/fish/vendor_completions.d/vkgemm.fish)
      if(NOT EXISTS ${WORK}/prefix/${file})
        message(FATAL_ERROR "${file} was not installed")
      endif()
    endforeach()
  endif()
  build_by_pkg_config()
elseif(MODE STREQUAL "subdirectory")
  # Two parts of the project add vkgemm, and the project's own Vulkan headers are old. The archive saves compiling the
  # shaders again.
  set(host)
  if(EXISTS "${OLD_HEADERS}")
    set(host -DVULKAN_INCLUDE=${OLD_HEADERS})
  endif()
  # Many projects do without exceptions.
  build_consumer(-DVKGEMM_SOURCE=${SOURCE} -DVKGEMM_AGAIN=${SOURCE} -DVKGEMM_PREBUILT_SPIRV=${ARCHIVE} ${host}
    -DCMAKE_CXX_FLAGS=-fno-exceptions)
elseif(MODE STREQUAL "old_headers")
  if(NOT EXISTS "${OLD_HEADERS}")
    # What tools/test has fetched must be used.
    if("$ENV{VKGEMM_TESTS_EXPECT}" MATCHES "old-headers")
      message(FATAL_ERROR "tools/test fetched old Vulkan headers, and they are not in ${OLD_HEADERS}")
    endif()
    message("skipped: no ${OLD_HEADERS}, which tools/test fetches on Debian")
    return()
  endif()
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  file(REMOVE_RECURSE ${WORK}/headers)
  file(COPY ${OLD_HEADERS}/vulkan ${OLD_HEADERS}/vk_video DESTINATION ${WORK}/headers/include)
  build_installed()
  configure(printed -DVKGEMM_SOURCE=${SOURCE} -DVKGEMM_PREBUILT_SPIRV=${ARCHIVE} -DVULKAN_INCLUDE=${OLD_HEADERS})
  if(NOT failed OR NOT printed MATCHES "Too old: the Vulkan headers 1\\.[0-9]+\\.[0-9]+ in .* compiling vkgemm needs")
    message(FATAL_ERROR "vkgemm was configured with old headers, or refused them otherwise: ${printed}")
  endif()
elseif(MODE STREQUAL "package")
  file(CREATE_LINK ${PREFIX} ${WORK}/prefix SYMBOLIC)
  build_installed()
elseif(MODE STREQUAL "prebuilt")  # as a shared library, without a shader compiler
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/vkgemm ${compilers} -DBUILD_SHARED_LIBS=ON
      -DVKGEMM_PREBUILT_SPIRV=${ARCHIVE} -DVKGEMM_GLSLC=VKGEMM_GLSLC-NOTFOUND
      -DVKGEMM_HOST=OFF -DVKGEMM_TOOLS=OFF -DVKGEMM_EXAMPLES=OFF -DVKGEMM_TESTS=OFF)
  run(${CMAKE_COMMAND} --build ${WORK}/vkgemm)
  run(${CMAKE_COMMAND} --install ${WORK}/vkgemm --prefix ${WORK}/prefix)
  check_shared_library()
  build_installed()
  build_by_pkg_config()
elseif(MODE STREQUAL "stale")  # an archive of other shaders, or with a damaged file, is refused by name
  foreach(fault stale damaged)
    file(COPY ${ARCHIVE}/ DESTINATION ${WORK}/${fault})
    if(fault STREQUAL "stale")
      file(READ ${ARCHIVE}/manifest.txt text)
      string(REGEX REPLACE "shaders ........" "shaders 00000000" text "${text}")
      file(WRITE ${WORK}/stale/manifest.txt "${text}")
    else()
      file(APPEND ${WORK}/damaged/tiled_f32.packed "x")
    endif()
    configure(printed -DVKGEMM_SOURCE=${SOURCE} -DVKGEMM_PREBUILT_SPIRV=${WORK}/${fault})
    if(NOT failed OR NOT printed MATCHES "${WORK}/${fault}.* is ${fault}")
      message(FATAL_ERROR "an archive that is ${fault} was not refused as such: ${printed}")
    endif()
  endforeach()
else()
  message(FATAL_ERROR "no MODE '${MODE}'")
endif()
