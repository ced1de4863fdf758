#include "model/load_tensor.h"

#include <charconv>
#include <utility>

#include "model/external_location.h"
#include "model/tensor_access.h"
#include "model/tensor_types.h"
#include "model/wire_schema.h"
#include "octet/error.h"

namespace octet {
namespace {

using onnx::TensorProto;

constexpr std::size_t kShownName = 120;  // characters of a hostile name in a message
constexpr std::uint64_t kMaxName = std::uint64_t{1} << 20;
constexpr int kMaxRank = 255;  // no runtime comes near

bool is_payload(std::uint32_t number) {
  switch (number) {
    case wire::kTensorFloats:
    case wire::kTensorInt32s:
    case wire::kTensorStrings:
    case wire::kTensorInt64s:
    case wire::kTensorRaw:
    case wire::kTensorDoubles:
    case wire::kTensorUint64s:
      return true;
    default:
      return false;
  }
}

// Wire type of one value outside of a packed field.
WireType value_type(std::uint32_t number) {
  if (number == wire::kTensorFloats) return WireType::kFixed32;
  return number == wire::kTensorDoubles ? WireType::kFixed64 : WireType::kVarint;
}

}  // namespace

std::string TensorLoader::load(std::uint64_t begin, std::uint64_t end, const std::string& place, WireWriter& out) {
  const Fields fields = collect(begin, end, place);
  const std::uint64_t size = checked_size(fields);
  if (fields.external) {
    copy_runs(fields, false, out);
    write_external(fields, size, out);
  } else if (size > kInlineBytes) {
    copy_runs(fields, false, out);
    write_marker(store_payload(fields, size), out);
  } else {
    copy_runs(fields, true, out);
  }
  return fields.facts.name();
}

std::uint64_t TensorLoader::external_bytes() const {
  std::uint64_t total = 0;
  for (const auto& [location, file] : files_) total += file->size();
  return total;
}

TensorLoader::Fields TensorLoader::collect(std::uint64_t begin, std::uint64_t end, const std::string& place) {
  Fields fields;
  label_ = place;
  at_ = begin;
  for (std::uint64_t at = begin; at < end;) {
    const WireField field = reader_.field(at, end);
    at = field.end;
    const auto expect = [&](WireType type) {
      if (field.type != type)
        reader_.fail(field.start, "a tensor's field " + std::to_string(field.number) + " has the wrong form");
    };
    switch (field.number) {
      case wire::kTensorDims:
        add_dims(field, fields);
        break;
      case wire::kTensorType:
        expect(WireType::kVarint);
        fields.facts.set_data_type(static_cast<std::int32_t>(field.value));
        break;
      case wire::kTensorSegment:
        throw Error(ErrorCode::kUnsupported, reader_.name(), label_ + " is stored in segments");
      case wire::kTensorName:
        expect(WireType::kBytes);
        if (field.length() > kMaxName) reader_.fail(field.start, "a tensor's name takes too many bytes");
        fields.facts.set_name(reader_.text(field.begin, field.end));
        if (!fields.facts.name().empty()) label_ = "tensor '" + fields.facts.name().substr(0, kShownName) + "'";
        break;
      case wire::kTensorExternal:
        expect(WireType::kBytes);
        add_external(field, fields);
        continue;  // never copied: after loading, external data in the skeleton is ours
      case wire::kTensorLocation:
        expect(WireType::kVarint);
        if (field.value > TensorProto::EXTERNAL) reader_.fail(field.start, "a tensor's data location is unknown");
        fields.external = field.value == TensorProto::EXTERNAL;
        continue;
      default:
        if (is_payload(field.number)) add_payload(field, fields);
    }
    const bool payload = is_payload(field.number);
    if (!fields.runs.empty() && fields.runs.back().end == field.start && fields.runs.back().payload == payload) {
      fields.runs.back().end = field.end;
    } else {
      fields.runs.push_back({field.start, field.end, payload});
    }
  }
  return fields;
}

void TensorLoader::add_dims(const WireField& field, Fields& fields) {
  const auto add = [&](std::uint64_t dim) {
    if (fields.facts.dims_size() == kMaxRank) reader_.fail(field.start, label_ + " has too many dimensions");
    fields.facts.add_dims(static_cast<std::int64_t>(dim));
  };
  if (field.type == WireType::kVarint) {
    add(field.value);
    return;
  }
  if (field.type != WireType::kBytes) reader_.fail(field.start, "a tensor's dimensions have the wrong form");
  for (std::uint64_t at = field.begin; at < field.end;) add(reader_.varint(at, field.end));
}

void TensorLoader::add_payload(const WireField& field, Fields& fields) {
  const WireType single = value_type(field.number);
  const bool is_list = field.number != wire::kTensorRaw && field.number != wire::kTensorStrings;
  if (field.type != WireType::kBytes && (!is_list || field.type != single)) {
    reader_.fail(field.start, "a tensor's values have the wrong form");
  }
  // Some writers add an empty field beside the one that counts. An empty string is a value, though.
  if (field.type == WireType::kBytes && field.length() == 0 && field.number != wire::kTensorStrings) return;
  if (fields.payload_field != 0 && (fields.payload_field != field.number || field.number == wire::kTensorRaw)) {
    reader_.fail(field.start, label_ + " has its values twice");
  }
  fields.payload_field = field.number;

  if (field.number == wire::kTensorStrings) {
    ++fields.values;
  } else if (field.number == wire::kTensorRaw) {
    fields.raw_size = field.length();
    fields.segments.push_back({field.begin, field.length(), false});
  } else if (field.type != WireType::kBytes) {
    ++fields.values;
    // One segment for a run of values, provided that the decoder finds each behind a tag of one byte.
    const bool short_tag = field.end - field.start == 1 + field.length();
    auto& segments = fields.segments;
    if (!short_tag) {
      segments.push_back({field.begin, field.length(), false});
    } else if (!segments.empty() && segments.back().tagged &&
               segments.back().offset + segments.back().length == field.start) {
      segments.back().length += field.end - field.start;
    } else {
      segments.push_back({field.start, field.end - field.start, true});
    }
  } else {
    if (single == WireType::kVarint) {
      fields.values += reader_.count_varints(field.begin, field.end);
    } else {
      const std::uint64_t width = single == WireType::kFixed32 ? 4 : 8;
      if (field.length() % width != 0) reader_.fail(field.begin, label_ + " ends inside a value");
      fields.values += field.length() / width;
    }
    fields.segments.push_back({field.begin, field.length(), false});
  }
}

void TensorLoader::add_external(const WireField& field, Fields& fields) {
  std::string key, value;
  for (std::uint64_t at = field.begin; at < field.end;) {
    const WireField part = reader_.field(at, field.end);
    at = part.end;
    if (part.type != WireType::kBytes) continue;
    if (part.length() > kInlineBytes * 4) reader_.fail(part.start, "the place of external data takes too many bytes");
    if (part.number == wire::kPairKey) key = reader_.text(part.begin, part.end);
    if (part.number == wire::kPairValue) value = reader_.text(part.begin, part.end);
  }
  if (key == "location") fields.where.location = value;
  if (key == "offset") fields.where.offset = parse_number(value, key);
  if (key == "length") fields.where.length = parse_number(value, key);
}

std::uint64_t TensorLoader::parse_number(const std::string& text, const std::string& key) const {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    fail("has '" + text.substr(0, kShownName) + "' as the " + key + " of its external data");
  }
  return value;
}

std::uint64_t TensorLoader::checked_size(const Fields& fields) const {
  const TensorProto& facts = fields.facts;
  const ElementTypeRow* row = element_type(facts.data_type());
  if (row == nullptr) {
    // A tensor without anything in it stands for "none" in some exports; whoever wants its values is told then.
    if (facts.data_type() == 0 && fields.payload_field == 0 && !fields.external) return 0;
    if (facts.data_type() == 0) fail("has no element type");
    throw Error(ErrorCode::kUnsupported, reader_.name(),
                label_ + " has the unknown element type " + std::to_string(facts.data_type()),
                "export the model for IR version " + std::to_string(onnx::Version::IR_VERSION) + " or older");
  }
  std::uint64_t count = 0, size = 0;
  try {
    count = element_count(facts);
    size = bytes_for(facts.data_type(), count);
  } catch (const Error& error) {
    fail("cannot be: " + error.problem());
  }
  if (fields.external) {
    if (row->bits == 0) fail("holds text as external data");
    if (fields.payload_field != 0) fail("has values both inside the model and in external data");
    return size;
  }
  if (row->bits == 0) {
    if (fields.payload_field != 0 && fields.payload_field != wire::kTensorStrings)
      fail("holds text in a field for numbers");
    if (fields.values != count) {
      fail("has " + std::to_string(fields.values) + " strings, its dimensions need " + std::to_string(count));
    }
    return 0;
  }
  if (fields.payload_field == 0 && count != 0) fail("has no values");
  if (fields.payload_field != 0 && fields.payload_field != wire::kTensorRaw && fields.payload_field != row->field) {
    fail("of type " + type_name(facts.data_type()) + " has its values in field " +
         std::to_string(fields.payload_field) + ", which is for other types");
  }
  // In units of bytes for raw data, else of values in the typed field.
  const bool raw = fields.payload_field == wire::kTensorRaw || fields.payload_field == 0;
  const std::uint64_t needed = raw ? size : size / row->field_bytes;
  const std::uint64_t found = raw ? fields.raw_size : fields.values;
  if (found != needed) {
    fail("has " + std::to_string(found) + (raw ? " bytes" : " values") + ", its type and dimensions need " +
         std::to_string(needed));
  }
  return size;
}

TensorStore::Id TensorLoader::store_payload(const Fields& fields, std::uint64_t size) {
  const bool as_is = fields.payload_field == wire::kTensorRaw || fields.payload_field == wire::kTensorFloats ||
                     fields.payload_field == wire::kTensorDoubles;
  if (as_is && fields.segments.size() == 1 && !fields.segments[0].tagged) {
    return store_.add_span(source_, fields.segments[0].offset, size);
  }
  return store_.add_computed(size, decode_payload(source_, reader_.name(), fields.facts.data_type(), fields.segments));
}

std::shared_ptr<const ByteSource> TensorLoader::open_external(const std::string& location) {
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const std::string shown = location.substr(0, kShownName);
  const std::string problem = "the external data file '" + shown + "' with the values of " + label_;
  const std::string next = "put '" + shown + "' beside the model, under this name, and give both";
  if (!open_) throw Error(ErrorCode::kRead, reader_.name(), problem + " is missing", next);
  std::shared_ptr<const ByteSource> file;
  try {
    file = open_(location);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kRead) throw;
    throw Error(ErrorCode::kRead, reader_.name(), problem + " cannot be read: " + error.what(), next);
  }
  if (!file) throw Error(ErrorCode::kRead, reader_.name(), problem + " is missing", next);
  file = make_concurrent(std::move(file));
  files_.emplace(location, file);
  return file;
}

void TensorLoader::write_external(const Fields& fields, std::uint64_t size, WireWriter& out) {
  const External& where = fields.where;
  if (const std::string problem = location_problem(where.location); !problem.empty()) {
    fail("has external data at '" + where.location.substr(0, kShownName) + "', which " + problem);
  }
  const std::uint64_t length = where.length.value_or(size);
  if (length != size) {
    fail("has " + std::to_string(length) + " bytes of external data, its type and dimensions need " +
         std::to_string(size));
  }
  if (size == 0) return;  // nothing to look up, and protobuf keeps an empty payload as none
  const auto file = open_external(where.location);
  if (where.offset > file->size() || length > file->size() - where.offset) {
    fail("lies outside its external data file '" + where.location.substr(0, kShownName) + "': it needs bytes " +
         std::to_string(where.offset) + " and " + std::to_string(length) + " more, the file has " +
         std::to_string(file->size()));
  }
  if (size > kInlineBytes) {
    write_marker(store_.add_span(file, where.offset, length), out);
    return;
  }
  // Small values are looked at by shape inference, so they belong in the skeleton.
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file->read(where.offset, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  out.tag(wire::kTensorRaw, WireType::kBytes);
  out.varint(size);
  out.bytes() += bytes;
}

void TensorLoader::copy_runs(const Fields& fields, bool with_payload, WireWriter& out) {
  for (const Run& run : fields.runs) {
    if (!run.payload || with_payload) out.copy(reader_, run.begin, run.end);
  }
}

void TensorLoader::write_marker(TensorStore::Id id, WireWriter& out) {
  TensorProto marker;
  set_stored_id(marker, id);
  marker.AppendToString(&out.bytes());
}

void TensorLoader::fail(const std::string& problem) const {
  throw Error(ErrorCode::kMalformed, reader_.name(), label_ + " (byte " + std::to_string(at_) + ") " + problem);
}

}  // namespace octet
