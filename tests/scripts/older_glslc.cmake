# SPDX-License-Identifier: MIT
# Configures the project with a shader compiler that does not know cooperative matrices:
#   cmake -DSOURCE=<vkgemm> -DGLSLC=<glslc> -DWORK=<folder of our own> -DGENERATOR=... -P older_glslc.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# The preprocessor leaves only the #extension lines that this source requires.
file(WRITE ${WORK}/glslc "#!/bin/sh
case \" $* \" in *\" --version \"*) exec '${GLSLC}' \"$@\" ;; esac
if '${GLSLC}' \"$@\" -E -o - | grep -q GL_KHR_cooperative_matrix; then
    echo 'GL_KHR_cooperative_matrix is not supported' >&2
    exit 1
fi
exec '${GLSLC}' \"$@\"
")
file(CHMOD ${WORK}/glslc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DVKGEMM_GLSLC=${WORK}/glslc
  -DVKGEMM_TOOLS=OFF -DVKGEMM_TESTS=OFF COMMAND_ECHO STDOUT OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "\n   [0-9]+ modules: ([^\n]*)\n-- [0-9]+ modules that this shader compiler cannot compile: ([^\n]*)\n")
  message(FATAL_ERROR "The modules that cannot be compiled were not listed:\n${said}")
endif()
set(built " ${CMAKE_MATCH_1} ")
set(cannot " ${CMAKE_MATCH_2} ")
foreach(name naive_f32 simt_f16 gemv_bf16)
  if(NOT built MATCHES " ${name} ")
    message(FATAL_ERROR "${name} needs no cooperative matrices, but it was left out: ${cannot}")
  endif()
endforeach()
foreach(name coopmat_f16 coopmat_packed_bf16 bf16x3_f32 pack_fragments_f16x2)
  if(NOT cannot MATCHES " ${name} ")
    message(FATAL_ERROR "${name} needs cooperative matrices, but it was kept: ${built}")
  endif()
endforeach()
