// SPDX-License-Identifier: MIT
#include "vk/versioned.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "plan/base/concat.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;

uint32_t size_of(const void* given) {
    uint32_t size;
    std::memcpy(&size, given, sizeof size);  // structSize is the first field of all
    return size;
}

bool is_zero(const char* bytes, size_t count) {
    return std::all_of(bytes, bytes + count, [](char c) { return c == 0; });
}

std::string library_version() {
    return plan::concat({VKGEMM_VERSION_MAJOR, ".", VKGEMM_VERSION_MINOR, ".", VKGEMM_VERSION_PATCH});
}

}  // namespace

std::optional<Status> check_size(const StructInfo& info, const void* given) {
    if (!given) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, plan::concat({info.name, " is null"})};
    const uint32_t size = size_of(given);
    const auto refused = [&](const std::string& why) {
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({info.name, "::structSize is ", size, ", ", why, "; set it to sizeof(", info.name,
                                     "), which is ", info.size, " in vkgemm ", library_version()})};
    };
    if (size < info.least) return refused(plan::concat({"below the ", info.least, " bytes that every version has"}));
    if (size > max_struct_size) return refused(plan::concat({"above the limit of ", max_struct_size}));
    if (size % info.alignment)
        return refused(plan::concat({"no multiple of ", info.alignment, " as the struct has in every version"}));
    return std::nullopt;
}

std::optional<Status> read_bytes(const StructInfo& info, const void* given, void* out) {
    const size_t size = size_of(given);
    std::memcpy(out, given, std::min(size, info.size));
    if (size <= info.size || is_zero(static_cast<const char*>(given) + info.size, size - info.size))
        return std::nullopt;
    return Refusal{
        VKGEMM_ERROR_INVALID_ARGUMENT,
        plan::concat({info.name, "::structSize is ", size, ", vkgemm ", library_version(), " knows ", info.size,
                      " bytes, and the rest is not zero: the caller was compiled with a newer header and sets a ",
                      "field that this library does not have; update the library, or leave that field zero"})};
}

std::optional<Status> check_chain(const StructInfo& info, const void* chain) {
    if (!chain) return std::nullopt;
    VkgemmChainHeader header;
    std::memcpy(&header, chain, sizeof header);
    return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                   plan::concat({info.name, "::pNext has a struct of type ", enum_value(header.type), "; vkgemm ",
                                 library_version(), " knows no type, so pNext must be NULL"})};
}

void write_bytes(const StructInfo& info, const void* filled, void* out) {
    const size_t size = size_of(out), copied = std::min(size, info.size), first = sizeof(uint32_t);
    char* to = static_cast<char*>(out);
    const char* from = static_cast<const char*>(filled);
    std::memcpy(to + first, from + first, copied - first);
    std::memset(to + copied, 0, size - copied);
}

bool rest_is_zero(const StructInfo& info, const void* filled, const void* out) {
    const size_t copied = std::min<size_t>(size_of(out), info.size);
    return is_zero(static_cast<const char*>(filled) + copied, info.size - copied);
}

}  // namespace vkgemm::vk
