// The tables that are open. `lock_open` guards the list and the flags of its entries; who uses a table has set its `in_use` and works on it
// without the lock. A table that is to be dropped while somebody uses it is marked, and its user is told to close it.
#ifndef ENGINE_TABLE_CACHE_H_
#define ENGINE_TABLE_CACHE_H_

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "table.h"

namespace engine {

class TableCache {
 public:
  ~TableCache();

  std::shared_ptr<TableShare> create(const std::string& name,
                                     std::vector<ColumnDefinition> columns);
  std::shared_ptr<TableShare> find(const std::string& name);
  Table* open(const std::string& name, Session& session);
  void close(Table* table);

  // Closes what others want to be gone, of the tables of the session.
  void close_outdated(Session& session);

  // Takes the table away, from who uses it as well.
  void drop(const std::string& name, Session& session);

  std::size_t open_tables();

 private:
  Table* find_unused(const std::string& name);
  Table* make(const std::string& name);
  void remove_from_cache(const std::string& name, Session& session);
  bool is_used_by_other(const Table& table, const Session& session) const;
  void tell_to_close(Table& table);
  void close_handler(Table& table);

  std::mutex lock_open_;
  std::condition_variable released_;
  std::map<std::string, std::shared_ptr<TableShare>> shares_;
  std::list<Table> tables_;
};

}  // namespace engine

#endif  // ENGINE_TABLE_CACHE_H_
