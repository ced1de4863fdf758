// A size that is a number or an expression of named ones: a polynomial with integer coefficients over symbols such as
// `seq` and over parts that are no polynomial, such as floor(seq/2). Sums and products of the same parts come out equal
// however they were built, which is what lets a pass see that two shapes are the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octet {

class Dim {
 public:
  Dim() = default;  // 0
  Dim(std::int64_t number);
  static Dim symbol(std::string_view name);

  std::optional<std::int64_t> number() const;
  // Whether it cannot be negative: names stand for sizes, so sums of products of them without a minus cannot.
  bool at_least_zero() const;
  bool is(std::int64_t value) const { return number() == value; }
  // As ONNX's dim_param shows it: "2*seq + 1".
  std::string text() const;

  friend bool operator==(const Dim&, const Dim&) = default;

  // Nothing when a coefficient leaves 64 bits or the expression grows past what is useful.
  friend std::optional<Dim> add(const Dim& a, const Dim& b);
  friend std::optional<Dim> subtract(const Dim& a, const Dim& b);
  friend std::optional<Dim> multiply(const Dim& a, const Dim& b);
  // The whole quotient where `b` divides `a` as a polynomial; nothing otherwise.
  friend std::optional<Dim> divide_exactly(const Dim& a, const Dim& b);
  // Rounded towards negative infinity, as a named part where it is no polynomial. Nothing for b == 0.
  friend std::optional<Dim> divide_floor(const Dim& a, const Dim& b);
  friend std::optional<Dim> minimum(const Dim& a, const Dim& b);
  friend std::optional<Dim> maximum(const Dim& a, const Dim& b);
  // Whether `a` is the minimum of `b` and a number above 0.
  friend bool is_capped(const Dim& a, const Dim& b);

 private:
  using Factors = std::vector<std::string>;  // sorted; a power repeats its symbol; empty for the number
  // By degree first: then the greatest term of a product is the product of the greatest terms, as division needs.
  struct ByDegree {
    bool operator()(const Factors& a, const Factors& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
  };
  static std::optional<Dim> combine(const Dim& a, const Dim& b, std::int64_t scale);
  static Dim part(const char* function, const Dim& a, const char* between, const Dim& b);
  std::map<Factors, std::int64_t, ByDegree> terms_;  // no zeros
};

std::optional<Dim> add(const Dim& a, const Dim& b);
std::optional<Dim> subtract(const Dim& a, const Dim& b);
std::optional<Dim> multiply(const Dim& a, const Dim& b);
std::optional<Dim> divide_exactly(const Dim& a, const Dim& b);
std::optional<Dim> divide_floor(const Dim& a, const Dim& b);
std::optional<Dim> minimum(const Dim& a, const Dim& b);
std::optional<Dim> maximum(const Dim& a, const Dim& b);
bool is_capped(const Dim& a, const Dim& b);

using Dims = std::vector<Dim>;

// All of them as numbers; nothing when one is not.
std::optional<std::vector<std::int64_t>> numbers(const Dims& dims);

}  // namespace octet
