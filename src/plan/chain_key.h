// SPDX-License-Identifier: MIT
// What the pipeline of a chain that is one dispatch is made of, also as a line of text that outlives the program.
#pragma once
#include <string>
#include <vector>

#include "plan/base/result.h"
#include "shaders/chain/family.h"

namespace vkgemm::plan {

struct ChainConstant {
    uint32_t id, value;
    bool operator==(const ChainConstant&) const = default;
};

struct ChainKey {
    const ChainModule* module = nullptr;
    std::vector<ChainConstant> constants;  // in the order of args.h; one that is missing is 0
    bool operator==(const ChainKey&) const = default;

    uint32_t value(uint32_t id) const;
};

std::string to_text(const ChainKey&);  // "chain_f16 addresses WG=128,WM=32,...,LAYERS=2,...,WIDTH_0=64,WIDTH_1=3"

/// Whether the text begins with the name of a chain's module, so that it is no key of a kernel.
bool is_chain_key(std::string_view text);

/// Refused if the text is malformed (PARSE), or names no module of this version (UNSUPPORTED).
Result<ChainKey> parse_chain_key(std::string_view text);

/// Why no pipeline of this key can be compiled on the device, or why it would read outside its own tables.
std::optional<Status> unfit(const ChainKey&, const DeviceCaps&);

/// Why the device cannot run a module, whatever the problems.
std::optional<Status> unfit_module(const ChainModule&, const DeviceCaps&);

/// The size of the square matrix-unit product that the module uses; 0: the device has none.
uint32_t matrix_size(const ChainModule&, const DeviceCaps&);

}  // namespace vkgemm::plan
