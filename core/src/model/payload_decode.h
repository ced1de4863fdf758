// Typed tensor fields (float_data, int32_data …) turned into raw bytes, on demand and straight from the source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "octet/model.h"

namespace octet {

// A stretch of values of one field in the wire format.
struct PayloadSegment {
  std::uint64_t offset = 0, length = 0;
  bool tagged = false;  // each value follows a one-byte tag (not packed)
};

// Raw little-endian bytes of a tensor of `data_type`, whose values stand in `segments` of `source` in this order.
// The number of values and the form of every varint were checked before.
TensorStore::Produce decode_payload(std::shared_ptr<const ByteSource> source, std::string name, int data_type,
                                    std::vector<PayloadSegment> segments);

// Stores the low `width` bytes of an integer; a bool becomes 0 or 1.
void put_integer(std::uint64_t value, int data_type, unsigned width, std::uint8_t* out);

}  // namespace octet
