// SPDX-License-Identifier: MIT
// What ANV writes for Intel: the lanes of an instruction are in parentheses, results and operands have a type behind
// them, and the line after a send describes the message.
//
//     LABEL8:
//     dpas.8x8(8)     g88<1>F         g16<1,1,0>F     g24<1,1,0>HF    g32<1,1,0>HF { align1 WE_all 1Q $8 };
//     send(8)         g51UD           g109UD          nullUD          0x02100500                0x00000000
//                     slm MsgDesc: ( load, a32, d32, V1, L1STATE_L3MOCS dst_len = 1, src0_len = 1, src1_len = 0 flat )
//     while(8)        JIP:  LABEL8                                    { align1 1Q };
#include <algorithm>

#include "assembly/program.h"

namespace vkgemm::tool {
namespace intel {
namespace {

using std::string_view;

bool has(string_view text, string_view word) { return text.find(word) != string_view::npos; }

double number_at(string_view text) {
    double out = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        out = out * 10 + (c - '0');
    }
    return out;
}
double number_behind(string_view text, string_view word) {
    const size_t at = text.find(word);
    return at == string_view::npos ? 0 : number_at(text.substr(at + word.size()));
}

// The type at the end of a word: of an operand such as "g51UD", or of what follows its last comma, "0>HF".
string_view type_of(string_view operand) {
    size_t at = operand.size();
    while (at > 0 && operand[at - 1] >= 'A' && operand[at - 1] <= 'Z') --at;
    return operand.substr(at);
}

// "dpas.8x8": eight rows, and eight steps of one word of k.
void add_matrix(Instruction& x, string_view op, double lanes, string_view of_factors) {
    const bool bytes = of_factors == "B" || of_factors == "UB";
    x.unit = Unit::matrix;
    x.op = std::string(op) + (bytes ? ".b" : of_factors == "BF" ? ".bf" : ".hf");
    x.multiply_adds = number_behind(op, "x") * number_behind(op, ".") * lanes * (bytes ? 4 : 2);
}

Instruction instruction_of(string_view op, double lanes, string_view operands) {
    Instruction x{.op = std::string(op)};
    const string_view name = op.substr(0, op.find('.')), type = type_of(take_word(operands));
    string_view last;
    for (string_view word = take_word(operands); !word.empty() && word != "{"; word = take_word(operands))
        if (!type_of(word).empty()) last = word;
    if (name == "dpas") {
        add_matrix(x, op, lanes, type_of(last));
    } else if (name == "sync" || name == "nop") {
        x.unit = Unit::wait;
    } else if (name == "while" || name == "if" || name == "else" || name == "endif" || name == "break" || lanes < 8) {
        x.unit = Unit::scalar;
    } else if (name == "dp4a") {
        x.unit = Unit::multiply_add;
        x.multiply_adds = x.packed = 4;
    } else if ((name == "mad" || name == "mac") && (type == "F" || type == "DF")) {
        x.unit = Unit::multiply_add;
        x.multiply_adds = 1;
        if (type == "DF") x.op += ".df";
    }
    return x;
}

// A message of so many lanes. One that is transposed brings its values to one lane after another.
Instruction message_of(string_view text, double lanes) {
    const string_view unit = text.substr(0, text.find(' '));
    Instruction x{.op = std::string(unit)};
    if (has(text, "fence") || unit == "gateway") {
        x.unit = Unit::wait;
        return x;
    }
    x.op += has(text, "store") ? ".store" : ".load";
    x.unit = unit == "slm" ? Unit::shared : has(text, " ss )") ? Unit::scratch : Unit::memory;
    const double bits = number_behind(text, " d"), values = std::max(1.0, number_behind(text, " V"));
    x.bytes = bits / 8 * values * lanes;  // of all lanes; finish() divides
    return x;
}

// Reads the lines of a program, of which a `while` shows how wide it is.
class LineReader {
   public:
    void read(Listing& out, string_view line) {
        if (line.starts_with("LABEL")) return out.label(line.substr(0, line.find(':')));
        if (line.find(" MsgDesc:") != string_view::npos && sent_ > 0) {
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            add(out, message_of(line, sent_), sent_);
            sent_ = 0;
            return;
        }
        if (line.empty() || line.front() == ' ' || line.front() == ';') return;
        if (line.front() == '(') line.remove_prefix(std::min(line.find(')') + 1, line.size()));
        string_view word = take_word(line);
        if (word == "sync") take_word(line);  // "sync nop(1)"
        const double lanes = std::max(1.0, number_behind(word, "("));
        const string_view op = word.substr(0, word.find('('));
        if (op.empty() || op.ends_with(":")) return;
        if (op.starts_with("send")) {
            sent_ = lanes;
            return;
        }
        if (op == "while") {
            width_ = std::max(width_, lanes);
            take_word(line);  // "JIP:"
            out.jump(take_word(line));
        }
        add(out, instruction_of(op, lanes, line), lanes);
    }

    /// Counts by the invocation what was counted by the lanes of an instruction.
    void finish(Program& out) const {
        for (size_t i = 0; width_ > 0 && i < out.instructions.size(); ++i) {
            Instruction& x = out.instructions[i];
            x.bytes /= width_;
            if (x.unit == Unit::vector || x.unit == Unit::multiply_add) x.repeats = lanes_[i] / width_;
        }
        out.subgroup_size = static_cast<uint32_t>(width_);
    }

   private:
    void add(Listing& out, Instruction x, double lanes) {
        out.add(std::move(x));
        lanes_.push_back(lanes);
    }
    double width_ = 0, sent_ = 0;
    std::vector<double> lanes_;  // of each instruction
};

}  // namespace
}  // namespace intel

Program read_intel(std::string_view text) {
    intel::LineReader reader;
    Program out = read_lines(text, [&](Listing& listing, std::string_view line) { reader.read(listing, line); });
    reader.finish(out);
    return out;
}

}  // namespace vkgemm::tool
