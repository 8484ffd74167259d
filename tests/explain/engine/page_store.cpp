#include "page_store.h"

#include <algorithm>
#include <cstring>

#include "error.h"

namespace engine {

std::size_t Page::room() const {
  std::size_t used = 0;
  for (std::uint32_t i = 0; i < count_; i++) used += slots_[i].size;
  return kSize - used;
}

std::optional<std::uint32_t> Page::insert(const std::string& bytes) {
  if (bytes.size() > room()) return std::nullopt;
  std::uint32_t slot = 0;
  while (slot < count_ && slots_[slot].size > 0) slot++;
  if (slot == kSlots) return std::nullopt;
  if (begin_ < bytes.size()) compact();
  if (begin_ < bytes.size()) return std::nullopt;
  begin_ -= bytes.size();
  std::memcpy(bytes_ + begin_, bytes.data(), bytes.size());
  slots_[slot] = {static_cast<std::uint16_t>(begin_), static_cast<std::uint16_t>(bytes.size())};
  count_ = std::max(count_, slot + 1);
  return slot;
}

bool Page::replace(std::uint32_t slot, const std::string& bytes) {
  if (!is_used(slot)) return false;
  if (bytes.size() <= slots_[slot].size) {
    std::memcpy(bytes_ + slots_[slot].offset, bytes.data(), bytes.size());
    slots_[slot].size = static_cast<std::uint16_t>(bytes.size());
    return true;
  }
  if (bytes.size() > room() + slots_[slot].size) return false;
  slots_[slot].size = 0;
  compact();
  begin_ -= bytes.size();
  std::memcpy(bytes_ + begin_, bytes.data(), bytes.size());
  slots_[slot] = {static_cast<std::uint16_t>(begin_), static_cast<std::uint16_t>(bytes.size())};
  return true;
}

bool Page::erase(std::uint32_t slot) {
  if (!is_used(slot)) return false;
  slots_[slot].size = 0;
  while (count_ > 0 && slots_[count_ - 1].size == 0) count_--;
  return true;
}

std::string Page::read(std::uint32_t slot) const {
  return std::string(bytes_ + slots_[slot].offset, slots_[slot].size);
}

void Page::compact() {
  char packed[kSize];
  std::size_t begin = kSize;
  for (std::uint32_t i = 0; i < count_; i++) {
    Slot& slot = slots_[i];
    if (slot.size == 0) continue;
    begin -= slot.size;
    std::memcpy(packed + begin, bytes_ + slot.offset, slot.size);
    slot.offset = static_cast<std::uint16_t>(begin);
  }
  std::memcpy(bytes_ + begin, packed + begin, kSize - begin);
  begin_ = begin;
}

RowId PageStore::insert(const std::string& bytes) {
  if (bytes.size() > Page::kSize) throw SqlError(Code::kFull, "a row is too long");
  for (std::uint32_t i = 0; i < pages_.size(); i++)
    if (const auto slot = pages_[i]->insert(bytes)) return {i, *slot};
  pages_.push_back(std::make_unique<Page>());
  const auto slot = pages_.back()->insert(bytes);
  return {static_cast<std::uint32_t>(pages_.size() - 1), *slot};
}

RowId PageStore::replace(RowId row, const std::string& bytes) {
  if (row.page < pages_.size() && pages_[row.page]->replace(row.slot, bytes)) return row;
  erase(row);
  return insert(bytes);
}

bool PageStore::erase(RowId row) {
  return row.page < pages_.size() && pages_[row.page]->erase(row.slot);
}

std::optional<std::string> PageStore::read(RowId row) const {
  if (row.page >= pages_.size() || !pages_[row.page]->is_used(row.slot)) return std::nullopt;
  return pages_[row.page]->read(row.slot);
}

std::optional<RowId> PageStore::next(RowId from) const {
  for (std::uint32_t page = from.page; page < pages_.size(); page++) {
    const std::uint32_t first = page == from.page ? from.slot : 0;
    for (std::uint32_t slot = first; slot < pages_[page]->count(); slot++)
      if (pages_[page]->is_used(slot)) return RowId{page, slot};
  }
  return std::nullopt;
}

}  // namespace engine
