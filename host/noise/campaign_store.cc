#include "host/noise/campaign_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace clew {
namespace {

constexpr int kFormat = 2;

constexpr char kTables[] = R"(
create table campaign (key text primary key, value) without rowid;
create table points (position integer primary key, place integer not null);
create table failures (number integer primary key, kind text not null, detail text, file text,
                       line integer, function text, exit_status integer, recording integer);
create table samples (number integer primary key, purpose integer not null, wanted integer not null,
                      runs integer not null, points blob not null, sides integer not null);
create table failed (sample integer not null, failure integer not null, runs integer not null,
                     primary key (sample, failure)) without rowid;
)";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// A statement with its values, run to its end.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    ok_ = sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.c_str(), -1, SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(std::span<const std::uint64_t> words) {
    sqlite3_bind_blob(statement_, ++bound_, words.data(), static_cast<int>(words.size_bytes()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  // Whether there is another row.
  bool row() {
    const int got = ok_ ? sqlite3_step(statement_) : SQLITE_ERROR;
    ok_ = got == SQLITE_ROW || got == SQLITE_DONE;
    return got == SQLITE_ROW;
  }
  bool run() {
    while (row()) {
    }
    sqlite3_reset(statement_);
    bound_ = 0;
    return ok_;
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    return bytes != nullptr ? reinterpret_cast<const char*>(bytes) : "";
  }
  std::span<const std::uint8_t> blob(int column) const {
    return {static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  bool ok_ = false;
};

std::string get(sqlite3* database, const char* key) {
  Statement found(database, "select value from campaign where key = ?");
  found.bind(std::string(key));
  return found.row() ? found.text(0) : "";
}

bool put(sqlite3* database, const char* key, const std::string& value) {
  Statement insert(database, "insert into campaign values (?, ?)");
  return insert.bind(std::string(key)).bind(value).run();
}

bool execute(sqlite3* database, const char* sql) {
  return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::unexpected<Error> cannot(const char* what, const std::filesystem::path& file,
                              sqlite3* database) {
  return fail(ErrorCode::kSystem, fmt::format("cannot {} the campaign {}: {}", what, file.string(),
                                              sqlite3_errmsg(database)));
}

std::optional<std::uint64_t> number_of(const std::filesystem::path& file) {
  if (file.extension() != ".db") return std::nullopt;
  const std::string stem = file.stem();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (error != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
  return number;
}

std::vector<std::uint64_t> numbers_in(const std::filesystem::path& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (const auto number = number_of(entry.path())) numbers.push_back(*number);
  std::ranges::sort(numbers, std::greater<>{});
  return numbers;
}

std::filesystem::path file_of(const std::filesystem::path& folder, std::uint64_t number) {
  return folder / fmt::format("{}.db", number);
}

}  // namespace

struct CampaignStore::State {
  std::filesystem::path file;
  Database database;
  CampaignIdentity identity;
  std::size_t kept = 0;
  FailureBook* book = nullptr;
  std::size_t failures_kept = 0;

  std::map<std::uint32_t, std::uint32_t> failed_of(std::int64_t sample) const {
    std::map<std::uint32_t, std::uint32_t> result;
    Statement rows(database.get(), "select failure, runs from failed where sample = ?");
    rows.bind(sample);
    while (rows.row())
      result[static_cast<std::uint32_t>(rows.number(0))] =
          static_cast<std::uint32_t>(rows.number(1));
    return result;
  }

  static Subset subset_of(std::span<const std::uint8_t> bytes, std::size_t points) {
    Subset subset(points);
    for (std::size_t i = 0; i < points && i / 8 < bytes.size(); ++i)
      if (bytes[i / 8] >> (i % 8) & 1) subset.add(i);
    return subset;
  }

  std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> result;
    Statement rows(database.get(), "select place from points order by position");
    while (rows.row()) result.push_back(rows.number(0));
    return result;
  }

  std::vector<FoundFailure> failures() const {
    std::vector<FoundFailure> result;
    Statement rows(
        database.get(),
        "select kind, detail, file, line, function, exit_status, recording from failures "
        "order by number");
    while (rows.row()) {
      FoundFailure failure;
      failure.failure.kind = failure_kind_from_word(rows.text(0)).value_or(FailureKind::kExit);
      failure.failure.detail = rows.text(1);
      if (rows.number(3) != 0)
        failure.failure.at =
            Location{rows.text(2), static_cast<std::uint32_t>(rows.number(3)), rows.text(4)};
      failure.exit_status = static_cast<int>(rows.number(5));
      if (rows.number(6) != 0) failure.recording = static_cast<std::uint64_t>(rows.number(6));
      result.push_back(std::move(failure));
    }
    return result;
  }

  bool keep_failures() {
    Statement insert(database.get(), "insert into failures values (?, ?, ?, ?, ?, ?, ?, ?)");
    for (; failures_kept < book->all().size(); ++failures_kept) {
      const FoundFailure& failure = book->all()[failures_kept];
      const Location at = failure.failure.at.value_or(Location{});
      insert.bind(static_cast<std::int64_t>(failures_kept))
          .bind(std::string(to_word(failure.failure.kind)))
          .bind(failure.failure.detail)
          .bind(at.file)
          .bind(std::int64_t{at.line})
          .bind(at.function)
          .bind(std::int64_t{failure.exit_status})
          .bind(static_cast<std::int64_t>(failure.recording.value_or(0)));
      if (!insert.run()) return false;
    }
    return true;
  }
};

CampaignStore::CampaignStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
CampaignStore::CampaignStore(CampaignStore&&) noexcept = default;
CampaignStore::~CampaignStore() = default;
const std::filesystem::path& CampaignStore::file() const { return state_->file; }
const CampaignIdentity& CampaignStore::identity() const { return state_->identity; }
std::size_t CampaignStore::kept() const { return state_->kept; }

Result<CampaignStore> CampaignStore::create(const std::filesystem::path& folder,
                                            const CampaignIdentity& identity) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto numbers = numbers_in(folder);
  auto state = std::make_unique<State>();
  // Another clew may take the number at the same time.
  for (std::uint64_t number = numbers.empty() ? 1 : numbers.front() + 1;; ++number) {
    state->file = file_of(folder, number);
    if (std::filesystem::exists(state->file, error)) continue;
    sqlite3* opened = nullptr;
    const int got = sqlite3_open_v2(state->file.c_str(), &opened,
                                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    state->database.reset(opened);
    if (got != SQLITE_OK) return cannot("create", state->file, opened);
    if (execute(opened, "begin exclusive") && execute(opened, kTables)) break;
    if (sqlite3_errcode(opened) != SQLITE_ERROR && sqlite3_errcode(opened) != SQLITE_BUSY)
      return cannot("create", state->file, opened);
  }
  sqlite3* database = state->database.get();
  state->identity = identity;
  if (!put(database, "format", std::to_string(kFormat)) ||
      !put(database, "program", identity.program) || !put(database, "options", identity.options) ||
      !put(database, "seed", std::to_string(identity.seed)) || !execute(database, "commit"))
    return cannot("create", state->file, database);
  return CampaignStore(std::move(state));
}

Result<CampaignStore> CampaignStore::open(const std::filesystem::path& file) {
  auto state = std::make_unique<State>();
  state->file = file;
  sqlite3* opened = nullptr;
  const int got = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  state->database.reset(opened);
  if (got != SQLITE_OK)
    return fail(ErrorCode::kBadInput, fmt::format("cannot open the campaign {}: {}", file.string(),
                                                  sqlite3_errmsg(opened)));
  if (get(opened, "format") != std::to_string(kFormat))
    return fail(ErrorCode::kBadInput,
                fmt::format("{} is no campaign of this version of clew", file.string()));
  state->identity = {get(opened, "program"), get(opened, "options"), 1};
  const std::string seed = get(opened, "seed");
  std::from_chars(seed.data(), seed.data() + seed.size(), state->identity.seed);
  Statement count(opened, "select count(*) from samples");
  if (count.row()) state->kept = static_cast<std::size_t>(count.number(0));
  return CampaignStore(std::move(state));
}

Result<std::filesystem::path> CampaignStore::newest(const std::filesystem::path& folder,
                                                    const std::string& program) {
  for (const std::uint64_t number : numbers_in(folder))
    if (auto store = open(file_of(folder, number)))
      if (store->identity().program == program) return file_of(folder, number);
  return fail(ErrorCode::kBadInput, "there is no campaign of this program to resume",
              "the program, its arguments or its code may have changed; run it without --resume");
}

Result<void> CampaignStore::use(FailureBook& book) {
  state_->book = &book;
  for (const FoundFailure& failure : state_->failures()) (void)book.number_of(failure);
  state_->failures_kept = book.all().size();
  return {};
}

Result<std::vector<Sample>> CampaignStore::design_samples(const std::vector<NoisePoint>& points,
                                                          FailureBook& book) {
  const auto places = state_->places();
  const bool same = std::ranges::equal(places, points, {}, {}, [](const NoisePoint& point) {
    return static_cast<std::int64_t>(point.place);
  });
  if (!same)
    return fail(ErrorCode::kBadInput,
                fmt::format("the campaign {} has other program points", file().string()),
                "only campaigns of the same program can be joined");
  std::vector<std::uint32_t> renumbered;
  for (const FoundFailure& failure : state_->failures())
    renumbered.push_back(book.number_of(failure));
  std::vector<Sample> samples;
  Statement rows(
      state_->database.get(),
      "select number, wanted, runs, points, sides from samples where purpose = ? order by number");
  rows.bind(static_cast<std::int64_t>(SamplePurpose::kDesign));
  while (rows.row()) {
    Sample sample;
    sample.wanted = static_cast<std::uint32_t>(rows.number(1));
    sample.runs = static_cast<std::uint32_t>(rows.number(2));
    sample.points = State::subset_of(rows.blob(3), points.size());
    sample.sides = static_cast<std::uint64_t>(rows.number(4));
    if (sample.has_sides()) sample.after = points_after(points, sample.sides);
    for (const auto& [failure, count] : state_->failed_of(rows.number(0)))
      if (failure < renumbered.size()) sample.failures[renumbered[failure]] += count;
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::optional<Sample> CampaignStore::find(std::size_t number, const Sample& wanted) {
  if (number >= state_->kept) return std::nullopt;
  Statement row(state_->database.get(),
                "select purpose, wanted, runs, points, sides from samples where number = ?");
  row.bind(static_cast<std::int64_t>(number));
  if (!row.row() || row.number(0) != static_cast<std::int64_t>(wanted.purpose) ||
      row.number(1) != wanted.wanted || static_cast<std::uint64_t>(row.number(4)) != wanted.sides ||
      State::subset_of(row.blob(3), wanted.points.points()) != wanted.points) {
    // From here on the campaign takes another course: what is kept of the old one is of no use.
    state_->kept = number;
    Statement(state_->database.get(), "delete from samples where number >= ?")
        .bind(static_cast<std::int64_t>(number))
        .run();
    Statement(state_->database.get(), "delete from failed where sample >= ?")
        .bind(static_cast<std::int64_t>(number))
        .run();
    return std::nullopt;
  }
  Sample sample = wanted;
  sample.runs = static_cast<std::uint32_t>(row.number(2));
  sample.failures = state_->failed_of(static_cast<std::int64_t>(number));
  return sample;
}

Result<void> CampaignStore::begin(const std::vector<NoisePoint>& points) {
  sqlite3* database = state_->database.get();
  const auto places = state_->places();
  if (!places.empty()) {
    const bool same = std::ranges::equal(places, points, {}, {}, [](const NoisePoint& point) {
      return static_cast<std::int64_t>(point.place);
    });
    if (same) return {};
    return fail(ErrorCode::kBadInput,
                fmt::format("the campaign {} has other program points", file().string()),
                "something outside the program has changed; run it without --resume");
  }
  if (!execute(database, "begin")) return cannot("write", file(), database);
  Statement insert(database, "insert into points values (?, ?)");
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!insert.bind(static_cast<std::int64_t>(i))
             .bind(static_cast<std::int64_t>(points[i].place))
             .run())
      return cannot("write", file(), database);
  if (!execute(database, "commit")) return cannot("write", file(), database);
  return {};
}

Result<void> CampaignStore::keep(std::size_t first, std::span<const Sample> samples) {
  sqlite3* database = state_->database.get();
  bool ok = execute(database, "begin") && (state_->book == nullptr || state_->keep_failures());
  Statement insert(database, "insert or ignore into samples values (?, ?, ?, ?, ?, ?)");
  Statement failed(database, "insert or ignore into failed values (?, ?, ?)");
  for (std::size_t i = 0; ok && i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const auto number = static_cast<std::int64_t>(first + i);
    ok = insert.bind(number)
             .bind(static_cast<std::int64_t>(sample.purpose))
             .bind(std::int64_t{sample.wanted})
             .bind(std::int64_t{sample.runs})
             .bind(sample.points.words())
             .bind(static_cast<std::int64_t>(sample.sides))
             .run();
    for (const auto& [failure, count] : sample.failures)
      ok = ok && failed.bind(number).bind(std::int64_t{failure}).bind(std::int64_t{count}).run();
  }
  if (!ok || !execute(database, "commit")) {
    const auto problem = cannot("write", file(), database);
    execute(database, "rollback");
    return problem;
  }
  return {};
}

}  // namespace clew
