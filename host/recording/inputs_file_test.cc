#include "host/recording/inputs_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zstd.h>

#include <csignal>
#include <random>

#include "host/recording/test_util.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

class InputsFile : public FolderTest {
 protected:
  std::filesystem::path path() const { return folder_ / "inputs"; }

  RecordedInputs write(std::string_view bytes, std::size_t piece = SIZE_MAX) {
    std::filesystem::remove(path());
    InputsWriter writer(path());
    for (std::size_t at = 0; at < bytes.size();) {
      const std::string_view part = bytes.substr(at, piece);
      EXPECT_TRUE(writer.append(bytes_of(part)));
      at += part.size();
    }
    return {path(), writer.finish().value().value()};
  }

  // The error's message; empty: none.
  static std::string problem(const RecordedInputs& inputs) {
    std::string into(inputs.content.size, '\0');
    const auto read =
        read_inputs_file(inputs, {reinterpret_cast<std::uint8_t*>(into.data()), into.size()});
    return read ? "" : read.error().message;
  }

  static std::string compressed(const std::string& text, int window_log = 0) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd(ZSTD_createCCtx(),
                                                                    ZSTD_freeCCtx);
    if (window_log != 0) ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_contentSizeFlag, 0);
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress2(zstd.get(), out.data(), out.size(), text.data(), text.size()));
    return out;
  }
};

std::string mixed(std::size_t size) {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < size) {
    text += "the same words again and again ";
    for (int i = 0; i < 8; ++i) text += static_cast<char>(random());
  }
  text.resize(size);
  return text;
}

TEST_F(InputsFile, RoundTrips) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
    const std::string text = mixed(size);
    const RecordedInputs inputs = write(text, 77'777);
    EXPECT_EQ(inputs.content.size, size);
    EXPECT_EQ(inputs.content.hash, content_hash(bytes_of(text)));
    const std::string stored = slurp(path());
    EXPECT_EQ(inputs.content.stored, stored.size());
    EXPECT_EQ(inputs.content.stored_hash, content_hash(bytes_of(stored)));
    std::string back(size, '\0');
    const auto read =
        read_inputs_file(inputs, {reinterpret_cast<std::uint8_t*>(back.data()), back.size()});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(back, text);
  }
  EXPECT_LT(slurp(path()).size(), std::size_t{1} << 20);
}

// For a copy of the program, while the program continues.
TEST_F(InputsFile, ItsBeginningCanBeCopiedWhileItGrows) {
  const std::string text = mixed(std::size_t{1} << 20);
  InputsWriter writer(path());
  EXPECT_TRUE(writer.append(bytes_of(text)));
  EXPECT_TRUE(writer.flush());
  const auto copy_path = folder_ / "copy";
  const auto copy = [&](std::uint64_t size) {
    std::filesystem::remove(copy_path);
    InputsWriter to(copy_path);
    EXPECT_TRUE(copy_inputs(path(), size, to));
    return to.finish().value();
  };
  EXPECT_FALSE(copy(0));
  for (const std::size_t size : {std::size_t{1}, std::size_t{300'000}, text.size()})
    EXPECT_EQ(copy(size)->hash, content_hash(bytes_of(text.substr(0, size))));
  EXPECT_TRUE(writer.append(bytes_of("more")));
  EXPECT_TRUE(writer.finish());
  EXPECT_EQ(copy(text.size() + 2)->hash, content_hash(bytes_of(text + "mo")));
  InputsWriter to(folder_ / "too much");
  EXPECT_EQ(copy_inputs(path(), text.size() + 5, to).error().code, ErrorCode::kBadInput);
}

TEST_F(InputsFile, IsNotMadeForNothing) {
  InputsWriter writer(path());
  EXPECT_TRUE(writer.append({}));
  EXPECT_FALSE(writer.finish().value());
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(InputsFile, SaysWhatIsWrongWithIt) {
  const std::string text = mixed(500'000);
  const RecordedInputs inputs = write(text);
  const std::string whole = slurp(path());
  const auto damaged = [&](const std::string& file, const RecordedInputs& expected) {
    spill(path(), file);
    return problem(expected);
  };
  EXPECT_EQ(damaged(whole, inputs), "");
  const std::string name = path().string() + " is damaged: ";
  EXPECT_EQ(damaged(whole.substr(0, 1000), inputs), name + "it is truncated at byte 1000");
  EXPECT_EQ(damaged("", inputs), name + "it is truncated at byte 0");
  EXPECT_EQ(damaged(whole + "x", inputs),
            name + "it continues after its end at byte " + std::to_string(whole.size()));
  EXPECT_TRUE(damaged("not compressed at all", inputs)
                  .starts_with(name + "it cannot be decompressed from byte 0 on: "));

  RecordedInputs other = inputs;
  other.content.hash ^= 1;
  EXPECT_EQ(damaged(whole, other), name + "its bytes have changed since it was recorded");
  other = inputs;
  ++other.content.size;
  EXPECT_EQ(damaged(whole, other), name + "it holds 500000 bytes, 500001 were recorded");
  other.content.size -= 2;
  EXPECT_EQ(damaged(whole, other), name + "it holds more than the 499999 bytes recorded");

  std::filesystem::remove(path());
  EXPECT_EQ(problem(inputs), "cannot read " + path().string() + ": No such file or directory");
}

TEST_F(InputsFile, DoesNotExplode) {
  const RecordedInputs inputs = write("a few bytes");
  // 64 MiB of zeros in a few kilobytes; nothing beyond the stated size is taken.
  spill(path(), compressed(std::string(std::size_t{64} << 20, '\0')));
  EXPECT_LT(slurp(path()).size(), 10'000u);
  EXPECT_EQ(problem(inputs),
            path().string() + " is damaged: it holds more than the 11 bytes recorded");
  // A window that needs more memory than clew's own files is refused, too.
  spill(path(), compressed(std::string(std::size_t{64} << 20, '\0'), 26));
  EXPECT_NE(problem(inputs).find("requires too much memory"), std::string::npos) << problem(inputs);
}

TEST_F(InputsFile, MutationsAreFound) {
  std::mt19937_64 random(21);
  const RecordedInputs inputs = write(mixed(5'000), 100);
  const std::vector<std::uint8_t> whole = read_file(path(), 1 << 20).value();
  for (int i = 0; i < 2'000; ++i) {
    const std::vector<std::uint8_t> bytes = mutate(random, whole);
    spill(path(), std::string(bytes.begin(), bytes.end()));
    // Some bits of the format have no meaning: only the content is compared.
    if (bytes == whole) EXPECT_EQ(problem(inputs), "");
    (void)problem(inputs);
  }
}

TEST_F(InputsFile, AFullDiskIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    InputsWriter writer(path());
    Result<void> done;
    for (int i = 0; i < 10 && done; ++i) done = writer.append(bytes_of(mixed(1'000'000)));
    const bool good = !done && done.error().code == ErrorCode::kSystem &&
                      done.error().hint.find("make room") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(InputsFile, IsCheckedWhenARecordingIsLoaded) {
  auto store = RecordingStore::open(folder_ / ".clew").value();
  Draft draft = store.create().value();
  Meta meta = sample_meta();
  meta.stdout_data = draft.open_stdout().value().finish().value();
  meta.stderr_data = draft.open_stderr().value().finish().value();
  InputsWriter writer = draft.open_inputs();
  ASSERT_TRUE(writer.append(bytes_of("from outside")));
  meta.inputs = writer.finish().value();
  EXPECT_GT(meta.inputs->stored, meta.inputs->size);  // so small that it grows
  const auto recording = draft.commit(meta);
  ASSERT_TRUE(recording) << recording.error().message;
  const auto loaded = store.load("1");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->meta.inputs, meta.inputs);
  EXPECT_EQ(problem({loaded->inputs_file(), *loaded->meta.inputs}), "");

  spill(recording->inputs_file(), slurp(recording->inputs_file()) + "x");
  const auto damaged = store.load("1");
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find("inputs is damaged"), std::string::npos);
}

}  // namespace
}  // namespace clew
