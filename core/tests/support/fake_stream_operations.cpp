// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_functions.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::testing {

namespace {

FakeDriver& fake() {
    return *active_fake();
}

CUresult check(CUstream stream) {
    return fake().streams.count(stream) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

} // namespace

void add_stream_operations(driver::Table& table) {
    table.cuStreamGetId = [](CUstream stream, unsigned long long* id) {
        *id = reinterpret_cast<std::uintptr_t>(stream);
        return check(stream);
    };
    table.cuStreamGetAttribute = [](CUstream stream, CUstreamAttrID which,
                                    CUstreamAttrValue* value) {
        *value = fake().stream_attributes[{stream, which}];
        return check(stream);
    };
    table.cuStreamSetAttribute = [](CUstream stream, CUstreamAttrID which,
                                    const CUstreamAttrValue* value) {
        fake().stream_attributes[{stream, which}] = *value;
        return check(stream);
    };
    table.cuStreamCopyAttributes = [](CUstream to, CUstream from) {
        for (const auto& [key, value] : std::map(fake().stream_attributes)) {
            if (key.first == from) {
                fake().stream_attributes[{to, key.second}] = value;
            }
        }
        return check(to) == CUDA_SUCCESS ? check(from) : check(to);
    };
    table.cuStreamWriteValue32 = [](CUstream stream, CUdeviceptr address, cuuint32_t value,
                                    unsigned) {
        fake().words[address] = value;
        return check(stream);
    };
    table.cuStreamWriteValue64 = [](CUstream stream, CUdeviceptr address, cuuint64_t value,
                                    unsigned) {
        fake().words[address] = value;
        return check(stream);
    };
    table.cuStreamWaitValue32 = [](CUstream stream, CUdeviceptr, cuuint32_t, unsigned flags) {
        fake().wait_flags.push_back(flags);
        return check(stream);
    };
    table.cuStreamWaitValue64 = [](CUstream stream, CUdeviceptr, cuuint64_t, unsigned flags) {
        fake().wait_flags.push_back(flags);
        return check(stream);
    };
    table.cuLaunchHostFunc = [](CUstream stream, CUhostFn function, void* data) {
        if (check(stream) == CUDA_SUCCESS) {
            fake().host_calls.push_back({stream, function, data});
        }
        return check(stream);
    };
    table.cuEventRecordWithFlags = [](CUevent event, CUstream stream, unsigned flags) {
        fake().last_record_flags = flags;
        return fake_functions().cuEventRecord(event, stream);
    };
    table.cuIpcGetEventHandle = [](CUipcEventHandle* shared, CUevent event) {
        if (fake().events.count(event) == 0) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        std::memcpy(static_cast<void*>(shared->reserved), &event, sizeof(event));
        return CUDA_SUCCESS;
    };
    table.cuIpcOpenEventHandle = [](CUevent* event, CUipcEventHandle) {
        *event = fake().next_handle<CUevent>();
        fake().events[*event] = {.context = FakeDriver::current()};
        return CUDA_SUCCESS;
    };
}

} // namespace cuprum::testing
