// Qt 6 without a window: QtConcurrent, QThreadPool, QFuture continuations, threads with event loops that call each other through the
// queue, QReadWriteLock, QWaitCondition, QSemaphore.
// Package: qt6-base-dev. Flags: pkg:Qt6Concurrent -fPIC -pthread. Usage: qt_concurrent [items]
#include <QtConcurrent/QtConcurrent>
#include <QtCore/QtCore>
#include <cstdio>
#include <cstdlib>

static quint64 work(int n) {
  quint64 x = n + 1;
  for (int i = 0; i < 2000; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x >> 32;
}

static void futures(int items) {
  QList<int> numbers(items);
  for (int i = 0; i < items; i++) numbers[i] = i;
  const QList<quint64> mapped = QtConcurrent::blockingMapped(numbers, work);
  quint64 in_order = 0;
  for (quint64 value : mapped) in_order = in_order * 31 + value;
  const quint64 reduced = QtConcurrent::blockingMappedReduced<quint64>(
      numbers, work, [](quint64& sum, quint64 value) { sum += value; },
      QtConcurrent::UnorderedReduce);
  QList<int> filtered =
      QtConcurrent::blockingFiltered(numbers, [](int n) { return work(n) % 3 == 0; });
  QFuture<QString> text =
      QtConcurrent::run([] {
        return work(7);
      }).then(QtFuture::Launch::Async, [](quint64 value) {
          return value % 1000;
        }).then([](quint64 value) { return QStringLiteral("value %1").arg(value); });
  std::printf("futures: %016llx, sum %llu, filtered %lld, %s\n", in_order, reduced,
              static_cast<long long>(filtered.size()), qPrintable(text.result()));
}

static void ring(int items) {
  QSemaphore free(8), used(0);
  int buffer[8];
  long sum = 0;
  QThread* producer = QThread::create([&] {
    for (int i = 0; i < items; i++) {
      free.acquire();
      buffer[i % 8] = i;
      used.release();
    }
  });
  QThread* consumer = QThread::create([&] {
    for (int i = 0; i < items; i++) {
      used.acquire();
      sum = (sum * 3 + buffer[i % 8]) % 1000003;
      free.release();
    }
  });
  producer->start();
  consumer->start();
  producer->wait();
  consumer->wait();
  delete producer;
  delete consumer;
  std::printf("semaphores: %ld\n", sum);
}

static void locks(int items) {
  QThreadPool pool;
  pool.setMaxThreadCount(4);
  QReadWriteLock lock;
  QMap<int, int> table;
  QMutex mutex;
  QWaitCondition ready;
  int finished = 0;
  QAtomicInt wrong;
  for (int t = 0; t < 6; t++) {
    pool.start([&, t] {
      for (int i = 0; i < items; i++) {
        if (i % 4 == 0) {
          QWriteLocker guard(&lock);
          table[i % 50]++;
          table[-1 - i % 50]--;
        } else {
          QReadLocker guard(&lock);
          if (table.value(i % 50) + table.value(-1 - i % 50) != 0) wrong.ref();
        }
      }
      QMutexLocker guard(&mutex);
      finished += t;
      ready.wakeAll();
    });
  }
  {
    QMutexLocker guard(&mutex);
    while (finished != 15) ready.wait(&mutex);
  }
  pool.waitForDone();
  long sum = 0;
  for (auto it = table.begin(); it != table.end(); ++it) sum += qAbs(it.value());
  std::printf("locks: wrong %d, sum %ld\n", wrong.loadRelaxed(), sum);
}

// Two threads with event loops hand a number to each other by queued calls; the main loop is
// notified at the end.
static void event_loops(QCoreApplication& app, int rounds) {
  QThread first, second;
  QObject here, there;
  here.moveToThread(&first);
  there.moveToThread(&second);
  first.start();
  second.start();
  long value = 1;
  std::function<void(int)> pass = [&](int left) {
    value = (value * 7 + left) % 1000003;
    if (left == 0) {
      QMetaObject::invokeMethod(&app, [&app] { app.quit(); }, Qt::QueuedConnection);
    } else {
      QMetaObject::invokeMethod(
          left % 2 ? &here : &there, [&pass, left] { pass(left - 1); }, Qt::QueuedConnection);
    }
  };
  QTimer::singleShot(5, &app, [&] { pass(rounds); });
  app.exec();
  long blocking = 0;
  QMetaObject::invokeMethod(&here, [&] { blocking = value + 1; }, Qt::BlockingQueuedConnection);
  for (QThread* thread : {&first, &second}) {
    thread->quit();
    thread->wait();
  }
  std::printf("event loops: %ld, %ld\n", value, blocking);
}

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  const int items = argc > 1 ? std::atoi(argv[1]) : 2000;
  QThreadPool::globalInstance()->setMaxThreadCount(4);
  futures(items);
  ring(items);
  locks(items);
  event_loops(app, items / 4);
}
