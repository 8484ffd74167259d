// Rows in slotted pages: a page has its slots in front and the bytes of its rows behind.
#ifndef ENGINE_PAGE_STORE_H_
#define ENGINE_PAGE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct RowId {
  std::uint32_t page = 0;
  std::uint32_t slot = 0;
  bool operator==(const RowId&) const = default;
  bool operator<(const RowId& other) const {
    return page != other.page ? page < other.page : slot < other.slot;
  }
};

class Page {
 public:
  static constexpr std::size_t kSize = 512;
  static constexpr std::size_t kSlots = 24;

  std::optional<std::uint32_t> insert(const std::string& bytes);
  bool replace(std::uint32_t slot, const std::string& bytes);
  bool erase(std::uint32_t slot);
  bool is_used(std::uint32_t slot) const { return slot < count_ && slots_[slot].size > 0; }
  std::string read(std::uint32_t slot) const;
  std::uint32_t count() const { return count_; }
  std::size_t room() const;

 private:
  struct Slot {
    std::uint16_t offset = 0;
    std::uint16_t size = 0;  // 0: free
  };
  void compact();

  Slot slots_[kSlots];
  std::uint32_t count_ = 0;
  std::size_t begin_ = kSize;  // of what is used
  char bytes_[kSize];
};

class PageStore {
 public:
  RowId insert(const std::string& bytes);
  // Where it is now: it may have moved.
  RowId replace(RowId row, const std::string& bytes);
  bool erase(RowId row);
  std::optional<std::string> read(RowId row) const;
  // The first row at or behind it.
  std::optional<RowId> next(RowId from) const;
  std::size_t pages() const { return pages_.size(); }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace engine

#endif  // ENGINE_PAGE_STORE_H_
