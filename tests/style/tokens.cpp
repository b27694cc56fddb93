// SPDX-License-Identifier: MIT
#include "style/tokens.h"

#include <algorithm>
#include <cctype>

namespace vkgemm::test {
namespace {

constexpr std::string_view marks[] = {"<<=", ">>=", "...", "->*", "::", "->", "==", "!=", "<=", ">=", "&&",
                                      "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
   public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Source read() {
        Source out;
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            if (text_[at_] == '#' && begins_line_)
                read_directive(out);
            else
                out.code.push_back(next());
        return out;
    }

   private:
    bool has(std::string_view word) const { return text_.substr(at_).starts_with(word); }

    void step() {
        if (text_[at_] == '\n') {
            ++line_;
            begins_line_ = true;
        }
        ++at_;
    }

    void skip_to(std::string_view end) {
        const size_t found = text_.find(end, at_);
        const size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
        while (at_ < stop) step();
    }

    // Stops before the end of the line in a directive.
    void skip_blanks() {
        while (at_ < text_.size()) {
            if (has("//"))
                at_ = std::min(text_.find('\n', at_), text_.size());
            else if (has("/*"))
                skip_to("*/");
            else if (has("\\\n")) {
                at_ += 2;
                ++line_;
            } else if (std::isspace(static_cast<unsigned char>(text_[at_])) && !(in_directive_ && text_[at_] == '\n'))
                step();
            else
                return;
        }
    }

    void read_directive(Source& out) {
        in_directive_ = true;
        ++at_;
        skip_blanks();
        const bool defines = has("define");
        Macro macro{.parameters = {}, .body = {}, .line = line_};
        Tokens& body = macro.body;
        if (defines) {
            at_ += 6;
            skip_blanks();
            next();  // its name
            bool in_parameters = has("(");
            while (in_parameters && at_ < text_.size()) {
                const Token token = next();
                if (token.kind == Token::Kind::word || token.text == "...") macro.parameters.push_back(token.text);
                in_parameters = token.text != ")";
                skip_blanks();
            }
        }
        for (skip_blanks(); at_ < text_.size() && text_[at_] != '\n'; skip_blanks()) body.push_back(next());
        if (defines) out.macros.push_back(std::move(macro));
        in_directive_ = false;
    }

    Token literal(char quote) {
        Token token{Token::Kind::text, std::string(2, quote), line_};
        const bool raw = quote == '"' && at_ > 0 && text_[at_ - 1] == 'R';
        if (raw) {
            const size_t open = text_.find('(', at_);
            skip_to(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"");
            return token;
        }
        for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\') ++at_;
        ++at_;
        return token;
    }

    Token next() {
        begins_line_ = false;
        const char c = text_[at_];
        const size_t begin = at_;
        if (c == '"' || c == '\'') return literal(c);
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
            while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '\'')) ++at_;
            return {Token::Kind::number, std::string(text_.substr(begin, at_ - begin)), line_};
        }
        if (is_word(c)) {
            while (at_ < text_.size() && is_word(text_[at_])) ++at_;
            if (at_ < text_.size() && text_[at_] == '"') return literal('"');  // of a prefix
            return {Token::Kind::word, std::string(text_.substr(begin, at_ - begin)), line_};
        }
        for (const std::string_view mark : marks)
            if (has(mark)) {
                at_ += mark.size();
                return {Token::Kind::mark, std::string(mark), line_};
            }
        ++at_;
        return {Token::Kind::mark, std::string(1, c), line_};
    }

    std::string_view text_;
    size_t at_ = 0, line_ = 1;
    bool begins_line_ = true, in_directive_ = false;
};

}  // namespace

Source tokens_of(std::string_view text) { return Lexer(text).read(); }

}  // namespace vkgemm::test
