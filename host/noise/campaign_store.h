// Campaigns on disk (docs/pinpoint.md, "Campaigns"): an SQLite database for each, in .clew/pinpoint.
// A batch of samples is one transaction, so that whatever ends clew costs at most a batch.
#ifndef CLEW_HOST_NOISE_CAMPAIGN_STORE_H_
#define CLEW_HOST_NOISE_CAMPAIGN_STORE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/noise/campaign.h"
#include "host/noise/failure_book.h"

namespace clew {

// What a campaign is a function of.
struct CampaignIdentity {
  std::string program;  // path and hash of what was run, its arguments
  std::string options;  // what changes its course
  std::uint64_t seed = 1;
  bool operator==(const CampaignIdentity&) const = default;
};

class CampaignStore final : public SampleKeeper {
 public:
  // A new one in this folder, which is created if need be.
  [[nodiscard]] static Result<CampaignStore> create(const std::filesystem::path& folder,
                                                    const CampaignIdentity& identity);
  // One that exists. Errors: it is no campaign.
  [[nodiscard]] static Result<CampaignStore> open(const std::filesystem::path& file);
  // The newest in the folder of this program.
  [[nodiscard]] static Result<std::filesystem::path> newest(const std::filesystem::path& folder,
                                                            const std::string& program);
  CampaignStore(CampaignStore&&) noexcept;
  ~CampaignStore() override;

  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] const CampaignIdentity& identity() const;
  // Failures are kept and known by this book from now on; those that the campaign has are added.
  [[nodiscard]] Result<void> use(FailureBook& book);
  [[nodiscard]] std::size_t kept() const;  // samples, when it was opened

  // All samples of the design, for campaigns that are joined. Failures are added to the book. Errors:
  // the points are others.
  [[nodiscard]] Result<std::vector<Sample>> design_samples(const std::vector<NoisePoint>& points,
                                                           FailureBook& book);

  [[nodiscard]] std::optional<Sample> find(std::size_t number, const Sample& wanted) override;
  [[nodiscard]] Result<void> begin(const std::vector<NoisePoint>& points) override;
  [[nodiscard]] Result<void> keep(std::size_t first, std::span<const Sample> samples) override;

 private:
  struct State;
  explicit CampaignStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_CAMPAIGN_STORE_H_
