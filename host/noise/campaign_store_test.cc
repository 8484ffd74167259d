#include "host/noise/campaign_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace clew {
namespace {

class CampaignStoreTest : public testing::Test {
 protected:
  CampaignStoreTest() {
    char name[] = "/tmp/clew-campaign-XXXXXX";
    folder_ = mkdtemp(name);
    points_.resize(3);
    for (std::size_t i = 0; i < 3; ++i) points_[i].place = 10 * (i + 1);
  }
  ~CampaignStoreTest() override { std::filesystem::remove_all(folder_); }

  static Sample sample(std::vector<std::uint32_t> points, std::uint32_t wanted) {
    return {Subset(3, points), wanted};
  }

  std::filesystem::path folder_;
  std::vector<NoisePoint> points_;
  CampaignIdentity identity_{"prog 0123 prog", "active", 7};
};

TEST_F(CampaignStoreTest, KeepsSamples) {
  {
    auto store = CampaignStore::create(folder_, identity_);
    ASSERT_TRUE(store);
    FailureBook book;
    ASSERT_TRUE(store->use(book));
    ASSERT_TRUE(store->begin(points_));
    FoundFailure failure;
    failure.failure.detail = "lost";
    const std::uint32_t number = book.number_of(failure);
    Sample ran = sample({0, 2}, 20);
    ran.runs = 19;
    ran.sides = 0xfedc'ba98'7654'3211;
    ran.failures[number] = 4;
    ASSERT_TRUE(store->keep(0, std::vector<Sample>{ran}));
  }
  auto file = CampaignStore::newest(folder_, identity_.program);
  ASSERT_TRUE(file);
  auto store = CampaignStore::open(*file);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->identity(), identity_);
  EXPECT_EQ(store->kept(), 1u);
  FailureBook book;
  ASSERT_TRUE(store->use(book));
  ASSERT_EQ(book.all().size(), 1u);
  EXPECT_EQ(book.all()[0].failure.detail, "lost");
  ASSERT_TRUE(store->begin(points_));
  Sample wanted = sample({0, 2}, 20);
  wanted.sides = 0xfedc'ba98'7654'3211;
  const auto found = store->find(0, wanted);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->runs, 19u);
  EXPECT_EQ(found->failed(), 4u);
  EXPECT_FALSE(store->find(1, sample({0, 2}, 20)));
  const auto joined = store->design_samples(points_, book);
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->size(), 1u);
  EXPECT_EQ(joined->front().sides, wanted.sides);
  wanted.sides = 1;
  EXPECT_FALSE(store->find(0, wanted));
}

TEST_F(CampaignStoreTest, TakesAnotherCourseWhereTheSamplesDiffer) {
  auto store = CampaignStore::create(folder_, identity_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->begin(points_));
  ASSERT_TRUE(store->keep(0, std::vector<Sample>{sample({0}, 5), sample({1}, 5), sample({2}, 5)}));
  auto again = CampaignStore::open(store->file());
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->find(0, sample({0}, 5)));
  EXPECT_FALSE(again->find(1, sample({2}, 5)));
  EXPECT_FALSE(again->find(2, sample({2}, 5)));
  ASSERT_TRUE(again->keep(1, std::vector<Sample>{sample({2}, 5)}));
}

TEST_F(CampaignStoreTest, RefusesOtherPointsAndOtherFiles) {
  auto store = CampaignStore::create(folder_, identity_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->begin(points_));
  points_[1].place = 99;
  EXPECT_FALSE(store->begin(points_));
  FailureBook book;
  EXPECT_FALSE(store->design_samples(points_, book));
  EXPECT_FALSE(CampaignStore::newest(folder_, "other"));
  std::ofstream(folder_ / "9.db") << "no database";
  EXPECT_FALSE(CampaignStore::open(folder_ / "9.db"));
  EXPECT_FALSE(CampaignStore::open(folder_ / "none.db"));
}

}  // namespace
}  // namespace clew
