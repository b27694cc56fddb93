// SPDX-License-Identifier: MIT
#include "host/capture.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "vkgemm/hash.hpp"

namespace vkgemm::host::detail {
namespace {

using std::string;
using std::string_view;
using std::to_string;

constexpr string_view magic = "vkgemm-capture ";
constexpr size_t longest_line = 4096;  // characters
constexpr const char* slots[] = {"a",         "b",      "c",       "d",       "bias", "scale", "residual",
                                 "workspace", "groups", "indices", "scalars", "b2",   "bias2"};  // by VkgemmSlot

Status refused(string why) { return {VKGEMM_ERROR_PARSE, VK_SUCCESS, std::move(why)}; }

template <class Number>
bool read(string_view text, Number& out, int base = 10) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
    return error == std::errc() && end == text.data() + text.size();
}

/// A line of the header after another.
class Header {
   public:
    explicit Header(string_view text) : text_(text) {}

    size_t line() const { return line_; }
    size_t at() const { return at_; }  // bytes read

    /// The next line; false where there is none that ends.
    bool next(string_view& out) {
        const size_t end = text_.substr(at_, longest_line).find('\n');
        ++line_;
        if (end == string_view::npos) return false;
        out = text_.substr(at_, end);
        at_ += end + 1;
        return true;
    }
    /// What follows `name` in the next line.
    Status value(string_view name, string& out) {
        string_view line;
        if (!next(line)) return wrong("'" + string(name) + "' is wanted, and the file ends or the line does not");
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ')
            return wrong("'" + string(name) + " ...' is wanted, not '" + string(line.substr(0, 60)) + "'");
        if (line.find('\0') != string_view::npos) return wrong("a zero byte, which no text has");
        out = line.substr(name.size() + 1);
        return {};
    }
    template <class Number>
    Status number(string_view name, Number& out) {
        string text;
        if (Status s = value(name, text); !s) return s;
        return read(text, out) ? Status{}
                               : wrong("a whole number is wanted after '" + string(name) + "', not '" + text + "'");
    }
    Status wrong(const string& why) const { return refused("line " + to_string(line_) + ": " + why); }

   private:
    string_view text_;
    size_t at_ = 0, line_ = 0;
};

/// "BYTES CHECKSUM"
bool read_sum(string_view text, uint64_t& bytes, uint64_t& sum) {
    const size_t blank = text.find(' ');
    return blank != string_view::npos && read(text.substr(0, blank), bytes) && text.size() - blank == 17 &&
           read(text.substr(blank + 1), sum, 16);
}

bool read_result(string_view text, Capture& c) {
    constexpr string_view unknown = " unknown";
    c.hasResult = !text.ends_with(unknown);
    return c.hasResult ? read_sum(text, c.resultBytes, c.resultChecksum)
                       : read(text.substr(0, text.size() - unknown.size()), c.resultBytes);
}

/// What the header promises of an operand.
struct Promise {
    VkgemmSlot slot;
    uint64_t bytes, sum;
};

Status read_first(Header& h) {
    string_view line;
    uint32_t format = 0;
    if (!h.next(line) || !line.starts_with(magic))
        return h.wrong("this is not a capture: it does not begin with 'vkgemm-capture'");
    if (!read(line.substr(magic.size()), format) || format != VKGEMM_CAPTURE_FORMAT)
        return h.wrong("this is a capture of format '" + string(line.substr(magic.size(), 20)) +
                       "', and this vkgemm reads format " + to_string(VKGEMM_CAPTURE_FORMAT));
    return {};
}

Status read_words(Header& h, Capture& c) {
    for (const auto& [name, to] :
         {std::pair{"version", &c.version}, {"device", &c.device}, {"driver", &c.driver}, {"problem", &c.problem}})
        if (Status s = h.value(name, *to); !s) return s;
    if (const auto problem = parseProblem(c.problem.c_str()); !problem)
        return h.wrong("in the problem, " + problem.status().text);
    for (const auto& [name, to] : {std::pair{"kernel", &c.kernel}, {"tile", &c.tile}})
        if (Status s = h.value(name, *to); !s) return s;
    string operands;
    if (Status s = h.value("operands", operands); !s) return s;
    if (operands != "addresses" && operands != "descriptors")
        return h.wrong("operands are 'addresses' or 'descriptors', not '" + operands + "'");
    c.addresses = operands == "addresses";
    if (Status s = h.number("alignment", c.alignment); !s) return s;
    if (c.alignment == 0 || (c.alignment & (c.alignment - 1)))
        return h.wrong("the alignment is " + to_string(c.alignment) + ", not a power of two");
    return h.number("workspace", c.workspace);
}

/// The operands' lines and the result's, and `data`.
Status read_promises(Header& h, Capture& c, std::vector<Promise>& out) {
    for (string_view line; h.next(line);) {
        if (line.starts_with("result ")) {
            if (!read_result(line.substr(7), c))
                return h.wrong("a result is its bytes and their checksum of 16 digits, or 'unknown', not '" +
                               string(line.substr(7, 60)) + "'");
            const bool ends = h.next(line) && line == "data";
            return ends ? Status{} : h.wrong("'data' is wanted after the result");
        }
        const auto* const slot = std::ranges::find_if(
            slots, [&](const char* name) { return line.starts_with("operand " + string(name) + " "); });
        Promise p{static_cast<VkgemmSlot>(slot - std::begin(slots)), 0, 0};
        if (slot == std::end(slots) || !is_captured(p.slot) ||
            !read_sum(line.substr(9 + std::strlen(*slot)), p.bytes, p.sum))
            return h.wrong("'operand SLOT BYTES CHECKSUM' or 'result BYTES CHECKSUM' is wanted, not '" +
                           string(line.substr(0, 60)) + "'");
        if (p.bytes == 0) return h.wrong("operand " + string(*slot) + " has no bytes; then it has no line");
        if (std::ranges::find(out, p.slot, &Promise::slot) != out.end())
            return h.wrong("operand " + string(*slot) + " comes twice");
        out.push_back(p);
    }
    return h.wrong("the file ends within its header");
}

}  // namespace

const char* slot_name(VkgemmSlot slot) { return slots[std::min<size_t>(slot, std::size(slots) - 1)]; }

uint64_t checksum(std::span<const std::byte> bytes) { return hashOf(bytes); }

Result<Capture> parse_capture(string_view text) {
    Header h(text);
    Capture c;
    std::vector<Promise> promises;
    if (Status s = read_first(h); !s) return s;
    if (Status s = read_words(h, c); !s) return s;
    c.hasData = h.at() != text.size();
    if (!c.hasData) return c;
    if (Status s = read_promises(h, c, promises); !s) return s;
    size_t at = h.at();
    for (const Promise& p : promises) {
        const string name = string("operand ") + slot_name(p.slot);
        if (p.bytes > text.size() - at)
            return refused("byte " + to_string(text.size()) + ": the file ends within " + name + ", " +
                           to_string(p.bytes - (text.size() - at)) + " bytes too early");
        const auto bytes = std::as_bytes(std::span(text.substr(at, p.bytes)));
        if (checksum(bytes) != p.sum)
            return refused("byte " + to_string(at) + ": " + name + " is damaged: its checksum is " +
                           hashText(checksum(bytes)) + ", not " + hashText(p.sum));
        c.operands.push_back({p.slot, {bytes.begin(), bytes.end()}});
        at += p.bytes;
    }
    if (at != text.size())
        return refused("byte " + to_string(at) + ": " + to_string(text.size() - at) + " bytes too many");
    return c;
}

}  // namespace vkgemm::host::detail

namespace vkgemm::host {

Result<Capture> parseCapture(std::string_view text) { return detail::parse_capture(text); }

}  // namespace vkgemm::host
