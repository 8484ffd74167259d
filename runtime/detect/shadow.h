// A table by address: a T for each granule of 8 bytes of the program's memory, made when it is first
// asked for, a page of the program's at a time.
#ifndef CLEW_RUNTIME_DETECT_SHADOW_H_
#define CLEW_RUNTIME_DETECT_SHADOW_H_

#include <cstring>

#include "runtime/detect/pool.h"

namespace clew::rt {

inline constexpr unsigned kGranuleBits = 3;
inline constexpr std::uintptr_t kGranule = std::uintptr_t{1} << kGranuleBits;

// REQUIRES: a T of zeros is an empty one.
template <class T>
class Shadow {
 public:
  // Null: there is none yet.
  T* find(std::uintptr_t address) const {
    const Page* page = page_of(address >> kPageBits);
    return page != nullptr ? const_cast<T*>(&page->at[slot_of(address)]) : nullptr;
  }
  // Null: there is no memory left for it, or it is no address of a program.
  T* at(std::uintptr_t address) {
    const std::uintptr_t number = address >> kPageBits;
    if (CLEW_LIKELY(number == last_number_)) return &last_->at[slot_of(address)];
    Page* page = page_of(number);
    if (page == nullptr) page = make_page(number);
    if (page == nullptr) return nullptr;
    last_number_ = number;
    last_ = page;
    return &page->at[slot_of(address)];
  }
  // Calls `visit(address of the granule, T&)` for those that there are in [begin, end).
  template <class Visit>
  void each(std::uintptr_t begin, std::uintptr_t end, Visit&& visit) {
    for (std::uintptr_t at = begin & ~(kGranule - 1); at < end;) {
      if (at >> kAddressBits != 0) return;
      const std::uintptr_t next = ((at >> kPageBits) + 1) << kPageBits;
      Page* page = page_of(at >> kPageBits);
      if (page == nullptr) {
        at = table_of(at) != nullptr ? next : ((at >> kTableBits) + 1) << kTableBits;
        continue;
      }
      for (; at < end && at < next; at += kGranule) visit(at, page->at[slot_of(at)]);
    }
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr unsigned kTableBits = 30;  // of the addresses that one table is for
  static constexpr unsigned kAddressBits = 47;
  static constexpr std::size_t kSlots = std::size_t{1} << (kPageBits - kGranuleBits);
  static constexpr std::size_t kPages = std::size_t{1} << (kTableBits - kPageBits);
  struct Page {
    T at[kSlots];
  };
  struct Table {
    Page* pages[kPages];
  };

  static std::size_t slot_of(std::uintptr_t address) {
    return (address >> kGranuleBits) & (kSlots - 1);
  }
  Table* table_of(std::uintptr_t address) const {
    return address >> kAddressBits == 0 && tables_ != nullptr ? tables_[address >> kTableBits]
                                                              : nullptr;
  }
  Page* page_of(std::uintptr_t number) const {
    const Table* table = table_of(number << kPageBits);
    return table != nullptr ? table->pages[number & (kPages - 1)] : nullptr;
  }
  // What comes from the arena is zero, and these are never given back.
  CLEW_NOINLINE Page* make_page(std::uintptr_t number) {
    constexpr std::size_t kTables = std::size_t{1} << (kAddressBits - kTableBits);
    const std::uintptr_t address = number << kPageBits;
    if (address >> kAddressBits != 0) return nullptr;
    if (tables_ == nullptr) tables_ = static_cast<Table**>(zeroed(kTables * sizeof(Table*)));
    if (tables_ == nullptr) return nullptr;
    Table*& table = tables_[address >> kTableBits];
    if (table == nullptr) table = static_cast<Table*>(zeroed(sizeof(Table)));
    if (table == nullptr) return nullptr;
    Page*& page = table->pages[number & (kPages - 1)];
    page = static_cast<Page*>(zeroed(sizeof(Page)));
    return page;
  }
  // From the pool it might have been used before, and the large tables are mostly untouched zeros.
  static void* zeroed(std::size_t size) { return g_pool.take_fresh(size); }

  Table** tables_ = nullptr;
  std::uintptr_t last_number_ = ~std::uintptr_t{0};
  Page* last_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_DETECT_SHADOW_H_
