// What a hostile model file goes through: loading, facts, preparation, every mode of quantization, writing. Only
// octet::Error may come out of it, and never one that blames Octet itself. Links with libFuzzer (-fsanitize=fuzzer) or
// the plain driver beside this file.
#include "fuzz/load_fuzz.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "octet/error.h"
#include "octet/quantizer.h"

namespace octet::fuzz {
namespace {

std::vector<PlanOptions> ways() {
  std::vector<PlanOptions> all(5);
  all[0].target = Target::kX64;
  all[1].mode = Mode::kWeights;
  all[2].mode = Mode::kWeights;
  all[2].target = Target::kX64;
  all[2].weight_type = QuantType::kUint4;
  all[3].weight_type = QuantType::kUint8;
  all[3].op_types = {"Conv", "MatMul", "Gemm", "LSTM", "Attention"};
  all[4].mode = Mode::kWeights;
  all[4].target = Target::kX64;
  all[4].weight_type = QuantType::kInt16;
  all[4].nodes_to_quantize = {"op:*"};
  return all;
}

// Counts and forgets.
class NullSink final : public ByteSink {
 public:
  void append(std::span<const std::uint8_t> bytes) override { size += bytes.size(); }
  std::uint64_t size = 0;
};

}  // namespace

Outcome guarded(const std::function<void()>& work) {
  try {
    work();
    return Outcome::kDone;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) throw std::logic_error(std::string("blames itself: ") + error.what());
    if (std::string(error.what()).find('\n') != std::string::npos) throw std::logic_error("an error of two lines");
    return Outcome::kRefused;
  }
}

void write(const Model& model) {
  NullSink sink;
  const SaveResult result = save_model(model, sink);
  if (result.model_bytes != sink.size) throw std::logic_error("the file has another size than was said");
}

Outcome run(std::span<const std::uint8_t> bytes) {
  return guarded([&] {
    const Model model =
        load_model(std::make_shared<MemorySource>(std::vector<std::uint8_t>(bytes.begin(), bytes.end())), "fuzz.onnx");
    Model copy = model.clone();
    facts_to_json(facts_of(copy));
    guarded([&] { write(model); });
    guarded([&] { cover_shapes(copy); });
    guarded([&] {
      Model prepared = model.clone();
      prepare(prepared);
      describe_values(prepared);
      write(prepared);
    });
    // Two ways for each input: all of them would take the time of the others.
    const auto all = ways();
    for (std::size_t i = 0; i < 2; ++i) {
      const PlanOptions& options = all[(bytes.size() + i * 2) % all.size()];
      guarded([&] {
        Quantizer quantizer(model.clone(), options);
        Plan plan = plan_from_json(plan_to_json(quantizer.plan()));
        quantizer.sizes();
        write(quantizer.apply(plan));
        if (plan.nodes.empty()) return;
        demote(plan, plan.nodes[bytes.size() % plan.nodes.size()].node, "fuzz");
        write(quantizer.apply(plan));
      });
    }
  });
}

}  // namespace octet::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octet::fuzz::run({data, size});
  return 0;
}
