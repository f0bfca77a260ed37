// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory and events shared by two processes: the program starts itself and passes the handles.

#include "check.hpp"

#include <unistd.h>

#include <string>
#include <sys/wait.h>

namespace {

__global__ void add(int* value, int amount) {
    *value += amount;
}

/// The message from the first process to the second.
struct Message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

std::string to_hex(const Message& message) {
    std::string text;
    for (std::size_t index = 0; index < sizeof message; ++index) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x",
                      reinterpret_cast<const unsigned char*>(&message)[index]);
        text += digits;
    }
    return text;
}

Message from_hex(const std::string& text) {
    Message message{};
    for (std::size_t index = 0; index < sizeof message; ++index) {
        reinterpret_cast<unsigned char*>(&message)[index] =
            static_cast<unsigned char>(std::stoi(text.substr(2 * index, 2), nullptr, 16));
    }
    return message;
}

int second_process(const Message& message) {
    void* memory = nullptr;
    cudaEvent_t event = nullptr;
    OK(cudaIpcOpenEventHandle(&event, message.event));
    OK(cudaIpcOpenMemHandle(&memory, message.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaStreamWaitEvent(nullptr, event, 0));
    add<<<1, 1>>>(static_cast<int*>(memory), 40);
    OK(cudaDeviceSynchronize());
    OK(cudaIpcCloseMemHandle(memory));
    OK(cudaEventDestroy(event));
    return EXIT_SUCCESS;
}

int first_process(const char* program) {
    int* memory = nullptr;
    cudaEvent_t event = nullptr;
    Message message{};
    OK(cudaMalloc(&memory, sizeof(int)));
    OK(cudaMemset(memory, 0, sizeof(int)));
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaIpcGetMemHandle(&message.memory, memory));
    OK(cudaIpcGetEventHandle(&message.event, event));
    add<<<1, 1>>>(memory, 2);
    OK(cudaEventRecord(event));
    const std::string argument = to_hex(message);
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(program, program, argument.c_str(), nullptr);
        ::_exit(EXIT_FAILURE);
    }
    int status = -1;
    EXPECT(::waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    int value = 0;
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 42);
    OK(cudaEventDestroy(event));
    OK(cudaFree(memory));
    return EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
    return count > 1 ? second_process(from_hex(arguments[1])) : first_process(arguments[0]);
}
