// What the passes share that put one operator in place of a block.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "octet/prepare.h"
#include "prepare/blocks.h"
#include "prepare/shapes.h"

namespace octet {

// Input and everything between are float32 and of the rank they are written for, its constants those of the formula as
// far as float32 tells, and none of them adds an axis to the output.
bool is_plain_float(const Block& block, const ShapeFacts& x);

// Makes the block's last node this operator: it keeps its name and output, and what was said of the other nodes, which
// are dead now.
onnx::NodeProto& replace_block(const Block& block, std::string_view op, const std::vector<std::string>& inputs,
                               std::unordered_set<const onnx::NodeProto*>& dead);

// A note, said once.
void decline(PassReport& report, const std::string& note);

}  // namespace octet
