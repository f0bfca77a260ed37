// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/module.hpp"

#include "bytecode/readable_name.hpp"
#include "check/written.hpp"
#include "objects/code/library.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/process/error.hpp"
#include "objects/textures/reference.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::emulator {

namespace {

void write_initial_value(const Program& program, const passes::GlobalVariable& variable,
                         const Program::Symbols& addresses);

} // namespace

std::shared_ptr<Module> Module::create(const std::shared_ptr<Context>& context,
                                       const Program& program, bool is_of_library) {
    auto module = std::shared_ptr<Module>(new Module(context, is_of_library));
    module->addresses_ = module->place_variables(program);
    module->kernels_ = program.kernels();
    module->functions_.resize(module->kernels_->size());
    HandleTable::instance().insert(HandleKind::Module, module);
    return module;
}

Module::Module(std::shared_ptr<Context> context, bool is_of_library)
    : context_(std::move(context)), is_of_library_(is_of_library) {}

Module::~Module() {
    for (const auto& [name, allocation] : variables_) {
        Allocations::instance().remove(allocation);
    }
}

void Module::unload() {
    HandleTable::instance().erase(HandleKind::Module, handle_value());
    const std::lock_guard lock(mutex_);
    is_unloaded_ = true;
    // The functions themselves stay: a kernel that still runs may launch them.
    for (const auto& function : functions_) {
        if (function != nullptr) {
            HandleTable::instance().erase(HandleKind::Function, function->handle_value());
        }
    }
    for (const auto& [name, reference] : textures_) {
        reference->destroy();
    }
    for (const auto& [name, reference] : surfaces_) {
        reference->destroy();
    }
    textures_.clear();
    surfaces_.clear();
}

void Module::unload_all(const Context& context) {
    for (const auto& object : HandleTable::instance().all(HandleKind::Library)) {
        static_cast<Library&>(*object).forget(context);
    }
    for (const auto& object : HandleTable::instance().all_of(HandleKind::Module, &context)) {
        static_cast<Module&>(*object).unload();
    }
}

std::shared_ptr<Function> Module::function(const std::string& name) {
    const auto index = kernels_->find(name);
    if (!index) {
        fail(CUDA_ERROR_NOT_FOUND,
             "no kernel '" + name + "' in the module; it has: " + kernels_->names());
    }
    return function(*index);
}

std::shared_ptr<Function> Module::function(std::size_t index) {
    const std::lock_guard lock(mutex_);
    auto& function = functions_[index];
    if (function == nullptr) {
        const auto& kernel = (*kernels_)[index];
        function = std::make_shared<Function>(shared_from_this(), kernel,
                                              passes::place_symbols(*kernel, addresses_));
        if (!is_unloaded_) {
            HandleTable::instance().insert(HandleKind::Function, function);
        }
    }
    return function;
}

std::shared_ptr<Function> Module::function_at(std::uint64_t address) {
    const auto index = kernels_->find_at(address);
    return index ? function(*index) : nullptr;
}

std::vector<std::shared_ptr<Function>> Module::functions() {
    std::vector<std::shared_ptr<Function>> all;
    for (std::size_t index = 0; index < kernels_->size(); ++index) {
        all.push_back(function(index));
    }
    return all;
}

const Allocation& Module::variable(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
        fail(CUDA_ERROR_NOT_FOUND, "no variable '" + name + "' in the module");
    }
    if (reference_types_.contains(name)) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "'" + name + "' is a texture or surface reference, which has no address");
    }
    return *found->second;
}

std::shared_ptr<TextureReference> Module::texture_reference(const std::string& name) {
    const std::uint64_t address = reference_address(name, ptx::Type::TexRef);
    const std::lock_guard lock(mutex_);
    auto& reference = textures_[name];
    if (reference == nullptr) {
        reference = std::make_shared<TextureReference>(context_, address);
        HandleTable::instance().insert(HandleKind::TextureReference, reference);
    }
    return reference;
}

std::shared_ptr<SurfaceReference> Module::surface_reference(const std::string& name) {
    const std::uint64_t address = reference_address(name, ptx::Type::SurfRef);
    const std::lock_guard lock(mutex_);
    auto& reference = surfaces_[name];
    if (reference == nullptr) {
        reference = std::make_shared<SurfaceReference>(context_, address);
        HandleTable::instance().insert(HandleKind::SurfaceReference, reference);
    }
    return reference;
}

std::uint64_t Module::reference_address(const std::string& name, ptx::Type type) const {
    const auto found = reference_types_.find(name);
    if (found == reference_types_.end() || found->second != type) {
        fail(CUDA_ERROR_NOT_FOUND, std::string("no ") +
                                       (type == ptx::Type::TexRef ? "texture" : "surface") +
                                       " reference '" + name + "' in the module");
    }
    return variables_.at(name)->base;
}

Program::Symbols Module::place_variables(const Program& program) {
    Program::Symbols addresses;
    for (const auto& variable : program.variables()) {
        if (variable.is_external) {
            continue; // the compiler reports it if a kernel uses it
        }
        auto allocation = Allocations::instance().allocate(
            variable.is_managed ? MemoryKind::Managed : MemoryKind::Device, context_,
            std::max<std::uint64_t>(variable.size_bytes, 1), 0,
            "variable '" + bytecode::readable_name(variable.name) + "'");
        addresses.emplace(variable.name, allocation->base);
        if (variable.type == ptx::Type::TexRef || variable.type == ptx::Type::SurfRef ||
            variable.type == ptx::Type::SamplerRef) {
            reference_types_.emplace(variable.name, variable.type);
        }
        variables_.emplace(variable.name, std::move(allocation));
    }
    for (const auto& variable : program.variables()) {
        if (!variable.is_external) {
            write_initial_value(program, variable, addresses);
        }
    }
    return addresses;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void write_initial_value(const Program& program, const passes::GlobalVariable& variable,
                         const Program::Symbols& addresses) {
    auto* memory = reinterpret_cast<std::byte*>(addresses.at(variable.name));
    std::memset(memory, 0, variable.size_bytes);
    check::mark_written(AddressSpace::instance().map(), addresses.at(variable.name),
                        variable.size_bytes);
    if (!variable.initial.empty()) {
        std::memcpy(memory, variable.initial.data(),
                    std::min<std::uint64_t>(variable.initial.size(), variable.size_bytes));
    }
    for (const auto& relocation : variable.relocations) {
        const auto symbol = addresses.find(relocation.symbol);
        const std::uint64_t value =
            (symbol != addresses.end() ? symbol->second
                                       : program.function_address(relocation.symbol)) +
            static_cast<std::uint64_t>(relocation.addend);
        const std::size_t size = std::min<std::size_t>(relocation.size_bytes, sizeof value);
        if (relocation.offset + size <= variable.size_bytes) {
            std::memcpy(memory + relocation.offset, &value, size);
        }
    }
}

} // namespace

} // namespace cuprum::emulator
