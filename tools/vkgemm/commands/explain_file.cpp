// SPDX-License-Identifier: MIT
#include "commands/explain_file.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    while (!(line = trimmed(line)).empty()) {
        const size_t end = std::min(line.find_first_of(" \t"), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

bool is_version(std::string_view word) {
    return std::ranges::count(word, '.') == 2 && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

Status not_explained(const std::string& path, const std::string& why) {
    return {VKGEMM_ERROR_PARSE, VK_SUCCESS,
            path + ": " + why +
                "; explain takes a PROBLEM, a capture (VKGEMM_CAPTURE) or a file of pipeline keys "
                "(vkgemmGetPipelineKeys)"};
}

}  // namespace

Result<std::vector<PipelineKey>> parse_keys(std::string_view text) {
    std::vector<PipelineKey> keys;
    size_t number = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
        if (words.empty()) continue;
        if (words.size() < 4 || words.size() > 5 || !is_version(words[0]) || words[3].find('=') == std::string::npos)
            return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS,
                          "line " + std::to_string(number) +
                              " is not a key; one is 'VERSION KERNEL OPERANDS TILE CONSTANTS', such as '0.2.0 "
                              "naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 WHOLE=1'"};
        keys.push_back({.line = std::string(line),
                        .version = words[0],
                        .kernel = words[1],
                        .operands = words[2],
                        .tile = words[3],
                        .constants = words.size() == 5 ? words[4] : ""});
    }
    return keys;
}

Result<std::optional<ExplainedFile>> read_explained(const std::string& word) {
    std::error_code ignored;
    const bool is_there = std::filesystem::is_regular_file(word, ignored);
    const bool is_path = word.find_first_of(" *") == std::string::npos &&
                         (word.find('/') != std::string::npos || word.ends_with(".vkgemm") || word.ends_with(".txt"));
    if (!is_there && !is_path) return std::optional<ExplainedFile>();
    const auto text = read_file(word);
    if (!text) return text.status();
    ExplainedFile file;
    if (text->starts_with("vkgemm-capture ")) {
        auto capture = host::parseCapture(*text);
        if (!capture) return not_explained(word, capture.status().text);
        file.capture = *std::move(capture);
        return std::optional(std::move(file));
    }
    auto keys = parse_keys(*text);
    if (!keys) return not_explained(word, keys.status().text);
    if (keys->empty()) return not_explained(word, "it has no key");
    file.keys = *std::move(keys);
    return std::optional(std::move(file));
}

int explain_keys(const Session& session, const std::string& path, const std::vector<PipelineKey>& keys,
                 OutputFile& file) {
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    nlohmann::ordered_json json = json_head("explain");
    json["device"] = json_device(device->info());
    json["keys"] = nlohmann::ordered_json::array();
    Table table({{.title = "kernel"}, {.title = "operands"}, {.title = "usable"}});
    size_t usable = 0;
    for (const PipelineKey& key : keys) {
        const std::string why = device->context().checkPipelineKey(key.line.c_str()).text;
        usable += why.empty();
        table.add({key.kernel, key.operands, why.empty() ? Cell("yes", Style::good) : Cell("no", Style::bad)});
        table.note(key.tile + (key.constants.empty() ? "" : " " + key.constants));
        if (!why.empty()) table.note(why);
        json["keys"].push_back({{"version", key.version},
                                {"kernel", key.kernel},
                                {"operands", key.operands},
                                {"tile", key.tile},
                                {"constants", key.constants},
                                {"unfit", why.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(why)}});
    }
    if (!file.is_stdout())
        print(device_line(device->info()) + "\n" + wrapped("pipeline keys of " + path, 0) + "\n" +
              table.header(session.colored()) + table.body(session.colored()) + "\n" + std::to_string(usable) + " of " +
              std::to_string(keys.size()) + " can be compiled here\n");
    if (Status s = file.commit(json_text(json)); !s) return session.fail(s);
    return session.finish(*device, exit_right);
}

std::string captured_text(const host::Capture& capture, const std::string& chosen) {
    std::string text = "captured on " + capture.device + " [" + capture.driver + "] by vkgemm " + capture.version +
                       ", where it ran on " + capture.kernel + ", " + capture.tile;
    if (chosen.empty()) return text;
    if (capture.kernel == chosen) return text + "; the choice here is the same";
    const bool is_two = capture.kernel.find('+') != std::string::npos;
    return text + "; the choice here is " + chosen + (is_two ? " (of two products, for the second)" : "");
}

}  // namespace vkgemm::tool
