// A project's tests: 50 cases, 18 of them with threads. Those that can fail under some schedule are named
// Rare* (five, one for each defect of components.h); one, Settings.Broken, fails always.
#include <gtest/gtest.h>

#include "components.h"

namespace server {
namespace {

// Starts all, joins all.
template <class... Bodies>
void together(Bodies... bodies) {
  std::vector<std::thread> threads;
  (threads.emplace_back(bodies), ...);
  for (std::thread& thread : threads) thread.join();
}

// ---- Text

TEST(Split, Nothing) { EXPECT_EQ(split("", ','), std::vector<std::string>{""}); }
TEST(Split, One) { EXPECT_EQ(split("a", ','), std::vector<std::string>{"a"}); }
TEST(Split, Three) { EXPECT_EQ(split("a,b,c", ',').size(), 3u); }
TEST(Split, EmptyAtTheEnd) { EXPECT_EQ(split("a,", ',').back(), ""); }
TEST(Split, EmptyInBetween) { EXPECT_EQ(split("a,,b", ',')[1], ""); }
TEST(Trim, Nothing) { EXPECT_EQ(trim(""), ""); }
TEST(Trim, Blanks) { EXPECT_EQ(trim(" \t "), ""); }
TEST(Trim, Both) { EXPECT_EQ(trim("  a b  "), "a b"); }
TEST(Lower, Letters) { EXPECT_EQ(lower("Content-LENGTH"), "content-length"); }
TEST(Lower, Others) { EXPECT_EQ(lower("[@]"), "[@]"); }

TEST(Headers, One) { EXPECT_EQ(Headers::parse("Host: here").get("host"), "here"); }
TEST(Headers, Two) { EXPECT_EQ(Headers::parse("A: 1\nB: 2").size(), 2u); }
TEST(Headers, LaterCounts) { EXPECT_EQ(Headers::parse("A: 1\na: 2").get("A"), "2"); }
TEST(Headers, NoColon) { EXPECT_EQ(Headers::parse("nonsense").size(), 0u); }
TEST(Headers, ColonInValue) { EXPECT_EQ(Headers::parse("A: b:c").get("a"), "b:c"); }
TEST(Headers, Missing) { EXPECT_FALSE(Headers::parse("A: 1").get("B").has_value()); }
TEST(Headers, Many) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "h" + std::to_string(i) + ": v\n";
  EXPECT_EQ(Headers::parse(text).size(), 200u);
}

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override { settings_.load("# a comment\nport = 80\nname = x\nport = 81\n"); }
  Settings settings_;
};
TEST_F(SettingsTest, Number) { EXPECT_EQ(settings_.number("port", 0), 81); }
TEST_F(SettingsTest, Text) { EXPECT_EQ(settings_.text("name", ""), "x"); }
TEST_F(SettingsTest, Default) { EXPECT_EQ(settings_.number("limit", 7), 7); }
TEST_F(SettingsTest, Comment) { EXPECT_EQ(settings_.text("# a comment", "none"), "none"); }
TEST_F(SettingsTest, NotANumber) {
  EXPECT_THROW((void)settings_.number("name", 0), std::invalid_argument);
}
TEST_F(SettingsTest, Broken) { EXPECT_EQ(settings_.text("host", "localhost"), "0.0.0.0"); }

// ---- Containers, sequentially

TEST(Queue, FirstInFirstOut) {
  BoundedQueue<int> queue(4);
  for (int i = 0; i < 3; ++i) queue.push(i);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop(), i);
}
TEST(Queue, Closed) {
  BoundedQueue<int> queue(4);
  queue.push(1);
  queue.close();
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_FALSE(queue.pop().has_value());
}
TEST(Queue, Size) {
  BoundedQueue<std::string> queue(4);
  queue.push("a");
  EXPECT_EQ(queue.size(), 1u);
}
TEST(Cache, Hit) {
  LruCache<int, std::string> cache(2);
  cache.put(1, "a");
  EXPECT_EQ(cache.get(1), "a");
}
TEST(Cache, Miss) {
  LruCache<int, std::string> cache(2);
  EXPECT_FALSE(cache.get(1).has_value());
}
TEST(Cache, OldestGoes) {
  LruCache<int, int> cache(2);
  for (int i = 0; i < 3; ++i) cache.put(i, i);
  EXPECT_FALSE(cache.get(0).has_value());
  EXPECT_EQ(cache.size(), 2u);
}
TEST(Cache, UsedStays) {
  LruCache<int, int> cache(2);
  cache.put(0, 0);
  cache.put(1, 1);
  EXPECT_TRUE(cache.get(0).has_value());
  cache.put(2, 2);
  EXPECT_TRUE(cache.get(0).has_value());
}
TEST(Accounts, NotBelowZero) {
  Account account(10);
  EXPECT_FALSE(account.withdraw(11));
  EXPECT_TRUE(account.withdraw(10));
}
TEST(Registries, Removed) {
  Registry registry;
  registry.add("a", 1);
  registry.remove("a");
  EXPECT_EQ(registry.port_or("a", 2), 2);
}

// ---- With threads

TEST(Queue, OneProducer) {
  BoundedQueue<int> queue(2);
  int sum = 0;
  together(
      [&] {
        for (int i = 1; i <= 5; ++i) queue.push(i);
        queue.close();
      },
      [&] {
        while (const auto item = queue.pop()) sum += *item;
      });
  EXPECT_EQ(sum, 15);
}
TEST(Queue, TwoProducers) {
  BoundedQueue<int> queue(1);
  int sum = 0;
  together(
      [&] {
        for (int i = 0; i < 3; ++i) queue.push(1);
      },
      [&] {
        for (int i = 0; i < 3; ++i) queue.push(10);
      },
      [&] {
        for (int i = 0; i < 6; ++i) sum += *queue.pop();
      });
  EXPECT_EQ(sum, 33);
}
TEST(Queue, CloseWakes) {
  BoundedQueue<int> queue(1);
  bool ended = false;
  together([&] { ended = !queue.pop().has_value(); }, [&] { queue.close(); });
  EXPECT_TRUE(ended);
}
TEST(Mailboxes, OneToOne) {
  Mailbox<int> box;
  int sum = 0;
  together(
      [&] {
        for (int i = 1; i <= 3; ++i) box.put(i);
      },
      [&] {
        for (int i = 0; i < 3; ++i) sum += box.take();
      });
  EXPECT_EQ(sum, 6);
}
TEST(Mailboxes, RareTwoToTwo) {
  Mailbox<int> box;
  std::atomic<int> sum = 0;
  together(
      [&] {
        for (int i = 0; i < 2; ++i) box.put(1);
      },
      [&] {
        for (int i = 0; i < 2; ++i) box.put(1);
      },
      [&] {
        for (int i = 0; i < 2; ++i) sum += box.take();
      },
      [&] {
        for (int i = 0; i < 2; ++i) sum += box.take();
      });
  EXPECT_EQ(sum, 4);
}
TEST(Pools, AllTasksRun) {
  std::atomic<int> done = 0;
  {
    Pool pool(2);
    for (int i = 0; i < 6; ++i) pool.post([&] { ++done; });
  }
  EXPECT_EQ(done, 6);
}
TEST(Pools, StopTwice) {
  Pool pool(2);
  pool.post([] {});
  pool.stop();
  pool.stop();
  SUCCEED();
}
TEST(Pools, Results) {
  std::vector<long> squares(8);
  {
    Pool pool(3);
    for (long i = 0; i < 8; ++i)
      pool.post([&squares, i] { squares[static_cast<std::size_t>(i)] = i * i; });
  }
  for (long i = 0; i < 8; ++i) EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
}
TEST(Cache, SharedByTwo) {
  LruCache<int, int> cache(4);
  together(
      [&] {
        for (int i = 0; i < 4; ++i) cache.put(i, i);
      },
      [&] {
        for (int i = 0; i < 4; ++i)
          if (const auto value = cache.get(i)) EXPECT_EQ(*value, i);
      });
  EXPECT_EQ(cache.size(), 4u);
}
TEST(Cache, RareMadeOnce) {
  LruCache<std::string, int> cache(4);
  std::atomic<int> made = 0;
  const auto use = [&] { (void)cache.get_or("key", [&] { return ++made; }); };
  together(use, use);
  EXPECT_EQ(made, 1);
}
TEST(Statistics, Hits) {
  Statistics statistics;
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) statistics.hit();
  };
  together(work, work, work);
  EXPECT_EQ(statistics.hits(), 15);
}
TEST(Statistics, RareMisses) {
  Statistics statistics;
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) statistics.miss();
  };
  together(work, work);
  EXPECT_EQ(statistics.misses(), 6) << "a miss was not counted";
}
TEST(Accounts, Deposits) {
  Account account(0);
  const auto work = [&] {
    for (int i = 0; i < 4; ++i) account.deposit(5);
  };
  together(work, work);
  EXPECT_EQ(account.balance(), 40);
}
TEST(Accounts, TransfersInOrder) {
  Account a(100), b(100);
  together([&] { Account::transfer_in_order(a, b, 10); },
           [&] { Account::transfer_in_order(b, a, 20); });
  EXPECT_EQ(a.balance() + b.balance(), 200);
}
TEST(Accounts, RareTransfers) {
  Account a(100), b(100);
  together([&] { Account::transfer(a, b, 10); }, [&] { Account::transfer(b, a, 20); });
  EXPECT_EQ(a.balance() + b.balance(), 200);
}
TEST(Registries, ReadersAndWriter) {
  Registry registry;
  registry.add("a", 1);
  together([&] { registry.add("b", 2); }, [&] { EXPECT_EQ(registry.port("a"), 1); },
           [&] { EXPECT_EQ(registry.port_or("a", 0), 1); });
}
TEST(Registries, RareRemoval) {
  Registry registry;
  registry.add("a", 1);
  together([&] { registry.remove("a"); },
           [&] {
             const int port = registry.port_or("a", 0);
             EXPECT_TRUE(port == 0 || port == 1);
           });
}
TEST(Latches, Opens) {
  Latch latch(2);
  int arrived = 0;
  std::mutex mutex;
  const auto arrive = [&] {
    {
      const std::lock_guard lock(mutex);
      ++arrived;
    }
    latch.arrive();
  };
  std::thread one(arrive), two(arrive);
  latch.wait();
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(arrived, 2);
  }
  one.join();
  two.join();
}

}  // namespace
}  // namespace server
