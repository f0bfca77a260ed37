// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/printer.hpp"

#include <string_view>

namespace cuprum::emulator::ptx {

namespace {

/// Appends pieces of a tree to a text.
class Printer {
public:
    explicit Printer(std::string& out) : out_(out) {}

    void print(const Module& module);
    void print(const Function& function);
    void print(const Variable& variable);
    void print(const Instruction& instruction);
    void print(const Operand& operand);

private:
    void print(const Initializer& initializer);
    void print(const Statement& statement);
    void print(const KernelDirectives& directives);
    void print_statements(const std::vector<Statement>& statements);
    void print_parameters(const std::vector<Variable>& parameters);
    void print_extent(std::string_view directive, const std::uint32_t (&extent)[3]);
    void print_number(std::string_view directive, std::uint32_t value);
    void print_location(const Instruction& instruction);
    void print_hex(std::string_view prefix, std::uint64_t bits, int digits);
    void print_symbol(const Initializer& initializer);
    void print_offset(std::int64_t offset);

    void indent() { out_.append(4 * depth_, ' '); }

    template <typename Items>
    void print_list(std::string_view open, const Items& items, std::string_view close) {
        out_ += open;
        bool is_first = true;
        for (const auto& item : items) {
            out_ += is_first ? "" : ", ";
            is_first = false;
            print(item);
        }
        out_ += close;
    }

    void print(std::string_view text) { out_ += text; }

    std::string& out_;
    std::size_t depth_ = 0;
    std::uint32_t source_line_ = 0; // of the last .loc printed in this function
    std::uint32_t source_file_ = 0;
};

std::string_view to_string(Space space) noexcept;
std::string_view to_string(Linkage linkage) noexcept;

template <typename Node>
std::string print_alone(const Node& node) {
    std::string out;
    Printer(out).print(node);
    return out;
}

} // namespace

std::string to_text(const Module& module) {
    return print_alone(module);
}

std::string to_text(const Variable& variable) {
    return print_alone(variable);
}

std::string to_text(const Instruction& instruction) {
    return print_alone(instruction);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void Printer::print(const Module& module) {
    out_ += ".version " + std::to_string(module.version_major) + "." +
            std::to_string(module.version_minor) + "\n";
    print_list(".target ", module.target, "\n");
    out_ += ".address_size " + std::to_string(module.address_size) + "\n";
    for (std::size_t i = 0; i < module.files.size(); ++i) {
        if (!module.files[i].empty()) {
            out_ += ".file " + std::to_string(i) + " \"" + std::string(module.files[i]) + "\"\n";
        }
    }
    // Declarations first: the tree does not keep the order between functions and variables, and an
    // initialiser may name a function that is declared only in its place among the functions.
    for (const Function& function : module.functions) {
        if (function.is_declaration) {
            print(function);
        }
    }
    for (const Variable& variable : module.variables) {
        print(variable);
        out_ += ";\n";
    }
    for (const Function& function : module.functions) {
        if (!function.is_declaration) {
            print(function);
        }
    }
    for (const Alias& alias : module.aliases) {
        print(".alias ");
        print(alias.name);
        print(", ");
        print(alias.target);
        print(";\n");
    }
}

void Printer::print(const Function& function) {
    source_line_ = 0;
    source_file_ = 0;
    print(to_string(function.linkage));
    print(function.is_entry ? ".entry " : ".func ");
    if (!function.returns.empty()) {
        print_parameters(function.returns);
        out_ += ' ';
    }
    print(function.name);
    print_parameters(function.parameters);
    print(function.directives);
    if (function.is_declaration) {
        out_ += ";\n";
        return;
    }
    out_ += "\n{\n";
    print_statements(function.body);
    out_ += "}\n";
}

void Printer::print(const KernelDirectives& directives) {
    print_extent(".maxntid", directives.max_threads);
    print_extent(".reqntid", directives.required_threads);
    print_number(".minnctapersm", directives.min_blocks_per_sm);
    print_number(".maxnreg", directives.max_registers);
    print_extent(".reqnctapercluster", directives.required_cluster);
    print_number(".maxclusterrank", directives.max_cluster_rank);
    print(directives.is_explicit_cluster ? " .explicitcluster" : "");
    print(directives.is_noreturn ? " .noreturn" : "");
}

void Printer::print_extent(std::string_view directive, const std::uint32_t (&extent)[3]) {
    if (extent[0] != 0 || extent[1] != 0 || extent[2] != 0) {
        out_ += " " + std::string(directive) + " " + std::to_string(extent[0]) + ", " +
                std::to_string(extent[1]) + ", " + std::to_string(extent[2]);
    }
}

void Printer::print_number(std::string_view directive, std::uint32_t value) {
    if (value != 0) {
        out_ += " " + std::string(directive) + " " + std::to_string(value);
    }
}

void Printer::print_parameters(const std::vector<Variable>& parameters) {
    print_list("(", parameters, ")");
}

void Printer::print(const Variable& variable) {
    print(to_string(variable.linkage));
    print(to_string(variable.space));
    print(variable.is_managed ? " .attribute(.managed)" : "");
    print_number(".align", variable.alignment);
    if (variable.vector_width > 1) {
        out_ += " .v" + std::to_string(variable.vector_width);
    }
    print(" .");
    print(ptx::to_string(variable.type));
    if (variable.is_pointer) {
        print(" .ptr");
        if (variable.pointer_space != Space::None) {
            out_ += ' ';
            print(to_string(variable.pointer_space));
        }
        print_number(".align", variable.pointer_alignment);
    }
    out_ += ' ';
    print(variable.name);
    if (variable.register_count != 0) {
        out_ += "<" + std::to_string(variable.register_count) + ">";
    }
    for (const std::uint64_t dimension : variable.dimensions) {
        out_ += dimension == 0 ? "[]" : "[" + std::to_string(dimension) + "]";
    }
    if (variable.initializer) {
        out_ += " = ";
        print(*variable.initializer);
    }
}

void Printer::print(const Initializer& initializer) {
    switch (initializer.kind) {
    case Initializer::Kind::Integer:
        out_ += std::to_string(static_cast<std::int64_t>(initializer.bits));
        return;
    case Initializer::Kind::Float32:
        return print_hex("0f", initializer.bits, 8);
    case Initializer::Kind::Float64:
        return print_hex("0d", initializer.bits, 16);
    case Initializer::Kind::List:
        return print_list("{", initializer.items, "}");
    case Initializer::Kind::Setting:
        print(initializer.symbol);
        print(" = ");
        out_ += initializer.word.empty() ? std::to_string(initializer.bits)
                                         : std::string(initializer.word);
        return;
    case Initializer::Kind::Symbol:
        break;
    }
    if (initializer.mask == 0) {
        return print_symbol(initializer);
    }
    print_hex("0x", initializer.mask, 16);
    out_ += '(';
    print_symbol(initializer);
    out_ += ')';
}

void Printer::print_symbol(const Initializer& initializer) {
    print(initializer.is_generic ? "generic(" : "");
    print(initializer.symbol);
    print(initializer.is_generic ? ")" : "");
    print_offset(static_cast<std::int64_t>(initializer.bits));
}

void Printer::print_statements(const std::vector<Statement>& statements) {
    ++depth_;
    for (const Statement& statement : statements) {
        print(statement);
    }
    --depth_;
}

void Printer::print(const Statement& statement) {
    switch (statement.kind) {
    case Statement::Kind::Label:
        print(statement.label);
        out_ += ":\n";
        return;
    case Statement::Kind::Instruction:
        print_location(statement.instruction);
        indent();
        print(statement.instruction);
        out_ += '\n';
        return;
    case Statement::Kind::Variable:
        indent();
        print(*statement.variable);
        out_ += ";\n";
        return;
    case Statement::Kind::Block:
        indent();
        out_ += "{\n";
        print_statements(statement.block);
        indent();
        out_ += "}\n";
        return;
    case Statement::Kind::Prototype:
        print(statement.prototype->name);
        out_ += ": .callprototype ";
        print_parameters(statement.prototype->returns);
        out_ += " _ ";
        print_parameters(statement.prototype->parameters);
        print(statement.prototype->is_noreturn ? " .noreturn;\n" : ";\n");
        return;
    case Statement::Kind::Targets:
        print(statement.targets->name);
        print_list(statement.targets->is_call ? ": .calltargets " : ": .branchtargets ",
                   statement.targets->targets, ";\n");
        return;
    }
}

void Printer::print_location(const Instruction& instruction) {
    if (instruction.source_line == source_line_ && instruction.source_file == source_file_) {
        return;
    }
    source_line_ = instruction.source_line;
    source_file_ = instruction.source_file;
    indent();
    out_ += ".loc " + std::to_string(source_file_) + " " + std::to_string(source_line_) + " 0\n";
}

void Printer::print(const Instruction& instruction) {
    if (instruction.guard) {
        out_ += instruction.guard->is_negated ? "@!" : "@";
        print(instruction.guard->predicate);
        out_ += ' ';
    }
    print(instruction.opcode);
    for (const std::string_view modifier : instruction.modifiers) {
        out_ += '.';
        print(modifier);
    }
    print_list(instruction.operands.empty() ? "" : " ", instruction.operands, ";");
}

void Printer::print(const Operand& operand) {
    switch (operand.kind) {
    case Operand::Kind::Integer:
        out_ += std::to_string(static_cast<std::int64_t>(operand.bits));
        return;
    case Operand::Kind::Float32:
        return print_hex("0f", operand.bits, 8);
    case Operand::Kind::Float64:
        return print_hex("0d", operand.bits, 16);
    case Operand::Kind::Vector:
        return print_list("{", operand.parts, "}");
    case Operand::Kind::List:
        return print_list("(", operand.parts, ")");
    case Operand::Kind::Pair:
        print(operand.parts.at(0));
        out_ += '|';
        return print(operand.parts.at(1));
    case Operand::Kind::Address:
        out_ += '[';
        if (operand.text.empty()) {
            out_ += std::to_string(operand.offset);
        } else {
            print(operand.text);
            print_offset(operand.offset);
        }
        return print_list(operand.parts.empty() ? "" : ", ", operand.parts,
                          operand.is_unified ? "].unified" : "]");
    case Operand::Kind::Name:
    case Operand::Kind::Discarded:
    case Operand::Kind::WithOffset:
    case Operand::Kind::Element:
        break;
    }
    print(!operand.is_negated ? "" : operand.is_minus ? "-" : "!");
    print(operand.text);
    if (operand.kind == Operand::Kind::WithOffset) {
        out_ += '+' + std::to_string(operand.offset);
    } else if (operand.kind == Operand::Kind::Element) {
        out_ += '[';
        for (const Operand& index : operand.parts) {
            print(index);
            out_ += '+';
        }
        out_ += std::to_string(static_cast<std::int64_t>(operand.bits)) + ']';
    }
}

void Printer::print_offset(std::int64_t offset) {
    if (offset != 0) {
        out_ += '+' + std::to_string(offset);
    }
}

void Printer::print_hex(std::string_view prefix, std::uint64_t bits, int digits) {
    constexpr std::string_view HEX = "0123456789ABCDEF";
    print(prefix);
    for (int i = digits - 1; i >= 0; --i) {
        out_ += HEX[(bits >> (4 * i)) & 15];
    }
}

std::string_view to_string(Space space) noexcept {
    switch (space) {
    case Space::None:
        return "";
    case Space::Register:
        return ".reg";
    case Space::Special:
        return ".sreg";
    case Space::Constant:
        return ".const";
    case Space::Global:
        return ".global";
    case Space::Local:
        return ".local";
    case Space::Param:
        return ".param";
    case Space::Shared:
        return ".shared";
    }
    return "";
}

std::string_view to_string(Linkage linkage) noexcept {
    switch (linkage) {
    case Linkage::Internal:
        return "";
    case Linkage::Visible:
        return ".visible ";
    case Linkage::Extern:
        return ".extern ";
    case Linkage::Weak:
        return ".weak ";
    case Linkage::Common:
        return ".common ";
    }
    return "";
}

} // namespace

} // namespace cuprum::emulator::ptx
