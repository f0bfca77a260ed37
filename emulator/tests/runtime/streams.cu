// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams, events, host functions, capture.

#include "check.hpp"

namespace {

__global__ void wait_for(volatile int* flag) {
    while (*flag == 0) {
    }
}

__global__ void add_one(int* value) {
    ++*value;
}

void CUDART_CB note(void* data) {
    ++*static_cast<int*>(data);
}

void CUDART_CB note_status(cudaStream_t /*stream*/, cudaError_t status, void* data) {
    *static_cast<int*>(data) += status == cudaSuccess ? 10 : 1000;
}

void work_is_asynchronous() {
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    cudaEvent_t done = nullptr;
    int* memory = nullptr;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0));
    OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    OK(cudaHostAlloc(&memory, 2 * sizeof(int), cudaHostAllocMapped));
    memory[0] = 0;
    memory[1] = 0;
    wait_for<<<1, 1, 0, first>>>(memory);
    OK(cudaEventRecord(done, first));
    RETURNS(cudaErrorNotReady, cudaStreamQuery(first));
    RETURNS(cudaErrorNotReady, cudaEventQuery(done));
    OK(cudaGetLastError()); // not ready is not an error
    OK(cudaStreamWaitEvent(second, done, 0));
    add_one<<<1, 1, 0, second>>>(memory + 1);
    RETURNS(cudaErrorNotReady, cudaStreamQuery(second));
    *static_cast<volatile int*>(memory) = 1;
    OK(cudaStreamSynchronize(second));
    EXPECT(memory[1] == 1);
    OK(cudaEventQuery(done));
    OK(cudaStreamQuery(first));
    unsigned int flags = 0;
    OK(cudaStreamGetFlags(first, &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
    OK(cudaFreeHost(memory));
}

void events_take_time() {
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    float milliseconds = -1;
    int* value = nullptr;
    OK(cudaMallocManaged(&value, sizeof(int)));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start));
    add_one<<<1, 1>>>(value);
    OK(cudaEventRecord(end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds >= 0);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaFree(value));
}

void the_host_is_called() {
    cudaStream_t stream = nullptr;
    int calls = 0;
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, note, &calls));
    OK(cudaStreamAddCallback(stream, note_status, &calls, 0));
    OK(cudaStreamSynchronize(stream));
    EXPECT(calls == 11);
    OK(cudaStreamDestroy(stream));
}

void a_capture_is_seen() {
    cudaStream_t stream = nullptr;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    OK(cudaStreamDestroy(stream));
}

} // namespace

int main() {
    work_is_asynchronous();
    events_take_time();
    the_host_is_called();
    a_capture_is_seen();
    return EXIT_SUCCESS;
}
