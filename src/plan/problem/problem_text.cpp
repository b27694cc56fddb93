// SPDX-License-Identifier: MIT
#include "plan/problem/problem_text.h"

#include <cmath>

#include "plan/base/string_util.h"

namespace vkgemm::plan {
namespace {

using std::string;
using std::string_view;

// What is being read, and where it began in the line.
struct Token {
    string_view text;
    size_t at;  // characters before it
};

Refusal wrong(size_t at, string why) {
    return {Refusal::parse, "character " + std::to_string(at + 1) + ": " + std::move(why)};
}
string quoted(string_view s) { return "'" + string(s) + "'"; }

// "'bais' is not known; did you mean 'bias'?"
template <class Range>
string not_one_of(string_view word, const Range& known) {
    string why = quoted(word) + " is not known";
    if (const string_view near = nearest_word(word, known); !near.empty())
        return why + "; did you mean " + quoted(near) + "?";
    why += "; it may be";
    for (const auto& k : known) why += " " + string(k);
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
    for (const TypeInfo& t : type_info) out[static_cast<size_t>(t.type)] = t.name;
    return out;
}();

std::optional<Refusal> read_type(string_view word, size_t at, std::optional<Type>& out) {
    for (const TypeInfo& t : type_info)
        if (t.name == word) return out = t.type, std::nullopt;
    return wrong(at, not_one_of(word, type_words));
}

std::optional<Refusal> read_types(const Token& token, Problem& p) {
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

std::optional<Refusal> read_size(const Token& token, Problem& p) {
    string_view rest = token.text;
    size_t at = token.at;
    for (auto [name, value] : {std::pair{'M', &p.m}, {'N', &p.n}, {'K', &p.k}}) {
        const string_view word = rest.substr(0, name == 'K' ? rest.size() : rest.find('x'));
        const auto number = read_number<uint64_t>(word);
        if (!number)
            return wrong(at, string("the size is MxNxK, as in 64x128x256; ") + name + " cannot be " + quoted(word));
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
    if (c == 'n') return Layout::row_major;
    if (c == 't') return Layout::column_major;
    return std::nullopt;
}

// The options. One reader per kind of value; a row says which option takes which.
struct Reader {
    explicit Reader(ProblemText& to) : out(to) {}
    std::optional<Refusal> read(const Token& token);
    bool said(string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

   private:
    ProblemText& out;
    std::vector<string_view> keys;  // of the options so far
    size_t steps = 0;

    std::optional<Refusal> whole(string_view v, size_t at, uint64_t& to) {
        const auto n = read_number<uint64_t>(v);
        if (!n) return wrong(at, "a whole number is wanted, not " + quoted(v));
        return to = *n, std::nullopt;
    }
    std::optional<Refusal> real(string_view v, size_t at, double& to) {
        const auto n = read_number<double>(v);
        if (!n) return wrong(at, "a number is wanted, not " + quoted(v));
        return to = *n, std::nullopt;
    }
    std::optional<Refusal> stride(string_view v, size_t at, uint64_t& to) {
        if (auto r = whole(v, at, to)) return r;
        if (to == 0) to = broadcast;
        return std::nullopt;
    }
    std::optional<Refusal> layout(string_view v, size_t at, std::initializer_list<Layout*> to) {
        if (v.size() != to.size())
            return wrong(at, quoted(v) + " should be " + (to.size() == 2 ? "nn, nt, tn or tt" : "n or t"));
        size_t i = 0;
        for (Layout* l : to) {
            const auto x = layout_of(v[i]);
            if (!x) return wrong(at + i, quoted(v.substr(i, 1)) + " is not a layout; n is row-major, t column-major");
            *l = *x, ++i;
        }
        return std::nullopt;
    }
    std::optional<Refusal> step(size_t at, EpilogueStep s) {
        if (steps == max_epilogue_steps)
            return wrong(at, "an epilogue has at most " + std::to_string(max_epilogue_steps) + " steps");
        out.problem.epilogue[steps++] = s;
        return std::nullopt;
    }
    struct Word {
        string_view word;
        StepKind kind;
    };
    std::optional<Refusal> step_word(string_view v, size_t at, std::initializer_list<Word> words) {
        std::vector<string_view> known;
        for (const Word& w : words) {
            if (w.word == v) return step(at, {w.kind, 0, 0});
            known.push_back(w.word);
        }
        return wrong(at, not_one_of(v, known));
    }
    std::optional<Refusal> clamp(string_view v, size_t at) {
        const size_t colon = v.find(':');
        if (colon == string_view::npos) return wrong(at, "clamp is LOW:HIGH, as in clamp=-1:1");
        EpilogueStep s = {StepKind::clamp, 0, 0};
        if (auto r = bound(v.substr(0, colon), at, s.low)) return r;
        if (auto r = bound(v.substr(colon + 1), at + colon + 1, s.high)) return r;
        return step(at, s);
    }
    std::optional<Refusal> bound(string_view v, size_t at, float& to) {
        const auto n = read_number<float>(v);
        const auto wide = n ? *n : read_number<double>(v);
        if (!wide) return wrong(at, "a number is wanted, not " + quoted(v));
        if (!n && std::abs(*wide) > 1) return wrong(at, quoted(v) + " is not within the range of f32");
        return to = n ? *n : static_cast<float>(*wide), std::nullopt;
    }
    std::optional<Refusal> accuracy(string_view v, size_t at) {
        std::vector<string_view> known;
        for (const Accuracy a : {Accuracy::arithmetic, Accuracy::f32_split, Accuracy::f32_split_rows}) {
            if (v == accuracy_name(a)) return out.problem.accuracy = a, std::nullopt;
            known.push_back(accuracy_name(a));
        }
        return wrong(at, not_one_of(v, known));
    }
    std::optional<Refusal> c_source(string_view v, size_t at) {
        constexpr string_view words[] = {"none", "d", "separate"};
        for (size_t i = 0; i < std::size(words); ++i)
            if (v == words[i]) return out.problem.c_source = CSource(i), std::nullopt;
        return wrong(at, not_one_of(v, words));
    }
};

constexpr string_view option_words[] = {"batch=", "layout=", "layout_c=", "layout_d=", "lda=",      "ldb=",
                                        "ldc=",   "ldd=",    "stride_a=", "stride_b=", "stride_c=", "stride_d=",
                                        "alpha=", "beta=",   "c=",        "bias=",     "scale=",    "residual",
                                        "act=",   "clamp=",  "accuracy="};
constexpr string_view step_words[] = {"bias=", "scale=", "residual", "act=", "clamp="};  // which may come again

std::optional<Refusal> Reader::read(const Token& token) {
    Problem& p = out.problem;
    const size_t equals = token.text.find('=');
    const string_view key = token.text.substr(0, equals == string_view::npos ? token.text.size() : equals + 1);
    const string_view v = token.text.substr(key.size());
    const size_t at = token.at + key.size();
    const bool is_step = std::find(std::begin(step_words), std::end(step_words), key) != std::end(step_words);
    if (!is_step && said(key)) return wrong(token.at, quoted(key) + " comes twice");
    keys.push_back(key);
    if (key == "batch=") {
        if (auto r = whole(v, at, p.batch)) return r;
        if (p.batch == 0) return wrong(at, "a batch is one matrix or more, not " + quoted(v));
        return std::nullopt;
    }
    if (key == "layout=") return layout(v, at, {&p.a.layout, &p.b.layout});
    if (key == "layout_c=") return layout(v, at, {&p.c.layout});
    if (key == "layout_d=") return layout(v, at, {&p.d.layout});
    for (auto [letter, x] : {std::pair{'a', &p.a}, {'b', &p.b}, {'c', &p.c}, {'d', &p.d}}) {
        if (key == string("ld") + letter + "=") return whole(v, at, x->ld);
        if (key == string("stride_") + letter + "=") return stride(v, at, x->stride);
    }
    if (key == "alpha=") return real(v, at, out.alpha);
    if (key == "beta=") return real(v, at, out.beta);
    if (key == "c=") return c_source(v, at);
    if (key == "bias=") return step_word(v, at, {{"row", StepKind::bias_row}, {"col", StepKind::bias_col}});
    if (key == "scale=")
        return step_word(v, at,
                         {{"row", StepKind::scale_row}, {"col", StepKind::scale_col}, {"all", StepKind::scale_all}});
    if (key == "act=")
        return step_word(v, at, {{"relu", StepKind::relu}, {"gelu", StepKind::gelu}, {"silu", StepKind::silu}});
    if (key == "clamp=") return clamp(v, at);
    if (key == "accuracy=") return accuracy(v, at);
    if (key == "residual") return step(token.at, {StepKind::residual, 0, 0});
    for (const string_view option : {"layout=nn", "layout=nt", "layout=tn", "layout=tt", "bias=row", "bias=col",
                                     "act=relu", "act=gelu", "act=silu", "accuracy=f32_split"})
        if (option.substr(option.find('=') + 1) == token.text)
            return wrong(token.at, quoted(token.text) + " is not known; did you mean " + quoted(option) + "?");
    return wrong(token.at, not_one_of(key, option_words));
}

// Where a line does not say it: a C of its own lies as D does; any other is not described.
Layout unsaid_c_layout(const Problem& p) { return p.c_source == CSource::separate ? p.d.layout : Layout::row_major; }

string step_text(const EpilogueStep& s) {
    constexpr string_view words[] = {"",          "bias=row", "bias=col", "scale=row", "scale=col",
                                     "scale=all", "residual", "act=relu", "act=gelu",  "act=silu"};
    if (s.kind == StepKind::clamp) return "clamp=" + number_text(s.low) + ":" + number_text(s.high);
    return string(words[size_t(s.kind)]);
}

char letter(Layout l) { return l == Layout::row_major ? 'n' : 't'; }

string types_text(const Problem& p) {
    const Type a = p.a.type.value_or(Type::f32);
    const Type acc = p.accumulate.value_or(info(a).default_accumulator), d = p.d.type.value_or(info(a).default_result);
    return string(info(a).name) + "*" + string(info(p.b.type.value_or(a)).name) + "+" + string(info(acc).name) + "->" +
           string(info(d).name);
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
    if (out.beta != 0 && !reader.said("c=")) p.c_source = CSource::is_d;
    if (!reader.said("layout_c=")) p.c.layout = unsaid_c_layout(p);
    return out;
}

string to_text(const Problem& p, double alpha, double beta) {
    string s = types_text(p) + " " + std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
    if (p.accuracy != Accuracy::arithmetic) s += " accuracy=" + string(accuracy_name(p.accuracy));
    if (p.batch != 1) s += " batch=" + std::to_string(p.batch);
    if (p.a.layout != Layout::row_major || p.b.layout != Layout::row_major)
        s += string(" layout=") + letter(p.a.layout) + letter(p.b.layout);
    if (p.d.layout != Layout::row_major) s += string(" layout_d=") + letter(p.d.layout);
    if (p.c.layout != unsaid_c_layout(p)) s += string(" layout_c=") + letter(p.c.layout);
    const std::pair<char, const Matrix*> all[] = {{'a', &p.a}, {'b', &p.b}, {'c', &p.c}, {'d', &p.d}};
    for (const auto& [c, x] : all)
        if (x->ld) s += string(" ld") + c + "=" + std::to_string(x->ld);
    for (const auto& [c, x] : all)
        if (x->stride) s += string(" stride_") + c + "=" + std::to_string(x->stride == broadcast ? 0 : x->stride);
    if (alpha != 1) s += " alpha=" + number_text(alpha);
    if (beta != 0) s += " beta=" + number_text(beta);
    if (p.c_source == CSource::separate) s += " c=separate";
    if (p.c_source == CSource::is_d && beta == 0) s += " c=d";
    if (p.c_source == CSource::none && beta != 0) s += " c=none";
    for (const EpilogueStep& step : p.epilogue)
        if (step.kind != StepKind::none) s += " " + step_text(step);
    return s;
}

}  // namespace vkgemm::plan
