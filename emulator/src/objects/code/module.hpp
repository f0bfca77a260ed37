// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/code/function.hpp"
#include "objects/code/program.hpp"
#include "objects/devices/context.hpp"
#include "objects/memory/allocations.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

class SurfaceReference;
class TextureReference;

/// A program in a context: its variables have memory, its kernels are functions.
class Module final : public Object, public std::enable_shared_from_this<Module> {
public:
    /// Allocates memory for a program's variables in a context. The module keeps the kernels, but
    /// not the program.
    [[nodiscard]] static std::shared_ptr<Module> create(const std::shared_ptr<Context>& context,
                                                        const Program& program, bool is_of_library);

    /// Frees the variables.
    ~Module() override;

    /// Invalidates the handles of the module and its functions.
    void unload();

    /// Unloads every module of a context, including those of libraries.
    static void unload_all(const Context& context);

    /// Returns a function by name. Throws NOT_FOUND and lists the kernels that exist.
    [[nodiscard]] std::shared_ptr<Function> function(const std::string& name);

    /// Returns the function whose address in kernels is given, or nullptr.
    [[nodiscard]] std::shared_ptr<Function> function_at(std::uint64_t address);

    /// Returns all functions in the order of the source.
    [[nodiscard]] std::vector<std::shared_ptr<Function>> functions();

    /// Returns a variable's memory. Throws NOT_FOUND if there is no such variable.
    [[nodiscard]] const Allocation& variable(const std::string& name) const;

    /// Returns a texture or surface reference. Throws NOT_FOUND if there is none of this name.
    [[nodiscard]] std::shared_ptr<TextureReference> texture_reference(const std::string& name);
    [[nodiscard]] std::shared_ptr<SurfaceReference> surface_reference(const std::string& name);

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] const void* belongs_to() const noexcept override { return context_.get(); }

    [[nodiscard]] bool is_of_library() const noexcept { return is_of_library_; }

private:
    Module(std::shared_ptr<Context> context, bool is_of_library);

    [[nodiscard]] std::shared_ptr<Function> function(std::size_t index);
    [[nodiscard]] Program::Symbols place_variables(const Program& program);
    [[nodiscard]] std::uint64_t reference_address(const std::string& name, ptx::Type type) const;

    std::shared_ptr<Context> context_;
    bool is_of_library_;
    std::shared_ptr<const KernelList> kernels_;
    Program::Symbols addresses_; // of the variables
    std::map<std::string, std::shared_ptr<Allocation>> variables_;
    std::map<std::string, ptx::Type> reference_types_; // of variables that are references
    std::mutex mutex_;                                 // guards the members below
    bool is_unloaded_ = false;
    std::vector<std::shared_ptr<Function>> functions_; // as kernels_, made on first use
    std::map<std::string, std::shared_ptr<TextureReference>> textures_; // made on first use
    std::map<std::string, std::shared_ptr<SurfaceReference>> surfaces_; // made on first use
};

} // namespace cuprum::emulator
