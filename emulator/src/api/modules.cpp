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

extern "C" {

CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* fname) {
    return entry("cuModuleLoad", [&] {
        require(module != nullptr, "module must not be NULL");
        const auto& context = current_context();
        const auto program = Program::load_file(fname, context->device().sm(), {});
        *module = Module::create(context, *program, false)->handle<CUmodule>();
    });
}

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
    return entry("cuModuleLoadData", [&] { load(module, image, {}); });
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                                    CUjit_option* options, void** optionValues) {
    return entry("cuModuleLoadDataEx",
                 [&] { load(module, image, JitOptions(numOptions, options, optionValues)); });
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
    return entry("cuModuleLoadFatBinary", [&] { load(module, fatCubin, {}); });
}

CUresult CUDAAPI cuModuleUnload(CUmodule hmod) {
    return entry("cuModuleUnload", [&] {
        const auto module = module_from(hmod);
        if (module->is_of_library()) {
            fail(CUDA_ERROR_NOT_PERMITTED, "the module belongs to a library: unload that");
        }
        Capture::refuse_unsafe_call();
        module->unload();
        module->context().check_usable(); // throws if the context has failed
    });
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    return entry("cuModuleGetLoadingMode", [&] { put(mode, CU_MODULE_LAZY_LOADING); });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    return entry("cuModuleGetFunction", [&] {
        require(hfunc != nullptr && name != nullptr && *name != '\0',
                "an argument is NULL or empty");
        *hfunc = module_from(hmod)->function(name)->handle<CUfunction>();
    });
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
    return entry("cuModuleGetFunctionCount",
                 [&] { put(count, module_from(mod)->functions().size()); });
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions,
                                            CUmodule mod) {
    return entry("cuModuleEnumerateFunctions", [&] {
        const auto all = module_from(mod)->functions();
        require(functions != nullptr || numFunctions == 0, "functions must not be NULL");
        for (std::size_t index = 0; index < all.size() && index < numFunctions; ++index) {
            functions[index] = all[index]->handle<CUfunction>();
        }
    });
}

CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod,
                                      const char* name) {
    return entry("cuModuleGetGlobal", [&] {
        require(name != nullptr, "name must not be NULL");
        require(dptr != nullptr || bytes != nullptr, "both outputs are NULL");
        const auto module = module_from(hmod);
        const Allocation& variable = module->variable(name);
        if (dptr != nullptr) {
            *dptr = variable.base;
        }
        if (bytes != nullptr) {
            *bytes = variable.bytes;
        }
    });
}

} // extern "C"
