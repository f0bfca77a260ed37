// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/library.hpp"

#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"

namespace cuprum::emulator {

std::shared_ptr<Library> LibraryKernel::library() const {
    auto library = library_.lock();
    if (library == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the kernel's library has been unloaded");
    }
    return library;
}

std::shared_ptr<Function> LibraryKernel::function(const std::shared_ptr<Context>& context) {
    {
        const std::lock_guard lock(mutex_);
        if (last_context_ == context.get() && last_life_ == context->life()) {
            if (auto function = last_function_.lock()) {
                return function;
            }
        }
    }
    auto function = library()->module(context)->function(kernel_->name);
    function->attributes().inherit(attributes(context->device().ordinal()));
    const std::lock_guard lock(mutex_);
    last_function_ = function;
    last_context_ = context.get();
    last_life_ = context->life();
    return function;
}

std::shared_ptr<FunctionAttributes> LibraryKernel::attributes(int device) {
    const std::lock_guard lock(mutex_);
    auto& attributes = attributes_[device];
    if (attributes == nullptr) {
        attributes = std::make_shared<FunctionAttributes>();
    }
    return attributes;
}

std::shared_ptr<Library> Library::create(std::shared_ptr<const Program> program) {
    auto library = std::shared_ptr<Library>(new Library(std::move(program)));
    for (const auto& kernel : *library->program_->kernels()) {
        library->kernels_.push_back(std::make_shared<LibraryKernel>(library, kernel));
        HandleTable::instance().insert(HandleKind::Kernel, library->kernels_.back());
    }
    HandleTable::instance().insert(HandleKind::Library, library);
    return library;
}

void Library::unload() {
    if (HandleTable::instance().erase(HandleKind::Library, handle_value()) == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the library was unloaded by another thread");
    }
    for (const auto& kernel : kernels_) {
        HandleTable::instance().erase(HandleKind::Kernel, kernel->handle_value());
    }
    std::map<const Context*, std::shared_ptr<Module>> modules;
    {
        const std::lock_guard lock(mutex_);
        modules.swap(modules_);
    }
    for (const auto& [context, module] : modules) {
        if (module != nullptr) {
            module->unload();
        }
    }
}

void Library::forget(const Context& context) {
    std::shared_ptr<Module> module;
    const std::lock_guard lock(mutex_);
    if (const auto found = modules_.find(&context); found != modules_.end()) {
        module = std::move(found->second);
        modules_.erase(found);
        if (module != nullptr) {
            module->unload();
        }
    }
}

std::shared_ptr<Module> Library::module(const std::shared_ptr<Context>& context) {
    const std::lock_guard lock(mutex_);
    auto& module = modules_[context.get()];
    if (module == nullptr) {
        module = Module::create(context, *program_, true);
    }
    return module;
}

std::shared_ptr<LibraryKernel> Library::kernel(const std::string& name) const {
    const auto index = program_->kernels()->find(name);
    if (!index) {
        fail(CUDA_ERROR_NOT_FOUND,
             "no kernel '" + name + "' in the library; it has: " + program_->kernels()->names());
    }
    return kernels_[*index];
}

} // namespace cuprum::emulator
