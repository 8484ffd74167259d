#include "host/calls/counted_jobs.h"

#include <utility>

#include "host/target/workers.h"

namespace clew {

// What one program at a time runs with.
struct CountedJobs::Translation {
  Translation(ProgramCode& code, GraphKind graph, CallDetail detail) : log(code, graph, detail) {}

  CallLog log;
  bool whole = true;  // all of the run under way could be read
  std::unique_ptr<TranslationService> service;
};

class CountedJobs::Watcher final : public JobWatcher {
 public:
  Watcher(CountedJobs& jobs, std::unique_ptr<Translation> translation)
      : jobs_(jobs), translation_(std::move(translation)) {}
  ~Watcher() override { jobs_.give_back(std::move(translation_)); }

  // What ran before the job, and a job that was ended, leave marks and counts behind.
  void before_job() override {
    translation_->service->begin_run();
    (void)finish();
    translation_->whole = true;
  }

  void after_job(abi::JobResult& result) override {
    translation_->service->drain();
    CallCounts counts = finish();
    result.number = translation_->whole ? jobs_.keep(std::move(counts)) : 0;
  }

 private:
  CallCounts finish() {
    TranslationService& service = *translation_->service;
    return translation_->log.finish(service.counters(), *service.translator().counting());
  }

  CountedJobs& jobs_;
  std::unique_ptr<Translation> translation_;
};

CountedJobs::CountedJobs(CountLevel level, GraphKind graph, CallDetail detail)
    : code_(level), graph_(graph), detail_(detail) {}
CountedJobs::~CountedJobs() = default;

Result<std::unique_ptr<CountedJobs::Translation>> CountedJobs::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto translation = std::move(free_.back());
      free_.pop_back();
      return translation;
    }
  }
  auto translation = std::make_unique<Translation>(code_, graph_, detail_);
  Translation* to = translation.get();
  CLEW_TRY(translation->service,
           TranslationService::create(code_, detail_, [to](std::span<const std::uint8_t> marks) {
             to->whole = to->log.read(marks, *to->service->translator().counting()) && to->whole;
           }));
  return translation;
}

void CountedJobs::give_back(std::unique_ptr<Translation> translation) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(translation));
}

std::uint64_t CountedJobs::keep(CallCounts counts) {
  const std::lock_guard lock(mutex_);
  counts_.emplace(++last_number_, std::move(counts));
  return last_number_;
}

std::optional<CallCounts> CountedJobs::take(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(number);
  if (found == counts_.end()) return std::nullopt;
  CallCounts counts = std::move(found->second);
  counts_.erase(found);
  return counts;
}

void CountedJobs::forget_others() {
  const std::lock_guard lock(mutex_);
  counts_.clear();
}

RunnerFactory CountedJobs::factory(unsigned width) {
  return [this, width](const LaunchPlan& plan, const ServeOptions& options,
                       OpenInput open_input) -> Result<std::unique_ptr<JobRunner>> {
    ServeOptions counted = options;
    counted.watch = [this](LaunchPlan& of) -> Result<std::unique_ptr<JobWatcher>> {
      CLEW_TRY(auto translation, borrow());
      of.translation = translation->service->descriptor();
      return std::make_unique<Watcher>(*this, std::move(translation));
    };
    return std::make_unique<Workers>(plan, counted, width, std::move(open_input));
  };
}

}  // namespace clew
