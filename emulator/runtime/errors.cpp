// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Names and explanations of error codes.

#include "runtime.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

using namespace cuprum::runtime;

namespace {

/// Explains a code that only the runtime has; returns null for the others.
const char* own_explanation(cudaError_t error) {
    switch (error) {
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument: a size of the grid or block is 0 or too large";
    case cudaErrorInvalidPitchValue:
        return "invalid pitch argument";
    case cudaErrorInvalidSymbol:
        return "invalid device symbol: no variable is registered for this address";
    case cudaErrorInvalidMemcpyDirection:
        return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver:
        return "the driver is older than this runtime library";
    case cudaErrorMissingConfiguration:
        return "a kernel's stub was called without a configuration (<<<...>>>)";
    case cudaErrorInvalidDeviceFunction:
        return "invalid device function: no kernel is registered for this address";
    case cudaErrorIncompatibleDriverContext:
        return "the current context was created by the driver API and is incompatible with the "
               "runtime";
    case cudaErrorInvalidHostPointer:
        return "invalid host pointer";
    case cudaErrorInvalidDevicePointer:
        return "invalid device pointer";
    case cudaErrorInvalidChannelDescriptor:
        return "invalid channel descriptor";
    default:
        return nullptr;
    }
}

/// The name of a code as the header writes it, empty if the header has no such code: the compiler
/// names the argument of a template, and shows a number for what is no enumerator.
template <cudaError_t Code>
struct CodeName {
    static constexpr std::string_view shown() {
        std::string_view text = __PRETTY_FUNCTION__;
        text.remove_prefix(text.find("Code = ") + 7);
        text = text.substr(0, text.find_first_of(";]"));
        return text.starts_with("cuda") ? text : std::string_view();
    }

    static constexpr auto TEXT = [] {
        std::array<char, shown().size() + 1> text{};
        std::ranges::copy(shown(), text.begin());
        return text;
    }();
};

static_assert(CodeName<cudaErrorInvalidValue>::shown() == "cudaErrorInvalidValue");
static_assert(CodeName<static_cast<cudaError_t>(9999)>::shown().empty());

/// The names of all codes below the last one, cudaErrorUnknown.
template <int... Codes>
constexpr std::array<const char*, sizeof...(Codes)>
names_of(std::integer_sequence<int, Codes...> /*codes*/) {
    return {CodeName<static_cast<cudaError_t>(Codes)>::TEXT.data()...};
}

constexpr auto NAMES = names_of(std::make_integer_sequence<int, cudaErrorUnknown + 1>());

} // namespace

extern "C" {

const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
    const auto index = static_cast<std::size_t>(error);
    const char* name = index < NAMES.size()               ? NAMES[index]
                       : error == cudaErrorApiFailureBase ? "cudaErrorApiFailureBase"
                                                          : "";
    return *name != '\0' ? name : "unrecognized error code";
}

const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    if (const char* own = own_explanation(error); own != nullptr) {
        return own;
    }
    const char* text = nullptr;
    const CUresult status = cuGetErrorString(static_cast<CUresult>(error), &text);
    return status == CUDA_SUCCESS && text != nullptr ? text : "unrecognized error code";
}

} // extern "C"
