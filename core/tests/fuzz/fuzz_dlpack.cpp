// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads tensors with arbitrary values, as other libraries might pass them. Each is refused or
// becomes a view, and no view reaches outside the memory that the tensor describes.

#include <cuprum/dlpack.hpp>
#include <cuprum/strided_memory_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

using namespace cuprum;

namespace {

/// Reads numbers from the front of the input. Returns zeros after its end.
class Source {
public:
    Source(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

    template <typename T>
    T take() {
        T value{};
        const std::size_t bytes = std::min(sizeof(T), left_);
        if (bytes != 0) {
            std::memcpy(&value, data_, bytes);
        }
        data_ += bytes;
        left_ -= bytes;
        return value;
    }

private:
    const std::uint8_t* data_;
    std::size_t left_;
};

int deleted = 0;

void use(const StridedMemoryView& view) {
    const StridedLayout& layout = view.layout();
    static_cast<void>(layout.to_string());
    static_cast<void>(layout.is_unique());
    static_cast<void>(layout.is_contiguous_any());
    static_cast<void>(layout.stride_order());
    static_cast<void>(view.handle());
    try {
        static_cast<void>(layout.required_size_in_bytes());
    } catch (const std::invalid_argument&) {
        // the layout reaches below its start
    }
    if (view.view(layout).layout().volume() != layout.volume()) {
        std::abort();
    }
    try {
        static_cast<void>(view.typed<float, 2>());
    } catch (const std::invalid_argument&) {
        // another element type or rank
    }
    auto* const exported = view.to_dlpack();
    const StridedMemoryView again = StridedMemoryView::from_dlpack(exported);
    if (!std::ranges::equal(again.layout().shape(), layout.shape())) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::int32_t MOST_DIMENSIONS = 100;
    Source source(data, size);
    const auto choices = source.take<std::uint8_t>();
    dlpack::ManagedTensorVersioned managed{};
    managed.version = {choices % 4 == 0 ? source.take<std::uint32_t>() : 1u, 0};
    managed.flags = source.take<std::uint8_t>();
    managed.deleter = [](dlpack::ManagedTensorVersioned*) { ++deleted; };
    dlpack::Tensor& tensor = managed.tensor;
    tensor.data = reinterpret_cast<void*>(source.take<std::uintptr_t>());
    tensor.device = {static_cast<dlpack::DeviceType>(source.take<std::uint8_t>() % 16),
                     source.take<std::int8_t>()};
    tensor.dtype = {static_cast<dlpack::TypeCode>(source.take<std::uint8_t>()),
                    source.take<std::uint8_t>(), source.take<std::uint16_t>()};
    tensor.byte_offset = choices & 4 ? source.take<std::uint64_t>() : 0;
    tensor.ndim = choices & 8 ? source.take<std::int8_t>() : source.take<std::uint8_t>() % 5;
    // The arrays have exactly the promised size if that is possible.
    std::vector<std::int64_t> shape(
        static_cast<std::size_t>(std::clamp(tensor.ndim, 0, MOST_DIMENSIONS)));
    std::vector<std::int64_t> strides = shape;
    tensor.ndim = std::min(tensor.ndim, MOST_DIMENSIONS);
    for (std::int64_t& extent : shape) {
        extent = choices & 16 ? source.take<std::int64_t>() : source.take<std::int16_t>();
    }
    for (std::int64_t& stride : strides) {
        stride = choices & 32 ? source.take<std::int64_t>() : source.take<std::int16_t>();
    }
    tensor.shape = choices & 64 && tensor.ndim == 0 ? nullptr : shape.data();
    tensor.strides = choices & 128 ? strides.data() : nullptr;
    deleted = 0;
    try {
        use(StridedMemoryView::from_dlpack(&managed));
    } catch (const std::invalid_argument&) {
        // refused
    }
    if (deleted != 1) {
        std::abort();
    }
    return 0;
}
