// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Turns names, literals and addresses into operands of the four banks.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"
#include "passes/words.hpp"
#include "ptx/linker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cuprum::emulator::passes {

using bytecode::Bank;
using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;

namespace {

using Kind = ptx::Operand::Kind;

std::uint64_t float_bits(double value, Type type);
std::uint16_t half_bits(float value);

constexpr std::uint32_t WIDTH_BITS_PER_BYTE = 8;

std::string describe(Width width) {
    return width == Width::Predicate
               ? "a predicate"
               : std::to_string(static_cast<std::uint32_t>(width) * WIDTH_BITS_PER_BYTE) +
                     " bits wide";
}

} // namespace

// ---- names -------------------------------------------------------------------------------------

const Symbol* FunctionLowering::find(std::string_view name) {
    const Symbol* const symbol =
        scopes_.find(name, [this](std::string_view each, const RegisterRange& range) {
            return range.vector_width > 1 ? make_vector(each, range.type, range.vector_width)
                                          : make_register(range.type);
        });
    return symbol == nullptr && has_vectors_ ? find_component(name) : symbol;
}

Symbol FunctionLowering::make_register(Type type) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::Register;
    symbol.type = type;
    symbol.value = new_register(width_for(type), type);
    return symbol;
}

Operand FunctionLowering::new_register(Width width, Type type) {
    build_.registers.push_back({.width = width, .type = type});
    return {Bank::Registers, static_cast<std::uint32_t>(build_.registers.size() - 1)};
}

Operand FunctionLowering::register_source(const Symbol& symbol, std::string_view name,
                                          Width width) {
    const Width declared = width_for(symbol.type);
    if (declared != width) {
        invalid("register " + quoted(name) + " is " + describe(declared) + " where " +
                (width == Width::Predicate ? std::string("a predicate") : describe(width)) +
                " is expected");
        return {};
    }
    return symbol.value;
}

// ---- interface for decoders --------------------------------------------------------------------

Operand FunctionLowering::source(const ptx::Operand& operand, Width width, Type type) {
    switch (operand.kind) {
    case Kind::Integer:
    case Kind::Float32:
    case Kind::Float64:
        return literal(operand, width, type);
    case Kind::Name:
        if (const Symbol* symbol = find(operand.text);
            symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
            return register_source(*symbol, operand.text, width);
        }
        if (operand.text == "WARP_SZ") {
            return constant(bytecode::WARP_SIZE, width);
        }
        if (operand.text.starts_with('%')) {
            const Operand value = special_register(operand.text, width);
            if (value.is_none()) {
                invalid("register " + quoted(operand.text) + " is not declared");
            }
            return value;
        }
        return symbol_address(operand.text, 0, width, false);
    case Kind::WithOffset:
        return symbol_address(operand.text, operand.offset, width, false);
    default:
        invalid("operand of " + quoted(current_->opcode) +
                " must be a register, a symbol or a constant");
        return {};
    }
}

Operand FunctionLowering::destination(const ptx::Operand& operand, Width width) {
    if (operand.kind == Kind::Discarded || (operand.kind == Kind::Name && operand.text == "_")) {
        return {};
    }
    const Symbol* symbol = operand.kind == Kind::Name ? find(operand.text) : nullptr;
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Register) {
        invalid("destination " + quoted(operand.text) + " of " + quoted(current_->opcode) +
                " is not a declared register");
        return {};
    }
    return register_source(*symbol, operand.text, width);
}

Predicate FunctionLowering::predicate(const ptx::Operand& operand) {
    if (operand.kind == Kind::Integer) {
        return {constant(operand.bits, Width::Predicate), operand.is_negated};
    }
    const Symbol* symbol = operand.kind == Kind::Name ? find(operand.text) : nullptr;
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Register) {
        if (const Operand value = special_register(operand.text, Width::Predicate);
            !value.is_none()) {
            return {value, operand.is_negated};
        }
        invalid(quoted(operand.text) + " is not a declared predicate register");
        return {constant(0, Width::Predicate), operand.is_negated};
    }
    return {register_source(*symbol, operand.text, Width::Predicate), operand.is_negated};
}

Address FunctionLowering::address(const ptx::Operand& operand, Space space) {
    Address address;
    if (operand.kind != Kind::Address) {
        invalid("memory operand of " + quoted(current_->opcode) + " must be written in brackets");
        return address;
    }
    if (operand.text.empty()) {
        address.base = constant(static_cast<std::uint64_t>(operand.offset), Width::B64);
        return address;
    }
    address.offset = operand.offset;
    const Symbol* symbol = find(operand.text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
        address.base_width = width_for(symbol->type);
        if (address.base_width != Width::B32 && address.base_width != Width::B64) {
            invalid("register " + quoted(operand.text) + " cannot hold an address");
            return address;
        }
        address.base = symbol->value;
        return address;
    }
    if (symbol != nullptr && !is_in_kernel() && space == Space::Local) {
        const bool is_memory =
            symbol->kind == Symbol::Kind::Parameter && !symbol->storage->is_in_registers;
        if (is_memory || symbol->kind == Symbol::Kind::Local) {
            address.base = warp_special(bytecode::Special::LocalBase, Width::B64);
            // The offset comes from untrusted text: addresses wrap, signed sums must not overflow.
            const std::uint64_t base = is_memory ? symbol->storage->local_offset : symbol->offset;
            address.offset =
                static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) + base);
            return address;
        }
    }
    if (operand.text.starts_with('%') && symbol == nullptr) {
        invalid("register " + quoted(operand.text) + " is not declared");
        return address;
    }
    address.base = symbol_address(operand.text, 0, Width::B64, space == Space::None);
    return address;
}

Width FunctionLowering::width_of(const ptx::Operand& operand) {
    switch (operand.kind) {
    case Kind::Float32:
        return Width::B32;
    case Kind::Float64:
        return Width::B64;
    case Kind::Integer: {
        const auto value = static_cast<std::int64_t>(operand.bits);
        return value >= INT32_MIN && value <= static_cast<std::int64_t>(UINT32_MAX) ? Width::B32
                                                                                    : Width::B64;
    }
    default:
        break;
    }
    if (const Symbol* symbol = find(operand.text);
        symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
        return width_for(symbol->type);
    }
    const std::string_view name = operand.text;
    if (name.starts_with('%')) {
        return name.ends_with("64") || name == "%globaltimer" || name == "%gridid" ? Width::B64
                                                                                   : Width::B32;
    }
    return name == "WARP_SZ" ? Width::B32 : Width::B64;
}

Type FunctionLowering::type_of(const ptx::Operand& operand) {
    if (operand.kind != Kind::Name) {
        return Type::None;
    }
    const Symbol* symbol = find(operand.text);
    return symbol != nullptr && symbol->kind == Symbol::Kind::Register ? symbol->type : Type::None;
}

Operand FunctionLowering::temporary(Width width) {
    return new_register(width, Type::None);
}

Operand FunctionLowering::constant(std::uint64_t bits, Width width) {
    return banks_.constant(bits, width);
}

Operand FunctionLowering::lane_constant(std::span<const std::uint32_t> lanes) {
    const Operand constant = banks_.lane_constant(lanes);
    build_.lane_constants.insert(constant.offset());
    return constant;
}

std::vector<AddressRange> FunctionLowering::constant_memory() {
    std::vector<AddressRange> ranges;
    for (const ptx::Variable* const variable : build_.index.constant_variables()) {
        if (build_.options.symbols.contains(std::string(variable->name))) {
            ranges.push_back({.base = banks_.symbol(variable->name, 0, Width::B64),
                              .bytes = variable->size_bytes()});
        }
    }
    return ranges;
}

const MemoryMap& FunctionLowering::memory() const {
    return *build_.options.memory;
}

std::string_view FunctionLowering::target() const {
    const std::vector<std::string_view>& names = build_.index.module().target;
    const auto found =
        std::ranges::find_if(names, [](std::string_view name) { return name.starts_with("sm_"); });
    return found == names.end() ? std::string_view{} : *found;
}

// ---- symbols -----------------------------------------------------------------------------------

Operand FunctionLowering::symbol_address(std::string_view name, std::int64_t addend, Width width,
                                         bool is_generic) {
    if (width != Width::B32 && width != Width::B64) {
        invalid("the address of " + quoted(name) + " does not fit where " + describe(width) +
                " is expected");
        return {};
    }
    const MemoryMap& map = memory();
    const auto add = static_cast<std::uint64_t>(addend);
    const Symbol* symbol = find(name);
    Symbol of_module;
    if (symbol == nullptr) {
        const ptx::Variable* variable = build_.index.variable(name);
        if (variable != nullptr && variable->space == Space::Shared) {
            of_module.kind = ptx::is_dynamic_shared(*variable) ? Symbol::Kind::DynamicShared
                                                               : Symbol::Kind::Shared;
            of_module.offset = place_shared(*variable);
            symbol = &of_module;
        } else if (variable != nullptr) {
            if (!build_.options.symbols.contains(std::string(name))) {
                invalid("variable " + quoted(name) +
                        " is declared extern and no linked module defines it");
                return {};
            }
            return banks_.symbol(name, add, width);
        } else if (const ptx::Function* function = build_.index.function(name)) {
            if (function->is_declaration) {
                unsupported("taking the address of " + quoted(name) +
                            ", which has no body in this module, is not supported by the emulated "
                            "device");
                return {};
            }
            return constant(build_.index.addresses().of(function->name) + add, width);
        } else {
            invalid(quoted(name) + " is not declared");
            return {};
        }
    }
    switch (symbol->kind) {
    case Symbol::Kind::Shared:
        return constant(symbol->offset + add + (is_generic ? map.shared_base : 0), width);
    case Symbol::Kind::DynamicShared:
        return banks_.dynamic_shared(add + (is_generic ? map.shared_base : 0), width);
    case Symbol::Kind::Local:
        return local_address(symbol->offset + add, width, is_generic);
    case Symbol::Kind::KernelParameter: {
        bytecode::Kernel& kernel = build_.kernel;
        if (kernel.parameter_copy_bytes == 0) {
            kernel.parameter_copy_offset = place_hidden_shared(kernel.parameter_bytes);
            kernel.parameter_copy_bytes = kernel.parameter_bytes;
        }
        return constant(kernel.parameter_copy_offset + symbol->offset + add +
                            (is_generic ? map.shared_base : 0),
                        width);
    }
    case Symbol::Kind::Parameter:
        if (!symbol->storage->is_in_registers) {
            return local_address(symbol->storage->local_offset + add, width, is_generic);
        }
        break;
    default:
        break;
    }
    invalid(quoted(name) + " cannot be used as an operand of " + quoted(current_->opcode));
    return {};
}

/// Returns the address of a place in the local memory of the activation. In a kernel, the address
/// is a constant.
Operand FunctionLowering::local_address(std::uint64_t offset, Width width, bool is_generic) {
    const std::uint64_t address = offset + (is_generic ? memory().local_base : 0);
    if (is_in_kernel()) {
        return constant(address, width);
    }
    bytecode::Instruction add;
    add.form = FixedOp::LocalAddress;
    add.dst_count = 1;
    add.dst[0] = temporary(width);
    add.src_count = 1;
    add.src[0] = warp_special(bytecode::Special::LocalBase, Width::B64);
    add.immediate = static_cast<std::int64_t>(address);
    add.tag = width == Width::B32 ? 1 : 0;
    const bool was_copy = is_copy_;
    is_copy_ = false;
    emit(add);
    is_copy_ = was_copy;
    return add.dst[0];
}

// ---- literals ----------------------------------------------------------------------------------

Operand FunctionLowering::literal(const ptx::Operand& operand, Width width, Type type) {
    if (width == Width::Predicate) {
        return constant(operand.bits, width);
    }
    const bool wants_float =
        type == Type::F32 || type == Type::F64 || type == Type::F16 || type == Type::BF16;
    if (operand.kind == Kind::Integer) {
        // A half-precision constant is written as an integer that holds its bits.
        if (type == Type::F32 || type == Type::F64) {
            return constant(
                float_bits(static_cast<double>(static_cast<std::int64_t>(operand.bits)), type),
                width);
        }
        return constant(operand.bits, width);
    }
    const double value = operand.kind == Kind::Float64
                             ? std::bit_cast<double>(operand.bits)
                             : std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    const Type written = operand.kind == Kind::Float64 ? Type::F64 : Type::F32;
    if (wants_float && type != written) {
        return constant(float_bits(value, type), width);
    }
    if (!wants_float && operand.kind == Kind::Float64 && width == Width::B32) {
        return constant(float_bits(value, Type::F32), width); // a decimal in a .b32 operand
    }
    return constant(operand.bits, width);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::uint64_t float_bits(double value, Type type) {
    switch (type) {
    case Type::F32:
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Type::F16:
        return half_bits(static_cast<float>(value));
    case Type::BF16: {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    }
    default:
        return std::bit_cast<std::uint64_t>(value);
    }
}

/// Rounds to the nearest half-precision value, ties to even.
std::uint16_t half_bits(float value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) {
        return 0x7fff;
    }
    if (magnitude >= 65520.0f) {
        return sign | 0x7c00;
    }
    int exponent = 0;
    (void)std::frexp(magnitude, &exponent);
    // One unit in the last place: 2^-24 for subnormal halves, 2^(e-11) for magnitudes in [2^(e-1),
    // 2^e).
    const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // A carry out of the mantissa correctly increments the exponent.
    const std::uint32_t bits = unit == -24 ? units : ((unit + 24) << 10) + units;
    return static_cast<std::uint16_t>(sign | bits);
}

} // namespace

} // namespace cuprum::emulator::passes
