// In units of the scale, with integers at the levels: the error is r = u - round(u) between the lowest level a and the
// highest b, u - a below and u - b above. The mean of its square over a slice is an integral of r², piece by piece.
#include "calibrate/quantization_noise.h"

#include <algorithm>

#include "calibrate/logarithm.h"
#include "octet/measure.h"
#include "onnx/onnx_pb.h"
#include "quantize/weight_params.h"

namespace octet {
namespace {

// For |u| < 2^51: sums near the constant have a spacing of one, ties to even.
double rounded(double u) {
  constexpr double kShift = 0x1.8p52;
  return (u + kShift) - kShift;
}

// ∫ x² from x to y.
double integral_of_square(double x, double y) { return (y - x) * (x * x + x * y + y * y) / 3; }

// ∫ (u - round(u))² from x to y.
double integral_of_rounding(double x, double y) {
  const double kx = rounded(x), ky = rounded(y);
  const double rx = x - kx, ry = y - ky;
  if (kx == ky) return integral_of_square(rx, ry);
  return (ky - kx) / 12 + (ry * ry * ry - rx * rx * rx) / 3;
}

double square_at(double u, double a, double b) {
  const double r = u < a ? u - a : u > b ? u - b : u - rounded(u);
  return r * r;
}

double mean_square(double x, double y, double a, double b) {
  if (x == y) return square_at(x, a, b);
  double sum = 0;
  if (x < a) sum += integral_of_square(x - a, std::min(y, a) - a);
  if (y > b) sum += integral_of_square(std::max(x, b) - b, y - b);
  const double from = std::max(x, a), to = std::min(y, b);
  if (from < to) sum += integral_of_rounding(from, to);
  return sum / (y - x);
}

}  // namespace

double QuantizationNoise::of(Interval range, double limit) const {
  TensorPlan plan;
  plan.type = type_;
  plan.symmetric = symmetric_;
  float scale = 1;
  std::int32_t zero_point = 0;
  choose_params(range.low, range.high, plan, onnx::TensorProto::FLOAT, scale, zero_point);
  const IntegerRange levels = integer_range(type_, false, false);
  const double a = levels.low - zero_point, b = levels.high - zero_point;
  const double step = scale, per_step = 1 / step;
  double sum = 0;
  for (const Slice& s : spread_.slices()) {
    sum += s.count * mean_square(s.low * per_step, s.high * per_step, a, b);
    if (sum * step * step >= limit) break;  // no term is negative
  }
  return sum * step * step;
}

double sqnr_db(double signal, double noise) {
  constexpr double kTenPerLogTen = 4.3429448190325182765;  // 10 / log 10
  if (noise <= 0) return kSqnrEqual;
  if (signal <= 0) return -kSqnrEqual;
  const double db = kTenPerLogTen * (natural_log(signal) - natural_log(noise));
  return std::clamp(db, -kSqnrEqual, kSqnrEqual);
}

}  // namespace octet
