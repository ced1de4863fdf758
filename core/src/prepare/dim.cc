#include "prepare/dim.h"

#include <algorithm>
#include <iterator>

namespace octet {
namespace {

constexpr std::size_t kMaxTerms = 16, kMaxFactors = 8, kMaxText = 200;

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace

Dim::Dim(std::int64_t number) {
  if (number != 0) terms_[{}] = number;
}

Dim Dim::symbol(std::string_view name) {
  Dim dim;
  dim.terms_[{std::string(name)}] = 1;
  return dim;
}

std::optional<std::int64_t> Dim::number() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

bool Dim::at_least_zero() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const auto& term) {
    const auto& [factors, coefficient] = term;
    // A part such as floor((seq - 5)/2) may be.
    return coefficient >= 0 && std::none_of(factors.begin(), factors.end(), [](const std::string& factor) {
             return factor.find('-') != std::string::npos;
           });
  });
}

std::string Dim::text() const {
  if (terms_.empty()) return "0";
  std::string out;
  // The number comes last, as people write it.
  const auto write = [&](const Factors& factors, std::int64_t coefficient) {
    const bool negative = coefficient < 0;
    if (!out.empty())
      out += negative ? " - " : " + ";
    else if (negative)
      out += "-";
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
    if (size != 1 || factors.empty()) out += std::to_string(size) + (factors.empty() ? "" : "*");
    for (std::size_t i = 0; i < factors.size(); ++i) out += (i ? "*" : "") + factors[i];
  };
  for (const auto& [factors, coefficient] : terms_) {
    if (!factors.empty()) write(factors, coefficient);
  }
  const auto constant = terms_.find({});
  if (constant != terms_.end()) write({}, constant->second);
  return out;
}

std::optional<Dim> Dim::combine(const Dim& a, const Dim& b, std::int64_t scale) {
  Dim sum = a;
  for (const auto& [factors, coefficient] : b.terms_) {
    std::int64_t scaled = 0;
    auto& entry = sum.terms_[factors];
    if (__builtin_mul_overflow(coefficient, scale, &scaled) || __builtin_add_overflow(entry, scaled, &entry))
      return std::nullopt;
    if (entry == 0) sum.terms_.erase(factors);
  }
  if (sum.terms_.size() > kMaxTerms) return std::nullopt;
  return sum;
}

std::optional<Dim> add(const Dim& a, const Dim& b) { return Dim::combine(a, b, 1); }
std::optional<Dim> subtract(const Dim& a, const Dim& b) { return Dim::combine(a, b, -1); }

std::optional<Dim> multiply(const Dim& a, const Dim& b) {
  Dim product;
  for (const auto& [left, x] : a.terms_) {
    for (const auto& [right, y] : b.terms_) {
      Dim::Factors factors;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(factors));
      std::int64_t coefficient = 0;
      auto& entry = product.terms_[factors];
      if (factors.size() > kMaxFactors || __builtin_mul_overflow(x, y, &coefficient) ||
          __builtin_add_overflow(entry, coefficient, &entry))
        return std::nullopt;
      if (entry == 0) product.terms_.erase(factors);
    }
  }
  if (product.terms_.size() > kMaxTerms) return std::nullopt;
  return product;
}

std::optional<Dim> divide_exactly(const Dim& a, const Dim& b) {
  if (b.terms_.empty()) return std::nullopt;
  // Long division by the greatest term; each step takes the greatest term of the rest away.
  const auto& lead = *b.terms_.rbegin();
  Dim rest = a, quotient;
  for (std::size_t step = 0; !rest.terms_.empty(); ++step) {
    const auto& top = *rest.terms_.rbegin();
    if (step > kMaxTerms || top.second % lead.second != 0 || lead.second == -1) return std::nullopt;
    Dim::Factors left;
    std::set_difference(top.first.begin(), top.first.end(), lead.first.begin(), lead.first.end(),
                        std::back_inserter(left));
    if (left.size() + lead.first.size() != top.first.size()) return std::nullopt;
    Dim part;
    part.terms_[left] = top.second / lead.second;
    const auto product = multiply(part, b);
    const auto sum = add(quotient, part);
    const auto next = product ? subtract(rest, *product) : std::nullopt;
    if (!sum || !next) return std::nullopt;
    quotient = *sum;
    rest = *next;
  }
  return quotient;
}

Dim Dim::part(const char* function, const Dim& a, const char* between, const Dim& b) {
  const auto wrapped = [](const Dim& dim, bool wrap) {
    return wrap && dim.terms_.size() > 1 ? "(" + dim.text() + ")" : dim.text();
  };
  const bool quotient = std::string_view(between) == "/";
  return symbol(std::string(function) + "(" + wrapped(a, quotient) + between + wrapped(b, quotient) + ")");
}

std::optional<Dim> divide_floor(const Dim& a, const Dim& b) {
  const auto x = a.number(), y = b.number();
  if (b.terms_.empty()) return std::nullopt;
  if (x && y) return *y == -1 ? subtract(Dim(), a) : std::optional<Dim>(floor_quotient(*x, *y));
  if (auto exact = divide_exactly(a, b)) return exact;
  Dim result = Dim::part("floor", a, "/", b);
  if (result.text().size() > kMaxText) return std::nullopt;
  return result;
}

std::optional<Dim> minimum(const Dim& a, const Dim& b) {
  if (a == b) return a;
  const auto x = a.number(), y = b.number();
  if (x && y) return std::min(*x, *y);
  const bool ordered = a.terms_ < b.terms_;
  Dim result = ordered ? Dim::part("min", a, ", ", b) : Dim::part("min", b, ", ", a);
  if (result.text().size() > kMaxText) return std::nullopt;
  return result;
}

std::optional<Dim> maximum(const Dim& a, const Dim& b) {
  if (a == b) return a;
  const auto x = a.number(), y = b.number();
  if (x && y) return std::max(*x, *y);
  const bool ordered = a.terms_ < b.terms_;
  Dim result = ordered ? Dim::part("max", a, ", ", b) : Dim::part("max", b, ", ", a);
  if (result.text().size() > kMaxText) return std::nullopt;
  return result;
}

bool is_capped(const Dim& a, const Dim& b) {
  // Either order, as minimum() writes it; the number must be written as text() does, so nothing else can match.
  const std::string text = a.text(), other = b.text();
  const std::string front = "min(" + other + ", ", back = ", " + other + ")";
  std::string_view number;
  if (text.starts_with(front) && text.ends_with(")")) {
    number = std::string_view(text).substr(front.size(), text.size() - front.size() - 1);
  } else if (text.starts_with("min(") && text.ends_with(back)) {
    number = std::string_view(text).substr(4, text.size() - 4 - back.size());
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !number.empty() && number != "0" && std::all_of(number.begin(), number.end(), digit);
}

std::optional<std::vector<std::int64_t>> numbers(const Dims& dims) {
  std::vector<std::int64_t> found;
  for (const Dim& dim : dims) {
    const auto number = dim.number();
    if (!number) return std::nullopt;
    found.push_back(*number);
  }
  return found;
}

}  // namespace octet
