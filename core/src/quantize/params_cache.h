// Scales found while planning, so that applying the plan need not read the weights again. Never changes a result.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "quantize/weight_params.h"

namespace octet {

class ParamsCache {
 public:
  std::shared_ptr<const WeightParams> find(const TensorPlan& plan) const {
    const auto found = params_.find(key(plan));
    return found == params_.end() ? nullptr : found->second;
  }
  void put(const TensorPlan& plan, std::shared_ptr<const WeightParams> params) {
    params_[key(plan)] = std::move(params);
  }

 private:
  using Key = std::tuple<std::string, QuantType, int, int, bool, bool>;
  static Key key(const TensorPlan& plan) {
    return {plan.tensor, plan.type, plan.axis.value_or(-1), plan.axes, plan.symmetric, plan.reduce_range};
  }
  std::map<Key, std::shared_ptr<const WeightParams>> params_;
};

}  // namespace octet
