// Static mode on models that no runtime takes.
#include <gmock/gmock.h>

#include "static_pictures.h"

namespace octet {
namespace {

using namespace pictures;

// Files hold what they like.
TEST(StaticHostile, OperandsOfOddRanksAreStoodEverywhere) {
  for (const char* shape : {"", "[400]", "[0]", "[20,20]", "[4,10,10]", "[4,5,5,4]", "[2,2,10,5,2]", "[0,400]",
                            "[400,0,3]", "[1,1,1,1,1,1,400]"}) {
    for (const char* node : {"y = MatMul(x, w)",
                             "y = MatMul(w, x)",
                             "y = MatMul(x)",
                             "y = Gemm<transB = 1>(x, w, w)",
                             "y = Gemm(x, w, b)",
                             "y = Gemm<transA = 1>(w, x)",
                             "y = Conv<group = 0>(x, w, w)",
                             "y = Conv(x, w, b)",
                             "y = Conv(x, b, w)",
                             "y = ConvTranspose<group = -3>(x, w)",
                             "y = ConvTranspose<group = 0>(x, w, b)",
                             "y = ConvTranspose(x, w, w)",
                             "y = Add(x, w)",
                             "y = Add(w, x)",
                             "y = Add(x)",
                             "y = Concat<axis = 1000>(w, x)",
                             "y = Where(x, x, w)",
                             "y, = Split(x)",
                             "y, z = Split<axis = 55>(x, w)",
                             "y = Resize<mode = \"nearest\">(x, w, w)",
                             "y = Pad(x, w)",
                             "y = Softmax<axis = 99>(x)",
                             "y = MaxPool(x)",
                             "y, z = MaxPool(x)",
                             "y = TopK(x, w)",
                             "y = ArgMax(x)",
                             "y = Clip(x, w, w)",
                             "p = Conv(x, w) q = Clip(p, w, b) y = Conv(q, w)",
                             "p = MatMul(x, w) y = MatMul(p, w)",
                             "p = Gemm(x, w) q = Relu(p) y = Gemm(q, w, b)",
                             "t = Transpose(w) y = Gemm(x, t)",
                             "y = LayerNormalization(x, w)",
                             "y = PRelu(x, w)",
                             "y = ReduceMean(x, w)"}) {
      for (const Format format : {Format::kQdq, Format::kQOperator}) {
        for (const bool asked : {false, true}) {
          const std::string text =
              std::string("g (float[n,32] x) => (float[n,32] y) <float") + shape + " w, float[0] b> { " + node + " }";
          PlanOptions options = static_options(format);
          Model model = model_of(text);
          if (asked) {
            for (const auto& entry : model.proto().graph().node()) options.op_types.push_back(entry.op_type());
          }
          try {
            const Quantizer quantizer(std::move(model), options);
            fixtures::save(quantizer.apply(with_ranges(quantizer.plan(), -1, 1)));
          } catch (const Error& error) {
            EXPECT_NE(code_name(error.code()), code_name(ErrorCode::kInternal)) << text << ": " << error.what();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace octet
