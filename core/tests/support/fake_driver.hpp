// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A driver made of maps. It checks handles, counts live objects, and fails on request.

#pragma once

#include "driver/table.hpp"
#include "support/warning_log.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum::testing {

/// The numbers of live driver objects.
struct LiveObjects {
    int streams = 0;
    int events = 0;
    int pools = 0; // not counting the devices' own pools
    int allocations = 0;
    int host_allocations = 0; // pinned and registered
    int reservations = 0;     // of addresses
    int chunks = 0;           // physical memory
    int mappings = 0;
    int primary_contexts = 0;
    int contexts = 0;       // created by the library
    int host_functions = 0; // enqueued but not yet called
    int links = 0;
    int arrays = 0; // not counting levels and planes
    int mipmapped_arrays = 0;
    int textures = 0;
    int surfaces = 0;
    int graphs = 0; // also those below nodes
    int user_objects = 0;
    int executables = 0;
    friend bool operator==(const LiveObjects&, const LiveObjects&) = default;
};

/// Replaces the driver as long as it exists; there may be only one at a time. Functions that it
/// does not know return CUDA_ERROR_NOT_SUPPORTED.
class FakeDriver {
public:
    static constexpr int DEVICE_COUNT = 2;
    static constexpr int LOWEST_PRIORITY = 0;
    static constexpr int HIGHEST_PRIORITY = -5;

    FakeDriver();
    ~FakeDriver();
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

    /// Makes the nth call of a function from now on return `code`; 1 is the next call. A function
    /// that releases something still releases it.
    void fail(std::string_view function, CUresult code, int nth = 1);
    /// Makes the call with this number, counted from 0 over all functions, return `code`.
    void fail_call(std::size_t index, CUresult code);
    /// Returns the names of the functions called so far, in order.
    [[nodiscard]] std::vector<std::string> calls() const;
    [[nodiscard]] int count(std::string_view function) const;
    void forget_calls();

    [[nodiscard]] LiveObjects live() const;
    /// Returns the context that is current on the calling thread.
    [[nodiscard]] static CUcontext current();
    /// Creates a context that is no device's primary context.
    [[nodiscard]] CUcontext make_context(int device);
    /// Creates a stream that the library does not own.
    [[nodiscard]] CUstream make_stream(CUcontext context);
    void set_capturing(CUstream stream);
    /// Returns whether a plain copy is refused because the two devices deny each other access.
    [[nodiscard]] bool denies_copy(CUdeviceptr destination, CUdeviceptr source) const;
    /// Makes an event, or a stream, unfinished from now on.
    void set_pending(CUevent event);
    void set_pending(CUstream stream);

    /// How memory was last freed.
    struct Free {
        CUdeviceptr pointer = 0;
        CUstream stream = nullptr;
        CUcontext current = nullptr;
    };

    struct Stream {
        CUcontext context = nullptr;
        unsigned flags = 0;
        int priority = 0;
        bool is_foreign = false;
        bool is_capturing = false;
        bool is_pending = false;
        cuuint64_t capture = 0; // the number of the capture that it is part of
    };

    /// Where an event was last recorded.
    struct Record {
        CUstream stream = nullptr;
        CUcontext current = nullptr;
    };

    struct Event {
        CUcontext context = nullptr;
        bool is_timed = false;
        bool is_recorded = false;
        bool is_pending = false;
        cuuint64_t capture = 0; // that it was recorded in
    };

    struct Pool {
        int device = 0;
        bool is_default = false;
        std::uint64_t release_threshold = 0;
        std::size_t max_size = 0;
        CUmemLocation location = {};
        CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
        unsigned handle_types = 0;
        bool is_imported = false;
        std::map<int, CUmemAccess_flags> access = {}; // by device
        std::map<int, std::uint64_t> attributes = {}; // those that were set
    };

    struct HostCall {
        CUstream stream = nullptr;
        CUhostFn function = nullptr;
        void* data = nullptr;
    };

    struct Chunk {
        std::size_t size = 0;
        int mappings = 0;
        bool is_released = false; // stays alive while it is mapped
        CUmemAllocationProp properties = {};
    };

    struct Mapping {
        std::size_t size = 0;
        CUmemGenericAllocationHandle chunk = 0;
        std::vector<CUmemAccessDesc> access = {};
    };

    /// One line for each advice, prefetch, discard or copy.
    std::vector<std::string> notes;
    static constexpr std::size_t GRANULARITY_BYTES = std::size_t{2} << 20U;

    struct Failure {
        std::string function; // any function if empty
        int calls_to_go = 0;
        CUresult code = CUDA_SUCCESS;
    };

    /// The inputs of the driver's linker.
    struct Link {
        std::vector<std::string> inputs;
        std::map<CUjit_option, unsigned long> options;
    };

    struct Array {
        CUcontext context = nullptr;
        CUDA_ARRAY3D_DESCRIPTOR description = {};
        void* whole = nullptr; // of a level or a plane
    };

    struct Mipmap {
        CUcontext context = nullptr;
        CUDA_ARRAY3D_DESCRIPTOR description = {};
        unsigned levels = 0;
    };

    struct Graph {
        std::set<CUgraphNode> nodes = {};
        std::map<CUgraphNode, CUgraphNode> twins = {}; // of the nodes that it was cloned from
        std::multiset<CUuserObject> objects = {};
    };

    struct GraphNode {
        CUgraph graph = nullptr;
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        CUgraph child = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS memory = {}; // of an allocation
    };

    struct UserObject {
        CUhostFn destroy = nullptr;
        void* data = nullptr;
        unsigned shares = 0;
    };

    struct Capture {
        CUgraph graph = nullptr;
        std::vector<CUstream> streams = {};
    };

    /// A texture or a surface.
    struct HandleObject {
        CUcontext context = nullptr;
    };

    /// What a texture was made from.
    struct TextureDescription {
        CUDA_RESOURCE_DESC resource = {};
        CUDA_TEXTURE_DESC sampling = {};
        CUDA_RESOURCE_VIEW_DESC view = {};
        bool has_view = false;
    };

    /// Runs before each call, with its name. It may use the library.
    std::function<void(std::string_view)> on_call;

    // The state behind the functions, which tests read.
    mutable std::mutex mutex;
    std::vector<std::string> log;
    std::vector<Failure> failures;
    Record last_record;
    std::map<CUcontext, int> contexts; // with their devices
    std::map<CUstream, Stream> streams;
    /// Whether work on a stream is refused unless its context is current. The real driver does not
    /// require that.
    bool wants_current = false;
    std::map<CUevent, Event> events;
    std::map<CUmemoryPool, Pool> pools;
    std::map<CUdeviceptr, std::size_t> allocations;
    std::map<CUdeviceptr, CUcontext> bound; // memory that is destroyed with its context
    std::map<CUdeviceptr, int> homes;       // the devices of pool memory
    std::map<CUlinkState, Link> links;
    Link last_link;
    std::map<CUarray, Array> arrays;
    std::map<CUmipmappedArray, Mipmap> mipmaps;
    std::map<CUgraph, Graph> graphs; // also those below nodes
    std::map<CUgraphNode, GraphNode> graph_nodes;
    std::map<CUuserObject, UserObject> user_objects;
    std::set<CUgraphExec> executables;
    std::map<cuuint64_t, Capture> captures;
    cuuint64_t last_capture = 0;
    std::map<CUtexObject, HandleObject> textures;
    std::map<CUsurfObject, HandleObject> surfaces;
    TextureDescription last_texture;
    std::vector<CUcontext> primaries;
    std::vector<CUmemoryPool> default_pools;
    std::vector<int> primary_shares;
    std::map<std::uintptr_t, std::size_t> host_allocations;
    std::map<CUdeviceptr, std::size_t> reservations;
    std::map<CUmemGenericAllocationHandle, Chunk> chunks;
    std::map<CUdeviceptr, Mapping> mappings;
    std::map<CUdeviceptr, std::map<int, int>> range_attributes; // of managed memory
    bool is_hint_honoured = true;         // reserve addresses where they are requested, if free
    bool is_pointer_managed = false;      // the answer for every pointer
    bool denies_peers = false;            // pools give no other device access
    std::map<int, int> device_attributes; // attributes whose value is not their number
    std::size_t free_bytes = std::size_t{1} << 30U;
    Free last_free;
    int version = 13000;
    unsigned sm_count = 132;
    std::vector<CUcontext> made_contexts;
    std::map<CUgreenCtx, CUcontext> green_contexts;
    std::map<CUgreenCtx, CUdevResource> green_resources;
    std::vector<unsigned> primary_flags;
    std::map<std::pair<CUcontext, int>, std::size_t> limits;
    std::map<CUcontext, unsigned> context_flags;
    std::map<CUcontext, CUfunc_cache> cache_configs;
    std::vector<std::pair<CUcontext, CUcontext>> peers;
    std::map<std::pair<CUstream, int>, CUstreamAttrValue> stream_attributes;
    std::map<CUdeviceptr, std::uint64_t> words; // words that streams wrote
    std::vector<unsigned> wait_flags;           // the flags of waits for values
    std::map<int, CUprocessState> processes;    // that use CUDA, by number
    unsigned lock_timeout_ms = 0;               // of the last lock
    std::vector<CUcheckpointGpuPair> gpu_pairs; // of the last restore
    std::vector<HostCall> host_calls;           // called when their stream is synchronised
    unsigned last_record_flags = 0;
    unsigned last_event_flags = 0;

    template <typename Handle>
    Handle next_handle() {
        return reinterpret_cast<Handle>(++handles_ * 0x100);
    }

private:
    std::uintptr_t handles_ = 0;
    std::unique_ptr<driver::Table> table_;
    driver::Table* previous_ = nullptr;
};

/// Runs each test on a fresh fake driver. After the test, nothing may be alive, the current context
/// must be unchanged, and no warning may be unread.
// NOLINTNEXTLINE(*-special-member-functions): only gtest creates it
class FakeDriverTest : public ::testing::Test {
protected:
    FakeDriverTest();
    ~FakeDriverTest() override;

    /// Makes `context` current on this thread, as if a program had done so before.
    static void start_with(CUcontext context);

    std::unique_ptr<FakeDriver> fake;
    WarningLog warnings;
};

/// Runs `scenario` many times, each time on a fresh fake driver with another one of its driver
/// calls failing. Checks that the error or the warning names the call, that nothing is left alive,
/// and that the current context is unchanged. The scenario must keep nothing alive.
void check_every_failure(const std::function<void(FakeDriver&)>& scenario);

} // namespace cuprum::testing
