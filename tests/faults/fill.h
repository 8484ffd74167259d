// Pipes and sockets that accept no more bytes. Include it after ../conformance/help.h.
#ifndef CLEW_TESTS_FAULTS_FILL_H_
#define CLEW_TESTS_FAULTS_FILL_H_

#include <fcntl.h>

static void set_blocking(int fd, int blocking) {
  const int flags = fcntl(fd, F_GETFL);
  EXPECT_EQ(fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK), 0);
}
// Until not even one more byte fits.
static void fill(int fd) {
  static const char nothing[4096];
  set_blocking(fd, 0);
  while (write(fd, nothing, sizeof nothing) > 0) {
  }
  while (write(fd, nothing, 1) > 0) {
  }
  set_blocking(fd, 1);
}

#endif  // CLEW_TESTS_FAULTS_FILL_H_
