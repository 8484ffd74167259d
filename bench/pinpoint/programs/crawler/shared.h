// What all threads share.
#ifndef CRAWLER_SHARED_H_
#define CRAWLER_SHARED_H_

#include "connection.h"
#include "frontier.h"
#include "hosts.h"
#include "index.h"
#include "statistics.h"

namespace crawler {

inline Statistics statistics;
inline SeenUrls seen;
inline Frontier frontier;
inline ConnectionPool pool;
inline Robots robots;
inline Hosts hosts;
inline Index word_index;
inline PageStore store;

}  // namespace crawler

#endif  // CRAWLER_SHARED_H_
