// SPDX-License-Identifier: MIT
#include "report/device_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "cli/text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

constexpr std::string_view first_line = "vkgemm report 1";
constexpr std::string_view origins[] = {"ours", "reproduced", "submitted"};
constexpr std::string_view own_keys[] = {"version", "origin", "date", "extensions", "check",
                                         "wrong",   "copy",   "peak", "product",    "left_out"};
constexpr std::string_view repeated_keys[] = {"wrong", "peak", "product", "left_out", "matrix_shape", "disabled"};
constexpr std::string_view needed_keys[] = {"version", "date",   "name",          "driver",   "kind",
                                            "vendor",  "device", "subgroup_size", "features", "check"};
constexpr size_t longest_line = 4096, most_lines_of_report = 1000;
constexpr size_t longest_link = 7500;  // characters; servers refuse addresses of more than 8,192

template <class List>
bool is_in(const List& list, std::string_view word) {
    return std::ranges::find(list, word) != std::end(list);
}

/// One line, and nothing that ends a code block.
std::string plain_line(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '`' ? '\'' : static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    return std::string(trimmed(out));
}

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    const auto month = readNumber<unsigned>(text.substr(5, 2)), day = readNumber<unsigned>(text.substr(8, 2));
    return readNumber<unsigned>(text.substr(0, 4)) && month && day && *month >= 1 && *month <= 12 && *day >= 1 &&
           *day <= 31;
}

bool is_name_of_kernel(std::string_view text) {
    return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// "kernel=a seconds=1e-3": words, each with a name of `known`, none twice.
class NamedWords {
   public:
    NamedWords(std::string_view words, std::initializer_list<std::string_view> known) {
        while (!(words = trimmed(words)).empty() && refusal_.empty()) {
            const std::string_view word = words.substr(0, words.find(' '));
            words.remove_prefix(word.size());
            const size_t equals = word.find('=');
            const std::string_view name = word.substr(0, equals);
            if (equals == std::string_view::npos || !is_in(known, name))
                refusal_ = "'" + std::string(word) + "' is not one of " +
                           joined(std::vector<std::string>(known.begin(), known.end()), "=, ") + "=";
            else if (!values_.emplace(name, word.substr(equals + 1)).second)
                refusal_ = "'" + std::string(name) + "=' is there twice";
        }
    }
    const std::string& refusal() const { return refusal_; }
    bool has(std::string_view name) const { return values_.contains(name); }
    std::string_view text(std::string_view name) const {
        const auto at = values_.find(name);
        return at == values_.end() ? std::string_view() : at->second;
    }
    /// A number above 0; refused otherwise. Left as it is if the word is not there and need not be.
    template <class Number>
    void read(std::string_view name, Number& to, bool needed) {
        if (!refusal_.empty() || (!needed && !has(name))) return;
        const auto number = readNumber<Number>(text(name));
        if (number && *number > 0 && std::isfinite(static_cast<double>(*number)))
            to = *number;
        else
            refusal_ = has(name) ? std::string(name) + "=" + std::string(text(name)) + " is not a number above 0"
                                 : std::string(name) + "= is missing";
    }

   private:
    std::map<std::string_view, std::string_view> values_;
    std::string refusal_;
};

class ReportReader {
   public:
    explicit ReportReader(const CheckFact& check_fact) : check_fact_(check_fact) {}
    void read(std::string_view text);
    void end();
    ReadReport result{};

   private:
    void refuse(const std::string& why) { result.problems.push_back("line " + std::to_string(line_) + ": " + why); }
    void read_line(std::string_view key, std::string_view value, std::string_view line);
    std::string read_own(std::string_view key, std::string_view value);
    std::string read_check(std::string_view value);
    std::string read_product(std::string_view value);
    std::string read_rate(std::string_view value, double& to);

    const CheckFact& check_fact_;
    size_t line_ = 0;
    bool begun_ = false, is_report_ = true;
    std::set<std::string, std::less<>> seen_{};      // keys
    std::set<std::string, std::less<>> problems_{};  // of products and of what was left out
};

std::string ReportReader::read_rate(std::string_view value, double& to) {
    const auto number = readNumber<double>(value);
    if (!number || !(*number > 0) || !std::isfinite(*number))
        return "'" + std::string(value) + "' is not a number above 0";
    to = *number;
    return "";
}

std::string ReportReader::read_check(std::string_view value) {
    NamedWords words(value, {"kernels", "runs"});
    if (value == "none") return "";
    words.read("kernels", result.report.kernels, true);
    words.read("runs", result.report.runs, true);
    return words.refusal();
}

/// "PROBLEM | kernel=... seconds=..."
std::string ReportReader::read_product(std::string_view value) {
    const size_t bar = value.find('|');
    if (bar == std::string_view::npos) return "'|' is missing between the problem and its figures";
    const auto c = parse_work(std::string(trimmed(value.substr(0, bar))));
    if (!c) return std::string(c.status().text.substr(0, c.status().text.find('\n')));
    if (flops(*c) == 0) return "a problem without operations has no rate";
    if (!problems_.insert(c->text).second) return c->text + " is there twice";
    NamedWords words(value.substr(bar + 1),
                     {"kernel", "tile", "seconds", "best", "best_tile", "best_seconds", "tried", "of", "roof"});
    ReportedProduct p{.c = *c};
    words.read("seconds", p.seconds, true);
    words.read("best_seconds", p.best_seconds, words.has("best"));
    words.read("tried", p.tried, words.has("best"));
    words.read("of", p.there, words.has("best"));
    words.read("roof", p.roof, false);
    if (!words.refusal().empty()) return words.refusal();
    p.kernel = words.text("kernel");
    p.tile = words.text("tile");
    p.best = words.text("best");
    p.best_tile = words.text("best_tile");
    if (!is_name_of_kernel(p.kernel)) return "kernel=" + p.kernel + " is not the name of a kernel";
    if (words.has("best") && !is_name_of_kernel(p.best)) return "best=" + p.best + " is not the name of a kernel";
    if (!words.has("best") && (words.has("best_seconds") || words.has("tried") || words.has("of")))
        return "best= is missing";
    if (p.best_seconds > p.seconds) return "best_seconds= is more than seconds=, and the choice was tried, too";
    if (p.tried > p.there) return "tried= is more than of=";
    result.report.products.push_back(std::move(p));
    return "";
}

/// Why it cannot be read; "": it can.
std::string ReportReader::read_own(std::string_view key, std::string_view value) {
    DeviceReport& r = result.report;
    if (key == "version") r.version = value;
    if (key == "check") return read_check(value);
    if (key == "product") return read_product(value);
    if (key == "copy") return read_rate(value, r.copied);
    if (key == "origin") {
        if (!is_in(origins, value)) return "'" + std::string(value) + "' is not ours, reproduced or submitted";
        r.origin = value;
    }
    if (key == "date") {
        if (!is_date(value)) return "'" + std::string(value) + "' is not a date such as 2026-11-28";
        r.date = value;
    }
    if (key == "extensions")
        for (std::string_view rest = value; !(rest = trimmed(rest)).empty();) {
            r.extensions.emplace_back(rest.substr(0, rest.find(' ')));
            rest.remove_prefix(r.extensions.back().size());
            if (!r.extensions.back().starts_with("VK_")) return "'" + r.extensions.back() + "' is not an extension";
        }
    if (key == "peak") {
        const size_t blank = value.find(' ');
        r.peaks.emplace_back(value.substr(0, blank), 0);
        return read_rate(blank == std::string_view::npos ? "" : trimmed(value.substr(blank)), r.peaks.back().second);
    }
    if (key != "wrong" && key != "left_out") return "";
    const size_t bar = value.find('|');
    if (bar == std::string_view::npos) return "'|' is missing before the reason";
    const std::string what(trimmed(value.substr(0, bar))), why(trimmed(value.substr(bar + 1)));
    if (why.empty()) return "the reason is missing";
    if (key == "wrong" && !is_name_of_kernel(what)) return "'" + what + "' is not the name of a kernel";
    if (key == "left_out") {
        const auto c = parse_case(what);
        if (!c) return std::string(c.status().text.substr(0, c.status().text.find('\n')));
        if (!problems_.insert(c->text).second) return c->text + " is there twice";
    }
    (key == "wrong" ? r.wrong : r.left_out).emplace_back(what, why);
    return "";
}

void ReportReader::read_line(std::string_view key, std::string_view value, std::string_view line) {
    const std::string quoted = "'" + std::string(key) + "'";
    if (value.empty() && key != "features" && key != "extensions" && key != "driver")
        return refuse(quoted + " has no value");
    if (!seen_.emplace(key).second && !is_in(repeated_keys, key)) return refuse(quoted + " is there twice");
    if (is_in(own_keys, key)) {
        if (const std::string why = read_own(key, value); !why.empty()) refuse(std::string(key) + ": " + why);
        return;
    }
    if (!check_fact_(line).empty()) {
        const std::vector<std::string> known(std::begin(own_keys), std::end(own_keys));
        return refuse(quoted + " is not a known key, or its value cannot be read: '" +
                      std::string(value.substr(0, 60)) + "'" + suggestion(key, known));
    }
    result.report.device.emplace_back(key, value);
}

void ReportReader::read(std::string_view text) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (++line_ > most_lines_of_report)
            return refuse("a report has at most " + std::to_string(most_lines_of_report) + " lines");
        line = trimmed(line);
        if (line.empty() || line.front() == '#' || line.starts_with("```")) continue;
        if (line.size() > longest_line) {
            refuse("it has more than " + std::to_string(longest_line) + " bytes");
        } else if (std::ranges::any_of(line, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
            refuse("it has a control character");
        } else if (!begun_) {
            begun_ = true;
            is_report_ = line == first_line;
            if (!is_report_)
                return refuse("a report begins with '" + std::string(first_line) + "', not '" +
                              std::string(line.substr(0, 60)) + "'");
        } else if (const size_t equals = line.find('='); equals == std::string_view::npos) {
            refuse("'" + std::string(line.substr(0, 60)) + "' is not 'key = value'");
        } else {
            read_line(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)), line);
        }
    }
}

void ReportReader::end() {
    if (!is_report_) return;  // one reason is enough
    for (const std::string_view key : needed_keys)
        if (!seen_.contains(key)) refuse("the report ends, and '" + std::string(key) + "' is missing");
    if (!seen_.contains("product") && !seen_.contains("left_out")) refuse("the report ends, and there is no 'product'");
}

std::string encoded(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                           (byte >= 'A' && byte <= 'Z') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            out += c;
        else
            (out += '%').append({digits[byte >> 4], digits[byte & 15]});
    }
    return out;
}

/// Six digits are more than a measurement has.
std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string product_line(const ReportedProduct& p) {
    std::string out = "product = " + p.c.text + " | kernel=" + p.kernel;
    if (!p.tile.empty()) out += " tile=" + p.tile;
    out += " seconds=" + short_number(p.seconds);
    if (!p.best.empty()) {
        out += " best=" + p.best;
        if (!p.best_tile.empty()) out += " best_tile=" + p.best_tile;
        out += " best_seconds=" + short_number(p.best_seconds) + " tried=" + std::to_string(p.tried) +
               " of=" + std::to_string(p.there);
    }
    if (p.roof > 0) out += " roof=" + short_number(p.roof);
    return out + "\n";
}

}  // namespace

std::string DeviceReport::fact(std::string_view name) const {
    for (const auto& [key, value] : device)
        if (key == name) return value;
    return "";
}

std::string report_text(const DeviceReport& r) {
    std::string out(first_line);
    const auto add = [&](const std::string& key, std::string_view value) {
        out += "\n" + key + " = " + plain_line(value);
    };
    add("version", r.version);
    add("origin", r.origin);
    add("date", r.date);
    for (const auto& [key, value] : r.device) add(key, value);
    add("extensions", joined(r.extensions));
    add("check", r.runs ? "kernels=" + std::to_string(r.kernels) + " runs=" + std::to_string(r.runs) : "none");
    for (const auto& [kernel, why] : r.wrong) add("wrong", kernel + " | " + why);
    if (r.copied > 0) add("copy", short_number(r.copied));
    for (const auto& [units, rate] : r.peaks) add("peak", units + " " + short_number(rate));
    out += "\n";
    for (const ReportedProduct& p : r.products) out += product_line(p);
    for (const auto& [problem, why] : r.left_out) out += "left_out = " + problem + " | " + plain_line(why) + "\n";
    return out;
}

ReadReport read_report(std::string_view text, const CheckFact& check_fact) {
    ReportReader reader(check_fact);
    reader.read(text);
    reader.end();
    return std::move(reader.result);
}

std::string issue_link(const DeviceReport& report, std::string_view repository) {
    if (repository.empty()) return "";
    std::string link = std::string(repository) + "/issues/new?template=device.yml&title=" +
                       encoded(plain_line("Device: " + report.fact("name")).substr(0, 100)) + "&report=";
    const std::string text = report_text(report);
    const std::string rest = encoded("# paste the whole report here: an address has no room for the rest\n");
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string line = encoded(std::string_view(text).substr(at, end - at));
        if (link.size() + line.size() + rest.size() > longest_link) return link + rest;
        link += line;
        at = end;
    }
    return link;
}

}  // namespace vkgemm::tool
