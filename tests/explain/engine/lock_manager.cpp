#include "lock_manager.h"

namespace engine {

LockManager::RowLock& LockManager::entry(const std::string& table, RowId row) {
  RowLock& lock = locks_[{table, row}];
  if (lock.table.empty()) {
    lock.table = table;
    lock.row = row;
  }
  return lock;
}

LockManager::Answer LockManager::lock(const std::string& table, RowId row,
                                      TransactionId transaction) {
  std::lock_guard guard(mutex_);
  RowLock& lock = entry(table, row);
  if (lock.owner != 0 && lock.owner != transaction) return Answer::kRefused;
  lock.owner = transaction;
  return Answer::kGranted;
}

void LockManager::release_all(TransactionId transaction) {
  std::lock_guard guard(mutex_);
  for (auto& [key, lock] : locks_)
    if (lock.owner == transaction) lock.owner = 0;
}

std::size_t LockManager::held(TransactionId transaction) {
  std::lock_guard guard(mutex_);
  std::size_t count = 0;
  for (const auto& [key, lock] : locks_) count += lock.owner == transaction;
  return count;
}

}  // namespace engine
