#include "host/search/guides.h"

#include <type_traits>
#include <utility>

#include "clew_abi/stream.h"

namespace clew {

namespace {

class Writer {
 public:
  template <class Item>
  Writer& operator<<(std::span<const Item> items) {
    put(items.size());
    for (const Item& item : items) put(item);
    return *this;
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_class_v<T>) {
      T::fields(value, [this](const auto& field) { this->put(field); });
    } else {
      std::uint8_t encoded[abi::kMaxVarint];
      const std::size_t size = abi::put_varint(encoded, static_cast<std::uint64_t>(value));
      bytes_.insert(bytes_.end(), encoded, encoded + size);
    }
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::uint8_t> surw_guide(std::span<const SurwThread> threads,
                                     std::span<const abi::Place> interesting) {
  return (Writer() << threads << interesting).take();
}

std::vector<std::uint8_t> rff_guide(std::span<const RffConstraint> constraints,
                                    std::span<const abi::Place> rivals) {
  return (Writer() << constraints << rivals).take();
}

std::vector<std::uint8_t> plan_guide(std::span<const PlanDirective> directives) {
  return (Writer() << directives).take();
}

std::vector<std::uint8_t> script_guide(std::span<const ScriptItem> items) {
  return (Writer() << items).take();
}

std::vector<std::uint8_t> noise_guide(std::span<const abi::Place> points) {
  return (Writer() << points).take();
}

std::vector<std::uint8_t> prefix_guide(std::span<const std::uint32_t> threads) {
  return (Writer() << threads).take();
}

}  // namespace clew
