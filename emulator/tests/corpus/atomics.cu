// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Atomic objects of the library and the language's atomic functions, of every type and width.

#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void integers(int* i, unsigned* u, long long* l, unsigned long long* w) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(i, t);
    atomicSub(i + 1, t);
    atomicMin(i + 2, -t);
    atomicMax(i + 3, t);
    atomicAnd(i + 4, ~(1 << (t & 15)));
    atomicOr(i + 5, 1 << (t & 31));
    atomicXor(i + 6, t);
    atomicInc(u, 9);
    atomicDec(u + 1, 9);
    atomicMin(u + 2, 0xfffffff0u - t);
    atomicMax(u + 3, 0x80000000u + t);
    atomicMin(l, static_cast<long long>(-t) << 33);
    atomicMax(l + 1, static_cast<long long>(t) << 33);
    atomicAdd(w, static_cast<unsigned long long>(t) << 30);
    atomicAnd(w + 1, ~(1ull << (t & 63)));
    atomicOr(w + 2, 1ull << (t & 63));
    atomicXor(w + 3, 0x100000001ull * t);
    atomicExch(w + 4, 5ull);
    atomicCAS(w + 5, 0ull, 77ull);
}

extern "C" __global__ void reals(float* f, double* d, __half2* h, __nv_bfloat162* b, __half* s) {
    const int t = static_cast<int>(threadIdx.x);
    atomicAdd(f, static_cast<float>(t));
    atomicAdd(d, t * 0.5);
    atomicAdd(h, __floats2half2_rn(1.0f, static_cast<float>(t & 3)));
    atomicAdd(s, __float2half(2.0f));
#if __CUDA_ARCH__ >= 800
    atomicAdd(b, __floats2bfloat162_rn(1.0f, static_cast<float>(t & 1)));
#endif
#if __CUDA_ARCH__ >= 900
    atomicAdd(reinterpret_cast<float2*>(f + 2), make_float2(1.0f, static_cast<float>(t)));
    atomicAdd(reinterpret_cast<float4*>(f + 4), make_float4(1.0f, 2.0f, 3.0f, static_cast<float>(t)));
#endif
}

extern "C" __global__ void narrow(unsigned short* values) {
    // A lock of 16 bits: each thread increments the value that it guards.
    bool done = false;
    while (!done) {
        if (atomicCAS(values, static_cast<unsigned short>(0), static_cast<unsigned short>(1)) == 0) {
            __threadfence();
            *static_cast<volatile unsigned short*>(values + 1) += 3;
            __threadfence();
            atomicCAS(values, static_cast<unsigned short>(1), static_cast<unsigned short>(0));
            done = true;
        }
    }
}

struct Objects {
    cuda::atomic<int, cuda::thread_scope_device> count;
    cuda::atomic<unsigned long long, cuda::thread_scope_system> wide;
    cuda::std::atomic<unsigned> maximum;
    cuda::atomic<int, cuda::thread_scope_device> lock;
    cuda::atomic<int, cuda::thread_scope_device> flag;
    int guarded;
    float real;
    double longer;
    unsigned char small;
};

extern "C" __global__ void objects(Objects* o) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    o->count.fetch_add(t, cuda::memory_order_relaxed);
    o->wide.fetch_xor(0x1234567ull * t);
    unsigned seen = o->maximum.load(cuda::memory_order_acquire);
    while (seen < static_cast<unsigned>(t) &&
           !o->maximum.compare_exchange_weak(seen, static_cast<unsigned>(t))) {
    }
    while (o->lock.exchange(1, cuda::memory_order_acquire) != 0) {
    }
    o->guarded += 2;
    o->lock.store(0, cuda::memory_order_release);
    cuda::atomic_ref<float, cuda::thread_scope_device>(o->real).fetch_add(1.0f);
    cuda::atomic_ref<double, cuda::thread_scope_device>(o->longer).fetch_add(0.25);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(o->small).fetch_add(1);
}

/// One block publishes, the other waits for it.
extern "C" __global__ void message(Objects* o, int* out) {
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) {
            o->guarded = 41;
            o->flag.store(1, cuda::memory_order_release);
            o->flag.notify_all();
        }
    } else {
        o->flag.wait(0, cuda::memory_order_acquire);
        out[threadIdx.x] = o->guarded + static_cast<int>(threadIdx.x);
    }
}
