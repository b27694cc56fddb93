// SPDX-License-Identifier: MIT
// Completions for shells. They run the program for names that it alone has (kernels, suites).
#include <algorithm>
#include <cctype>

#include "cli/manual.h"
#include "cli/text.h"

namespace vkgemm::tool {
namespace {

using std::string;
using std::string_view;

/// What may follow an option.
struct Values {
    std::vector<string> words;
    string list;  // what 'vkgemm generate' is asked for; "": nothing
    bool files = false;
    bool several = false;  // with commas between them
    bool any() const { return !words.empty() || !list.empty() || files; }
};

Values values_of(const ManualOption& o) {
    Values v;
    for (const string& name : o.names) {
        if (name == "--kernel") v.list = "kernels";
        if (name == "--suite") v.list = "suites";
    }
    v.files = o.value.find("FILE") != string::npos;
    v.several = o.value.find(',') != string::npos;
    if (o.value.find('=') != string::npos || o.value.find("...") != string::npos) return v;
    string word;
    for (const char c : o.value + "|") {
        if (c != '|' && c != ',') {
            word += c;
            continue;
        }
        const bool itself = std::ranges::all_of(word, [](char x) {
            return std::islower(static_cast<unsigned char>(x)) || std::isdigit(static_cast<unsigned char>(x));
        });
        if (!word.empty() && itself) v.words.push_back(word);
        word.clear();
    }
    return v;
}

/// The text up to its first explanation, without what shells would read.
string brief(const string& text) {
    string out;
    for (const char c : text.substr(0, std::min(text.find(" ("), text.find(';'))))
        if (c == '\'')
            out += "’";  // no quote of a shell
        else if (c != '"' && c != '`' && c != '$' && c != '\\')
            out += c;
    return out;
}

std::vector<string> names_of(const std::vector<ManualOption>& options) {
    std::vector<string> out;
    for (const ManualOption& o : options) out.insert(out.end(), o.names.begin(), o.names.end());
    return out;
}
std::vector<string> names_of(const std::vector<ManualCommand>& commands) {
    std::vector<string> out;
    for (const ManualCommand& c : commands) out.push_back(c.name);
    return out;
}

string made_by(string_view shell) { return "# Made by 'vkgemm generate " + string(shell) + "'; do not edit.\n"; }

/// Beside its options.
bool takes_file(const ManualCommand& c) {
    return std::ranges::any_of(c.arguments, [](const ManualOption& a) { return a.value.find("FILE") != string::npos; });
}

/// Whether its argument is the name of a command.
bool takes_command(const ManualCommand& c) {
    return std::ranges::any_of(c.arguments, [](const ManualOption& a) { return a.value == "COMMAND"; });
}

/// What follows the options of one command, "bench:--json) files=1 ;;", of those that are common or the others.
string bash_cases(const ManualCommand& c, bool common) {
    string out, nothing;
    for (const ManualOption& o : c.options) {
        if (o.value.empty() || o.common != common) continue;
        const Values v = values_of(o);
        string words = joined(v.words);
        if (!v.list.empty())
            words += (words.empty() ? "" : " ") + string("$(vkgemm generate ") + v.list + " 2>/dev/null)";
        for (const string& name : o.names) {
            const string when = (common ? "*" : c.name) + string(":") + name;
            if (!v.any())
                nothing += (nothing.empty() ? "" : "|") + when;
            else
                out += "    " + when + ")" + (words.empty() ? "" : " words=\"" + words + "\"") +
                       (v.files ? " files=1" : "") + (v.several ? " lead=${current%\"${current##*,}\"}" : "") + " ;;\n";
        }
    }
    return out + (nothing.empty() ? "" : "    " + nothing + ") ;;\n");
}

}  // namespace

string bash_completion(const Manual& m) {
    string out = made_by("bash") +
                 "_vkgemm() {\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command= word words= files= lead=\n"
                 "    if [[ $current == '=' && $before == --* ]]; then  # --option=value is three words\n"
                 "        current=\n"
                 "    elif [[ $before == '=' && ${COMP_WORDS[COMP_CWORD-2]} == --* ]]; then\n"
                 "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    fi\n"
                 "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                 "        case $word in " +
                 joined(names_of(m.commands), "|") +
                 ") command=$word; break ;; esac\n    done\n"
                 "    case $command:$before in\n";
    out += bash_cases(m.program, true);
    for (const ManualCommand& c : m.commands) out += bash_cases(c, false);
    out += "    *)\n        case $command in\n        '') words=\"" + joined(names_of(m.commands)) + " " +
           joined(names_of(m.program.options)) + "\" ;;\n";
    for (const ManualCommand& c : m.commands)
        out += "        " + c.name + ") words=\"" + joined(names_of(c.options)) +
               (takes_command(c) ? " " + joined(names_of(m.commands)) : "") + "\"" + (takes_file(c) ? " files=1" : "") +
               " ;;\n";
    return out +
           "        esac ;;\n    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -P \"$lead\" -- \"${current#\"$lead\"}\"))\n"
           "    [[ -z $files ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
           "}\ncomplete -o filenames -F _vkgemm vkgemm\n";
}

namespace {

/// What may not stand in a spec of _arguments.
string zsh_text(const string& text) {
    string out;
    for (const char c : text) out += c == '[' || c == ']' || c == ':' ? string("\\") + c : string(1, c);
    return out;
}

string zsh_options(const std::vector<ManualOption>& options) {
    string out;
    for (const ManualOption& o : options) {
        const Values v = values_of(o);
        string after;
        if (!o.value.empty()) {
            after = ":" + zsh_text(o.value) + ":";
            if (!v.list.empty())
                after += "{compadd -- " + joined(v.words) + " $(vkgemm generate " + v.list + " 2>/dev/null)" +
                         (v.files ? "; _files" : "") + "}";
            else if (v.files)
                after += "_files";
            else if (v.several && !v.words.empty())
                after += "{_values -s , " + zsh_text(o.value) + " " + joined(v.words) + "}";
            else if (!v.words.empty())
                after += "(" + joined(v.words) + ")";
        }
        for (const string& name : o.names) {
            out += " \\\n        '" + name + (!o.value.empty() && name.starts_with("--") ? "=[" : "[");
            out += zsh_text(brief(o.text)) + "]" + after + "'";
        }
    }
    return out;
}

}  // namespace

string zsh_completion(const Manual& m) {
    string out = "#compdef vkgemm\n" + made_by("zsh") + "_vkgemm() {\n    local state\n    local -a commands=(\n";
    for (const ManualCommand& c : m.commands) out += "        '" + c.name + ":" + zsh_text(brief(c.text)) + "'\n";
    out += "    )\n    _arguments -C" + zsh_options(m.program.options) +
           " \\\n        '1:command:->command' '*::argument:->argument'\n"
           "    [[ $state != command ]] || _describe command commands\n"
           "    [[ $state == argument ]] || return\n    case $words[1] in\n";
    for (const ManualCommand& c : m.commands) {
        out += "    " + c.name + ") _arguments" + zsh_options(c.options);
        for (const ManualOption& a : c.arguments) {
            const bool files = a.value.find("FILE") != string::npos;
            const string words = takes_command(c) ? "(" + joined(names_of(m.commands)) + ")" : "";
            out += " \\\n        '*:" + zsh_text(a.value) + ":" + (files ? "_files" : words) + "'";
        }
        out += " ;;\n";
    }
    return out + "    esac\n}\n_vkgemm \"$@\"\n";
}

namespace {

string fish_line(const string& when, const ManualOption& o) {
    const Values v = values_of(o);
    string out = "complete -c vkgemm -n '" + when + "'";
    for (const string& name : o.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!o.value.empty()) {
        out += v.files ? " -r -F" : " -x";
        string words = joined(v.words);
        if (!v.list.empty())  // fish itself reports an unknown command, whatever its streams
            words +=
                (words.empty() ? "" : " ") + string("(type -q vkgemm; and vkgemm generate ") + v.list + " 2>/dev/null)";
        if (v.several && !words.empty()) words = "(__fish_append , " + words + ")";
        if (!words.empty()) out += " -a '" + words + "'";
    }
    return out + " -d '" + brief(o.text) + "'\n";
}

}  // namespace

string fish_completion(const Manual& m) {
    const string none = "not __fish_seen_subcommand_from " + joined(names_of(m.commands));
    string out = made_by("fish") + "complete -c vkgemm -f\n";
    for (const ManualCommand& c : m.commands)
        out += "complete -c vkgemm -n '" + none + "' -a " + c.name + " -d '" + brief(c.text) + "'\n";
    for (const ManualOption& o : m.program.options) out += fish_line(none, o);
    for (const ManualCommand& c : m.commands) {
        const string when = "__fish_seen_subcommand_from " + c.name;
        if (takes_file(c)) out += "complete -c vkgemm -n '" + when + "' -F\n";
        if (takes_command(c)) out += "complete -c vkgemm -n '" + when + "' -a '" + joined(names_of(m.commands)) + "'\n";
        for (const ManualOption& o : c.options) out += fish_line(when, o);
    }
    return out;
}

}  // namespace vkgemm::tool
