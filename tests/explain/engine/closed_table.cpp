// One session makes a table from another while a second one drops that (the shape of MySQL's bug 12845, case study I of Weeratunge et al. 2010). The drop finds
// the table in use and asks its user to close it; the user does so in the middle of its statement, and continues to read it.
// ROOT CAUSE: table_cache.cpp:109 (the drop finds it in use), table_cache.cpp:114 (and asks for it to be closed), session.cpp:112 (closed in the middle); KIND: atomicity-violation or order-violation or data-race
// SAYS: some_tables_deleted_
#include <cstdio>
#include <thread>

#include "session.h"

namespace {

void fill(engine::Session& session) {
  session.execute("create table a1 (id integer primary key auto_increment, name text)");
  session.execute("create table towns (id integer primary key, name text)");
  session.execute("insert into a1 values (null, 'ada'), (null, 'grace'), (null, 'barbara')");
  session.execute("insert into towns values (1, 'london'), (2, 'arlington')");
  session.execute("update a1 set name = 'ada l.' where id = 1 and name = 'ada'");
}

}  // namespace

int main() {
  engine::Database database;
  engine::Session administrator(database);
  fill(administrator);

  engine::Answer copied, dropped;
  std::thread first([&] {
    engine::Session session(database);
    session.execute("select count(*) from towns");
    copied = session.execute("create table a2 select id from a1");
  });
  std::thread second([&] {
    engine::Session session(database);
    dropped = session.execute("drop table a1");
  });
  first.join();
  second.join();

  if (!copied.fine) return 0;  // the table was gone
  const engine::Answer answer = administrator.execute("select count(*), sum(id) from a2");
  std::printf("%s\n", engine::to_text(answer.rows.at(0)).c_str());
  return engine::to_text(answer.rows.at(0)) == "3|6" ? 0 : 1;
}
