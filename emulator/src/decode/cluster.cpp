// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mapa and getctarank: addresses in the shared memory of a cluster.

#include "interp/cluster.hpp"

#include "decode/reader.hpp"

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using ptx::Type;

void decode_cluster(Reader& reader) {
    const bool maps = reader.opcode() == "mapa";
    std::uint16_t tag = reader.take("shared::cluster") ? 0 : cluster::GENERIC;
    const Type type = reader.take_type_of({Type::U32, Type::U64});
    if (!reader.finish(maps ? 3 : 2)) {
        return;
    }
    if (type == Type::U64) {
        tag |= cluster::WIDE_ADDRESS;
    } else if ((tag & cluster::GENERIC) != 0) {
        reader.reject("takes a generic address, which has 64 bits");
        return;
    }
    const Operand address = reader.source(1, type);
    if (maps) {
        const Operand rank = reader.source(2, Type::U32);
        reader.emit(FixedOp::MapAddress, {reader.destination(0, type)}, {address, rank}, tag);
    } else {
        reader.emit(FixedOp::RankOf, {reader.destination(0, Type::U32)}, {address}, tag);
    }
}

} // namespace cuprum::emulator::decoding
