// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Passes structures to a kernel by value. Any trivially copyable type works. `as` compares the
// sizes in the signature with the kernel's parameters, once.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <stdexcept>
#include <vector>

struct Particle {
    float x, y, z;
    int charge;
    double mass;
};

struct Field {
    float strength[3];
};

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto kernel = cuprum::Program(R"(
        struct Particle { float x, y, z; int charge; double mass; };
        struct Field { float strength[3]; };
        extern "C" __global__ void accelerate(Particle particle, Field field, double* out) {
            int i = threadIdx.x;
            if (i < 3) out[i] = particle.charge * field.strength[i] / particle.mass;
        })")
                            .compile(cuprum::CodeType::Cubin)
                            .get_kernel("accelerate");
    const auto accelerate = kernel.as<void(Particle, Field, double*)>();

    const auto out = device.allocate(3 * sizeof(double), stream);
    accelerate(stream, {.block = 32}, Particle{.x = 0, .y = 0, .z = 0, .charge = -2, .mass = 0.5},
               Field{{1, 2, 3}}, out);
    std::vector<double> result(3);
    out.copy_to_host(std::span(result), stream);
    stream.sync();
    std::printf("acceleration: %g %g %g\n", result[0], result[1], result[2]);

    try {
        static_cast<void>(kernel.as<void(Field, Field, double*)>());
    } catch (const std::invalid_argument& error) {
        std::printf("a structure of the wrong size: %s\n", error.what());
    }
    return result == std::vector{-4.0, -8.0, -12.0} ? 0 : 1;
}
