// SPDX-License-Identifier: MIT
#include "plan/device/device_caps.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

constexpr string_view feature_ids[] = {
#define FEATURE(id, ...) #id,
#define FEATURE_EXTENSION(id, ...) #id,
#include "plan/device/features.def"
#undef FEATURE
#undef FEATURE_EXTENSION
};

constexpr string_view kinds[] = {"other", "integrated", "discrete", "virtual", "cpu"};

// The members that are one number, by name, for to_text() and parse_device_caps().
struct Number {
    string_view name;
    uint32_t DeviceCaps::*member32 = nullptr;
    uint64_t DeviceCaps::*member64 = nullptr;
};
constexpr Number numbers[] = {
    {"vendor", &DeviceCaps::vendor},
    {"device", &DeviceCaps::device},
    {"driver_version", &DeviceCaps::driver_version},
    {"api_version", &DeviceCaps::api_version},
    {"shared_bytes", &DeviceCaps::shared_bytes},
    {"max_invocations", &DeviceCaps::max_invocations},
    {"max_groups_x", &DeviceCaps::max_groups_x},
    {"max_groups_y", &DeviceCaps::max_groups_y},
    {"max_push_constant_bytes", &DeviceCaps::max_push_constant_bytes},
    {"max_storage_buffers", &DeviceCaps::max_storage_buffers},
    {"max_storage_range", nullptr, &DeviceCaps::max_storage_range},
    {"offset_alignment", &DeviceCaps::offset_alignment},
    {"subgroup_size", &DeviceCaps::subgroup_size},
    {"subgroup_min", &DeviceCaps::subgroup_min},
    {"subgroup_max", &DeviceCaps::subgroup_max},
    {"subgroup_required", &DeviceCaps::subgroup_required},
    {"max_subgroups", &DeviceCaps::max_subgroups},
    {"compute_units", &DeviceCaps::compute_units},
    {"queue_flags", &DeviceCaps::queue_flags},
    {"native_code", &DeviceCaps::native_code},
    {"native_use", &DeviceCaps::native_use},
};

std::vector<string_view> words(string_view s) {
    std::vector<string_view> out;
    while (!(s = trimmed(s)).empty()) {
        out.push_back(s.substr(0, s.find(' ')));
        s.remove_prefix(out.back().size());
    }
    return out;
}

// "f16 f16 f32 f32 16x16x16": A, B, accumulator, result, shape.
std::optional<MatrixShape> read_shape(string_view value) {
    const auto w = words(value);
    if (w.size() != 5) return std::nullopt;
    const auto a = find_type(w[0]), b = find_type(w[1]), acc = find_type(w[2]), r = find_type(w[3]);
    const size_t x1 = w[4].find('x'), x2 = w[4].rfind('x');
    if (!a || !b || !acc || !r || x1 == string_view::npos || x1 == x2) return std::nullopt;
    const auto m = readNumber<uint32_t>(w[4].substr(0, x1)), n = readNumber<uint32_t>(w[4].substr(x1 + 1, x2 - x1 - 1)),
               k = readNumber<uint32_t>(w[4].substr(x2 + 1));
    if (!m || !n || !k) return std::nullopt;
    return MatrixShape{.a = *a, .b = *b, .accumulate = *acc, .result = *r, .m = *m, .n = *n, .k = *k};
}

bool read_features(string_view value, FeatureSet& out) {
    for (string_view w : words(value)) {
        size_t i = 0;
        while (i < std::size(feature_ids) && feature_ids[i] != w) ++i;
        if (i == std::size(feature_ids)) return false;
        out |= FeatureSet{1} << i;
    }
    return true;
}

template <class N>
bool read_number(string_view value, N& to) {
    const auto number = readNumber<N>(value);
    if (number) to = *number;
    return number.has_value();
}

bool read_value(DeviceCaps& caps, string_view name, string_view value) {
    if (name == "name" || name == "driver") {
        (name == "name" ? caps.name : caps.driver) = value;
        return true;
    }
    if (name == "features") return read_features(value, caps.features);
    if (name == "matrix_shape") {
        const auto shape = read_shape(value);
        if (shape) caps.matrix_shapes.push_back(*shape);
        return shape.has_value();
    }
    if (name == "disabled") {
        const size_t bar = value.find('|');
        if (bar == string_view::npos) return false;
        caps.disabled.push_back({string(trimmed(value.substr(0, bar))), string(trimmed(value.substr(bar + 1)))});
        return true;
    }
    if (name == "kind") {
        const auto* const known = std::find(std::begin(kinds), std::end(kinds), value);
        if (known == std::end(kinds)) return false;
        caps.kind = DeviceKind(known - std::begin(kinds));
        return true;
    }
    for (const Number& n : numbers) {
        if (n.name != name) continue;
        return n.member32 ? read_number(value, caps.*n.member32) : read_number(value, caps.*n.member64);
    }
    return false;
}

}  // namespace

string feature_names(FeatureSet set) {
    string out;
    for (size_t i = 0; i < std::size(feature_ids); ++i)
        if (set >> i & 1) out += (out.empty() ? "" : " ") + string(feature_ids[i]);
    return out;
}

string to_text(const DeviceCaps& caps) {
    string out =
        concat({"name = ", caps.name, "\ndriver = ", caps.driver, "\nkind = ", kinds[size_t(caps.kind)], "\n"});
    for (const Number& n : numbers)
        out += concat(
            {n.name, " = ", (n.member32 ? std::to_string(caps.*n.member32) : std::to_string(caps.*n.member64)), "\n"});
    out += concat({"features = ", feature_names(caps.features), "\n"});
    for (const MatrixShape& s : caps.matrix_shapes)
        out += concat({"matrix_shape = ", info(s.a).name, " ", info(s.b).name, " ", info(s.accumulate).name, " ",
                       info(s.result).name, " ", s.m, "x", s.n, "x", s.k, "\n"});
    for (const DisabledKernel& x : caps.disabled) out += concat({"disabled = ", x.kernel, " | ", x.why, "\n"});
    return out;
}

Result<DeviceCaps> parse_device_caps(string_view text) {
    DeviceCaps out;
    for (int line = 1; !text.empty(); ++line) {
        string_view row = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), row.size() + 1));
        row = trimmed(row.substr(0, row.find('#')));
        if (row.empty()) continue;
        const size_t equals = row.find('=');
        const string_view name = trimmed(row.substr(0, equals)),
                          value = equals == string_view::npos ? string_view{} : trimmed(row.substr(equals + 1));
        if (equals == string_view::npos || !read_value(out, name, value))
            return Refusal{VKGEMM_ERROR_PARSE, concat({"device caps, line ", line, ": '", row,
                                                       "' is not a known name with a readable value"})};
    }
    return out;
}

}  // namespace vkgemm::plan
