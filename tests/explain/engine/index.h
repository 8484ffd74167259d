// A B-tree from values of a column to rows. Keys are unique.
#ifndef ENGINE_INDEX_H_
#define ENGINE_INDEX_H_

#include <memory>
#include <optional>
#include <vector>

#include "page_store.h"
#include "value.h"

namespace engine {

class Index {
 public:
  // Whether it was not there.
  bool insert(const Value& key, RowId row);
  bool erase(const Value& key);
  std::optional<RowId> find(const Value& key) const;
  std::optional<Value> highest() const;
  std::size_t size() const { return size_; }
  std::size_t height() const;

 private:
  static constexpr std::size_t kMost = 6;  // of keys in a node

  struct Node {
    std::vector<Value> keys;
    std::vector<RowId> rows;
    std::vector<std::unique_ptr<Node>> children;  // one more than keys, or none
    bool is_leaf() const { return children.empty(); }
    std::size_t lower(const Value& key) const;
  };

  static void split(Node& parent, std::size_t child);
  static bool insert_into(Node& node, const Value& key, RowId row);
  static bool erase_from(Node& node, const Value& key);
  static void merge_or_borrow(Node& parent, std::size_t child);

  std::unique_ptr<Node> root_ = std::make_unique<Node>();
  std::size_t size_ = 0;
};

}  // namespace engine

#endif  // ENGINE_INDEX_H_
