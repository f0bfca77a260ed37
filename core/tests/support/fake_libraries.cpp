// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_libraries.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace cuprum::testing {

namespace {

FakeLibraries* fake = nullptr;

void add_libraries(driver::Table& table);
void add_kernels(driver::Table& table);

/// Pretends that the driver lacks a function, as the table's stub does.
CUresult missing(const char* function) {
    return driver::lack(function, 12040, 12000);
}

const FakeLibraries::Kernel& kernel_of(CUkernel handle) {
    return *reinterpret_cast<const FakeLibraries::Kernel*>(handle);
}

CUkernel handle_of(const FakeLibraries::Kernel& kernel) {
    return reinterpret_cast<CUkernel>(const_cast<FakeLibraries::Kernel*>(&kernel));
}

CUresult find_variable(const char* function, CUdeviceptr* address, std::size_t* bytes,
                       const char* name) {
    if (FakeDriver::current() == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    const auto found = fake->variables.find(name);
    if (found == fake->variables.end()) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *address = reinterpret_cast<CUdeviceptr>(&found->second);
    *bytes = found->second;
    return fake->answer(function);
}

} // namespace

FakeLibraries::FakeLibraries() : table_(std::make_unique<driver::Table>(driver::table())) {
    if (fake != nullptr) {
        throw std::logic_error("there are fake libraries already");
    }
    fake = this;
    add_libraries(*table_);
    add_kernels(*table_);
    previous_ = driver::exchange_table(table_.get());
}

FakeLibraries::~FakeLibraries() {
    driver::exchange_table(previous_);
    fake = nullptr;
}

CUresult FakeLibraries::answer(std::string_view function) const {
    const auto found = failures.find(function);
    return found == failures.end() ? CUDA_SUCCESS : found->second;
}

FakeLibrariesTest::FakeLibrariesTest() : libraries(std::make_unique<FakeLibraries>()) {}

FakeLibrariesTest::~FakeLibrariesTest() {
    EXPECT_EQ(libraries->live_libraries, 0);
    libraries.reset();
}

// ---- the functions -----------------------------------------------------------------------------

namespace {

void add_libraries(driver::Table& table) {
    table.cuLibraryLoadData = [](CUlibrary* library, const void*, CUjit_option* options,
                                 void** values, unsigned count, CUlibraryOption*, void**,
                                 unsigned) {
        ++fake->loads;
        fake->jit_options.clear();
        for (unsigned i = 0; i < count; ++i) {
            fake->jit_options[options[i]] = reinterpret_cast<unsigned long>(values[i]);
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
                std::strcpy(static_cast<char*>(values[i]), fake->jit_log.c_str());
            }
        }
        const CUresult status = fake->answer("cuLibraryLoadData");
        if (status == CUDA_SUCCESS) {
            ++fake->live_libraries;
            *library = reinterpret_cast<CUlibrary>(fake);
        }
        return status;
    };
    table.cuLibraryUnload = [](CUlibrary) {
        --fake->live_libraries;
        return fake->answer("cuLibraryUnload");
    };
    table.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary, const char* name) {
        if (const CUresult status = fake->answer("cuLibraryGetKernel"); status != CUDA_SUCCESS) {
            return status;
        }
        const auto found = std::find_if(fake->kernels.begin(), fake->kernels.end(),
                                        [&](const auto& known) { return known.name == name; });
        if (found == fake->kernels.end()) {
            return CUDA_ERROR_NOT_FOUND;
        }
        *kernel = handle_of(*found);
        return CUDA_SUCCESS;
    };
    table.cuLibraryGetGlobal = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary,
                                  const char* name) {
        return find_variable("cuLibraryGetGlobal", address, bytes, name);
    };
    table.cuLibraryGetManaged = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary,
                                   const char* name) {
        return find_variable("cuLibraryGetManaged", address, bytes, name);
    };
    table.cuLibraryGetModule = [](CUmodule* module, CUlibrary library) {
        *module = reinterpret_cast<CUmodule>(library);
        return FakeDriver::current() == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                                                : fake->answer("cuLibraryGetModule");
    };
    table.cuLibraryGetKernelCount = [](unsigned* count, CUlibrary) {
        if (fake->is_old) {
            return missing("cuLibraryGetKernelCount");
        }
        *count = static_cast<unsigned>(fake->kernels.size());
        return fake->answer("cuLibraryGetKernelCount");
    };
    table.cuLibraryEnumerateKernels = [](CUkernel* kernels, unsigned count, CUlibrary) {
        std::transform(fake->kernels.begin(), fake->kernels.begin() + count, kernels, handle_of);
        return fake->answer("cuLibraryEnumerateKernels");
    };
}

void add_kernels(driver::Table& table) {
    table.cuKernelGetName = [](const char** name, CUkernel kernel) {
        *name = kernel_of(kernel).name.c_str();
        return fake->answer("cuKernelGetName");
    };
    table.cuKernelGetParamInfo = [](CUkernel kernel, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
        if (fake->is_old) {
            return missing("cuKernelGetParamInfo");
        }
        if (FakeDriver::current() == nullptr) {
            return CUDA_ERROR_INVALID_CONTEXT; // as drivers do
        }
        if (const CUresult status = fake->answer("cuKernelGetParamInfo"); status != CUDA_SUCCESS) {
            return status;
        }
        const std::vector<std::size_t>& sizes = kernel_of(kernel).parameter_sizes;
        if (index >= sizes.size()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *offset = 8 * index;
        *size = sizes[index];
        return CUDA_SUCCESS;
    };
    table.cuKernelGetAttribute = [](int* value, CUfunction_attribute attribute, CUkernel,
                                    CUdevice) {
        *value = fake->kernel_attributes[attribute];
        return fake->answer("cuKernelGetAttribute");
    };
    table.cuKernelSetAttribute = [](CUfunction_attribute attribute, int value, CUkernel, CUdevice) {
        const CUresult status = fake->answer("cuKernelSetAttribute");
        if (status == CUDA_SUCCESS) {
            fake->kernel_attributes[attribute] = value;
        }
        return status;
    };
    table.cuKernelGetLibrary = [](CUlibrary* library, CUkernel) {
        if (fake->is_old) {
            return missing("cuKernelGetLibrary");
        }
        *library = reinterpret_cast<CUlibrary>(fake);
        return fake->answer("cuKernelGetLibrary");
    };
    table.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = [](int* blocks, CUfunction, int,
                                                                    std::size_t, unsigned flags) {
        *blocks = fake->active_blocks + static_cast<int>(flags);
        return fake->answer("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
    };
    table.cuOccupancyMaxPotentialBlockSizeWithFlags = [](int* grid, int* block, CUfunction,
                                                         CUoccupancyB2DSize function,
                                                         std::size_t bytes, int limit, unsigned) {
        // Halves the block until its shared memory fits into 1000 bytes.
        *block = limit == 0 ? 1024 : limit;
        while (*block > 0 && (function != nullptr ? function(*block) : bytes) > 1000) {
            *block /= 2;
        }
        *grid = 20;
        return fake->answer("cuOccupancyMaxPotentialBlockSizeWithFlags");
    };
    table.cuOccupancyAvailableDynamicSMemPerBlock = [](std::size_t* bytes, CUfunction, int blocks,
                                                       int) {
        *bytes = 1000 / static_cast<std::size_t>(blocks);
        return fake->answer("cuOccupancyAvailableDynamicSMemPerBlock");
    };
    table.cuOccupancyMaxPotentialClusterSize = [](int* size, CUfunction,
                                                  const CUlaunchConfig* config) {
        *size = static_cast<int>(config->blockDimX);
        return fake->answer("cuOccupancyMaxPotentialClusterSize");
    };
    table.cuOccupancyMaxActiveClusters = [](int* clusters, CUfunction,
                                            const CUlaunchConfig* config) {
        *clusters = static_cast<int>(100 / config->attrs[0].value.clusterDim.x);
        return fake->answer("cuOccupancyMaxActiveClusters");
    };
    table.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int* blocks, CUfunction, int,
                                                           std::size_t) {
        *blocks = fake->active_blocks;
        return fake->answer("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    };
    table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
        *value = fake->device_attributes[attribute];
        return fake->answer("cuDeviceGetAttribute");
    };
    table.cuLaunchKernelEx = [](const CUlaunchConfig* config, CUfunction function, void** values,
                                void**) {
        const FakeLibraries::Kernel& kernel = kernel_of(reinterpret_cast<CUkernel>(function));
        FakeLibraries::Launch launch{
            .config = *config,
            .attributes = {config->attrs, config->attrs + config->numAttrs},
            .arguments = {},
            .kernel = kernel.name,
            .context = FakeDriver::current()};
        for (std::size_t i = 0; i < kernel.parameter_sizes.size(); ++i) {
            const auto* const bytes = static_cast<const std::byte*>(values[i]);
            launch.arguments.emplace_back(bytes, bytes + kernel.parameter_sizes[i]);
        }
        const std::lock_guard lock(fake->launches_mutex);
        fake->launches.push_back(std::move(launch));
        return fake->answer("cuLaunchKernelEx");
    };
}

} // namespace

} // namespace cuprum::testing
