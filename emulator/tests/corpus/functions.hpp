// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that need real calls: recursion, virtual functions, pointers to functions and members.
// functions.cu runs them on the device, exec/test_compiled_functions.cpp on the host as well, to
// compare.

#pragma once

#if defined(__CUDACC__)
#define DEVICE __device__
#define CALLED __device__ __noinline__
#else
#define DEVICE inline
#define CALLED inline
#endif

namespace functions {

/// Sorts a[low .. high].
CALLED void sort(int* a, int low, int high) {
    if (low >= high) {
        return;
    }
    const int pivot = a[(low + high) / 2];
    int i = low;
    int j = high;
    while (i <= j) {
        while (a[i] < pivot) {
            ++i;
        }
        while (a[j] > pivot) {
            --j;
        }
        if (i <= j) {
            const int value = a[i];
            a[i] = a[j];
            a[j] = value;
            ++i;
            --j;
        }
    }
    sort(a, low, j);
    sort(a, i, high);
}

DEVICE int is_odd(int n, int* trace);

// Each activation has its own array, which the next one writes to.
CALLED int is_even(int n, int* trace) {
    int mine[4];
    for (int i = 0; i < 4; ++i) {
        mine[i] = n * i;
    }
    if (n == 0) {
        return 1;
    }
    const int result = is_odd(n - 1, mine);
    trace[n & 3] += mine[(n + 1) & 3];
    return result;
}

CALLED int is_odd(int n, int* trace) {
    int mine[4];
    for (int i = 0; i < 4; ++i) {
        mine[i] = n + i;
    }
    if (n == 0) {
        return 0;
    }
    const int result = is_even(n - 1, mine);
    trace[n & 3] -= mine[n & 3];
    return result;
}

DEVICE int parity(int n) {
    int trace[4] = {0, 0, 0, 0};
    const int result = is_even(n, trace);
    return result * 1000000 + trace[0] + 3 * trace[1] + 5 * trace[2] + 7 * trace[3];
}

struct Point {
    double x, y, z;
};

struct Shape {
    DEVICE virtual Point grow(Point point, int n) const = 0;
};

struct Tag {
    int tag;

    DEVICE virtual int id() const { return tag; }
};

struct Square : Shape, Tag {
    DEVICE Point grow(Point point, int n) const override {
        if (n == 0) {
            return point;
        }
        point.x += 1;
        point.y += tag;
        point.z *= 1.5;
        return grow(point, n - 1);
    }
};

struct Circle : Tag, Shape {
    int radius;

    DEVICE Point grow(Point point, int n) const override {
        return Point{point.z * n, point.x + radius, point.y};
    }

    DEVICE int id() const override { return -radius; }
};

struct Number {
    int value;

    CALLED int plus(int other) { return value + other; }

    CALLED int times(int other) { return value * other; }
};

DEVICE double use_objects(int n) {
    Square square;
    square.tag = n;
    Circle circle;
    circle.tag = 1;
    circle.radius = n * 2;
    const Shape* shape = (n & 1) != 0 ? static_cast<const Shape*>(&square) : &circle;
    const Tag* tag = (n & 2) != 0 ? static_cast<const Tag*>(&square) : &circle;
    const Point point = shape->grow(Point{1.0 * n, 2, 3}, n % 5);
    int (Number::*method)(int) = n % 3 == 0 ? &Number::plus : &Number::times;
    Number number{n};
    return point.x + 10 * point.y + 100 * point.z + tag->id() + (number.*method)(7);
}

using Function = unsigned (*)(unsigned, unsigned);

DEVICE unsigned add(unsigned a, unsigned b) {
    return a + b;
}

DEVICE unsigned subtract(unsigned a, unsigned b) {
    return a - b;
}

DEVICE unsigned combine(unsigned a, unsigned b) {
    return a ^ b;
}

CALLED unsigned repeat(unsigned a, unsigned b) {
    return b == 0 ? a : repeat(a * 3 + 1, b - 1);
}

DEVICE Function table[4] = {add, subtract, combine, repeat};

DEVICE unsigned mix(unsigned n, unsigned rounds) {
    unsigned x = n;
    for (unsigned i = 0; i < rounds + n % 5; ++i) {
        x = table[(x ^ i) & 3](x, i & 7);
        if ((x & 1) != 0) {
            continue;
        }
        x += table[(i + n) & 3](i, 2);
    }
    return x;
}

} // namespace functions
