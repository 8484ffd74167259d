#include "host/cases/sites.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "host/isolate/source_view.h"
#include "host/recording/file.h"
#include "host/symbolize/points.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

// Stacks that a run is asked for, and what is read of a source file. Chosen, not measured.
constexpr std::size_t kMostQueries = 3000;
constexpr std::size_t kMostSource = std::size_t{16} << 20;

bool is_user_file(const std::string& file) {
  return !file.empty() && is_user_location({file, 1, ""});
}

abi::StepKind step_kind(abi::PointKind kind) {
  using enum abi::PointKind;
  switch (kind) {
    case kLoad:
    case kAtomicLoad:
    case kBlockRead:
      return abi::StepKind::kRead;
    case kStore:
    case kAtomicStore:
    case kBlockWrite:
      return abi::StepKind::kWrite;
    case kAtomicRmw:
    case kAtomicCas:
      return abi::StepKind::kUpdate;
    case kFree:
      return abi::StepKind::kFree;
    case kScopeEnd:
      return abi::StepKind::kDestroy;
    default:
      return abi::StepKind::kOther;
  }
}

}  // namespace

const std::vector<Statement>* Sites::source(const std::string& file) {
  auto [entry, added] = sources_.try_emplace(file);
  if (added) {
    words_.clear();
    if (const auto bytes = read_file(file, kMostSource))
      entry->second = std::make_unique<std::vector<Statement>>(
          statements_of({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
  }
  return entry->second.get();
}

std::vector<std::string> Sites::missing_sources() const {
  std::vector<std::string> missing;
  for (const auto& [file, text] : sources_)
    if (!text) missing.push_back(file);
  return missing;
}

std::vector<const Statement*> Sites::statements_like(const std::string& function,
                                                     const std::vector<std::string>& tokens) const {
  std::vector<const Statement*> found;
  std::vector<const Statement*> renamed;
  for (const auto& [file, statements] : sources_)
    if (statements)
      for (const Statement& statement : *statements) {
        if (statement.function != function) continue;
        if (statement.tokens == tokens)
          found.push_back(&statement);
        else if (same_but_for_names(statement.tokens, tokens))
          renamed.push_back(&statement);
      }
  if (found.empty() && renamed.size() == 1) return renamed;
  return found;
}

bool Sites::mentions(const std::string& name) const {
  for (const auto& [file, statements] : sources_) {
    if (!statements) return true;  // it may
    for (const Statement& statement : *statements)
      if (std::ranges::find(statement.tokens, name) != statement.tokens.end()) return true;
  }
  return std::ranges::any_of(sites_, [&](const Site& site) { return site.variable == name; });
}

bool Sites::has_function(const std::string& name) const {
  const std::string wanted = last_name(name);
  if (wanted.empty() || wanted == "main") return false;
  for (const auto& [file, statements] : sources_)
    if (statements && std::ranges::any_of(*statements, [&](const Statement& statement) {
          return last_name(statement.function) == wanted;
        }))
      return true;
  return false;
}

const std::set<std::string>& Sites::words_of(const std::string& function) const {
  const auto [entry, is_new] = words_.try_emplace(function);
  if (!is_new) return entry->second;
  const std::string wanted = last_name(function);
  for (const auto& [file, statements] : sources_) {
    if (!statements) continue;
    for (const Statement& statement : *statements)
      if (last_name(statement.function) == wanted)
        entry->second.insert(statement.tokens.begin(), statement.tokens.end());
  }
  return entry->second;
}

SiteId Sites::intern(Site site) {
  const auto key = std::tuple(site.place, site.file, site.line, site.column);
  const auto [entry, added] = known_.try_emplace(key, static_cast<SiteId>(sites_.size()));
  if (!added) {
    Site& same = sites_[entry->second];
    if (site.executed && same.kind == abi::StepKind::kOther) same.kind = site.kind;
    same.executed |= site.executed;
    same.several_variables |= same.executed && same.variable != site.variable;
    if (same.several_variables) same.variable.clear();
    return entry->second;
  }
  if (site.line != 0)
    if (const auto* statements = source(site.file))
      site.statement = statement_at(*statements, site.line, site.column);
  if (site.statement != nullptr && !site.statement->function.empty())
    site.function = site.statement->function;
  sites_.push_back(std::move(site));
  return entry->second;
}

std::vector<std::uint64_t> Sites::clocks_to_query(std::span<const TraceStep> steps,
                                                  const RunResult* known) const {
  std::unique_ptr<Symbolizer> symbols;
  if (known != nullptr) symbols = std::make_unique<Symbolizer>(known->reports);
  std::set<abi::Place> seen;
  std::vector<std::uint64_t> clocks;
  for (const TraceStep& step : steps) {
    if (step.place == 0 || anchor_word(step.kind) == nullptr) continue;
    bool library = symbols == nullptr;
    if (symbols)
      if (const auto info = symbols->place(step.place)) library = !is_user_file(info->at.file);
    if (!seen.insert(step.place).second && !library) continue;
    if (clocks.size() < kMostQueries) clocks.push_back(step.clock);
  }
  std::ranges::sort(clocks);
  const auto repeated = std::ranges::unique(clocks);
  clocks.erase(repeated.begin(), repeated.end());
  return clocks;
}

void Sites::add(std::span<const TraceStep> steps, std::shared_ptr<const RunResult> result) {
  Run run{result, std::make_unique<Symbolizer>(result->reports), nullptr};
  run.names = std::make_unique<RunNames>(*run.symbols);
  for (const ThreadInfo& thread : result->reports.threads)
    threads_.emplace(key_of_thread(thread.id), thread.id);

  std::unordered_map<std::uint64_t, const StackReport*> stacks;
  for (const StackReport& stack : result->reports.stacks)
    if (stack.running) stacks.emplace(stack.clock, &stack);

  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> counts;
  for (const TraceStep& step : steps) {
    const std::uint64_t count = ++counts[{step.thread, step.place}];
    if (step.place == 0 || anchor_word(step.kind) == nullptr) continue;
    Site site;
    site.kind = step.kind;
    site.place = step.place;
    site.executed = true;
    if (step.object != 0 && touches(step))
      site.variable = without_indices(source_text(run.names->global(step.object, step.size)));
    const auto info = run.symbols->place(step.place);
    const bool own = info && is_user_file(info->at.file);
    if (own) {
      site.file = info->at.file;
      site.line = info->at.line;
      site.column = info->column;
      site.function = source_function(info->at.function);
    } else {
      library_[step.place] = true;
    }
    const auto stack = stacks.find(step.clock);
    // A place of the user's own without a line was moved by the compiler; the line of its code
    // address is that of some neighbour.
    if (!own) {
      if (stack == stacks.end()) continue;
      const auto frames = run.symbols->frames(stack->second->frames);
      const SourceFrame* frame = Symbolizer::user_frame(frames);
      if (frame == nullptr || !is_user_code(*frame)) continue;
      site.file = frame->file;
      site.line = frame->line;
      site.column = frame->column;
      site.function = source_function(frame->function);
    }
    const SiteId id = intern(std::move(site));
    by_instance_.insert_or_assign({step.thread, step.place, count}, id);
    by_place_.try_emplace(step.place, id);
  }
  runs_.push_back(std::move(run));
}

void Sites::add_table(const RunResult& run) {
  for (const ModuleInfo& module : run.reports.modules) {
    auto table = PointTable::open(module.path);
    if (!table) continue;
    constexpr std::uint64_t kMostPoints = 200'000;
    for (std::uint64_t i = 0; i < std::min(table->size(), kMostPoints); ++i) {
      const auto point = table->at(i);
      if (!point || point->line == 0 || !is_user_file(point->file)) continue;
      const abi::Place place = (module.base + i) << 1;
      const abi::StepKind kind = step_kind(point->kind);
      if (kind == abi::StepKind::kOther && point->kind != abi::PointKind::kSyncCall) continue;
      if (by_place_.contains(place)) continue;
      Site site;
      site.file = point->file;
      site.line = point->line;
      site.column = point->column;
      site.kind = kind;
      site.place = place;
      by_place_.emplace(place, intern(std::move(site)));
    }
  }
}

std::vector<SiteId> Sites::of(std::span<const TraceStep> steps) const {
  std::vector<SiteId> result;
  result.reserve(steps.size());
  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> counts;
  for (const TraceStep& step : steps) {
    SiteId id = kNoSite;
    if (step.place != 0 && anchor_word(step.kind) != nullptr) {
      const std::uint64_t count = ++counts[{step.thread, step.place}];
      const auto instance = by_instance_.find({step.thread, step.place, count});
      const auto place = by_place_.find(step.place);
      if (library_.contains(step.place) && instance != by_instance_.end())
        id = instance->second;
      else if (place != by_place_.end())
        id = place->second;
    }
    result.push_back(id);
  }
  return result;
}

Anchor Sites::anchor_of(SiteId id) const {
  const Site& site = sites_[id];
  Anchor anchor;
  anchor.kind = site.kind;
  anchor.variable = site.variable;
  anchor.function = site.function;
  const std::size_t slash = site.file.rfind('/');
  anchor.file = slash == std::string::npos ? site.file : site.file.substr(slash + 1);
  if (site.statement != nullptr) {
    anchor.text = site.statement->tokens;
    anchor.shown = site.statement->text;
    anchor.occurrence = site.statement->occurrence;
  }
  return anchor;
}

std::string Sites::thread_name(abi::ThreadKey key) const {
  const auto found = threads_.find(key);
  return found == threads_.end() ? "" : found->second;
}

}  // namespace clew
