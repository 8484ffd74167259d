#include "table_cache.h"

#include <algorithm>

#include "error.h"
#include "session.h"

namespace engine {

TableCache::~TableCache() {
  for (Table& table : tables_) close_handler(table);
}

std::shared_ptr<TableShare> TableCache::create(const std::string& name,
                                               std::vector<ColumnDefinition> columns) {
  std::lock_guard guard(lock_open_);
  if (shares_.contains(name)) throw SqlError(Code::kTableExists, "table " + name + " exists");
  auto share = std::make_shared<TableShare>();
  share->name = name;
  share->columns = std::move(columns);
  shares_[name] = share;
  return share;
}

std::shared_ptr<TableShare> TableCache::find(const std::string& name) {
  std::lock_guard guard(lock_open_);
  const auto found = shares_.find(name);
  if (found == shares_.end()) throw SqlError(Code::kNoTable, "no table " + name);
  return found->second;
}

Table* TableCache::open(const std::string& name, Session& session) {
  std::lock_guard guard(lock_open_);
  Table* table = find_unused(name);
  if (table == nullptr) table = make(name);
  table->in_use = &session;
  return table;
}

Table* TableCache::find_unused(const std::string& name) {
  for (Table& table : tables_)
    if (table.name == name && table.in_use == nullptr && !table.outdated) return &table;
  return nullptr;
}

Table* TableCache::make(const std::string& name) {
  const auto found = shares_.find(name);
  if (found == shares_.end()) throw SqlError(Code::kNoTable, "no table " + name);
  Table& table = tables_.emplace_back();
  table.name = name;
  table.share = found->second;
  table.info = new HandlerInfo{found->second, {}, 0};
  return &table;
}

void TableCache::close(Table* table) {
  std::lock_guard guard(lock_open_);
  table->in_use = nullptr;
  if (table->outdated) {
    close_handler(*table);
    tables_.remove_if([table](const Table& one) { return &one == table; });
  }
  released_.notify_all();
}

void TableCache::close_outdated(Session& session) {
  std::lock_guard guard(lock_open_);
  for (Table& table : tables_) {
    if (table.in_use != &session || !table.outdated) continue;
    close_handler(table);
  }
  session.tables_closed();
}

void TableCache::close_handler(Table& table) {
  delete table.info;
  table.info = nullptr;
}

void TableCache::drop(const std::string& name, Session& session) {
  std::unique_lock lock(lock_open_);
  if (!shares_.contains(name)) throw SqlError(Code::kNoTable, "no table " + name);
#ifdef FIXED
  released_.wait(lock, [&] {
    return std::ranges::none_of(tables_, [&](const Table& table) {
      return table.name == name && is_used_by_other(table, session);
    });
  });
#endif
  remove_from_cache(name, session);
  shares_.erase(name);
}

void TableCache::remove_from_cache(const std::string& name, Session& session) {
  for (auto table = tables_.begin(); table != tables_.end();) {
    if (table->name != name) {
      ++table;
    } else if (is_used_by_other(*table, session)) {
      tell_to_close(*table);
      ++table;
    } else {
      close_handler(*table);
      table = tables_.erase(table);
    }
  }
}

bool TableCache::is_used_by_other(const Table& table, const Session& session) const {
  return table.in_use != nullptr && table.in_use != &session;
}

void TableCache::tell_to_close(Table& table) {
  table.outdated = true;
  table.in_use->ask_to_close();
}

std::size_t TableCache::open_tables() {
  std::lock_guard guard(lock_open_);
  return tables_.size();
}

}  // namespace engine
