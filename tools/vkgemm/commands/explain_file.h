// SPDX-License-Identifier: MIT
// What `vkgemm explain FILE` reads: a captured call, or keys of pipelines.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/command.h"

namespace vkgemm::tool {

/// A line of vkgemmGetPipelineKeys().
struct PipelineKey {
    std::string line;                                        // as the file has it
    std::string version, kernel, operands, tile, constants;  // its words
};
/// The lines of a file of keys. Refused with the number of the first line that is none.
Result<std::vector<PipelineKey>> parse_keys(std::string_view text);  // pure

/// A file by its contents; one of the two is set.
struct ExplainedFile {
    std::optional<host::Capture> capture;
    std::vector<PipelineKey> keys;
};
/// Nothing if `word` names no file and does not look like one: then it is a problem.
Result<std::optional<ExplainedFile>> read_explained(const std::string& word);

/// Prints each key with the reason why this library or device cannot use it, and the number of those that it can.
int explain_keys(const Session& session, const std::string& path, const std::vector<PipelineKey>& keys,
                 OutputFile& json);

/// "captured on llvmpipe [lavapipe] by vkgemm 0.2.0, where it ran on NAME, WG=8,...; here the choice is another"
std::string captured_text(const host::Capture& capture, const std::string& chosen);

}  // namespace vkgemm::tool
