// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cuprum-emulator: runs programs on the emulated device, in whatever language they are written.
//
// A program finds its driver by the name libcuda.so.1, and NVML by the name libnvidia-ml.so.1.
// `run` puts the folder of the emulated libraries first in the loader's search path. It checks in a
// separate process that this driver is found, and then becomes the program.

#include <cuda.h>

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int USAGE_ERROR = 2;
constexpr int NOT_FOUND = 127; // the status of shells for a program that cannot be started

constexpr std::string_view USAGE =
    "usage: cuprum-emulator run PROGRAM [ARGUMENT...]\n"
    "                                   run a program on the emulated device\n"
    "       cuprum-emulator info        show the devices and the settings\n"
    "       cuprum-emulator --version\n"
    "\n"
    "run also gives the program stand-ins for NVIDIA's compilers of machine code: ptxas, nvcc,\n"
    "NVRTC, nvJitLink and nvFatbin. Triton, Numba, PyCUDA and cuda.core need them.\n"
    "PyTorch gets a cuda device if the Python package cuprum is installed.\n"
    "\n"
    "CUPRUM_EMULATOR_DEVICES, _COMPUTE_CAPABILITY, _MEMORY and others configure the\n"
    "emulated device; 'info' lists those that are set.\n";

std::optional<fs::path> find_library();
int run(char** arguments);
int show_info();
int probe();
int show_version();

} // namespace

int main(int count, char** arguments) {
    const std::string_view command = count > 1 ? arguments[1] : "";
    if (command == "run" && count > 2) {
        if (std::string_view(arguments[2]) != "--driver-linker") {
            return run(arguments + 2);
        }
        if (count > 3) { // earlier versions needed this option for Numba
            return run(arguments + 3);
        }
    }
    if (command == "info" && count == 2) {
        return show_info();
    }
    if (command == "--version" && count == 2) {
        return show_version();
    }
    if (command == "--probe" && count == 2) {
        return probe();
    }
    if (command == "--help" || command == "-h") {
        std::cout << USAGE;
        return EXIT_SUCCESS;
    }
    std::cerr << USAGE;
    return USAGE_ERROR;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

int complain(const std::string& message, int status = EXIT_FAILURE) {
    std::cerr << "cuprum-emulator: " << message << '\n';
    return status;
}

fs::path own_path() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

/// Returns the folders that a build or an installation puts the library in. A wheel is an
/// installation in a folder of site-packages.
std::vector<fs::path> library_places() {
    const fs::path prefix = own_path().parent_path() / "..";
    std::vector<fs::path> places{prefix / "lib", prefix / "lib/cuprum", prefix / "lib64/cuprum",
                                 own_path().parent_path()};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
        if (entry.is_directory(error)) { // for example lib/x86_64-linux-gnu
            places.push_back(entry.path() / "cuprum");
        }
    }
    return places;
}

/// Returns whether others than its owner can write to a file or a folder. A group counts unless it
/// can change this program too (`own`). In a sticky folder only the owner of a file can replace it.
bool is_open(const struct stat& place, const struct stat& own) {
    const bool is_sticky = S_ISDIR(place.st_mode) && (place.st_mode & S_ISVTX) != 0;
    const bool is_of_own_group = (own.st_mode & S_IWGRP) != 0 && own.st_gid == place.st_gid;
    const unsigned rights = S_IWOTH | (is_of_own_group ? 0U : S_IWGRP);
    return !is_sticky && (place.st_mode & rights) != 0;
}

/// Returns whether nobody else can have put a file there, or change it: it belongs to root, to the
/// user or to the owner of this program.
bool is_trusted(const fs::path& file) {
    struct stat own{};
    struct stat found{};
    struct stat folder{};
    if (::stat(own_path().c_str(), &own) != 0 || ::stat(file.c_str(), &found) != 0 ||
        ::stat(file.parent_path().c_str(), &folder) != 0) {
        return false;
    }
    return !is_open(folder, own) && !is_open(found, own) &&
           (found.st_uid == 0 || found.st_uid == ::geteuid() || found.st_uid == own.st_uid);
}

std::optional<fs::path> find_library() {
    std::error_code error;
    for (const fs::path& place : library_places()) {
        if (fs::exists(place / "libcuda.so.1", error)) {
            const fs::path found = fs::canonical(place / "libcuda.so.1", error);
            if (!is_trusted(found)) {
                complain(
                    found.string() +
                    ": another user can change it or its folder, ignored; take that right away "
                    "(chmod go-w), or install it elsewhere");
                continue;
            }
            // The folder may also contain a real driver.
            void* library = ::dlopen(found.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library != nullptr && ::dlsym(library, "cuprumEmulatorVersion") != nullptr) {
                return found;
            }
        }
    }
    return std::nullopt;
}

std::optional<fs::path> find_library_or_complain() {
    auto library = find_library();
    if (!library) {
        complain("the emulated libcuda.so.1 was not found beside " + own_path().string());
    }
    return library;
}

/// Starts this program again, so that the loader searches as it will for the user's program.
int status_of_probe() {
    const std::string self = own_path();
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(self.c_str(), self.c_str(), "--probe", nullptr);
        std::_Exit(EXIT_FAILURE);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return EXIT_FAILURE;
    }
    return WEXITSTATUS(status);
}

/// Adds a path at the front of an environment variable.
void prepend(const char* variable, std::string path) {
    if (const char* before = ::secure_getenv(variable); before != nullptr && *before != '\0') {
        path += std::string(":") + before;
    }
    ::setenv(variable, path.c_str(), 1);
}

/// Lets the loader load libraries of a folder before all others, the last one first.
void preload(const fs::path& folder, std::span<const char* const> names) {
    // A space ends a path in LD_PRELOAD. The loader searches for names without a folder.
    const bool has_space = folder.string().find(' ') != std::string::npos;
    if (has_space) {
        prepend("LD_LIBRARY_PATH", folder);
    }
    for (const char* const name : names) {
        prepend("LD_PRELOAD", has_space ? fs::path(name) : folder / name);
    }
}

/// Returns the first program of a name in PATH. Passes over relative folders, as the stand-in does.
std::optional<fs::path> find_in_path(const char* name) {
    const char* const path = ::secure_getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path program = fs::path(folder) / name;
        std::error_code error;
        if (program.is_absolute() && fs::is_regular_file(program, error) &&
            ::access(program.c_str(), X_OK) == 0) {
            return program;
        }
    }
    return std::nullopt;
}

/// Lets the program find stand-ins for the compilers of machine code.
int name_compilers(const fs::path& folder) {
    constexpr std::array libraries{"libnvJitLink.so.12", "libnvJitLink.so.13", "libnvrtc.so.12",
                                   "libnvrtc.so.13",     "libnvfatbin.so.12",  "libnvfatbin.so.13"};
    for (const char* const name : libraries) {
        if (!fs::exists(folder / name)) {
            return complain((folder / name).string() +
                            " does not exist: reinstall cuprum-emulator");
        }
    }
    preload(folder, libraries); // the loader then considers libraries of these names loaded
    for (const char* const variable :
         {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "MODULAR_NVPTX_COMPILER_PATH"}) {
        ::setenv(variable, (folder / "ptxas").c_str(), 1);
    }
    ::setenv("TRITON_LIBCUDA_PATH", folder.parent_path().c_str(), 1);
    prepend("PYTHONPATH", folder / "python");
    if (const auto nvcc = find_in_path("nvcc")) {
        // Programs that look for the toolkit beside nvcc must not look beside the stand-in.
        const std::string toolkit = fs::path(*nvcc).parent_path().parent_path();
        // NOTE: not CUDA_ROOT: tileiras would load the toolkit's libNVVM instead of its own.
        for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
            ::setenv(variable, toolkit.c_str(), 0);
        }
        prepend("PATH", folder / "bin");
    }
    return EXIT_SUCCESS;
}

int run(char** arguments) {
    const auto library = find_library_or_complain();
    if (!library) {
        return EXIT_FAILURE;
    }
    const std::string folder = library->parent_path();
    if (folder.find_first_of(":;") != std::string::npos) {
        return complain(folder + " has a colon or semicolon, which separate folders for the "
                                 "loader: install cuprum-emulator elsewhere");
    }
    // Some programs open libcuda.so.
    prepend("LD_LIBRARY_PATH", library->parent_path() / "names");
    prepend("LD_LIBRARY_PATH", folder);
    if (name_compilers(library->parent_path() / "compilers") != EXIT_SUCCESS) {
        return EXIT_FAILURE;
    }
    ::setenv("CUPRUM_DRIVER", library->c_str(), 1); // Cuprum's own programs need not search
    if (status_of_probe() != EXIT_SUCCESS) {
        return EXIT_FAILURE;
    }
    ::execvp(arguments[0], arguments);
    return complain(std::string("cannot run '") + arguments[0] + "': " + std::strerror(errno),
                    NOT_FOUND);
}

/// Fails unless the name libcuda.so.1 finds the emulated driver.
int probe() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return complain(std::string("libcuda.so.1 cannot be loaded: ") + ::dlerror());
    }
    if (::dlsym(library, "cuprumEmulatorVersion") == nullptr) {
        Dl_info where{};
        void* init = ::dlsym(library, "cuInit");
        const bool is_known = init != nullptr && ::dladdr(init, &where) != 0;
        return complain(std::string("another driver is found before the emulated one: ") +
                        (is_known ? where.dli_fname : "unknown") + "; check LD_PRELOAD");
    }
    return EXIT_SUCCESS;
}

int show_version() {
    const auto path = find_library_or_complain();
    if (!path) {
        return EXIT_FAILURE;
    }
    void* library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    using Version = const char*();
    std::cout << reinterpret_cast<Version*>(::dlsym(library, "cuprumEmulatorVersion"))() << '\n';
    return EXIT_SUCCESS;
}

/// The driver functions that `info` needs.
class Driver {
public:
    explicit Driver(const fs::path& path)
        : library_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

    // NOTE: takes the function's type, not its address, which nothing here is linked with.
    template <typename Function, typename... Arguments>
    CUresult call(const char* name, Arguments... arguments) const {
        void* address = ::dlsym(library_, name);
        return address == nullptr ? CUDA_ERROR_NOT_FOUND
                                  : reinterpret_cast<Function*>(address)(arguments...);
    }

    [[nodiscard]] int attribute(CUdevice_attribute attribute, int device) const {
        int value = 0;
        call<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute", &value, attribute, device);
        return value;
    }

private:
    void* library_;
};

void show_device(const Driver& driver, int device) {
    char name[128] = {};
    char bus[32] = {};
    std::size_t bytes = 0;
    driver.call<decltype(cuDeviceGetName)>("cuDeviceGetName", name, int{sizeof name}, device);
    driver.call<decltype(cuDeviceGetPCIBusId)>("cuDeviceGetPCIBusId", bus, int{sizeof bus}, device);
    driver.call<decltype(cuDeviceTotalMem)>("cuDeviceTotalMem_v2", &bytes, device);
    std::cout << "device " << device << ": " << name << ", compute capability "
              << driver.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) << '.'
              << driver.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) << ", "
              << (bytes >> 20) << " MiB, "
              << driver.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)
              << " multiprocessors, " << bus << '\n';
}

int show_info() {
    const auto path = find_library_or_complain();
    if (!path) {
        return EXIT_FAILURE;
    }
    const Driver driver(*path);
    const fs::path nvml = path->parent_path() / "libnvidia-ml.so.1";
    int version = 0;
    int count = 0;
    driver.call<decltype(cuDriverGetVersion)>("cuDriverGetVersion", &version);
    std::cout << "library: " << path->string() << '\n'
              << "NVML: " << (fs::exists(nvml) ? nvml.string() : "not installed") << '\n'
              << "CUDA: " << version / 1000 << '.' << version % 1000 / 10 << '\n';
    const CUresult started = driver.call<decltype(cuInit)>("cuInit", 0U);
    if (started == CUDA_ERROR_NO_DEVICE) {
        return complain("CUDA_VISIBLE_DEVICES hides all emulated devices: unset it, or list the "
                        "devices to use (CUDA_VISIBLE_DEVICES=0)");
    }
    if (started != CUDA_SUCCESS ||
        driver.call<decltype(cuDeviceGetCount)>("cuDeviceGetCount", &count) != CUDA_SUCCESS) {
        return complain("the emulated device does not start: see the message above");
    }
    for (int device = 0; device < count; ++device) {
        show_device(driver, device);
    }
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (text.starts_with("CUPRUM_EMULATOR_") || text.starts_with("CUDA_VISIBLE_DEVICES=")) {
            std::cout << "setting: " << *variable << '\n';
        }
    }
    return EXIT_SUCCESS;
}

} // namespace
