// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The work of the library grows about as fast as the number of objects: of nodes, captures, cached
// programs, buffers, streams and events. The fake driver's own work per call stays about the same.

#include "graph/payload.hpp"
#include "stream/recent_launches.hpp"
#include "support/fake_driver.hpp"
#include "support/scaling.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/program_cache.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_scales;
using testing::FakeDriver;

/// A fake driver with a graph, a stream, and as many of something as a test needs.
struct Objects {
    explicit Objects(std::size_t number) : count(number) {}

    ~Objects() { // before the driver goes
        executable.reset();
        builders.clear();
        buffers.clear();
        fills.clear();
        nodes.clear();
        graph.close();
        stream.sync();
    }

    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    std::size_t count;
    FakeDriver fake;
    Device device = Device(0);
    Stream stream = device.create_stream();
    GraphDefinition graph;
    std::vector<GraphNode> nodes;
    std::vector<MemsetNode> fills;
    std::vector<GraphBuilder> builders;
    std::vector<Buffer> buffers;
    std::vector<Stream> streams;
    std::optional<Graph> executable;

    void add_empty_nodes() {
        for (std::size_t i = 0; i < count; ++i) {
            nodes.push_back(graph.empty());
        }
    }

    void add_owning_nodes() {
        for (std::size_t i = 0; i < count; ++i) {
            buffers.push_back(device.allocate(64, stream));
            fills.push_back(graph.memset(buffers.back(), std::uint8_t{1}, 64));
        }
    }
};

using Input = std::unique_ptr<Objects>;

Input objects(std::size_t count) {
    return std::make_unique<Objects>(count);
}

/// Expects that a step done `count` times scales, on objects that `prepare` adds to.
void expect_linear(std::size_t size, const std::function<void(Objects&)>& prepare,
                   const std::function<void(Objects&)>& work) {
    expect_scales(
        size,
        [&](std::size_t count) {
            Input made = objects(count);
            prepare(*made);
            return made;
        },
        [&](Input& input) { work(*input); });
}

/// The same, and the number of driver calls scales as well.
void expect_linear_calls(std::size_t size, const std::function<void(Objects&)>& prepare,
                         const std::function<void(Objects&)>& work) {
    expect_linear(size, prepare, work);
    expect_scales(
        size,
        [&](std::size_t count) {
            Input made = objects(count);
            prepare(*made);
            made->fake.forget_calls();
            return made;
        },
        [&](Input& input) {
            work(*input);
            return input->fake.calls().size();
        });
}

void nothing(Objects& /*all*/) {}

// ---- graphs ------------------------------------------------------------------------------------

TEST(Scaling, adding_nodes) {
    expect_linear_calls(500, nothing, &Objects::add_owning_nodes);
}

TEST(Scaling, adding_nodes_behind_each_other_and_reading_them) {
    expect_linear_calls(500, nothing, [](Objects& all) {
        GraphNode last = all.graph.empty();
        for (std::size_t i = 0; i < all.count; ++i) {
            last = last.empty();
            EXPECT_TRUE(all.graph.node_from_handle(last.handle()) == last);
        }
    });
}

TEST(Scaling, joining_many_nodes) {
    expect_linear(1000, &Objects::add_empty_nodes, [](Objects& all) {
        EXPECT_EQ(all.graph.after(all.nodes).join(all.nodes).type(), GraphNodeType::Empty);
    });
}

TEST(Scaling, refused_nodes) {
    expect_linear_calls(500, nothing, [](Objects& all) {
        for (std::size_t i = 0; i < all.count; ++i) {
            EXPECT_THROW(static_cast<void>(all.graph.if_then(all.graph.create_condition())),
                         CUDAError);
        }
    });
}

TEST(Scaling, memory_of_a_graph_and_its_use) {
    expect_linear_calls(500, nothing, [](Objects& all) {
        for (std::size_t i = 0; i < all.count; ++i) {
            const AllocNode memory = all.graph.allocate(64);
            static_cast<void>(all.graph.memcpy(memory, memory, 64));
            static_cast<void>(all.graph.deallocate(memory));
        }
    });
}

TEST(Scaling, embedding_many_graphs) {
    expect_linear_calls(250, nothing, [](Objects& all) {
        const GraphDefinition child;
        const Buffer buffer = all.device.allocate(64, all.stream);
        static_cast<void>(child.memset(buffer, std::uint8_t{1}, 64));
        for (std::size_t i = 0; i < all.count; ++i) {
            const ChildGraphNode node = all.graph.embed(child);
            EXPECT_EQ(node.child_graph().nodes().size(), 1U);
        }
        all.executable = all.graph.instantiate();
    });
}

TEST(Scaling, cloning_and_destroying_a_graph) {
    expect_linear_calls(500, &Objects::add_owning_nodes, [](Objects& all) {
        const GraphDefinition copy = all.graph.clone();
        EXPECT_EQ(copy.nodes().size(), all.count);
        for (const GraphNode& node : copy.nodes()) {
            node.destroy();
        }
    });
}

TEST(Scaling, giving_out_the_handle_of_a_graph) {
    expect_linear_calls(
        500,
        [](Objects& all) {
            all.add_owning_nodes();
            for (std::size_t i = 0; i < all.count; ++i) {
                all.graph.keep_alive(std::make_shared<int>());
            }
        },
        [](Objects& all) { EXPECT_NE(all.graph.handle(), nullptr); });
}

TEST(Scaling, updating_every_node_of_an_executable) {
    expect_linear_calls(
        500,
        [](Objects& all) {
            all.add_owning_nodes();
            all.executable = all.graph.instantiate();
        },
        [](Objects& all) {
            for (std::size_t i = 0; i < all.count; ++i) {
                all.executable->launch(all.stream);
                (*all.executable)[all.fills[i]].update(
                    {.dst = all.buffers[all.count - 1 - i], .value = 2, .width = 64});
            }
            all.executable->update(all.graph);
            all.executable.reset();
        });
    detail::release_payloads();
}

// ---- captures ----------------------------------------------------------------------------------

void begin_captures(Objects& all) {
    for (std::size_t i = 0; i < all.count; ++i) {
        all.builders.push_back(all.device.create_graph_builder());
        all.builders.back().begin_building();
    }
}

TEST(Scaling, many_open_captures) {
    expect_linear_calls(
        250, [](Objects& all) { all.buffers.push_back(all.device.allocate(64, all.stream)); },
        [](Objects& all) {
            begin_captures(all);
            for (const GraphBuilder& builder : all.builders) {
                all.buffers[0].fill(std::uint8_t{1}, builder.stream());
            }
            for (GraphBuilder& builder : all.builders) {
                builder.end_building();
            }
            all.builders.clear();
        });
}

TEST(Scaling, work_on_other_streams_beside_many_captures) {
    expect_linear_calls(
        250,
        [](Objects& all) {
            all.buffers.push_back(all.device.allocate(64, all.stream));
            static_cast<void>(all.stream.handle()); // others can capture it
            begin_captures(all);
        },
        [](Objects& all) {
            for (std::size_t i = 0; i < all.count; ++i) {
                all.buffers[0].fill(std::uint8_t{1}, all.stream);
            }
        });
}

TEST(Scaling, work_on_streams_that_joined_a_capture) {
    expect_linear_calls(
        250,
        [](Objects& all) {
            all.buffers.push_back(all.device.allocate(64, all.stream));
            begin_captures(all);
            all.stream.wait(all.builders.back().stream());
        },
        [](Objects& all) {
            for (std::size_t i = 0; i < all.count; ++i) {
                all.buffers[0].fill(std::uint8_t{1}, all.stream);
            }
        });
}

TEST(Scaling, many_nodes_in_a_capture) {
    expect_linear_calls(
        500,
        [](Objects& all) {
            for (std::size_t i = 0; i < all.count; ++i) {
                all.buffers.push_back(all.device.allocate(64, all.stream));
            }
        },
        [](Objects& all) {
            GraphBuilder builder = all.device.create_graph_builder();
            builder.begin_building();
            for (const Buffer& buffer : all.buffers) {
                buffer.fill(std::uint8_t{1}, builder.stream());
            }
            builder.end_building();
            EXPECT_EQ(detail::Payload::live_count(), 1U);
        });
}

TEST(Scaling, many_forks_of_a_capture) {
    expect_linear_calls(250, nothing, [](Objects& all) {
        GraphBuilder builder = all.device.create_graph_builder();
        builder.begin_building();
        const std::vector<GraphBuilder> forks = builder.split(all.count);
        GraphBuilder joined = GraphBuilder::join(forks);
        joined.end_building();
    });
}

TEST(Scaling, captures_that_are_given_up) {
    expect_linear_calls(250, begin_captures, [](Objects& all) { all.builders.clear(); });
}

// ---- buffers, streams and events ---------------------------------------------------------------

TEST(Scaling, many_live_buffers) {
    expect_linear_calls(1000, nothing, [](Objects& all) {
        for (std::size_t i = 0; i < all.count; ++i) {
            all.buffers.push_back(all.device.allocate(64, all.stream));
        }
        for (std::size_t i = 0; i < all.count; ++i) { // the oldest first
            all.buffers[i].close();
        }
    });
}

TEST(Scaling, slices_of_a_buffer) {
    expect_linear_calls(1000, nothing, [](Objects& all) {
        const Buffer whole = all.device.allocate(all.count, all.stream);
        for (std::size_t i = 0; i < all.count; ++i) {
            all.buffers.push_back(whole.slice(i, 1));
        }
        for (Buffer& each : all.buffers) {
            each.close();
        }
    });
}

TEST(Scaling, buffers_that_are_closed_during_a_capture) {
    expect_linear_calls(
        500,
        [](Objects& all) {
            for (std::size_t i = 0; i < all.count; ++i) {
                all.buffers.push_back(all.device.allocate(64, all.stream));
            }
        },
        [](Objects& all) {
            GraphBuilder builder = all.stream.create_graph_builder();
            builder.begin_building();
            all.buffers.clear();
            builder.end_building();
            all.stream.sync();
            EXPECT_EQ(all.fake.live().allocations, 0);
        });
}

TEST(Scaling, many_streams_and_events) {
    expect_linear_calls(500, nothing, [](Objects& all) {
        std::vector<Event> events;
        for (std::size_t i = 0; i < all.count; ++i) {
            all.streams.push_back(all.device.create_stream());
            events.push_back(all.streams.back().record());
            all.stream.wait(events.back());
        }
        for (const Event& event : events) {
            event.sync();
        }
        all.streams.clear();
    });
}

TEST(Scaling, names_of_kernels_that_come_and_go) {
    expect_scales(2000, [](std::size_t count) {
        std::vector<std::unique_ptr<detail::LaunchName>> names;
        for (std::size_t i = 0; i < count; ++i) {
            names.push_back(std::make_unique<detail::LaunchName>("kernel " + std::to_string(i)));
        }
        for (auto& name : names) { // the oldest first
            name.reset();
        }
        EXPECT_LT(detail::kept_names(), count);
    });
}

// ---- cached programs ---------------------------------------------------------------------------

/// Stores programs, finds each, and removes some.
void use(ProgramCache& cache, std::size_t count) {
    const std::vector<std::byte> code(64);
    for (std::size_t i = 0; i < count; ++i) {
        cache.put("key " + std::to_string(i), code);
    }
    for (std::size_t i = 0; i < count; ++i) {
        static_cast<void>(cache.get("key " + std::to_string(i)));
    }
    for (std::size_t i = 0; i < count; i += 2) {
        static_cast<void>(cache.remove("key " + std::to_string(i)));
    }
}

TEST(Scaling, a_cache_in_memory) {
    expect_scales(500, [](std::size_t count) {
        InMemoryProgramCache cache;
        use(cache, count);
        InMemoryProgramCache limited(count * 32); // half of what is stored
        use(limited, count);
    });
}

TEST(Scaling, a_cache_on_disk) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cuprum-scaling-" + std::to_string(::getpid()));
    expect_scales(100, [&](std::size_t count) {
        FileStreamProgramCache cache(folder.string());
        use(cache, count);
        cache.clear();
    });
    expect_scales(100, [&](std::size_t count) {
        FileStreamProgramCache limited(folder.string(), count * 64);
        use(limited, count);
        limited.clear();
    });
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace cuprum
