// A symbol table in the manner of C: readers look names up without a lock, writers grow the table and free the old array, which a reader may still walk over. The crash is in
// strcmp().
// ROOT CAUSE: symbol_table.cpp:45 (freed), symbol_table.cpp:66 (read); KIND: order-violation or data-race
// SAYS: T0\.1 reads .* after T0\.2 has freed that memory at symbol_table\.cpp:
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
  char name[16];
  int value;
};

struct table {
  pthread_mutex_t lock;
  struct symbol** slots;
  unsigned capacity;
  unsigned count;
};

struct reader {
  struct table* table;
  const char* names[3];
  int found;
};

static unsigned hash(const char* name) {
  unsigned h = 5381;
  while (*name) h = h * 33 + (unsigned char)*name++;
  return h;
}

static void place(struct symbol** slots, unsigned capacity, struct symbol* symbol) {
  unsigned at = hash(symbol->name) % capacity;
  while (slots[at] != NULL) at = (at + 1) % capacity;
  slots[at] = symbol;
}

static void grow(struct table* table) {
  unsigned capacity = table->capacity * 2;
  struct symbol** fresh = static_cast<struct symbol**>(calloc(capacity, sizeof *fresh));
  for (unsigned i = 0; i < table->capacity; i++)
    if (table->slots[i] != NULL) place(fresh, capacity, table->slots[i]);
  free(table->slots);
  table->slots = fresh;
  table->capacity = capacity;
}

static void define(struct table* table, const char* name, int value) {
  struct symbol* symbol = static_cast<struct symbol*>(malloc(sizeof *symbol));
  strncpy(symbol->name, name, sizeof symbol->name - 1);
  symbol->name[sizeof symbol->name - 1] = 0;
  symbol->value = value;
  pthread_mutex_lock(&table->lock);
  if (table->count * 2 >= table->capacity) grow(table);
  place(table->slots, table->capacity, symbol);
  table->count++;
  pthread_mutex_unlock(&table->lock);
}

static struct symbol* look_up(struct table* table, const char* name) {
  struct symbol** slots = table->slots;
  unsigned capacity = table->capacity;
  unsigned at = hash(name) % capacity;
  for (unsigned i = 0; i < capacity && slots[at] != NULL; i++) {
    if (strcmp(slots[at]->name, name) == 0) return slots[at];
    at = (at + 1) % capacity;
  }
  return NULL;
}

static void* reader_main(void* argument) {
  struct reader* reader = static_cast<struct reader*>(argument);
  for (int i = 0; i < 3; i++) {
#ifdef FIXED
    pthread_mutex_lock(&reader->table->lock);
#endif
    if (look_up(reader->table, reader->names[i]) != NULL) reader->found++;
#ifdef FIXED
    pthread_mutex_unlock(&reader->table->lock);
#endif
  }
  return NULL;
}

static void* writer_main(void* argument) {
  struct table* table = static_cast<struct table*>(argument);
  define(table, "gamma", 3);
  define(table, "delta", 4);
  return NULL;
}

int main(void) {
  struct table table = {
      .lock = PTHREAD_MUTEX_INITIALIZER, .slots = nullptr, .capacity = 4, .count = 0};
  pthread_t one, two;
  struct reader reader = {&table, {"alpha", "beta", "alpha"}, 0};
  table.slots = static_cast<struct symbol**>(calloc(table.capacity, sizeof *table.slots));
  define(&table, "alpha", 1);
  define(&table, "beta", 2);
  pthread_create(&one, NULL, reader_main, &reader);
  pthread_create(&two, NULL, writer_main, &table);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  if (reader.found != 3) {
    printf("found %d of 3\n", reader.found);
    return 1;
  }
  return 0;
}
