#include "table.h"

#include "error.h"

namespace engine {

std::optional<std::size_t> TableShare::column(const std::string& wanted) const {
  for (std::size_t i = 0; i < columns.size(); i++)
    if (columns[i].name == wanted) return i;
  return std::nullopt;
}

std::optional<std::size_t> TableShare::primary_column() const {
  for (std::size_t i = 0; i < columns.size(); i++)
    if (columns[i].primary) return i;
  return std::nullopt;
}

RowId TableShare::insert(Row row) {
  std::lock_guard guard(mutex);
  row.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); i++)
    if (columns[i].counts && row[i].is_null()) row[i] = Value(next_number++);
  const auto key = primary_column();
  if (key && primary.find(row[*key])) throw SqlError(Code::kDuplicate, name + " has that key");
  const RowId id = rows.insert(pack_row(row));
  if (key) primary.insert(row[*key], id);
  return id;
}

bool TableShare::erase(RowId row) {
  std::lock_guard guard(mutex);
  const auto bytes = rows.read(row);
  if (!bytes) return false;
  if (const auto key = primary_column()) primary.erase(unpack_row(*bytes)[*key]);
  return rows.erase(row);
}

void TableShare::replace(RowId row, const Row& changed) {
  std::lock_guard guard(mutex);
  const auto before = rows.read(row);
  if (!before) return;
  const RowId id = rows.replace(row, pack_row(changed));
  if (const auto key = primary_column()) {
    primary.erase(unpack_row(*before)[*key]);
    primary.insert(changed[*key], id);
  }
}

std::optional<Row> TableShare::read(RowId row) {
  std::lock_guard guard(mutex);
  const auto bytes = rows.read(row);
  if (!bytes) return std::nullopt;
  return unpack_row(*bytes);
}

std::optional<RowId> TableShare::next(RowId from) {
  std::lock_guard guard(mutex);
  return rows.next(from);
}

std::optional<RowId> TableShare::find(const Value& key) {
  std::lock_guard guard(mutex);
  return primary.find(key);
}

std::optional<Row> Table::first_row() {
  info->position = {};
  return next_row();
}

std::optional<Row> Table::next_row() {
  const auto at = info->share->next(info->position);
  if (!at) return std::nullopt;
  info->position = {at->page, at->slot + 1};
  info->rows_read++;
  return info->share->read(*at);
}

}  // namespace engine
