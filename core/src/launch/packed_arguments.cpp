// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/packed_arguments.hpp"

#include "support/readable_name.hpp"

#include <cuprum/detail/launch_packed.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cuprum::detail {

namespace {

std::string place(const KernelState& kernel, std::size_t index) {
    return "argument " + std::to_string(index) + " of kernel \"" + kernel.name + "\"";
}

[[noreturn, gnu::cold]] void refuse_size(const KernelState& kernel, std::size_t index,
                                         std::size_t bytes) {
    const ParameterInfo& parameter = (**kernel.plan)[index];
    std::string text = place(kernel, index) + " has " + std::to_string(bytes) +
                       " bytes; expected " + std::to_string(parameter.size);
    if (parameter.kind == ParameterKind::Float) {
        text += parameter.size == sizeof(float) ? ", a float" : ", a double";
    }
    throw std::invalid_argument(text);
}

[[noreturn, gnu::cold]] void refuse_floating(const KernelState& kernel, std::size_t index,
                                             const void* value, const ArgumentType& type) {
    float narrow = 0;
    double wide = 0;
    if (type.size == sizeof(narrow)) {
        std::memcpy(&narrow, value, sizeof(narrow));
        wide = narrow;
    } else if (type.size == sizeof(wide)) {
        std::memcpy(&wide, value, sizeof(wide));
    }
    const ParameterInfo& parameter = (**kernel.plan)[index];
    const std::string expected = parameter.kind == ParameterKind::Pointer
                                     ? "a pointer"
                                     : "an integer of " + std::to_string(parameter.size) + " bytes";
    throw std::invalid_argument(place(kernel, index) + " is the floating-point number " +
                                std::to_string(wide) + ", but the kernel takes " + expected +
                                " there; convert it, or pass its bits with std::bit_cast");
}

/// Reads an integer and converts it to a floating-point number of the parameter's size.
/// @throws std::invalid_argument if that has another value.
double to_floating(const KernelState& kernel, std::size_t index, const void* value,
                   const ArgumentType& type) {
    const std::size_t bits = 8 * type.size;
    std::uint64_t raw = 0;
    bool is_negative = false;
    if (type.size <= sizeof(raw)) {
        std::memcpy(&raw, value, type.size); // little-endian, as every host with a device
        is_negative = type.is_signed && (raw >> (bits - 1) & 1U) != 0;
    }
    // The magnitude has no more significant bits than the type if it survives the way there.
    const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const std::uint64_t magnitude = is_negative ? (~raw + 1) & mask : raw;
    const std::size_t parameter_bytes = (**kernel.plan)[index].size;
    const int digits = parameter_bytes == sizeof(float) ? std::numeric_limits<float>::digits
                                                        : std::numeric_limits<double>::digits;
    std::uint64_t significant = magnitude;
    while (significant != 0 && (significant & 1U) == 0) {
        significant >>= 1U;
    }
    if (type.size > sizeof(raw) || significant >> static_cast<unsigned>(digits) != 0) {
        throw std::invalid_argument(
            place(kernel, index) + " is the integer " + (is_negative ? "-" : "") +
            std::to_string(magnitude) + ", but the kernel takes a " +
            (parameter_bytes == sizeof(float) ? "float" : "double") +
            " there, which cannot hold it exactly; convert it with static_cast");
    }
    const auto converted = static_cast<double>(magnitude);
    return is_negative ? -converted : converted;
}

} // namespace

PackedArguments::PackedArguments( // NOLINT(*-member-init)
    const KernelState& kernel, std::span<const KernelArgument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].data == nullptr) [[unlikely]] {
            throw std::invalid_argument(place(kernel, i) +
                                        " has a null address; expected the address of its value");
        }
    }
    if (kernel.plan->has_value()) {
        const std::vector<ParameterInfo>& plan = **kernel.plan;
        if (arguments.size() != plan.size()) [[unlikely]] {
            refuse_count(kernel, arguments.size());
        }
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (arguments[i].size != plan[i].size) [[unlikely]] {
                refuse_size(kernel, i, arguments[i].size);
            }
        }
    }
    make_room(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        addresses_[i] = const_cast<void*>(arguments[i].data); // the driver only reads
    }
}

/// Replaces the arguments that have another kind than their parameters.
void PackedArguments::convert(const KernelState& kernel, const void* const* addresses,
                              std::span<const ArgumentType> types) {
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (types.size() != plan.size()) {
        refuse_count(kernel, types.size());
    }
    make_room(types.size());
    converted_ = std::make_unique<double[]>(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
        addresses_[i] = const_cast<void*>(addresses[i]);
        if (is_taken(types[i], plan[i])) {
            continue;
        }
        if (plan[i].kind == ParameterKind::Float && types[i].kind == ArgumentType::Integer) {
            const double value = to_floating(kernel, i, addresses[i], types[i]);
            if (plan[i].size == sizeof(float)) {
                const auto narrow = static_cast<float>(value); // exact: it was checked
                std::memcpy(&converted_[i], &narrow, sizeof(narrow));
            } else {
                converted_[i] = value;
            }
            addresses_[i] = &converted_[i];
        } else if (types[i].kind == ArgumentType::Floating &&
                   (plan[i].kind == ParameterKind::Integer ||
                    plan[i].kind == ParameterKind::Pointer)) {
            refuse_floating(kernel, i, addresses[i], types[i]);
        } else {
            refuse_size(kernel, i, types[i].size);
        }
    }
}

void PackedArguments::refuse_count(const KernelState& kernel, std::size_t count) {
    throw std::invalid_argument(wrong_count_text(kernel.name, **kernel.plan, count));
}

std::string wrong_count_text(std::string_view kernel, std::span<const ParameterInfo> plan,
                             std::size_t given) {
    std::string text =
        "kernel \"" + readable_name(kernel) + "\" takes " + std::to_string(plan.size()) +
        (plan.size() == 1 ? " argument, " : " arguments, ") + std::to_string(given) + " given";
    if (!plan.empty()) {
        text += "; its parameters have these sizes in bytes:";
        for (const ParameterInfo& parameter : plan) {
            text += " " + std::to_string(parameter.size);
        }
    }
    return text;
}

void PackedArguments::make_room(std::size_t count) {
    addresses_ = on_stack_;
    if (count > MAX_ON_STACK) [[unlikely]] {
        on_heap_ = std::make_unique<void*[]>(count);
        addresses_ = on_heap_.get();
    }
}

OwnedArguments::OwnedArguments(std::span<const ParameterInfo> plan, void* const* addresses)
    : values_(plan.empty() ? 0 : plan.back().offset + plan.back().size) {
    addresses_.reserve(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
        std::byte* const value = values_.data() + plan[i].offset;
        std::memcpy(value, addresses[i], plan[i].size);
        addresses_.push_back(value);
    }
}

OwnedArguments::OwnedArguments(const OwnedArguments& other)
    : values_(other.values_), addresses_(other.addresses_) {
    for (void*& address : addresses_) {
        address = values_.data() + (static_cast<std::byte*>(address) - other.values_.data());
    }
}

OwnedArguments& OwnedArguments::operator=(const OwnedArguments& other) {
    return *this = OwnedArguments(other);
}

} // namespace cuprum::detail
