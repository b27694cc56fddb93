// SPDX-License-Identifier: MIT
// A file of tuned rows that grows while problems are measured: what was there, then this run's.
#pragma once
#include <optional>

#include "commands/command.h"
#include "measure/cost_weights.h"

namespace vkgemm::tool {

class TunedFile {
   public:
    /// `resume`: keep the rows that are in the file. `command_line` is noted there.
    static Result<TunedFile> open(const std::string& path, bool resume, const host::Device& device,
                                  const std::string& command_line);

    /// Is there a row for this very problem that this device can follow?
    bool has(const Problem& problem) const { return rows_.has(problem); }
    /// Adds a row and writes the file. `note` becomes its comment.
    Status add(const Problem& problem, const Candidate& best, const std::string& note);
    /// Adds the rows of a fitted model in place of an earlier one of this device, and writes the file.
    Status set_model(const FamilyWeights& weights, const std::string& note);
    size_t added() const { return added_; }  // rows of problems

   private:
    Status write();

    std::optional<OutputFile> file_;
    std::string device_, text_, head_;
    const Context* context_ = nullptr;
    Rows rows_;  // of this device
    size_t added_ = 0;
};

}  // namespace vkgemm::tool
