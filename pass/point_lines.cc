#include "pass/point_lines.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "clew_abi/point_lines.h"
#include "clew_abi/stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace clew::pass {
namespace {

void append(std::string& to, std::uint64_t number) {
  std::uint8_t bytes[abi::kMaxVarint];
  to.append(reinterpret_cast<const char*>(bytes), abi::put_varint(bytes, number));
}

void append(std::string& to, llvm::StringRef text) {
  append(to, text.size());
  to += text;
}

// Gives numbers to files, and to functions in a file, in the order in which they are asked for.
class Sources {
 public:
  std::uint64_t number_of(const SourcePosition& position) {
    const auto [file, new_file] = files_.try_emplace(position.file, files_.size());
    if (new_file) append(file_list_, position.file);
    const auto [source, is_new] =
        sources_.try_emplace({position.file, position.function}, sources_.size());
    if (is_new) {
      append(source_list_, file->second);
      append(source_list_, position.function);
    }
    return source->second;
  }
  void append_to(std::string& to) const {
    append(to, files_.size());
    to += file_list_;
    append(to, sources_.size());
    to += source_list_;
  }

 private:
  llvm::DenseMap<llvm::StringRef, std::uint64_t> files_;
  llvm::DenseMap<std::pair<llvm::StringRef, llvm::StringRef>, std::uint64_t> sources_;
  std::string file_list_;
  std::string source_list_;
};

// In lines that a person can scroll through.
void write_bytes(llvm::raw_ostream& out, llvm::StringRef bytes) {
  constexpr std::size_t kInOneLine = 128;
  for (; !bytes.empty(); bytes = bytes.drop_front(std::min(kInOneLine, bytes.size()))) {
    out << "\t.ascii\t\"";
    for (const char byte : bytes.take_front(kInOneLine)) {
      if (llvm::isPrint(byte) && byte != '"' && byte != '\\')
        out << byte;
      else
        out << llvm::format("\\%03o", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    }
    out << "\"\n";
  }
}

}  // namespace

std::string encode_lines(llvm::ArrayRef<SourcePosition> points) {
  Sources sources;
  std::string steps;
  std::uint64_t last_source = 0;
  std::int64_t last_line = 0;
  for (const SourcePosition& point : points) {
    const std::uint64_t source = sources.number_of(point);
    append(steps, std::uint64_t{point.column} * 2 + (source != last_source ? 1 : 0));
    if (source != last_source) append(steps, source);
    append(steps, abi::fold_step(std::int64_t{point.line} - last_line));
    last_source = source;
    last_line = point.line;
  }
  std::string result;
  sources.append_to(result);
  return result + steps;
}

void emit_lines(llvm::Module& module, const llvm::GlobalVariable& first, std::size_t count,
                llvm::StringRef lines) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "\t.pushsection\t" CLEW_LINES_SECTION ",\"R\",@progbits\n";  // SHF_GNU_RETAIN
  out << "\t.quad\t\"" << first.getName() << "\"\n";
  out << "\t.long\t" << count << "\n\t.long\t" << lines.size() << "\n";
  write_bytes(out, lines);
  out << "\t.popsection\n";
  module.appendModuleInlineAsm(text);
}

}  // namespace clew::pass
