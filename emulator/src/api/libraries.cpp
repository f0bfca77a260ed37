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
    if (address != nullptr) {
        *address = variable.base;
    }
    if (bytes != nullptr) {
        *bytes = variable.bytes;
    }
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

extern "C" {

CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                                   void** jitOptionsValues, unsigned int numJitOptions,
                                   CUlibraryOption* libraryOptions, void** libraryOptionValues,
                                   unsigned int numLibraryOptions) {
    return entry("cuLibraryLoadData", [&] {
        require(library != nullptr, "library must not be NULL");
        check_library_options(libraryOptions, libraryOptionValues, numLibraryOptions);
        const JitOptions options(numJitOptions, jitOptions, jitOptionsValues);
        auto program = Program::load(code, std::nullopt, target_sm(), options);
        *library = Library::create(std::move(program))->handle<CUlibrary>();
        options.write_results();
    });
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary* library, const char* fileName,
                                       CUjit_option* jitOptions, void** jitOptionsValues,
                                       unsigned int numJitOptions, CUlibraryOption* libraryOptions,
                                       void** libraryOptionValues, unsigned int numLibraryOptions) {
    return entry("cuLibraryLoadFromFile", [&] {
        require(library != nullptr, "library must not be NULL");
        check_library_options(libraryOptions, libraryOptionValues, numLibraryOptions);
        const JitOptions options(numJitOptions, jitOptions, jitOptionsValues);
        auto program = Program::load_file(fileName, target_sm(), options);
        *library = Library::create(std::move(program))->handle<CUlibrary>();
        options.write_results();
    });
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
    return entry("cuLibraryUnload", [&] { library_from(library)->unload(); });
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
    return entry("cuLibraryGetKernel", [&] {
        require(pKernel != nullptr && name != nullptr, "an argument is NULL");
        *pKernel = library_from(library)->kernel(name)->handle<CUkernel>();
    });
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
    return entry("cuLibraryGetKernelCount",
                 [&] { put(count, library_from(lib)->kernels().size()); });
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels,
                                           CUlibrary lib) {
    return entry("cuLibraryEnumerateKernels", [&] {
        const auto library = library_from(lib);
        require(kernels != nullptr || numKernels == 0, "kernels must not be NULL");
        const auto& all = library->kernels();
        for (std::size_t index = 0; index < all.size() && index < numKernels; ++index) {
            kernels[index] = all[index]->handle<CUkernel>();
        }
    });
}

CUresult CUDAAPI cuLibraryGetUnifiedFunction(void** fptr, CUlibrary library, const char* symbol) {
    return entry("cuLibraryGetUnifiedFunction", [&] {
        require(fptr != nullptr && symbol != nullptr, "an argument is NULL");
        (void)library_from(library);
        // Unified functions come from a table of the host compiler, which is not supported.
        fail(CUDA_ERROR_NOT_FOUND,
             std::string("the library has no unified function '") + symbol + "'");
    });
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
    return entry("cuLibraryGetModule", [&] {
        require(pMod != nullptr, "pMod must not be NULL");
        *pMod = library_from(library)->module(current_context())->handle<CUmodule>();
    });
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                                    const char* name) {
    return entry("cuLibraryGetGlobal", [&] {
        require(name != nullptr, "name must not be NULL");
        const auto module = library_from(library)->module(current_context());
        put_variable(module->variable(name), dptr, bytes);
    });
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library,
                                     const char* name) {
    return entry("cuLibraryGetManaged", [&] {
        require(name != nullptr, "name must not be NULL");
        const auto module = library_from(library)->module(current_context());
        const Allocation& variable = module->variable(name);
        if (variable.kind != MemoryKind::Managed) {
            fail(CUDA_ERROR_NOT_FOUND, std::string("variable '") + name + "' is not managed");
        }
        put_variable(variable, dptr, bytes);
    });
}

// ---- kernels -----------------------------------------------------------------------------------

CUresult CUDAAPI cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
    return entry("cuKernelGetFunction", [&] {
        require(pFunc != nullptr, "pFunc must not be NULL");
        *pFunc = kernel_from(kernel)->function(current_context())->handle<CUfunction>();
    });
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
    return entry("cuKernelGetLibrary", [&] {
        require(pLib != nullptr, "pLib must not be NULL");
        *pLib = kernel_from(kernel)->library()->handle<CUlibrary>();
    });
}

CUresult CUDAAPI cuKernelGetName(const char** name, CUkernel hfunc) {
    return entry("cuKernelGetName", [&] {
        require(name != nullptr && hfunc != nullptr, "an argument is NULL");
        *name = kernel_from(hfunc)->kernel().name.c_str();
    });
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset,
                                      size_t* paramSize) {
    return entry("cuKernelGetParamInfo", [&] {
        (void)current_context(); // undocumented, but a driver requires one
        get_parameter_info(kernel_from(kernel)->kernel(), paramIndex, paramOffset, paramSize);
    });
}

CUresult CUDAAPI cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel,
                                      CUdevice dev) {
    return entry("cuKernelGetAttribute", [&] {
        const auto object = kernel_from(kernel);
        const Device& device = device_at(dev);
        put(pi, object->attributes(dev)->get(attrib, object->kernel(), device));
    });
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                      CUdevice dev) {
    return entry("cuKernelSetAttribute", [&] {
        const auto object = kernel_from(kernel);
        const Device& device = device_at(dev);
        object->attributes(dev)->set(attrib, val, object->kernel(), device);
    });
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    return entry("cuKernelSetCacheConfig", [&] {
        (void)kernel_from(kernel);
        (void)device_at(dev);
        check_cache_config(config);
    });
}

} // extern "C"
