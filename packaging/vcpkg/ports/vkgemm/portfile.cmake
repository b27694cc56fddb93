# SPDX-License-Identifier: MIT
# vcpkg port of vkgemm, for use from a checkout. Unproven: no test here runs vcpkg, only a JSON parser.
#     vcpkg install vkgemm --overlay-ports=packaging/vcpkg/ports
# A port in a registry would fetch a release here.
get_filename_component(SOURCE_PATH ${CMAKE_CURRENT_LIST_DIR}/../../../.. ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES host VKGEMM_HOST)
set(volk)
if(VKGEMM_HOST)
  set(volk -DVKGEMM_VOLK_INCLUDE=${CURRENT_INSTALLED_DIR}/include)
endif()
vcpkg_cmake_configure(
  SOURCE_PATH ${SOURCE_PATH}
  OPTIONS ${features} ${volk}
    -DVKGEMM_VULKAN_INCLUDE=${CURRENT_INSTALLED_DIR}/include
    -DVKGEMM_GLSLC=${CURRENT_HOST_INSTALLED_DIR}/tools/shaderc/glslc${VCPKG_HOST_EXECUTABLE_SUFFIX}
    -DVKGEMM_TOOLS=OFF -DVKGEMM_BLAS=OFF -DVKGEMM_GGML=OFF -DVKGEMM_EXAMPLES=OFF -DVKGEMM_TESTS=OFF -DVKGEMM_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/vkgemm)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include)
file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/usage DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
