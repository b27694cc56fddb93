// SPDX-License-Identifier: MIT
// Public structs of other versions of the header. A struct that came in is copied into a zeroed struct of this version;
// a struct that goes out is copied as far as the caller's reaches. No other code looks at structSize or pNext.
//
// Fields are only ever added at the end, at an offset that is at least the struct's former sizeof. So no struct here
// ends with padding: an older caller would leave uninitialised bytes where a newer version has a field.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "plan/base/result.h"
#include "vk/enums.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// What is known of one struct type.
struct StructInfo {
    const char* name = nullptr;
    size_t least = 0;  // bytes that every version has: the fields without a default
    size_t size = 0, alignment = 0;
};

template <class T>
inline constexpr StructInfo struct_info = {};

// `first_optional` is the first field that a caller may lack, `last` the last field of all.
#define VKGEMM_VERSIONED(T, first_optional, last)                                                      \
    template <>                                                                                        \
    inline constexpr StructInfo struct_info<T> = {                                                     \
        .name = #T, .least = offsetof(T, first_optional), .size = sizeof(T), .alignment = alignof(T)}; \
    static_assert(offsetof(T, last) + sizeof(decltype(T::last)) == sizeof(T), #T " ends with padding");
VKGEMM_VERSIONED(VkgemmProblem, a, scalars)
VKGEMM_VERSIONED(VkgemmNeedsInfo, problems, operands)
VKGEMM_VERSIONED(VkgemmNeeds, requiredExtensions, optionalExtensions)
VKGEMM_VERSIONED(VkgemmContextInfo, enabledFeatures, nativeKernels)
VKGEMM_VERSIONED(VkgemmPlanOptions, kernel, runSeconds)
VKGEMM_VERSIONED(VkgemmRun, bias, bias2)
VKGEMM_VERSIONED(VkgemmCommand, name, barrier)
VKGEMM_VERSIONED(VkgemmRunData, operands, result)
VKGEMM_VERSIONED(VkgemmKernelInfo, family, variant)
VKGEMM_VERSIONED(VkgemmPlanInfo, kernel, usefulKernel)
VKGEMM_VERSIONED(VkgemmTypeInfo, name, alignment)
VKGEMM_VERSIONED(VkgemmKernelTraits, accuracy, native)
VKGEMM_VERSIONED(VkgemmTileConstant, name, meaning)
VKGEMM_VERSIONED(VkgemmDeviceCaps, features, matrixShapeCount)
VKGEMM_VERSIONED(VkgemmMatrixShape, b, k)
VKGEMM_VERSIONED(VkgemmExplanationInfo, resultText, groupAlignment)
VKGEMM_VERSIONED(VkgemmCandidate, kernel, costParts)
VKGEMM_VERSIONED(VkgemmDispatch, kernel, waits)
VKGEMM_VERSIONED(VkgemmRow, kernel, text)
VKGEMM_VERSIONED(VkgemmChainProblem, kept, flags)
VKGEMM_VERSIONED(VkgemmChainRun, workspace, workspace)
VKGEMM_VERSIONED(VkgemmChainInfo, kernel, usesAddresses)
#undef VKGEMM_VERSIONED

/// No version of a struct is larger: a larger structSize was never set.
inline constexpr size_t max_struct_size = 4096;

/// Why a struct cannot be read or written: it is null, or its structSize belongs to no version.
std::optional<Status> check_size(const StructInfo&, const void* given);

/// Copies a struct whose size was checked into `out`, which is zeroed and of this version. Refused if a field that this
/// version does not know is not zero.
std::optional<Status> read_bytes(const StructInfo&, const void* given, void* out);

/// Why a pNext chain is refused; nothing for a null one.
std::optional<Status> check_chain(const StructInfo&, const void* chain);

/// Copies all but structSize as far as `out` reaches, and zeroes what it has beyond. The size of `out` was checked.
void write_bytes(const StructInfo&, const void* filled, void* out);

/// Is all of `filled` zero that a struct of the size of `out` does not have? That size was checked.
bool rest_is_zero(const StructInfo&, const void* filled, const void* out);

/// A caller's input struct, as a struct of this version whose enums were checked.
template <class T>
plan::Result<T> read_struct(const T* given) {
    T out{};
    if (auto why = check_size(struct_info<T>, given)) return *why;
    if (auto why = read_bytes(struct_info<T>, given, &out)) return *why;
    if constexpr (requires { out.pNext; })
        if (auto why = check_chain(struct_info<T>, out.pNext)) return *why;
    if constexpr (requires { check_enums(out); })
        if (auto why = check_enums(out)) return *why;
    out.structSize = sizeof(T);
    return out;
}

/// The place of element `i` of a caller's array, whose structs all have the size of the first one. That one was
/// checked.
template <class T>
const T* array_element(const T* first, size_t i) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + i * first->structSize);
}

template <class T>
std::optional<Status> check_output(const T* out) {
    return check_size(struct_info<T>, out);
}

/// Fills a caller's output struct, whose size was checked, as far as it reaches.
template <class T>
void write_struct(const T& filled, T* out) {
    write_bytes(struct_info<T>, &filled, out);
}
template <class T>
bool fits(const T& filled, const T& out) {
    return rest_is_zero(struct_info<T>, &filled, &out);
}

}  // namespace vkgemm::vk
