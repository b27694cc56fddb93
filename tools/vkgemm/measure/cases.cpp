// SPDX-License-Identifier: MIT
#include "measure/cases.h"

#include <algorithm>
#include <cmath>

#include "cli/output.h"
#include "cli/text.h"
#include "measure/numbers.h"
#include "vkgemm/rounding.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

Status refuse(std::string text) { return {VKGEMM_ERROR_PARSE, VK_SUCCESS, std::move(text)}; }

/// The pieces of `text` between `separator`s; one empty piece for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const size_t at = text.find(separator);
        pieces.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return pieces;
        text.remove_prefix(at + 1);
    }
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The batch of one operand.
struct Levels {
    uint64_t batch = 1, outer = 1, outer_stride = 0, ratio = 1, outer_ratio = 1;
};

/// `m` is of a completed problem.
MatrixInfo matrix(const Matrix& m, uint64_t rows, uint64_t cols, const Levels& levels) {
    const VkgemmTypeInfo& type = type_info(m.type);
    MatrixInfo r{.type = m.type, .bytes = type.bytes, .block = type.blockElements, .rows = rows, .cols = cols};
    const bool by_rows = m.layout == rowMajor;
    r.row_step = by_rows ? m.ld : 1;
    r.col_step = by_rows ? 1 : m.ld;
    r.batch = levels.batch;
    r.outer = levels.outer;
    r.ratio = std::max<uint64_t>(levels.ratio, 1);
    r.outer_ratio = std::max<uint64_t>(levels.outer_ratio, 1);
    if (m.batchStride != broadcast) r.batch_step = m.batchStride;
    if (levels.outer_stride != broadcast) r.outer_step = levels.outer_stride;
    const uint64_t one = rows && cols ? (rows - 1) * r.row_step + (cols - 1) * r.col_step + 1 : 0;
    if (one && r.batch && r.outer)
        r.span = one + (r.batch / r.ratio - 1) * r.batch_step + (r.outer / r.outer_ratio - 1) * r.outer_step;
    return r;
}

/// One matrix, of which groups with index lists have rows.
MatrixInfo for_all_groups(const Matrix& m, uint64_t rows, uint64_t cols) {
    MatrixInfo r = matrix(m, rows, cols, {});
    r.batch_step = 0;
    return r;
}

/// A refusal that names a character ("character 7: why"), with the line below it and a mark under the character.
Status pointed_out(const Status& refusal, const std::string& line) {
    const std::string_view text = refusal.text, head = "character ";
    const size_t colon = text.find(':');
    if (!text.starts_with(head) || colon == std::string_view::npos) return refusal;
    const auto number = readNumber<size_t>(text.substr(head.size(), colon - head.size()));
    if (!number || *number == 0) return refusal;
    constexpr size_t most = page_width - 4, before = 60;  // of a line that is too long, what is near
    const size_t at = std::min(*number - 1, line.size()), from = at > before && line.size() > most ? at - before : 0;
    std::string shown = line.substr(from, most);
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    const size_t blanks = columns(std::string_view(shown).substr(0, at - from));
    return {refusal.code, VK_SUCCESS, refusal.text + "\n    " + shown + "\n    " + std::string(blanks, ' ') + "^"};
}

/// With the line, where the refusal does not show it.
Status about(const std::string& line, const Status& refusal) {
    if (refusal.text.find('\n') != std::string::npos) return refusal;
    return {refusal.code, VK_SUCCESS, "'" + line + "': " + refusal.text};
}

}  // namespace

Result<Case> parse_case(const std::string& line) {
    if (const size_t at = line.find('\0'); at != std::string::npos)
        return pointed_out(refuse("character " + std::to_string(at + 1) + ": a text has no zero byte"), line);
    Result<ParsedProblem> parsed = parseProblem(line.c_str());
    if (!parsed) return pointed_out(parsed.status(), line);
    Case c{.problem = parsed->problem, .alpha = parsed->alpha, .beta = parsed->beta};
    Result<std::string> text = formatProblem(c.problem, c.alpha, c.beta);
    if (!text) return text.status();
    c.text = *text;
    for (const auto& [name, x] : {std::pair{"alpha", c.alpha}, {"beta", c.beta}})
        if (!std::isfinite(x))
            return refuse(std::string(name) + " is " + numberText(x) + "; only finite factors can be checked");
    double alpha = c.alpha, beta = c.beta;
    if (completeProblem(c.problem))  // else the library gives the reason when a plan is made
        if (Status s = convertFactors(c.problem, alpha, beta); !s) return refuse(s.text);
    return c;
}

Result<Case> parse_work(const std::string& line) {
    Result<Case> c = parse_case(line);
    if (!c) return c;
    if (c->problem.m && c->problem.n) return c;
    return Status{VKGEMM_ERROR_INVALID_PROBLEM, VK_SUCCESS, "m or n is 0: there is nothing to compute"};
}

std::optional<Status> refused_everywhere(const Case& c) {
    const auto completed = completeProblem(c.problem);
    if (completed) return std::nullopt;
    return refuse(completed.status().text);
}

std::optional<Status> refused_groups(const Case& c, const char* why) {
    if (c.problem.grouping == VKGEMM_GROUPING_NONE) return std::nullopt;
    return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "'" + c.text + "' has groups, and " + why};
}

Result<std::vector<Case>> parse_suite(std::string_view text, const std::string& name) {
    std::vector<Case> cases;
    size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        const std::string place = name + ":" + std::to_string(number) + ": ";
        double target = 0;
        if (const size_t at = line.find("target="); at != std::string_view::npos && at > 0 && is_blank(line[at - 1])) {
            const std::string_view tera = line.substr(at + std::string_view("target=").size());
            const auto value = readNumber<double>(tera);
            if (!value || !(*value > 0) || !std::isfinite(*value * 1e12))
                return refuse(place + "'" + std::string(tera) +
                              "' is not a rate; target= comes last and takes TFLOP/s, as in "
                              "target=50");
            target = *value * 1e12;
            line = trimmed(line.substr(0, at));
        }
        Result<Case> c = parse_work(std::string(line));
        if (!c) return Status{c.status().code, VK_SUCCESS, place + c.status().text};
        c->target = target;
        c->from_suite = true;
        cases.push_back(*std::move(c));
    }
    if (cases.empty()) return refuse(name + " has no problem");
    return cases;
}

Result<std::vector<Case>> parse_shapes(std::string_view shapes, const std::string& type, const std::string& layout) {
    const bool alone = !type.empty() && type.find_first_of("*+>") == std::string::npos;  // "i32" is short for "i32*i32"
    const std::string types = type.empty() ? "" : (alone ? type + "*" + type : type) + " ";
    std::vector<Case> cases;
    for (const std::string_view shape : split(shapes, ',')) {
        const std::vector<std::string_view> numbers = split(trimmed(shape), 'x');
        bool good = numbers.size() == 3 || numbers.size() == 4;
        for (const std::string_view n : numbers) good = good && readNumber<uint64_t>(n);
        if (!good)
            return refuse("'" + std::string(shape) +
                          "' is not a shape; a shape is MxNxK or MxNxKxBATCH, such as 64x128x256 or 64x64x64x8");
        std::string line =
            types + std::string(numbers[0]) + "x" + std::string(numbers[1]) + "x" + std::string(numbers[2]);
        if (numbers.size() == 4) line += " batch=" + std::string(numbers[3]);
        if (!layout.empty()) line += " layout=" + layout;
        Result<Case> c = parse_work(line);
        if (!c) return about(line, c.status());
        if (auto why = refused_everywhere(*c)) return about(line, *why);
        cases.push_back(*std::move(c));
    }
    return cases;
}

static std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (const Suite& s : suites()) names.emplace_back(s.name);
    return names;
}

std::string suite_help() {
    return "a file with one problem per line, or a built-in suite (" + joined(suite_names(), ", ") + ")";
}

Result<std::vector<Case>> load_suite(const std::string& name_or_file) {
    for (const Suite& s : suites())
        if (s.name == name_or_file) return parse_suite(s.text, "suite " + name_or_file);
    const auto text = read_file(name_or_file);
    if (!text)
        return Status{text.status().code, VK_SUCCESS,
                      text.status().text + "; nor is '" + name_or_file + "' a built-in suite (" +
                          joined(suite_names(), ", ") + ")" + suggestion(name_or_file, suite_names())};
    return parse_suite(*text, name_or_file);
}

std::string suite_file(const std::string& name_or_file) {
    for (const Suite& s : suites())
        if (s.name == name_or_file) return "";
    return name_or_file == "-" ? "" : name_or_file;  // which no suite is read from
}

Result<std::vector<Case>> load_cases(const std::vector<std::string>& problems, const std::string& suite) {
    std::vector<Case> cases;
    for (const std::string& line : problems) {
        auto c = parse_work(line);
        if (!c) {
            Status why = about(line, c.status());
            if (&line != &problems.front() && line.find(' ') == std::string::npos &&
                line.find('=') != std::string::npos)
                why.text += "\nput a problem of several words in quotes: '" + problems.front() + " " + line + "'";
            return why;
        }
        if (auto why = refused_everywhere(*c)) return about(line, *why);
        cases.push_back(*std::move(c));
    }
    if (suite.empty() && !cases.empty()) return cases;
    auto more = load_suite(suite.empty() ? "classic" : suite);
    if (!more) return more;
    cases.insert(cases.end(), more->begin(), more->end());
    return cases;
}

Resolved resolve(const Problem& given) {
    const auto completed = completeProblem(given);
    if (!completed) return {};
    const Problem& p = *completed;
    Resolved r;
    const uint64_t outer = std::max<uint64_t>(p.outerBatch, 1);
    r.batch = p.batch * outer;
    r.accumulate = p.accumulate;
    // A completed problem leaves out the types that follow from D's.
    const auto or_default = [](Type type, Type by_default) { return type == VKGEMM_TYPE_DEFAULT ? by_default : type; };
    const Type factor = p.d.type == VKGEMM_TYPE_I8 ? VKGEMM_TYPE_F32 : p.d.type;
    r.bias = or_default(p.biasType, factor);
    r.scale = or_default(p.scaleType, factor);
    r.residual = or_default(p.residualType, p.d.type);
    r.a = matrix(p.a, p.m, p.k, {p.batch, outer, p.outerStrideA, p.ratioA, p.outerRatioA});
    r.b = matrix(p.b, p.k, p.n, {p.batch, outer, p.outerStrideB, p.ratioB, p.outerRatioB});
    r.d = matrix(p.d, p.m, p.n, {p.batch, outer, p.outerStrideD});
    if (p.grouping == VKGEMM_GROUPING_INDEXED) {
        r.indices_per_row = p.indicesPerRow;
        r.a = for_all_groups(p.a, divUp(p.m, p.indicesPerRow), p.k);
        r.d = for_all_groups(p.d, p.m, p.n);
        Random random{9};
        for (uint64_t row = 0; row < p.m; ++row)
            r.group_of_row.push_back(static_cast<uint32_t>(random.next() % r.batch));
    }
    if (p.cSource == VKGEMM_C_IS_D) r.c = r.d;
    if (p.cSource == VKGEMM_C_SEPARATE)
        r.c = r.group_of_row.empty() ? matrix(p.c, p.m, p.n, {p.batch, outer, p.outerStrideC})
                                     : for_all_groups(p.c, p.m, p.n);
    return r;
}

MatrixInfo Resolved::residual_matrix() const {
    MatrixInfo out = d;
    out.type = residual;
    out.bytes = type_info(residual).bytes;
    return out;
}

VkgemmStepKind activation_of(VkgemmStepKind kind) {
    switch (kind) {
        case VKGEMM_STEP_GATE_RELU:
        case VKGEMM_STEP_PAIR_RELU:
            return VKGEMM_STEP_RELU;
        case VKGEMM_STEP_GATE_GELU:
        case VKGEMM_STEP_PAIR_GELU:
            return VKGEMM_STEP_GELU;
        case VKGEMM_STEP_GATE_SILU:
        case VKGEMM_STEP_PAIR_SILU:
            return VKGEMM_STEP_SILU;
        default:
            return VKGEMM_STEP_NONE;
    }
}

namespace {

/// The operand of a step, and the elements that it has: a row of tables.h.
struct StepRow {
    VkgemmSlot operand;
    std::string_view shape;
};
constexpr StepRow step_rows[] = {
#define VKGEMM_ROW(id, number, text, sums, operand, shape, meaning) {operand, #shape},
    VKGEMM_STEP_ROWS(VKGEMM_ROW)
#undef VKGEMM_ROW
};
const StepRow& row_of(const Step& step) { return step_rows[static_cast<size_t>(step.kind) - 1]; }

}  // namespace

bool reads(const Problem& p, VkgemmSlot slot) {
    return std::ranges::any_of(p.epilogue, [=](const Step& s) { return row_of(s).operand == slot; });
}

bool is_pair(const Problem& p) { return reads(p, VKGEMM_SLOT_B2); }

bool is_biased_pair(const Problem& p) { return is_pair(p) && vector_width(*p.epilogue.begin(), VKGEMM_SLOT_BIAS); }

uint32_t vector_width(const Step& step, VkgemmSlot slot) {
    const StepRow& row = row_of(step);
    if (row.operand != slot || row.shape == "MATRIX" || row.shape == "B") return 0;
    return row.shape.ends_with("_PAIRS") ? 2 : 1;
}

GroupTable group_table(const Problem& problem) {
    const Resolved resolved = resolve(problem);
    GroupTable out;
    if (problem.grouping == VKGEMM_GROUPING_SELECTED) {  // each product its own matrix of B
        for (uint32_t i = 0; i < resolved.batch; ++i) out.indices.push_back(i);
        return out;
    }
    for (uint64_t i = 0; i < resolved.batch; ++i) {
        VkgemmGroup g{};
        g.m = static_cast<uint32_t>(problem.m);
        g.n = static_cast<uint32_t>(problem.n);
        g.k = static_cast<uint32_t>(problem.k);
        g.offsetA = i * resolved.a.batch_step;
        g.offsetB = i * resolved.b.batch_step;
        g.offsetC = i * resolved.c.batch_step;
        g.offsetD = i * resolved.d.batch_step;
        if (!resolved.group_of_row.empty()) {
            g.firstIndex = static_cast<uint32_t>(out.indices.size());
            for (uint32_t row = 0; row < resolved.group_of_row.size(); ++row)
                if (resolved.is_in(i, row)) out.indices.push_back(row);
            g.m = static_cast<uint32_t>(out.indices.size()) - g.firstIndex;
        }
        out.groups.push_back(g);
    }
    return out;
}

bool multiplies(const Case& c) {
    double alpha = c.alpha, beta = c.beta;
    return !convertFactors(c.problem, alpha, beta) || alpha != 0;
}

bool reads_c(const Case& c) {
    double alpha = c.alpha, beta = c.beta;
    return !convertFactors(c.problem, alpha, beta) || beta != 0;
}

double flops(const Case& c) {
    const Problem& p = c.problem;
    const Resolved r = resolve(p);
    if (!multiplies(c)) return 0;
    return (is_pair(p) ? 4 : 2) * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(r.group_of_row.empty() ? r.batch : 1);
}

double least_bytes(const Case& c) {
    const Resolved resolved = resolve(c.problem);
    double bytes = 0;
    const auto add = [&](const MatrixInfo& m) {
        bytes += static_cast<double>(m.rows) * static_cast<double>(m.cols) * static_cast<double>(m.matrices()) *
                 m.bytes / m.block;
    };
    if (multiplies(c)) {
        add(resolved.a);
        add(resolved.b);
        if (is_pair(c.problem)) add(resolved.b);
    }
    if (c.beta != 0) add(resolved.c);
    add(resolved.d);
    return bytes;
}

}  // namespace vkgemm::tool
