// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls: inlined, real, or of functions that the device itself provides.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"
#include "passes/words.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

namespace {

using OperandKind = ptx::Operand::Kind;

/// The alignment of everything that caller and callee exchange. It is the same for all types, so a
/// prototype always agrees with the functions that it describes.
constexpr std::uint32_t ABI_ALIGNMENT = 16;
constexpr std::uint32_t MAX_ABI_BYTES = 64 * 1024;

} // namespace

void FunctionLowering::lower_call(const ptx::Instruction& instruction) {
    std::span<const ptx::Operand> operands = instruction.operands;
    std::span<const ptx::Operand> returns;
    std::span<const ptx::Operand> arguments;
    if (!operands.empty() && operands[0].kind == OperandKind::List) {
        returns = operands[0].parts;
        operands = operands.subspan(1);
    }
    if (operands.empty() || operands[0].kind != OperandKind::Name) {
        invalid("call needs the name of a function");
        return;
    }
    const std::string_view name = operands[0].text;
    if (operands.size() > 1 && operands[1].kind == OperandKind::List) {
        arguments = operands[1].parts;
    }
    const ptx::Function* callee = build_.index.function(name);
    if (const Symbol* symbol = find(name);
        symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
        callee = nullptr;
    } else if (callee == nullptr) {
        invalid("function " + quoted(name) + " is not declared");
        return;
    }
    const builtins::Builtin* builtin = nullptr;
    if (callee != nullptr && operands.size() > 2) {
        invalid("'call' of " + quoted(name) +
                " has an operand behind its arguments; only a call "
                "through a register has a prototype");
        return;
    }
    if (callee != nullptr) {
        if (callee->is_entry || callee->returns.size() != returns.size() ||
            callee->parameters.size() != arguments.size()) {
            invalid("call of " + quoted(name) + " does not match its declaration");
            return;
        }
        builtin = callee->is_declaration ? builtins::find(name) : nullptr;
        if (callee->is_declaration && builtin == nullptr) {
            if (builtins::is_of_device_runtime(name)) {
                unsupported("call of " + quoted(name) + ": " +
                            std::string(builtins::NO_DEVICE_RUNTIME));
                return;
            }
            unsupported("call of " + quoted(name) +
                        ", which has no body in this module, is not supported by the emulated "
                        "device");
            return;
        }
    }
    std::optional<std::uint32_t> behind;
    if (!guard_.is_none()) {
        behind = new_label();
        emit_branch(*behind, guard_, !is_guard_negated_);
        guard_ = {};
    }
    if (builtin != nullptr) {
        lower_builtin(*builtin, returns, arguments);
    } else if (callee == nullptr) {
        lower_indirect_call(operands[0], operands.size() > 1 ? &operands.back() : nullptr, returns,
                            arguments);
    } else if (build_.index.calls().must_call(*callee)) {
        Instruction call;
        call.form = FixedOp::Call;
        call.immediate = require_function(*callee); // a label until resolve_calls
        emit_call(call, {callee->returns, callee->parameters}, returns, arguments);
    } else {
        inline_call(*callee, returns, arguments);
    }
    if (behind) {
        place_label(*behind);
    }
}

// ---- real calls --------------------------------------------------------------------------------

void FunctionLowering::lower_indirect_call(const ptx::Operand& callee,
                                           const ptx::Operand* prototype,
                                           std::span<const ptx::Operand> returns,
                                           std::span<const ptx::Operand> arguments) {
    const Symbol* symbol = prototype != nullptr ? find(prototype->text) : nullptr;
    Signature signature;
    if (symbol != nullptr && symbol->kind == Symbol::Kind::Prototype) {
        signature = {symbol->prototype->returns, symbol->prototype->parameters};
        if (!std::exchange(may_call_all_, true)) {
            for (const ptx::Function* function : build_.index.calls().address_taken()) {
                (void)require_function(*function);
            }
        }
    } else if (symbol != nullptr && symbol->kind == Symbol::Kind::Targets &&
               symbol->targets->is_call && !symbol->targets->targets.empty()) {
        for (const std::string_view name : symbol->targets->targets) {
            const ptx::Function* function = build_.index.function(name);
            if (function == nullptr || function->is_declaration || function->is_entry) {
                invalid(quoted(name) + " in a list of call targets is not a function with a body");
                return;
            }
            (void)require_function(*function);
            signature = {function->returns, function->parameters};
        }
    } else {
        invalid("indirect call through " + quoted(callee.text) + " needs a prototype");
        return;
    }
    if (signature.returns.size() != returns.size() ||
        signature.parameters.size() != arguments.size()) {
        invalid("indirect call through " + quoted(callee.text) + " does not match its prototype");
        return;
    }
    Instruction call;
    call.form = FixedOp::CallIndirect;
    call.src_count = 1;
    call.src[0] = source(callee, Width::B64, ptx::Type::U64);
    emit_call(call, signature, returns, arguments);
}

/// Emits a call and the copies before and after it.
void FunctionLowering::emit_call(Instruction call, const Signature& signature,
                                 std::span<const ptx::Operand> returns,
                                 std::span<const ptx::Operand> arguments) {
    const std::vector<std::uint32_t> offsets = abi_offsets(signature.returns, signature.parameters);
    if (offsets.back() > MAX_ABI_BYTES) {
        unsupported("a call passes more than " + std::to_string(MAX_ABI_BYTES) + " bytes");
        return;
    }
    // Every frame needs room for the passed values, even if the callee is unknown.
    build_.kernel.local_bytes = std::max(build_.kernel.local_bytes, offsets.back());
    build_.has_calls = true;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        emit_transfer(FixedOp::PassBytes, signature.parameters[i], arguments[i],
                      offsets[returns.size() + i]);
    }
    call.flags |= bytecode::HAS_SIDE_EFFECT;
    // This source is not read. It only gives the return address its place in the callee's frame.
    call.src[call.src_count++] = warp_special(bytecode::Special::ReturnAddress, Width::B32);
    emit(call);
    for (std::size_t i = 0; i < returns.size(); ++i) {
        emit_transfer(FixedOp::FetchBytes, signature.returns[i], returns[i], offsets[i]);
    }
}

/// Emits the copy of an argument to the callee's activation, or of a result from it.
void FunctionLowering::emit_transfer(FixedOp op, const ptx::Variable& formal,
                                     const ptx::Operand& actual, std::uint32_t callee_offset) {
    const ParameterStorage* storage = storage_of(actual);
    const bool is_argument = op == FixedOp::PassBytes;
    std::shared_ptr<const ParameterStorage> spilled;
    if (storage == nullptr && formal.space == ptx::Space::Param) {
        spilled = spill(formal, actual, is_argument);
        storage = spilled.get();
        if (storage == nullptr) {
            return;
        }
    }
    if (storage == nullptr || storage->is_in_registers || formal.space != ptx::Space::Param) {
        unsupported("passing " + quoted(actual.text) +
                    " in a recursive or indirect call is not supported; pass a variable in .param "
                    "space");
        return;
    }
    Instruction copy;
    copy.form = op;
    copy.flags = bytecode::HAS_SIDE_EFFECT;
    copy.immediate = static_cast<std::int64_t>(
        spilled ? formal.size_bytes()
                : std::min<std::uint64_t>(formal.size_bytes(), find(actual.text)->size_bytes));
    copy.target = is_argument ? storage->local_offset : callee_offset;
    copy.extra = is_argument ? callee_offset : storage->local_offset;
    emit(copy);
    note_local_write(copy.extra, static_cast<std::uint64_t>(copy.immediate), is_argument);
    if (spilled && !is_argument) {
        const Width width = width_for(formal.type);
        fetch_spilled(*spilled, destination(actual, width), width);
    }
}

/// Returns the label of a function and ensures that its code will be lowered.
std::uint32_t FunctionLowering::require_function(const ptx::Function& function) {
    const std::uint64_t address = build_.index.addresses().of(function.name);
    const auto [place, is_new] = build_.kernel.functions.try_emplace(address, 0);
    if (is_new) {
        place->second = new_label();
        build_.entries.push_back(place->second);
        functions_.push_back(&function);
    }
    return place->second;
}

std::vector<std::uint32_t> abi_offsets(std::span<const ptx::Variable> returns,
                                       std::span<const ptx::Variable> parameters) {
    std::vector<std::uint32_t> offsets;
    std::uint64_t offset = 0;
    for (const auto list : {returns, parameters}) {
        for (const ptx::Variable& variable : list) {
            offsets.push_back(static_cast<std::uint32_t>(offset));
            // One byte over the limit makes emit_call refuse it, and cannot overflow.
            const std::uint64_t size =
                std::min<std::uint64_t>(variable.size_bytes(), MAX_ABI_BYTES + 1);
            offset += (size + ABI_ALIGNMENT - 1) / ABI_ALIGNMENT * ABI_ALIGNMENT;
        }
    }
    offsets.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(offset, UINT32_MAX)));
    return offsets;
}

// ---- inlining ----------------------------------------------------------------------------------

void FunctionLowering::inline_call(const ptx::Function& callee,
                                   std::span<const ptx::Operand> returns,
                                   std::span<const ptx::Operand> arguments) {
    const ptx::Instruction* const call = current_;

    // Resolve the actual operands before the callee's scope hides their names.
    struct Binding {
        const ptx::Variable* formal;
        Symbol symbol;
        Operand copy_from;
    };

    std::vector<Binding> bindings;
    std::vector<std::pair<Symbol, Operand>> results; // .reg returns: copied after the body
    std::vector<std::pair<Symbol, Operand>> fetched; // .param returns into registers
    const auto bind = [&](const ptx::Variable& formal, const ptx::Operand& actual,
                          bool is_argument) {
        const Symbol* symbol = actual.kind == OperandKind::Name ? find(actual.text) : nullptr;
        Binding binding{.formal = &formal, .symbol = {}, .copy_from = {}};
        if (formal.space == ptx::Space::Param && symbol != nullptr &&
            symbol->kind == Symbol::Kind::Parameter) {
            binding.symbol = *symbol;
            binding.symbol.type = formal.type; // of the elements that the body names
            binding.symbol.is_array = !formal.dimensions.empty();
        } else if (formal.space == ptx::Space::Register && formal.vector_width > 1) {
            binding.symbol = make_vector(formal.name, formal.type, formal.vector_width);
            bind_vector(formal, actual, binding.symbol, is_argument ? nullptr : &results);
        } else if (formal.space == ptx::Space::Register) {
            binding.symbol = make_register(formal.type);
            const Width width = width_for(formal.type);
            if (is_argument) {
                binding.copy_from = source(actual, width, formal.type);
            } else {
                results.emplace_back(binding.symbol, destination(actual, width));
            }
        } else {
            binding.symbol.kind = Symbol::Kind::Parameter;
            binding.symbol.type = formal.type;
            binding.symbol.size_bytes = formal.size_bytes();
            binding.symbol.is_array = !formal.dimensions.empty();
            binding.symbol.storage = spill(formal, actual, is_argument);
            if (binding.symbol.storage == nullptr) {
                binding.symbol.storage = std::make_shared<ParameterStorage>();
            } else if (!is_argument) {
                fetched.emplace_back(binding.symbol, destination(actual, width_for(formal.type)));
            }
        }
        bindings.push_back(std::move(binding));
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        bind(callee.parameters[i], arguments[i], true);
    }
    for (std::size_t i = 0; i < returns.size(); ++i) {
        bind(callee.returns[i], returns[i], false);
    }

    scopes_.push(true);
    for (Binding& binding : bindings) {
        emit_copy(binding.symbol.value, binding.copy_from, width_for(binding.symbol.type));
        scopes_.declare(binding.formal->name, std::move(binding.symbol));
    }
    const std::uint32_t behind = new_label();
    frames_.push_back({.function = &callee, .return_label = behind});
    begin_stack();
    lower_statements(callee.body);
    frames_.pop_back();
    scopes_.pop();
    place_label(behind);

    current_ = call;
    has_line_ = false;
    guard_ = {};
    for (const auto& [symbol, to] : results) {
        emit_copy(to, symbol.value, width_for(symbol.type));
    }
    for (const auto& [symbol, to] : fetched) {
        fetch_spilled(*symbol.storage, to, width_for(symbol.type));
    }
}

} // namespace cuprum::emulator::passes
