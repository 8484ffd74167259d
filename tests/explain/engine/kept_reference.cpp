// A prepared statement is executed twice; the first execution may find a row locked by another session and is refused (the shape of MySQL's bug 42419, case
// study II of Weeratunge et al. 2010). Then the references of its items are not put back: they still refer to constants of the first execution.
// ROOT CAUSE: session.cpp:126 (left without cleaning up); KIND: atomicity-violation or order-violation or data-race
// SAYS: owner
#include <cstdio>
#include <string>
#include <thread>

#include "session.h"

namespace {

void fill(engine::Session& session) {
  session.execute(
      "create table people (id integer primary key, name text, town integer, age integer)");
  session.execute("create table towns (id integer primary key, name text, size integer)");
  session.execute(
      "insert into people values (1, 'ada', 1, 36), (2, 'grace', 2, 85), (3, 'barbara', 2, 70)");
  session.execute("insert into towns values (1, 'london', 9), (2, 'arlington', 1)");
}

// A condition as programs make them: many parts, the key of each table among them.
std::string question() {
  std::string text =
      "select people.name, towns.name from people, towns where towns.id = people.town and "
      "people.id = 1";
  for (int limit = 100; limit < 116; limit++) text += " and people.age < " + std::to_string(limit);
  return text;
}

}  // namespace

int main() {
  engine::Database database;
  engine::Session administrator(database);
  fill(administrator);

  std::string found;
  std::thread reader([&] {
    engine::Session session(database);
    session.prepare("where", question());
    session.execute_prepared("where");
    const engine::Answer again = session.execute_prepared("where");
    if (!again.rows.empty()) found = engine::to_text(again.rows[0]);
  });
  std::thread writer([&] {
    engine::Session session(database);
    session.execute("update towns set size = size + 1 where id = 1");
  });
  reader.join();
  writer.join();

  std::printf("%s\n", found.c_str());
  return found.empty() || found == "ada|london" ? 0 : 1;
}
