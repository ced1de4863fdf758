// Models small enough to read, for tests that need something to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "octet/tensor.h"

namespace octet::tiny {

using Bytes = std::vector<std::uint8_t>;

// y[batch,3] = x[batch,4] · W + b, with `nudge` added to every weight: a candidate that drifted.
Bytes matmul(float nudge = 0);
// The same, its weights in `file_name` beside the model; returns the model, and the content of that file.
Bytes matmul_external(const std::string& file_name, Bytes& external);
// out = Identity(in), one element type and shape (-1: symbol "d<axis>").
Bytes identity(int type, const std::vector<std::int64_t>& dims);
// y = Reshape(x[1,length], [1,4,8]): runs with length 32 alone.
Bytes fixed_reshape();
// y = Gather(table[64,5], input_ids[batch,seq]) · attention_mask, both int64.
Bytes token_table();
// A node of a domain no runtime knows.
Bytes custom_operator();
// Divides by zero: NaN in, out of matmul's shape.
Bytes not_finite();

void write(const std::filesystem::path& path, const Bytes& bytes);

Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values);
Tensor ints(std::vector<std::int64_t> dims, const std::vector<std::int64_t>& values);

// A folder of its own for one test, removed with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
  std::filesystem::path path;
};

}  // namespace octet::tiny
