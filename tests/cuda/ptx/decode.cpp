#include "tests/cuda/ptx/decode.h"

#include "tests/cuda/ptx/instructions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <sstream>

namespace tilewalk::ptx {

namespace {

// 'p', 'h', 'w', 'q' of a type as a declaration names it
char kind_of_type(const std::string& type) {
    if (type == ".pred") return 'p';
    const std::string bits = type.substr(std::min<std::size_t>(2, type.size()));
    return bits == "16" ? 'h' : bits == "32" ? 'w' : bits == "64" ? 'q' : '?';
}
int bits_of_kind(char kind) { return kind == 'h' ? 16 : kind == 'w' ? 32 : kind == 'q' ? 64 : 1; }

int rounded_up(int x, int to) { return (x + to - 1) / to * to; }

struct Register {
    Row row = 0;
    char kind = '?';
};
// Names of one { … }: %r<12> stands for %r0 … %r11
struct Scope {
    std::map<std::string, Register> names;
    struct Range {
        Register first;
        int count;
    };
    std::map<std::string, Range> ranges;
};

class Decoder {
public:
    Decoder(Kernel& into, const std::vector<std::string>& arrays) : kernel(into) {
        for (const std::string& array : arrays) symbols[array] = shared_begin;
    }
    void head(std::string_view text);
    void body(Reader& reader);

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw NotUnderstood(line, "of " + kernel.name + ": " + what);
    }
    // Every row begins at a line of the cache.
    Row take_rows(char kind, int count) {
        const Row first = kernel.file_words;
        kernel.file_words += words_of(kind) * static_cast<Row>(count);
        return first;
    }
    static Row words_of(char kind) { return kind == 'p' ? 16 : static_cast<Row>(bits_of_kind(kind)); }

    void directive(const Statement& statement);
    void declare(const std::string& type, const std::string& names);
    void place(const std::string& space, const std::string& rest);
    void instruction(const Statement& statement);
    std::optional<Register> find(const std::string& name) const;
    Row constant(char kind, std::uint64_t value);
    Row special(const std::string& name);
    bool fits(const InstructionInfo& info, const std::vector<const Operand*>& operands) const;
    Row value(const Operand& operand, char kind);
    void address(const Operand& operand, Instruction& instruction, std::size_t n, std::size_t nth);

    Kernel& kernel;
    std::vector<Scope> scopes{{}};
    std::map<std::string, std::uint64_t> symbols;  ///< addresses
    std::map<std::string, std::uint32_t> labels;
    std::vector<std::pair<std::uint32_t, std::string>> jumps;
    std::map<std::pair<char, std::uint64_t>, Row> constants;
    int line = 0;
};

// .param .align 8 .b8 NAME[432], .param .u64 NAME, …; .maxntid 128, 1, 1
void Decoder::head(std::string_view text) {
    const std::string all(text);
    static const std::regex parameter(
        R"(\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z])(\d+)\s+([\w$]+)(?:\[(\d+)\])?)"),
        threads(R"(\.maxntid\s+(\d+))");
    int end = 0;
    for (std::sregex_iterator at(all.begin(), all.end(), parameter), last; at != last; ++at) {
        const int size = std::stoi((*at)[3]) / 8 * ((*at)[5].matched ? std::stoi((*at)[5]) : 1);
        const int begin = rounded_up(end, (*at)[1].matched ? std::stoi((*at)[1]) : size);
        kernel.parameter_bytes.push_back(size);
        kernel.parameter_offsets.push_back(begin);
        symbols[(*at)[4]] = parameters_begin + static_cast<std::uint64_t>(begin);
        end = begin + size;
    }
    std::smatch found;
    if (std::regex_search(all, found, threads)) kernel.most_threads = std::stoi(found[1]);
}

void Decoder::body(Reader& reader) {
    while (true) {
        const Statement statement = reader.next();
        line = statement.line;
        switch (statement.kind) {
        case Statement::Kind::open: scopes.push_back({}); break;
        case Statement::Kind::close: scopes.pop_back(); break;
        case Statement::Kind::label:
            labels[statement.word] = static_cast<std::uint32_t>(kernel.code.size());
            break;
        case Statement::Kind::directive: directive(statement); break;
        case Statement::Kind::instruction: instruction(statement); break;
        }
        if (scopes.empty()) break;
    }
    for (const auto& [from, label] : jumps) {
        if (!labels.count(label)) fail("there is no label " + label);
        kernel.code[from].target = labels[label];
    }
    // Whoever reaches the end has left: PTX 9.7.13, exit.
    if (kernel.code.empty() || kernel.code.back().flow != Flow::exit) {
        Instruction end;
        end.flow = Flow::exit, end.line = line;
        kernel.code.push_back(end);
    }
}

void Decoder::directive(const Statement& statement) {
    // Hints for ptxas and for debuggers
    if (statement.word == ".pragma" || statement.word == ".loc" || statement.word == ".file") return;
    std::istringstream words(statement.rest);
    std::string type, names;
    if (statement.word == ".reg") {
        words >> type;
        std::getline(words, names);
        declare(type, names);
    } else if (statement.word == ".local" || statement.word == ".shared") {
        place(statement.word, statement.rest);
    } else {
        fail("unknown directive " + statement.word);
    }
}

void Decoder::declare(const std::string& type, const std::string& names) {
    const char kind = kind_of_type(type);
    if (kind == '?') fail("registers of type " + type);
    static const std::regex name(R"(([%\w$]+)(?:<(\d+)>)?)");
    for (std::sregex_iterator at(names.begin(), names.end(), name), last; at != last; ++at) {
        const int count = (*at)[2].matched ? std::stoi((*at)[2]) : 1;
        const Register first{take_rows(kind, count), kind};
        if ((*at)[2].matched)
            scopes.back().ranges[(*at)[1]] = {first, count};
        else
            scopes.back().names[(*at)[1]] = first;
    }
}

// .align 16 .b8 NAME[288]
void Decoder::place(const std::string& space, const std::string& rest) {
    static const std::regex array(R"(\s*\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]\s*)");
    std::smatch found;
    if (!std::regex_match(rest, found, array)) fail("unknown " + space + rest);
    int& end = space == ".local" ? kernel.local_bytes : kernel.shared_bytes;
    const int begin = rounded_up(end, std::stoi(found[1]));
    end = begin + std::stoi(found[3]);
    if (space == ".shared") fail("shared memory of a fixed size");  // it would lie before that of the launch
    symbols[found[2]] = local_begin + static_cast<std::uint64_t>(begin);
}

std::optional<Register> Decoder::find(const std::string& name) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        const auto exact = scope->names.find(name);
        if (exact != scope->names.end()) return exact->second;
        std::size_t digits = name.size();
        while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
        if (digits == name.size() || digits == 0) continue;
        const auto range = scope->ranges.find(name.substr(0, digits));
        const int n = range == scope->ranges.end() ? 0 : std::stoi(name.substr(digits));
        if (range == scope->ranges.end() || n >= range->second.count) continue;
        Register one = range->second.first;
        one.row += words_of(one.kind) * static_cast<Row>(n);
        return one;
    }
    return std::nullopt;
}

Row Decoder::constant(char kind, std::uint64_t value) {
    // Of a predicate 0 is false and everything else true
    if (kind == 'p') value = value ? ~std::uint64_t(0) : 0;
    const auto [at, is_new] = constants.try_emplace({kind, value}, 0);
    if (is_new) {
        at->second = take_rows(kind, 1);
        kernel.constants.push_back({at->second, kind == 'p' ? 1 : bits_of_kind(kind), value});
    }
    return at->second;
}

// PTX 10: special registers
Row Decoder::special(const std::string& name) {
    static const std::map<std::string, Special> known{
        {"%tid.x", Special::tid_x},       {"%ntid.x", Special::ntid_x},     {"%ctaid.x", Special::ctaid_x},
        {"%ctaid.y", Special::ctaid_y},   {"%ctaid.z", Special::ctaid_z},   {"%nctaid.x", Special::nctaid_x},
        {"%nctaid.y", Special::nctaid_y}, {"%nctaid.z", Special::nctaid_z}, {"%laneid", Special::laneid}};
    const auto found = known.find(name);
    if (found == known.end()) fail("unknown name " + name);
    for (const Kernel::SpecialRow& row : kernel.specials)
        if (row.which == found->second) return row.row;
    kernel.specials.push_back({take_rows('w', 1), found->second});
    return kernel.specials.back().row;
}

// Its registers have the widths of the table
bool Decoder::fits(const InstructionInfo& info, const std::vector<const Operand*>& operands) const {
    for (std::size_t n = 0; n < std::min(info.operands.size(), operands.size()); ++n) {
        const auto found = find(operands[n]->name);
        if (operands[n]->kind == Operand::Kind::name && found && found->kind != info.operands[n])
            return false;
    }
    return true;
}

Row Decoder::value(const Operand& operand, char kind) {
    if (operand.kind == Operand::Kind::number) return constant(kind, operand.number);
    if (operand.kind != Operand::Kind::name) fail("an operand of another kind is expected");
    if (const auto found = find(operand.name)) {
        if (found->kind != kind) fail(operand.name + " is a register of another width");
        return found->row;
    }
    const auto symbol = symbols.find(operand.name);
    if (symbol != symbols.end()) return constant(kind, symbol->second);
    if (kind != 'w') fail("unknown name " + operand.name);
    return special(operand.name);
}

// `nth` of the addresses of its instruction: cp.async has two.
void Decoder::address(const Operand& operand, Instruction& in, std::size_t n, std::size_t nth) {
    if (operand.kind != Operand::Kind::address) fail("an address is expected");
    const auto base = find(operand.name);
    const auto symbol = symbols.find(operand.name);
    if (base && base->kind != 'w' && base->kind != 'q') fail(operand.name + " is no address");
    if (!base && symbol == symbols.end()) fail("unknown name " + operand.name);
    // Addresses of 32 bits are shared memory's; the first of cp.async, too
    const bool wide = !base || base->kind == 'q';
    if (nth == 0) in.wide = wide;
    if (nth == 1 && !wide) fail("an address of global memory has 64 bits");
    in.at[n] = base ? base->row : constant('q', symbol->second);
    in.offset[nth] = static_cast<std::int64_t>(operand.number);
}

void Decoder::instruction(const Statement& statement) {
    Instruction in;
    in.line = line;
    // mov of a vector packs or unpacks
    std::string opcode = statement.word;
    std::vector<const Operand*> flat;
    for (const Operand& operand : statement.operands) {
        if (operand.kind != Operand::Kind::vector) {
            flat.push_back(&operand);
            continue;
        }
        for (const Operand& part : operand.parts) flat.push_back(&part);
        if (opcode.compare(0, 4, "mov.") == 0)
            opcode += &operand == &statement.operands.front() ? " unpack" : " pack";
    }
    // ld and cvt take registers that are wider than their type says: PTX 9.4.1
    const auto wide = instruction_table().find(opcode + " wide");
    if (wide != instruction_table().end() && fits(wide->second, flat)) opcode += " wide";
    const auto info = instruction_table().find(opcode);
    if (info == instruction_table().end()) fail("unknown instruction " + opcode);
    const std::string letters = info->second.operands;
    if (letters.size() != flat.size()) fail("another number of operands than " + opcode + " has");
    if (letters.size() > in.at.size()) fail("too many operands");
    in.run = info->second.run, in.flow = info->second.flow;
    in.mask = static_cast<std::uint8_t>(letters.empty() ? 0 : letters.size() - 1);
    if (!statement.guard.empty()) {
        const auto guard = find(statement.guard.substr(statement.guard[0] == '!'));
        if (!guard || guard->kind != 'p') fail("unknown guard " + statement.guard);
        in.guarded = true, in.negated = statement.guard[0] == '!', in.guard = guard->row;
    }
    std::size_t addresses = 0;
    for (std::size_t n = 0; n < flat.size(); ++n) {
        if (letters[n] == '0' && (flat[n]->kind != Operand::Kind::number || flat[n]->number != 0))
            fail("only barrier 0 is known");
        if (letters[n] == '0') continue;
        if (letters[n] == 't')
            jumps.emplace_back(static_cast<std::uint32_t>(kernel.code.size()), flat[n]->name);
        else if (letters[n] == 'a')
            address(*flat[n], in, n, addresses++);
        else
            in.at[n] = value(*flat[n], letters[n]);
    }
    kernel.code.push_back(in);
}

}  // namespace

Kernel decode(const std::string& name, std::string_view head, Reader body,
              const std::vector<std::string>& shared_arrays) {
    Kernel kernel;
    kernel.name = name;
    Decoder decoder(kernel, shared_arrays);
    decoder.head(head);
    decoder.body(body);
    return kernel;
}

}  // namespace tilewalk::ptx
