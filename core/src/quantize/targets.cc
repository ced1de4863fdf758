// The form in which weights-only storage costs no speed, per operator family and target.
// Measured on x64 with VNNI, one thread, against FP32 (native ONNX Runtime 1.30, onnxruntime-web 1.30):
//   MatMul 4096², one row: Cast → Mul 1.0× native, 1.0× web; DequantizeLinear 4-5× faster native, 25× slower web.
//   Convolutional detector: Cast → Mul 0.99× native, 1.0× web; DequantizeLinear 0.76× native.
//   Gather: the small table gathered, then dequantized: same time, less than half the memory, both.
#include "quantize/rules.h"

namespace octet {

Form weights_form(Family family, Target target) {
  const bool native = target == Target::kX64 || target == Target::kX64NoVnni || target == Target::kArm64;
  switch (family) {
    case Family::kMatMul:
      return native ? Form::kDequantize : Form::kFold;
    case Family::kGather:
      return Form::kGather;
    default:
      return Form::kFold;
  }
}

}  // namespace octet
