// libzstd with worker threads: several threads of our own compress at the same time, each with a context that has three workers.
// One half hands over the data at once, the other streams it in pieces. The compressed bytes depend on neither.
// Package: libzstd-dev. Flags: -lzstd -pthread. Usage: zstd_mt [threads] [kilobytes]
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static void check(size_t code) {
  if (ZSTD_isError(code)) {
    std::printf("zstd: %s\n", ZSTD_getErrorName(code));
    std::exit(1);
  }
}

static std::string make_text(uint32_t seed, size_t size) {
  static const char* const words[] = {"thread", "switch", "lock",  "queue", "signal",
                                      "wait",   "clock",  "point", "yield", "run"};
  std::string text;
  while (text.size() < size) {
    seed = seed * 1664525 + 1013904223;
    text += words[(seed >> 20) % 10];
    text += (seed >> 28) == 0 ? '\n' : ' ';
    if ((seed >> 12) % 7 == 0) text += std::to_string(seed >> 8);
  }
  text.resize(size);
  return text;
}

static uint64_t hash_of(const std::string& bytes) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

static ZSTD_CCtx* make_context(int level) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  check(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level));
  check(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
  check(ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1 << 19));
  const size_t workers = ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 3);
  if (ZSTD_isError(workers)) {
    std::printf("libzstd has no threads: %s\n", ZSTD_getErrorName(workers));
    std::exit(1);
  }
  return context;
}

static std::string compress_at_once(const std::string& text, int level) {
  ZSTD_CCtx* context = make_context(level);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  check(size);
  out.resize(size);
  ZSTD_freeCCtx(context);
  return out;
}

static std::string compress_stream(const std::string& text, int level) {
  ZSTD_CCtx* context = make_context(level);
  check(ZSTD_CCtx_setPledgedSrcSize(context, text.size()));
  std::string out;
  std::vector<char> piece(1 << 14);
  for (size_t at = 0; at < text.size() || at == 0;) {
    const size_t take = std::min<size_t>(100000, text.size() - at);
    const bool last = at + take == text.size();
    ZSTD_inBuffer in{text.data() + at, take, 0};
    for (bool done = false; !done;) {
      ZSTD_outBuffer to{piece.data(), piece.size(), 0};
      const size_t left =
          ZSTD_compressStream2(context, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      check(left);
      out.append(piece.data(), to.pos);
      done = last ? left == 0 : in.pos == in.size;
    }
    at += take;
  }
  ZSTD_freeCCtx(context);
  return out;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const size_t size = (argc > 2 ? std::atoi(argv[2]) : 2048) * size_t{1024};
  std::vector<std::string> lines(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      const std::string text = make_text(t + 1, size + t * 1000);
      const int level = 1 + t % 4;
      const std::string packed =
          t % 2 == 0 ? compress_at_once(text, level) : compress_stream(text, level);
      std::string back(text.size(), '\0');
      const size_t length = ZSTD_decompress(back.data(), back.size(), packed.data(), packed.size());
      check(length);
      char line[200];
      std::snprintf(line, sizeof line, "%d: level %d, %zu bytes to %zu, hash %016llx, %s\n", t,
                    level, text.size(), packed.size(),
                    static_cast<unsigned long long>(hash_of(packed)),
                    back == text ? "same after decompression" : "DIFFERENT");
      lines[t] = line;
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const std::string& line : lines) std::fputs(line.c_str(), stdout);
}
