# SPDX-License-Identifier: MIT
"""Conan 2 recipe for vkgemm. Unproven: no test here runs Conan, only Python's compiler.

From a checkout:  conan create packaging/conan --build=missing
If the environment variable VKGEMM_PREBUILT_SPIRV names the folder of a SPIR-V archive, no shader compiler is required.
"""
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class VkgemmConan(ConanFile):
    name = "vkgemm"
    description = "Matrix multiplication for Vulkan"
    license = "MIT"
    topics = ("vulkan", "gemm", "matrix-multiplication", "gpu")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "host": [True, False]}
    default_options = {"shared": False, "fPIC": True, "host": False}

    def set_version(self):
        """The version is stated once, in the public header."""
        header = load(self, os.path.join(self._sources_of_recipe, "include", "vkgemm", "vkgemm.h"))
        parts = []
        for part in ("MAJOR", "MINOR", "PATCH"):
            line = next(x for x in header.splitlines() if x.startswith(f"#define VKGEMM_VERSION_{part} "))
            parts.append(line.split()[2])
        self.version = ".".join(parts)

    @property
    def _sources_of_recipe(self):
        return os.path.normpath(os.path.join(self.recipe_folder, "..", ".."))

    def export_sources(self):
        patterns = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "native/*", "shaders/*", "src/*", "tools/sdk")
        for pattern in patterns:
            copy(self, pattern, self._sources_of_recipe, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # The public headers include vulkan_core.h. Compiling vkgemm needs 1.4.313 or newer; using it does not.
        self.requires("vulkan-headers/[>=1.4.313]", transitive_headers=True)
        if self.options.host:
            self.requires("volk/[>=1.4.313]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.24]")
        if not os.environ.get("VKGEMM_PREBUILT_SPIRV"):
            self.tool_requires("shaderc/[>=2025.2]")  # glslc

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "BLAS", "GGML", "EXAMPLES", "TESTS"):
            toolchain.cache_variables[f"VKGEMM_{part}"] = False
        toolchain.cache_variables["VKGEMM_HOST"] = bool(self.options.host)
        toolchain.cache_variables["VKGEMM_INSTALL"] = True
        headers = self.dependencies["vulkan-headers"].cpp_info.includedirs[0]
        toolchain.cache_variables["VKGEMM_VULKAN_INCLUDE"] = headers.replace("\\", "/")
        if self.options.host:
            volk = self.dependencies["volk"].cpp_info.includedirs[0]
            toolchain.cache_variables["VKGEMM_VOLK_INCLUDE"] = volk.replace("\\", "/")
        archive = os.environ.get("VKGEMM_PREBUILT_SPIRV")
        if archive:
            toolchain.cache_variables["VKGEMM_PREBUILT_SPIRV"] = archive.replace("\\", "/")
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "vkgemm")
        self.cpp_info.set_property("pkg_config_name", "vkgemm")
        core = self.cpp_info.components["vkgemm"]
        core.set_property("cmake_target_name", "vkgemm::vkgemm")
        core.libs = ["vkgemm"]
        core.requires = ["vulkan-headers::vulkan-headers"]
        if not self.options.shared:
            core.defines = ["VKGEMM_STATIC"]
            if self.settings.os in ("Linux", "FreeBSD"):
                core.system_libs = ["pthread", "m"]
        if self.options.host:
            host = self.cpp_info.components["host"]
            host.set_property("cmake_target_name", "vkgemm::host")
            host.libs = ["vkgemm_host"]
            host.requires = ["vkgemm", "volk::volk"]
            if self.settings.os in ("Linux", "FreeBSD"):
                host.system_libs = ["dl"]
