// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads a PNG, blurs it and scales it up through textures, and writes a PNG.
//
//     22_picture [INPUT.png [OUTPUT.png]]

#include <cuprum/cuprum.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
// Weighs 5 by 5 neighbours. The texture repeats the pixels at its edges.
extern "C" __global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out, int width,
                                int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float red = 0, green = 0, blue = 0;
    for (int dy = 0; dy < 5; ++dy) {
        for (int dx = 0; dx < 5; ++dx) {
            const float4 pixel = tex2D<float4>(in, x + dx - 1.5f, y + dy - 1.5f);
            const float weight = weights[dx] * weights[dy] * 255;
            red += weight * pixel.x;
            green += weight * pixel.y;
            blue += weight * pixel.z;
        }
    }
    surf2Dwrite(make_uchar4(red + 0.5f, green + 0.5f, blue + 0.5f, 255), out, x * 4, y);
}
// Reads between the pixels: the texture interpolates.
extern "C" __global__ void scale(cudaTextureObject_t in, uchar4* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float4 pixel = tex2D<float4>(in, (x + 0.5f) / width, (y + 0.5f) / height);
    out[y * width + x] = make_uchar4(pixel.x * 255 + 0.5f, pixel.y * 255 + 0.5f,
                                     pixel.z * 255 + 0.5f, 255);
})";
constexpr unsigned FACTOR = 2;
constexpr unsigned BLOCK = 8;

using Bytes = std::vector<std::uint8_t>;

/// A picture in rows of red, green, blue and alpha.
struct Picture {
    unsigned width = 0;
    unsigned height = 0;
    Bytes pixels;
};

Picture read_png(const std::filesystem::path& path);
void write_png(const std::filesystem::path& path, const Picture& picture);
bool is_close(const Bytes& blurred, const Picture& original);

cuprum::LaunchConfig config(unsigned columns, unsigned rows) {
    return {.grid = {(columns + BLOCK - 1) / BLOCK, (rows + BLOCK - 1) / BLOCK},
            .block = {BLOCK, BLOCK}};
}

} // namespace

int main(int argc, char** argv) {
    const std::filesystem::path source =
        argc > 1 ? argv[1] : CUPRUM_SOURCE_FOLDER "/docs/images/picture.png";
    const std::filesystem::path target =
        argc > 2 ? argv[2] : std::filesystem::temp_directory_path() / "cuprum_picture_cpp.png";
    const Picture picture = read_png(source);

    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();
    const cuprum::ObjectCode code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);

    // The picture goes into an array, and a second one takes the blurred picture.
    cuprum::OpaqueArrayOptions options{.extent = {picture.width, picture.height},
                                       .format = cuprum::ArrayFormat::UInt8,
                                       .num_channels = 4};
    const cuprum::OpaqueArray sharp = device.create_opaque_array(options);
    options.is_surface_load_store = true;
    const cuprum::OpaqueArray soft = device.create_opaque_array(options);
    sharp.copy_from_host(picture.pixels, stream);

    // Kernels read bytes as numbers from 0 to 1. The second texture interpolates.
    const auto pixels =
        cuprum::TextureObject::create(cuprum::ResourceDescriptor::from_opaque_array(sharp),
                                      {.read_mode = cuprum::ReadMode::NormalizedFloat});
    const auto between =
        cuprum::TextureObject::create(cuprum::ResourceDescriptor::from_opaque_array(soft),
                                      {.filter_mode = cuprum::FilterMode::Linear,
                                       .read_mode = cuprum::ReadMode::NormalizedFloat,
                                       .normalized_coords = true});
    const auto surface = cuprum::SurfaceObject::create(soft);

    Picture large{picture.width * FACTOR, picture.height * FACTOR, {}};
    large.pixels.resize(std::size_t{4} * large.width * large.height);
    const cuprum::Buffer out = device.allocate(large.pixels.size(), stream);
    cuprum::launch(stream, config(picture.width, picture.height), code.get_kernel("blur"), pixels,
                   surface, picture.width, picture.height);
    cuprum::launch(stream, config(large.width, large.height), code.get_kernel("scale"), between,
                   out, large.width, large.height);
    out.copy_to_host(large.pixels, stream);
    Bytes blurred(picture.pixels.size());
    soft.copy_to_host(blurred, stream);
    stream.sync();

    write_png(target, large);
    std::printf("%s: %u x %u pixels, blurred\n", source.filename().c_str(), picture.width,
                picture.height);
    std::printf("%s: %u x %u pixels\n", target.filename().c_str(), large.width, large.height);
    return is_close(blurred, picture) ? EXIT_SUCCESS : EXIT_FAILURE;
}

// ---- the check ---------------------------------------------------------------------------------

namespace {

bool is_close(const Bytes& blurred, const Picture& original) {
    constexpr std::array<float, 5> weights{0.0625F, 0.25F, 0.375F, 0.25F, 0.0625F};
    const auto width = static_cast<int>(original.width);
    const auto height = static_cast<int>(original.height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float red = 0;
            for (int dy = 0; dy < 5; ++dy) {
                for (int dx = 0; dx < 5; ++dx) {
                    const int row = std::clamp(y + dy - 2, 0, height - 1);
                    const int column = std::clamp(x + dx - 2, 0, width - 1);
                    red += weights[static_cast<std::size_t>(dx)] *
                           weights[static_cast<std::size_t>(dy)] *
                           original.pixels[static_cast<std::size_t>(row * width + column) * 4];
                }
            }
            if (std::abs(red - blurred[static_cast<std::size_t>(y * width + x) * 4]) > 1.0F) {
                return false;
            }
        }
    }
    return true;
}

// ---- PNG, as much as the example needs ---------------------------------------------------------

constexpr std::array<std::uint8_t, 8> SIGNATURE{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/// Decompresses what zlib compressed: RFC 1950 and 1951.
class Inflater {
public:
    explicit Inflater(const Bytes& data) : data_(data), place_(2 * 8) {}

    Bytes run() {
        for (bool is_last = false; !is_last;) {
            is_last = bits(1) != 0;
            switch (bits(2)) {
            case 0:
                copy_stored();
                break;
            case 1:
                read_codes(fixed_lengths(), Lengths(30, 5));
                break;
            case 2:
                read_dynamic();
                break;
            default:
                throw std::runtime_error("bad block in the compressed data");
            }
        }
        return std::move(out_);
    }

private:
    using Lengths = std::vector<unsigned>;

    /// A Huffman code: how many symbols have each length, and the symbols in order.
    struct Code {
        explicit Code(const Lengths& lengths) {
            for (const unsigned length : lengths) {
                ++counts[length];
            }
            counts[0] = 0;
            for (unsigned length = 1; length < 16; ++length) {
                for (unsigned symbol = 0; symbol < lengths.size(); ++symbol) {
                    if (lengths[symbol] == length) {
                        symbols.push_back(symbol);
                    }
                }
            }
        }

        std::array<unsigned, 16> counts{};
        Lengths symbols;
    };

    unsigned bits(unsigned count) {
        unsigned value = 0;
        for (unsigned i = 0; i < count; ++i, ++place_) {
            value |= (data_.at(place_ / 8) >> (place_ % 8) & 1U) << i;
        }
        return value;
    }

    unsigned symbol(const Code& code) {
        unsigned value = 0;
        unsigned first = 0;
        unsigned index = 0;
        for (unsigned length = 1; length < 16; ++length) {
            value |= bits(1);
            const unsigned count = code.counts[length];
            if (value - first < count) {
                return code.symbols[index + value - first];
            }
            index += count;
            first = (first + count) << 1U;
            value <<= 1U;
        }
        throw std::runtime_error("bad code in the compressed data");
    }

    static Lengths fixed_lengths() {
        Lengths lengths(144, 8);
        lengths.resize(256, 9);
        lengths.resize(280, 7);
        lengths.resize(288, 8);
        return lengths;
    }

    void copy_stored() {
        place_ = (place_ + 7) / 8 * 8;
        const unsigned length = bits(16);
        place_ += 16;
        for (unsigned i = 0; i < length; ++i) {
            out_.push_back(static_cast<std::uint8_t>(bits(8)));
        }
    }

    void read_dynamic() {
        static constexpr std::array<unsigned, 19> ORDER{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
        const unsigned literals = bits(5) + 257;
        const unsigned distances = bits(5) + 1;
        const unsigned count = bits(4) + 4;
        Lengths own(19);
        for (unsigned i = 0; i < count; ++i) {
            own[ORDER[i]] = bits(3);
        }
        const Code code(own);
        Lengths lengths;
        while (lengths.size() < literals + distances) {
            const unsigned next = symbol(code);
            if (next < 16) {
                lengths.push_back(next);
            } else if (next == 16) {
                lengths.insert(lengths.end(), 3 + bits(2), lengths.back());
            } else {
                lengths.insert(lengths.end(), next == 17 ? 3 + bits(3) : 11 + bits(7), 0);
            }
        }
        const auto middle = lengths.begin() + literals;
        read_codes(Lengths(lengths.begin(), middle), Lengths(middle, lengths.end()));
    }

    void read_codes(const Lengths& literal_lengths, const Lengths& distance_lengths) {
        static constexpr std::array<unsigned, 29> BASES{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                        15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                        67, 83, 99, 115, 131, 163, 195, 227, 258};
        const Code literals(literal_lengths);
        const Code distances(distance_lengths);
        for (unsigned next = symbol(literals); next != 256; next = symbol(literals)) {
            if (next < 256) {
                out_.push_back(static_cast<std::uint8_t>(next));
                continue;
            }
            const unsigned which = next - 257;
            const unsigned extra = which < 8 || which == 28 ? 0 : which / 4 - 1;
            const unsigned length = BASES.at(which) + bits(extra);
            const unsigned code = symbol(distances);
            const unsigned more = code < 4 ? 0 : code / 2 - 1;
            const unsigned start = code < 4 ? code + 1 : ((2U + code % 2) << more) + 1;
            const unsigned distance = start + bits(more);
            for (unsigned i = 0; i < length; ++i) {
                out_.push_back(out_.at(out_.size() - distance));
            }
        }
    }

    const Bytes& data_;
    std::size_t place_; // in bits
    Bytes out_;
};

unsigned big_endian(const Bytes& data, std::size_t place) {
    return static_cast<unsigned>(data.at(place)) << 24U | data.at(place + 1) << 16U |
           data.at(place + 2) << 8U | data.at(place + 3);
}

/// Undoes the filter of one line; `above` is the line before.
void unfilter(Bytes& line, const Bytes& above, unsigned kind, std::size_t channels) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        const int left = i < channels ? 0 : line[i - channels];
        const int up = above[i];
        const int corner = i < channels ? 0 : above[i - channels];
        const int guess = left + up - corner;
        const int to_left = std::abs(guess - left);
        const int to_up = std::abs(guess - up);
        const int to_corner = std::abs(guess - corner);
        const int nearest = to_left <= to_up && to_left <= to_corner ? left
                            : to_up <= to_corner                     ? up
                                                                     : corner;
        const std::array<int, 5> added{0, left, up, (left + up) / 2, nearest};
        line[i] = static_cast<std::uint8_t>(line[i] + added.at(kind));
    }
}

Picture read_png(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const Bytes data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (data.size() < 33 || !std::equal(SIGNATURE.begin(), SIGNATURE.end(), data.begin())) {
        throw std::runtime_error(path.string() + " is no PNG");
    }
    Picture picture{big_endian(data, 16), big_endian(data, 20), {}};
    const std::size_t channels = data[25] == 2 ? 3 : 4;
    if (data[24] != 8 || (data[25] != 2 && data[25] != 6) || data[28] != 0) {
        throw std::runtime_error(path.string() + " is no plain picture with 8 bits a channel");
    }
    Bytes compressed;
    for (std::size_t place = 8; place + 8 < data.size();) {
        const unsigned length = big_endian(data, place);
        if (std::string(data.begin() + static_cast<std::ptrdiff_t>(place) + 4,
                        data.begin() + static_cast<std::ptrdiff_t>(place) + 8) == "IDAT") {
            const auto first = data.begin() + static_cast<std::ptrdiff_t>(place) + 8;
            compressed.insert(compressed.end(), first, first + length);
        }
        place += 12 + std::size_t{length};
    }
    const Bytes lines = Inflater(compressed).run();
    const std::size_t row_bytes = picture.width * channels;
    Bytes above(row_bytes);
    for (unsigned y = 0; y < picture.height; ++y) {
        const auto start = lines.begin() + static_cast<std::ptrdiff_t>(y * (row_bytes + 1));
        Bytes line(start + 1, start + 1 + static_cast<std::ptrdiff_t>(row_bytes));
        unfilter(line, above, *start, channels);
        for (std::size_t x = 0; x < picture.width; ++x) {
            const std::size_t at = x * channels;
            picture.pixels.insert(picture.pixels.end(),
                                  {line[at], line[at + 1], line[at + 2],
                                   channels == 4 ? line[at + 3] : std::uint8_t{255}});
        }
        above = std::move(line);
    }
    return picture;
}

void append(Bytes& out, unsigned number) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        out.push_back(static_cast<std::uint8_t>(number >> shift));
    }
}

/// Appends a chunk with its length and checksum.
void append_chunk(Bytes& out, const std::string& kind, const Bytes& body) {
    append(out, static_cast<unsigned>(body.size()));
    const std::size_t start = out.size();
    out.insert(out.end(), kind.begin(), kind.end());
    out.insert(out.end(), body.begin(), body.end());
    unsigned sum = 0xffffffffU;
    for (std::size_t i = start; i < out.size(); ++i) {
        sum ^= out[i];
        for (int bit = 0; bit < 8; ++bit) {
            sum = sum >> 1U ^ ((sum & 1U) != 0 ? 0xedb88320U : 0U);
        }
    }
    append(out, ~sum);
}

/// Writes without compression, which every reader takes.
void write_png(const std::filesystem::path& path, const Picture& picture) {
    Bytes lines;
    for (unsigned y = 0; y < picture.height; ++y) {
        lines.push_back(0); // no filter
        for (std::size_t x = 0; x < picture.width; ++x) {
            const std::size_t at = (std::size_t{y} * picture.width + x) * 4;
            lines.insert(lines.end(),
                         {picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]});
        }
    }
    Bytes packed{0x78, 0x01};
    constexpr std::size_t most = 65535; // bytes of a stored block
    for (std::size_t start = 0; start < lines.size(); start += most) {
        const std::size_t length = std::min(most, lines.size() - start);
        packed.insert(packed.end(),
                      {static_cast<std::uint8_t>(start + length == lines.size()),
                       static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8U),
                       static_cast<std::uint8_t>(~length),
                       static_cast<std::uint8_t>(~length >> 8U)});
        const auto first = lines.begin() + static_cast<std::ptrdiff_t>(start);
        packed.insert(packed.end(), first, first + static_cast<std::ptrdiff_t>(length));
    }
    unsigned low = 1;
    unsigned high = 0;
    for (const std::uint8_t value : lines) {
        low = (low + value) % 65521;
        high = (high + low) % 65521;
    }
    append(packed, high << 16U | low);
    Bytes header;
    append(header, picture.width);
    append(header, picture.height);
    header.insert(header.end(), {8, 2, 0, 0, 0});
    Bytes out(SIGNATURE.begin(), SIGNATURE.end());
    append_chunk(out, "IHDR", header);
    append_chunk(out, "IDAT", packed);
    append_chunk(out, "IEND", {});
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
}

} // namespace
