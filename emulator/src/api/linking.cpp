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

ROW(cuLinkCreate_v2, 6050, unsigned int numOptions, CUjit_option* options, void** optionValues,
    CUlinkState& stateOut) {
    const JitOptions read(numOptions, options, optionValues);
    stateOut = new_handle<CUlinkState>(
        std::make_shared<LinkState>(current_context()->device().sm(), read));
}

ALIAS(cuLinkCreate, 5050, cuLinkCreate_v2);

ROW(cuLinkAddData_v2, 6050, LinkState& link, CUjitInputType type, void* data, size_t size,
    const char* name, unsigned int numOptions, CUjit_option* options, void** optionValues) {
    (void)JitOptions(numOptions, options, optionValues);
    link.add(type, data, size, name == nullptr ? "<unnamed>" : name);
}

ALIAS(cuLinkAddData, 5050, cuLinkAddData_v2);

ROW(cuLinkAddFile_v2, 6050, LinkState& link, CUjitInputType type, const char* path,
    unsigned int numOptions, CUjit_option* options, void** optionValues) {
    (void)JitOptions(numOptions, options, optionValues);
    link.add_file(type, path);
}

ALIAS(cuLinkAddFile, 5050, cuLinkAddFile_v2);

ROW(cuLinkComplete, 5050, LinkState& link, void*& cubinOut, size_t* sizeOut) {
    const std::string& image = link.complete();
    // The caller may only read the image, although CUDA's type is not const.
    cubinOut = const_cast<char*>(image.data());
    put_optional(sizeOut, image.size());
}

ROW(cuLinkDestroy, 5050, LinkState& link) {
    close_handle(link.handle<CUlinkState>());
}
