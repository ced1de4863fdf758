// What decides whether bytes are a model at all, and one that this build understands.
#pragma once

#include <string>

#include "model/wire_reader.h"
#include "onnx/onnx_pb.h"

namespace octet {

// Throws Error(kMalformed) for an empty file and for well-known files that are something else.
void check_is_protobuf(WireReader& reader);

// Throws for IR versions and opsets that are missing, too old or too new.
void check_versions(const onnx::ModelProto& proto, const std::string& name);

}  // namespace octet
