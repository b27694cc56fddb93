// SPDX-License-Identifier: MIT
// Reads the text of a problem.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "plan/base/concat.h"
#include "plan/problem/problem_words.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

// What is being read, and where it began in the line.
struct Token {
    string_view text;
    size_t at;  // characters before it
};

Refusal wrong(size_t at, const string& why) { return {VKGEMM_ERROR_PARSE, concat({"character ", at + 1, ": ", why})}; }
// What is longer than any word of a problem is cut.
string quoted(string_view s) {
    constexpr size_t most = 60;
    return s.size() > most ? concat({"'", s.substr(0, most), "...'"}) : concat({"'", s, "'"});
}

// "'bais' is not known; did you mean 'bias'?"
template <class Range>
string not_one_of(string_view word, const Range& known) {
    string why = concat({quoted(word), " is not known"});
    if (const string_view near = nearestWord(word, known); !near.empty())
        return concat({why, "; did you mean ", quoted(near), "?"});
    why += "; it may be";
    for (const auto& k : known) why += concat({" ", k});
    return why;
}

std::vector<Token> split(string_view line) {
    std::vector<Token> out;
    for (size_t i = 0; i < line.size();) {
        const size_t begin = line.find_first_not_of(" \t\r\n", i);
        if (begin == string_view::npos) break;
        const size_t end = std::min(line.find_first_of(" \t\r\n", begin), line.size());
        out.push_back({line.substr(begin, end - begin), begin});
        i = end;
    }
    return out;
}

constexpr auto type_words = [] {
    std::array<string_view, std::size(type_info)> out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = type_info[i].name;
    return out;
}();

std::optional<Status> read_type(string_view word, size_t at, Type& out) {
    const std::optional<Type> type = find_type(word);
    if (!type) return wrong(at, not_one_of(word, type_words));
    out = *type;
    return std::nullopt;
}

std::optional<Status> read_types(const Token& token, Problem& p) {
    const string_view s = token.text;
    const size_t star = s.find('*');
    const size_t arrow = s.find("->", star), plus = s.find('+', star);
    const size_t end_b = std::min({plus, arrow, s.size()});
    if (auto r = read_type(s.substr(0, star), token.at, p.a.type)) return r;
    if (auto r = read_type(s.substr(star + 1, end_b - star - 1), token.at + star + 1, p.b.type)) return r;
    if (plus < std::min(arrow, s.size()))
        if (auto r =
                read_type(s.substr(plus + 1, std::min(arrow, s.size()) - plus - 1), token.at + plus + 1, p.accumulate))
            return r;
    if (arrow != string_view::npos)
        if (auto r = read_type(s.substr(arrow + 2), token.at + arrow + 2, p.d.type)) return r;
    return std::nullopt;
}

std::optional<Status> read_size(const Token& token, Problem& p) {
    string_view rest = token.text;
    size_t at = token.at;
    if (find_type(rest))
        return wrong(at, concat({quoted(rest), " is the type of one matrix; name those of A and B, as in ", rest, "*",
                                 (info(*find_type(rest)).is_plain() ? rest : "f16")}));
    for (auto [name, value] : {std::pair{'M', &p.m}, {'N', &p.n}, {'K', &p.k}}) {
        const string_view word = rest.substr(0, name == 'K' ? rest.size() : rest.find('x'));
        const auto number = readNumber<uint64_t>(word);
        if (!number)
            return wrong(at, concat({"the size is MxNxK, as in 64x128x256; ", name, " cannot be ", quoted(word)}));
        *value = *number;
        const size_t eaten = std::min(rest.size(), word.size() + 1);
        if (name != 'K' && eaten == rest.size())
            return wrong(at + word.size(), string("the size is MxNxK, as in 64x128x256; it ends after ") + name);
        rest.remove_prefix(eaten);
        at += eaten;
    }
    return std::nullopt;
}

std::optional<Layout> layout_of(char c) {
    if (c == 'n') return rowMajor;
    if (c == 't') return columnMajor;
    return std::nullopt;
}

// The options. There is one reader for each kind of value.
struct Reader {
    explicit Reader(ProblemText& to) : out(to) {}
    std::optional<Status> read(const Token& token);
    bool has(string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

   private:
    ProblemText& out;
    std::vector<string_view> keys;  // of the options so far

    template <class Number>
    std::optional<Status> number(string_view kind, string_view v, size_t at, Number& to) {
        const auto n = readNumber<Number>(v);
        if (!n) return wrong(at, concat({"a ", kind, " is wanted, not ", quoted(v)}));
        to = *n;
        return std::nullopt;
    }
    std::optional<Status> whole(string_view v, size_t at, uint64_t& to) { return number("whole number", v, at, to); }
    std::optional<Status> count(string_view v, size_t at, uint64_t& to) {
        if (auto r = whole(v, at, to)) return r;
        if (to == 0) return wrong(at, concat({"a batch is one matrix or more, not ", quoted(v)}));
        return std::nullopt;
    }
    std::optional<Status> real(string_view v, size_t at, double& to) { return number("number", v, at, to); }
    // The number of the word that `v` is, among `words`.
    template <class Words>
    std::optional<Status> word(string_view v, size_t at, const Words& words, size_t& number) {
        const auto found = std::ranges::find(words, v);
        if (found == std::end(words)) return wrong(at, not_one_of(v, words));
        number = static_cast<size_t>(found - std::begin(words));
        return std::nullopt;
    }
    std::optional<Status> stride(string_view v, size_t at, uint64_t& to) {
        if (auto r = whole(v, at, to)) return r;
        if (to == 0) to = VKGEMM_BROADCAST;
        return std::nullopt;
    }
    std::optional<Status> layout(string_view v, size_t at, std::initializer_list<Layout*> to) {
        if (v.size() != to.size())
            return wrong(at, concat({quoted(v), " should be ", (to.size() == 2 ? "nn, nt, tn or tt" : "n or t")}));
        size_t i = 0;
        for (Layout* l : to) {
            const auto x = layout_of(v[i]);
            if (!x)
                return wrong(at + i,
                             concat({quoted(v.substr(i, 1)), " is not a layout; n is row-major, t column-major"}));
            *l = *x;
            ++i;
        }
        return std::nullopt;
    }
    std::optional<Status> add(size_t at, const EpilogueStep& s) {
        if (out.problem.epilogue.count == VKGEMM_MAX_EPILOGUE_STEPS)
            return wrong(at, concat({"an epilogue has at most ", VKGEMM_MAX_EPILOGUE_STEPS, " steps"}));
        out.problem.epilogue.add(s);
        return std::nullopt;
    }
    // A step whose key this is: one word of several, bounds, or the key alone.
    std::optional<Status> step(string_view key, string_view v, size_t at) {
        std::vector<string_view> known;
        const StepInfo* bounded = nullptr;
        for (const StepInfo& s : step_info) {
            if (s.key() != key) continue;
            if (s.has_slope()) return slope(s, v, at);
            if (s.has_bounds()) bounded = &s;
            if (s.has_bounds()) continue;
            const string_view word = s.text.substr(key.size());
            if (word == v) return add(at - (v.empty() ? key.size() : 0), {s.kind});
            known.push_back(word);
        }
        return bounded ? bounds(*bounded, v, at) : wrong(at, not_one_of(v, known));
    }
    std::optional<Status> bounds(const StepInfo& step, string_view v, size_t at) {
        const size_t colon = v.find(':');
        const string name(step.text.substr(0, step.text.size() - 1));
        if (colon == string_view::npos) return wrong(at, concat({name, " is LOW:HIGH, as in ", name, "=-1:1"}));
        EpilogueStep s = {step.kind, 0, 0};
        if (auto r = bound(v.substr(0, colon), at, s.low)) return r;
        if (auto r = bound(v.substr(colon + 1), at + colon + 1, s.high)) return r;
        return add(at, s);
    }
    std::optional<Status> slope(const StepInfo& step, string_view v, size_t at) {
        EpilogueStep s = {step.kind, 0, 0};
        if (auto r = bound(v, at, s.low)) return r;
        return add(at, s);
    }
    std::optional<Status> bound(string_view v, size_t at, float& to) {
        const auto n = readNumber<float>(v);
        const auto wide = n ? *n : readNumber<double>(v);
        if (!wide) return wrong(at, concat({"a number is wanted, not ", quoted(v)}));
        if (!n && std::abs(*wide) > 1) return wrong(at, concat({quoted(v), " is not within the range of f32"}));
        to = n ? *n : static_cast<float>(*wide);
        return std::nullopt;
    }
    std::optional<Status> accuracy(string_view v, size_t at) {
        constexpr VkgemmAccuracy all[] = {
            VKGEMM_ACCURACY_DEFAULT, VKGEMM_ACCURACY_F32_SPLIT, VKGEMM_ACCURACY_F32_SPLIT_ROWS, VKGEMM_ACCURACY_NARROW,
            VKGEMM_ACCURACY_MXINT8,  VKGEMM_ACCURACY_F64_SPLIT, VKGEMM_ACCURACY_F64_SPLIT_WIDE};
        std::vector<string_view> names;
        for (const VkgemmAccuracy a : all) names.push_back(accuracy_name(a));
        size_t number = 0;
        if (auto r = word(v, at, names, number)) return r;
        out.problem.accuracy = all[number];
        return std::nullopt;
    }
    std::optional<Status> packed(string_view v, size_t at, uint64_t& to) {
        if (v == "any") {
            to = VKGEMM_PACKED_ANY;
            return std::nullopt;
        }
        const auto [end, error] = std::from_chars(v.data(), v.data() + v.size(), to, 16);
        const bool is_key = error == std::errc{} && end == v.data() + v.size() && v.size() == key_digits &&
                            to != VKGEMM_PACKED_NONE && to != VKGEMM_PACKED_ANY;
        if (!is_key)
            return wrong(at, concat({"any, or the 16 hexadecimal digits of a key, is wanted, not ", quoted(v)}));
        return std::nullopt;
    }
    // "mk": the letters of sizes, each once.
    std::optional<Status> up_to(string_view v, size_t at) {
        for (size_t i = 0; i < v.size(); ++i) {
            const size_t bit = up_to_letters.find(v[i]);
            if (bit == string_view::npos)
                return wrong(
                    at + i, concat({quoted(v.substr(i, 1)), " is not a size; m, n, k, b (batch) and s (strides) are"}));
            if (out.problem.upTo & 1u << bit) return wrong(at + i, concat({quoted(v.substr(i, 1)), " comes twice"}));
            out.problem.upTo |= 1u << bit;
        }
        return v.empty() ? std::optional<Status>(wrong(at, "a size is wanted: m, n, k, b (batch) or s (strides)"))
                         : std::nullopt;
    }
    // "alpha,monitor": names of bits, each once.
    std::optional<Status> scalars(string_view v, size_t at) {
        while (true) {
            const string_view word = v.substr(0, v.find(','));
            const auto* const known = std::find(std::begin(scalar_words), std::end(scalar_words), word);
            if (known == std::end(scalar_words)) return wrong(at, not_one_of(word, scalar_words));
            const uint32_t bit = 1u << (known - std::begin(scalar_words));
            if (out.problem.scalars & bit) return wrong(at, concat({quoted(word), " comes twice"}));
            out.problem.scalars |= bit;
            if (word.size() == v.size()) return std::nullopt;
            v.remove_prefix(word.size() + 1);
            at += word.size() + 1;
        }
    }
    std::optional<Status> grouping(string_view v, size_t at) {
        size_t number = 0;
        if (auto r = word(v, at, std::span(grouping_words).subspan(1), number)) return r;
        out.problem.grouping = VkgemmGrouping(number + 1);
        return std::nullopt;
    }
    std::optional<Status> per_row(string_view v, size_t at) {
        uint64_t n = 0;
        if (auto r = whole(v, at, n)) return r;
        if (n == 0 || n > UINT32_MAX) return wrong(at, concat({"1 to ", UINT32_MAX, " indices share a row, not ", n}));
        out.problem.indicesPerRow = static_cast<uint32_t>(n);
        return std::nullopt;
    }
    std::optional<Status> c_source(string_view v, size_t at) {
        constexpr string_view words[] = {"none", "d", "separate"};
        size_t number = 0;
        if (auto r = word(v, at, words, number)) return r;
        out.problem.cSource = VkgemmC(number);
        return std::nullopt;
    }
};

// clang-format off
constexpr string_view option_words[] = {
    "batch=", "layout=", "layout_c=", "layout_d=", "lda=", "ldb=", "ldc=", "ldd=", "stride_a=", "stride_b=",
    "stride_c=", "stride_d=", "alpha=", "beta=", "c=", "accuracy=", "packed_a=", "packed_b=", "upto=",
    "groups=", "per_row=", "outer=", "outer_stride_a=", "outer_stride_b=", "outer_stride_c=",
    "outer_stride_d=", "ratio_a=", "ratio_b=", "outer_ratio_a=", "outer_ratio_b=", "invariant", "c_type=",
    "bias_type=", "scale_type=", "residual_type=", "scalars="};
// clang-format on

bool is_step_key(string_view key) {
    return std::any_of(std::begin(step_info), std::end(step_info), [&](const StepInfo& s) { return s.key() == key; });
}

// A word without its option, as in "relu" or "nt": the option that is meant, or "".
string_view option_of(string_view word) {
    for (const StepInfo& s : step_info)
        if (s.text.substr(s.key().size()) == word && !word.empty()) return s.text;
    for (const string_view option : {"layout=nn", "layout=nt", "layout=tn", "layout=tt", "accuracy=f32_split"})
        if (option.substr(option.find('=') + 1) == word) return option;
    return {};
}

std::optional<Status> Reader::read(const Token& token) {
    Problem& p = out.problem;
    const size_t equals = token.text.find('=');
    const string_view key = token.text.substr(0, equals == string_view::npos ? token.text.size() : equals + 1);
    const string_view v = token.text.substr(key.size());
    const size_t at = token.at + key.size();
    if (is_step_key(key)) return step(key, v, at);  // steps may share a key
    if (has(key)) return wrong(token.at, concat({quoted(key), " comes twice"}));
    keys.push_back(key);
    for (const auto& [option, value] : counting_options)
        if (key == option) return count(v, at, p.*value);
    for (const auto& [option, value] : outer_stride_options)
        if (key == option) return stride(v, at, p.*value);
    if (key == "layout=") return layout(v, at, {&p.a.layout, &p.b.layout});
    if (key == "layout_c=") return layout(v, at, {&p.c.layout});
    if (key == "layout_d=") return layout(v, at, {&p.d.layout});
    for (auto [letter, x] : {std::pair{'a', &p.a}, {'b', &p.b}, {'c', &p.c}, {'d', &p.d}}) {
        if (key == concat({"ld", letter, "="})) return whole(v, at, x->ld);
        if (key == concat({"stride_", letter, "="})) return stride(v, at, x->batchStride);
    }
    for (auto [name, type] :
         {std::pair{"c", &p.c.type}, {"bias", &p.biasType}, {"scale", &p.scaleType}, {"residual", &p.residualType}})
        if (key == concat({name, "_type="})) return read_type(v, at, *type);
    if (key == "alpha=") return real(v, at, out.alpha);
    if (key == "beta=") return real(v, at, out.beta);
    if (key == "c=") return c_source(v, at);
    if (key == "accuracy=") return accuracy(v, at);
    if (key == "packed_a=") return packed(v, at, p.packedA);
    if (key == "packed_b=") return packed(v, at, p.packedB);
    if (key == "upto=") return up_to(v, at);
    if (key == "scalars=") return scalars(v, at);
    if (key == "groups=") return grouping(v, at);
    if (key == "per_row=") return per_row(v, at);
    if (key == "invariant") {
        p.batchInvariant = true;
        return std::nullopt;
    }
    if (const string_view option = option_of(token.text); !option.empty())
        return wrong(token.at, concat({quoted(token.text), " is not known; did you mean ", quoted(option), "?"}));
    std::vector<string_view> known(std::begin(option_words), std::end(option_words));
    for (const StepInfo& s : step_info)
        if (std::find(known.begin(), known.end(), s.key()) == known.end()) known.push_back(s.key());
    return wrong(token.at, not_one_of(key, known));
}

}  // namespace

Result<ProblemText> parse_problem(string_view line) {
    ProblemText out;
    const std::vector<Token> tokens = split(line);
    size_t i = 0;
    if (i < tokens.size() && tokens[i].text.find('*') != string_view::npos)
        if (auto r = read_types(tokens[i++], out.problem)) return *r;
    if (i == tokens.size()) return wrong(line.size(), "a size is missing: MxNxK, as in 64x128x256");
    if (auto r = read_size(tokens[i++], out.problem)) return *r;
    Reader reader(out);
    for (; i < tokens.size(); ++i)
        if (auto r = reader.read(tokens[i])) return *r;
    Problem& p = out.problem;
    if (out.beta != 0 && !reader.has("c=")) p.cSource = VKGEMM_C_IS_D;
    if (!reader.has("layout_c=")) p.c.layout = default_c_layout(p);
    return out;
}

}  // namespace vkgemm::plan
