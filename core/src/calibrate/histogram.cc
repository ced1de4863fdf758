// Counting by bits. Few values go straight to their bins; many go through a flat table with a counter for every
// possible upper half of a float, which is emptied into the bins afterwards.
#include "calibrate/histogram.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "kernels/bit_cast.h"
#include "kernels/histogram_kernels.h"
#include "octet/ranges.h"

namespace octet {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFu, kInfinity = 0x7F800000u;
constexpr std::size_t kDirect = 8192;    // up to here emptying the table would cost more than it saves
constexpr std::size_t kBlock = 1 << 13;  // values looked at twice while they are in the first cache
constexpr std::size_t kLanes = 8;        // counters per bin, taken in turn: one alone would wait for its last store
constexpr std::size_t kFull = kLanes * 50000;  // values after which a 16-bit counter may be near its end

float value_of(std::uint32_t bits) { return bit_cast<float>(bits); }
std::uint32_t bits_of(float value) { return bit_cast<std::uint32_t>(value); }

// The values' own upper 16 bits number the bins.
class Table {
 public:
  Table() : counts_(new std::uint16_t[kBins * kLanes]()) {}

  void add(std::span<const float> values) {
    // Two values per load. Byte offsets, since a bin is too long for the processor to scale by.
    std::uint8_t* const table = reinterpret_cast<std::uint8_t*>(counts_.get());
    const auto count = [table](std::uint64_t offset, std::size_t lane) {
      std::uint16_t n;
      std::uint8_t* const at = table + offset + lane * sizeof(n);
      std::memcpy(&n, at, sizeof(n));
      ++n;
      std::memcpy(at, &n, sizeof(n));
    };
    constexpr std::uint64_t kOffset = 0xFFFFull * kLanes * 2;
    const float* from = values.data();
    std::size_t left = values.size();
    for (; left >= kLanes; left -= kLanes, from += kLanes) {
      std::uint64_t pair[kLanes / 2];
      std::memcpy(pair, from, sizeof(pair));
      for (std::size_t i = 0; i < kLanes / 2; ++i) {
        count((pair[i] >> 12) & kOffset, 2 * i);
        count((pair[i] >> 44) & kOffset, 2 * i + 1);
      }
    }
    for (std::size_t i = 0; i < left; ++i) count((bits_of(from[i]) >> 12) & kOffset, i);
  }

  // The bin's count, which starts again at zero.
  std::uint64_t take(std::uint32_t bin) {
    std::uint16_t* const counts = counts_.get() + bin * kLanes;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) sum += counts[i];
    if (sum != 0) std::fill_n(counts, kLanes, std::uint16_t{0});
    return sum;
  }

 private:
  static constexpr std::size_t kBins = std::size_t{1} << 16;
  std::unique_ptr<std::uint16_t[]> counts_;
};

void widen(Range& range, std::uint64_t& finite, const Range& more, std::size_t size) {
  range.non_finite += more.non_finite;
  if (more.non_finite == size) return;
  range.min = finite > 0 ? std::min(range.min, more.min) : more.min;
  range.max = finite > 0 ? std::max(range.max, more.max) : more.max;
  finite += size - more.non_finite;
}

}  // namespace

// Fills one histogram from one array.
class HistogramFiller {
 public:
  explicit HistogramFiller(Histogram& histogram) : histogram_(histogram) {}

  void add_directly(std::span<const float> values) {
    for (const float value : values) {
      const auto bits = bits_of(value);
      if ((bits & kMagnitude) == 0)
        ++histogram_.zeros_;
      else if ((bits & kMagnitude) < kInfinity)
        ++page(bits >> 23)[(bits >> 16) & 127];
    }
  }

  Range add_through_table(std::span<const float> values) {
    thread_local Table table;
    Range range;
    std::uint64_t finite = 0;
    for (std::size_t at = 0; at < values.size(); at += kBlock) {
      const auto block = values.subspan(at, std::min(kBlock, values.size() - at));
      const Range found = find_range(block);
      const std::uint32_t least = smallest_magnitude_bits(block);
      widen(range, finite, found, block.size());
      if (least <= 0xFFFFu) {  // the smallest denormal numbers share a counter with zero
        add_directly(block);
        continue;
      }
      table.add(block);
      waiting_ += block.size();
      least_ = std::min(least_, least >> 16);
      most_ = std::max({most_, (bits_of(found.min) & kMagnitude) >> 16, (bits_of(found.max) & kMagnitude) >> 16});
      non_finite_ |= found.non_finite > 0;
      if (waiting_ + kBlock > kFull) empty(table);
    }
    empty(table);
    return range;
  }

 private:
  std::uint64_t* page(std::uint32_t number) {
    std::uint64_t*& known = pages_[number];
    if (known == nullptr) {
      auto& page = histogram_.pages_[static_cast<int>(number)];
      page.resize(kBinsPerPage);
      known = page.data();
    }
    return known;
  }

  void empty(Table& table) {
    histogram_.zeros_ += table.take(0) + table.take(0x8000u);
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      for (std::uint32_t bin = least_; bin <= most_; ++bin) {
        const std::uint64_t count = table.take(sign + bin);
        if (count > 0) page((sign + bin) >> 7)[bin & 127] += count;
      }
      for (std::uint32_t bin = kInfinity >> 16; non_finite_ && bin < 0x8000u; ++bin) table.take(sign + bin);
    }
    waiting_ = 0;
    least_ = 0xFFFFu;
    most_ = 0;
    non_finite_ = false;
  }

  Histogram& histogram_;
  std::array<std::uint64_t*, kPages> pages_{};
  // What stands in the table: how many values, and the lowest and highest bin of either sign.
  std::size_t waiting_ = 0;
  std::uint32_t least_ = 0xFFFFu, most_ = 0;
  bool non_finite_ = false;
};

Range count_values(Histogram& histogram, std::span<const float> values) {
  HistogramFiller filler(histogram);
  if (values.size() > kDirect) return filler.add_through_table(values);
  filler.add_directly(values);
  return find_range(values);
}

void Histogram::add(std::span<const float> values) { count_values(*this, values); }

void Histogram::merge(const Histogram& other) {
  zeros_ += other.zeros_;
  for (const auto& [number, counts] : other.pages_) {
    auto& page = pages_[number];
    page.resize(kBinsPerPage);
    for (std::size_t i = 0; i < counts.size(); ++i) page[i] += counts[i];
  }
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> bins;
  // Downwards through the negative pages, whose numbers grow with the magnitude.
  for (auto page = pages_.rbegin(); page != pages_.rend() && page->first >= kPages / 2; ++page) {
    for (std::uint32_t i = kBinsPerPage; i-- > 0;) {
      const std::uint32_t bits = (static_cast<std::uint32_t>(page->first) << 7 | i) << 16;
      const std::uint32_t nearest = (bits & kMagnitude) == 0 ? bits + 1 : bits;
      if (page->second[i] > 0) bins.push_back({value_of(bits | 0xFFFFu), value_of(nearest), page->second[i]});
    }
  }
  if (zeros_ > 0) bins.push_back({0, 0, zeros_});
  for (const auto& [number, counts] : pages_) {
    if (number >= kPages / 2) break;
    for (std::uint32_t i = 0; i < kBinsPerPage; ++i) {
      const std::uint32_t bits = (static_cast<std::uint32_t>(number) << 7 | i) << 16;
      if (counts[i] > 0) bins.push_back({value_of(bits == 0 ? 1 : bits), value_of(bits | 0xFFFFu), counts[i]});
    }
  }
  return bins;
}

std::uint64_t Histogram::count() const {
  std::uint64_t sum = zeros_;
  for (const auto& [number, counts] : pages_) {
    for (const std::uint64_t count : counts) sum += count;
  }
  return sum;
}

}  // namespace octet
