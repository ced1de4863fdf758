#include "octet/model.h"

#include "onnx/onnx_pb.h"

namespace octet {

Model::Model() : proto_(std::make_unique<onnx::ModelProto>()), store_(std::make_shared<TensorStore>()) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::clone() const {
  Model copy;
  *copy.proto_ = *proto_;
  copy.store_ = store_;
  copy.name = name;
  copy.file_bytes = file_bytes;
  return copy;
}

}  // namespace octet
