// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Device calls: printf, assert, malloc, recursion, virtual functions, function pointers, depth.

#if !defined(__CUDACC_RTC__)
#include <cassert>
#include <cstdio>
#endif

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
    float side;
};
struct Square : Shape {
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    __device__ float area() const override { return side * side * 3.14159f; }
};

__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct Big { int values[6]; double tail; };
__device__ __noinline__ Big transform(Big value, short small) {
    for (int i = 0; i < 6; ++i) {
        value.values[i] += small;
    }
    value.tail *= 2;
    return value;
}

__device__ __noinline__ float plus(float a, float b) { return a + b; }
__device__ __noinline__ float times(float a, float b) { return a * b; }
typedef float (*Binary)(float, float);
__device__ Binary operations[2] = {plus, times};

extern "C" __global__ void shapes(float* out, int which) {
    Shape* shape = which ? static_cast<Shape*>(new Square) : static_cast<Shape*>(new Circle);
    shape->side = 2;
    out[0] = shape->area();
    delete shape;
}

extern "C" __global__ void calls(float* out, Big* big, int which) {
    assert(which >= 0);
    printf("which %d of %f %s\n", which, out[0], "text");
    out[1] = operations[which & 1](out[2], out[3]);
    out[4] = ackermann(2, which);
    *big = transform(*big, (short)which);
    int* p = (int*)malloc(16);
    p[0] = which;
    out[5] = p[0];
    free(p);
    if (which == 99) {
        __trap();
    }
}
