// SPDX-License-Identifier: MIT
// Tables and JSON of what choices lose. Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "measure/loss.h"

namespace vkgemm::tool {

class RegretReport {
   public:
    /// Keeps it; its line for the table.
    std::string add(Regret regret, bool colored);
    std::string header(bool colored) const;
    /// By type and of all, then the ten worst with what would have been better. "" if nothing was measured.
    std::string summary(bool colored) const;
    nlohmann::ordered_json losses() const;    // by type, and "all"
    nlohmann::ordered_json problems() const;  // with every time
    std::string csv() const;                  // the same times, a line for each
    size_t size() const { return all_.size(); }

   private:
    std::vector<std::pair<std::string, Losses>> by_kind() const;  // the last is "all"
    std::vector<Regret> all_;
};

}  // namespace vkgemm::tool
