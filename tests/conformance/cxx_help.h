// What the C++ programs need in addition to check.h.
#ifndef CLEW_TESTS_CONFORMANCE_CXX_HELP_H_
#define CLEW_TESTS_CONFORMANCE_CXX_HELP_H_

#include <chrono>
#include <future>
#include <system_error>
#include <thread>

#include "check.h"

using namespace std::chrono_literals;

// For timeouts that must not be reached, and for those that must.
inline constexpr auto kLong = 20s;
inline constexpr auto kShort = 5ms;

// Gives other threads time to block. No expectation may depend on it.
inline void nap() { std::this_thread::sleep_for(kShort); }

template <typename Function>
bool throws_error(std::errc expected, Function function) {
  try {
    function();
  } catch (const std::system_error& error) {
    return error.code() == expected;
  }
  return false;
}

template <typename Function>
bool throws_future_error(std::future_errc expected, Function function) {
  try {
    function();
  } catch (const std::future_error& error) {
    return error.code() == expected;
  }
  return false;
}

// What `function` returns when a new thread calls it.
template <typename Function>
auto in_thread(Function function) {
  decltype(function()) result{};
  std::thread([&] { result = function(); }).join();
  return result;
}

#endif  // CLEW_TESTS_CONFORMANCE_CXX_HELP_H_
