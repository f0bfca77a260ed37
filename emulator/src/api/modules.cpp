// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Modules: code in one context.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

using namespace cuprum::emulator;

namespace {

void load(CUmodule* out, const void* image, const JitOptions& options) {
    require(out != nullptr, "module must not be NULL");
    const auto& context = current_context();
    const auto program = Program::load(image, std::nullopt, context->device().sm(), options);
    *out = Module::create(context, *program, false)->handle<CUmodule>();
    options.write_results();
}

} // namespace

ROW(cuModuleLoad, 2000, CUmodule& module, const char* fname) {
    const auto& context = current_context();
    const auto program = Program::load_file(fname, context->device().sm(), {});
    module = Module::create(context, *program, false)->handle<CUmodule>();
}

ROW(cuModuleLoadData, 2000, CUmodule* module, const void* image) {
    load(module, image, {});
}

ROW(cuModuleLoadDataEx, 2010, CUmodule* module, const void* image, unsigned int numOptions,
    CUjit_option* options, void** optionValues) {
    load(module, image, JitOptions(numOptions, options, optionValues));
}

ROW(cuModuleLoadFatBinary, 2000, CUmodule* module, const void* fatCubin) {
    load(module, fatCubin, {});
}

ROW(cuModuleUnload, 2000, Module& module) {
    if (module.is_of_library()) {
        fail(CUDA_ERROR_NOT_PERMITTED, "the module belongs to a library: unload that");
    }
    Capture::refuse_unsafe_call();
    module.unload();
    module.context().check_usable(); // throws if the context has failed
}

ROW(cuModuleGetLoadingMode, 11070, CUmoduleLoadingMode* mode) {
    put(mode, CU_MODULE_LAZY_LOADING);
}

ROW(cuModuleGetFunction, 2000, CUfunction* hfunc, CUmodule hmod, const char* name) {
    require(hfunc != nullptr && name != nullptr && *name != '\0', "an argument is NULL or empty");
    *hfunc = object_of(hmod)->function(name)->handle<CUfunction>();
}

ROW(cuModuleGetFunctionCount, 12040, unsigned int* count, Module& module) {
    put(count, module.functions().size());
}

ROW(cuModuleEnumerateFunctions, 12040, CUfunction* functions, unsigned int numFunctions,
    Module& module) {
    const auto all = module.functions();
    require(functions != nullptr || numFunctions == 0, "functions must not be NULL");
    for (std::size_t index = 0; index < all.size() && index < numFunctions; ++index) {
        functions[index] = all[index]->handle<CUfunction>();
    }
}

ROW(cuModuleGetGlobal_v2, 3020, CUdeviceptr* dptr, size_t* bytes, CUmodule hmod,
    const std::string& name) {
    require(dptr != nullptr || bytes != nullptr, "both outputs are NULL");
    const auto module = object_of(hmod);
    const Allocation& variable = module->variable(name);
    put_optional(dptr, variable.base);
    put_optional(bytes, variable.bytes);
}
