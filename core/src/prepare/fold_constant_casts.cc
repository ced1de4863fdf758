// y = Cast(w)   →   initializer y
// A widened weight that ends up in float after all gets its Cast back before the model is written (restore_casts), so
// that folding never makes a file larger. Casts of one tensor to one type become one tensor.
#include <cstring>
#include <map>
#include <utility>

#include "kernels/quantize_kernels.h"
#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using onnx::TensorProto;

template <class T, class From>
void store_as(std::span<const From> in, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const T value = static_cast<T>(in[i]);
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

// Casts whose result every platform agrees on: between float types without double rounding, and from integers.
bool can_fold(int from, int to) {
  if (from == TensorProto::FLOAT16 || from == TensorProto::BFLOAT16)
    return to == TensorProto::FLOAT || to == TensorProto::DOUBLE;
  if (from == TensorProto::FLOAT)
    return to == TensorProto::DOUBLE || to == TensorProto::FLOAT16 || to == TensorProto::BFLOAT16;
  if (from == TensorProto::DOUBLE) return to == TensorProto::FLOAT;
  if (is_integer_type(from))
    return to == TensorProto::FLOAT || to == TensorProto::DOUBLE || to == TensorProto::INT64 ||
           to == TensorProto::INT32;
  return false;
}

void convert(const TensorStore& store, const TensorProto& source, int to, std::span<std::uint8_t> out) {
  if (is_integer_type(source.data_type())) {
    const auto values = tensor_as_int64(store, source);
    const std::span<const std::int64_t> in(values);
    if (to == TensorProto::FLOAT) return store_as<float>(in, out);
    if (to == TensorProto::DOUBLE) return store_as<double>(in, out);
    if (to == TensorProto::INT32) return store_as<std::int32_t>(in, out);
    return store_as<std::int64_t>(in, out);
  }
  const auto values = tensor_as_float(store, source);
  const std::span<const float> in(values);
  if (to == TensorProto::FLOAT) return store_as<float>(in, out);
  if (to == TensorProto::DOUBLE) return store_as<double>(in, out);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint16_t half = to == TensorProto::FLOAT16 ? float_to_half(in[i]) : float_to_bfloat16(in[i]);
    std::memcpy(out.data() + i * sizeof(half), &half, sizeof(half));
  }
}

TensorProto cast_tensor(Model& model, const TensorProto& source, int to, const std::string& name) {
  const std::uint64_t size = bytes_for(to, element_count(source));
  // Back to what it was before it was widened: the same bytes, which are stored once.
  if (auto narrow = narrow_form(source); narrow && narrow->data_type() == to) {
    narrow->set_name(name);
    return *narrow;
  }
  TensorProto result;
  result.set_name(name);
  result.set_data_type(to);
  *result.mutable_dims() = source.dims();
  const auto id = stored_id(source);
  if (!id) {
    std::string raw(size, '\0');
    convert(model.store(), source, to, {reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()});
    result.set_raw_data(std::move(raw));
    return result;
  }
  // Converted each time it is read, so that a large table never stands in memory twice.
  const auto produced = model.store().add_computed(
      size, [&store = model.store(), source, to](std::span<std::uint8_t> out) { convert(store, source, to, out); });
  set_stored_id(result, produced);
  if (size > tensor_byte_size(source)) mark_widened(result, source.data_type(), *id);
  return result;
}

}  // namespace

void run_fold_constant_casts(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  std::unordered_set<const onnx::NodeProto*> dead;
  std::map<std::pair<const Value*, int>, Value*> folded;
  for (const NodeAt& at : view.nodes()) {
    if (!is_op(*at.node, "Cast") || at.node->output_size() != 1) continue;
    const Value* in = view.input(at, 0);
    Value* out = view.find(*at.scope, at.node->output(0));
    if (!in || !in->constant() || !out || out->graph_outputs > 0) continue;
    const int to = static_cast<int>(int_attribute(*at.node, "to", 0));
    if (!can_fold(in->initializer->data_type(), to)) continue;
    // One result however many Casts there are, stored where the source is: branches of an If share it.
    Value*& result = folded[{in, to}];
    if (!result && in->scope == at.scope) {
      result = out;
    } else if (!result) {
      const std::string name = analysis->names().fresh(out->name);
      result = &in->scope->values[name];
      result->name = name;
      result->scope = in->scope;
    }
    if (result != out && !redirect(view, *out, *result)) continue;
    if (!result->initializer) {
      TensorProto tensor = cast_tensor(model, *in->initializer, to, result->name);
      result->initializer = in->scope->graph->add_initializer();
      result->initializer->Swap(&tensor);
      result->producer = nullptr;
    }
    if (result != out) result->uses.insert(result->uses.end(), out->uses.begin(), out->uses.end());
    dead.insert(at.node);
    ++report.changes;
  }
  remove_nodes(view, dead);
}

}  // namespace octet
