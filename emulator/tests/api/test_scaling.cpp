// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The tables of driver objects: a call must not take longer because many objects are alive.

#include "api/driver.hpp"
#include "api/kernels.hpp"
#include "support/scaling.hpp"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

std::vector<CUevent> make_events(std::size_t count, unsigned flags = CU_EVENT_DEFAULT) {
    std::vector<CUevent> events(count);
    for (CUevent& event : events) {
        EXPECT_TRUE(succeeds(CU(cuEventCreate)(&event, flags)));
    }
    return events;
}

void destroy_all(const std::vector<CUevent>& events) {
    for (const CUevent event : events) {
        EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    }
}

std::vector<CUstream> make_streams(std::size_t count, unsigned flags = CU_STREAM_NON_BLOCKING) {
    std::vector<CUstream> streams(count);
    for (CUstream& stream : streams) {
        EXPECT_TRUE(succeeds(CU(cuStreamCreate)(&stream, flags)));
    }
    return streams;
}

void destroy_all(const std::vector<CUstream>& streams) {
    for (const CUstream stream : streams) {
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    }
}

void free_all(const std::vector<CUdeviceptr>& memory) {
    for (const CUdeviceptr each : memory) {
        EXPECT_TRUE(succeeds(CU(cuMemFree)(each)));
    }
}

/// Returns PTX with many empty kernels: k0, k1 and so on.
std::string many_kernels(std::size_t count) {
    std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n";
    for (std::size_t index = 0; index < count; ++index) {
        text += ".visible .entry k" + std::to_string(index) + "() { ret; }\n";
    }
    return text;
}

} // namespace

class Scaling : public DriverTest {
protected:
    static std::vector<CUdeviceptr> allocate_all(std::size_t count, std::size_t bytes) {
        std::vector<CUdeviceptr> memory(count);
        for (CUdeviceptr& each : memory) {
            each = allocate(bytes);
        }
        return memory;
    }
};

TEST_F(Scaling, device_memory) {
    expect_scales(500, [](std::size_t count) { free_all(allocate_all(count, 64)); });
}

TEST_F(Scaling, device_memory_beside_gaps_that_are_too_small) {
    expect_scales(4000, [](std::size_t count) {
        const auto few = allocate_all(count, 64);
        std::vector<CUdeviceptr> kept;
        std::vector<CUdeviceptr> freed;
        for (std::size_t index = 0; index < count; ++index) {
            (index % 2 == 0 ? kept : freed).push_back(few[index]);
        }
        free_all(freed);
        free_all(allocate_all(count / 4, 200 << 10));
        free_all(kept);
    });
}

TEST_F(Scaling, memory_is_freed_beside_many_other_objects) {
    expect_scales(4000, [this](std::size_t count) {
        const auto events = make_events(count);
        CUcontext second = nullptr; // the last object in the table of handles
        ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&second, nullptr, 0, 0)));
        free_all(allocate_all(count / 4, 64));
        ASSERT_TRUE(succeeds(CU(cuCtxDestroy)(second)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        destroy_all(events);
    });
}

TEST_F(Scaling, registered_memory) {
    // Every second page cannot be read, so that each buffer is a mapping of its own.
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

    struct Buffers {
        std::byte* memory = nullptr;
        std::size_t count = 0;
    };

    const auto prepare = [&](std::size_t count) {
        void* memory = ::mmap(nullptr, 2 * count * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        const Buffers buffers{static_cast<std::byte*>(memory), count};
        for (std::size_t index = 0; index < count; ++index) {
            EXPECT_EQ(::mprotect(buffers.memory + (2 * index + 1) * page, page, PROT_NONE), 0);
        }
        return buffers;
    };
    expect_scales(200, prepare, [&](const Buffers& buffers) {
        for (std::size_t index = 0; index < buffers.count; ++index) {
            EXPECT_TRUE(
                succeeds(CU(cuMemHostRegister)(buffers.memory + 2 * index * page, page, 0)));
        }
        for (std::size_t index = 0; index < buffers.count; ++index) {
            EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(buffers.memory + 2 * index * page)));
        }
        ::munmap(buffers.memory, 2 * buffers.count * page);
    });
}

TEST_F(Scaling, pooled_memory_beside_frees_that_wait) {
    const auto streams = make_streams(2);
    expect_scales(2000, [&](std::size_t count) {
        Gate gate;
        std::vector<CUdeviceptr> waiting(count);
        for (CUdeviceptr& each : waiting) {
            EXPECT_TRUE(succeeds(CU(cuMemAllocAsync)(&each, 4096, streams[0])));
        }
        gate.block(streams[0]);
        for (const CUdeviceptr each : waiting) {
            EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(each, streams[0])));
        }
        std::vector<CUdeviceptr> others(count);
        for (CUdeviceptr& each : others) {
            EXPECT_TRUE(succeeds(CU(cuMemAllocAsync)(&each, 4096, streams[1])));
        }
        for (const CUdeviceptr each : others) {
            EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(each, streams[1])));
        }
        gate.open();
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    });
    destroy_all(streams);
}

TEST_F(Scaling, pools) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    expect_scales(1000, [&](std::size_t count) {
        std::vector<CUmemoryPool> pools(count);
        for (CUmemoryPool& pool : pools) {
            EXPECT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
        }
        for (const CUmemoryPool pool : pools) {
            EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
        }
    });
}

TEST_F(Scaling, mapped_memory) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr std::size_t piece = std::size_t{2} << 20;
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&handle, piece, &properties, 0)));
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    expect_scales(100, [&](std::size_t count) {
        std::vector<CUdeviceptr> places(count);
        for (CUdeviceptr& place : places) {
            EXPECT_TRUE(succeeds(CU(cuMemAddressReserve)(&place, piece, 0, 0, 0)));
            EXPECT_TRUE(succeeds(CU(cuMemMap)(place, piece, 0, handle, 0)));
            EXPECT_TRUE(succeeds(CU(cuMemSetAccess)(place, piece, &access, 1)));
        }
        for (const CUdeviceptr place : places) {
            EXPECT_TRUE(succeeds(CU(cuMemUnmap)(place, piece)));
            EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(place, piece)));
        }
    });
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
}

TEST_F(Scaling, streams) {
    expect_scales(200, [](std::size_t count) {
        const auto streams = make_streams(count, CU_STREAM_DEFAULT);
        const CUdeviceptr memory = allocate(64);
        for (const CUstream stream : streams) {
            EXPECT_TRUE(succeeds(CU(cuMemsetD8Async)(memory, 1, 64, stream)));
        }
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
        destroy_all(streams);
    });
}

TEST_F(Scaling, events) {
    const auto streams = make_streams(1);
    expect_scales(500, [&](std::size_t count) {
        const auto events = make_events(count);
        Gate gate;
        gate.block(streams[0]);
        for (const CUevent event : events) {
            EXPECT_TRUE(succeeds(CU(cuEventRecord)(event, streams[0])));
        }
        gate.open();
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        destroy_all(events);
    });
    destroy_all(streams);
}

TEST_F(Scaling, events_of_several_processes) {
    // Each has a file, of which a process may have 1024.
    expect_scales(60, [](std::size_t count) {
        destroy_all(make_events(count, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    });
}

TEST_F(Scaling, handles_of_shared_memory) {
    expect_scales(60, [](std::size_t count) {
        const auto memory = allocate_all(count, 4096);
        for (const CUdeviceptr each : memory) {
            CUipcMemHandle handle{};
            EXPECT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, each)));
        }
        free_all(memory);
    });
}

TEST_F(Scaling, contexts) {
    expect_scales(32, [this](std::size_t count) {
        std::vector<CUcontext> contexts(count);
        for (CUcontext& each : contexts) {
            EXPECT_TRUE(succeeds(CU(cuCtxCreate)(&each, nullptr, 0, 0)));
            (void)make_streams(4);
            (void)make_events(4);
            (void)allocate(64);
        }
        for (const CUcontext each : contexts) {
            EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(each)));
        }
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    });
}

TEST_F(Scaling, modules) {
    expect_scales(25, [](std::size_t count) {
        std::vector<CUmodule> modules(count);
        for (CUmodule& module : modules) {
            CUfunction function = nullptr;
            EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
            EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "bump")));
        }
        for (const CUmodule module : modules) {
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        }
    });
}

TEST_F(Scaling, kernels_of_a_module) {
    struct Input {
        CUmodule module = nullptr;
        std::size_t count = 0;
    };

    const auto prepare = [](std::size_t count) {
        Input input{nullptr, count};
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&input.module, many_kernels(count).c_str())));
        return input;
    };
    expect_scales(200, prepare, [](const Input& input) {
        CUfunction function = nullptr;
        for (std::size_t index = 0; index < input.count; ++index) {
            const std::string number = std::to_string(index);
            EXPECT_TRUE(
                succeeds(CU(cuModuleGetFunction)(&function, input.module, ("k" + number).c_str())));
            EXPECT_TRUE(
                returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&function, input.module,
                                                                      ("none" + number).c_str())));
        }
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(input.module)));
    });
}

TEST_F(Scaling, kernels_of_a_library) {
    struct Input {
        CUlibrary library = nullptr;
        std::size_t count = 0;
    };

    const auto prepare = [](std::size_t count) {
        Input input{nullptr, count};
        EXPECT_TRUE(succeeds(CU(cuLibraryLoadData)(&input.library, many_kernels(count).c_str(),
                                                   nullptr, nullptr, 0, nullptr, nullptr, 0)));
        return input;
    };
    expect_scales(200, prepare, [](const Input& input) {
        for (std::size_t index = 0; index < input.count; ++index) {
            CUkernel kernel = nullptr;
            EXPECT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, input.library,
                                                        ("k" + std::to_string(index)).c_str())));
        }
        EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(input.library)));
    });
}

TEST_F(Scaling, textures_of_one_array) {
    CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
    CUarray array = nullptr;
    ASSERT_TRUE(succeeds(CU(cuArrayCreate)(&array, &descriptor)));
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    const CUDA_TEXTURE_DESC sampling{};
    expect_scales(3000, [&](std::size_t count) {
        std::vector<CUtexObject> textures(count);
        for (CUtexObject& texture : textures) {
            EXPECT_TRUE(succeeds(CU(cuTexObjectCreate)(&texture, &resource, &sampling, nullptr)));
        }
        for (auto each = textures.rbegin(); each != textures.rend(); ++each) {
            EXPECT_TRUE(succeeds(CU(cuTexObjectDestroy)(*each)));
        }
    });
    EXPECT_TRUE(succeeds(CU(cuArrayDestroy)(array)));
}

TEST_F(Scaling, arrays) {
    CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
    expect_scales(200, [&](std::size_t count) {
        std::vector<CUarray> arrays(count);
        for (CUarray& array : arrays) {
            EXPECT_TRUE(succeeds(CU(cuArrayCreate)(&array, &descriptor)));
        }
        for (const CUarray array : arrays) {
            EXPECT_TRUE(succeeds(CU(cuArrayDestroy)(array)));
        }
    });
}

TEST_F(Scaling, waits_for_values) {
    const CUdeviceptr flag = allocate(sizeof(std::uint32_t));
    expect_scales(50, [&](std::size_t count) {
        const auto streams = make_streams(count);
        EXPECT_TRUE(succeeds(CU(cuMemsetD32)(flag, 0, 1)));
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        for (const CUstream stream : streams) {
            EXPECT_TRUE(
                succeeds(CU(cuStreamWaitValue32)(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ)));
        }
        EXPECT_TRUE(succeeds(CU(cuStreamWriteValue32)(nullptr, flag, 1, 0)));
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        destroy_all(streams);
    });
    EXPECT_TRUE(succeeds(CU(cuMemFree)(flag)));
}
