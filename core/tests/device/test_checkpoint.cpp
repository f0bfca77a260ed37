// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints of another process. The tests start their own program again as that process.

#include "support/device_test.hpp"
#include "support/driver_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/checkpoint.hpp>
#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

using checkpoint::DevicePair;
using checkpoint::Process;
using checkpoint::ProcessState;

constexpr int SELF = 4711; // a process that the fake driver knows

class CheckpointOnFake : public testing::FakeDriverTest {
protected:
    void SetUp() override {
        FakeDriverTest::SetUp();
        fake->processes[SELF] = CU_PROCESS_STATE_RUNNING;
    }
};

// ---- the other process -------------------------------------------------------------------------

constexpr int TARGET_SOCKET = 3;
constexpr int WORDS = 1024;

/// What the other process does, each answered by one number.
enum class Order : std::uint32_t { Fill = 1, Read, Block, Unblock, Leave };

struct Command {
    Order order{};
    std::uint32_t value = 0;
};

/// Runs in the other process: uses the device as it is told.
void serve() {
    const Device device;
    const CurrentContext current(device.primary_context());
    const Stream stream = device.create_stream();
    const Buffer buffer = device.allocate(WORDS * sizeof(std::uint32_t), stream);
    std::array<int, 2> gate{};
    ASSERT_EQ(::pipe(gate.data()), 0);
    Command command;
    std::uint32_t answer = 0;
    stream.sync();
    // The first answer says that there is a context.
    while (::write(TARGET_SOCKET, &answer, sizeof answer) == sizeof answer &&
           ::read(TARGET_SOCKET, &command, sizeof command) == sizeof command &&
           command.order != Order::Leave) {
        switch (command.order) {
        case Order::Fill:
            buffer.fill(command.value, stream);
            stream.sync();
            break;
        case Order::Read: {
            std::vector<std::uint32_t> words(WORDS);
            buffer.copy_to_host(std::span(words), stream);
            stream.sync();
            answer = words.back();
            break;
        }
        case Order::Block:
            stream.launch_host([fd = gate[0]] {
                char byte = 0;
                (void)!::read(fd, &byte, 1);
            });
            break;
        case Order::Unblock:
            (void)!::write(gate[1], "x", 1);
            stream.sync();
            break;
        case Order::Leave:
            break;
        }
    }
}

/// The other process as seen from here. The destructor ends it.
class Target {
public:
    Target() {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw std::runtime_error("socketpair failed");
        }
        socket_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], TARGET_SOCKET);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
        std::vector<std::string> words{program, "--gtest_filter=CheckpointTarget.DISABLED_serves",
                                       "--gtest_also_run_disabled_tests"};
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        const int failure =
            ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (failure != 0) {
            throw std::runtime_error("could not start " + program);
        }
        (void)receive();
    }

    ~Target() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            (void)::waitpid(pid_, nullptr, 0);
        }
        ::close(socket_);
    }

    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] int pid() const noexcept { return pid_; }

    void send(Order order, std::uint32_t value = 0) const {
        const Command command{order, value};
        ASSERT_EQ(::write(socket_, &command, sizeof command), ssize_t{sizeof command});
    }

    [[nodiscard]] std::uint32_t receive() const {
        std::uint32_t answer = 0;
        EXPECT_EQ(::read(socket_, &answer, sizeof answer), ssize_t{sizeof answer});
        return answer;
    }

    std::uint32_t ask(Order order, std::uint32_t value = 0) const {
        send(order, value);
        return receive();
    }

    [[nodiscard]] bool answers_within(int milliseconds) const {
        pollfd waited{socket_, POLLIN, 0};
        return ::poll(&waited, 1, milliseconds) == 1;
    }

private:
    int socket_ = -1;
    pid_t pid_ = -1;
};

class CheckpointOnDriver : public testing::DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        try {
            (void)Process(::getpid()).state();
        } catch (const NotSupportedError& error) {
            GTEST_SKIP() << error.what();
        } catch (const CUDAError&) {
            // This process may have no context.
        }
    }
};

} // namespace

TEST(CheckpointTarget, DISABLED_serves) {
    serve();
}

// ---- arguments ---------------------------------------------------------------------------------

TEST(Checkpoint, the_number_of_a_process_is_positive) {
    EXPECT_EQ(Process(7).pid(), 7);
    EXPECT_EQ(Process(7), Process(7));
    EXPECT_NE(Process(7), Process(8));
    for (const int pid : {0, -1}) {
        testing::expect_error<std::invalid_argument>([&] { (void)Process(pid); },
                                                     {"pid", "positive", std::to_string(pid)});
    }
}

TEST(Checkpoint, states_have_names) {
    EXPECT_EQ(to_string(ProcessState::Running), "running");
    EXPECT_EQ(to_string(ProcessState::Locked), "locked");
    EXPECT_EQ(to_string(ProcessState::Checkpointed), "checkpointed");
    EXPECT_EQ(to_string(ProcessState::Failed), "failed");
}

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(CheckpointOnFake, a_cycle_passes_arguments_on) {
    const Process process(SELF);
    EXPECT_EQ(process.state(), ProcessState::Running);
    EXPECT_EQ(process.restore_thread_id(), SELF + 1);
    process.lock(std::chrono::milliseconds(250));
    EXPECT_EQ(fake->lock_timeout_ms, 250U);
    process.checkpoint();
    EXPECT_EQ(process.state(), ProcessState::Checkpointed);
    const std::vector<DevicePair> pairs{
        {"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "F0E0D0C0B0A090807060504030201000"}};
    process.restore(pairs);
    ASSERT_EQ(fake->gpu_pairs.size(), 1U);
    for (int index = 0; index < 16; ++index) {
        EXPECT_EQ(fake->gpu_pairs[0].oldUuid.bytes[index], static_cast<char>(index));
        EXPECT_EQ(fake->gpu_pairs[0].newUuid.bytes[index], static_cast<char>(0xF0 - 16 * index));
    }
    process.unlock();
    EXPECT_EQ(process.state(), ProcessState::Running);
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 0) << "no context is made";
}

TEST_F(CheckpointOnFake, texts_that_are_no_uuid_are_refused_before_the_driver_is_asked) {
    fake->processes[SELF] = CU_PROCESS_STATE_CHECKPOINTED;
    const std::string good(32, '0');
    for (const std::string& bad : {std::string("00"), std::string(31, '0'), std::string(33, '0'),
                                   "not-hex-zz" + good, std::string()}) {
        const std::vector<DevicePair> pairs{{good, bad}};
        testing::expect_error<std::invalid_argument>([&] { Process(SELF).restore(pairs); },
                                                     {"32 hex characters", "'" + bad + "'"});
    }
    EXPECT_EQ(fake->count("cuCheckpointProcessRestore"), 0);
}

TEST_F(CheckpointOnFake, a_timeout_must_fit) {
    const Process process(SELF);
    testing::expect_error<std::invalid_argument>(
        [&] { process.lock(std::chrono::milliseconds(-1)); }, {"timeout_ms", ">= 0", "-1"});
    testing::expect_error<std::invalid_argument>(
        [&] { process.lock(std::chrono::milliseconds(std::int64_t{1} << 32)); },
        {"timeout_ms", "4294967295", "4294967296"});
    EXPECT_EQ(fake->count("cuCheckpointProcessLock"), 0);
}

TEST_F(CheckpointOnFake, a_wrong_state_is_named_with_the_way_out) {
    const Process process(SELF);
    testing::expect_error<CUDAError>([&] { process.checkpoint(); },
                                     {"cuCheckpointProcessCheckpoint", "CUDA_ERROR_ILLEGAL_STATE",
                                      "must be locked", "it is running", "lock()"});
    testing::expect_error<CUDAError>([&] { process.unlock(); }, {"must be locked", "lock()"});
    process.lock();
    testing::expect_error<CUDAError>([&] { process.lock(); },
                                     {"must be running", "it is locked", "unlock()"});
    testing::expect_error<CUDAError>([&] { process.restore(); },
                                     {"must be checkpointed", "it is locked", "checkpoint()"});
    process.checkpoint();
    testing::expect_error<CUDAError>([&] { process.unlock(); },
                                     {"must be locked", "it is checkpointed", "restore()"});
    fake->processes[SELF] = CU_PROCESS_STATE_FAILED;
    testing::expect_error<CUDAError>([&] { process.unlock(); }, {"it is failed", "end it"});
}

TEST_F(CheckpointOnFake, an_unknown_state_is_an_error) {
    fake->processes[SELF] = static_cast<CUprocessState>(9);
    testing::expect_error<std::runtime_error>([&] { (void)Process(SELF).state(); },
                                              {"state 9", std::to_string(SELF)});
}

TEST_F(CheckpointOnFake, a_refused_mapping_is_explained) {
    const int own = ::getpid(); // a process that exists
    fake->processes[own] = CU_PROCESS_STATE_CHECKPOINTED;
    fake->fail("cuCheckpointProcessRestore", CUDA_ERROR_INVALID_VALUE);
    const std::vector<DevicePair> pairs{{std::string(32, '0'), std::string(32, '1')}};
    testing::expect_error<CUDAError>([&] { Process(own).restore(pairs); },
                                     {"CUDA_ERROR_INVALID_VALUE", "mapping", "every device"});
}

TEST(CheckpointFailures, every_call_of_every_method) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        fake.processes[SELF] = CU_PROCESS_STATE_RUNNING;
        const Process process(SELF);
        (void)process.restore_thread_id();
        process.lock();
        process.checkpoint();
        process.restore();
        process.unlock();
        (void)process.state();
    });
}

TEST_F(CheckpointOnFake, what_the_driver_does_not_support_is_explained) {
    const int own = ::getpid();
    fake->processes[own] = CU_PROCESS_STATE_LOCKED;
    fake->fail("cuCheckpointProcessCheckpoint", CUDA_ERROR_NOT_SUPPORTED);
    testing::expect_error<CUDAError>([&] { Process(own).checkpoint(); },
                                     {"cuCheckpointProcessCheckpoint", "CUDA_ERROR_NOT_SUPPORTED",
                                      "memory that processes share"});
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(CheckpointOnDriver, device_memory_of_another_process_comes_back) {
    const Target target;
    const Process process(target.pid());
    (void)target.ask(Order::Fill, 0xC0FFEE42);
    EXPECT_EQ(process.state(), ProcessState::Running);
    process.lock(std::chrono::milliseconds(20'000));
    EXPECT_EQ(process.state(), ProcessState::Locked);
    process.checkpoint();
    EXPECT_EQ(process.state(), ProcessState::Checkpointed);
    process.restore();
    EXPECT_EQ(process.state(), ProcessState::Locked);
    process.unlock();
    EXPECT_EQ(process.state(), ProcessState::Running);
    EXPECT_EQ(target.ask(Order::Read), 0xC0FFEE42);
    (void)target.ask(Order::Fill, 5);
    EXPECT_EQ(target.ask(Order::Read), 5U);
}

TEST_F(CheckpointOnDriver, a_locked_process_waits_with_its_next_call) {
    const Target target;
    const Process process(target.pid());
    process.lock(std::chrono::milliseconds(20'000));
    target.send(Order::Fill, 9);
    EXPECT_FALSE(target.answers_within(200));
    process.unlock();
    (void)target.receive();
    EXPECT_EQ(target.ask(Order::Read), 9U);
}

TEST_F(CheckpointOnDriver, a_lock_that_takes_too_long_leaves_the_process_running) {
    const Target target;
    const Process process(target.pid());
    (void)target.ask(Order::Block);
    try {
        process.lock(std::chrono::milliseconds(100));
        ADD_FAILURE() << "locked although a host function runs";
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.code(), CUDA_ERROR_NOT_READY);
        EXPECT_NE(std::string(error.what()).find("100 ms"), std::string::npos) << error.what();
    }
    EXPECT_EQ(process.state(), ProcessState::Running);
    (void)target.ask(Order::Unblock);
    process.lock(std::chrono::milliseconds(20'000));
    process.unlock();
}

TEST_F(CheckpointOnDriver, transitions_from_another_state_are_illegal) {
    const Target target;
    const Process process(target.pid());
    const auto expect_illegal = [](const auto& action) {
        try {
            action();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const CUDAError& error) {
            EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_STATE) << error.what();
        }
    };
    expect_illegal([&] { process.checkpoint(); });
    expect_illegal([&] { process.restore(); });
    expect_illegal([&] { process.unlock(); });
    process.lock(std::chrono::milliseconds(20'000));
    expect_illegal([&] { process.lock(); });
    process.unlock();
    EXPECT_EQ(process.state(), ProcessState::Running);
}

TEST_F(CheckpointOnDriver, the_restore_thread_belongs_to_the_process) {
    const Target target;
    const int thread = Process(target.pid()).restore_thread_id();
    EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(target.pid()) + "/task/" +
                                        std::to_string(thread)));
}

TEST_F(CheckpointOnDriver, a_process_that_is_gone_is_named) {
    int gone = 0;
    {
        const Target target;
        gone = target.pid();
    }
    testing::expect_error<CUDAError>([&] { (void)Process(gone).state(); },
                                     {"there is no process " + std::to_string(gone)});
    testing::expect_error<CUDAError>([&] { Process(gone).lock(); }, {"there is no process"});
}

TEST_F(CheckpointOnDriver, a_process_without_cuda_is_named) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    pid_t pid = 0;
    std::string program = "sleep";
    std::string seconds = "60";
    std::array<char*, 3> arguments{program.data(), seconds.data(), nullptr};
    ASSERT_EQ(::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ),
              0);
    testing::expect_error<CUDAError>([&] { (void)Process(pid).state(); },
                                     {"cuCheckpointProcessGetState", std::to_string(pid)});
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(CheckpointOnDriver, devices_can_be_exchanged) {
    const auto devices = Device::all();
    if (devices.size() < 2) {
        GTEST_SKIP() << "one device only";
    }
    const Target target;
    const Process process(target.pid());
    (void)target.ask(Order::Fill, 77);
    std::vector<DevicePair> pairs;
    for (std::size_t index = 0; index < devices.size(); ++index) {
        pairs.push_back({devices[index].uuid(), devices[(index + 1) % devices.size()].uuid()});
    }
    process.lock(std::chrono::milliseconds(20'000));
    process.checkpoint();
    process.restore(pairs);
    process.unlock();
    EXPECT_EQ(target.ask(Order::Read), 77U);
}

} // namespace cuprum
