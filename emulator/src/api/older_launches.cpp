// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Launches as before CUDA 4: the program sets block, shared memory and parameters on the function.
// They apply to all later launches. cuda.h still declares these functions, and old programs use
// them.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace cuprum::emulator;

namespace {

constexpr std::size_t MAX_PARAMETER_BYTES = 32764;

/// What a program has set on a function.
struct Prepared {
    std::array<unsigned int, 3> block{1, 1, 1};
    unsigned int shared_bytes = 0;
    std::size_t parameter_bytes = 0;
    std::vector<unsigned char> parameters;
};

/// All functions on which something has been set. Destroyed functions are removed from time to
/// time.
struct PreparedFunctions {
    std::mutex mutex;
    std::unordered_map<CUfunction, Prepared> functions;
    std::size_t next_sweep = 64;
};

bool is_known(CUfunction function) {
    const auto number = reinterpret_cast<std::uint64_t>(function);
    auto& table = HandleTable::instance();
    return table.find(HandleKind::Function, number) != nullptr ||
           table.find(HandleKind::Kernel, number) != nullptr;
}

PreparedFunctions& prepared_functions() {
    static auto* const all = new PreparedFunctions; // never destroyed
    return *all;
}

/// Changes what is set on a function.
template <typename Change>
void prepare(CUfunction function, Change&& change) {
    (void)object_of(function); // throws for a bad handle
    PreparedFunctions& all = prepared_functions();
    const std::lock_guard lock(all.mutex);
    if (all.functions.size() >= all.next_sweep) {
        std::erase_if(all.functions, [](const auto& entry) { return !is_known(entry.first); });
        all.next_sweep = std::max<std::size_t>(64, all.functions.size() * 2);
    }
    change(all.functions[function]);
}

Prepared prepared(CUfunction function) {
    PreparedFunctions& all = prepared_functions();
    const std::lock_guard lock(all.mutex);
    const auto found = all.functions.find(function);
    return found == all.functions.end() ? Prepared{} : found->second;
}

void set_parameter(CUfunction function, int offset, const void* value, std::size_t bytes) {
    require(value != nullptr, "ptr must not be NULL");
    require(offset >= 0 && bytes <= MAX_PARAMETER_BYTES &&
                static_cast<std::size_t>(offset) <= MAX_PARAMETER_BYTES - bytes,
            "the parameter lies outside those of any kernel");
    prepare(function, [&](Prepared& on) {
        const std::size_t end = static_cast<std::size_t>(offset) + bytes;
        if (on.parameters.size() < end) {
            on.parameters.resize(end);
        }
        std::memcpy(on.parameters.data() + offset, value, bytes);
    });
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) {
    require(width > 0 && height > 0, "every size of a grid is at least 1");
    Prepared on = prepared(function);
    on.parameters.resize(on.parameter_bytes);
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, on.parameters.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &on.parameter_bytes, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, static_cast<unsigned int>(width),
                          static_cast<unsigned int>(height), 1, on.block[0], on.block[1],
                          on.block[2], on.shared_bytes, stream, nullptr,
                          on.parameter_bytes == 0 ? nullptr : extra);
}

} // namespace

ROW(cuFuncSetBlockShape, 2000, CUfunction hfunc, int x, int y, int z) {
    require(x > 0 && y > 0 && z > 0, "every size of a block is at least 1");
    prepare(hfunc, [&](Prepared& on) {
        on.block = {static_cast<unsigned int>(x), static_cast<unsigned int>(y),
                    static_cast<unsigned int>(z)};
    });
}

ROW(cuFuncSetSharedSize, 2000, CUfunction hfunc, unsigned int bytes) {
    prepare(hfunc, [&](Prepared& on) { on.shared_bytes = bytes; });
}

ROW(cuParamSetSize, 2000, CUfunction hfunc, unsigned int numbytes) {
    require(numbytes <= MAX_PARAMETER_BYTES,
            "numbytes is more than the parameters of any kernel take");
    prepare(hfunc, [&](Prepared& on) { on.parameter_bytes = numbytes; });
}

ROW(cuParamSeti, 2000, CUfunction hfunc, int offset, unsigned int value) {
    set_parameter(hfunc, offset, &value, sizeof value);
}

ROW(cuParamSetf, 2000, CUfunction hfunc, int offset, float value) {
    set_parameter(hfunc, offset, &value, sizeof value);
}

ROW(cuParamSetv, 2000, CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
    set_parameter(hfunc, offset, ptr, numbytes);
}

ANSWER(cuLaunch, 2000, CUfunction f) {
    return launch(f, 1, 1, nullptr);
}

ANSWER(cuLaunchGrid, 2000, CUfunction f, int grid_width, int grid_height) {
    return launch(f, grid_width, grid_height, nullptr);
}

ANSWER(cuLaunchGridAsync, 2000, CUfunction f, int grid_width, int grid_height, CUstream hStream) {
    return launch(f, grid_width, grid_height, hStream);
}
