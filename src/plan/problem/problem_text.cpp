// SPDX-License-Identifier: MIT
#include "plan/problem/problem_text.h"

#include "plan/base/concat.h"
#include "plan/problem/problem_words.h"
#include "vkgemm/hash.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

string step_text(const EpilogueStep& s) {
    const StepInfo& step = info(s.kind);
    return string(step.text) + (step.has_bounds()  ? concat({numberText(s.low), ":", numberText(s.high)})
                                : step.has_slope() ? numberText(s.low)
                                                   : "");
}

Type or_default(Type type, Type by_default) { return type == VKGEMM_TYPE_DEFAULT ? by_default : type; }
Type type_of_d(const Problem& p) {
    const Type a = or_default(p.a.type, f32);
    return or_default(p.d.type, leading_type(a, or_default(p.b.type, a)).default_result);
}

char letter(Layout l) { return l == rowMajor ? 'n' : 't'; }

}  // namespace

string key_text(uint64_t key) {
    if (key == VKGEMM_PACKED_ANY) return "any";
    return hashText(key);
}

std::optional<Type> find_type(string_view name) {
    for (const TypeInfo& t : type_info)
        if (t.name == name) return t.type;
    return std::nullopt;
}

string types_text(const Problem& p) {
    const Type a = or_default(p.a.type, f32), b = or_default(p.b.type, a);
    return typesText(a, b, or_default(p.accumulate, leading_type(a, b).default_accumulator), type_of_d(p));
}

string to_text(const Problem& p, double alpha, double beta) {
    string s = concat({types_text(p), " ", p.m, "x", p.n, "x", p.k});
    if (p.accuracy != VKGEMM_ACCURACY_DEFAULT) s += concat({" accuracy=", accuracy_name(p.accuracy)});
    for (const auto& [option, value] : counting_options)
        if (p.*value != 1) s += concat({" ", option, p.*value});
    if (p.upTo) s += " upto=";
    for (size_t i = 0; i < up_to_letters.size(); ++i)
        if (p.upTo & 1u << i) s += up_to_letters[i];
    if (p.grouping != VKGEMM_GROUPING_NONE) s += concat({" groups=", grouping_words[p.grouping]});
    if (p.batchInvariant) s += " invariant";
    if (p.indicesPerRow > 1) s += concat({" per_row=", p.indicesPerRow});
    if (p.a.layout != rowMajor || p.b.layout != rowMajor)
        s += string(" layout=") + letter(p.a.layout) + letter(p.b.layout);
    if (p.d.layout != rowMajor) s += string(" layout_d=") + letter(p.d.layout);
    if (p.c.layout != default_c_layout(p)) s += string(" layout_c=") + letter(p.c.layout);
    const std::pair<char, const Matrix*> all[] = {{'a', &p.a}, {'b', &p.b}, {'c', &p.c}, {'d', &p.d}};
    for (const auto& [c, x] : all)
        if (x->ld) s += concat({" ld", c, "=", x->ld});
    for (const auto& [c, x] : all)
        if (x->batchStride) s += concat({" stride_", c, "=", x->batchStride == VKGEMM_BROADCAST ? 0 : x->batchStride});
    for (const auto& [option, value] : outer_stride_options)
        if (p.*value) s += concat({" ", option, p.*value == VKGEMM_BROADCAST ? 0 : p.*value});
    for (const auto& [c, key] : {std::pair{'a', p.packedA}, {'b', p.packedB}})
        if (key != VKGEMM_PACKED_NONE) s += concat({" packed_", c, "=", key_text(key)});
    if (alpha != 1) s += concat({" alpha=", numberText(alpha)});
    if (beta != 0) s += concat({" beta=", numberText(beta)});
    if (p.cSource == VKGEMM_C_SEPARATE) s += " c=separate";
    if (p.cSource == VKGEMM_C_IS_D && beta == 0) s += " c=d";
    if (p.cSource == VKGEMM_C_NONE && beta != 0) s += " c=none";
    for (const EpilogueStep& step : p.epilogue) s += concat({" ", step_text(step)});
    for (size_t i = 0, written = 0; i < std::size(scalar_words); ++i)
        if (p.scalars & 1u << i) s += concat({(written++ ? "," : " scalars="), scalar_words[i]});
    const Type d = type_of_d(p);
    struct Typed {
        string_view name;
        Type type, by_default;
    };
    for (const auto& [name, type, by_default] : {Typed{"c", p.c.type, d},
                                                 {"bias", p.biasType, default_factor_type(d)},
                                                 {"scale", p.scaleType, default_factor_type(d)},
                                                 {"residual", p.residualType, d}})
        if (type != VKGEMM_TYPE_DEFAULT && type != by_default) s += concat({" ", name, "_type=", info(type).name});
    return s;
}

}  // namespace vkgemm::plan
