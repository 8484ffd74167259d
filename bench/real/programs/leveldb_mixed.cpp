// LevelDB: concurrent writers (single and batched), readers on snapshots, and its background compaction, which small
// buffers keep busy. Afterwards the database is closed, opened again and read in full.
// Package: libleveldb-dev. Flags: -lleveldb -pthread. Usage: leveldb_mixed [writers] [readers] [keys]
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static void check(const leveldb::Status& status) {
  if (!status.ok()) {
    std::printf("leveldb: %s\n", status.ToString().c_str());
    std::exit(1);
  }
}

static std::string key_of(int writer, int i) {
  char key[32];
  std::snprintf(key, sizeof key, "w%02d-%06d", writer, i);
  return key;
}

static std::string value_of(int writer, int i, int round) {
  return std::to_string(round) + ":" +
         std::string(60 + (writer * 31 + i) % 90, static_cast<char>('a' + (i + round) % 26));
}

static leveldb::DB* open(const leveldb::Options& options) {
  leveldb::DB* db = nullptr;
  check(leveldb::DB::Open(options, "database", &db));
  return db;
}

int main(int argc, char** argv) {
  const int writers = argc > 1 ? std::atoi(argv[1]) : 3;
  const int readers = argc > 2 ? std::atoi(argv[2]) : 2;
  const int keys = argc > 3 ? std::atoi(argv[3]) : 2000;
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(256 << 10));
  std::unique_ptr<const leveldb::FilterPolicy> filter(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  options.block_cache = cache.get();
  options.filter_policy = filter.get();
  options.info_log = nullptr;
  check(leveldb::DestroyDB("database", options));
  std::unique_ptr<leveldb::DB> db(open(options));

  std::atomic<bool> writing{true};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads, watchers;
  for (int w = 0; w < writers; w++) {
    threads.emplace_back([&, w] {
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < keys; i += 4) {
          leveldb::WriteBatch batch;  // four keys that a snapshot sees together
          for (int k = i; k < i + 4; k++) batch.Put(key_of(w, k), value_of(w, k, round));
          check(db->Write(leveldb::WriteOptions(), &batch));
          if (i % 40 == 0) check(db->Delete(leveldb::WriteOptions(), key_of(w, i)));
        }
      }
    });
  }
  for (int r = 0; r < readers; r++) {
    watchers.emplace_back([&, r] {
      uint32_t random = r + 1;
      do {
        random = random * 1664525 + 1013904223;
        const int w = static_cast<int>((random >> 8) % writers),
                  group = static_cast<int>((random >> 12) % (keys / 4)) * 4;
        leveldb::ReadOptions at;
        at.snapshot = db->GetSnapshot();
        std::string first, second;
        const bool has_first = db->Get(at, key_of(w, group + 1), &first).ok();
        const bool has_second = db->Get(at, key_of(w, group + 2), &second).ok();
        if (has_first != has_second || (has_first && first[0] != second[0])) wrong++;
        db->ReleaseSnapshot(at.snapshot);
      } while (writing);
    });
  }
  for (std::thread& thread : threads) thread.join();
  writing = false;
  for (std::thread& thread : watchers) thread.join();
  db->CompactRange(nullptr, nullptr);
  db.reset();

  db.reset(open(options));
  std::unique_ptr<leveldb::Iterator> it(db->NewIterator(leveldb::ReadOptions()));
  int found = 0;
  uint64_t hash = 14695981039346656037u;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    found++;
    for (char c : it->key().ToString() + it->value().ToString())
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  check(it->status());
  std::printf("%d keys, hash %016llx, broken snapshots %d\n", found,
              static_cast<unsigned long long>(hash), wrong.load());
}
