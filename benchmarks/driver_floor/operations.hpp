// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The operations of the benchmarks, straight on the driver.

#pragma once

#include <cuda.h>

namespace floors {

/// The driver objects to work on: those that the package gives, and a stream and an event of our
/// own, since a package may treat a stream otherwise once its handle is known outside.
struct Objects {
    CUcontext context;
    CUmemoryPool pool;
    CUkernel empty;
    CUkernel three;
    CUkernel sixteen;
    CUdeviceptr source;
    CUdeviceptr target;
    CUstream stream;
    CUevent event;
};

/// How many of them the package gives.
constexpr int GIVEN_COUNT = 7;

/// Makes the stream and the event.
void complete(Objects& objects);

/// Takes another stream.
void renew_stream(Objects& objects);

/// Waits for what was enqueued.
void settle(const Objects& objects);

CUdeviceptr allocate(const Objects& objects);
void free(const Objects& objects, CUdeviceptr memory);
void copy(const Objects& objects);
void fill(const Objects& objects, unsigned char value);
void launch_empty(const Objects& objects);
void launch_three(const Objects& objects, float factor, long long count);
void launch_sixteen(const Objects& objects);
CUevent create_event();
void destroy(CUevent event);
void record(const Objects& objects);
bool is_done(const Objects& objects);
CUstream create_stream();
void destroy(CUstream stream);
/// Makes the thread's own default stream wait for the legacy one.
void order_default_streams();
void set_current(const Objects& objects);

/// Calls the driver `loops` times as the operation of that name would and returns nanoseconds a
/// call; negative if the operation has no floor.
double time_of(const char* operation, int loops, const Objects& objects);

} // namespace floors
