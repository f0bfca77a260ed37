// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The operations of the benchmarks, as direct driver calls.

#pragma once

#include <cuda.h>

namespace floors {

/// The driver objects to work on. The package provides all but the stream and the event, because a
/// package may treat a stream differently once its handle was read.
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

/// The number of objects that the package provides.
constexpr int GIVEN_COUNT = 7;

/// Creates the stream and the event.
void complete(Objects& objects);

/// Replaces the stream by a new one.
void renew_stream(Objects& objects);

/// Waits for all enqueued work.
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
/// Encodes a tensor map of 16 x 64 floats.
void encode_tensor_map(const Objects& objects);
bool is_done(const Objects& objects);
CUstream create_stream();
void destroy(CUstream stream);
/// Creates a texture of an array, which the first call makes, and destroys it.
void create_texture();
/// Makes the thread's own default stream wait for the legacy one.
void order_default_streams();
void set_current(const Objects& objects);

// Graphs. The first use makes them.
/// Launches a graph of 16 kernels.
void launch_graph(const Objects& objects);
/// Adds a kernel node with three arguments. Starts a new graph from time to time.
void add_kernel_node(const Objects& objects);
/// Replaces the arguments of a node of an executable graph.
void update_kernel_node(const Objects& objects);
/// Captures 16 launches and makes an executable graph, and destroys both.
void capture_graph(const Objects& objects);

/// Makes the driver calls of the named operation `loops` times and returns the nanoseconds per
/// operation. Returns a negative number if the operation makes no driver calls.
double time_of(const char* operation, int loops, const Objects& objects);

} // namespace floors
