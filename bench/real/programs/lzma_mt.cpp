// liblzma: the multi-threaded encoder and decoder of the .xz format, driven by two threads at once.
// Package: liblzma-dev. Flags: -llzma -pthread. Usage: lzma_mt [workers] [kilobytes]
#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static std::string make_text(uint32_t seed, size_t size) {
  std::string text;
  while (text.size() < size) {
    seed = seed * 1664525 + 1013904223;
    text +=
        "event " + std::to_string((seed >> 16) % 500) + (seed >> 31 ? " lock" : " unlock") + "\n";
  }
  text.resize(size);
  return text;
}

// Runs a prepared stream over the input in small pieces.
static std::string code(lzma_stream& stream, const std::string& input) {
  std::string out;
  uint8_t piece[4096];
  size_t given = 0;
  for (lzma_ret result = LZMA_OK; result == LZMA_OK;) {
    if (stream.avail_in == 0 && given < input.size()) {
      stream.next_in = reinterpret_cast<const uint8_t*>(input.data()) + given;
      stream.avail_in = std::min<size_t>(10000, input.size() - given);
      given += stream.avail_in;
    }
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    result = lzma_code(&stream, given == input.size() ? LZMA_FINISH : LZMA_RUN);
    out.append(reinterpret_cast<char*>(piece), sizeof piece - stream.avail_out);
    if (result != LZMA_OK && result != LZMA_STREAM_END) {
      std::printf("lzma_code: %d\n", result);
      std::exit(1);
    }
  }
  lzma_end(&stream);
  return out;
}

int main(int argc, char** argv) {
  const unsigned workers = argc > 1 ? std::atoi(argv[1]) : 3;
  const size_t size = (argc > 2 ? std::atoi(argv[2]) : 2000) * size_t{1024};
  std::string lines[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      const std::string text = make_text(t + 1, size);
      lzma_mt options{};
      options.threads = workers;
      options.block_size = 64 << 10;
      options.preset = 1;
      options.check = LZMA_CHECK_CRC64;
      lzma_stream encoder = LZMA_STREAM_INIT;
      if (lzma_stream_encoder_mt(&encoder, &options) != LZMA_OK) std::exit(1);
      const std::string packed = code(encoder, text);
      lzma_mt reading{};
      reading.threads = workers;
      reading.memlimit_threading = UINT64_MAX;
      reading.memlimit_stop = UINT64_MAX;
      lzma_stream decoder = LZMA_STREAM_INIT;
      if (lzma_stream_decoder_mt(&decoder, &reading) != LZMA_OK) std::exit(1);
      const std::string back = code(decoder, packed);
      lines[t] = std::to_string(text.size()) + " bytes to " + std::to_string(packed.size()) +
                 ", crc " +
                 std::to_string(lzma_crc32(reinterpret_cast<const uint8_t*>(packed.data()),
                                           packed.size(), 0)) +
                 (back == text ? ", same after decompression\n" : ", DIFFERENT\n");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& line : lines) std::fputs(line.c_str(), stdout);
}
