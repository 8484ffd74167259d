#include "session.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "join.h"

namespace engine {

// The tables of a statement, open as long as it runs.
class Session::OpenTables {
 public:
  explicit OpenTables(Session& session) : session_(session) {}
  ~OpenTables() {
    for (Table* table : tables_) session_.database_.tables.close(table);
  }
  Table* open(const std::string& name) {
    Table* table = session_.database_.tables.open(name, session_);
    tables_.push_back(table);
    return table;
  }
  const std::vector<Table*>& all() const { return tables_; }

 private:
  Session& session_;
  std::vector<Table*> tables_;
};

Session::~Session() { roll_back(); }

Answer Session::execute(const std::string& text) {
  try {
    Statement statement = Parser(text).statement();
    return dispatch(statement);
  } catch (const SqlError& error) {
    return {false, error.what(), {}, 0};
  }
}

void Session::prepare(const std::string& name, const std::string& text) {
  prepared_[name] = Parser(text).statement();
}

Answer Session::execute_prepared(const std::string& name) {
  const auto found = prepared_.find(name);
  if (found == prepared_.end()) return {false, "no statement " + name, {}, 0};
  return dispatch(found->second);
}

Answer Session::dispatch(Statement& statement) {
  Answer answer;
  try {
    answer = run(statement);
  } catch (const SqlError& error) {
    answer = {false, error.what(), {}, 0};
  }
  if (!explicit_) {
    if (answer.fine)
      commit();
    else
      roll_back();
  }
  return answer;
}

Answer Session::run(Statement& statement) {
  switch (statement.verb) {
    case Verb::kSelect:
      return run_select(*statement.select);
    case Verb::kCreate:
      return run_create(*statement.create);
    case Verb::kDrop:
      return run_drop(*statement.drop);
    case Verb::kInsert:
      return run_insert(*statement.insert);
    case Verb::kUpdate:
      return run_update(*statement.update);
    case Verb::kDelete:
      return run_delete(*statement.remove);
    case Verb::kBegin:
      explicit_ = true;
      return {};
    case Verb::kCommit:
      explicit_ = false;
      return {};
    case Verb::kRollback:
      explicit_ = false;
      roll_back();
      return {};
  }
  return {};
}

TransactionId Session::transaction() {
  if (transaction_ == 0) transaction_ = ++database_.last_transaction;
  return transaction_;
}

void Session::commit() {
  undo_.forget();
  if (transaction_ != 0) database_.locks.release_all(transaction_);
  transaction_ = 0;
}

void Session::roll_back() {
  undo_.take_back();
  commit();
}

void Session::close_if_asked() {
  if (some_tables_deleted_) database_.tables.close_outdated(*this);
}

std::vector<Row> Session::read_all(Select& select, OpenTables& open) {
  for (const std::string& name : select.tables) open.open(name);
  std::vector<Table*> tables(open.all().end() - static_cast<std::ptrdiff_t>(select.tables.size()),
                             open.all().end());
  Join join(select, std::move(tables), database_.locks, transaction());
  join.bind();
  const int error = join.optimize();
  if (error != 0) {
#ifdef FIXED
    join.cleanup();
#endif
    throw SqlError(Code::kLockRefused, "a row is locked");
  }
  std::vector<Row> rows = join.execute();
  join.cleanup();
  return rows;
}

Answer Session::run_select(Select& select) {
  OpenTables open(*this);
  Answer answer;
  answer.rows = read_all(select, open);
  return answer;
}

Answer Session::run_create(CreateTable& create) {
  if (create.from != nullptr) return run_create_from(create);
  database_.tables.create(create.table, create.columns);
  return {};
}

// The rows of another table, in a new one.
Answer Session::run_create_from(CreateTable& create) {
  OpenTables open(*this);
  Table* from = open.open(create.from->tables.front());
  std::vector<ColumnDefinition> columns;
  for (const Output& output : create.from->outputs) {
    const std::string name = output.item != nullptr ? output.item->name() : "rows";
    const auto at = from->share->column(name);
    columns.push_back(at ? from->share->columns[*at]
                         : ColumnDefinition{name, Type::kInteger, false, false});
    columns.back().primary = columns.back().counts = false;
  }
  const auto made = database_.tables.create(create.table, columns);
  close_if_asked();
  Answer answer;
  for (auto row = from->first_row(); row; row = from->next_row()) {
    Row kept;
    bind(create.from->references, *from, *row);
    for (const Output& output : create.from->outputs)
      kept.push_back(output.item != nullptr ? output.item->evaluate() : Value(1L));
    undo_.inserted(made, made->insert(std::move(kept)));
    answer.changed++;
  }
  return answer;
}

Answer Session::run_drop(const DropTable& drop) {
  database_.tables.drop(drop.table, *this);
  return {};
}

Answer Session::run_insert(const Insert& insert) {
  OpenTables open(*this);
  Table* table = open.open(insert.table);
  Answer answer;
  for (const Row& row : insert.rows) {
    const RowId id = table->share->insert(row);
    undo_.inserted(table->share, id);
    lock_row(*table, id);
    answer.changed++;
  }
  return answer;
}

void Session::bind(const std::vector<RefItem*>& references, Table& table, const Row& row) const {
  for (RefItem* reference : references) {
    const auto index = table.share->column(reference->column().column());
    if (!index) throw SqlError(Code::kNoColumn, "no column " + reference->name());
    reference->column().bind(&row, *index);
  }
}

void Session::lock_row(const Table& table, RowId row) {
  if (database_.locks.lock(table.name, row, transaction()) == LockManager::Answer::kRefused)
    throw SqlError(Code::kLockRefused, "a row is locked");
}

Answer Session::run_update(Update& update) {
  OpenTables open(*this);
  Table* table = open.open(update.table);
  Answer answer;
  for (auto id = table->share->next({}); id; id = table->share->next({id->page, id->slot + 1})) {
    const auto row = table->share->read(*id);
    if (!row) continue;
    bind(update.references, *table, *row);
    if (update.where != nullptr && !update.where->evaluate().is_true()) continue;
    lock_row(*table, *id);
    Row changed = *row;
    for (const auto& [column, item] : update.changes) {
      const auto index = table->share->column(column);
      if (!index) throw SqlError(Code::kNoColumn, "no column " + column);
      changed[*index] = item->evaluate();
    }
    undo_.changed(table->share, *id, *row);
    table->share->replace(*id, changed);
    answer.changed++;
  }
  return answer;
}

Answer Session::run_delete(Delete& remove) {
  OpenTables open(*this);
  Table* table = open.open(remove.table);
  Answer answer;
  for (auto id = table->share->next({}); id; id = table->share->next({id->page, id->slot + 1})) {
    const auto row = table->share->read(*id);
    if (!row) continue;
    bind(remove.references, *table, *row);
    if (remove.where != nullptr && !remove.where->evaluate().is_true()) continue;
    lock_row(*table, *id);
    undo_.erased(table->share, *row);
    table->share->erase(*id);
    answer.changed++;
  }
  return answer;
}

}  // namespace engine
