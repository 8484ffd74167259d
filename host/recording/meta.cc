#include "host/recording/meta.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "clew_abi/version.h"
#include "clew_abi/watch.h"
#include "host/quote.h"
#include "host/recording/content_hash.h"
#include "host/recording/inputs_file.h"
#include "host/recording/other_version.h"

namespace clew {
namespace {

using nlohmann::json;

constexpr std::array kStrategyWords{
#define CLEW_KIND(name, text) text,
    CLEW_STRATEGIES(CLEW_KIND)
#undef CLEW_KIND
};
constexpr std::array<const char*, 3> kStdinWords{"none", "file", "stream"};

constexpr unsigned kWatchShift = 16;  // of the flags in abi::Control
constexpr std::size_t kMaxSites = 64;

// A run has a few; each process that could not be recorded has one.
constexpr std::size_t kMaxNotes = 10'000;

// Hashes are text, because many readers of JSON round large numbers.
std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

// Paths, arguments and variables are bytes; those that are not UTF-8 become {"hex": "..."}.
json bytes_to_json(const std::string& bytes) {
  json text = bytes;
  try {
    (void)text.dump();
    return text;
  } catch (const json::type_error&) {
    std::string digits;
    for (const char c : bytes)
      fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(c));
    return {{"hex", digits}};
  }
}

json list_to_json(const std::vector<std::string>& list) {
  json array = json::array();
  for (const std::string& item : list) array.push_back(bytes_to_json(item));
  return array;
}

json captured_to_json(const Captured& captured) {
  return {{"size", captured.size},
          {"hash", hex(captured.hash)},
          {"stored", captured.stored},
          {"stored_hash", hex(captured.stored_hash)}};
}

json location_to_json(const std::optional<Location>& location) {
  if (!location) return {};
  return {{"file", bytes_to_json(location->file)},
          {"line", location->line},
          {"function", bytes_to_json(location->function)}};
}

json failure_to_json(const Failure& failure) {
  return {{"kind", to_word(failure.kind)},
          {"detail", bytes_to_json(failure.detail)},
          {"thread", failure.thread},
          {"at", location_to_json(failure.at)}};
}

json notes_to_json(const std::vector<Note>& notes) {
  json list = json::array();
  for (const Note& note : notes) list.push_back(bytes_to_json(note.text));
  return list;
}

json findings_to_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    json sites = json::array();
    for (const Finding::Site& site : finding.sites)
      sites.push_back({{"action", bytes_to_json(site.action)},
                       {"thread", bytes_to_json(site.thread)},
                       {"clock", site.clock},
                       {"at", location_to_json(site.at)},
                       {"locks", list_to_json(site.locks)}});
    list.push_back({{"kind", bytes_to_json(finding.kind)},
                    {"severity", finding.severity},
                    {"text", bytes_to_json(finding.text)},
                    {"address", finding.address},
                    {"size", finding.size},
                    {"sites", std::move(sites)}});
  }
  return list;
}

json summary_to_json(const RunSummary& summary) {
  return {{"outcome", to_word(summary.outcome)},
          {"failure", summary.failure ? failure_to_json(*summary.failure) : json()},
          {"clock", summary.clock},
          {"switches", summary.switches},
          {"preemptions", summary.preemptions},
          {"threads", summary.threads},
          {"hash", hex(summary.hash)},
          {"exit_status", summary.exit_status},
          {"notes", notes_to_json(summary.notes)},
          {"findings", findings_to_json(summary.findings)}};
}

json optional_to_json(const std::optional<std::string>& text) {
  return text ? bytes_to_json(*text) : json();
}

json judged_to_json(const Judged& judged) {
  json only = json::array();
  for (const FailureKind kind : judged.criteria.only) only.push_back(to_word(kind));
  return {{"kind", to_word(judged.kind)},
          {"detail", bytes_to_json(judged.detail)},
          {"fails_if_output", optional_to_json(judged.criteria.fails_if_output)},
          {"fails_unless_output", optional_to_json(judged.criteria.fails_unless_output)},
          {"fails_if_output_differs", judged.criteria.fails_if_output_differs},
          {"judge", optional_to_json(judged.criteria.judge)},
          {"only", only}};
}

// Reads members of one object; the first that is missing or wrong is remembered, and
// all after it give default values.
class Fields {
 public:
  Fields(const json& object, std::string where, std::string& problem)
      : object_(object), where_(std::move(where)), problem_(problem) {
    if (!object.is_object()) note("", "is not an object");
  }

  const json& member(const char* key) const {
    static const json kNothing;
    if (!problem_.empty()) return kNothing;
    const auto it = object_.find(key);
    if (it != object_.end()) return *it;
    note(key, "is missing");
    return kNothing;
  }

  Fields object(const char* key) const { return {member(key), name(key), problem_}; }

  // Of a list of objects, at most so many.
  std::vector<Fields> objects(const char* key, std::size_t most) const {
    std::vector<Fields> list;
    const json& from = member(key);
    if (problem_.empty() && !from.is_array()) note(key, "is not a list");
    if (problem_.empty() && from.size() > most) note(key, fmt::format("are more than {}", most));
    if (problem_.empty())
      for (const json& item : from) list.push_back({item, name(key), problem_});
    return list;
  }

  template <class Integer>
  void integer(const char* key, Integer& value) const {
    const json& from = member(key);
    if (!problem_.empty()) return;
    const bool fits =
        from.is_number_unsigned()
            ? std::in_range<Integer>(from.get<std::uint64_t>())
            : from.is_number_integer() && std::in_range<Integer>(from.get<std::int64_t>());
    if (!fits) return note(key, "is not a number of the right size");
    value = from.get<Integer>();
  }

  void number(const char* key, double& value) const {
    const json& from = member(key);
    if (problem_.empty() && !from.is_number()) note(key, "is not a number");
    if (problem_.empty()) value = from.get<double>();
  }

  void boolean(const char* key, bool& value) const {
    const json& from = member(key);
    if (problem_.empty() && !from.is_boolean()) note(key, "is neither true nor false");
    if (problem_.empty()) value = from.get<bool>();
  }

  void bytes(const char* key, std::string& value) const { bytes(key, member(key), value); }

  void list(const char* key, std::vector<std::string>& value) const {
    const json& from = member(key);
    if (problem_.empty() && !from.is_array()) note(key, "is not a list");
    if (!problem_.empty()) return;
    value.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) bytes(key, from[i], value[i]);
  }

  void hash(const char* key, std::uint64_t& value) const {
    std::string digits;
    bytes(key, digits);
    if (!problem_.empty()) return;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 16 || error != std::errc{} || stop != end) note(key, "is not a hash");
  }

  // The index of the member's text in `words`.
  template <class Enum, std::size_t N>
  void word(const char* key, const std::array<const char*, N>& words, Enum& value) const {
    std::string text;
    bytes(key, text);
    if (!problem_.empty()) return;
    for (std::size_t i = 0; i < N; ++i)
      if (text == words[i]) return void(value = static_cast<Enum>(i));
    note(key, fmt::format("has the unknown value {}", quote(text)));
  }

  bool is_null(const char* key) const { return member(key).is_null(); }

  void note(const char* key, std::string_view what) const {
    if (problem_.empty()) problem_ = fmt::format("'{}' {}", name(key), what);
  }

 private:
  std::string name(const char* key) const {
    return where_.empty() || *key == '\0' ? where_ + key : where_ + "." + key;
  }

  void bytes(const char* key, const json& from, std::string& value) const {
    if (!problem_.empty()) return;
    if (from.is_string()) return void(value = from.get<std::string>());
    if (!from.is_object() || !from.contains("hex") || !from["hex"].is_string())
      return note(key, "is not a string");
    const std::string digits = from["hex"].get<std::string>();
    value.clear();
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned byte = 0;
      const char* end = digits.data() + i + 2;
      if (const auto [stop, error] = std::from_chars(digits.data() + i, end, byte, 16);
          error != std::errc{} || stop != end)
        return note(key, "has bad hex digits");
      value += static_cast<char>(byte);
    }
    if (digits.size() % 2 != 0) note(key, "has bad hex digits");
  }

  const json& object_;
  std::string where_;
  std::string& problem_;
};

Captured captured_from(const Fields& fields) {
  Captured captured;
  fields.integer("size", captured.size);
  fields.hash("hash", captured.hash);
  fields.integer("stored", captured.stored);
  fields.hash("stored_hash", captured.stored_hash);
  return captured;
}

Captured stream_from(const Fields& fields) {
  const Captured captured = captured_from(fields);
  if (captured.stored > captured.size) fields.note("stored", "is more than the size");
  return captured;
}

Captured output_from(const Fields& fields) {
  const Captured captured = stream_from(fields);
  if (captured.stored > kMaxStoredOutput)
    fields.note("stored", fmt::format("is more than {}", kMaxStoredOutput));
  return captured;
}

Captured inputs_from(const Fields& fields) {
  const Captured captured = captured_from(fields);
  if (captured.size > kMaxInputs) fields.note("size", fmt::format("is more than {}", kMaxInputs));
  return captured;
}

void kind_from(const Fields& fields, const std::string& word, FailureKind& kind) {
  if (const auto known = failure_kind_from_word(word))
    kind = *known;
  else
    fields.note("kind", fmt::format("has the unknown value {}", quote(word)));
}

std::optional<Location> location_from(const Fields& fields) {
  if (fields.is_null("at")) return std::nullopt;
  const Fields at = fields.object("at");
  Location location;
  at.bytes("file", location.file);
  at.integer("line", location.line);
  at.bytes("function", location.function);
  return location;
}

Finding finding_from(const Fields& fields) {
  Finding finding;
  fields.bytes("kind", finding.kind);
  fields.bytes("severity", finding.severity);
  fields.bytes("text", finding.text);
  fields.integer("address", finding.address);
  fields.integer("size", finding.size);
  for (const Fields& from : fields.objects("sites", kMaxSites)) {
    Finding::Site& site = finding.sites.emplace_back();
    from.bytes("action", site.action);
    from.bytes("thread", site.thread);
    from.integer("clock", site.clock);
    site.at = location_from(from);
    from.list("locks", site.locks);
  }
  return finding;
}

RunSummary summary_from(const Fields& fields) {
  RunSummary summary;
  std::string outcome;
  fields.bytes("outcome", outcome);
  if (const auto known = outcome_from_word(outcome))
    summary.outcome = *known;
  else
    fields.note("outcome", fmt::format("has the unknown value {}", quote(outcome)));
  if (!fields.is_null("failure")) {
    const Fields from = fields.object("failure");
    Failure& failure = summary.failure.emplace();
    std::string kind;
    from.bytes("kind", kind);
    kind_from(from, kind, failure.kind);
    from.bytes("detail", failure.detail);
    from.bytes("thread", failure.thread);
    failure.at = location_from(from);
  }
  fields.integer("clock", summary.clock);
  fields.integer("switches", summary.switches);
  fields.integer("preemptions", summary.preemptions);
  fields.integer("threads", summary.threads);
  fields.hash("hash", summary.hash);
  fields.integer("exit_status", summary.exit_status);
  std::vector<std::string> notes;
  fields.list("notes", notes);
  if (notes.size() > kMaxNotes) fields.note("notes", fmt::format("are more than {}", kMaxNotes));
  for (std::string& note : notes) summary.notes.push_back(note_from_text(std::move(note)));
  for (const Fields& finding : fields.objects("findings", abi::kMaxFindings))
    summary.findings.push_back(finding_from(finding));
  return summary;
}

void criterion_from(const Fields& fields, const char* key, std::string& text) {
  fields.bytes(key, text);
  if (text.size() > kMaxCriterion)
    fields.note(key, fmt::format("has more than {} bytes", kMaxCriterion));
}

Judged judged_from(const Fields& fields) {
  Judged judged;
  std::string kind;
  fields.bytes("kind", kind);
  kind_from(fields, kind, judged.kind);
  criterion_from(fields, "detail", judged.detail);
  Criteria& criteria = judged.criteria;
  if (!fields.is_null("fails_if_output"))
    criterion_from(fields, "fails_if_output", criteria.fails_if_output.emplace());
  if (!fields.is_null("fails_unless_output"))
    criterion_from(fields, "fails_unless_output", criteria.fails_unless_output.emplace());
  fields.boolean("fails_if_output_differs", criteria.fails_if_output_differs);
  if (!fields.is_null("judge")) criterion_from(fields, "judge", criteria.judge.emplace());
  std::vector<std::string> only;
  fields.list("only", only);
  for (const std::string& word : only) kind_from(fields, word, criteria.only.emplace_back());
  return judged;
}

Meta meta_from(const Fields& fields) {
  Meta meta;
  fields.integer("recording_version", meta.recording_version);
  fields.integer("abi_version", meta.abi_version);
  fields.bytes("clew_version", meta.clew_version);
  const Fields program = fields.object("program");
  program.bytes("path", meta.program);
  program.bytes("started_as", meta.started_as);
  program.integer("size", meta.identity.size);
  program.hash("hash", meta.identity.hash);
  program.bytes("build_id", meta.identity.build_id);
  fields.list("arguments", meta.arguments);
  fields.list("environment", meta.environment);
  fields.bytes("working_folder", meta.working_folder);
  fields.integer("stack_limit", meta.stack_limit);
  fields.hash("blocked_signals", meta.blocked_signals);
  fields.hash("ignored_signals", meta.ignored_signals);
  fields.integer("parent", meta.parent);
  fields.boolean("child", meta.child);
  fields.boolean("loaded_again", meta.loaded_again);
  fields.integer("generation", meta.generation);
  fields.integer("enter_child", meta.enter_child);
  fields.word("strategy", kStrategyWords, meta.strategy);
  fields.integer("seed", meta.seed);
  fields.integer("budget", meta.budget);
  fields.integer("fair_slice", meta.fair_slice);
  fields.integer("epoch_ns", meta.epoch_ns);
  fields.integer("clock_speed", meta.clock_speed);
  if (meta.clock_speed == 0 || meta.clock_speed > kMaxClockSpeed)
    fields.note("clock_speed", fmt::format("is not between 1 and {}", kMaxClockSpeed));
  fields.boolean("line_buffered", meta.line_buffered);
  fields.boolean("from_main", meta.from_main);
  fields.integer("pool", meta.pool);
  if (meta.pool > kMaxPool) fields.note("pool", fmt::format("is more than {}", kMaxPool));
  fields.integer("watch", meta.watch);
  if (meta.watch > 0xff) fields.note("watch", "has unknown bits");
  meta.watch = (meta.watch & 0xff) << kWatchShift;
  fields.list("listeners", meta.listeners);
  if (meta.listeners.size() > kMaxListeners)
    fields.note("listeners", fmt::format("are more than {}", kMaxListeners));
  std::string origin;
  fields.bytes("origin", origin);
  if (origin.size() > kMaxOrigin)
    fields.note("origin", fmt::format("has more than {} bytes", kMaxOrigin));
  meta.origin = Origin::from_line(std::move(origin));
  fields.integer("created_ns", meta.created_ns);
  fields.number("wall_seconds", meta.wall_seconds);
  meta.summary = summary_from(fields.object("summary"));
  if (!fields.is_null("judged")) meta.judged = judged_from(fields.object("judged"));
  fields.word("stdin_kind", kStdinWords, meta.stdin_kind);
  if (!fields.is_null("stdin")) meta.stdin_data = stream_from(fields.object("stdin"));
  meta.stdout_data = output_from(fields.object("stdout"));
  meta.stderr_data = output_from(fields.object("stderr"));
  if (!fields.is_null("inputs")) meta.inputs = inputs_from(fields.object("inputs"));
  return meta;
}

std::uint64_t checksum(const json& without_checksum) {
  // The canonical form: members sorted, no white space.
  const std::string text = without_checksum.dump();
  return content_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// What the parser makes of a text takes up to twenty times its memory, and both it and what frees
// it recurse: neither is done before this has looked at the text.
const char* why_too_much(std::string_view text) {
  if (text.size() > kMaxMetaSize) return "it is too large";
  std::size_t depth = 0;
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    const bool opens = c == '{' || c == '[';
    if (opens && ++depth > kMaxMetaDepth) return "it is nested too deeply";
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if ((opens || c == ',') && ++values > kMaxMetaValues) return "it has too many values";
  }
  return nullptr;
}

std::unexpected<Error> damaged(std::string_view name, std::string_view what) {
  return fail(ErrorCode::kBadInput, fmt::format("{} is damaged: {}", name, what),
              "the recording cannot be used; make a new one with clew run");
}

}  // namespace

const char* to_word(abi::StrategyKind strategy) {
  return kStrategyWords.at(static_cast<std::size_t>(strategy));
}

Result<void> check_limits(const Meta& meta) {
  if (meta.pool > kMaxPool)
    return fail(ErrorCode::kInternal,
                fmt::format("a pool of {} threads, at most {} are allowed", meta.pool, kMaxPool));
  if (meta.origin.line().size() > kMaxOrigin)
    return fail(ErrorCode::kInternal, fmt::format("an origin of {} bytes, at most {} are allowed",
                                                  meta.origin.line().size(), kMaxOrigin));
  if (!meta.judged) return {};
  const Criteria& criteria = meta.judged->criteria;
  for (const auto& text : {std::optional(meta.judged->detail), criteria.fails_if_output,
                           criteria.fails_unless_output, criteria.judge})
    if (text && text->size() > kMaxCriterion)
      return fail(ErrorCode::kInternal,
                  fmt::format("a criterion of {} bytes, at most {} are allowed", text->size(),
                              kMaxCriterion));
  return {};
}

std::string format_meta(const Meta& meta) {
  json object = {
      {"recording_version", meta.recording_version},
      {"abi_version", meta.abi_version},
      {"clew_version", meta.clew_version},
      {"program",
       {{"path", bytes_to_json(meta.program)},
        {"started_as", bytes_to_json(meta.started_as)},
        {"size", meta.identity.size},
        {"hash", hex(meta.identity.hash)},
        {"build_id", meta.identity.build_id}}},
      {"arguments", list_to_json(meta.arguments)},
      {"environment", list_to_json(meta.environment)},
      {"working_folder", bytes_to_json(meta.working_folder)},
      {"stack_limit", meta.stack_limit},
      {"blocked_signals", hex(meta.blocked_signals)},
      {"ignored_signals", hex(meta.ignored_signals)},
      {"parent", meta.parent},
      {"child", meta.child},
      {"loaded_again", meta.loaded_again},
      {"generation", meta.generation},
      {"enter_child", meta.enter_child},
      {"strategy", to_word(meta.strategy)},
      {"seed", meta.seed},
      {"budget", meta.budget},
      {"fair_slice", meta.fair_slice},
      {"epoch_ns", meta.epoch_ns},
      {"clock_speed", meta.clock_speed},
      {"line_buffered", meta.line_buffered},
      {"from_main", meta.from_main},
      {"pool", meta.pool},
      {"watch", meta.watch >> kWatchShift},
      {"listeners", list_to_json(meta.listeners)},
      {"origin", bytes_to_json(meta.origin.line())},
      {"created_ns", meta.created_ns},
      {"wall_seconds", meta.wall_seconds},
      {"summary", summary_to_json(meta.summary)},
      {"judged", meta.judged ? judged_to_json(*meta.judged) : json()},
      {"stdin_kind", kStdinWords.at(static_cast<std::size_t>(meta.stdin_kind))},
      {"stdin", meta.stdin_data ? captured_to_json(*meta.stdin_data) : json()},
      {"stdout", captured_to_json(meta.stdout_data)},
      {"stderr", captured_to_json(meta.stderr_data)},
      {"inputs", meta.inputs ? captured_to_json(*meta.inputs) : json()},
  };
  object["checksum"] = hex(checksum(object));
  return object.dump(1) + "\n";
}

Result<Meta> parse_meta(std::string_view text, std::string_view name) {
  if (const char* why = why_too_much(text)) return damaged(name, why);
  json object;
  try {
    object = json::parse(text);
  } catch (const json::parse_error& error) {
    return damaged(name, fmt::format("not JSON at byte {}", error.byte));
  } catch (const json::exception&) {
    return damaged(name, "a number is out of range");
  }
  if (!object.is_object()) return damaged(name, "not an object");
  const json stated = object.value("checksum", json());
  object.erase("checksum");
  if (stated != hex(checksum(object))) return damaged(name, "the checksum does not match");
  // The version is checked before any other field: the fields of another version may be anything.
  constexpr FileVersion kOwn{kRecordingVersion, abi::kVersion};
  FileVersion found;
  std::string problem;
  const Fields fields(object, "", problem);
  fields.integer("recording_version", found.format);
  fields.integer("abi_version", found.abi);
  if (!problem.empty()) return damaged(name, problem);
  if (found != kOwn) return std::unexpected(other_version(name, found, kOwn));
  const Meta meta = meta_from(fields);
  if (!problem.empty()) return damaged(name, problem);
  return meta;
}

}  // namespace clew
