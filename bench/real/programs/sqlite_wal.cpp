// SQLite with threads: writers and readers with a connection each to one file in WAL mode, which wait for each other with a busy
// timeout, then one connection in serialized mode that all threads use.
// Package: libsqlite3-dev. Flags: -lsqlite3 -pthread. Usage: sqlite_wal [writers] [readers] [transfers]
#include <sqlite3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static const char* const kFile = "accounts.db";
static const int kAccounts = 16;

static void fail(sqlite3* db, const char* what) {
  std::printf("%s: %s\n", what, sqlite3_errmsg(db));
  std::exit(1);
}

static void run(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(db, sql.c_str());
}

static long long number(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK) fail(db, sql);
  if (sqlite3_step(statement) != SQLITE_ROW) fail(db, sql);
  const long long value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

static sqlite3* open(int flags) {
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(kFile, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | flags, nullptr) !=
      SQLITE_OK)
    fail(db, "open");
  sqlite3_busy_timeout(db, 60000);
  return db;
}

static void transfer(int writer, int transfers) {
  sqlite3* db = open(SQLITE_OPEN_NOMUTEX);
  run(db, "PRAGMA synchronous=OFF");
  for (int i = 0; i < transfers; i++) {
    const int from = (writer * 7 + i * 3) % kAccounts;
    const int to = (from + 1 + i % 5) % kAccounts;
    const std::string amount = std::to_string(1 + (writer + i) % 9);
    run(db, "BEGIN IMMEDIATE");
    run(db, "UPDATE accounts SET balance = balance - " + amount +
                " WHERE id = " + std::to_string(from));
    run(db,
        "UPDATE accounts SET balance = balance + " + amount + " WHERE id = " + std::to_string(to));
    run(db, "INSERT INTO log (writer, step, amount) VALUES (" + std::to_string(writer) + ", " +
                std::to_string(i) + ", " + amount + ")");
    run(db, i % 10 == 9 ? "ROLLBACK" : "COMMIT");
  }
  sqlite3_close(db);
}

static std::atomic<bool> writing{true};
static std::atomic<int> wrong{0};

static void audit() {
  sqlite3* db = open(SQLITE_OPEN_NOMUTEX);
  do {
    run(db, "BEGIN");
    const long long rows = number(db, "SELECT count(*) FROM log");
    if (number(db, "SELECT sum(balance) FROM accounts") != kAccounts * 1000) wrong++;
    std::this_thread::yield();
    if (number(db, "SELECT count(*) FROM log") != rows) wrong++;  // a transaction sees one state
    run(db, "COMMIT");
  } while (writing);
  sqlite3_close(db);
}

int main(int argc, char** argv) {
  const int writers = argc > 1 ? std::atoi(argv[1]) : 4;
  const int readers = argc > 2 ? std::atoi(argv[2]) : 2;
  const int transfers = argc > 3 ? std::atoi(argv[3]) : 200;
  for (const char* end : {"", "-wal", "-shm"}) std::remove((std::string(kFile) + end).c_str());

  sqlite3* db = open(SQLITE_OPEN_FULLMUTEX);
  run(db,
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
      "CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);"
      "CREATE TABLE log (writer INTEGER, step INTEGER, amount INTEGER)");
  for (int i = 0; i < kAccounts; i++)
    run(db, "INSERT INTO accounts VALUES (" + std::to_string(i) + ", 1000)");

  std::vector<std::thread> threads, auditors;
  for (int w = 0; w < writers; w++) threads.emplace_back(transfer, w, transfers);
  for (int r = 0; r < readers; r++) auditors.emplace_back(audit);
  for (std::thread& thread : threads) thread.join();
  writing = false;
  for (std::thread& thread : auditors) thread.join();

  std::printf("threadsafe %d, wrong sums %d\n", sqlite3_threadsafe(), wrong.load());
  std::printf("log: %lld rows, amounts %lld\n", number(db, "SELECT count(*) FROM log"),
              number(db, "SELECT sum(amount) FROM log"));
  std::printf("balances: sum %lld, weighted %lld\n",
              number(db, "SELECT sum(balance) FROM accounts"),
              number(db, "SELECT sum(balance * (id + 1)) FROM accounts"));

  std::vector<std::thread> sharing;
  run(db, "CREATE TABLE shared (key TEXT PRIMARY KEY, value INTEGER)");
  for (int t = 0; t < writers; t++) {
    sharing.emplace_back([db, t] {
      for (int i = 0; i < 100; i++) {
        run(db, "INSERT INTO shared VALUES ('k" + std::to_string((i * 7 + t) % 50) +
                    "', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1");
      }
    });
  }
  for (std::thread& thread : sharing) thread.join();
  std::printf("shared connection: %lld keys, sum %lld\n", number(db, "SELECT count(*) FROM shared"),
              number(db, "SELECT sum(value) FROM shared"));
  sqlite3_close(db);
}
