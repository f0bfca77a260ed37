// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints of another process, and of this one.

#include "api/driver.hpp"
#include "api/peer.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr int DEVICES = 3;
constexpr unsigned PATTERN = 0xC0FFEE42;
constexpr int HELD_BACK_MS = 100; // long enough for a call that is not held back

/// Sets a variable of the environment for a scope.
class Variable {
public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* before = ::getenv(name_.c_str())) {
            before_ = before;
            was_set_ = true;
        }
        ::setenv(name_.c_str(), value.c_str(), 1);
    }

    ~Variable() {
        was_set_ ? ::setenv(name_.c_str(), before_.c_str(), 1) : ::unsetenv(name_.c_str());
    }

    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    std::string name_;
    std::string before_;
    bool was_set_ = false;
};

/// A folder that goes away with the test.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "cuprum-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }

    ~Folder() { std::filesystem::remove_all(path_); }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

class Checkpoint : public testing::Test {
protected:
    Checkpoint() : devices_("CUPRUM_EMULATOR_DEVICES", std::to_string(DEVICES)) {}

    void SetUp() override { ASSERT_TRUE(succeeds(CU(cuInit)(0))); }

    static CUresult lock(pid_t process, unsigned timeout_ms = 0) {
        CUcheckpointLockArgs args{};
        args.timeoutMs = timeout_ms;
        return CU(cuCheckpointProcessLock)(process, &args);
    }

    static CUresult checkpoint(pid_t process) {
        return CU(cuCheckpointProcessCheckpoint)(process, nullptr);
    }

    static CUresult restore(pid_t process) {
        return CU(cuCheckpointProcessRestore)(process, nullptr);
    }

    static CUresult restore(pid_t process, std::vector<CUcheckpointGpuPair> pairs) {
        CUcheckpointRestoreArgs args{};
        args.gpuPairs = pairs.data();
        args.gpuPairsCount = static_cast<unsigned>(pairs.size());
        return CU(cuCheckpointProcessRestore)(process, &args);
    }

    static CUresult unlock(pid_t process) {
        return CU(cuCheckpointProcessUnlock)(process, nullptr);
    }

    static CUprocessState state_of(pid_t process) {
        auto state = static_cast<CUprocessState>(-1);
        EXPECT_TRUE(succeeds(CU(cuCheckpointProcessGetState)(process, &state)));
        return state;
    }

    /// Starts a peer that has answered once: it has a context.
    static std::unique_ptr<Peer> start_peer() {
        auto peer = std::make_unique<Peer>();
        EXPECT_TRUE(succeeds(peer->ask(Request::Synchronize).result));
        return peer;
    }

    Variable devices_;
};

/// Returns the UUID of the peer's current device.
CUuuid uuid_of(Peer& peer) {
    const Message answer = peer.ask(Request::GetUuid);
    EXPECT_TRUE(succeeds(answer.result));
    CUuuid uuid{};
    std::memcpy(&uuid, answer.data.data(), sizeof uuid);
    return uuid;
}

/// Returns the UUID of a device with this number, given that of another one.
CUuuid numbered(CUuuid uuid, int number) {
    uuid.bytes[15] = static_cast<char>(number);
    return uuid;
}

/// Returns how much memory of a process is in RAM at an address, in KiB.
long resident_kib(pid_t process, std::uint64_t address) {
    std::ifstream file("/proc/" + std::to_string(process) + "/smaps");
    bool is_it = false;
    for (std::string line; std::getline(file, line);) {
        unsigned long begin = 0;
        unsigned long end = 0;
        long kib = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
            is_it = address >= begin && address < end;
        } else if (is_it && std::sscanf(line.c_str(), "Rss: %ld kB", &kib) == 1) {
            return kib;
        }
    }
    return -1;
}

std::map<std::string, std::string> status_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    std::map<std::string, std::string> found;
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        found[line.substr(0, colon)] = line.substr(std::min(line.size(), colon + 2));
    }
    return found;
}

} // namespace

TEST_F(Checkpoint, a_whole_cycle_goes_through_all_states) {
    const auto peer = start_peer();
    const pid_t process = peer->process();
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_RUNNING);
    ASSERT_TRUE(succeeds(lock(process, 5000)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_LOCKED);
    ASSERT_TRUE(succeeds(checkpoint(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_CHECKPOINTED);
    ASSERT_TRUE(succeeds(restore(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_LOCKED);
    ASSERT_TRUE(succeeds(unlock(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_RUNNING);
    EXPECT_TRUE(succeeds(peer->ask(Request::Synchronize).result));
}

TEST_F(Checkpoint, transitions_from_another_state_are_illegal_and_change_nothing) {
    const auto peer = start_peer();
    const pid_t process = peer->process();
    const auto is_illegal = [](CUresult result) {
        return returns(CUDA_ERROR_ILLEGAL_STATE, result);
    };
    EXPECT_TRUE(is_illegal(checkpoint(process)));
    EXPECT_TRUE(is_illegal(restore(process)));
    EXPECT_TRUE(is_illegal(unlock(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_RUNNING);
    ASSERT_TRUE(succeeds(lock(process)));
    EXPECT_TRUE(is_illegal(lock(process)));
    EXPECT_TRUE(is_illegal(restore(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_LOCKED);
    ASSERT_TRUE(succeeds(checkpoint(process)));
    EXPECT_TRUE(is_illegal(lock(process)));
    EXPECT_TRUE(is_illegal(checkpoint(process)));
    EXPECT_TRUE(is_illegal(unlock(process)));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_CHECKPOINTED);
    ASSERT_TRUE(succeeds(restore(process)));
    ASSERT_TRUE(succeeds(unlock(process)));
    EXPECT_TRUE(succeeds(peer->ask(Request::Synchronize).result));
}

TEST_F(Checkpoint, a_locked_process_holds_calls_back_until_it_is_unlocked) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::Allocate, PATTERN).result));
    ASSERT_TRUE(succeeds(lock(peer->process())));
    peer->send(Request::Fill, 7);
    EXPECT_FALSE(peer->answers_within(HELD_BACK_MS));
    ASSERT_TRUE(succeeds(checkpoint(peer->process())));
    ASSERT_TRUE(succeeds(restore(peer->process())));
    EXPECT_FALSE(peer->answers_within(HELD_BACK_MS));
    ASSERT_TRUE(succeeds(unlock(peer->process())));
    EXPECT_TRUE(succeeds(peer->receive().result));
    EXPECT_EQ(peer->ask(Request::Read).value, 7U);
}

TEST_F(Checkpoint, device_memory_of_every_kind_comes_back) {
    for (const Request kind : {Request::Allocate, Request::AllocateAsync, Request::MapMemory}) {
        const auto peer = start_peer();
        const Message made = peer->ask(kind, PATTERN);
        ASSERT_TRUE(succeeds(made.result)) << static_cast<int>(kind);
        ASSERT_TRUE(succeeds(lock(peer->process())));
        ASSERT_TRUE(succeeds(checkpoint(peer->process())));
        ASSERT_TRUE(succeeds(restore(peer->process())));
        ASSERT_TRUE(succeeds(unlock(peer->process())));
        const Message read = peer->ask(Request::Read);
        EXPECT_TRUE(succeeds(read.result));
        EXPECT_EQ(read.value, PATTERN) << static_cast<int>(kind);
        EXPECT_TRUE(succeeds(peer->ask(Request::Fill, 5).result));
        EXPECT_EQ(peer->ask(Request::Read).value, 5U);
    }
}

TEST_F(Checkpoint, a_checkpoint_gives_the_pages_of_device_memory_back) {
    const auto peer = start_peer();
    const Message made = peer->ask(Request::Allocate, PATTERN);
    ASSERT_TRUE(succeeds(made.result));
    EXPECT_GT(resident_kib(peer->process(), made.value), 0);
    ASSERT_TRUE(succeeds(lock(peer->process())));
    ASSERT_TRUE(succeeds(checkpoint(peer->process())));
    EXPECT_EQ(resident_kib(peer->process(), made.value), 0);
    ASSERT_TRUE(succeeds(restore(peer->process())));
    EXPECT_GT(resident_kib(peer->process(), made.value), 0);
    ASSERT_TRUE(succeeds(unlock(peer->process())));
}

TEST_F(Checkpoint, the_account_of_device_memory_is_the_same_afterwards) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::Allocate, PATTERN).result));
    const std::uint64_t before = peer->ask(Request::GetFreeMemory).value;
    ASSERT_TRUE(succeeds(lock(peer->process())));
    ASSERT_TRUE(succeeds(checkpoint(peer->process())));
    ASSERT_TRUE(succeeds(restore(peer->process())));
    ASSERT_TRUE(succeeds(unlock(peer->process())));
    EXPECT_EQ(peer->ask(Request::GetFreeMemory).value, before);
}

TEST_F(Checkpoint, a_lock_waits_for_work_and_gives_up_when_its_time_is_over) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::BlockStream).result));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, lock(peer->process(), 50)));
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_RUNNING);
    EXPECT_TRUE(succeeds(peer->ask(Request::GetFreeMemory).result)); // not held back
    ASSERT_TRUE(succeeds(peer->ask(Request::OpenGate).result));
    EXPECT_TRUE(succeeds(lock(peer->process(), 5000)));
    EXPECT_TRUE(succeeds(unlock(peer->process())));
}

TEST_F(Checkpoint, a_lock_without_a_timeout_is_done_when_the_work_is) {
    const auto peer = start_peer();
    const pid_t process = peer->process();
    ASSERT_TRUE(succeeds(peer->ask(Request::BlockStream).result));
    std::atomic<CUresult> result{CUDA_ERROR_UNKNOWN};
    std::atomic<bool> is_done{false};
    std::thread locker([&] {
        result = lock(process);
        is_done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(HELD_BACK_MS));
    EXPECT_FALSE(is_done);
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_RUNNING); // answered although a lock waits
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, lock(process)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_STATE, unlock(process)));
    peer->send(Request::OpenGate); // opening it calls no function of the driver
    EXPECT_TRUE(succeeds(peer->receive().result));
    locker.join();
    EXPECT_TRUE(succeeds(result));
    EXPECT_EQ(state_of(process), CU_PROCESS_STATE_LOCKED);
    EXPECT_TRUE(succeeds(unlock(process)));
}

TEST_F(Checkpoint, a_lock_whose_asker_dies_is_abandoned) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::BlockStream).result));
    // Another peer stands for the asker: the test itself must not die.
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t asker = ::fork();
    if (asker == 0) {
        // A forked child may not use the driver; it starts a program that does.
        const std::string pid = std::to_string(peer->process());
        ::dup2(ends[1], STDOUT_FILENO);
        ::execl(CUPRUM_EMULATOR_PEER, "peer", "lock", pid.c_str(), nullptr);
        ::_exit(127);
    }
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1); // it is about to lock
    ASSERT_EQ(byte, 'L');
    for (int tries = 0; !peer->answers_within(0) && tries < 1000; ++tries) {
        peer->send(Request::GetFreeMemory);
        if (!peer->answers_within(HELD_BACK_MS)) {
            break; // held back: the lock has begun
        }
        (void)peer->receive();
    }
    ASSERT_FALSE(peer->answers_within(0));
    ::kill(asker, SIGKILL);
    ::waitpid(asker, nullptr, 0);
    EXPECT_TRUE(succeeds(peer->receive().result));
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_RUNNING);
    EXPECT_TRUE(succeeds(peer->ask(Request::OpenGate).result));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(Checkpoint, host_functions_do_not_wait_for_the_lock) {
    const auto peer = start_peer();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_PERMITTED, peer->ask(Request::CallInHost).result));
    ASSERT_TRUE(succeeds(lock(peer->process(), 5000)));
    ASSERT_TRUE(succeeds(unlock(peer->process())));
}

TEST_F(Checkpoint, the_restore_thread_is_a_thread_of_the_process) {
    const auto peer = start_peer();
    int thread = 0;
    ASSERT_TRUE(succeeds(CU(cuCheckpointProcessGetRestoreThreadId)(peer->process(), &thread)));
    EXPECT_NE(thread, peer->process());
    EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(peer->process()) + "/task/" +
                                        std::to_string(thread)));
    EXPECT_EQ(status_of(thread)["Name"], "cuprum-restore");
    // No signal of the program interrupts it.
    EXPECT_EQ(status_of(thread)["SigBlk"].substr(0, 12), "fffffffe7ffb");
}

TEST_F(Checkpoint, restoring_onto_other_devices_moves_their_identity) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::Allocate, PATTERN).result));
    const CUuuid origin = uuid_of(*peer);
    std::vector<CUcheckpointGpuPair> rotation;
    for (int device = 0; device < DEVICES; ++device) {
        rotation.push_back({numbered(origin, device), numbered(origin, (device + 1) % DEVICES)});
    }
    for (int step = 1; step <= DEVICES; ++step) {
        ASSERT_TRUE(succeeds(lock(peer->process())));
        ASSERT_TRUE(succeeds(checkpoint(peer->process())));
        ASSERT_TRUE(succeeds(restore(peer->process(), rotation)));
        ASSERT_TRUE(succeeds(unlock(peer->process())));
        const CUuuid now = uuid_of(*peer);
        EXPECT_EQ(now.bytes[15], static_cast<char>(step % DEVICES));
        EXPECT_EQ(peer->ask(Request::Read).value, PATTERN);
    }
}

TEST_F(Checkpoint, a_wrong_mapping_is_refused_and_the_checkpoint_stays) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::Allocate, PATTERN).result));
    const CUuuid origin = uuid_of(*peer);
    const auto device = [&](int number) { return numbered(origin, number); };
    ASSERT_TRUE(succeeds(lock(peer->process())));
    ASSERT_TRUE(succeeds(checkpoint(peer->process())));
    const auto is_refused = [&](const std::vector<CUcheckpointGpuPair>& pairs) {
        return returns(CUDA_ERROR_INVALID_VALUE, restore(peer->process(), pairs));
    };
    EXPECT_TRUE(is_refused({{device(0), device(1)}})); // not every device
    EXPECT_TRUE(is_refused(
        {{device(0), device(1)}, {device(1), device(1)}, {device(2), device(2)}})); // target twice
    EXPECT_TRUE(is_refused(
        {{device(0), device(1)}, {device(0), device(0)}, {device(2), device(2)}})); // source twice
    EXPECT_TRUE(is_refused(
        {{device(0), device(9)}, {device(1), device(1)}, {device(2), device(2)}})); // unknown
    CUcheckpointRestoreArgs args{};
    args.gpuPairsCount = 1;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessRestore)(peer->process(), &args)));
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_CHECKPOINTED);
    ASSERT_TRUE(succeeds(restore(peer->process())));
    ASSERT_TRUE(succeeds(unlock(peer->process())));
    EXPECT_EQ(peer->ask(Request::Read).value, PATTERN);
}

TEST_F(Checkpoint, memory_that_processes_share_is_refused_and_the_process_stays_locked) {
    const auto peer = start_peer();
    ASSERT_TRUE(succeeds(peer->ask(Request::MakeMemory).result)); // cuIpcGetMemHandle
    ASSERT_TRUE(succeeds(lock(peer->process())));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, checkpoint(peer->process())));
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_LOCKED);
    ASSERT_TRUE(succeeds(unlock(peer->process())));
    EXPECT_TRUE(succeeds(peer->ask(Request::Fill, 3).result));
}

TEST_F(Checkpoint, reserved_arguments_must_be_zero) {
    const auto peer = start_peer();
    CUcheckpointLockArgs lock_args{};
    lock_args.reserved1[6] = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCheckpointProcessLock)(peer->process(), &lock_args)));
    CUcheckpointUnlockArgs unlock_args{};
    unlock_args.reserved[0] = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCheckpointProcessUnlock)(peer->process(), &unlock_args)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCheckpointProcessGetState)(peer->process(), nullptr)));
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_RUNNING);
}

TEST_F(Checkpoint, a_process_that_is_gone_is_an_invalid_value) {
    auto state = CU_PROCESS_STATE_RUNNING;
    const auto is_invalid = [&](pid_t process) {
        return returns(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessGetState)(process, &state));
    };
    EXPECT_TRUE(is_invalid(0));
    EXPECT_TRUE(is_invalid(-1));
    const auto peer = start_peer();
    const pid_t process = peer->process();
    ::kill(process, SIGKILL);
    siginfo_t unused{};
    ::waitid(P_PID, static_cast<id_t>(process), &unused, WEXITED | WNOWAIT);
    EXPECT_TRUE(is_invalid(process)); // ended, but not reaped
    peer->kill();
    EXPECT_TRUE(is_invalid(process));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, lock(process)));
}

TEST_F(Checkpoint, a_process_that_does_not_use_the_device_is_not_initialised) {
    auto state = CU_PROCESS_STATE_RUNNING;
    const pid_t child = ::fork();
    if (child == 0) {
        ::execlp("sleep", "sleep", "60", nullptr);
        ::_exit(127);
    }
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_INITIALIZED, CU(cuCheckpointProcessGetState)(child, &state)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_INITIALIZED, lock(child)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST_F(Checkpoint, a_forked_child_does_not_answer_for_its_parent) {
    const auto peer = start_peer();
    const auto child = static_cast<pid_t>(peer->ask(Request::Fork).value);
    ASSERT_GT(child, 0);
    auto state = CU_PROCESS_STATE_RUNNING;
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_INITIALIZED, CU(cuCheckpointProcessGetState)(child, &state)));
    const pid_t process = peer->process();
    peer->kill(); // the child lives on and has inherited what its parent had open
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessGetState)(process, &state)));
    ::kill(child, SIGKILL);
}

TEST_F(Checkpoint, a_process_of_another_user_is_an_invalid_value) {
    // Process 1 is root's wherever the test does not run as root.
    if (::geteuid() == 0) {
        // As nobody, in a program of its own, since the driver remembers who it is.
        const auto peer = start_peer();
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string pid = std::to_string(peer->process());
            constexpr uid_t nobody = 65534;
            if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) {
                ::_exit(77);
            }
            ::execl(CUPRUM_EMULATOR_PEER, "peer", "state", pid.c_str(), nullptr);
            ::_exit(77);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77) {
            GTEST_SKIP() << "this system does not let the test become another user";
        }
        EXPECT_EQ(WEXITSTATUS(status), CUDA_ERROR_INVALID_VALUE);
        return;
    }
    auto state = CU_PROCESS_STATE_RUNNING;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessGetState)(1, &state)));
}

TEST_F(Checkpoint, the_socket_lies_in_a_folder_of_the_user_and_goes_with_the_process) {
    const Folder folder;
    const Variable variable("CUPRUM_EMULATOR_RUNTIME_DIR", folder.path() + "/own");
    const auto peer = start_peer();
    const std::string path = folder.path() + "/own/" + std::to_string(peer->process()) + ".control";
    struct stat status{};
    ASSERT_EQ(::stat((folder.path() + "/own").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
    EXPECT_TRUE(std::filesystem::is_socket(path));
    (void)peer->ask(Request::Leave);
    (void)peer->wait();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Checkpoint, the_socket_of_a_killed_process_is_swept_by_the_next) {
    const Folder folder;
    const Variable variable("CUPRUM_EMULATOR_RUNTIME_DIR", folder.path());
    auto peer = start_peer();
    const std::string path = folder.path() + "/" + std::to_string(peer->process()) + ".control";
    peer->kill();
    EXPECT_TRUE(std::filesystem::exists(path));
    peer = start_peer();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Checkpoint, a_folder_that_others_can_enter_is_not_used) {
    const Folder folder;
    const Variable variable("CUPRUM_EMULATOR_RUNTIME_DIR", folder.path());
    ::chmod(folder.path().c_str(), 0755);
    const auto peer = start_peer(); // works, but cannot be checkpointed
    EXPECT_TRUE(succeeds(peer->ask(Request::Allocate, PATTERN).result));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    auto state = CU_PROCESS_STATE_RUNNING;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_INITIALIZED,
                        CU(cuCheckpointProcessGetState)(peer->process(), &state)));
}

TEST_F(Checkpoint, a_folder_with_a_long_name_is_fine) {
    const Folder folder;
    const std::string path = folder.path() + "/" + std::string(200, 'x');
    const Variable variable("CUPRUM_EMULATOR_RUNTIME_DIR", path);
    const auto peer = start_peer();
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_RUNNING);
}

TEST_F(Checkpoint, packets_that_make_no_sense_are_ignored) {
    const Folder folder;
    const Variable variable("CUPRUM_EMULATOR_RUNTIME_DIR", folder.path());
    const auto peer = start_peer();
    const std::string path = folder.path() + "/" + std::to_string(peer->process()) + ".control";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    // Too short, too long, wrong magic, and the right magic with anything behind it.
    for (const std::size_t bytes : {0U, 1U, 23U, 24U, 25U, 56U, 9000U}) {
        for (const char* start : {"garbage!", "CUPRCNTL"}) {
            const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
            ASSERT_EQ(
                ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
            std::string packet(bytes, '\xFF');
            packet.replace(0, std::min<std::size_t>(bytes, 8), start,
                           std::min<std::size_t>(bytes, 8));
            (void)::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
            ::shutdown(socket, SHUT_WR);
            char byte = 0;
            EXPECT_LE(::recv(socket, &byte, 1, 0), 0) << bytes; // hung up without an answer
            ::close(socket);
        }
    }
    EXPECT_EQ(state_of(peer->process()), CU_PROCESS_STATE_RUNNING);
}

TEST_F(Checkpoint, a_process_can_lock_and_unlock_itself) {
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context)));
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 4096)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, PATTERN, 1024)));
    const pid_t self = ::getpid();
    ASSERT_TRUE(succeeds(lock(self)));
    EXPECT_TRUE(succeeds(CU(cuInit)(0))); // not held back
    std::atomic<bool> is_done{false};
    std::thread caller([&] {
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context)));
        is_done = true;
    });
    ASSERT_TRUE(succeeds(checkpoint(self)));
    EXPECT_EQ(state_of(self), CU_PROCESS_STATE_CHECKPOINTED);
    ASSERT_TRUE(succeeds(restore(self)));
    EXPECT_FALSE(is_done);
    ASSERT_TRUE(succeeds(unlock(self)));
    caller.join();
    unsigned word = 0;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, memory + 4092, sizeof word)));
    EXPECT_EQ(word, PATTERN);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(nullptr)));
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}

TEST_F(Checkpoint, many_threads_of_calls_survive_many_locks) {
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context, 0)));
    constexpr int threads = 4;
    constexpr int locks = 40;
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> calls{0};
    std::vector<std::thread> callers;
    for (int index = 0; index < threads; ++index) {
        callers.emplace_back([&, index] {
            EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context)));
            CUdeviceptr memory = 0;
            EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&memory, 8192)));
            for (unsigned value = 1; !is_over; ++value) {
                const unsigned wanted = value * threads + static_cast<unsigned>(index);
                unsigned word = 0;
                EXPECT_TRUE(succeeds(CU(cuMemsetD32)(memory, wanted, 2048)));
                EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, memory + 8188, sizeof word)));
                EXPECT_EQ(word, wanted);
                calls.fetch_add(2);
            }
            EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
        });
    }
    while (calls == 0) {
        std::this_thread::yield(); // all locks could be over before the threads begin
    }
    const pid_t self = ::getpid();
    for (int count = 0; count < locks; ++count) {
        ASSERT_TRUE(succeeds(lock(self, 10'000)));
        const std::uint64_t before = calls;
        ASSERT_TRUE(succeeds(checkpoint(self)));
        ASSERT_TRUE(succeeds(restore(self)));
        // Each thread may count one pair of calls that ended before the lock.
        EXPECT_LE(calls - before, 2U * threads);
        ASSERT_TRUE(succeeds(unlock(self)));
    }
    is_over = true;
    for (auto& caller : callers) {
        caller.join();
    }
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}
