// The name of what synchronises. A class whose first member is a lock has the lock's address: its size
// tells which one is meant.
#ifndef CLEW_HOST_NAMES_SYNC_NAME_H_
#define CLEW_HOST_NAMES_SYNC_NAME_H_

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <cstdint>

#include "host/names/object_name.h"

namespace clew {

// sizeof(int): a spin lock, a futex, a once flag.
inline constexpr std::array<std::uint32_t, 5> kSyncSizes{
    sizeof(pthread_mutex_t), sizeof(pthread_cond_t), sizeof(pthread_rwlock_t), sizeof(sem_t),
    sizeof(int)};

// `name_of`: the name of the object of a size; 0: of any.
template <class NameOf>
[[nodiscard]] ObjectName sync_object_name(NameOf name_of) {
  for (const std::uint32_t size : kSyncSizes) {
    ObjectName found = name_of(size);
    if (found.known() && found.offset == 0 && found.type != nullptr && found.type->size() == size)
      return found;
  }
  return name_of(0);
}

}  // namespace clew

#endif  // CLEW_HOST_NAMES_SYNC_NAME_H_
