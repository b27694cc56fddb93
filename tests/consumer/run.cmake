# SPDX-License-Identifier: MIT
# Does what a stranger would: builds the project beside this file against vkgemm, and runs it.
#     cmake -DMODE=... -DSOURCE=<vkgemm> -DBUILD=<its build> -DWORK=<folder of our own>
#           -DHEADERS=<include folder of Vulkan's headers> -DVERSION=... -DARCHIVE=<SPIR-V archive>
#           -DGENERATOR=... -DC=... -DCXX=... -P run.cmake
# MODE is installed | subdirectory | prebuilt | stale. The SDK is out of reach: all there is are Vulkan's headers.
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
function(build_installed)
  set(find -DCMAKE_PREFIX_PATH=${WORK}/prefix -DWANT=)
  build_consumer(${find}${VERSION})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${WORK}/newer ${compilers} ${find}99.0
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    message(FATAL_ERROR "find_package(vkgemm 99.0) found version ${VERSION}")
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
  build_consumer(-DVKGEMM_SOURCE=${SOURCE} -DVKGEMM_PREBUILT_SPIRV=${ARCHIVE})  # shaders have been compiled once
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
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${project} -B ${WORK}/${fault}-build ${compilers}
        -DVKGEMM_SOURCE=${SOURCE} -DVKGEMM_PREBUILT_SPIRV=${WORK}/${fault}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    if(NOT failed OR NOT said MATCHES "${WORK}/${fault}.* is ${fault}")
      message(FATAL_ERROR "an archive that is ${fault} was not refused as such: ${said}")
    endif()
  endforeach()
else()
  message(FATAL_ERROR "no MODE '${MODE}'")
endif()
