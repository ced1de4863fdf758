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
constexpr std::size_t kDirect = 4096;    // up to here emptying the table would cost more than it saves
constexpr std::size_t kBlock = 1 << 15;  // values counted at a time; looked at again if some are rare
constexpr std::uint32_t kBinsPerCacheLine = 64 / sizeof(std::uint64_t);
constexpr std::size_t kFull = kCounterLanes * 50000;  // values after which a 16-bit counter may be near its end

float value_of(std::uint32_t bits) { return bit_cast<float>(bits); }
std::uint32_t bits_of(float value) { return bit_cast<std::uint32_t>(value); }
std::uint32_t exponent_of(std::uint32_t bits) { return (bits & kMagnitude) >> 23; }

// The values' own upper 16 bits number the bins.
class Table {
 public:
  using Page = std::array<std::uint32_t, kBinsPerPage>;

  Table() : counters_(new std::uint16_t[kBins * kCounterLanes]()) {}

  Magnitudes add(std::span<const float> values) { return count_upper_halves(values, counters_.get()); }

  // The counts of one page, which start again at zero; false: none was counted.
  bool take(std::uint32_t number, Page& counts) {
    std::uint16_t* const from = counters_.get() + number * kBinsPerPage * kCounterLanes;
    std::uint64_t any = 0;
    // Without a branch: which bins are empty is anyone's guess.
    for (std::uint32_t bin = 0; bin < kBinsPerPage; ++bin) {
      std::uint64_t words[kCounterLanes / 4];  // four counters each
      std::memcpy(words, from + bin * kCounterLanes, sizeof(words));
      constexpr std::uint64_t kEven = 0x0000FFFF0000FFFFu;
      std::uint64_t sum = 0;  // of two halves that cannot overflow
      for (const std::uint64_t word : words) sum += (word & kEven) + ((word >> 16) & kEven);
      any |= sum;
      counts[bin] = static_cast<std::uint32_t>(sum + (sum >> 32));
    }
    if (any == 0) return false;
    std::fill_n(from, kBinsPerPage * kCounterLanes, std::uint16_t{0});
    return true;
  }

 private:
  static constexpr std::size_t kBins = std::size_t{1} << 16;
  std::unique_ptr<std::uint16_t[]> counters_;
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
    fetch_pages();
    Range range;
    std::uint64_t finite = 0;
    for (std::size_t at = 0; at < values.size(); at += kBlock) {
      const auto block = values.subspan(at, std::min(kBlock, values.size() - at));
      const Magnitudes found = table.add(block);
      const bool all_finite = found.most < kInfinity;
      widen(range, finite, all_finite ? Range{found.min, found.max, 0} : find_range(block), block.size());
      if (found.least <= 0xFFFFu) count_smallest(block);
      waiting_ += block.size();
      least_ = std::min(least_, exponent_of(found.least));
      most_[0] = std::max(most_[0], exponent_of(all_finite ? bits_of(std::max(found.max, 0.0f)) : found.most));
      most_[1] = std::max(most_[1], exponent_of(all_finite ? bits_of(std::min(found.min, 0.0f)) : found.most));
      if (waiting_ + kBlock > kFull) empty(table);
    }
    empty(table);
    return range;
  }

 private:
  std::uint64_t* page(std::uint32_t number) { return pages_[number] ? pages_[number] : open_page(number); }

  std::uint64_t* open_page(std::uint32_t number) {
    auto& page = histogram_.pages_[number];
    page.resize(kBinsPerPage);
    return pages_[number] = page.data();
  }

  // From far memory, while the values are counted.
  void fetch_pages() {
    for (auto& [number, counts] : histogram_.pages_) {
      pages_[number] = counts.data();
      for (std::uint32_t bin = 0; bin < kBinsPerPage; bin += kBinsPerCacheLine) __builtin_prefetch(&counts[bin], 1, 2);
    }
  }

  // The smallest denormal numbers share a bin of the table with zero.
  void count_smallest(std::span<const float> block) {
    for (const float value : block) {
      const auto bits = bits_of(value);
      if ((bits & kMagnitude) != 0 && (bits & kMagnitude) <= 0xFFFFu) ++smallest_[bits >> 31];
    }
  }

  void empty(Table& table) {
    for (const std::uint32_t sign : {0u, 1u}) {
      const std::uint32_t zeros = sign * kPages / 2;
      take_page(table, zeros);
      for (std::uint32_t exponent = std::max(least_, 1u); exponent <= most_[sign]; ++exponent)
        take_page(table, zeros + exponent);
    }
    waiting_ = 0;
    least_ = kMagnitude;
    most_ = {};
    smallest_ = {};
  }

  void take_page(Table& table, std::uint32_t number) {
    Table::Page counts;
    if (!table.take(number, counts)) return;
    const std::uint32_t exponent = number % (kPages / 2);
    if (exponent == kInfinity >> 23) return;
    if (exponent == 0) {
      const std::uint32_t smallest = smallest_[number / (kPages / 2)];
      histogram_.zeros_ += counts[0] - smallest;
      counts[0] = smallest;
      if (counts == Table::Page{}) return;
    }
    std::uint64_t* const into = page(number);
    for (std::uint32_t bin = 0; bin < kBinsPerPage; ++bin) into[bin] += counts[bin];
  }

  Histogram& histogram_;
  std::array<std::uint64_t*, kPages> pages_{};
  // What stands in the table: how many values, the lowest exponent of those that are no zeros, the highest of each sign
  // and how many of each sign are counted as zeros that are not.
  std::size_t waiting_ = 0;
  std::uint32_t least_ = kMagnitude;
  std::array<std::uint32_t, 2> most_{}, smallest_{};
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
      const std::uint32_t bits = (page->first << 7 | i) << 16;
      const std::uint32_t nearest = (bits & kMagnitude) == 0 ? bits + 1 : bits;
      if (page->second[i] > 0) bins.push_back({value_of(bits | 0xFFFFu), value_of(nearest), page->second[i]});
    }
  }
  if (zeros_ > 0) bins.push_back({0, 0, zeros_});
  for (const auto& [number, counts] : pages_) {
    if (number >= kPages / 2) break;
    for (std::uint32_t i = 0; i < kBinsPerPage; ++i) {
      const std::uint32_t bits = (number << 7 | i) << 16;
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
