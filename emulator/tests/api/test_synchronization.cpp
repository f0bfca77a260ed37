// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which copies and fills return only when they are done. The tables were recorded on an H200 with
// driver 580.

#include "api/driver.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/mman.h>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t BYTES = std::size_t{1} << 20; // more than what is copied at once

/// The kinds of memory, in the order of the tables.
constexpr std::array KINDS{"device", "pinned", "registered", "managed", "pageable"};

/// What the calls return for each kind of source (rows) and destination (columns): '.' at once,
/// 'W' when the copy is done, 'X' with INVALID_VALUE.
using Table = std::array<const char*, KINDS.size()>;

constexpr Table BY_ADDRESS{".WWWW", "WWWWW", "WWWWW", "WWWWW", "WWWWW"};
constexpr Table BY_ADDRESS_ASYNC{"....W", ".WW.W", ".WW.W", "....W", ".WW.W"};
constexpr Table FROM_HOST{".WWWX", "WWWWX", "WWWWX", "WWWWX", "WWWWX"};
constexpr Table FROM_HOST_ASYNC{"....X", ".WW.X", ".WW.X", "WWWWX", ".WW.X"};
constexpr Table TO_HOST{".WWWW", "WWWWW", "WWWWW", "WWWWW", "XXXXX"};
constexpr Table TO_HOST_ASYNC{"...WW", ".WWWW", ".WWWW", "...WW", "XXXXX"};
constexpr Table ON_DEVICE{".WWWX", "WWWWX", "WWWWX", "WWWWX", "XXXXX"};
constexpr Table ON_DEVICE_ASYNC{"....X", ".WW.X", ".WW.X", "....X", "XXXXX"};
constexpr Table ON_HOST_ASYNC{"...WW", ".WWWW", ".WWWW", "WWWWW", ".WWWW"};

/// A block of each kind of memory.
class Blocks {
public:
    Blocks() {
        EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&addresses_[0], BYTES)));
        void* pinned = nullptr;
        EXPECT_TRUE(succeeds(CU(cuMemAllocHost)(&pinned, BYTES)));
        addresses_[1] = reinterpret_cast<CUdeviceptr>(pinned);
        addresses_[2] = map();
        EXPECT_TRUE(
            succeeds(CU(cuMemHostRegister)(reinterpret_cast<void*>(addresses_[2]), BYTES, 0)));
        EXPECT_TRUE(succeeds(CU(cuMemAllocManaged)(&addresses_[3], BYTES, CU_MEM_ATTACH_GLOBAL)));
        addresses_[4] = map();
    }

    ~Blocks() {
        EXPECT_TRUE(succeeds(CU(cuMemFree)(addresses_[0])));
        EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(reinterpret_cast<void*>(addresses_[1]))));
        EXPECT_TRUE(succeeds(CU(cuMemHostUnregister)(reinterpret_cast<void*>(addresses_[2]))));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(addresses_[3])));
        ::munmap(reinterpret_cast<void*>(addresses_[2]), BYTES);
        ::munmap(reinterpret_cast<void*>(addresses_[4]), BYTES);
    }

    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    [[nodiscard]] CUdeviceptr of(std::size_t kind) const { return addresses_[kind]; }

private:
    static CUdeviceptr map() {
        void* const pages =
            ::mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(pages, MAP_FAILED);
        return reinterpret_cast<CUdeviceptr>(pages);
    }

    std::array<CUdeviceptr, KINDS.size()> addresses_{};
};

void* host(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

class Synchronization : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&own_, CU_STREAM_NON_BLOCKING)));
        to_.emplace();
        from_.emplace();
    }

    void TearDown() override {
        to_.reset();
        from_.reset();
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(own_)));
        DriverTest::TearDown();
    }

    /// Makes a call while the stream is blocked, and returns what it does, as in the tables.
    static char behaviour(CUstream stream, char expected, const std::function<CUresult()>& call) {
        // A call that should return at once is not released; it has all the time it needs.
        const auto patience =
            expected == '.' ? std::chrono::milliseconds(20000) : std::chrono::milliseconds(5);
        std::mutex mutex;
        std::condition_variable returned;
        bool is_back = false;
        bool is_open = false;
        CUresult result = CUDA_ERROR_UNKNOWN;
        {
            Gate gate;
            gate.block(stream);
            std::thread opener([&] {
                std::unique_lock lock(mutex);
                returned.wait_for(lock, patience, [&] { return is_back; });
                is_open = !is_back;
                gate.open();
            });
            result = call();
            {
                const std::lock_guard lock(mutex);
                is_back = true;
            }
            returned.notify_all();
            opener.join();
        }
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        return result == CUDA_SUCCESS               ? (is_open ? 'W' : '.')
               : result == CUDA_ERROR_INVALID_VALUE ? 'X'
                                                    : '?';
    }

    using CopyCall = std::function<CUresult(CUdeviceptr to, CUdeviceptr from)>;

    void expect_copies(const Table& table, CUstream stream, const CopyCall& call) const {
        for (std::size_t from = 0; from < KINDS.size(); ++from) {
            for (std::size_t to = 0; to < KINDS.size(); ++to) {
                const char expected = table[from][to];
                EXPECT_EQ(expected, behaviour(stream, expected,
                                              [&] { return call(to_->of(to), from_->of(from)); }))
                    << "from " << KINDS[from] << " to " << KINDS[to] << " memory";
            }
        }
    }

    void expect_fills(const char* table, CUstream stream,
                      const std::function<CUresult(CUdeviceptr)>& call) const {
        for (std::size_t kind = 0; kind < KINDS.size(); ++kind) {
            EXPECT_EQ(table[kind],
                      behaviour(stream, table[kind], [&] { return call(to_->of(kind)); }))
                << KINDS[kind] << " memory";
        }
    }

    static CUDA_MEMCPY2D rows(CUmemorytype type, CUdeviceptr to, CUdeviceptr from) {
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = copy.dstMemoryType = type;
        copy.srcDevice = from;
        copy.srcHost = host(from);
        copy.dstDevice = to;
        copy.dstHost = host(to);
        copy.srcPitch = copy.dstPitch = 1024;
        copy.WidthInBytes = 512;
        copy.Height = BYTES / 1024;
        return copy;
    }

    CUstream own_ = nullptr;
    std::optional<Blocks> to_;
    std::optional<Blocks> from_;
};

} // namespace

TEST_F(Synchronization, copies_by_address) {
    expect_copies(BY_ADDRESS, nullptr,
                  [](auto to, auto from) { return CU(cuMemcpy)(to, from, BYTES); });
    expect_copies(BY_ADDRESS_ASYNC, own_,
                  [&](auto to, auto from) { return CU(cuMemcpyAsync)(to, from, BYTES, own_); });
}

TEST_F(Synchronization, copies_from_the_host) {
    expect_copies(FROM_HOST, nullptr,
                  [](auto to, auto from) { return CU(cuMemcpyHtoD)(to, host(from), BYTES); });
    expect_copies(FROM_HOST_ASYNC, own_, [&](auto to, auto from) {
        return CU(cuMemcpyHtoDAsync)(to, host(from), BYTES, own_);
    });
}

TEST_F(Synchronization, copies_to_the_host) {
    expect_copies(TO_HOST, nullptr,
                  [](auto to, auto from) { return CU(cuMemcpyDtoH)(host(to), from, BYTES); });
    expect_copies(TO_HOST_ASYNC, own_, [&](auto to, auto from) {
        return CU(cuMemcpyDtoHAsync)(host(to), from, BYTES, own_);
    });
}

TEST_F(Synchronization, copies_on_the_device) {
    expect_copies(ON_DEVICE, nullptr,
                  [](auto to, auto from) { return CU(cuMemcpyDtoD)(to, from, BYTES); });
    expect_copies(ON_DEVICE_ASYNC, own_,
                  [&](auto to, auto from) { return CU(cuMemcpyDtoDAsync)(to, from, BYTES, own_); });
}

TEST_F(Synchronization, copies_between_contexts) {
    expect_copies(ON_DEVICE, nullptr, [&](auto to, auto from) {
        return CU(cuMemcpyPeer)(to, context_, from, context_, BYTES);
    });
    expect_copies(ON_DEVICE_ASYNC, own_, [&](auto to, auto from) {
        return CU(cuMemcpyPeerAsync)(to, context_, from, context_, BYTES, own_);
    });
}

TEST_F(Synchronization, copies_of_rows) {
    struct Case {
        const Table& table;
        CUmemorytype type;
        bool is_async;
    };

    for (const auto& [table, type, is_async] :
         {Case{BY_ADDRESS, CU_MEMORYTYPE_UNIFIED, false},
          Case{BY_ADDRESS_ASYNC, CU_MEMORYTYPE_UNIFIED, true},
          Case{BY_ADDRESS, CU_MEMORYTYPE_HOST, false},
          Case{ON_HOST_ASYNC, CU_MEMORYTYPE_HOST, true},
          Case{ON_DEVICE, CU_MEMORYTYPE_DEVICE, false},
          Case{ON_DEVICE_ASYNC, CU_MEMORYTYPE_DEVICE, true}}) {
        SCOPED_TRACE(std::to_string(type) + (is_async ? " on a stream" : ""));
        expect_copies(table, is_async ? own_ : nullptr,
                      [&, type = type, is_async = is_async](auto to, auto from) {
                          const CUDA_MEMCPY2D copy = rows(type, to, from);
                          return is_async ? CU(cuMemcpy2DAsync)(&copy, own_)
                                          : CU(cuMemcpy2D)(&copy);
                      });
    }
}

TEST_F(Synchronization, fills) {
    expect_fills(".WWWX", nullptr, [](auto to) { return CU(cuMemsetD8)(to, 1, BYTES); });
    expect_fills(".WWWX", nullptr, [](auto to) { return CU(cuMemsetD32)(to, 1, 16); });
    expect_fills(".WWWX", nullptr,
                 [](auto to) { return CU(cuMemsetD2D8)(to, 1024, 1, 512, BYTES / 1024); });
    expect_fills("....X", own_, [&](auto to) { return CU(cuMemsetD8Async)(to, 1, BYTES, own_); });
    expect_fills("....X", own_, [&](auto to) {
        return CU(cuMemsetD2D8Async)(to, 1024, 1, 512, BYTES / 1024, own_);
    });
}

TEST_F(Synchronization, plain_calls_wait_where_the_memory_asks_for_it) {
    const unsigned on = 1;
    ASSERT_TRUE(
        succeeds(CU(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, to_->of(0))));
    EXPECT_EQ('W', behaviour(nullptr, 'W', [&] { return CU(cuMemsetD8)(to_->of(0), 1, BYTES); }));
    EXPECT_EQ('W', behaviour(nullptr, 'W',
                             [&] { return CU(cuMemcpyDtoD)(to_->of(0), from_->of(0), BYTES); }));
    EXPECT_EQ(
        '.', behaviour(own_, '.', [&] { return CU(cuMemsetD8Async)(to_->of(0), 1, BYTES, own_); }));
}

TEST_F(Synchronization, calls_without_a_stream_are_not_captured) {
    const auto find = [](const char* name) {
        void* function = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGetProcAddress)(
            name, &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr)));
        return function;
    };
    const auto copy = reinterpret_cast<decltype(&cuMemcpyDtoD)>(find("cuMemcpyDtoD"));
    const auto fill = reinterpret_cast<decltype(&cuMemsetD8)>(find("cuMemsetD8"));
    for (const auto& call : {CopyCall([&](auto to, auto from) { return copy(to, from, 64); }),
                             CopyCall([&](auto to, auto from) { return copy(to, from, 0); }),
                             CopyCall([&](auto to, auto) { return fill(to, 1, 64); })}) {
        ASSERT_TRUE(succeeds(
            CU(cuStreamBeginCapture)(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED)));
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call(to_->of(0), from_->of(0))));
        CUgraph graph = nullptr;
        EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                            CU(cuStreamEndCapture)(CU_STREAM_PER_THREAD, &graph)));
    }
}
