#include "index.h"

#include <iterator>
#include <utility>

namespace engine {

std::size_t Index::Node::lower(const Value& key) const {
  std::size_t first = 0, count = keys.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    if (keys[first + half].compare(key) < 0) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

std::optional<RowId> Index::find(const Value& key) const {
  const Node* node = root_.get();
  while (true) {
    const std::size_t at = node->lower(key);
    if (at < node->keys.size() && node->keys[at] == key) return node->rows[at];
    if (node->is_leaf()) return std::nullopt;
    node = node->children[at].get();
  }
}

std::optional<Value> Index::highest() const {
  const Node* node = root_.get();
  while (!node->is_leaf()) node = node->children.back().get();
  if (node->keys.empty()) return std::nullopt;
  return node->keys.back();
}

std::size_t Index::height() const {
  std::size_t height = 1;
  for (const Node* node = root_.get(); !node->is_leaf(); node = node->children.front().get())
    height++;
  return height;
}

bool Index::insert(const Value& key, RowId row) {
  if (root_->keys.size() == kMost) {
    auto above = std::make_unique<Node>();
    above->children.push_back(std::move(root_));
    split(*above, 0);
    root_ = std::move(above);
  }
  if (!insert_into(*root_, key, row)) return false;
  size_++;
  return true;
}

// The middle key of the child moves up.
void Index::split(Node& parent, std::size_t child) {
  Node& left = *parent.children[child];
  auto right = std::make_unique<Node>();
  const std::size_t middle = left.keys.size() / 2;
  const auto from = static_cast<std::ptrdiff_t>(middle);
  right->keys.assign(std::make_move_iterator(left.keys.begin() + from + 1),
                     std::make_move_iterator(left.keys.end()));
  right->rows.assign(left.rows.begin() + from + 1, left.rows.end());
  if (!left.is_leaf()) {
    right->children.assign(std::make_move_iterator(left.children.begin() + from + 1),
                           std::make_move_iterator(left.children.end()));
    left.children.resize(middle + 1);
  }
  const auto to = static_cast<std::ptrdiff_t>(child);
  parent.keys.insert(parent.keys.begin() + to, std::move(left.keys[middle]));
  parent.rows.insert(parent.rows.begin() + to, left.rows[middle]);
  parent.children.insert(parent.children.begin() + to + 1, std::move(right));
  left.keys.resize(middle);
  left.rows.resize(middle);
}

bool Index::insert_into(Node& node, const Value& key, RowId row) {
  std::size_t at = node.lower(key);
  if (at < node.keys.size() && node.keys[at] == key) return false;
  if (node.is_leaf()) {
    node.keys.insert(node.keys.begin() + static_cast<std::ptrdiff_t>(at), key);
    node.rows.insert(node.rows.begin() + static_cast<std::ptrdiff_t>(at), row);
    return true;
  }
  if (node.children[at]->keys.size() == kMost) {
    split(node, at);
    const int order = node.keys[at].compare(key);
    if (order == 0) return false;
    if (order < 0) at++;
  }
  return insert_into(*node.children[at], key, row);
}

bool Index::erase(const Value& key) {
  if (!erase_from(*root_, key)) return false;
  if (root_->keys.empty() && !root_->is_leaf()) {
    std::unique_ptr<Node> only = std::move(root_->children.front());
    root_ = std::move(only);
  }
  size_--;
  return true;
}

bool Index::erase_from(Node& node, const Value& key) {
  const std::size_t at = node.lower(key);
  const bool here = at < node.keys.size() && node.keys[at] == key;
  if (node.is_leaf()) {
    if (!here) return false;
    node.keys.erase(node.keys.begin() + static_cast<std::ptrdiff_t>(at));
    node.rows.erase(node.rows.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }
  Node& child = *node.children[at];
  bool erased = false;
  if (here) {
    // The highest key below it takes its place.
    const Node* last = &child;
    while (!last->is_leaf()) last = last->children.back().get();
    node.keys[at] = last->keys.back();
    node.rows[at] = last->rows.back();
    const Value moved = node.keys[at];
    erased = erase_from(child, moved);
  } else {
    erased = erase_from(child, key);
  }
  if (child.keys.empty()) merge_or_borrow(node, at);
  return erased;
}

// A child without keys takes one from a neighbour, or becomes a part of it.
void Index::merge_or_borrow(Node& parent, std::size_t child) {
  const std::size_t left_at = child > 0 ? child - 1 : 0;
  Node& left = *parent.children[left_at];
  Node& right = *parent.children[left_at + 1];
  const auto key = static_cast<std::ptrdiff_t>(left_at);
  if (left.keys.size() + right.keys.size() < kMost) {
    left.keys.push_back(std::move(parent.keys[left_at]));
    left.rows.push_back(parent.rows[left_at]);
    for (Value& one : right.keys) left.keys.push_back(std::move(one));
    left.rows.insert(left.rows.end(), right.rows.begin(), right.rows.end());
    for (auto& one : right.children) left.children.push_back(std::move(one));
    parent.keys.erase(parent.keys.begin() + key);
    parent.rows.erase(parent.rows.begin() + key);
    parent.children.erase(parent.children.begin() + key + 1);
    return;
  }
  if (left.keys.empty()) {
    left.keys.push_back(std::exchange(parent.keys[left_at], right.keys.front()));
    left.rows.push_back(std::exchange(parent.rows[left_at], right.rows.front()));
    right.keys.erase(right.keys.begin());
    right.rows.erase(right.rows.begin());
    if (!right.is_leaf()) {
      left.children.push_back(std::move(right.children.front()));
      right.children.erase(right.children.begin());
    }
    return;
  }
  right.keys.insert(right.keys.begin(), std::exchange(parent.keys[left_at], left.keys.back()));
  right.rows.insert(right.rows.begin(), std::exchange(parent.rows[left_at], left.rows.back()));
  left.keys.pop_back();
  left.rows.pop_back();
  if (!left.is_leaf()) {
    right.children.insert(right.children.begin(), std::move(left.children.back()));
    left.children.pop_back();
  }
}

}  // namespace engine
