// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The program behind peer.hpp. Carries out the requests of the test in the other process.

#include "api/peer.hpp"

#include "api/driver.hpp"

#include <cstdlib>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t WORDS = 1024;

struct State {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    CUevent event = nullptr;
    Gate* gate = nullptr;
};

CUresult first_failure(std::initializer_list<CUresult> results) {
    for (const CUresult result : results) {
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    return CUDA_SUCCESS;
}

CUresult map_physical(State& state, CUmemGenericAllocationHandle handle, std::size_t bytes) {
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return first_failure({CU(cuMemAddressReserve)(&state.memory, bytes, 0, 0, 0),
                          CU(cuMemMap)(state.memory, bytes, 0, handle, 0),
                          CU(cuMemSetAccess)(state.memory, bytes, &access, 1),
                          CU(cuMemRelease)(handle)});
}

CUresult make_pool(State& state, std::uint64_t value, int& descriptor) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return first_failure(
        {CU(cuMemPoolCreate)(&state.pool, &properties),
         CU(cuMemAllocFromPoolAsync)(&state.memory, WORDS * 4, state.pool, state.stream),
         CU(cuMemsetD32Async)(state.memory, static_cast<unsigned>(value), WORDS, state.stream),
         CU(cuStreamSynchronize)(state.stream),
         CU(cuMemPoolExportToShareableHandle)(&descriptor, state.pool,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)});
}

/// Makes memory that no other process can share and maps it.
CUresult make_physical(State& state) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    constexpr std::size_t bytes = std::size_t{2} << 20;
    const CUresult made = CU(cuMemCreate)(&handle, bytes, &properties, 0);
    return made != CUDA_SUCCESS ? made : map_physical(state, handle, bytes);
}

/// Lets a host function call the driver and returns what that call returned.
CUresult call_in_host_function(const State& state) {
    CUresult inner = CUDA_ERROR_UNKNOWN;
    const auto call = [](void* data) {
        int count = 0;
        *static_cast<CUresult*>(data) = CU(cuDeviceGetCount)(&count);
    };
    const CUresult outer = first_failure(
        {CU(cuLaunchHostFunc)(state.stream, call, &inner), CU(cuStreamSynchronize)(state.stream)});
    return outer != CUDA_SUCCESS ? outer : inner;
}

void* as_pointer(int descriptor) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

template <typename T>
T as(const Message& message) {
    T value;
    std::memcpy(&value, message.data.data(), sizeof value);
    return value;
}

/// Carries out a request. Returns the descriptor to send with the answer, or -1.
int serve(State& state, Message& message) {
    const auto value = static_cast<unsigned>(message.value);
    int descriptor = -1;
    switch (message.request) {
    case Request::ImportPool:
        message.result =
            CU(cuMemPoolImportFromShareableHandle)(&state.pool, as_pointer(message.descriptor),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
        break;
    case Request::ImportPointer: {
        auto data = as<CUmemPoolPtrExportData>(message);
        message.result = CU(cuMemPoolImportPointer)(&state.memory, state.pool, &data);
        break;
    }
    case Request::ImportPhysical: {
        CUmemGenericAllocationHandle handle = 0;
        message.result = CU(cuMemImportFromShareableHandle)(
            &handle, as_pointer(message.descriptor), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        if (message.result == CUDA_SUCCESS) {
            message.result = map_physical(state, handle, message.value);
        }
        break;
    }
    case Request::OpenMemory:
        message.result = CU(cuIpcOpenMemHandle)(&state.memory, as<CUipcMemHandle>(message),
                                                CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        break;
    case Request::OpenEvent:
        message.result = CU(cuIpcOpenEventHandle)(&state.event, as<CUipcEventHandle>(message));
        break;
    case Request::Read: {
        unsigned word = 0;
        message.result = CU(cuMemcpyDtoH)(&word, state.memory, sizeof word);
        message.value = word;
        break;
    }
    case Request::Fill:
        message.result =
            first_failure({CU(cuMemsetD32)(state.memory, value, WORDS), CU(cuCtxSynchronize)()});
        break;
    case Request::Free:
        message.result = first_failure({CU(cuMemFreeAsync)(state.memory, state.stream),
                                        CU(cuStreamSynchronize)(state.stream),
                                        CU(cuMemPoolDestroy)(state.pool)});
        break;
    case Request::CloseMemory:
        message.result = CU(cuIpcCloseMemHandle)(state.memory);
        break;
    case Request::WaitThenFill:
        message.result =
            first_failure({CU(cuStreamWaitEvent)(state.stream, state.event, 0),
                           CU(cuMemsetD32Async)(state.memory, value, WORDS, state.stream)});
        break;
    case Request::Synchronize:
        message.result = CU(cuStreamSynchronize)(state.stream);
        break;
    case Request::QueryEvent:
        message.result = CU(cuEventQuery)(state.event);
        break;
    case Request::RecordBehindGate:
        state.gate = new Gate;
        state.gate->block(state.stream);
        message.result = CU(cuEventRecord)(state.event, state.stream);
        break;
    case Request::OpenGate:
        delete state.gate;
        state.gate = nullptr;
        break;
    case Request::MakePool:
        message.result = make_pool(state, message.value, descriptor);
        break;
    case Request::ExportPointer: {
        CUmemPoolPtrExportData data{};
        message.result = CU(cuMemPoolExportPointer)(&data, state.memory);
        std::memcpy(message.data.data(), &data, sizeof data);
        break;
    }
    case Request::MakeMemory: {
        CUipcMemHandle handle{};
        message.result = first_failure({CU(cuMemAlloc)(&state.memory, WORDS * 4),
                                        CU(cuIpcGetMemHandle)(&handle, state.memory)});
        std::memcpy(message.data.data(), &handle, sizeof handle);
        break;
    }
    case Request::MakeEvent: {
        CUipcEventHandle handle{};
        message.result = first_failure(
            {CU(cuEventCreate)(&state.event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
             CU(cuIpcGetEventHandle)(&handle, state.event)});
        std::memcpy(message.data.data(), &handle, sizeof handle);
        break;
    }
    case Request::AllocateFromPool: {
        CUdeviceptr memory = 0;
        message.result = CU(cuMemAllocFromPoolAsync)(&memory, 64, state.pool, state.stream);
        break;
    }
    case Request::Allocate:
        message.result = first_failure({CU(cuMemAlloc)(&state.memory, WORDS * 4),
                                        CU(cuMemsetD32)(state.memory, value, WORDS)});
        message.value = state.memory;
        break;
    case Request::AllocateAsync:
        message.result =
            first_failure({CU(cuMemAllocAsync)(&state.memory, WORDS * 4, state.stream),
                           CU(cuMemsetD32Async)(state.memory, value, WORDS, state.stream),
                           CU(cuStreamSynchronize)(state.stream)});
        message.value = state.memory;
        break;
    case Request::MapMemory:
        message.result =
            first_failure({make_physical(state), CU(cuMemsetD32)(state.memory, value, WORDS)});
        message.value = state.memory;
        break;
    case Request::BlockStream:
        state.gate = new Gate;
        state.gate->block(state.stream);
        break;
    case Request::CallInHost:
        message.result = call_in_host_function(state);
        break;
    case Request::GetUuid: {
        CUdevice device = 0;
        CUuuid uuid{};
        message.result =
            first_failure({CU(cuCtxGetDevice)(&device), CU(cuDeviceGetUuid)(&uuid, device)});
        std::memcpy(message.data.data(), &uuid, sizeof uuid);
        break;
    }
    case Request::GetFreeMemory: {
        std::size_t free_bytes = 0;
        std::size_t total_bytes = 0;
        message.result = CU(cuMemGetInfo)(&free_bytes, &total_bytes);
        message.value = free_bytes;
        break;
    }
    case Request::Fork: {
        const pid_t child = ::fork();
        if (child == 0) {
            for (;;) {
                ::pause();
            }
        }
        message.value = static_cast<std::uint64_t>(child);
        break;
    }
    case Request::Leave:
        break;
    }
    if (message.descriptor >= 0) {
        ::close(message.descriptor);
    }
    return descriptor;
}

/// Asks the driver about another process, for tests that cannot do so themselves: `lock <pid>`,
/// after writing one byte, or `state <pid>`. Returns the result code.
int act_on_process(const std::string& action, int process) {
    CUprocessState state{};
    CUresult result = CU(cuInit)(0);
    if (result == CUDA_SUCCESS && action == "lock") {
        (void)!::write(STDOUT_FILENO, "L", 1);
        result = CU(cuCheckpointProcessLock)(process, nullptr);
    } else if (result == CUDA_SUCCESS) {
        result = CU(cuCheckpointProcessGetState)(process, &state);
    }
    return static_cast<int>(result);
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3) {
        return act_on_process(argv[1], std::atoi(argv[2]));
    }
    State state;
    const CUresult start =
        first_failure({CU(cuInit)(0), CU(cuDevicePrimaryCtxRetain)(&state.context, 0),
                       CU(cuCtxSetCurrent)(state.context),
                       CU(cuStreamCreate)(&state.stream, CU_STREAM_NON_BLOCKING)});
    Message message;
    while (start == CUDA_SUCCESS && receive_message(PEER_SOCKET, message)) {
        const int descriptor = serve(state, message);
        const bool is_last = message.request == Request::Leave;
        message.descriptor = -1;
        if (!send_message(PEER_SOCKET, message, descriptor) || is_last) {
            break;
        }
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
    return start == CUDA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
