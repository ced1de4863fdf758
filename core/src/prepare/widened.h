// Stored tensors that a folded Cast made wider than what the file held.
#pragma once

#include <optional>

#include "model/tensor_access.h"

namespace octet {

// Notes on the marker of `tensor` that the file holds it as `narrow_type` under `narrow`.
void mark_widened(onnx::TensorProto& tensor, int narrow_type, TensorStore::Id narrow);

// Takes such a note off again.
void unmark_widened(onnx::TensorProto& tensor);

// Marks are ours alone: a file that brings some is not believed.
void unmark_all(onnx::ModelProto& model);

// The tensor as the file held it, without a name; nothing when it is no widened one.
std::optional<onnx::TensorProto> narrow_form(const onnx::TensorProto& tensor);

// Gives every tensor still widened its narrow form and its Cast back. Returns how many.
int restore_casts(Model& model);

}  // namespace octet
