// A block compressor: LZ77 with hash chains and lazy matching, then canonical Huffman codes.
// Threads take blocks from a shared counter, compress each, decompress it again and compare.
// Usage: compressor [threads] [size]; size is the input's length in KiB.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

static constexpr std::size_t kBlock = 64 * 1024;
static constexpr int kMinMatch = 4;
static constexpr int kMaxMatch = 255 + kMinMatch;
static constexpr int kMaxChain = 48;
static constexpr int kHashBits = 14;

// Stage 1: tokens. A flag byte announces eight items, each a literal (one byte) or a match (length,
// distance: one and two bytes).
class MatchFinder {
 public:
  explicit MatchFinder(const Bytes& data)
      : data_(data), head_(std::size_t{1} << kHashBits, -1), previous_(data.size(), -1) {}

  struct Match {
    int length = 0;
    int distance = 0;
  };

  void insert(std::size_t position) {
    if (position + kMinMatch > data_.size()) return;
    int& head = head_[hash(position)];
    previous_[position] = head;
    head = static_cast<int>(position);
  }

  Match find(std::size_t position) const {
    Match best;
    if (position + kMinMatch > data_.size()) return best;
    int limit = static_cast<int>(std::min<std::size_t>(kMaxMatch, data_.size() - position));
    int candidate = head_[hash(position)];
    for (int chain = 0; candidate >= 0 && chain < kMaxChain; chain++) {
      int length = 0;
      while (length < limit && data_[candidate + length] == data_[position + length]) length++;
      if (length > best.length) {
        best = {length, static_cast<int>(position) - candidate};
        if (length == limit) break;
      }
      candidate = previous_[candidate];
    }
    if (best.length < kMinMatch) best.length = 0;
    return best;
  }

 private:
  std::uint32_t hash(std::size_t position) const {
    std::uint32_t word;
    std::memcpy(&word, &data_[position], sizeof word);
    return word * 2654435761u >> (32 - kHashBits);
  }

  const Bytes& data_;
  std::vector<int> head_;      // the latest position with this hash
  std::vector<int> previous_;  // the position before it with the same hash
};

static Bytes encode_tokens(const Bytes& data) {
  Bytes out;
  MatchFinder finder(data);
  std::size_t flag_at = 0;
  int items = 8;
  for (std::size_t position = 0; position < data.size();) {
    if (items == 8) {
      flag_at = out.size();
      out.push_back(0);
      items = 0;
    }
    MatchFinder::Match match = finder.find(position);
    finder.insert(position);
    // Lazy: a longer match one byte later is worth a literal now.
    if (match.length > 0 && finder.find(position + 1).length > match.length) match.length = 0;
    if (match.length == 0) {
      out.push_back(data[position++]);
    } else {
      out[flag_at] |= 1u << items;
      out.push_back(static_cast<std::uint8_t>(match.length - kMinMatch));
      out.push_back(static_cast<std::uint8_t>(match.distance & 0xff));
      out.push_back(static_cast<std::uint8_t>(match.distance >> 8));
      for (int i = 1; i < match.length; i++) finder.insert(position + i);
      position += match.length;
    }
    items++;
  }
  return out;
}

static Bytes decode_tokens(const Bytes& tokens, std::size_t size) {
  Bytes out;
  out.reserve(size);
  std::size_t at = 0;
  while (out.size() < size) {
    unsigned flags = tokens.at(at++);
    for (int item = 0; item < 8 && out.size() < size; item++) {
      if ((flags >> item & 1) == 0) {
        out.push_back(tokens.at(at++));
        continue;
      }
      int length = tokens.at(at) + kMinMatch;
      std::size_t distance = tokens.at(at + 1) | tokens.at(at + 2) << 8;
      at += 3;
      for (int i = 0; i < length; i++) out.push_back(out.at(out.size() - distance));
    }
  }
  return out;
}

// Stage 2: Huffman. Canonical: the code lengths determine the codes. No code is longer than 32
// bits, because a block has far fewer tokens than the Fibonacci number that would take.
using Lengths = std::vector<std::uint8_t>;

static Lengths code_lengths(const Bytes& data) {
  struct Node {
    std::uint64_t weight;
    int left, right;
  };
  std::vector<Node> nodes(256, Node{0, -1, -1});
  for (std::uint8_t byte : data) nodes[byte].weight++;
  using Entry = std::pair<std::uint64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (int symbol = 0; symbol < 256; symbol++) {
    if (nodes[symbol].weight > 0) queue.push({nodes[symbol].weight, symbol});
  }
  Lengths lengths(256);
  if (queue.size() == 1) lengths[queue.top().second] = 1;
  while (queue.size() > 1) {
    Entry left = queue.top();
    queue.pop();
    Entry right = queue.top();
    queue.pop();
    nodes.push_back({left.first + right.first, left.second, right.second});
    queue.push({left.first + right.first, static_cast<int>(nodes.size()) - 1});
  }
  // A parent comes after its children in `nodes`: depths are computed from the end.
  std::vector<std::uint8_t> depth(nodes.size());
  for (std::size_t node = nodes.size(); node-- > 256;) {
    for (int child : {nodes[node].left, nodes[node].right}) {
      depth[child] = depth[node] + 1;
      if (child < 256) lengths[child] = depth[child];
    }
  }
  return lengths;
}

// The symbols in the order of their codes.
static std::vector<int> canonical_order(const Lengths& lengths) {
  std::vector<int> order;
  for (int length = 1; length <= 32; length++) {
    for (int symbol = 0; symbol < 256; symbol++) {
      if (lengths[symbol] == length) order.push_back(symbol);
    }
  }
  return order;
}

static Bytes encode_huffman(const Bytes& data, const Lengths& lengths) {
  std::vector<std::uint32_t> codes(256);
  std::uint32_t code = 0;
  int last = 0;
  for (int symbol : canonical_order(lengths)) {
    code <<= lengths[symbol] - last;
    last = lengths[symbol];
    codes[symbol] = code++;
  }
  Bytes out;
  std::uint64_t bits = 0;
  int count = 0;
  for (std::uint8_t byte : data) {
    bits = bits << lengths[byte] | codes[byte];
    for (count += lengths[byte]; count >= 8; count -= 8) {
      out.push_back(static_cast<std::uint8_t>(bits >> (count - 8)));
    }
  }
  if (count > 0) out.push_back(static_cast<std::uint8_t>(bits << (8 - count)));
  return out;
}

static Bytes decode_huffman(const Bytes& packed, const Lengths& lengths, std::size_t size) {
  std::vector<int> order = canonical_order(lengths);
  std::vector<std::uint32_t> count_of(33);
  for (std::uint8_t length : lengths) count_of[length]++;
  Bytes out;
  out.reserve(size);
  std::size_t bit = 0;
  while (out.size() < size) {
    std::uint32_t code = 0, first = 0, index = 0;
    for (int length = 1;; length++) {
      code |= packed.at(bit / 8) >> (7 - bit % 8) & 1u;
      bit++;
      if (code - first < count_of[length]) {
        out.push_back(static_cast<std::uint8_t>(order[index + code - first]));
        break;
      }
      index += count_of[length];
      first = (first + count_of[length]) << 1;
      code <<= 1;
    }
  }
  return out;
}

// Text of a small vocabulary with some noise, the same in every run.
static Bytes make_input(std::size_t size) {
  std::uint32_t state = 12345;
  auto random = [&] { return state = state * 1664525u + 1013904223u, state >> 8; };
  std::vector<std::string> words;
  for (int i = 0; i < 900; i++) {
    std::string word;
    for (unsigned length = 2 + random() % 8; length > 0; length--)
      word += "etaoinshrdlu"[random() % 12];
    words.push_back(word);
  }
  Bytes data;
  data.reserve(size + 16);
  while (data.size() < size) {
    const std::string& word = words[random() % words.size() * (random() % 1000) / 1000];
    data.insert(data.end(), word.begin(), word.end());
    data.push_back(random() % 40 == 0 ? static_cast<std::uint8_t>(random()) : ' ');
  }
  data.resize(size);
  return data;
}

struct BlockResult {
  std::size_t packed_size = 0;
  std::uint64_t checksum = 0;
  bool good = false;
};

static BlockResult process_block(const Bytes& input, std::size_t block) {
  auto first = input.begin() + block * kBlock;
  Bytes data(first, first + std::min(kBlock, input.size() - block * kBlock));
  Bytes tokens = encode_tokens(data);
  Lengths lengths = code_lengths(tokens);
  Bytes packed = encode_huffman(tokens, lengths);

  BlockResult result;
  result.packed_size = packed.size() + lengths.size();
  for (std::uint8_t byte : packed) result.checksum = (result.checksum ^ byte) * 1099511628211u;
  result.good = decode_tokens(decode_huffman(packed, lengths, tokens.size()), data.size()) == data;
  return result;
}

int main(int argc, char** argv) {
  int thread_count = argc > 1 ? std::atoi(argv[1]) : 4;
  std::size_t size = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 16 * 1024) * 1024;

  Bytes input = make_input(size);
  std::vector<BlockResult> results((size + kBlock - 1) / kBlock);
  std::atomic<std::size_t> next_block = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; i++) {
    threads.emplace_back([&] {
      for (std::size_t block = next_block++; block < results.size(); block = next_block++) {
        results[block] = process_block(input, block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  bool good = true;
  std::size_t packed_size = 0;
  std::uint64_t checksum = 0;
  for (const BlockResult& result : results) {
    good &= result.good;
    packed_size += result.packed_size;
    checksum = checksum * 31 + result.checksum;
  }
  std::printf("%zu -> %zu bytes, checksum %016lx %s\n", size, packed_size, checksum,
              good ? "ok" : "WRONG");
  return good ? 0 : 1;
}
