#include "host/noise/plugin.h"

#include <clew/search.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "host/trace/step_word.h"

namespace clew {
namespace {

using search::Iteration;
using search::List;

const char* word_of(abi::StepKind kind) {
  const char* word = to_word(kind);
  return *word == '\0' ? "other" : word;
}

class ProgramOfLaboratory final : public search::Program {
 public:
  ProgramOfLaboratory(Laboratory& laboratory, const std::vector<NoisePoint>& points)
      : lab_(laboratory) {
    for (const NoisePoint& point : points)
      points_.push_back({point.at.file.c_str(), point.at.line, point.column,
                         point.at.function.c_str(), word_of(point.kind), point.starts_thread(),
                         point.races, point.inverts});
  }

  List<search::Point> get_all_points() const override { return points_; }

  unsigned run_iteration(List<std::uint32_t> points, unsigned runs) override {
    Iteration one{points, runs};
    run_iterations(&one, 1);
    return one.failed;
  }

  void run_iterations(Iteration* iterations, std::size_t count) override {
    std::vector<Sample> batch;
    for (std::size_t i = 0; i < count; ++i) {
      iterations[i].failed = 0;
      batch.push_back({subset(iterations[i].points), iterations[i].runs, SamplePurpose::kSearch});
    }
    if (stopped_ || batch.empty()) return;
    const auto ran = lab_.run(std::move(batch));
    stopped_ = ran.empty();
    for (std::size_t i = 0; i < ran.size(); ++i) iterations[i].failed = ran[i].failed();
  }

  bool stopped() const override { return stopped_; }

  void answer(List<std::uint32_t> points) override {
    NoiseCause cause;
    cause.points = subset(points).members();
    if (!cause.points.empty()) answers_.push_back(std::move(cause));
  }

  // What the algorithm says is run before clew says it.
  SearchResult result() {
    SearchResult result;
    for (NoiseCause& cause : answers_) {
      if (!confirm(lab_, cause, Target())) break;
      if (cause.is_tenable()) {
        result.causes.push_back(std::move(cause));
      } else {
        result.remarks.push_back(
            fmt::format("the algorithm's answer of {} points fails in {} of {} runs, not more "
                        "often than without "
                        "them, and is not reported",
                        cause.points.size(), cause.rate.failed, cause.rate.runs));
      }
    }
    return result;
  }

 private:
  Subset subset(List<std::uint32_t> points) const {
    Subset result(lab_.points());
    for (const std::uint32_t point : points)
      if (point < lab_.points()) result.add(point);
    return result;
  }

  Laboratory& lab_;
  std::vector<search::Point> points_;
  std::vector<NoiseCause> answers_;
  bool stopped_ = false;
};

}  // namespace

struct Plugin::Library {
  explicit Library(void* opened) : handle(opened) {}
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  void* handle;
  void (*search)(search::Program&) = nullptr;
};

Plugin::Plugin(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Plugin::Plugin(Plugin&&) noexcept = default;
Plugin::~Plugin() = default;

Result<Plugin> Plugin::load(const std::string& file) {
  // A name without a slash would be looked for among the system's libraries.
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot load the algorithm {}: {}", file, dlerror()),
                "active, features, dd, ddmin, or a shared library (docs/pinpoint.md)");
  auto library = std::make_unique<Library>(handle);
  const auto version = reinterpret_cast<std::uint32_t (*)()>(dlsym(handle, "clew_search_version"));
  library->search = reinterpret_cast<void (*)(search::Program&)>(dlsym(handle, "clew_search"));
  if (version == nullptr || library->search == nullptr)
    return fail(ErrorCode::kBadInput, fmt::format("{} defines no algorithm", file),
                "CLEW_SEARCH_ALGORITHM(program) { ... } of <clew/search.h> does");
  if (version() != search::kVersion)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} was built for version {} of <clew/search.h>, this is {}", file,
                            version(), search::kVersion),
                "build it again");
  return Plugin(std::move(library));
}

SearchResult Plugin::search(Laboratory& laboratory, const std::vector<NoisePoint>& points) const {
  ProgramOfLaboratory program(laboratory, points);
  library_->search(program);
  return program.result();
}

}  // namespace clew
