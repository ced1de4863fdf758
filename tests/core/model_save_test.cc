// Saving while several threads make the tensors, and the helper that shares out work.
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>

#include "gmock/gmock.h"
#include "kernels/parallel.h"
#include "model/ordered_output.h"
#include "model/tensor_access.h"
#include "model_fixtures.h"

namespace octet {
namespace {

using namespace fixtures;  // NOLINT: the tests' own helpers
using onnx::TensorProto;

void add_computed(Model& model, const std::string& name, std::size_t size, TensorStore::Produce produce) {
  auto* tensor = model.proto().mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::UINT8);
  tensor->add_dims(static_cast<std::int64_t>(size));
  set_stored_id(*tensor, model.store().add_computed(size, std::move(produce)));
}

TensorStore::Produce noise_of(unsigned seed) {
  return [seed](std::span<std::uint8_t> out) {
    const Bytes bytes = noise(out.size(), seed);
    std::copy(bytes.begin(), bytes.end(), out.begin());
  };
}

TEST(ModelSave, BytesDoNotDependOnThreads) {
  Model model = load(small_model());
  for (unsigned i = 0; i < 60; ++i) {
    if (i % 7 == 0) {
      *model.proto().mutable_graph()->add_initializer() =
          make_tensor(model, "owned" + std::to_string(i), TensorProto::UINT8, {5000}, noise(5000, i));
    }
    add_computed(model, "w" + std::to_string(i), 2000 + (i * 7919) % 50000, noise_of(i));
  }
  const Bytes one = save(model);
  SaveOptions four;
  four.threads = 4;
  EXPECT_EQ(save(model, four), one);
  const auto saved = parse(one).graph();
  EXPECT_EQ(to_bytes(saved.initializer(1).raw_data()), noise(2000, 0));

  const auto outside = [&](unsigned threads) {
    SaveOptions options;
    options.external_data = true;
    options.threads = threads;
    MemorySink main, data;
    save_model(
        model, main, [&]() -> ByteSink& { return data; }, options);
    main.append(data.bytes());
    return main.bytes();
  };
  EXPECT_EQ(outside(1), outside(4));
}

// Tensors larger than the window come one at a time.
TEST(ModelSave, BoundsWhatWaits) {
  if (!have_threads()) GTEST_SKIP() << "no threads here";
  TensorStore store;
  std::vector<OutputStep> steps;
  std::mutex mutex;
  std::uint64_t made = 0, most = 0;
  class CountingSink final : public ByteSink {
   public:
    explicit CountingSink(std::function<void(std::uint64_t)> wrote) : wrote_(std::move(wrote)) {}
    void append(std::span<const std::uint8_t> bytes) override { wrote_(bytes.size()); }

   private:
    std::function<void(std::uint64_t)> wrote_;
  };
  CountingSink sink([&](std::uint64_t size) {
    const std::lock_guard lock(mutex);
    made -= size;
  });
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t size = (i % 4 == 3 ? 5 : 1) * (kAhead / 4);
    const auto id = store.add_computed(size, [&](std::span<std::uint8_t> out) {
      const std::lock_guard lock(mutex);
      made += out.size();
      most = std::max(most, made);
    });
    steps.push_back({&sink, {}, true, id});
  }
  write_in_order(store, steps, 4);
  EXPECT_EQ(made, 0u);
  EXPECT_LE(most, kAhead / 4 * 5);
}

TEST(ModelSave, ErrorsReachTheCaller) {
  for (const unsigned threads : {1u, 4u}) {
    Model model = load(small_model());
    for (unsigned i = 0; i < 20; ++i) {
      add_computed(model, "w" + std::to_string(i), 3000, [i](std::span<std::uint8_t>) {
        if (i >= 11) throw Error(ErrorCode::kNonFinite, "w" + std::to_string(i), "holds NaN");
      });
    }
    SaveOptions options;
    options.threads = threads;
    MemorySink sink;
    const Error error = load_error([&] { save_model(model, sink, {}, options); });
    EXPECT_EQ(error.code(), ErrorCode::kNonFinite);
    EXPECT_EQ(error.where(), "w11") << "the first in order, whichever thread failed first";
  }
}

TEST(ModelSave, SinkErrorsStopTheThreads) {
  class FullSink final : public ByteSink {
   public:
    void append(std::span<const std::uint8_t> bytes) override {
      if ((written_ += bytes.size()) > 20000) throw Error(ErrorCode::kWrite, "out", "the disk is full");
    }

   private:
    std::size_t written_ = 0;
  };
  Model model = load(small_model());
  for (unsigned i = 0; i < 50; ++i) add_computed(model, "w" + std::to_string(i), 3000, noise_of(i));
  SaveOptions options;
  options.threads = 3;
  FullSink sink;
  EXPECT_EQ(load_error([&] { save_model(model, sink, {}, options); }).code(), ErrorCode::kWrite);
}

TEST(ModelSave, RefusesMarkersWithoutBytes) {
  Model model = load(small_model());
  auto* tensor = model.proto().mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(TensorProto::FLOAT);
  tensor->add_dims(5);
  set_stored_id(*tensor, 77);
  EXPECT_EQ(load_error([&] { measure_model(model); }).code(), ErrorCode::kInternal);
  set_stored_id(*tensor, model.store().add_owned(Bytes(19)));
  EXPECT_EQ(load_error([&] { measure_model(model); }).code(), ErrorCode::kInternal);
  tensor->mutable_external_data(0)->set_value("elsewhere");
  EXPECT_EQ(load_error([&] { measure_model(model); }).code(), ErrorCode::kInternal);
}

TEST(ParallelFor, RunsEachTaskOnce) {
  for (const unsigned threads : {0u, 1u, 4u, 100u}) {
    std::mutex mutex;
    std::multiset<std::size_t> seen;
    parallel_for(50, threads, [&](std::size_t i) {
      const std::lock_guard lock(mutex);
      seen.insert(i);
    });
    EXPECT_EQ(seen.size(), 50u);
    EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), 50u);
  }
}

TEST(ParallelFor, ThrowsTheFirstFailure) {
  std::atomic<int> ran = 0;
  const auto run = [&] {
    parallel_for(1000, 4, [&](std::size_t i) {
      ++ran;
      if (i >= 10) throw std::runtime_error(std::to_string(i));
    });
  };
  EXPECT_THROW(
      {
        try {
          run();
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "10");
          throw;
        }
      },
      std::runtime_error);
  EXPECT_LT(ran, 100);
}

TEST(ErrorText, IsOneLine) {
  const Error error(ErrorCode::kRead, "a\nb", "is\tmissing", "look\r\nelsewhere");
  EXPECT_STREQ(error.what(), "a b: is missing; look  elsewhere");
  EXPECT_STREQ(Error(ErrorCode::kRead, "", "is missing").what(), "is missing");
  EXPECT_EQ(error.where(), "a\nb");
}

TEST(ErrorText, CodesAreStable) {
  EXPECT_EQ(exit_status(ErrorCode::kInternal), 70);
  EXPECT_EQ(exit_status(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_status(ErrorCode::kQuality), 10);
  EXPECT_EQ(exit_status(ErrorCode::kInterrupted), 130);
  EXPECT_EQ(code_name(ErrorCode::kNonFinite), "non_finite");
}

}  // namespace
}  // namespace octet
