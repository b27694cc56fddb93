# SPDX-License-Identifier: MIT
# The rows of all families, read once: what the shader build, the native build, the library and the tests go by.
#
# Sets VKGEMM_MODULES, the names of all modules in the order of the folders, and for each of them <name>_FIELD, where
# FIELD is one of: code (MODULE is spirv, NATIVE is machine code), folder, family, variant (empty: the only one),
# role, a, b, d, acc, target (glslc's environment, or the architecture), build (how the optimiser is run; of machine code
# the name of its source), serves, and after vkgemm_select_modules() excluded. VKGEMM_FAMILY_FOLDERS are the folders, VKGEMM_FAMILY_HEADERS what is in
# them for C++.

# A folder with rows.def, one line each. Of kernels that cost the same, the one of the earlier folder is chosen.
set(VKGEMM_FAMILY_FOLDERS
  shaders/ladder
  shaders/reduce_k
  shaders/pack
  shaders/list_tiles
  shaders/split_int8
  shaders/join_int8
  shaders/simt
  shaders/cpu
  shaders/cpu_packed
  shaders/coopmat
  shaders/coopmat_resident
  native
  shaders/pack_fragments
  shaders/coopmat_packed
  shaders/f32_split
  shaders/gemv
  shaders/gemv_blocks)

set(VKGEMM_MODULES "")
set(VKGEMM_FAMILY_HEADERS "")
foreach(folder IN LISTS VKGEMM_FAMILY_FOLDERS)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/rows.def)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/family*.h)
  if(NOT headers)
    message(FATAL_ERROR "${folder} has no family.h, which holds what C++ needs to know of its shaders")
  endif()
  list(APPEND VKGEMM_FAMILY_HEADERS ${headers})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${folder}/rows.def lines REGEX "^(MODULE|NATIVE)\\(")
  foreach(line IN LISTS lines)
    string(REGEX MATCHALL "[A-Za-z0-9_.:]+" field "${line}")
    list(LENGTH field count)
    if(NOT count EQUAL 11)
      message(FATAL_ERROR "${folder}/rows.def: a row has 10 columns (shaders/README.md), not as in '${line}'")
    endif()
    list(POP_FRONT field code name)
    list(APPEND VKGEMM_MODULES ${name})
    set(${name}_code spirv)
    if(code STREQUAL NATIVE)
      set(${name}_code native)
    endif()
    set(${name}_folder ${folder})
    list(POP_FRONT field ${name}_family ${name}_role ${name}_a ${name}_b ${name}_d ${name}_acc ${name}_target
      ${name}_build ${name}_serves)
    set(${name}_variant "")
    if(${name}_family MATCHES "^(.*)::(.*)$")
      set(${name}_family ${CMAKE_MATCH_1})
      set(${name}_variant ${CMAKE_MATCH_2})
    endif()
  endforeach()
endforeach()

# The bytes of each type, as f16:2, from the rows of the public header.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/vkgemm/tables.h)
file(READ ${PROJECT_SOURCE_DIR}/include/vkgemm/tables.h vkgemm_bytes_of)
string(REGEX MATCHALL "X\\(VKGEMM_TYPE_[A-Z0-9]+, [0-9]+, [a-z0-9]+, [0-9]+" vkgemm_bytes_of "${vkgemm_bytes_of}")
list(TRANSFORM vkgemm_bytes_of REPLACE ".*, ([a-z0-9]+), ([0-9]+)" "\\1:\\2")

function(vkgemm_refuse_unknown option given known)
  foreach(name IN LISTS given)
    if(NOT name IN_LIST known)
      list(JOIN known " " known)
      message(FATAL_ERROR "${option} names '${name}', which vkgemm does not know; it knows: ${known}")
    endif()
  endforeach()
endfunction()

# vkgemm_select_modules(TYPES FAMILIES): sets <name>_excluded in the caller's scope for every module: empty if the build
# has it, else the reason as a sentence. A product is chosen by its family and by the type of A. The helpers of the
# chosen products come along. Stops at an unknown name.
function(vkgemm_select_modules types families)
  string(REPLACE "," ";" types "${types}")
  string(REPLACE "," ";" families "${families}")
  set(helpers packer reducer lister splitter joiner finisher)
  set(known_types "")
  set(known_families "")
  set(wanted "")  # what the chosen products need, as words that helpers are compared with
  foreach(name IN LISTS VKGEMM_MODULES)
    if(${name}_role IN_LIST helpers)
      continue()
    endif()
    set(type ${${name}_a})
    set(family ${${name}_family})
    list(APPEND known_types ${type})
    list(APPEND known_families ${family})
    set(why "")
    if(types AND NOT type IN_LIST types)
      set(why "VKGEMM_TYPES=${types} excluded it when this library was built")
    elseif(families AND NOT family IN_LIST families)
      set(why "VKGEMM_FAMILIES=${families} excluded it when this library was built")
    elseif(NOT families AND ${name}_serves STREQUAL "to_teach" AND NOT VKGEMM_TOOLS AND NOT VKGEMM_TESTS)
      set(why "a library without the program vkgemm has it only if VKGEMM_FAMILIES names it")
    elseif(types AND NOT families AND ${name}_serves STREQUAL "on_request")
      set(why "a library of VKGEMM_TYPES has it only if VKGEMM_FAMILIES names it")
    else()
      set(bytes ${vkgemm_bytes_of})
      list(FILTER bytes INCLUDE REGEX "^${type}:")
      string(REGEX REPLACE ".*:" "pack:" pack "${bytes}")
      list(APPEND wanted reduce_k:${${name}_acc}:${${name}_d} ${pack} ${family}:${${name}_code}:${type})
    endif()
    set(${name}_excluded "${why}" PARENT_SCOPE)
  endforeach()
  list(REMOVE_DUPLICATES known_types)
  list(REMOVE_DUPLICATES known_families)
  vkgemm_refuse_unknown(VKGEMM_TYPES "${types}" "${known_types}")
  vkgemm_refuse_unknown(VKGEMM_FAMILIES "${families}" "${known_families}")

  foreach(name IN LISTS VKGEMM_MODULES)
    if(NOT ${name}_role IN_LIST helpers)
      continue()
    endif()
    if(${name}_role STREQUAL "lister")
      set(${name}_excluded "" PARENT_SCOPE)  # for every product
      continue()
    elseif(${name}_role MATCHES "^(splitter|joiner|finisher)$")
      set(need reduce_k:i32:i32)  # of a product of whole numbers
    elseif(${name}_role STREQUAL "reducer")
      set(need reduce_k:${${name}_acc}:${${name}_d})
    elseif(${name}_serves STREQUAL "all")
      set(bytes ${vkgemm_bytes_of})
      list(FILTER bytes INCLUDE REGEX "^${${name}_a}:")
      string(REGEX REPLACE ".*:" "pack:" need "${bytes}")
    else()
      set(need ${${name}_serves}:${${name}_code}:${${name}_a})
    endif()
    set(why "")
    if(NOT need IN_LIST wanted)
      set(why "no product that VKGEMM_TYPES and VKGEMM_FAMILIES chose when this library was built needs it")
    endif()
    set(${name}_excluded "${why}" PARENT_SCOPE)
  endforeach()
endfunction()

# vkgemm_tuned_rows(OUT FILE): sets OUT to the lines of a file of tuned rows whose kernels vkgemm_select_modules() has not
# excluded, without comments.
function(vkgemm_tuned_rows out file)
  file(STRINGS ${file} rows REGEX "^[^#]")
  set(text "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE " *#.*" "" row "${row}")
    if(row MATCHES "^[^|]*\\| *model ")  # weights of a family
      string(APPEND text "${row}\n")
      continue()
    endif()
    string(REGEX REPLACE "^[^|]*\\|[^|]*\\| *([^ |]*).*" "\\1" module "${row}")  # the kernel: module_tile
    while(module AND NOT module IN_LIST VKGEMM_MODULES)
      string(REGEX MATCH "^(.*)_" _ "${module}")
      set(module "${CMAKE_MATCH_1}")
    endwhile()
    if(NOT module)
      message(FATAL_ERROR "${file}: no kernel's name in '${row}'")
    endif()
    if(NOT ${module}_excluded)
      string(APPEND text "${row}\n")
    endif()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# vkgemm_write_rows(FOLDER): writes what C++ includes of the rows into FOLDER.
#   rows.def               every rows.def, with empty MODULE, NATIVE and KERNEL where the includer has none
#   terms.def              every terms.def
#   folders.def            FOLDER(module, folder) for every module of SPIR-V
#   families.h             every family.h
#   selected_modules.h     IN_BUILD_<module>(row) is the row, or nothing if this build excludes the module
function(vkgemm_write_rows folder)
  set(rows "")
  foreach(macro MODULE NATIVE KERNEL)
    string(APPEND rows "#ifndef ${macro}\n#    define ${macro}(...)\n#endif\n")
  endforeach()
  foreach(each IN LISTS VKGEMM_FAMILY_FOLDERS)
    string(APPEND rows "#include \"${each}/rows.def\"\n")
  endforeach()
  string(APPEND rows "#undef MODULE\n#undef NATIVE\n#undef KERNEL\n")
  set(terms "")
  foreach(each IN LISTS VKGEMM_FAMILY_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${each}/terms.def)
    if(found)
      string(APPEND terms "#include \"${each}/terms.def\"\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/terms.def CONTENT "${terms}" @ONLY)
  set(folders "")
  file(CONFIGURE OUTPUT ${folder}/rows.def CONTENT "${rows}" @ONLY)
  set(families ${VKGEMM_FAMILY_HEADERS})
  list(TRANSFORM families REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN families "" families)
  file(CONFIGURE OUTPUT ${folder}/families.h CONTENT "${families}" @ONLY)
  set(selected "")
  foreach(name IN LISTS VKGEMM_MODULES)
    if(${name}_code STREQUAL spirv)
      string(APPEND folders "FOLDER(${name}, \"${${name}_folder}\")\n")
    endif()
    if(${name}_excluded)
      string(APPEND selected "#define IN_BUILD_${name}(...)\n")
    else()
      string(APPEND selected "#define IN_BUILD_${name}(...) __VA_ARGS__\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/folders.def CONTENT "${folders}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/selected_modules.h CONTENT "${selected}" @ONLY)
endfunction()
