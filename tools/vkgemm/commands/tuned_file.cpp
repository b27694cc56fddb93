// SPDX-License-Identifier: MIT
#include "commands/tuned_file.h"

#include <ctime>
#include <filesystem>
#include <map>

#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

/// The text of a problem without what a tuned row does not look at.
std::string row_problem(const Problem& given) {
    Problem p = given;
    p.cSource = VKGEMM_C_NONE;
    p.c = {};
    p.epilogue = {};
    const auto text = formatProblem(p);
    return text ? *text : "";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[32] = "";
    if (const std::tm* utc = std::gmtime(&now)) std::strftime(text, sizeof text, "%Y-%m-%d", utc);
    return text;
}

/// Warns of the rows that the device cannot follow, once for each reason.
void report_skipped(const std::string& path, const Rows& rows) {
    std::map<std::string, size_t> count;  // by reason
    for (const VkgemmRow& row : rows.all())
        if (*row.reason) ++count[row.reason];
    for (const auto& [why, n] : count) {
        std::string line = "vkgemm: " + path + ": " + std::to_string(n);
        line += n == 1 ? " row is skipped: " : " rows are skipped: ";
        warn(line + why);
    }
}

/// Without the lines of a model of `device`.
std::string without_model(const std::string& text, const std::string& device) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(at, end - at);
        const size_t bar = line.find('|');
        const bool is_model = bar != std::string_view::npos && trimmed(line.substr(0, bar)) == device &&
                              trimmed(line.substr(bar + 1)).starts_with("model");
        if (!is_model) out += line;
        at = end;
    }
    return out;
}

}  // namespace

Result<TunedFile> TunedFile::open(const std::string& path, bool resume, const host::Device& device,
                                  const std::string& command_line) {
    TunedFile f;
    f.device_ = host::rowDevice(device.info().name);
    f.context_ = &device.context();
    std::error_code ignored;
    if (resume && std::filesystem::exists(path, ignored)) {
        auto text = read_file(path);
        if (!text) return text.status();
        f.text_ = *std::move(text);
        if (!f.text_.empty() && !f.text_.ends_with('\n')) f.text_ += '\n';
    }
    auto rows = Rows::tuned(f.text_.c_str(), f.context_);
    if (!rows) return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, path + ": " + rows.status().text};
    f.rows_ = *std::move(rows);
    report_skipped(path, f.rows_);
    f.head_ = "# " + device_line(device.info()) + ", " + today() + ", vkgemm " + tool_version() + "\n# " +
              command_line + "\n# device | problem | kernel | tile\n";
    auto file = OutputFile::open(path);
    if (!file) return file.status();
    f.file_.emplace(*std::move(file));
    return f;
}

Status TunedFile::write() {
    if (Status s = file_->commit(text_); !s) return s;
    auto rows = Rows::tuned(text_.c_str(), context_);
    if (!rows) return rows.status();
    rows_ = *std::move(rows);
    return {};
}

Status TunedFile::add(const Problem& problem, const Candidate& best, const std::string& note) {
    text_ += std::exchange(head_, "") + device_ + " | " + row_problem(problem) + " | " + best.kernel + " | " +
             best.tile + "  # " + note + "\n";
    ++added_;
    return write();
}

Status TunedFile::set_model(const FamilyWeights& weights, const std::string& note) {
    text_ = without_model(text_, device_) + std::exchange(head_, "") + "# " + note + "\n";
    for (const auto& [family, of_family] : weights)
        text_ += device_ + " | model " + std::to_string(VKGEMM_COST_MODEL_VERSION) + " | " +
                 weights_text(family, of_family) + "\n";
    return write();
}

}  // namespace vkgemm::tool
