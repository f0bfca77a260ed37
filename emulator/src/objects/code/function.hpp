// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/kernel.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace cuprum::emulator {

/// Throws INVALID_VALUE for a value that is none of its enumeration. Both are hints, which have no
/// effect here.
void check_cache_config(CUfunc_cache config);
void check_shared_memory_config(CUsharedconfig config);

class Context;
class Device;
class Module;

/// Returns how much dynamic shared memory a kernel can have on a device beside what it declares.
[[nodiscard]] int largest_dynamic_shared_bytes(const bytecode::Kernel& kernel,
                                               const Device& device);

/// The attributes of a kernel that programs can read and set, in a context or for a device.
class FunctionAttributes {
public:
    FunctionAttributes();

    /// Returns an attribute of a kernel on a device. Throws INVALID_VALUE if it is unknown.
    [[nodiscard]] int get(CUfunction_attribute attribute, const bytecode::Kernel& kernel,
                          const Device& device) const;

    /// Sets an attribute that can be set; throws INVALID_VALUE.
    void set(CUfunction_attribute attribute, int value, const bytecode::Kernel& kernel,
             const Device& device);

    /// Sets where to look up attributes that are not set here. Only the first call has an effect.
    void inherit(std::shared_ptr<const FunctionAttributes> from);

private:
    [[nodiscard]] int own(CUfunction_attribute attribute) const noexcept;

    std::array<std::atomic<int>, CU_FUNC_ATTRIBUTE_MAX> set_;
    std::mutex mutex_; // held while from_ is set
    std::shared_ptr<const FunctionAttributes> from_;
    std::atomic<const FunctionAttributes*> inherited_{nullptr};
};

/// A kernel in a context.
class Function final : public Object {
public:
    Function(const std::shared_ptr<Module>& module, std::shared_ptr<const bytecode::Kernel> kernel,
             std::shared_ptr<std::byte> constants)
        : module_(module), kernel_(std::move(kernel)), constants_(std::move(constants)) {}

    [[nodiscard]] const std::shared_ptr<const bytecode::Kernel>& kernel() const noexcept {
        return kernel_;
    }

    /// Returns the kernel's constants, with the addresses of variables in this context.
    [[nodiscard]] const std::shared_ptr<std::byte>& constants() const noexcept {
        return constants_;
    }

    /// Returns the module. Throws INVALID_HANDLE if it has been unloaded.
    [[nodiscard]] std::shared_ptr<Module> module() const;

    [[nodiscard]] FunctionAttributes& attributes() noexcept { return attributes_; }

private:
    std::weak_ptr<Module> module_;
    std::shared_ptr<const bytecode::Kernel> kernel_;
    std::shared_ptr<std::byte> constants_;
    FunctionAttributes attributes_;
};

/// Returns the offset and size of a parameter. Throws INVALID_VALUE after the last one.
void get_parameter_info(const bytecode::Kernel& kernel, std::size_t index, std::size_t* offset,
                        std::size_t* size);

} // namespace cuprum::emulator
