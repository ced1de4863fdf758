// Operators that pick or place elements by index.
#include <cstring>

#include "prepare/evaluate_call.h"

namespace octet::kernels {
namespace {

// Reads element i of an index tensor, negative ones counted from the end of `dim`; -1 when it lies outside.
class Indices {
 public:
  explicit Indices(const Operand* operand) {
    if (operand && operand->type == kInt64) longs_ = elements<std::int64_t>(*operand), valid_ = true;
    if (operand && operand->type == kInt32) ints_ = elements<std::int32_t>(*operand), valid_ = true;
  }
  bool valid() const { return valid_; }
  std::int64_t at(std::size_t i, std::int64_t dim) const {
    const std::int64_t index = ints_.empty() ? longs_[i] : ints_[i];
    if (index < -dim || index >= dim) return -1;
    return index < 0 ? index + dim : index;
  }

 private:
  std::span<const std::int64_t> longs_;
  std::span<const std::int32_t> ints_;
  bool valid_ = false;
};

std::size_t product(std::span<const std::int64_t> dims) {
  return static_cast<std::size_t>(product_of(dims).value_or(0));
}

// Offsets, in blocks, that tuples of indices along the first axes of `dims` name; nothing when one lies outside.
std::optional<std::size_t> offset_of(const Indices& indices, std::size_t first, std::span<const std::int64_t> dims) {
  std::size_t offset = 0;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::int64_t index = indices.at(first + k, dims[k]);
    if (index < 0) return std::nullopt;
    offset = offset * static_cast<std::size_t>(dims[k]) + static_cast<std::size_t>(index);
  }
  return offset;
}

bool reduces(const Call& call) {
  const auto* reduction = find_attribute(call.node, "reduction");
  return reduction && reduction->s() != "none";
}

}  // namespace

Results gather(const Call& call) {
  const Operand *in = call.input(0), *at = call.input(1);
  const Indices indices(at);
  if (!in || !indices.valid()) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), in->dims.size());
  if (!axis) return std::nullopt;
  const auto all = std::span(in->dims);
  Sizes dims(in->dims.begin(), in->dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  dims.insert(dims.end(), at->dims.begin(), at->dims.end());
  dims.insert(dims.end(), in->dims.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, in->dims.end());
  auto out = blank(call, in->type, std::move(dims));
  if (!out || out->bytes.empty()) return only(std::move(out));
  const std::size_t rows = product(all.first(*axis)), count = product(at->dims),
                    block = product(all.subspan(*axis + 1)) * element_width(in->type);
  const std::int64_t dim = in->dims[*axis];
  std::uint8_t* to = out->bytes.data();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < count; ++i, to += block) {
      const std::int64_t index = indices.at(i, dim);
      if (index < 0) return std::nullopt;
      std::memcpy(to,
                  in->bytes.data() + (row * static_cast<std::size_t>(dim) + static_cast<std::size_t>(index)) * block,
                  block);
    }
  }
  return only(std::move(out));
}

Results gather_elements(const Call& call) {
  const Operand *in = call.input(0), *at = call.input(1);
  const Indices indices(at);
  if (!in || !indices.valid() || in->dims.size() != at->dims.size()) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), in->dims.size());
  if (!axis) return std::nullopt;
  for (std::size_t k = 0; k < in->dims.size(); ++k) {
    if (k != *axis && at->dims[k] > in->dims[k]) return std::nullopt;
  }
  auto out = blank(call, in->type, at->dims);
  if (!out) return std::nullopt;
  Sizes strides = strides_of(in->dims);
  const std::int64_t along = strides[*axis];
  strides[*axis] = 0;
  const std::size_t width = element_width(in->type);
  bool inside = true;
  walk<1>(out->dims, {strides}, [&](std::size_t i, const auto& offsets) {
    const std::int64_t index = indices.at(i, in->dims[*axis]);
    inside = inside && index >= 0;
    if (!inside) return;
    std::memcpy(out->bytes.data() + i * width,
                in->bytes.data() + static_cast<std::size_t>(offsets[0] + index * along) * width, width);
  });
  return inside ? only(std::move(out)) : std::nullopt;
}

Results gather_nd(const Call& call) {
  const Operand *in = call.input(0), *at = call.input(1);
  const Indices indices(at);
  const std::int64_t batch_dims = call.attribute("batch_dims", 0);
  if (!in || !indices.valid() || at->dims.empty() || batch_dims < 0) return std::nullopt;
  const auto batch = static_cast<std::size_t>(batch_dims), depth = static_cast<std::size_t>(at->dims.back());
  if (batch >= at->dims.size() || batch > in->dims.size() || depth == 0 || depth > in->dims.size() - batch)
    return std::nullopt;
  if (!std::equal(in->dims.begin(), in->dims.begin() + batch_dims, at->dims.begin())) return std::nullopt;
  const auto all = std::span(in->dims);
  Sizes dims(at->dims.begin(), at->dims.end() - 1);
  dims.insert(dims.end(), in->dims.begin() + static_cast<std::ptrdiff_t>(batch + depth), in->dims.end());
  auto out = blank(call, in->type, std::move(dims));
  if (!out || out->bytes.empty()) return only(std::move(out));
  const std::size_t batches = product(all.first(batch)),
                    per_batch = product(all.subspan(batch)) * element_width(in->type),
                    block = product(all.subspan(batch + depth)) * element_width(in->type),
                    tuples = product(at->dims) / depth;
  for (std::size_t i = 0; i < tuples; ++i) {
    const auto offset = offset_of(indices, i * depth, all.subspan(batch, depth));
    if (!offset) return std::nullopt;
    std::memcpy(out->bytes.data() + i * block, in->bytes.data() + i / (tuples / batches) * per_batch + *offset * block,
                block);
  }
  return only(std::move(out));
}

Results scatter_nd(const Call& call) {
  const Operand *in = call.input(0), *at = call.input(1), *updates = call.input(2);
  const Indices indices(at);
  if (!in || !indices.valid() || !updates || updates->type != in->type || at->dims.empty() || reduces(call) ||
      in->bytes.size() > call.max_bytes)
    return std::nullopt;
  const auto depth = static_cast<std::size_t>(at->dims.back());
  if (depth == 0 || depth > in->dims.size()) return std::nullopt;
  Sizes wanted(at->dims.begin(), at->dims.end() - 1);
  wanted.insert(wanted.end(), in->dims.begin() + static_cast<std::ptrdiff_t>(depth), in->dims.end());
  if (updates->dims != wanted) return std::nullopt;
  Tensor out{in->type, in->dims, {in->bytes.begin(), in->bytes.end()}};
  const auto all = std::span(in->dims);
  const std::size_t block = product(all.subspan(depth)) * element_width(in->type), tuples = product(at->dims) / depth;
  for (std::size_t i = 0; i < tuples; ++i) {
    const auto offset = offset_of(indices, i * depth, all.first(depth));
    if (!offset) return std::nullopt;
    if (block > 0) std::memcpy(out.bytes.data() + *offset * block, updates->bytes.data() + i * block, block);
  }
  return only(std::move(out));
}

Results scatter_elements(const Call& call) {
  const Operand *in = call.input(0), *at = call.input(1), *updates = call.input(2);
  const Indices indices(at);
  if (!in || !indices.valid() || !updates || updates->type != in->type || updates->dims != at->dims ||
      at->dims.size() != in->dims.size() || reduces(call) || in->bytes.size() > call.max_bytes)
    return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", 0), in->dims.size());
  if (!axis) return std::nullopt;
  for (std::size_t k = 0; k < in->dims.size(); ++k) {
    if (k != *axis && at->dims[k] > in->dims[k]) return std::nullopt;
  }
  Tensor out{in->type, in->dims, {in->bytes.begin(), in->bytes.end()}};
  Sizes strides = strides_of(in->dims);
  const std::int64_t along = strides[*axis];
  strides[*axis] = 0;
  const std::size_t width = element_width(in->type);
  bool inside = true;
  walk<1>(at->dims, {strides}, [&](std::size_t i, const auto& offsets) {
    const std::int64_t index = indices.at(i, in->dims[*axis]);
    inside = inside && index >= 0;
    if (!inside) return;
    std::memcpy(out.bytes.data() + static_cast<std::size_t>(offsets[0] + index * along) * width,
                updates->bytes.data() + i * width, width);
  });
  return inside ? only(std::move(out)) : std::nullopt;
}

Results one_hot(const Call& call) {
  const Operand *at = call.input(0), *values = call.input(2);
  const Indices indices(at);
  const auto depth = single_int(call.input(1));
  if (!indices.valid() || !depth || *depth < 1 || !values || values->dims != Sizes{2}) return std::nullopt;
  const auto axis = axis_of(call.attribute("axis", -1), at->dims.size() + 1);
  if (!axis) return std::nullopt;
  Sizes dims = at->dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis), *depth);
  auto out = blank(call, values->type, std::move(dims));
  if (!out) return std::nullopt;
  const std::size_t width = element_width(values->type), inner = product(std::span(at->dims).subspan(*axis)),
                    hot = static_cast<std::size_t>(*depth), count = product(at->dims);
  for (std::size_t i = 0; i < out->bytes.size(); i += width)
    std::memcpy(out->bytes.data() + i, values->bytes.data(), width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t index = indices.at(i, *depth);
    if (index < 0) continue;  // outside: no value is on
    const std::size_t place = (i / inner * hot + static_cast<std::size_t>(index)) * inner + i % inner;
    std::memcpy(out->bytes.data() + place * width, values->bytes.data() + width, width);
  }
  return only(std::move(out));
}

Results non_zero(const Call& call) {
  const Operand* in = call.input(0);
  if (!in || in->dims.empty()) return std::nullopt;
  const auto found = [&]<class T>() -> Results {
    const auto values = elements<T>(*in);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != T{0}) places.push_back(i);
    }
    auto out =
        blank(call, kInt64, {static_cast<std::int64_t>(in->dims.size()), static_cast<std::int64_t>(places.size())});
    if (!out) return std::nullopt;
    const Sizes strides = strides_of(in->dims);
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        elements<std::int64_t>(*out)[axis * places.size() + i] =
            static_cast<std::int64_t>(places[i]) / strides[axis] % in->dims[axis];
      }
    }
    return only(std::move(out));
  };
  return in->type == kBool ? found.template operator()<std::uint8_t>() : with_number(in->type, found);
}

}  // namespace octet::kernels
