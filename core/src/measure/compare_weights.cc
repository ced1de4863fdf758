#include <algorithm>
#include <cstring>
#include <span>

#include "measure/layer_names.h"
#include "measure/stored_integers.h"
#include "model/graph_view.h"
#include "model/tensor_access.h"
#include "octet/layers.h"
#include "octet/measure.h"

namespace octet {
namespace {

using onnx::TensorProto;

bool may_stand_for_floats(int type) {
  return type == TensorProto::INT8 || type == TensorProto::UINT8 || type == TensorProto::INT16 ||
         type == TensorProto::UINT16 || type == TensorProto::INT4 || type == TensorProto::UINT4 ||
         type == TensorProto::INT32;
}

// Through the meter of all drift, in pieces: there is one formula, and it copies what it is given.
OutputDrift drift_of(std::span<const float> reference, std::span<const float> candidate) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  DriftMeter meter;
  const auto tensor = [](std::span<const float> values) {
    Tensor piece{kFloat, {static_cast<std::int64_t>(values.size())}, {}};
    piece.bytes.resize(values.size_bytes());
    if (!values.empty()) std::memcpy(piece.bytes.data(), values.data(), values.size_bytes());
    return piece;
  };
  for (std::size_t at = 0; at < reference.size(); at += kPiece) {
    const std::size_t count = std::min(kPiece, reference.size() - at);
    meter.add({{"", tensor(reference.subspan(at, count))}}, {{"", tensor(candidate.subspan(at, count))}});
  }
  const auto drifts = meter.result();
  return drifts.empty() ? OutputDrift{} : drifts.front();
}

std::vector<float> transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> result(values.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      result[column * rows + row] = values[row * columns + column];
  }
  return result;
}

class WeightMatcher {
 public:
  WeightMatcher(Model& reference, Model& candidate)
      : reference_(reference),
        candidate_(candidate),
        view_(reference.proto()),
        ids_(view_),
        other_(candidate.proto()) {}

  std::vector<WeightDrift> run(int& unmatched) {
    std::vector<WeightDrift> drifts;
    for (const auto& scope : other_.scopes()) {
      for (const TensorProto& tensor : scope->graph->initializer()) {
        const auto value = scope->values.find(tensor.name());
        if (value == scope->values.end() || !value->second.constant() || !may_stand_for_floats(tensor.data_type()))
          continue;
        const auto restored = restore_integers(candidate_, other_, value->second);
        if (!restored) continue;
        const Value* weight = weight_of(value->second, *restored);
        if (!weight || !add(*weight, value->second, *restored, drifts)) ++unmatched;
      }
    }
    return drifts;
  }

 private:
  const Value* weight_of(const Value& stored, const Restored& restored) const {
    for (const std::string* name : {&stored.name, &restored.value}) {
      for (const std::string& original : original_names(*name)) {
        for (const auto& scope : view_.scopes()) {
          const auto found = scope->values.find(original);
          if (found != scope->values.end() && is_weight(&found->second)) return &found->second;
        }
      }
    }
    // By place: the node of the same output, the input of the same number.
    if (!restored.reader || restored.reader->node->output_size() == 0) return nullptr;
    for (const std::string& output : original_names(restored.reader->node->output(0))) {
      const Value* made = view_.find(view_.main(), output);
      // A Relu or Clip that is left to rounding gives its value's name to the node in front of it.
      if (made && made->producer && (is_op(*made->producer, "Relu") || is_op(*made->producer, "Clip")))
        made = view_.find(view_.main(), made->producer->input(0));
      if (!made || !made->producer || made->producer->input_size() <= restored.reader->input) continue;
      const Value* weight = view_.find(view_.main(), made->producer->input(restored.reader->input));
      if (is_weight(weight)) return weight;
    }
    return nullptr;
  }

  static bool is_weight(const Value* value) {
    return value && value->constant() && is_float_type(value->initializer->data_type());
  }

  bool add(const Value& weight, const Value& stored, const Restored& restored, std::vector<WeightDrift>& drifts) const {
    const TensorProto& tensor = *weight.initializer;
    const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    const bool turned =
        dims.size() == 2 && restored.dims.size() == 2 && dims[0] == restored.dims[1] && dims[1] == restored.dims[0];
    if (element_count(tensor) != restored.values.size()) return false;
    const std::vector<float> values = tensor_as_float(reference_, tensor);
    std::optional<OutputDrift> best;
    if (dims == restored.dims || !turned) best = drift_of(values, restored.values);
    if (turned) {
      // A square matrix fits both ways; the wrong one shows.
      const auto other = drift_of(values, transposed(restored.values, static_cast<std::size_t>(restored.dims[0]),
                                                     static_cast<std::size_t>(restored.dims[1])));
      if (!best || other.sqnr_db > best->sqnr_db) best = other;
    }
    WeightDrift drift;
    drift.name = weight.name;
    drift.stored = stored.name;
    drift.type = type_name(stored.initializer->data_type());
    for (const Use& use : weight.uses) drift.nodes.push_back(ids_.of(*use.node));
    drift.elements = values.size();
    drift.sqnr_db = best->sqnr_db;
    drift.max_abs_error = best->max_abs_error;
    drift.max_abs = best->max_abs;
    drifts.push_back(std::move(drift));
    return true;
  }

  const Model& reference_;
  const Model& candidate_;
  GraphView view_;
  NodeIds ids_;
  GraphView other_;
};

}  // namespace

std::vector<WeightDrift> compare_weights(Model& reference, Model& candidate, int* unmatched) {
  int count = 0;
  auto drifts = WeightMatcher(reference, candidate).run(count);
  if (unmatched) *unmatched = count;
  return drifts;
}

}  // namespace octet
