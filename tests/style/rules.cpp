// SPDX-License-Identifier: MIT
#include "style/rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "style/tokens.h"

namespace vkgemm::test {
namespace {

using Rule = Finding::Rule;
constexpr size_t most_fields = 3, most_lines = 60, most_parameters = 6;

template <size_t N>
bool is_one_of(const std::string& text, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_assignment(const Token& token) {
    constexpr std::array<std::string_view, 11> marks = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    return is_one_of(token.text, marks);
}

bool is_word(const Token& token) { return token.kind == Token::Kind::word; }

bool is_list_name(const std::string& word) {
    constexpr std::array<std::string_view, 7> lists = {"vector",        "array", "initializer_list", "set", "map",
                                                       "unordered_map", "string"};
    return is_one_of(word, lists);
}

// The statement so far, without what its brackets hold: f(a)[b] = {c} is f ( ) [ ] = { }.
using Statement = Tokens;

bool has_mark(const Statement& s, std::string_view mark) {
    return std::any_of(s.begin(), s.end(), [&](const Token& t) { return t.text == mark; });
}

// Words that begin a declaration or a statement that is not an expression.
bool begins_with_keyword(const Statement& s) {
    constexpr std::array<std::string_view, 30> words = {
        "auto",    "const", "constexpr",    "static",  "using",    "typedef",  "extern", "template",
        "friend",  "enum",  "struct",       "class",   "union",    "unsigned", "signed", "static_assert",
        "goto",    "break", "inline",       "layout",  "case",     "public",   "return", "co_return",
        "private", "throw", "thread_local", "mutable", "volatile", "asm"};
    return is_word(s.front()) && is_one_of(s.front().text, words);
}

// Whether a type stands before a name in tokens [0, end): const T x, T& x, std::pair<A, B> x.
bool has_declared_name(const Statement& s, size_t end) {
    for (size_t i = 1; i < end; ++i) {
        if (!is_word(s[i])) continue;
        const std::string& before = s[i - 1].text;
        if (is_word(s[i - 1]) || before == ">") return true;
        if (i > 1 && (before == "*" || before == "&" || before == "&&") && (is_word(s[i - 2]) || s[i - 2].text == ">"))
            return true;
    }
    return false;
}

size_t first_of(const Statement& s, auto&& wanted) {
    return static_cast<size_t>(std::find_if(s.begin(), s.end(), wanted) - s.begin());
}

enum class Place { scope, type, function, block, list };  // what a pair of braces encloses

struct Braces {
    Place place = Place::block;
    Statement statement = {};  // the one being read inside
    size_t brackets = 0;       // ( and [ that are open inside
    size_t commas = 0;         // between elements of a list
    bool named = false;        // a list's first element begins with '.', or is a key of JSON with its value
    bool has_fields = false;   // a list whose elements are fields of a struct
    bool is_return = false;    // of what a function returns
    size_t first_line = 1;     // of the statement that it belongs to
};

class Reader {
   public:
    Reader(const Tokens& tokens, const std::vector<std::string>& lists, Place outside)
        : tokens_(tokens), lists_(lists) {
        open_.push_back({.place = outside});
    }

    std::vector<Finding> read() {
        for (at_ = 0; at_ < tokens_.size(); ++at_) take(tokens_[at_]);
        end_macro();
        return std::move(found_);
    }

   private:
    Braces& here() { return open_.back(); }
    const std::string& text(size_t i) const {
        static const std::string none;
        return i < tokens_.size() ? tokens_[i].text : none;
    }

    void take(const Token& token) {
        if (token.text == "{") return open_braces();
        if (token.text == "}") return close_braces();
        if (token.text == "(" || token.text == "[") {
            if (here().brackets++ == 0) here().statement.push_back(token);
            return;
        }
        if ((token.text == ")" || token.text == "]") && here().brackets > 0) {
            if (--here().brackets == 0) close_bracket(token);
            return;
        }
        if (token.text == "<") at_ = end_of_template_arguments();
        if (token.text == "const_cast") add(Rule::const_cast_used, token.line, "const_cast");
        if (here().brackets > 0) return;
        if (token.text == ";") return end_statement();
        if (token.text == ",") ++here().commas;
        here().statement.push_back(tokens_[at_]);
        if (here().place == Place::list) {
            if (here().statement.size() == 1) here().named = token.text == ".";
        } else if (ends_label(token) || token.text == "else" || token.text == "do") {
            here().statement.clear();
        }
    }

    bool is_shift(size_t i) const { return text(i) == "<" && text(i + 1) == "<"; }
    // size_t{N}
    bool is_braced_word(size_t i) const { return text(i) == "{" && text(i + 2) == "}"; }

    // Where the template arguments end that begin here, or here if none do.
    size_t end_of_template_arguments() const {
        if (at_ == 0 || is_shift(at_) || !(is_word(tokens_[at_ - 1]) || text(at_ - 1) == "]")) return at_;
        constexpr std::array<std::string_view, 8> not_inside = {";", "{", "}", "&&", "||", "=", "==", "!="};
        size_t depth = 0;
        for (size_t i = at_; i < tokens_.size(); ++i) {
            if (is_shift(i) || is_braced_word(i)) {
                i += is_shift(i) ? 1 : 2;
                continue;
            }
            if (is_one_of(text(i), not_inside)) break;
            if (text(i) == "<") ++depth;
            if (text(i) == ">" && --depth == 0) return i;
        }
        return at_;
    }

    // A condition and an attribute are no part of the statement after them.
    void close_bracket(const Token& token) {
        Statement& s = here().statement;
        s.push_back(token);
        constexpr std::array<std::string_view, 4> words = {"if", "for", "while", "switch"};
        if (is_one_of(s.front().text, words) && token.text == ")")
            s.clear();
        else if (s.size() == 2 && s.front().text == "[" && text(at_ - 1) == "]")
            s.clear();  // [[unroll]]
    }

    // case X:, default:, public:
    bool ends_label(const Token& token) {
        if (token.text != ":") return false;
        const Statement& s = here().statement;
        constexpr std::array<std::string_view, 5> words = {"case", "default", "public", "private", "protected"};
        return is_one_of(s.front().text, words) && !has_mark(s, "?");
    }

    Place place_of_braces() const {
        const Braces& outer = open_.back();
        const Statement& s = outer.statement;
        if (outer.brackets > 0) return text(at_ - 1) == ")" || text(at_ - 1) == "]" ? Place::block : after_arrow();
        if (s.empty()) return outer.place == Place::list ? Place::list : Place::block;
        if (s.front().text == "namespace" || (s.front().text == "extern" && s.size() == 2)) return Place::scope;
        if (outer.place == Place::scope || outer.place == Place::type) return place_of_declaration(s);
        return s.back().text == ")" || s.back().text == "]" || s.back().text == "mutable" ? Place::block
                                                                                          : after_arrow();
    }

    // [](int x) -> T {, or else a list.
    Place after_arrow() const {
        for (size_t i = at_; i-- > 0;) {
            if (text(i) == "->") return text(i - 1) == ")" ? Place::block : Place::list;
            if (!is_word(tokens_[i]) && text(i) != "::" && text(i) != "<" && text(i) != ">" && text(i) != "*") break;
        }
        constexpr std::array<std::string_view, 2> words = {"try", "mutable"};
        return is_one_of(text(at_ - 1), words) ? Place::block : Place::list;
    }

    Place place_of_declaration(const Statement& s) const {
        const bool has_arguments = has_mark(s, ")");
        for (const Token& t : s) {
            if (is_assignment(t) && !has_mark(s, "operator")) return s.back().text == ")" ? Place::block : Place::list;
            if (t.text == "enum") return Place::list;
            if (!has_arguments && (t.text == "class" || t.text == "struct" || t.text == "union")) return Place::type;
        }
        if (!has_arguments) return is_block_of_glsl(s) ? Place::type : Place::list;
        const auto colon = std::find_if(s.begin(), s.end(), [](const Token& t) { return t.text == ":"; });
        const bool initialises = colon != s.end() && (is_word(s.back()) || s.back().text == ">");
        if (initialises && s.back().text != "const" && s.back().text != "noexcept") return Place::list;
        return s.front().text == "layout" ? Place::type : Place::function;
    }

    static bool is_block_of_glsl(const Statement& s) {
        return s.front().text == "layout" || s.front().text == "buffer";
    }

    void open_braces() {
        Braces inner{.place = place_of_braces()};
        inner.first_line = here().statement.empty() ? tokens_[at_].line : here().statement.front().line;
        if (inner.place == Place::list && !has_mark(here().statement, "enum")) find_fields(inner);
        const bool has_key = at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == Token::Kind::text;
        if (here().place == Place::list && here().statement.empty()) here().named = has_key;
        if (here().brackets == 0) here().statement.push_back(tokens_[at_]);
        open_.push_back(std::move(inner));
    }

    bool is_struct(const Token& token) const {
        const bool is_type = is_word(token) && std::isupper(static_cast<unsigned char>(token.text[0])) &&
                             std::any_of(token.text.begin(), token.text.end(), [](char c) { return std::islower(c); });
        return is_type && std::find(lists_.begin(), lists_.end(), token.text) == lists_.end();
    }

    // Whether a member is named after token i: x.y, x[0].y, f().y, x->y; not the .y of {.y = 1}.
    bool is_member(size_t i) const {
        const bool has_object = i > 0 && (is_word(tokens_[i - 1]) || text(i - 1) == "]" || text(i - 1) == ")");
        return text(i) == "->" || (text(i) == "." && has_object);
    }

    // Type{, Type x{, Type x = {, x.y = {, return {, x.push_back({
    void find_fields(Braces& list) const {
        if (at_ == 0) return;
        size_t before = at_ - 1;
        if (text(before) == "=" && before > 0) --before;
        const bool is_name = before == at_ - 1 || is_word(tokens_[before]);
        if (text(at_ - 1) == "return")
            list.has_fields = list.is_return = !returns_list();
        else if (text(at_ - 1) == "(")
            list.has_fields = before > 0 && text(before - 1) == "push_back";
        else if (is_name && is_word(tokens_[before]))
            list.has_fields = (before == at_ - 1 && is_struct(tokens_[before])) ||
                              (before > 0 && (is_struct(tokens_[before - 1]) || is_member(before - 1)));
    }

    // Whether the innermost function says that it returns a list.
    bool returns_list() const {
        for (size_t i = open_.size(); i-- > 0;)
            if (open_[i].place == Place::function && i > 0) {
                const Statement& s = open_[i - 1].statement;
                return std::any_of(s.begin(), s.end(), [&](const Token& t) {
                    return is_list_name(t.text) || std::find(lists_.begin(), lists_.end(), t.text) != lists_.end();
                });
            }
        return false;
    }

    void close_braces() {
        if (open_.size() == 1) return;
        const Braces inner = std::move(here());
        open_.pop_back();
        const size_t line = tokens_[at_].line;
        if (inner.place == Place::function) check_function(inner, line);
        if (inner.place == Place::list && inner.has_fields) check_list(inner);
        if (here().brackets > 0) return;
        Statement& s = here().statement;
        s.push_back(tokens_[at_]);
        if (inner.place == Place::list) return;
        const bool goes_on = inner.place == Place::type || !is_word_or_start(at_ + 1);
        if (s.size() == 2 || inner.place == Place::scope || inner.place == Place::function || !goes_on) s.clear();
    }

    // Whether a statement can begin here.
    bool is_word_or_start(size_t i) const {
        constexpr std::array<std::string_view, 8> starts = {"}", "*", "++", "--", "~", "::", "{", ""};
        return i >= tokens_.size() || is_word(tokens_[i]) || is_one_of(text(i), starts);
    }

    void check_function(const Braces& function, size_t last_line) {
        const Statement& s = here().statement;
        const size_t count = last_line - function.first_line + 1;
        if (s.empty() || s.front().text.starts_with("TEST_CASE") || count <= most_lines) return;
        const size_t bracket = first_of(s, [](const Token& t) { return t.text == "("; });
        const std::string name = bracket > 0 && bracket < s.size() ? s[bracket - 1].text : s.front().text;
        add(Rule::long_function, function.first_line,
            name + " has " + std::to_string(count) + " lines, not at most 60");
    }

    void check_list(const Braces& list) {
        if (list.named) return;
        const bool trailing = !list.statement.empty() && list.statement.back().text == ",";
        const size_t fields = list.commas + 1 - trailing;
        if (fields > most_fields)
            add(Rule::positional_fields, list.first_line, std::to_string(fields) + " fields without names");
    }

    void end_statement() {
        const Statement s = std::move(here().statement);
        here().statement.clear();
        here().commas = 0;
        if (s.empty() || here().place == Place::list || here().place == Place::scope) return;
        const size_t comma = first_of(s, [](const Token& t) { return t.text == ","; });
        const size_t assigned = first_of(s, is_assignment);
        const size_t asked = first_of(s, [](const Token& t) { return t.text == "?"; });
        const size_t end = std::min({comma, assigned, asked});
        if (end == s.size()) return;
        const bool is_return = s.front().text == "return" && comma < s.size();
        if (!is_return && (begins_with_keyword(s) || has_declared_name(s, end))) return;
        if (comma < s.size())
            add(Rule::comma_chain, s.front().line, "a chain of expressions by comma; write a statement each");
        else if (end == asked)
            add(Rule::ternary_statement, s.front().line, "'a ? b : c;' as a statement; write if and else");
    }

    // The end of a macro that has no ';'. Elements of a list are no statement, and nor is an expression without '='.
    void end_macro() {
        const Statement& s = here().statement;
        if (!s.empty() && s.back().text != "," && first_of(s, is_assignment) < s.size()) end_statement();
    }

    void add(Rule rule, size_t line, std::string text) { found_.push_back({rule, line, std::move(text)}); }

    const Tokens& tokens_;
    const std::vector<std::string>& lists_;
    std::vector<Braces> open_;
    std::vector<Finding> found_;
    size_t at_ = 0;
};

void append(std::vector<Finding>& to, std::vector<Finding> more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool makes_function(const Tokens& body) {
    for (size_t i = 1; i < body.size(); ++i)
        if (body[i].text == "{" && (body[i - 1].text == ")" || body[i - 1].text == "const")) return true;
    return false;
}

}  // namespace

std::vector<Finding> broken_rules(std::string_view text, const std::vector<std::string>& lists) {
    const Source source = tokens_of(text);
    std::vector<Finding> out = Reader(source.code, lists, Place::scope).read();
    for (const Macro& macro : source.macros) {
        append(out, Reader(macro.body, lists, Place::block).read());
        if (macro.parameters.size() > most_parameters && makes_function(macro.body))
            out.push_back({Rule::function_macro, macro.line,
                           "a macro of " + std::to_string(macro.parameters.size()) + " parameters makes functions"});
    }
    std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.line < b.line; });
    return out;
}

std::vector<std::string> lists_declared_in(std::string_view text) {
    const Tokens tokens = tokens_of(text).code;
    std::vector<std::string> out;
    for (size_t i = 0; i + 3 < tokens.size(); ++i) {
        if (tokens[i].text != "using" || tokens[i + 2].text != "=") continue;
        size_t type = i + 3;
        while (type + 2 < tokens.size() && tokens[type + 1].text == "::") type += 2;
        if (is_list_name(tokens[type].text) || tokens[type].text == "span") out.push_back(tokens[i + 1].text);
    }
    return out;
}

}  // namespace vkgemm::test
