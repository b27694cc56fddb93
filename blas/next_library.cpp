// SPDX-License-Identifier: MIT
#include "blas/next_library.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "blas/state.h"

namespace vkgemm::blas {
namespace {

// Of both integer widths: which one is right follows from the symbol, because 64-bit names end with 64 or 64_.
constexpr const char* ilp64_names[] = {"libopenblas64.so.0", "libblis64.so.4", "libblas64.so.3", "liblapack64.so.3"};
constexpr const char* usual_names[] = {"libopenblas.so.0",    "libblis.so.4", "libmkl_rt.so.2", "libblas.so.3",
                                       "libopenblas64_.so.0", "libblas.so",   "liblapack.so.3"};

constexpr std::string_view hook_prefix = "hook_";

bool is_own(const void* address) {
    Dl_info own{}, other{};
    return dladdr(reinterpret_cast<const void*>(&find_next), &own) && dladdr(address, &other) &&
           own.dli_fbase == other.dli_fbase;
}

void* symbol_of(void* library, const char* symbol) {
    void* found = library ? dlsym(library, symbol) : nullptr;
    return found && !is_own(found) ? found : nullptr;
}

/// The name of the object after so many others.
struct Loaded {
    size_t before = 0;
    char name[PATH_MAX]{};
};
int take(dl_phdr_info* object, size_t, void* wanted) {
    auto& loaded = *static_cast<Loaded*>(wanted);
    if (loaded.before-- > 0) return 0;
    std::snprintf(loaded.name, sizeof loaded.name, "%s", object->dlpi_name ? object->dlpi_name : "");
    return 1;
}

void* loaded_symbol(const char* symbol) {
    for (size_t i = 0;; ++i) {
        Loaded object{.before = i};
        if (dl_iterate_phdr(take, &object) == 0) return nullptr;  // no dlopen inside: the linker's list is locked there
        if (*object.name == '\0') continue;                       // the program
        if (void* found = symbol_of(dlopen(object.name, RTLD_LAZY | RTLD_NOLOAD), symbol)) return found;
    }
}

/// What hook_sgemm_ forwards to: FlexiBLAS's flexiblas_chain_sgemm_, that is the next hook or the backend.
void* find_chain(std::string_view hook) {
    hook.remove_prefix(hook_prefix.size());
    if (hook.ends_with('_')) hook.remove_suffix(1);
    for (const char* after : {"_", ""}) {
        char symbol[80];
        std::snprintf(symbol, sizeof symbol, "flexiblas_chain_%.*s%s", static_cast<int>(hook.size()), hook.data(),
                      after);
        if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
        if (void* found = loaded_symbol(symbol)) return found;
    }
    return nullptr;
}

}  // namespace

void* find_next(const char* symbol, const char* file) {
    if (std::string_view(symbol).starts_with(hook_prefix)) return find_chain(symbol);
    if (*file) {
        void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!library) std::fprintf(stderr, "vkgemm_blas: VKGEMM_BLAS_CPU=%s cannot be loaded: %s\n", file, dlerror());
        if (void* found = symbol_of(library, symbol)) return found;
    }
    if (void* found = symbol_of(RTLD_NEXT, symbol)) return found;
    if (void* found = loaded_symbol(symbol)) return found;
    if (settings().ilp64 && std::string_view(symbol).find("64") == std::string_view::npos &&
        !std::string_view(symbol).starts_with("scipy_")) {
        for (const char* name : ilp64_names)
            if (void* found = symbol_of(dlopen(name, RTLD_LAZY | RTLD_LOCAL), symbol)) return found;
        return nullptr;  // the others have 32-bit integers
    }
    for (const char* name : usual_names)
        if (void* found = symbol_of(dlopen(name, RTLD_LAZY | RTLD_LOCAL), symbol)) return found;
    return nullptr;
}

const char* library_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

void NextSymbol::look() {
    void* const found = find_next(name_, next_file());
    if (found)
        found_.store(found, std::memory_order_release);
    else
        missing_.store(true, std::memory_order_release);
}

void* NextSymbol::find() const {
    void* found = find_next(name_, next_file());
    if (!found) {
        std::fprintf(stderr, "vkgemm_blas: no BLAS library defines %s; VKGEMM_BLAS_CPU=FILE names one\n", name_);
        std::abort();
    }
    set_next_library(library_of(found));
    return found;
}

}  // namespace vkgemm::blas
