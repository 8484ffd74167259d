// A worker says that it is done before its last use of the shared job. The main thread then takes
// the job away, and the worker writes through a null pointer.
// ROOT CAUSE: order_violation_null.c:25; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail signal
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
  long input;
  long result;
  int closed;
};

static struct job* volatile job;  // volatile: or the optimiser would guess what it reads
static sem_t done;

static void* work(void* arg) {
  (void)arg;
  long sum = 0;
  for (long i = 1; i <= job->input; i++) sum += i;
  job->result = sum;
  sem_post(&done);
  job->closed = 1;
  return NULL;
}

int main(int argc, char** argv) {
  static struct job the_job;
  the_job.input = argc > 1 ? atol(argv[1]) : 4;
  job = &the_job;
  sem_init(&done, 0, 0);

  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  sem_wait(&done);
  long result = job->result;
  job = NULL;
  pthread_join(worker, NULL);

  printf("sum %ld\n", result);
  sem_destroy(&done);
  return result == the_job.input * (the_job.input + 1) / 2 ? 0 : 1;
}
