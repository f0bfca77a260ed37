// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Some states, such as those of events, come and go with every other call. Their memory is reused:
// each thread keeps the last pieces, so that taking one costs a few instructions. The allocator
// costs as much as a cheap driver call. A piece that another thread gives back stays with that
// thread.

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUPRUM_RECYCLES false // so that they see every piece come and go
#else
#define CUPRUM_RECYCLES true
#endif

namespace cuprum::detail {

/// The pieces of one size that a thread keeps.
template <std::size_t Bytes>
class RecycledPieces {
public:
    [[nodiscard]] static void* take() {
        List& list = own_list();
        if (Piece* const piece = list.first) [[likely]] {
            list.first = piece->next;
            --list.count;
            return piece;
        }
        return ::operator new(Bytes);
    }

    static void give(void* memory) noexcept {
        List& list = own_list();
        if (list.count < list.limit) [[likely]] {
            keep(list, memory);
        } else {
            give_first_or_last(memory);
        }
    }

private:
    static constexpr unsigned MAX_PIECES = 32;

    struct Piece {
        Piece* next;
    };

    // NOTE: without a destructor, so that it is usable until the thread has ended: other libraries
    // may drop objects then.
    struct List {
        Piece* first = nullptr;
        unsigned count = 0;
        unsigned limit = 0;   // 0 until the first piece comes back
        bool is_over = false; // the thread is ending
    };

    /// Frees what is kept when the thread ends.
    struct Ender {
        ~Ender() {
            List& list = own_list();
            list.limit = 0;
            list.is_over = true;
            while (list.first != nullptr) {
                ::operator delete(std::exchange(list.first, list.first->next));
            }
            list.count = 0;
        }
    };

    static List& own_list() noexcept { return kept; }

    static void keep(List& list, void* memory) noexcept {
        list.first = new (memory) Piece{list.first};
        ++list.count;
    }

    /// Takes a piece back if it is the first of this thread, or frees it if there are enough.
    [[gnu::noinline]] static void give_first_or_last(void* memory) noexcept {
        List& list = own_list();
        if (list.limit != 0 || list.is_over || !start_keeping(list)) {
            ::operator delete(memory);
        } else {
            keep(list, memory);
        }
    }

    /// Starts to keep pieces, which are freed when the thread ends. Returns false if none are kept.
    static bool start_keeping(List& list) noexcept {
        static thread_local Ender ender;
        static_cast<void>(ender);
        list.limit = CUPRUM_RECYCLES ? MAX_PIECES : 0;
        return list.limit != 0;
    }

    // NOTE: "initial-exec" finds it in one instruction; the default of a shared library is a
    // function call, which was a quarter of the cost of an event. In return, all thread-local data
    // of this library must fit into the 1.5 KiB that the C library reserves for libraries that are
    // loaded late. A test checks the size.
    [[gnu::tls_model("initial-exec")]] static thread_local constinit inline List kept{};
};

/// The allocator for std::allocate_shared.
template <typename T>
struct Recycled {
    using value_type = T;

    Recycled() = default;

    template <typename U>
    // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
    Recycled(const Recycled<U>& /*other*/) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return static_cast<T*>(count == 1 ? RecycledPieces<sizeof(T)>::take()
                                          : ::operator new(count * sizeof(T)));
    }

    void deallocate(T* memory, std::size_t count) noexcept {
        count == 1 ? RecycledPieces<sizeof(T)>::give(memory) : ::operator delete(memory);
    }

    friend bool operator==(const Recycled& /*left*/, const Recycled& /*right*/) noexcept {
        return true;
    }
};

/// Makes a shared T in recycled memory.
template <typename T, typename... Args>
[[nodiscard]] std::shared_ptr<T> make_recycled(Args&&... args) {
    return std::allocate_shared<T>(Recycled<T>(), std::forward<Args>(args)...);
}

} // namespace cuprum::detail
