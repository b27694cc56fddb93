# SPDX-License-Identifier: MIT
# vkgemm_peaks: the measuring shaders of vkgemm/measure/shaders, embedded. Its peak_modules() returns those that the
# shader compiler can compile; none without a shader compiler.

set(peak_folder ${CMAKE_CURRENT_SOURCE_DIR}/vkgemm/measure/shaders)
set(peak_rows "f32 peak" "f64 peak -DDOUBLE" "i32 peak -DINTEGER" "copy peak_copy"
  "matrix_f16 peak_matrix -DFACTOR=float16_t -DSUM=float"
  "matrix_f16h peak_matrix -DFACTOR=float16_t -DSUM=float16_t"
  "matrix_bf16 peak_matrix -DFACTOR=bfloat16_t -DSUM=float"
  "matrix_i8 peak_matrix -DFACTOR=int8_t -DSUM=int"
  "matrix_u8 peak_matrix -DFACTOR=uint8_t -DSUM=int")
# What compiles a row: peak_compile_NAME; peak_key_NAME names the answer whether it does, which is asked once per compiler
# and source. The commands of one execute_process run at the same time.
set(peak_names "")
set(unknown "")
set(commands "")
foreach(row IN LISTS peak_rows)
  if(NOT VKGEMM_GLSLC)
    break()
  endif()
  string(REPLACE " " ";" flags "${row}")
  list(POP_FRONT flags name source)
  set(peak_source_${name} ${source})
  set(peak_compile_${name} ${VKGEMM_GLSLC} -fshader-stage=compute --target-env=vulkan1.1 -O -Werror ${flags}
    ${peak_folder}/${source}.comp -o ${CMAKE_CURRENT_BINARY_DIR}/peak_${name}.spv)
  file(TIMESTAMP ${VKGEMM_GLSLC} age)
  file(SHA256 ${peak_folder}/${source}.comp text)
  string(SHA256 key "${peak_compile_${name}} ${age} ${text}")
  set(peak_key_${name} VKGEMM_PEAK_${key})
  list(APPEND peak_names ${name})
  if(NOT DEFINED ${peak_key_${name}})
    list(APPEND unknown ${name})
    list(APPEND commands COMMAND ${peak_compile_${name}})
  endif()
endforeach()
if(unknown)
  execute_process(${commands} RESULTS_VARIABLE results OUTPUT_QUIET ERROR_QUIET)
  foreach(name failed IN ZIP_LISTS unknown results)
    set(${peak_key_${name}} "${failed}" CACHE INTERNAL "whether ${name} failed to compile")
  endforeach()
endif()

set(peak_arrays "")
set(peak_table "")
set(peak_includes "")
set(embed ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
foreach(name IN LISTS peak_names)
  if(NOT ${peak_key_${name}} EQUAL 0)
    continue()
  endif()
  set(source ${peak_source_${name}})
  set(spv ${CMAKE_CURRENT_BINARY_DIR}/peak_${name}.spv)
  set(check "")
  if(VKGEMM_SPIRV_VAL)
    set(check COMMAND ${VKGEMM_SPIRV_VAL} --target-env vulkan1.1 ${spv})
  endif()
  set(inc ${CMAKE_CURRENT_BINARY_DIR}/peak_${name}.inc)
  add_custom_command(OUTPUT ${inc} COMMAND ${peak_compile_${name}} ${check}
    COMMAND ${CMAKE_COMMAND} -DFROM=${spv} -DTO=${inc} -P ${embed}
    DEPENDS ${peak_folder}/${source}.comp ${peak_folder}/peak.h ${VKGEMM_GLSLC} ${embed}
    COMMENT "glslc ${source} for ${name}" VERBATIM)
  list(APPEND peak_includes ${inc})
  string(APPEND peak_arrays "const uint32_t ${name}[] = {\n#include \"peak_${name}.inc\"\n};\n")
  string(APPEND peak_table "    {\"${name}\", ${name}},\n")
endforeach()
file(CONFIGURE OUTPUT peaks.cpp CONTENT "#include \"measure/roofline.h\"
namespace vkgemm::tool {
namespace {
${peak_arrays}}  // namespace
std::vector<PeakModule> peak_modules() {
  return {
${peak_table}  };
}
}  // namespace vkgemm::tool
" @ONLY)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/peaks.cpp PROPERTIES OBJECT_DEPENDS "${peak_includes}")
