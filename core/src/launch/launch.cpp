// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A launch has three steps, each with a file of its own: the arguments are packed
// (packed_arguments.hpp), the configuration is encoded (encoded_config.hpp), and both are submitted
// (submission.hpp).

#include <cuprum/launch.hpp>

#include "driver/handle.hpp"
#include "launch/encoded_config.hpp"
#include "launch/packed_arguments.hpp"
#include "launch/submission.hpp"
#include "program/kernel_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/typed_kernel.hpp>

#include <stdexcept>

namespace cuprum {

void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            std::span<const KernelArgument> arguments) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::PackedArguments packed(detail::open(kernel), arguments);
    detail::EncodedConfig encoded(config);
    detail::submit(stream, config, encoded.on(queue.handle), kernel, packed.addresses());
}

[[gnu::hot]] void detail::launch_at(const Stream& stream, const LaunchConfig& config,
                                    const Kernel& kernel, const void* const* addresses,
                                    std::span<const ArgumentType> types) {
    const StreamState& queue = open(stream);
    const PackedArguments packed(open(kernel), addresses, types);
    EncodedConfig encoded(config);
    submit(stream, config, encoded.on(queue.handle), kernel, packed.addresses());
}

[[gnu::hot]] void detail::launch_packed(const Stream& stream, const LaunchConfig& config,
                                        const CUlaunchConfig& encoded, const Kernel& kernel,
                                        void* const* addresses) {
    const CUlaunchConfig own = on_stream(encoded, handle_of(stream));
    submit(stream, config, own, kernel, const_cast<void**>(addresses)); // the driver only reads
}

} // namespace cuprum

namespace cuprum::detail {

void refuse_value(std::size_t position, const std::string& value, const char* expected) {
    throw std::invalid_argument("argument " + std::to_string(position) + " is " + value +
                                "; expected " + expected);
}

} // namespace cuprum::detail
