// Algorithms from shared libraries (<clew/search.h>).
#ifndef CLEW_HOST_NOISE_PLUGIN_H_
#define CLEW_HOST_NOISE_PLUGIN_H_

#include <memory>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/noise/algorithm.h"
#include "host/noise/points.h"

namespace clew {

class Plugin {
 public:
  // Errors: it cannot be loaded, or was built for another version of the interface.
  [[nodiscard]] static Result<Plugin> load(const std::string& file);
  Plugin(Plugin&&) noexcept;
  ~Plugin();

  [[nodiscard]] SearchResult search(Laboratory& laboratory,
                                    const std::vector<NoisePoint>& points) const;

 private:
  struct Library;
  explicit Plugin(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace clew

#endif  // CLEW_HOST_NOISE_PLUGIN_H_
