// SPDX-License-Identifier: MIT
#include "cli/manual.h"

#include <algorithm>

#include "cli/text.h"

namespace vkgemm::tool {
namespace {

using std::string;
using std::string_view;

constexpr size_t text_column = 28;  // where the text of an option begins

constexpr string_view problem_example = "f16*f16+f32->f16 64x128x256 batch=4 layout=nt beta=1";

struct Word {
    string_view name, text;
};
constexpr Word environment_words[] = {
    {"VKGEMM_TUNED", "a file of tuned rows, as vkgemm tune writes it; every command uses them"},
    {"VKGEMM_DISABLED_KERNELS",
     "a file of wrong kernels, as vkgemm check --out writes it; every command but check and replay avoids them"},
    {"VKGEMM_CAPTURE",
     "a folder; each product that runs without being timed is written to a file there, for vkgemm replay"},
    {"VKGEMM_KERNEL", "the kernel to use if it can serve the problem and no other is named"},
    {"VKGEMM_NATIVE", "0: no kernel in machine code; any: also on drivers on which they were not verified"},
    {"VKGEMM_BASELINE_PATH", "folders in which bench looks for the libraries of --vs, separated as in PATH"},
    {"NO_COLOR", "if set, no colours unless --color=always"},
};

/// "-h, --help" or "--json FILE|-"; of an argument its value.
string head(const ManualOption& o) {
    const string names = joined(o.names, ", ");
    return names + (names.empty() || o.value.empty() ? "" : " ") + o.value;
}

/// A name, and its text beside it, or below where the name is long.
string entry(const string& name, const string& text) {
    string out = "  " + name;
    const string body = wrapped(text, text_column);
    if (out.size() + 2 > text_column) return out + "\n" + body;
    return out + body.substr(out.size());
}

string entries(const string& title, const std::vector<ManualOption>& options, bool common) {
    string out;
    for (const ManualOption& o : options)
        if (o.common == common) out += entry(head(o), o.text);
    return out.empty() ? "" : "\n" + title + ":\n" + out;
}

string usage(const ManualCommand& c) {
    string out = "vkgemm " + c.name + " [options]";
    for (const ManualOption& a : c.arguments) out += a.required ? " " + a.value : " [" + a.value + "]";
    return out;
}

/// What a problem consists of, from the tables of types and steps.
string problem_parts() {
    string out = "It names the types of A, B, the accumulator and D (";
#define VKGEMM_ROW(id, number, text, ...) out += #text ", ";
    VKGEMM_TYPE_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
    out.resize(out.size() - 2);
    out +=
        "), the sizes MxNxK, and options: batch= layout= layout_c= layout_d= lda= ... ldd= stride_a= ... stride_d= "
        "alpha= beta= c= accuracy= invariant upto= groups= per_row= ratio_a= ratio_b= outer= outer_stride_a= ... "
        "outer_stride_d= outer_ratio_a= outer_ratio_b= packed_a= packed_b= scalars= c_type= bias_type= scale_type= "
        "residual_type=, and steps of the epilogue:";
    for (const string_view step : {
#define VKGEMM_ROW(id, number, text, ...) string_view(text),
             VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
         })
        out += " " + string(step) + (step == "clamp=" ? "LOW:HIGH" : step == "leaky=" ? "SLOPE" : "");
    return out +
           ". Only the sizes are required. upto=mn lets M and N vary up to those sizes; packed_b=any takes "
           "a B that was packed in advance. A block format (from q8_0 on) is a type of A or B only. Its blocks lie "
           "along K, so A must be row-major, B column-major (layout=nt), and K a multiple of the block. "
           "docs/design.md has the grammar.";
}

string codes() {
    string out = "Exit codes:";
    for (const ExitWord& w : exit_words)
        out += (w.code == exit_right ? " " : "; ") + std::to_string(w.code) + " " + string(w.text);
    return wrapped(out, 0);
}

}  // namespace

string help_text(const Manual& m) {
    string out = m.program.text + "\n\nusage: vkgemm COMMAND [options]\n\nCommands:\n";
    for (const ManualCommand& c : m.commands) out += entry(c.name, c.text);
    out += entries("Common options", m.program.options, true);
    return out + "\nA PROBLEM is one line, such as '" + string(problem_example) + "'.\n" + wrapped(problem_parts(), 0) +
           "'vkgemm COMMAND --help' lists the options of a command.\n" + codes();
}

string help_text(const ManualCommand& c) {
    string out = "vkgemm " + c.name + ": " + c.text + "\n\nusage: " + usage(c) + "\n";
    if (!c.arguments.empty()) out += "\n";
    for (const ManualOption& a : c.arguments) out += entry(head(a), a.text);
    return out + entries("Options", c.options, false) + entries("Common options", c.options, true);
}

namespace {

/// Text for roff: a line must not begin with a dot, and hyphens are escaped.
string roff(string_view text) {
    string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\'')
            out += "\\(aq";
        else
            out += c;
    }
    return out.starts_with('.') ? "\\&" + out : out;
}

/// A paragraph with a hanging head.
string roff_entry(const string& name, string_view text) { return ".TP\n.B " + roff(name) + "\n" + roff(text) + "\n"; }

string roff_options(const std::vector<ManualOption>& options, bool common) {
    string out;
    for (const ManualOption& o : options)
        if (o.common == common) out += roff_entry(head(o), o.text);
    return out;
}

}  // namespace

string man_page(const Manual& m, string_view version) {
    string out =
        ".\\\" Made by 'vkgemm generate man'; do not edit.\n.TH VKGEMM 1 \"\" \"vkgemm " + string(version) +
        "\" \"User Commands\"\n.SH NAME\nvkgemm \\- matrix multiplication for Vulkan, measured and explained\n" +
        ".SH SYNOPSIS\n.B vkgemm\n.I COMMAND\n[options]\n.SH DESCRIPTION\n" + roff(m.program.text) +
        "\n.PP\nA PROBLEM is one line, such as\n.PP\n.RS\n" + roff(problem_example) + "\n.RE\n.PP\n" +
        roff(problem_parts()) + "\n" + ".SH COMMANDS\n";
    for (const ManualCommand& c : m.commands) {
        out += ".SS " + roff(usage(c)) + "\n" + roff(c.text) + "\n";
        for (const ManualOption& a : c.arguments) out += roff_entry(head(a), a.text);
        out += roff_options(c.options, false);
    }
    out += ".SH COMMON OPTIONS\n" + roff_options(m.program.options, true) + ".SH EXIT STATUS\n";
    for (const ExitWord& w : exit_words) out += roff_entry(std::to_string(w.code), w.text);
    out += ".SH ENVIRONMENT\n";
    for (const Word& w : environment_words) out += roff_entry(string(w.name), w.text);
    return out;
}

}  // namespace vkgemm::tool
