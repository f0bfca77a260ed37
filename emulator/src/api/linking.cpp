// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The linker.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/code/link_state.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

using namespace cuprum::emulator;

namespace {

std::shared_ptr<LinkState> link_from(CUlinkState handle) {
    auto object =
        HandleTable::instance().find(HandleKind::Linker, reinterpret_cast<std::uint64_t>(handle));
    if (object == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not a link, or it has been destroyed");
    }
    return std::static_pointer_cast<LinkState>(std::move(object));
}

} // namespace

extern "C" {

CUresult CUDAAPI cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options,
                                 void** optionValues, CUlinkState* stateOut) {
    return entry("cuLinkCreate", [&] {
        require(stateOut != nullptr, "stateOut must not be NULL");
        const JitOptions read(numOptions, options, optionValues);
        const auto state = std::make_shared<LinkState>(current_context()->device().sm(), read);
        HandleTable::instance().insert(HandleKind::Linker, state);
        *stateOut = state->handle<CUlinkState>();
    });
}

CUresult CUDAAPI cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues,
                              CUlinkState* stateOut) {
    return cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult CUDAAPI cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                                  const char* name, unsigned int numOptions, CUjit_option* options,
                                  void** optionValues) {
    return entry("cuLinkAddData", [&] {
        const auto link = link_from(state);
        (void)JitOptions(numOptions, options, optionValues);
        link->add(type, data, size, name == nullptr ? "<unnamed>" : name);
    });
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                               const char* name, unsigned int numOptions, CUjit_option* options,
                               void** optionValues) {
    return cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult CUDAAPI cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path,
                                  unsigned int numOptions, CUjit_option* options,
                                  void** optionValues) {
    return entry("cuLinkAddFile", [&] {
        const auto link = link_from(state);
        (void)JitOptions(numOptions, options, optionValues);
        link->add_file(type, path);
    });
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path,
                               unsigned int numOptions, CUjit_option* options,
                               void** optionValues) {
    return cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
    return entry("cuLinkComplete", [&] {
        require(cubinOut != nullptr, "cubinOut must not be NULL");
        const std::string& image = link_from(state)->complete();
        // The caller may only read the image, although CUDA's type is not const.
        *cubinOut = const_cast<char*>(image.data());
        if (sizeOut != nullptr) {
            *sizeOut = image.size();
        }
    });
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state) {
    return entry("cuLinkDestroy", [&] {
        if (HandleTable::instance().erase(HandleKind::Linker,
                                          reinterpret_cast<std::uint64_t>(state)) == nullptr) {
            fail(CUDA_ERROR_INVALID_HANDLE, "not a link, or it has been destroyed");
        }
    });
}

} // extern "C"
