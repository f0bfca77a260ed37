// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What other processes do with the devices: memory in use, and which processes use it.

#include "nvml_test.hpp"

#include <fcntl.h>

#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>

namespace cuprum::nvml::test {

using ProcessesTest = NVMLTest;

TEST_F(ProcessesTest, memory_and_the_process_that_uses_it_are_seen) {
    EXPECT_EQ(used_bytes(0), 0U);
    EXPECT_TRUE(processes(0).empty());
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate " + std::to_string(64 * MIB)), 0);
    EXPECT_EQ(used_bytes(0), 64 * MIB);
    EXPECT_EQ(used_bytes(1), 0U);
    const auto seen = processes(0);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].pid, worker.pid());
    EXPECT_EQ(seen[0].usedGpuMemory, 64 * MIB);
    EXPECT_EQ(seen[0].gpuInstanceId, 0xffffffffU);
    EXPECT_TRUE(processes(1).empty());
    nvmlMemory_v2_t memory{};
    memory.version = nvmlMemory_v2;
    ASSERT_EQ(NVML(nvmlDeviceGetMemoryInfo_v2)(device(), &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.used, 64 * MIB);
    EXPECT_EQ(memory.used + memory.free + memory.reserved, memory.total);

    ASSERT_EQ(worker.run("free"), 0);
    EXPECT_EQ(used_bytes(0), 0U);
    EXPECT_EQ(processes(0).size(), 1U) << "it still has a context";
    ASSERT_EQ(worker.run("release"), 0);
    EXPECT_TRUE(processes(0).empty());
    worker.end();
    EXPECT_EQ(record_count(), 0U);
}

TEST_F(ProcessesTest, processes_add_up) {
    Worker first;
    Worker second;
    ASSERT_EQ(first.run("use 0"), 0);
    ASSERT_EQ(second.run("use 0"), 0);
    ASSERT_EQ(first.run("allocate " + std::to_string(10 * MIB)), 0);
    ASSERT_EQ(second.run("allocate " + std::to_string(20 * MIB)), 0);
    ASSERT_EQ(second.run("use 1"), 0);
    ASSERT_EQ(second.run("allocate " + std::to_string(6 * MIB)), 0);
    EXPECT_EQ(used_bytes(0), 30 * MIB);
    EXPECT_EQ(used_bytes(1), 6 * MIB);
    EXPECT_EQ(processes(0).size(), 2U);
    ASSERT_EQ(processes(1).size(), 1U);
    EXPECT_EQ(processes(1)[0].pid, second.pid());
    first.end();
    EXPECT_EQ(used_bytes(0), 20 * MIB);
}

TEST_F(ProcessesTest, visible_devices_are_those_of_the_machine) {
    set("CUDA_VISIBLE_DEVICES", "1");
    ASSERT_EQ(restart(), NVML_SUCCESS);
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 2U) << "NVML shows all";
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate " + std::to_string(64 * MIB)), 0);
    EXPECT_NE(worker.run("use 1"), 0);
    EXPECT_EQ(used_bytes(0), 0U);
    EXPECT_EQ(used_bytes(1), 64 * MIB);
    EXPECT_TRUE(processes(0).empty());
    EXPECT_EQ(processes(1).size(), 1U);
}

TEST_F(ProcessesTest, more_than_the_device_has_counts_as_all_of_it) {
    Worker first;
    Worker second;
    for (Worker* const worker : {&first, &second}) {
        ASSERT_EQ(worker->run("use 0"), 0);
        ASSERT_EQ(worker->run("allocate " + std::to_string(700 * MIB)), 0);
    }
    EXPECT_EQ(used_bytes(0), 1024 * MIB);
}

TEST_F(ProcessesTest, a_killed_process_disappears_with_its_record) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate 1048576"), 0);
    ASSERT_EQ(processes(0).size(), 1U);
    EXPECT_EQ(worker.run("abort"), -1);
    worker.end();
    EXPECT_EQ(record_count(), 1U);
    EXPECT_TRUE(processes(0).empty());
    EXPECT_EQ(used_bytes(0), 0U);
    EXPECT_EQ(record_count(), 0U);
}

TEST_F(ProcessesTest, a_process_that_becomes_another_program_disappears) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(processes(0).size(), 1U);
    worker.send("exec");
    for (int turn = 0; turn < 1000 && !processes(0).empty(); ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(processes(0).empty());
    EXPECT_EQ(worker.run("17"), 17) << "the new program runs on, and repeats its input";
}

TEST_F(ProcessesTest, a_forked_child_does_not_keep_its_parent_alive) {
    auto worker = std::make_unique<Worker>();
    ASSERT_EQ(worker->run("use 0"), 0);
    ASSERT_EQ(worker->run("fork"), 0);
    ASSERT_EQ(processes(0).size(), 1U);
    EXPECT_EQ(processes(0)[0].pid, worker->pid());
    ASSERT_EQ(worker->run("reap"), 0);
    EXPECT_EQ(processes(0).size(), 1U) << "the child's end is not the parent's";
}

TEST_F(ProcessesTest, older_versions_of_the_lists_agree) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate 1048576"), 0);
    nvmlProcessInfo_v1_t first{};
    unsigned int count = 1;
    ASSERT_EQ(NVML(nvmlDeviceGetComputeRunningProcesses)(device(), &count, &first), NVML_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(first.pid, worker.pid());
    EXPECT_EQ(first.usedGpuMemory, MIB);
    nvmlProcessInfo_v2_t second{};
    ASSERT_EQ(NVML(nvmlDeviceGetComputeRunningProcesses_v2)(device(), &count, &second),
              NVML_SUCCESS);
    EXPECT_EQ(second.pid, worker.pid());
    count = 1;
    ASSERT_EQ(NVML(nvmlDeviceGetGraphicsRunningProcesses_v3)(device(), &count, &second),
              NVML_SUCCESS);
    EXPECT_EQ(count, 0U);
    nvmlProcessDetail_v1_t detail{};
    nvmlProcessDetailList_t list{};
    list.numProcArrayEntries = 1;
    list.procArray = &detail;
    EXPECT_EQ(NVML(nvmlDeviceGetRunningProcessDetailList)(device(), &list),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    list.version = nvmlProcessDetailList_v1;
    ASSERT_EQ(NVML(nvmlDeviceGetRunningProcessDetailList)(device(), &list), NVML_SUCCESS);
    EXPECT_EQ(detail.pid, worker.pid());
    list.mode = NVML_PROCESS_MODE_MAX;
    EXPECT_EQ(NVML(nvmlDeviceGetRunningProcessDetailList)(device(), &list),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(ProcessesTest, a_small_array_is_told_how_large_it_must_be) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    unsigned int count = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device(), &count, nullptr),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device(), &count, nullptr),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device(), nullptr, nullptr),
              NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(ProcessesTest, process_names_are_programs) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    char name[1024];
    ASSERT_EQ(NVML(nvmlSystemGetProcessName)(worker.pid(), name, sizeof name), NVML_SUCCESS);
    EXPECT_STREQ(name, CUPRUM_EMULATOR_NVML_WORKER);
    EXPECT_EQ(NVML(nvmlSystemGetProcessName)(worker.pid(), name, 4), NVML_ERROR_INSUFFICIENT_SIZE);
    const unsigned int pid = worker.pid();
    worker.end();
    EXPECT_EQ(NVML(nvmlSystemGetProcessName)(pid, name, sizeof name), NVML_ERROR_NOT_FOUND);
}

TEST_F(ProcessesTest, damaged_records_are_ignored) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate 1048576"), 0);
    // A copy of a good record with one wrong byte each, or with another length. Each is locked, as
    // by a live process: a record without a lock would be removed.
    fs::path good;
    for (const auto& entry : fs::directory_iterator(folder_)) {
        if (entry.path().filename().string().starts_with("process-")) {
            good = entry.path();
        }
    }
    std::ifstream file(good, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_GT(bytes.size(), 64U);
    std::vector<std::string> damaged{"", bytes.substr(0, 63), bytes + "x",
                                     std::string(bytes.size(), '\0'),
                                     std::string(bytes.size(), '\xff')};
    for (const std::size_t at : {0U, 8U, 12U, 16U, 24U + 3U, 28U + 3U, 32U + 3U}) {
        damaged.push_back(bytes);
        damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x7f);
    }
    std::vector<int> locked;
    for (std::size_t each = 0; each < damaged.size(); ++each) {
        const fs::path path = folder_ / ("process-1-" + std::to_string(each));
        std::ofstream(path, std::ios::binary) << damaged[each];
        locked.push_back(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        ASSERT_EQ(::flock(locked.back(), LOCK_EX), 0);
    }
    fs::create_directory(folder_ / "process-folder");
    ASSERT_EQ(::mkfifo((folder_ / "process-pipe").c_str(), S_IRUSR | S_IWUSR), 0);
    fs::create_symlink(good, folder_ / "process-link");
    EXPECT_EQ(used_bytes(0), MIB);
    EXPECT_EQ(processes(0).size(), 1U);
    for (const int each : locked) {
        ::close(each);
    }
    EXPECT_EQ(used_bytes(0), MIB);
    EXPECT_EQ(record_count(), 4U) << "the good record, the folder, the pipe and the link";
}

TEST_F(ProcessesTest, a_folder_that_others_can_enter_is_not_used) {
    const fs::path open_folder = folder_ / "open";
    fs::create_directory(open_folder);
    fs::permissions(open_folder, fs::perms::owner_all | fs::perms::group_read);
    set("CUPRUM_EMULATOR_RUNTIME_DIR", open_folder.string());
    ASSERT_EQ(restart(), NVML_SUCCESS);
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0) << "the driver works all the same";
    ASSERT_EQ(worker.run("allocate 1048576"), 0);
    EXPECT_TRUE(fs::is_empty(open_folder));
    EXPECT_EQ(used_bytes(0), 0U);
    EXPECT_EQ(NVML(nvmlDeviceSetPersistenceMode)(device(), NVML_FEATURE_ENABLED),
              NVML_ERROR_OPERATING_SYSTEM);
}

TEST_F(ProcessesTest, a_link_is_not_used_as_the_folder) {
    const fs::path target = folder_ / "target";
    fs::create_directory(target);
    fs::permissions(target, fs::perms::owner_all);
    fs::create_directory_symlink(target, folder_ / "link");
    set("CUPRUM_EMULATOR_RUNTIME_DIR", (folder_ / "link").string());
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    EXPECT_TRUE(fs::is_empty(target));
}

TEST_F(ProcessesTest, a_missing_folder_is_created_for_its_user_alone) {
    const fs::path fresh = folder_ / "fresh";
    set("CUPRUM_EMULATOR_RUNTIME_DIR", fresh.string());
    ASSERT_EQ(restart(), NVML_SUCCESS);
    EXPECT_EQ(fs::status(fresh).permissions(), fs::perms::owner_all);
    Worker worker;
    ASSERT_EQ(worker.run("use 1"), 0);
    EXPECT_EQ(processes(1).size(), 1U);
    for (const auto& entry : fs::directory_iterator(fresh)) {
        if (entry.is_regular_file()) { // not the socket for checkpoints, which the folder protects
            EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
        }
    }
}

} // namespace cuprum::nvml::test
