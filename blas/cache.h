// SPDX-License-Identifier: MIT
// What is kept between processes, in files: one for each kind and key. A file that is damaged, of another key or cannot
// be read counts as not there, and one that cannot be written is not.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blas/decision.h"

namespace vkgemm::blas {

class Cache {
   public:
    /// "": nothing is kept. The folder is made when something is written.
    explicit Cache(std::string folder) : folder_(std::move(folder)) {}

    /// `key` says for what the data is right: device, driver, version.
    std::vector<std::byte> read(const std::string& kind, const std::string& key) const;
    /// Readers see the old file or the new one, also while several processes write it.
    void write(const std::string& kind, const std::string& key, std::span<const std::byte> data) const noexcept;

   private:
    std::string file_of(const std::string& kind, const std::string& key) const;

    std::string folder_;
};

/// What a file holds for this key: a line with the version, the size and a checksum, the key, and the data.
std::string file_with(const std::string& key, std::span<const std::byte> data);
/// The data of such a file; empty unless it is whole, and of this version and key.
std::span<const std::byte> data_in(std::string_view file, const std::string& key);

/// Alike in every locale, because the process that reads it may have another one.
std::string text_of(const Rates& rates);
/// Nothing unless the text is one of text_of, with numbers that can be.
std::optional<Rates> rates_in(std::span<const std::byte> text);

}  // namespace vkgemm::blas
