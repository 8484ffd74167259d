// The words for reads and writes of traced runs.
#ifndef CLEW_HOST_REPORT_ACCESS_WORDS_H_
#define CLEW_HOST_REPORT_ACCESS_WORDS_H_

#include <string>
#include <string_view>

#include "host/names/object_name.h"
#include "host/observe/executed_lines.h"
#include "host/report/run_json.h"

namespace clew {

const char* to_verb(AccessKind kind);  // "reads"

// Its first eight bytes.
struct AccessValue {
  AccessKind kind = AccessKind::kRead;
  std::uint32_t size = 0;
  bool is_known = false;
  std::uint64_t value = 0;
};
// ": 11 (0xb)", by the type of the object if that has more to say; empty: it is not known.
std::string access_value_text(const AccessValue& access, const ObjectName& name);

// What a part of a run executed. `threads`: their names.
std::string executed_text(const ExecutedLines& lines, const std::vector<ThreadInfo>& threads);
Json executed_json(const ExecutedLines& lines, const std::vector<ThreadInfo>& threads);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_ACCESS_WORDS_H_
