// A hash over what the model computes: operators with their attributes, names, declared shapes, stored tensors by their
// bytes. Where those bytes stand, and what is only said about the model, does not count.
#include <algorithm>
#include <array>
#include <cstring>

#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "octet/ranges.h"
#include "onnx/onnx_pb.h"

namespace octet {
namespace {

// Eight independent 64-bit words, so that a weight is hashed as fast as it is read. Not against forgery.
class Fingerprint final : public ByteSink {
 public:
  void append(std::span<const std::uint8_t> bytes) override {
    length_ += bytes.size();
    while (!bytes.empty()) {
      if (filled_ == 0 && bytes.size() >= kBlock) {
        take(bytes.data());
        bytes = bytes.subspan(kBlock);
        continue;
      }
      const std::size_t part = std::min(kBlock - filled_, bytes.size());
      std::copy_n(bytes.begin(), part, rest_.begin() + static_cast<std::ptrdiff_t>(filled_));
      filled_ += part;
      bytes = bytes.subspan(part);
      if (filled_ == kBlock) take(rest_.data()), filled_ = 0;
    }
  }

  void append(const std::string& text) {
    const std::uint64_t size = text.size();
    std::array<std::uint8_t, 8> head;
    for (std::size_t i = 0; i < head.size(); ++i) head[i] = static_cast<std::uint8_t>(size >> (8 * i));
    append(head);
    append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  std::string hex() {
    const std::uint64_t length = length_;
    const std::array<std::uint8_t, kBlock> zeros{};
    if (filled_ > 0) append({zeros.data(), kBlock - filled_});
    std::array<std::uint64_t, 2> result = {length, ~length};
    for (std::size_t i = 0; i < words_.size(); ++i) {
      result[0] = mix(result[0] ^ words_[i]);
      result[1] = mix(result[1] + words_[words_.size() - 1 - i]);
    }
    std::string text;
    for (const std::uint64_t word : result) {
      for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    }
    return text;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 31) * 0xD6E8FEB86659FD93u;
    x = (x ^ x >> 29) * 0xA0761D6478BD642Fu;
    return x ^ x >> 32;
  }

  void take(const std::uint8_t* bytes) {
    std::array<std::uint64_t, 8> block;
    std::memcpy(block.data(), bytes, kBlock);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t x = words_[i] ^ block[i];
      words_[i] = (x << 29 | x >> 35) * 0x9FB21C651E98DF25u;
    }
  }

  std::array<std::uint64_t, 8> words_ = {1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::uint8_t, kBlock> rest_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

class Walk {
 public:
  Walk(const TensorStore& store, Fingerprint& hash) : store_(store), hash_(hash) {}

  // Takes the tensors' bytes, and leaves of the graph what is to be hashed beside them.
  void graph(onnx::GraphProto& graph) {
    graph.clear_doc_string();
    graph.clear_metadata_props();
    for (auto& t : *graph.mutable_initializer()) tensor(t);
    for (auto& t : *graph.mutable_sparse_initializer()) sparse(t);
    nodes(*graph.mutable_node());
  }

  void nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& all) {
    for (auto& node : all) {
      node.clear_doc_string();
      node.clear_metadata_props();
      for (auto& attribute : *node.mutable_attribute()) {
        attribute.clear_doc_string();
        if (attribute.has_t()) tensor(*attribute.mutable_t());
        if (attribute.has_sparse_tensor()) sparse(*attribute.mutable_sparse_tensor());
        if (attribute.has_g()) graph(*attribute.mutable_g());
        for (auto& t : *attribute.mutable_tensors()) tensor(t);
        for (auto& t : *attribute.mutable_sparse_tensors()) sparse(t);
        for (auto& g : *attribute.mutable_graphs()) graph(g);
      }
    }
  }

 private:
  void sparse(onnx::SparseTensorProto& both) {
    if (both.has_values()) tensor(*both.mutable_values());
    if (both.has_indices()) tensor(*both.mutable_indices());
  }

  void tensor(onnx::TensorProto& tensor) {
    if (tensor.data_type() != onnx::TensorProto::STRING) {
      if (const auto id = stored_id(tensor))
        store_.append_to(*id, hash_);
      else
        hash_.append(tensor_bytes(store_, tensor).bytes());
    }
    onnx::TensorProto left;
    left.set_name(tensor.name());
    left.set_data_type(tensor.data_type());
    left.mutable_dims()->Swap(tensor.mutable_dims());
    left.mutable_string_data()->Swap(tensor.mutable_string_data());
    tensor.Swap(&left);
  }

  const TensorStore& store_;
  Fingerprint& hash_;
};

}  // namespace

std::string fingerprint_of(const Model& model) {
  Fingerprint hash;
  Walk walk(model.store(), hash);
  onnx::GraphProto graph = model.proto().graph();
  walk.graph(graph);
  hash.append(graph.SerializeAsString());
  for (onnx::FunctionProto function : model.proto().functions()) {
    function.clear_doc_string();
    function.clear_metadata_props();
    walk.nodes(*function.mutable_node());
    hash.append(function.SerializeAsString());
  }
  for (const auto& import : model.proto().opset_import()) hash.append(import.SerializeAsString());
  return hash.hex();
}

}  // namespace octet
