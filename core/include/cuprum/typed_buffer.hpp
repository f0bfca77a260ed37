// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/typed_view.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum {

/// A buffer of elements of one type.
///
/// It counts in elements where Buffer counts in bytes, and passes to a kernel as a `T*`. Like a
/// Buffer it shares its memory with its copies and slices, which is freed with the last of them.
///
/// @code
/// const cuprum::TypedBuffer<int> numbers = device.allocate<int>(32, stream);
/// numbers.fill(1, stream);
/// cuprum::launch(stream, {.block = 32}, kernel, numbers);
/// assert(numbers.to_vector(stream).front() == 2);
/// @endcode
template <typename T>
class TypedBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "cuprum: memory holds plain values only");
    static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>,
                  "cuprum: a TypedBuffer holds plain values; see constants through its views");

public:
    using value_type = T; // NOLINT(readability-identifier-naming): as the standard library has it

    /// Takes a buffer as an array of T.
    /// @throws std::invalid_argument if its size is not a multiple of T's, or it is not aligned.
    explicit TypedBuffer(Buffer buffer) : buffer_(std::move(buffer)) {
        if (buffer_.size() % sizeof(T) != 0) {
            throw std::invalid_argument("the buffer has " + std::to_string(buffer_.size()) +
                                        " bytes, expected a multiple of " +
                                        std::to_string(sizeof(T)));
        }
        if (buffer_.handle() % alignof(T) != 0) {
            throw std::invalid_argument("the buffer begins at " + std::to_string(buffer_.handle()) +
                                        ", expected a multiple of " + std::to_string(alignof(T)));
        }
    }

    /// Allocates `count` elements from a memory resource or pool, ordered on `stream`.
    /// @throws OutOfMemoryError if the memory does not suffice.
    /// @throws std::invalid_argument if the size in bytes overflows.
    template <typename Resource>
    [[nodiscard]] static TypedBuffer allocate(Resource& resource, std::size_t count,
                                              const Stream& stream) {
        return TypedBuffer(resource.allocate(bytes_of(count), stream));
    }

    /// Returns the memory as a pointer, for kernels and, if the host can reach it, for the host.
    [[nodiscard]] T* data() const { return buffer_.template data<T>(); }

    /// Returns the number of elements.
    [[nodiscard]] std::size_t size() const { return buffer_.size() / sizeof(T); }

    /// Returns the size in bytes.
    [[nodiscard]] std::size_t size_bytes() const { return buffer_.size(); }

    /// Returns whether the buffer has no elements.
    [[nodiscard]] bool is_empty() const { return buffer_.size() == 0; }

    /// Returns the buffer of bytes behind it.
    [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }

    /// Converts to the buffer of bytes, for functions that take one.
    // NOLINTNEXTLINE(google-explicit-constructor)
    operator const Buffer&() const noexcept { return buffer_; }

    /// Converts to a pointer, so that a kernel with a signature takes it.
    template <typename Pointer>
        requires(std::is_pointer_v<Pointer> && std::is_convertible_v<T*, Pointer>)
    // NOLINTNEXTLINE(google-explicit-constructor)
    operator Pointer() const {
        return data();
    }

    /// Returns `count` elements from `first` on as a buffer that shares the memory.
    /// @throws std::invalid_argument if they do not lie in this buffer.
    [[nodiscard]] TypedBuffer slice(std::size_t first, std::size_t count) const {
        if (first > size() || count > size() - first) {
            throw std::invalid_argument("the slice has elements " + std::to_string(first) + " to " +
                                        std::to_string(first + count) + ", expected at most " +
                                        std::to_string(size()));
        }
        return TypedBuffer(buffer_.slice(first * sizeof(T), count * sizeof(T)));
    }

    /// Copies all elements from the host, ordered on `stream`; see Buffer::copy_from_host.
    /// @throws std::invalid_argument if the number of elements differs.
    void copy_from(std::span<const T> source, const Stream& stream) const {
        check_count(source.size(), "source");
        buffer_.copy_from_host_bytes(source.data(), source.size_bytes(), stream);
    }

    /// Copies a list of values: `copy_from({1, 2, 3}, stream)`; see Buffer::copy_from_host.
    /// @throws std::invalid_argument if the number of elements differs.
    void copy_from(std::initializer_list<T> source, const Stream& stream) const {
        check_count(source.size(), "source");
        buffer_.copy_from_host(source, stream);
    }

    /// Copies all elements from another buffer, ordered on `stream`. Returns at once.
    /// @throws std::invalid_argument if the number of elements differs.
    void copy_from(const TypedBuffer& source, const Stream& stream) const {
        check_count(source.size(), "source");
        buffer_.copy_from(source.buffer_, stream);
    }

    /// Copies all elements to the host, ordered on `stream`. Synchronise the stream before you read
    /// them, and keep the destination alive until then.
    /// @throws std::invalid_argument if the number of elements differs.
    void copy_to(std::span<T> destination, const Stream& stream) const {
        check_count(destination.size(), "destination");
        buffer_.copy_to_host_bytes(destination.data(), destination.size_bytes(), stream);
    }

    /// Copies all elements to another buffer, ordered on `stream`. Returns at once.
    /// @throws std::invalid_argument if the number of elements differs.
    void copy_to(const TypedBuffer& destination, const Stream& stream) const {
        destination.copy_from(*this, stream);
    }

    /// Returns the elements. Blocks until all work enqueued on `stream` so far is done.
    [[nodiscard]] std::vector<T> to_vector(const Stream& stream) const
        requires(!std::is_same_v<T, bool>) // a vector of bool packs its elements
    {
        std::vector<T> values(size());
        copy_to(values, stream);
        stream.sync();
        return values;
    }

    /// Sets all elements to a value of 1, 2 or 4 bytes, ordered on `stream`. Returns at once.
    void fill(const T& value, const Stream& stream) const
        requires(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4)
    {
        if constexpr (sizeof(T) == 1) {
            buffer_.fill(std::bit_cast<std::uint8_t>(value), stream);
        } else if constexpr (sizeof(T) == 2) {
            buffer_.fill(std::bit_cast<std::uint16_t>(value), stream);
        } else {
            buffer_.fill(std::bit_cast<std::uint32_t>(value), stream);
        }
    }

    /// Returns the elements as a range, for the host.
    /// @throws std::invalid_argument if the host cannot reach the memory.
    [[nodiscard]] std::span<T> as_span() const { return buffer_.template as_span<T>(); }

    /// Sees the elements as an array of these extents, in C order: `buffer.view(rows, columns)`.
    /// The view owns nothing.
    /// @throws std::invalid_argument if the buffer is too small.
    template <std::integral... Extents>
        requires(sizeof...(Extents) >= 1)
    [[nodiscard]] TypedView<T, sizeof...(Extents)> view(Extents... extents) const {
        return {buffer_, {static_cast<StridedLayout::Index>(extents)...}};
    }

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return buffer_.is_closed(); }

    /// Gives up this share; see Buffer::close. Closing twice is harmless.
    void close() noexcept { buffer_.close(); }

    /// Gives up this share and orders the free on `stream`; see Buffer::close.
    void close(const Stream& stream) { buffer_.close(stream); }

    /// Compares address and size.
    friend bool operator==(const TypedBuffer& left, const TypedBuffer& right) noexcept {
        return left.buffer_ == right.buffer_;
    }

    /// Returns address and size for messages and logs.
    [[nodiscard]] friend std::string to_string(const TypedBuffer& buffer) {
        return to_string(buffer.buffer_);
    }

private:
    friend class Device;

    [[nodiscard]] static std::size_t bytes_of(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
            const bool is_negative = count > std::numeric_limits<std::size_t>::max() / 2;
            throw std::invalid_argument(
                "the count is " +
                (is_negative
                     ? std::to_string(static_cast<std::ptrdiff_t>(count)) + ", expected at least 0"
                     : std::to_string(count) + "; the size in bytes does not fit into 64 bits"));
        }
        return count * sizeof(T);
    }

    void check_count(std::size_t count, const char* what) const {
        if (count != size()) {
            throw std::invalid_argument(std::string("the ") + what + " has " +
                                        std::to_string(count) + " elements, expected " +
                                        std::to_string(size()));
        }
    }

    Buffer buffer_;
};

template <typename T>
TypedBuffer<T> Device::allocate(std::size_t count, const Stream& stream) const {
    return TypedBuffer<T>(allocate(TypedBuffer<T>::bytes_of(count), stream));
}

namespace detail {

template <typename T>
struct StoredArgument;

/// A TypedBuffer passes to a kernel as its pointer.
template <typename T>
struct StoredArgument<TypedBuffer<T>> {
    T* value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const TypedBuffer<T>& buffer) : value(buffer.data()) {}
};

} // namespace detail

} // namespace cuprum

template <typename T>
struct std::hash<cuprum::TypedBuffer<T>> {
    [[nodiscard]] std::size_t operator()(const cuprum::TypedBuffer<T>& buffer) const noexcept {
        return std::hash<cuprum::Buffer>()(buffer.buffer());
    }
};
