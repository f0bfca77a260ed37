// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Libraries, which are loaded into a context on first use there, and their kernels.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

using namespace cuprum::emulator;

namespace {

/// Returns the compute capability to load for. All emulated devices have the same.
std::uint32_t target_sm() {
    return device_at(0).sm();
}

void put_variable(const Allocation& variable, CUdeviceptr* address, std::size_t* bytes) {
    require(address != nullptr || bytes != nullptr, "both outputs are NULL");
    put_optional(address, variable.base);
    put_optional(bytes, variable.bytes);
}

void check_library_options(const CUlibraryOption* options, void* const* values, unsigned count) {
    require(count == 0 || (options != nullptr && values != nullptr),
            "the options of the library are NULL");
    for (unsigned index = 0; index < count; ++index) {
        switch (options[index]) {
        case CU_LIBRARY_BINARY_IS_PRESERVED:
            break; // the call reads the code at once in any case
        case CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE:
            fail(CUDA_ERROR_NOT_SUPPORTED, "CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE is "
                                           "not supported by the emulated device");
        default:
            fail(CUDA_ERROR_INVALID_VALUE, "unknown option of a library");
        }
    }
}

} // namespace

ROW(cuLibraryLoadData, 12000, CUlibrary& library, const void* code, CUjit_option* jitOptions,
    void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption* libraryOptions,
    void** libraryOptionValues, unsigned int numLibraryOptions) {
    check_library_options(libraryOptions, libraryOptionValues, numLibraryOptions);
    const JitOptions options(numJitOptions, jitOptions, jitOptionsValues);
    auto program = Program::load(code, std::nullopt, target_sm(), options);
    library = Library::create(std::move(program))->handle<CUlibrary>();
    options.write_results();
}

ROW(cuLibraryLoadFromFile, 12000, CUlibrary& library, const char* fileName,
    CUjit_option* jitOptions, void** jitOptionsValues, unsigned int numJitOptions,
    CUlibraryOption* libraryOptions, void** libraryOptionValues, unsigned int numLibraryOptions) {
    check_library_options(libraryOptions, libraryOptionValues, numLibraryOptions);
    const JitOptions options(numJitOptions, jitOptions, jitOptionsValues);
    auto program = Program::load_file(fileName, target_sm(), options);
    library = Library::create(std::move(program))->handle<CUlibrary>();
    options.write_results();
}

ROW(cuLibraryUnload, 12000, Library& library) {
    library.unload();
}

ROW(cuLibraryGetKernel, 12000, CUkernel& pKernel, Library& library, const std::string& name) {
    pKernel = library.kernel(name)->handle<CUkernel>();
}

ROW(cuLibraryGetKernelCount, 12040, unsigned int* count, Library& library) {
    put(count, library.kernels().size());
}

ROW(cuLibraryEnumerateKernels, 12040, CUkernel* kernels, unsigned int numKernels,
    Library& library) {
    require(kernels != nullptr || numKernels == 0, "kernels must not be NULL");
    const auto& all = library.kernels();
    for (std::size_t index = 0; index < all.size() && index < numKernels; ++index) {
        kernels[index] = all[index]->handle<CUkernel>();
    }
}

ROW(cuLibraryGetUnifiedFunction, 12000, void*& /*fptr*/, Library& /*library*/,
    const std::string& symbol) {
    // Unified functions come from a table of the host compiler, which is not supported.
    fail(CUDA_ERROR_NOT_FOUND, "the library has no unified function '" + symbol + "'");
}

ROW(cuLibraryGetModule, 12000, CUmodule& pMod, Library& library) {
    pMod = library.module(current_context())->handle<CUmodule>();
}

ROW(cuLibraryGetGlobal, 12000, CUdeviceptr* dptr, size_t* bytes, Library& library,
    const std::string& name) {
    const auto module = library.module(current_context());
    put_variable(module->variable(name), dptr, bytes);
}

ROW(cuLibraryGetManaged, 12000, CUdeviceptr* dptr, size_t* bytes, Library& library,
    const std::string& name) {
    const auto module = library.module(current_context());
    const Allocation& variable = module->variable(name);
    if (variable.kind != MemoryKind::Managed) {
        fail(CUDA_ERROR_NOT_FOUND, "variable '" + name + "' is not managed");
    }
    put_variable(variable, dptr, bytes);
}

// ---- kernels -----------------------------------------------------------------------------------

ROW(cuKernelGetFunction, 12000, CUfunction& pFunc, LibraryKernel& kernel) {
    pFunc = kernel.function(current_context())->handle<CUfunction>();
}

ROW(cuKernelGetLibrary, 12050, CUlibrary& pLib, LibraryKernel& kernel) {
    pLib = kernel.library()->handle<CUlibrary>();
}

ROW(cuKernelGetName, 12030, const char** name, CUkernel hfunc) {
    require(name != nullptr && hfunc != nullptr, "an argument is NULL");
    *name = object_of(hfunc)->kernel().name.c_str();
}

// Undocumented, but a driver requires a context.
ROW(cuKernelGetParamInfo, 12040, InContext, CUkernel kernel, size_t paramIndex, size_t* paramOffset,
    size_t* paramSize) {
    get_parameter_info(object_of(kernel)->kernel(), paramIndex, paramOffset, paramSize);
}

ROW(cuKernelGetAttribute, 12000, int* pi, CUfunction_attribute attrib, CUkernel kernel,
    CUdevice dev) {
    const auto object = object_of(kernel);
    const Device& device = device_at(dev);
    put(pi, object->attributes(dev)->get(attrib, object->kernel(), device));
}

ROW(cuKernelSetAttribute, 12000, CUfunction_attribute attrib, int val, CUkernel kernel,
    CUdevice dev) {
    const auto object = object_of(kernel);
    const Device& device = device_at(dev);
    object->attributes(dev)->set(attrib, val, object->kernel(), device);
}

ROW(cuKernelSetCacheConfig, 12000, LibraryKernel& /*kernel*/, CUfunc_cache config,
    const Device& /*dev*/) {
    check_cache_config(config);
}
