#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/sample_files.h"

namespace octet {
namespace {

constexpr std::size_t kMaxHeader = std::size_t{64} << 10;
constexpr std::size_t kMaxRank = 64;

[[noreturn]] void fail(const std::string& name, const std::string& what) { throw Error(ErrorCode::kData, name, what); }

// The header is a Python dict literal with three keys: a dtype (a string, or a list for structured arrays), a truth
// value and a tuple of integers. Only that much of Python is understood.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        skip_space();
        if (peek() != '\'' && peek() != '"') fail(name_, "is a structured array; only plain numbers can be read");
        descr = string();
      } else if (key == "fortran_order") {
        fortran_order = truth();
      } else if (key == "shape") {
        shape = tuple();
      } else {
        malformed();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !fortran_order || !shape) malformed();
  }

  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;

 private:
  [[noreturn]] void malformed() const { fail(name_, "has a malformed .npy header"); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char wanted) {
    skip_space();
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) malformed();
  }
  std::string_view string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') malformed();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed();
    const std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }
  bool truth() {
    skip_space();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    malformed();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, fault] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (fault != std::errc{} || value < 0 || result.size() == kMaxRank) malformed();
      at_ += static_cast<std::size_t>(end - begin);
      accept('L');  // Python 2 wrote long integers so
      result.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

int type_of(std::string_view descr, const std::string& name) {
  const std::string_view kind = descr.empty() ? descr : descr.substr(1);
  if (kind == "f4") return kFloat;
  if (kind == "f8") return kDouble;
  if (kind == "f2") return kFloat16;
  if (kind == "i1") return kInt8;
  if (kind == "i2") return kInt16;
  if (kind == "i4") return kInt32;
  if (kind == "i8") return kInt64;
  if (kind == "u1") return kUint8;
  if (kind == "u2") return kUint16;
  if (kind == "u4") return kUint32;
  if (kind == "u8") return kUint64;
  if (kind == "b1" || descr == "?") return kBool;
  if (kind.substr(0, 1) == "O") fail(name, "holds Python objects; save plain arrays of numbers instead");
  fail(name, "has elements of type '" + std::string(descr) + "'; floats, integers and bool can be read");
}

void swap_bytes(std::vector<std::uint8_t>& bytes, std::size_t size) {
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
  }
}

// Column-major to row-major: walks the result in order and follows the source with per-axis strides.
std::vector<std::uint8_t> to_row_major(const std::vector<std::uint8_t>& source, const std::vector<std::int64_t>& dims,
                                       std::size_t size) {
  std::vector<std::uint8_t> result(source.size());
  const std::size_t rank = dims.size();
  std::vector<std::size_t> strides(rank), index(rank, 0);
  std::size_t stride = size;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(dims[axis]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to + size <= result.size(); to += size) {
    std::memcpy(result.data() + to, source.data() + from, size);
    for (std::size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<std::size_t>(dims[axis])) break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

std::optional<std::string> npz_key(std::string_view entry) {
  constexpr std::string_view kSuffix = ".npy";
  if (entry.size() <= kSuffix.size() || !entry.ends_with(kSuffix)) return {};
  return std::string(entry.substr(0, entry.size() - kSuffix.size()));
}

std::string npz_array_name(const std::string& file, const std::string& key) { return file + ": '" + key + "'"; }

Tensor parse_npy(std::span<const std::uint8_t> bytes, const std::string& name) {
  static constexpr std::uint8_t kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.size() < 10 || !std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin())) {
    fail(name, "is no .npy array");
  }
  const unsigned version = bytes[6];
  if (version < 1 || version > 3) fail(name, "has .npy version " + std::to_string(version) + "; 1 to 3 are known");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::size_t header = 0;
  if (bytes.size() < 8 + length_bytes) fail(name, "ends inside its header");
  for (std::size_t i = 0; i < length_bytes; ++i) header |= std::size_t{bytes[8 + i]} << (8 * i);
  const std::size_t start = 8 + length_bytes;
  if (header > kMaxHeader || header > bytes.size() - start) fail(name, "ends inside its header");
  HeaderParser parser({reinterpret_cast<const char*>(bytes.data()) + start, header}, name);
  parser.parse();

  Tensor tensor{type_of(*parser.descr, name), *parser.shape, {}};
  const auto payload = bytes.subspan(start + header);
  std::uint64_t wanted = 0;
  try {
    wanted = tensor_size(tensor.type, tensor.dims);
  } catch (const Error& error) {
    fail(name, error.problem());
  }
  if (payload.size() < wanted) {
    fail(name, "is " + describe(tensor.type, tensor.dims) + " but holds " + std::to_string(payload.size()) +
                   " bytes instead of " + std::to_string(wanted));
  }
  tensor.bytes.assign(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(wanted));
  const std::size_t size = dtype_size(tensor.type);
  if (parser.descr->front() == '>' && size > 1) swap_bytes(tensor.bytes, size);
  if (*parser.fortran_order && tensor.dims.size() > 1) tensor.bytes = to_row_major(tensor.bytes, tensor.dims, size);
  return tensor;
}

}  // namespace octet
