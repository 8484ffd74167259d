// A connection: executes one statement after the other.
#ifndef ENGINE_SESSION_H_
#define ENGINE_SESSION_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lock_manager.h"
#include "parser.h"
#include "table_cache.h"
#include "undo.h"

namespace engine {

struct Database {
  TableCache tables;
  LockManager locks;
  std::atomic<TransactionId> last_transaction{0};
};

struct Answer {
  bool fine = true;
  std::string message;
  std::vector<Row> rows;
  std::size_t changed = 0;
};

class Session {
 public:
  explicit Session(Database& database) : database_(database) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Answer execute(const std::string& text);
  // A statement that is executed many times is parsed once.
  void prepare(const std::string& name, const std::string& text);
  Answer execute_prepared(const std::string& name);

  // By others, with the lock of the table cache.
  void ask_to_close() { some_tables_deleted_ = true; }
  void tables_closed() { some_tables_deleted_ = false; }

 private:
  class OpenTables;

  Answer dispatch(Statement& statement);
  Answer run(Statement& statement);
  Answer run_select(Select& select);
  Answer run_create(CreateTable& create);
  Answer run_create_from(CreateTable& create);
  Answer run_drop(const DropTable& drop);
  Answer run_insert(const Insert& insert);
  Answer run_update(Update& update);
  Answer run_delete(Delete& remove);
  std::vector<Row> read_all(Select& select, OpenTables& open);
  void bind(const std::vector<RefItem*>& references, Table& table, const Row& row) const;
  void lock_row(const Table& table, RowId row);
  void close_if_asked();

  TransactionId transaction();
  void commit();
  void roll_back();

  Database& database_;
  bool some_tables_deleted_ = false;
  TransactionId transaction_ = 0;
  bool explicit_ = false;
  UndoLog undo_;
  std::map<std::string, Statement> prepared_;
};

}  // namespace engine

#endif  // ENGINE_SESSION_H_
