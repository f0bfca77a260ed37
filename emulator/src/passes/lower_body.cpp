// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Lowers statements in order: scopes, declarations, and the dispatch of instructions.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"
#include "passes/words.hpp"
#include "ptx/linker.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;
using ptx::Problem;
using ptx::Space;

namespace {

/// Far more than any compiler emits. The limit bounds the inlining of untrusted modules.
constexpr std::size_t MAX_INSTRUCTIONS = 4'000'000;
constexpr std::uint64_t MAX_LOCAL_BYTES = 512 * 1024;
/// The limits that all devices have for a kernel's shared memory and parameters.
constexpr std::uint64_t MAX_STATIC_SHARED_BYTES = 48 * 1024;
constexpr std::uint64_t MAX_PARAMETER_BYTES = 32764;
/// Sizes are capped here so that their sums do not overflow.
constexpr std::uint64_t SIZE_CAP_BYTES = std::uint64_t{1} << 40;

template <typename T>
T align_up(T value, T alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/// Returns whether a loop around this instruction may wait for another thread.
bool waits_for_others(const ptx::Instruction& instruction) {
    if (instruction.opcode == "ld") {
        return has_modifier(instruction, "volatile") || has_modifier(instruction, "relaxed") ||
               has_modifier(instruction, "acquire");
    }
    return instruction.opcode == "atom" || instruction.opcode == "nanosleep" ||
           instruction.opcode == "mbarrier";
}

/// Returns whether an instruction does no more than copy its source: a plain mov, or a conversion
/// of an address that changes nothing.
bool is_copy(const ptx::Instruction& instruction) {
    const bool is_conversion =
        instruction.opcode == "cvta" &&
        (has_modifier(instruction, "global") || has_modifier(instruction, "const"));
    return (instruction.opcode == "mov" || is_conversion) && instruction.operands.size() == 2 &&
           instruction.operands[0].kind == ptx::Operand::Kind::Name &&
           instruction.operands[1].kind != ptx::Operand::Kind::Vector;
}

/// Returns whether an instruction has other effects than its destinations, whatever its decoder
/// says.
bool has_side_effect(std::string_view opcode) {
    constexpr std::array<std::string_view, 7> NAMES{"atom", "red",   "mbarrier", "shfl",
                                                    "vote", "match", "redux"};
    return std::find(NAMES.begin(), NAMES.end(), opcode) != NAMES.end();
}

/// Returns whether the results of an instruction depend only on its operands. The list holds what
/// compilers put into wait loops; other instructions are treated as if they accessed memory.
bool is_arithmetic(std::string_view opcode) {
    constexpr std::array<std::string_view, 18> NAMES{"add", "and",  "cvt", "cvta", "lop3", "mad",
                                                     "mov", "mul",  "neg", "not",  "or",   "selp",
                                                     "set", "setp", "shl", "shr",  "sub",  "xor"};
    return std::find(NAMES.begin(), NAMES.end(), opcode) != NAMES.end();
}

} // namespace

void lower_body(KernelBuild& build) {
    FunctionLowering(build).run();
}

FunctionLowering::FunctionLowering(KernelBuild& build)
    : build_(build), banks_(build.kernel, build.options.bank_bytes), parameter_uses_(build.index) {}

void FunctionLowering::run() {
    const ptx::Function& function = build_.function;
    bytecode::Kernel& kernel = build_.kernel;
    kernel.name = function.name;
    std::copy_n(function.directives.max_threads, 3, kernel.max_threads);
    std::copy_n(function.directives.required_threads, 3, kernel.required_threads);
    std::copy_n(function.directives.required_cluster, 3, kernel.required_cluster);
    const ptx::Module& module = build_.index.module();
    kernel.ptx_version = module.version_major * 10 + module.version_minor;
    kernel.target_sm = module.target_sm();
    kernel.files = build_.index.files();
    kernel.source = module.source;

    kernel.code.reserve(function.body.size());
    kernel.lines.reserve(function.body.size());
    build_.notes.reserve(function.body.size());
    frames_.push_back({.function = &function});
    scopes_.push(true);
    declare_kernel_parameters();
    begin_stack();
    lower_statements(function.body);
    // Control must not run off the end of the code.
    current_ = nullptr;
    guard_ = {};
    lower_exit();
    scopes_.pop();
    for (std::size_t i = 0; i < functions_.size(); ++i) { // grows inside the loop
        lower_function(*functions_[i]);
    }
    finish_shared_memory();
    if (banks_.overfull() != nullptr) {
        refuse_bank(build_, banks_.overfull());
    }
}

/// Lowers a function that is not inlined, after all code so far.
void FunctionLowering::lower_function(const ptx::Function& function) {
    local_bytes_ = 0;
    frames_.assign(1, {.function = &function});
    scopes_.push(true);
    place_label(require_function(function));
    const std::vector<std::uint32_t> offsets = abi_offsets(function.returns, function.parameters);
    (void)place_local(offsets.back(), 1);
    const auto declare = [&](const ptx::Variable& formal, std::uint32_t offset) {
        if (formal.space != Space::Param) {
            build_.diagnostics.report(Problem::Unsupported, formal.location,
                                      "parameter '" + std::string(formal.name) +
                                          "' of a function that is called recursively or through "
                                          "a pointer must be in .param space");
            return;
        }
        auto storage = std::make_shared<ParameterStorage>();
        storage->local_offset = offset;
        Symbol symbol;
        symbol.kind = Symbol::Kind::Parameter;
        symbol.type = formal.type;
        symbol.size_bytes = formal.size_bytes();
        symbol.is_array = !formal.dimensions.empty();
        symbol.storage = std::move(storage);
        scopes_.declare(formal.name, symbol);
    };
    for (std::size_t i = 0; i < function.returns.size(); ++i) {
        declare(function.returns[i], offsets[i]);
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        declare(function.parameters[i], offsets[function.returns.size() + i]);
    }
    current_ = nullptr;
    guard_ = {};
    begin_stack();
    lower_statements(function.body);
    current_ = nullptr;
    guard_ = {};
    lower_return();
    scopes_.pop();
}

void FunctionLowering::declare_kernel_parameters() {
    bytecode::Kernel& kernel = build_.kernel;
    std::uint64_t offset = 0;
    for (const ptx::Variable& parameter : build_.function.parameters) {
        const std::uint64_t alignment = std::max<std::uint64_t>(1, parameter.effective_alignment());
        offset = align_up(offset, alignment);
        const std::uint64_t size = parameter.size_bytes();
        Symbol symbol;
        symbol.kind = Symbol::Kind::KernelParameter;
        symbol.type = parameter.type;
        symbol.offset = offset;
        symbol.size_bytes = size;
        symbol.is_array = !parameter.dimensions.empty();
        scopes_.declare(parameter.name, symbol);
        kernel.parameters.push_back({.offset = static_cast<std::uint32_t>(offset),
                                     .size_bytes = static_cast<std::uint32_t>(size),
                                     .alignment = static_cast<std::uint32_t>(alignment)});
        offset = std::min(offset + std::min(size, SIZE_CAP_BYTES), SIZE_CAP_BYTES);
    }
    if (offset > MAX_PARAMETER_BYTES) {
        build_.diagnostics.report(Problem::Syntax, build_.function.location,
                                  "kernel '" + kernel.name + "' takes " + std::to_string(offset) +
                                      " bytes of parameters; at most " +
                                      std::to_string(MAX_PARAMETER_BYTES) + " are allowed");
        offset = 0;
    }
    kernel.parameter_bytes = static_cast<std::uint32_t>(offset);
}

void FunctionLowering::lower_statements(std::span<const ptx::Statement> statements) {
    // Labels, target lists and prototypes may be used before they appear.
    bool has_parameters = false;
    for (const ptx::Statement& statement : statements) {
        Symbol symbol;
        std::string_view name;
        if (statement.kind == ptx::Statement::Kind::Label) {
            name = statement.label;
            symbol.kind = Symbol::Kind::Label;
            symbol.label = new_label();
        } else if (statement.kind == ptx::Statement::Kind::Targets) {
            name = statement.targets->name;
            symbol.kind = Symbol::Kind::Targets;
            symbol.targets = &*statement.targets;
        } else if (statement.kind == ptx::Statement::Kind::Prototype) {
            name = statement.prototype->name;
            symbol.kind = Symbol::Kind::Prototype;
            symbol.prototype = &*statement.prototype;
        } else {
            has_parameters |= statement.kind == ptx::Statement::Kind::Variable &&
                              statement.variable->space == Space::Param;
            continue;
        }
        if (!scopes_.declare(name, symbol)) {
            build_.diagnostics.report(Problem::Syntax, statement.location,
                                      "'" + std::string(name) + "' is declared twice");
        }
    }
    ParameterUses::ByName uses;
    if (has_parameters) {
        uses = parameter_uses_.of_variables(statements);
    }
    for (const ptx::Statement& statement : statements) {
        if (build_.diagnostics.is_full()) {
            return;
        }
        switch (statement.kind) {
        case ptx::Statement::Kind::Label:
            place_label(find(statement.label)->label);
            break;
        case ptx::Statement::Kind::Instruction:
            lower_instruction(statement.instruction);
            break;
        case ptx::Statement::Kind::Variable:
            declare_variable(*statement.variable, uses);
            break;
        case ptx::Statement::Kind::Block:
            scopes_.push(false);
            lower_statements(statement.block);
            scopes_.pop();
            break;
        case ptx::Statement::Kind::Prototype:
        case ptx::Statement::Kind::Targets:
            break;
        }
    }
}

void FunctionLowering::declare_variable(const ptx::Variable& variable,
                                        ParameterUses::ByName& uses) {
    Symbol symbol;
    symbol.type = variable.type;
    symbol.size_bytes = variable.size_bytes();
    symbol.is_array = !variable.dimensions.empty();
    switch (variable.space) {
    case Space::Register:
        declare_register(variable);
        return;
    case Space::Shared:
        symbol.kind =
            ptx::is_dynamic_shared(variable) ? Symbol::Kind::DynamicShared : Symbol::Kind::Shared;
        symbol.offset = place_shared(variable);
        break;
    case Space::Local:
        symbol.kind = Symbol::Kind::Local;
        symbol.offset = place_local(symbol.size_bytes, variable.effective_alignment());
        break;
    case Space::Param:
        symbol.kind = Symbol::Kind::Parameter;
        symbol.storage = make_storage(variable, uses.at(variable.name));
        break;
    default:
        build_.diagnostics.report(Problem::Unsupported, variable.location,
                                  "variable '" + std::string(variable.name) +
                                      "' is declared inside a function in a state space that is "
                                      "only supported at module scope");
        return;
    }
    if (!scopes_.declare(variable.name, symbol)) {
        build_.diagnostics.report(Problem::Syntax, variable.location,
                                  "'" + std::string(variable.name) + "' is declared twice");
    }
}

void FunctionLowering::declare_register(const ptx::Variable& variable) {
    const bool is_vector = variable.vector_width > 1;
    if (is_vector && variable.type == ptx::Type::Pred) {
        build_.diagnostics.report(Problem::Syntax, variable.location,
                                  "register '" + std::string(variable.name) +
                                      "' is a vector of predicates, which PTX does not have");
        return;
    }
    has_vectors_ = has_vectors_ || is_vector;
    if (variable.register_count != 0) {
        scopes_.declare(RegisterRange{variable.name, variable.register_count, variable.type,
                                      variable.vector_width});
    } else if (!scopes_.declare(variable.name, is_vector ? make_vector(variable.name, variable.type,
                                                                       variable.vector_width)
                                                         : make_register(variable.type))) {
        build_.diagnostics.report(Problem::Syntax, variable.location,
                                  "'" + std::string(variable.name) + "' is declared twice");
    }
}

void FunctionLowering::lower_instruction(const ptx::Instruction& written) {
    const ptx::Instruction& scalar = without_vectors(written);
    if (build_.kernel.code.size() > MAX_INSTRUCTIONS) {
        if (!build_.diagnostics.is_full()) {
            unsupported("kernel '" + build_.kernel.name + "' is too large once calls are inlined");
        }
        return;
    }
    current_ = &scalar;
    has_line_ = false;
    guard_ = {};
    is_guard_negated_ = false;
    if (scalar.guard) {
        ptx::Operand operand;
        operand.text = scalar.guard->predicate;
        operand.location = scalar.location;
        guard_ = predicate(operand).operand;
        is_guard_negated_ = scalar.guard->is_negated;
    }
    bool has_scope = false;
    const ptx::Instruction* const changed = without_elements(scalar, has_scope);
    if (changed == nullptr) {
        return;
    }
    const ptx::Instruction& instruction = *changed;
    current_ = &instruction;
    const std::size_t first = build_.kernel.code.size();
    note_products(instruction);
    if (!lower_own(instruction)) {
        is_copy_ = is_copy(instruction);
        decode(instruction, *this);
        is_copy_ = false;
    }
    if (instruction.opcode != "call" && waits_for_others(instruction)) {
        for (std::size_t i = first; i < build_.notes.size(); ++i) {
            build_.notes[i].waits_for_others = true;
        }
    }
    if (has_scope) {
        scopes_.pop();
    }
}

/// Lowers an instruction that decoders do not handle. Returns false for data instructions.
bool FunctionLowering::lower_own(const ptx::Instruction& instruction) {
    if (lower_control(instruction) || lower_stack(instruction)) {
        return true;
    }
    if (instruction.opcode == "ld" || instruction.opcode == "st") {
        return lower_parameter_access(instruction);
    }
    if (instruction.opcode == "cvta" &&
        std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                    is_param_modifier)) {
        decode_in_space(instruction, frames_.size() > 1 || !is_in_kernel() ? "local" : "shared");
        return true;
    }
    return false;
}

void FunctionLowering::emit(bytecode::Instruction instruction) {
    bytecode::Kernel& kernel = build_.kernel;
    if (instruction.guard.is_none() && !guard_.is_none()) {
        instruction.guard = guard_;
        if (is_guard_negated_) {
            instruction.flags |= bytecode::GUARD_NEGATED;
        }
    }
    if (current_ != nullptr) {
        if (!has_line_) {
            has_line_ = true;
            kernel.lines.push_back(
                {.ptx_line = current_->location.line,
                 .source_line = current_->source_line,
                 .source_file = current_->source_file,
                 .text_offset = text_offset_of(*current_, build_.index.module())});
        }
        if (has_side_effect(current_->opcode)) {
            instruction.flags |= bytecode::HAS_SIDE_EFFECT;
        }
    }
    instruction.line =
        kernel.lines.empty() ? 0 : static_cast<std::uint32_t>(kernel.lines.size() - 1);
    Note note;
    note.is_copy = is_copy_ && instruction.dst_count == 1 && instruction.src_count == 1 &&
                   instruction.extra_dst_count == 0 && instruction.extra_src_count == 0;
    note.is_arithmetic = note.is_copy || (current_ != nullptr && is_arithmetic(current_->opcode));
    kernel.code.push_back(instruction);
    build_.notes.push_back(note);
}

std::uint32_t FunctionLowering::add_operands(std::span<const Operand> operands) {
    auto& all = build_.kernel.operands;
    const auto first = static_cast<std::uint32_t>(all.size());
    all.insert(all.end(), operands.begin(), operands.end());
    return first;
}

void FunctionLowering::unsupported(std::string what) {
    complain(Problem::Unsupported, std::move(what));
}

void FunctionLowering::invalid(std::string what) {
    complain(Problem::Syntax, std::move(what));
}

void FunctionLowering::complain(Problem problem, std::string what) {
    // A function that is inlined several times must not be reported several times.
    const ptx::Location at = current_->location;
    for (const ptx::Diagnostic& known : build_.diagnostics.items()) {
        if (known.location.line == at.line && known.location.column == at.column &&
            known.message == what) {
            return;
        }
    }
    build_.diagnostics.report(problem, at, std::move(what));
}

// ---- memory ------------------------------------------------------------------------------------

std::uint64_t FunctionLowering::place_shared(const ptx::Variable& variable) {
    if (ptx::is_dynamic_shared(variable)) {
        dynamic_shared_alignment_ =
            std::max<std::uint64_t>(dynamic_shared_alignment_, variable.effective_alignment());
        return 0;
    }
    const auto [entry, is_new] = shared_offsets_.try_emplace(&variable, 0);
    if (is_new) {
        shared_bytes_ = align_up<std::uint64_t>(
            shared_bytes_, std::max<std::uint64_t>(1, variable.effective_alignment()));
        entry->second = shared_bytes_;
        shared_bytes_ =
            std::min(shared_bytes_ + std::min<std::uint64_t>(variable.size_bytes(), SIZE_CAP_BYTES),
                     SIZE_CAP_BYTES);
        build_.kernel.shared_variables.push_back(
            {std::string(variable.name), static_cast<std::uint32_t>(entry->second),
             static_cast<std::uint32_t>(variable.size_bytes())});
    }
    return entry->second;
}

std::uint32_t FunctionLowering::place_hidden_shared(std::uint32_t size_bytes) {
    constexpr std::uint64_t ALIGNMENT = 128;
    const std::uint64_t before = shared_bytes_;
    const std::uint64_t offset = align_up<std::uint64_t>(shared_bytes_, ALIGNMENT);
    shared_bytes_ = offset + size_bytes;
    build_.kernel.hidden_shared_bytes += static_cast<std::uint32_t>(shared_bytes_ - before);
    return static_cast<std::uint32_t>(offset);
}

std::uint32_t FunctionLowering::place_local(std::uint64_t size_bytes, std::uint64_t alignment) {
    bytecode::Kernel& kernel = build_.kernel;
    const std::uint64_t offset =
        align_up<std::uint64_t>(local_bytes_, std::max<std::uint64_t>(1, alignment));
    if (offset + size_bytes > MAX_LOCAL_BYTES) {
        build_.diagnostics.report(Problem::Unsupported, build_.function.location,
                                  "kernel '" + kernel.name + "' needs more than " +
                                      std::to_string(MAX_LOCAL_BYTES) +
                                      " bytes of local memory per thread");
        return 0;
    }
    local_bytes_ = offset + size_bytes;
    kernel.local_bytes = std::max(kernel.local_bytes, static_cast<std::uint32_t>(local_bytes_));
    return static_cast<std::uint32_t>(offset);
}

/// Places dynamic shared memory after the static part, which is complete now.
void FunctionLowering::finish_shared_memory() {
    bytecode::Kernel& kernel = build_.kernel;
    if (shared_bytes_ - kernel.hidden_shared_bytes > MAX_STATIC_SHARED_BYTES) {
        build_.diagnostics.report(Problem::Syntax, build_.function.location,
                                  "kernel '" + kernel.name + "' declares " +
                                      std::to_string(shared_bytes_ - kernel.hidden_shared_bytes) +
                                      " bytes of shared memory; at most " +
                                      std::to_string(MAX_STATIC_SHARED_BYTES) +
                                      " can be static, more must be dynamic");
        shared_bytes_ = 0;
        return;
    }
    if (dynamic_shared_alignment_ != 0) {
        // Dynamic memory follows the static variables. What lies between must not change its place
        // in lines of 1024 bytes: swizzles depend on it, and programs rely on a start at 0.
        constexpr std::uint64_t LINE_BYTES = 1024;
        const std::uint64_t own = shared_bytes_ - kernel.hidden_shared_bytes;
        const std::uint64_t wanted = align_up(own, dynamic_shared_alignment_);
        const std::uint64_t hidden = align_up<std::uint64_t>(
            kernel.hidden_shared_bytes, std::max(LINE_BYTES, dynamic_shared_alignment_));
        kernel.hidden_shared_bytes = static_cast<std::uint32_t>(hidden);
        shared_bytes_ = wanted + hidden;
    }
    banks_.place_dynamic_shared(shared_bytes_);
    kernel.static_shared_bytes =
        static_cast<std::uint32_t>(shared_bytes_) - kernel.hidden_shared_bytes;
    kernel.constant_memory_bytes = static_cast<std::uint32_t>(build_.index.constant_bytes());
}

std::uint32_t text_offset_of(const ptx::Instruction& instruction, const ptx::Module& module) {
    const std::string& source = *module.source;
    const char* begin = instruction.opcode.data();
    if (begin < source.data() || begin >= source.data() + source.size()) {
        return std::numeric_limits<std::uint32_t>::max(); // not from the text: reports show none
    }
    if (instruction.guard) {
        while (begin > source.data() && *begin != '@') {
            --begin;
        }
    }
    return static_cast<std::uint32_t>(begin - source.data());
}

} // namespace cuprum::emulator::passes
