// SPDX-License-Identifier: MIT
// What makes this library a hook of FlexiBLAS, beside its functions hook_ (names.def): FLEXIBLAS_HOOK names its file,
// or FlexiBLAS finds it in its folder as libflexiblas_hook_*.so. The declarations are those of FlexiBLAS's
// flexiblas_backend.h, written anew, so that FlexiBLAS need not be there to build this.
#include <dlfcn.h>

#include <cstring>
#include <string_view>

#include "blas/export.h"
#include "blas/next_library.h"
#include "blas/state.h"

struct FlexiblasHook {
    const char *name, *section, *description, *authors;
};
struct FlexiblasOption {
    const char *name, *description;
    int type;
    const char* value;
};

EXPORT FlexiblasHook flexiblas_register;
EXPORT const FlexiblasOption flexiblas_options[];
// FlexiBLAS 3.4 frees the second one where FLEXIBLAS_HOOK names a file.
FlexiblasHook flexiblas_register{.name = "vkgemm",
                                 .section = strdup("VKGEMM"),
                                 .description = "Level 3 of BLAS, and LU, on Vulkan devices",
                                 .authors = "the vkgemm authors"};
const FlexiblasOption flexiblas_options[] = {{nullptr, nullptr, 0, nullptr}};  // they are variables: VKGEMM_BLAS...

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the names that FlexiBLAS looks for
/// FlexiBLAS calls it when it has found the hooks. Its library with 64-bit integers is named libflexiblas64.so.
EXPORT void __flexiblas_hook_initialize() {
    const void* const chain = vkgemm::blas::find_next("hook_sgemm_", "");
    const std::string_view file = chain ? vkgemm::blas::library_of(chain) : "";
    if (file.find("64", file.rfind('/') + 1) != std::string_view::npos) vkgemm::blas::set_ilp64();
}
EXPORT void __flexiblas_hook_finalize() {}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
