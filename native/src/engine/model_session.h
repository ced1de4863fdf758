// Sessions of models that are in memory.
#pragma once

#include "engine/engine.h"
#include "octet/model.h"

namespace octet {

// Small models go to the runtime as bytes; larger ones through a temporary file that is gone when this returns, since
// the runtime maps weights from there instead of copying them twice. Throws what save_model and Session throw.
Session open_session(const Model& model, const EngineOptions& options);

}  // namespace octet
