// Locks of rows, kept until the transaction ends. Who does not get one is refused at once: waiting could be for ever.
#ifndef ENGINE_LOCK_MANAGER_H_
#define ENGINE_LOCK_MANAGER_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "page_store.h"

namespace engine {

using TransactionId = unsigned;

class LockManager {
 public:
  enum class Answer { kGranted, kRefused };

  Answer lock(const std::string& table, RowId row, TransactionId transaction);
  void release_all(TransactionId transaction);
  std::size_t held(TransactionId transaction);

 private:
  struct RowLock {
    std::string table;
    RowId row;
    TransactionId owner = 0;  // 0: free
  };
  RowLock& entry(const std::string& table, RowId row);

  std::mutex mutex_;
  std::map<std::pair<std::string, RowId>, RowLock> locks_;
};

}  // namespace engine

#endif  // ENGINE_LOCK_MANAGER_H_
