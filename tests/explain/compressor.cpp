// A block compressor: a reader cuts the input into blocks and puts them into a queue, consumers take blocks, compress them and hand them to the
// output, in the manner of pbzip2 0.9.4. Main waits until the output has all blocks, then deletes the queue; a consumer may still be on its way back into it.
// ROOT CAUSE: compressor.cpp:188 (the queue is deleted), compressor.cpp:75 (a consumer still takes its mutex); KIND: order-violation
// SAYS: T0.[23] .* after T0 has (freed|destroyed)
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

namespace {

struct Block {
  int number = -1;
  std::string data;
};

// Run lengths: a byte, and how often it is repeated.
std::string squeeze(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t run = 1;
    while (i + run < text.size() && text[i + run] == text[i] && run < 255) run++;
    result.push_back(text[i]);
    result.push_back(static_cast<char>(run));
    i += run;
  }
  return result;
}

std::string expand(const std::string& squeezed) {
  std::string result;
  for (std::size_t i = 0; i + 1 < squeezed.size(); i += 2)
    result.append(static_cast<unsigned char>(squeezed[i + 1]), squeezed[i]);
  return result;
}

class BlockQueue {
 public:
  explicit BlockQueue(std::size_t capacity) : capacity_(capacity) {
    mutex_ = new pthread_mutex_t;
    not_full_ = new pthread_cond_t;
    not_empty_ = new pthread_cond_t;
    pthread_mutex_init(mutex_, nullptr);
    pthread_cond_init(not_full_, nullptr);
    pthread_cond_init(not_empty_, nullptr);
  }
  ~BlockQueue() {
    pthread_mutex_destroy(mutex_);
    pthread_cond_destroy(not_full_);
    pthread_cond_destroy(not_empty_);
    delete mutex_;
    delete not_full_;
    delete not_empty_;
  }

  void put(Block block) {
    pthread_mutex_lock(mutex_);
    while (blocks_.size() >= capacity_) pthread_cond_wait(not_full_, mutex_);
    blocks_.push_back(std::move(block));
    pthread_cond_signal(not_empty_);
    pthread_mutex_unlock(mutex_);
  }

  void close() {
    pthread_mutex_lock(mutex_);
    closed_ = true;
    pthread_cond_broadcast(not_empty_);
    pthread_mutex_unlock(mutex_);
  }

  bool take(Block& block) {
    pthread_mutex_lock(mutex_);
    while (blocks_.empty() && !closed_) pthread_cond_wait(not_empty_, mutex_);
    const bool found = !blocks_.empty();
    if (found) {
      block = std::move(blocks_.front());
      blocks_.pop_front();
      pthread_cond_signal(not_full_);
    }
    pthread_mutex_unlock(mutex_);
    return found;
  }

 private:
  pthread_mutex_t* mutex_;
  pthread_cond_t* not_full_;
  pthread_cond_t* not_empty_;
  std::deque<Block> blocks_;
  std::size_t capacity_;
  bool closed_ = false;
};

class Output {
 public:
  explicit Output(std::size_t count) : blocks_(count), missing_(count) {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&complete_, nullptr);
  }
  ~Output() {
    pthread_mutex_destroy(&mutex_);
    pthread_cond_destroy(&complete_);
  }

  void store(const Block& block) {
    pthread_mutex_lock(&mutex_);
    blocks_[static_cast<std::size_t>(block.number)] = block.data;
    if (--missing_ == 0) pthread_cond_signal(&complete_);
    pthread_mutex_unlock(&mutex_);
  }

  void wait_complete() {
    pthread_mutex_lock(&mutex_);
    while (missing_ > 0) pthread_cond_wait(&complete_, &mutex_);
    pthread_mutex_unlock(&mutex_);
  }

  std::string text() const {
    std::string result;
    for (const std::string& block : blocks_) result += expand(block);
    return result;
  }

 private:
  pthread_mutex_t mutex_;
  pthread_cond_t complete_;
  std::vector<std::string> blocks_;
  std::size_t missing_;
};

struct Job {
  BlockQueue* queue = nullptr;
  Output* output = nullptr;
  std::string input;
  std::size_t block_size = 0;
};

void* produce(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  int number = 0;
  for (std::size_t at = 0; at < job.input.size(); at += job.block_size)
    job.queue->put({number++, job.input.substr(at, job.block_size)});
  job.queue->close();
  return nullptr;
}

void* consume(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  Block block;
  while (job.queue->take(block)) {
    block.data = squeeze(block.data);
    job.output->store(block);
  }
  return nullptr;
}

std::string sample(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; i++)
    text.append(1 + i % 4, static_cast<char>('a' + i % 7));
  text.resize(size);
  return text;
}

}  // namespace

int main() {
  Job job;
  job.input = sample(40);
  job.block_size = 16;
  const std::size_t blocks = (job.input.size() + job.block_size - 1) / job.block_size;
  Output output(blocks);
  job.queue = new BlockQueue(2);
  job.output = &output;

  pthread_t producer;
  std::vector<pthread_t> consumers(2);
  pthread_create(&producer, nullptr, produce, &job);
  for (pthread_t& thread : consumers) pthread_create(&thread, nullptr, consume, &job);

  pthread_join(producer, nullptr);
  output.wait_complete();
#ifdef FIXED
  for (pthread_t thread : consumers) pthread_join(thread, nullptr);
#endif
  delete job.queue;
#ifndef FIXED
  for (pthread_t thread : consumers) pthread_join(thread, nullptr);
#endif
  if (output.text() != job.input) return 1;
  std::printf("%zu blocks\n", blocks);
  return 0;
}
