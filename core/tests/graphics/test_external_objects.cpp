// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "graph/payload.hpp"
#include "support/device_test.hpp"
#include "support/every_failure.hpp"
#include "support/expect_error.hpp"

#include <cuprum/fault_injection.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/graphics/external_memory.hpp>
#include <cuprum/graphics/external_semaphore.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr std::size_t BYTES = 2 << 20;

std::size_t open_descriptors() {
    std::size_t count = 0;
    for (int number = 0; number < 512; ++number) {
        count += ::fcntl(number, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
}

/// Memory of the device that is exported as an opaque file descriptor.
class Exported {
public:
    explicit Exported(const Device& device) {
        const driver::Current current(device.primary_context().handle());
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        driver::call(driver::table().cuMemCreate, &memory_, BYTES, &properties, 0ULL);
        const auto export_memory = reinterpret_cast<decltype(&cuMemExportToShareableHandle)>(
            driver::resolve("cuMemExportToShareableHandle", 10020));
        EXPECT_EQ(export_memory(&descriptor_, memory_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  CUDA_SUCCESS);
    }

    ~Exported() {
        ::close(descriptor_);
        driver::table().cuMemRelease(memory_);
    }

    Exported(const Exported&) = delete;
    Exported& operator=(const Exported&) = delete;

    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    CUmemGenericAllocationHandle memory_ = 0;
    int descriptor_ = -1;
};

class ExternalMemoryTest : public testing::DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        exported_.emplace(device());
        try {
            static_cast<void>(imported());
        } catch (const CUDAError& error) {
            GTEST_SKIP() << "the driver does not import its own exports: " << error.what();
        }
    }

    void TearDown() override {
        exported_.reset();
        DeviceTest::TearDown();
    }

    [[nodiscard]] ExternalMemory imported() const {
        return ExternalMemory::from_fd(device().primary_context(), exported_->descriptor(), BYTES);
    }

    std::optional<Exported> exported_;
};

/// Has semaphores that this process can see itself. Drivers of GPUs take those of Vulkan only.
class ExternalSemaphoreTest : public testing::DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!IsSkipped() && !device().is_emulated()) {
            GTEST_SKIP() << "the driver of a GPU imports semaphores of Vulkan only";
        }
        event_ = ::eventfd(0, EFD_CLOEXEC);
        file_ = ::memfd_create("counter", MFD_CLOEXEC);
        ASSERT_EQ(::ftruncate(file_, 4096), 0);
        counter_ = static_cast<std::uint64_t*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    }

    void TearDown() override {
        // The driver decides when a launch gives up what its graph keeps alive.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (detail::Payload::live_count() != 0 && std::chrono::steady_clock::now() < deadline) {
            detail::release_deferred();
            std::this_thread::yield();
        }
        if (counter_ != nullptr) {
            ::munmap(counter_, 4096);
            ::close(file_);
            ::close(event_);
        }
        DeviceTest::TearDown();
    }

    [[nodiscard]] ExternalSemaphore timeline() const {
        return ExternalSemaphore::from_fd(device().primary_context(), file_,
                                          ExternalSemaphoreType::TimelineFd);
    }

    [[nodiscard]] ExternalSemaphore binary() const {
        return ExternalSemaphore::from_fd(device().primary_context(), event_);
    }

    [[nodiscard]] std::atomic_ref<std::uint64_t> counter() const {
        return std::atomic_ref(*counter_);
    }

    /// Returns how many events and how many imports are alive.
    static std::pair<std::size_t, std::size_t> live() {
        std::istringstream text(testing::live_objects());
        std::vector<std::size_t> counts{std::istream_iterator<std::size_t>(text), {}};
        return {counts.at(2), counts.back()};
    }

    [[nodiscard]] bool is_signalled() const {
        pollfd request{event_, POLLIN, 0};
        return ::poll(&request, 1, 0) == 1;
    }

    int event_ = -1;
    int file_ = -1;
    std::uint64_t* counter_ = nullptr;
};

} // namespace

TEST_F(ExternalMemoryTest, two_imports_see_the_same_bytes) {
    const std::size_t before = open_descriptors();
    {
        const ExternalMemory first = imported();
        const ExternalMemory second = imported();
        EXPECT_EQ(first.size(), BYTES);
        EXPECT_EQ(first.type(), ExternalMemoryType::OpaqueFd);
        EXPECT_FALSE(first == second);
        const Buffer whole = first.map();
        const Buffer part = second.map(4096, 16);
        EXPECT_EQ(whole.size(), BYTES);
        EXPECT_EQ(part.size(), 16U);
        EXPECT_EQ(whole.device_id(), 0);
        whole.slice(4096, 16).fill(std::uint32_t{0xC0FFEE}, stream());
        std::vector<std::uint32_t> seen(4);
        part.copy_to_host(seen, stream());
        stream().sync();
        EXPECT_EQ(seen, std::vector<std::uint32_t>(4, 0xC0FFEE));
    }
    EXPECT_GE(::fcntl(exported_->descriptor(), F_GETFD), 0) << "the caller keeps its descriptor";
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ExternalMemoryTest, a_buffer_outlives_the_objects_it_came_from) {
    ExternalMemory memory = imported();
    Buffer buffer = memory.map();
    ExternalMemory copy = memory;
    EXPECT_EQ(copy, memory);
    memory.close();
    memory.close();
    copy.close();
    buffer.fill(std::uint8_t{7}, stream());
    buffer.close(stream());
}

TEST_F(ExternalMemoryTest, says_what_is_wrong) {
    const Context context = device().primary_context();
    const std::size_t before = open_descriptors();
    ExternalMemory memory = imported();
    expect_error<std::invalid_argument>([&] { static_cast<void>(memory.map(0, 0)); },
                                        {"the size is 0 bytes"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(memory.map(BYTES, 1)); },
                                        {"1 bytes from offset 2097152", "has 2097152"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(memory.map(~std::size_t{0}, 2)); },
                                        {"offset"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(ExternalMemory::from_fd(context, -1, BYTES)); },
        {"descriptor is -1", "open in this process"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(ExternalMemory::from_fd(context, 499, BYTES)); },
        {"descriptor is 499"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(ExternalMemory::from_fd(context, exported_->descriptor(), 0)); },
        {"the size is 0 bytes"});
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(ExternalMemory::from_fd(
                context, exported_->descriptor(), BYTES,
                {.type = ExternalMemoryType::DmaBufFd, .is_dedicated = true}));
        },
        {"dedicated", "DMA-BUF"});
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                ExternalMemory::from_fd(context, exported_->descriptor(), BYTES,
                                        {.type = static_cast<ExternalMemoryType>(5)}));
        },
        {"type is 5", "ExternalMemoryType"});
    memory.close();
    expect_error<ClosedError>([&] { static_cast<void>(memory.map()); }, {"ExternalMemory"});
    EXPECT_EQ(to_string(memory), "<ExternalMemory closed>");
    EXPECT_EQ(open_descriptors(), before) << "failed imports close the duplicate";
}

TEST_F(ExternalMemoryTest, of_a_wrong_size_or_file_names_the_driver_call) {
    if (!device().is_emulated()) {
        GTEST_SKIP() << "drivers of GPUs do not check the size";
    }
    const Context context = device().primary_context();
    const std::size_t before = open_descriptors();
    expect_error<CUDAError>(
        [&] {
            static_cast<void>(ExternalMemory::from_fd(context, exported_->descriptor(), 2 * BYTES));
        },
        {"cuImportExternalMemory", "CUDA_ERROR_INVALID_VALUE"});
    const int event = ::eventfd(0, 0);
    expect_error<CUDAError>(
        [&] { static_cast<void>(ExternalMemory::from_fd(context, event, BYTES)); },
        {"cuImportExternalMemory", "CUDA_ERROR_NOT_SUPPORTED"});
    ::close(event);
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ExternalMemoryTest, arrays_lie_in_the_memory) {
    ExternalMemory memory = imported();
    const MipmappedArrayOptions options{
        .array = {.extent = {64, 64}, .format = ArrayFormat::Float32}, .num_levels = 2};
    const MipmappedArray first = memory.map_mipmapped_array(0, options);
    const MipmappedArray second = memory.map_mipmapped_array(0, options);
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(memory.map_mipmapped_array(BYTES, options)); },
        {"offset is 2097152", "has 2097152 bytes"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(memory.map_mipmapped_array(0, {})); }, {"width"});
    memory.close();
    EXPECT_EQ(first.num_levels(), 2U);
    const OpaqueArray level = first.level(1);
    const std::vector<float> written(32 * 32, 2.5F);
    level.copy_from_host(written, stream());
    std::vector<float> seen(32 * 32);
    second.level(1).copy_to_host(seen, stream());
    stream().sync();
    EXPECT_EQ(seen, written) << "both lie in the same memory";
}

TEST_F(ExternalMemoryTest, is_described_and_hashed) {
    const ExternalMemory memory = imported();
    EXPECT_NE(to_string(memory).find(" opaque_fd size=2097152>"), std::string::npos)
        << to_string(memory);
    EXPECT_TRUE((std::unordered_set<ExternalMemory>{memory}.contains(memory)));
    EXPECT_EQ(memory.context(), device().primary_context());
    EXPECT_NE(memory.handle(), nullptr);
}

TEST_F(ExternalMemoryTest, survives_a_failure_of_every_driver_call) {
    stream().sync();
    const std::size_t before = open_descriptors();
    testing::check_every_failure_on_driver([&] {
        const ExternalMemory memory = imported();
        const Buffer buffer = memory.map(0, 4096);
        buffer.fill(std::uint8_t{1}, stream());
        stream().sync();
        static_cast<void>(memory.map_mipmapped_array(0, {.array = {.extent = {16, 16}}}));
    });
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ExternalSemaphoreTest, a_stream_signals_and_waits) {
    const ExternalSemaphore counting = timeline();
    const ExternalSemaphore plain = binary();
    EXPECT_EQ(plain.type(), ExternalSemaphoreType::OpaqueFd);
    EXPECT_EQ(counting.type(), ExternalSemaphoreType::TimelineFd);
    counting.wait(stream(), 3);
    plain.signal(stream());
    counting.signal(stream(), 4);
    EXPECT_FALSE(stream().is_done());
    EXPECT_FALSE(is_signalled());
    counter().store(3);
    stream().sync();
    EXPECT_TRUE(is_signalled());
    EXPECT_EQ(counter().load(), 4U);
    plain.wait(stream());
    stream().sync();
    EXPECT_FALSE(is_signalled()) << "a wait takes a binary semaphore";
}

TEST_F(ExternalSemaphoreTest, a_captured_graph_keeps_the_semaphore) {
    std::optional<ExternalSemaphore> counting = timeline();
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    counting->wait(builder.stream(), 1);
    counting->signal(builder.stream(), 2);
    builder.end_building();
    counting.reset();
    const Graph graph = builder.complete();
    graph.launch(stream());
    EXPECT_EQ(counter().load(), 0U);
    counter().store(1);
    stream().sync();
    EXPECT_EQ(counter().load(), 2U);
}

TEST_F(ExternalSemaphoreTest, lives_until_enqueued_waits_and_signals_are_done) {
    const auto [events, imports] = live();
    ExternalSemaphore counting = timeline();
    counting.wait(stream(), 1);
    counting.signal(stream(), 2);
    counting.close();
    detail::release_deferred();
    EXPECT_EQ(live().second, imports + 1) << "the stream still waits for it";
    counter().store(1);
    stream().sync();
    EXPECT_EQ(counter().load(), 2U);
    EXPECT_EQ(live(), std::pair(events, imports)) << "a synchronisation releases it";
}

TEST_F(ExternalSemaphoreTest, is_destroyed_at_once_if_its_work_is_done) {
    const auto before = live();
    ExternalSemaphore counting = timeline();
    counting.signal(stream(), 1);
    stream().sync();
    counting.close();
    EXPECT_EQ(live(), before);
}

TEST_F(ExternalSemaphoreTest, waits_for_the_work_of_all_streams) {
    const auto [events, imports] = live();
    const Stream other = device().create_stream();
    ExternalSemaphore counting = timeline();
    for (int i = 0; i < 50; ++i) {
        counting.wait(stream(), 1);
        counting.wait(other, 2);
    }
    EXPECT_EQ(live().first, events + 2) << "one event for each stream";
    counting.close();
    counter().store(1);
    stream().sync();
    EXPECT_EQ(live().second, imports + 1) << "the other stream still waits for it";
    counter().store(2);
    other.sync();
    EXPECT_EQ(live(), std::pair(events, imports));
}

TEST_F(ExternalSemaphoreTest, waits_for_the_work_of_default_streams) {
    const driver::Current current(device().primary_context().handle());
    const auto [events, imports] = live();
    ExternalSemaphore counting = timeline();
    for (int i = 0; i < 10; ++i) {
        counting.wait(Stream::legacy_default(), 1);
    }
    EXPECT_EQ(live().first, events + 1);
    counting.wait(Stream::per_thread_default(), 1);
    counting.wait(Stream::per_thread_default(), 1); // could be another thread's
    EXPECT_EQ(live().first, events + 3);
    counting.close();
    EXPECT_EQ(live().second, imports + 1);
    counter().store(1);
    device().sync();
    EXPECT_EQ(live(), std::pair(events, imports));
}

TEST_F(ExternalSemaphoreTest, uses_events_again_that_are_done) {
    ExternalSemaphore counting = timeline();
    counting.signal(stream(), 1);
    stream().sync();
    const auto before = live();
    const Stream other = device().create_stream();
    for (std::uint64_t value = 2; value < 10; ++value) {
        counting.signal(value % 2 == 0 ? other : stream(), value);
        (value % 2 == 0 ? other : stream()).sync();
    }
    EXPECT_EQ(live().first, before.first);
}

TEST_F(ExternalSemaphoreTest, can_be_closed_in_a_host_function) {
    const auto before = live();
    const Stream other = device().create_stream();
    auto counting = std::make_shared<std::optional<ExternalSemaphore>>(timeline());
    (*counting)->wait(stream(), 1);
    other.launch_host([counting] { counting->reset(); });
    other.sync();
    EXPECT_FALSE(counting->has_value());
    EXPECT_EQ(live().second, before.second + 1);
    counter().store(1);
    stream().sync();
    EXPECT_EQ(live(), before);
}

TEST_F(ExternalSemaphoreTest, stays_if_the_driver_may_not_be_asked) {
    const auto before = live();
    ExternalSemaphore counting = timeline();
    counting.wait(stream(), 1);
    {
        const FaultInjection fault("cuEventQuery", 1, CUDA_ERROR_NOT_PERMITTED);
        counting.close();
        EXPECT_EQ(fault.failed_call(), "cuEventQuery");
    }
    EXPECT_EQ(live().second, before.second + 1);
    counter().store(1);
    stream().sync();
    EXPECT_EQ(live(), before);
}

TEST_F(ExternalSemaphoreTest, a_capture_gets_no_events) {
    const ExternalSemaphore counting = timeline();
    GraphBuilder builder = stream().create_graph_builder();
    builder.begin_building();
    const auto before = live();
    counting.signal(builder.stream(), 1);
    EXPECT_EQ(live(), before);
    builder.end_building();
    EXPECT_EQ(builder.graph_definition().nodes().size(), 1U) << "the signal alone is captured";
}

TEST_F(ExternalSemaphoreTest, says_what_is_wrong) {
    const Context context = device().primary_context();
    ExternalSemaphore plain = binary();
    const ExternalSemaphore counting = timeline();
    expect_error<std::invalid_argument>(
        [&] { plain.signal(stream(), 1); },
        {"value is given", "binary", "call signal() without a value"});
    expect_error<std::invalid_argument>([&] { plain.wait(stream(), 1); },
                                        {"wait() without a value"});
    expect_error<std::invalid_argument>([&] { counting.signal(stream()); },
                                        {"value is missing", "pass a value to signal()"});
    expect_error<std::invalid_argument>([&] { counting.wait(stream()); },
                                        {"pass a value to wait()"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(ExternalSemaphore::from_fd(context, -1)); }, {"descriptor is -1"});
    expect_error<std::invalid_argument>(
        [&] {
            static_cast<void>(
                ExternalSemaphore::from_fd(context, event_, static_cast<ExternalSemaphoreType>(9)));
        },
        {"type is 9"});
    expect_error<CUDAError>([&] { static_cast<void>(ExternalSemaphore::from_fd(context, file_)); },
                            {"cuImportExternalSemaphore", "CUDA_ERROR_NOT_SUPPORTED"});
    EXPECT_NE(to_string(counting).find(" timeline_fd>"), std::string::npos);
    EXPECT_TRUE((std::unordered_set<ExternalSemaphore>{plain}.contains(plain)));
    plain.close();
    plain.close();
    expect_error<ClosedError>([&] { plain.signal(stream()); }, {"ExternalSemaphore"});
    EXPECT_EQ(to_string(plain), "<ExternalSemaphore closed>");
}

TEST_F(ExternalSemaphoreTest, survives_a_failure_of_every_driver_call) {
    stream().sync();
    testing::check_every_failure_on_driver([&] {
        const ExternalSemaphore counting = timeline();
        counter().store(1);
        counting.wait(stream(), 1);
        counting.signal(stream(), 2);
        stream().sync();
    });
}

} // namespace cuprum
