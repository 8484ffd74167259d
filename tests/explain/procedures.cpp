// Stored procedures in the manner of MySQL (bug 12228): a call looks its procedure up, prepares the arguments and executes it; a drop deletes it. The
// lookup and the execution are each under the lock, the preparation between them is not, and the pointer is kept.
// ROOT CAUSE: procedures.cpp:75 (looked up), procedures.cpp:56 (executed later), procedures.cpp:86 (dropped in between); KIND: order-violation or atomicity-violation
// SAYS: after T0.2 has freed that memory at procedures.cpp:(86|[0-9]+ .in the call at procedures.cpp:86)
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Row = std::vector<long>;

class Statement {
 public:
  virtual ~Statement() = default;
  virtual void execute(Row& variables) const = 0;
};

class Assign final : public Statement {
 public:
  Assign(std::size_t to, long value) : to_(to), value_(value) {}
  void execute(Row& variables) const override { variables.at(to_) = value_; }

 private:
  std::size_t to_;
  long value_;
};

class Add final : public Statement {
 public:
  Add(std::size_t to, std::size_t from) : to_(to), from_(from) {}
  void execute(Row& variables) const override { variables.at(to_) += variables.at(from_); }

 private:
  std::size_t to_, from_;
};

class Procedure {
 public:
  Procedure(std::string name, std::size_t arguments)
      : name_(std::move(name)), arguments_(arguments) {}
  Procedure& add(std::unique_ptr<Statement> statement) {
    body_.push_back(std::move(statement));
    return *this;
  }
  std::size_t arguments() const { return arguments_; }
  long run(const Row& given) const {
    Row variables = given;
    variables.resize(arguments_ + 2);
    for (const auto& statement : body_) statement->execute(variables);
    return variables[0];
  }

 private:
  std::string name_;
  std::size_t arguments_;
  std::vector<std::unique_ptr<Statement>> body_;
};

class Catalogue {
 public:
  void create(const std::string& name, std::unique_ptr<Procedure> procedure) {
    std::lock_guard lock(mutex_);
    procedures_[name] = std::move(procedure);
  }
  Procedure* find(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = procedures_.find(name);
    return found == procedures_.end() ? nullptr : found->second.get();
  }
#ifdef FIXED
  std::shared_ptr<Procedure> share(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = procedures_.find(name);
    return found == procedures_.end() ? nullptr : found->second;
  }
#endif
  bool drop(const std::string& name) {
    std::lock_guard lock(mutex_);
    return procedures_.erase(name) > 0;
  }

 private:
  std::mutex mutex_;
#ifdef FIXED
  std::map<std::string, std::shared_ptr<Procedure>> procedures_;
#else
  std::map<std::string, std::unique_ptr<Procedure>> procedures_;
#endif
};

class Connection {
 public:
  explicit Connection(Catalogue& catalogue) : catalogue_(catalogue) {}

  long call(const std::string& name, const std::vector<std::string>& arguments) {
#ifdef FIXED
    const std::shared_ptr<Procedure> procedure = catalogue_.share(name);
#else
    const Procedure* procedure = catalogue_.find(name);
#endif
    if (procedure == nullptr) throw std::runtime_error("no procedure " + name);
    const Row row = convert(arguments, procedure->arguments());
    return procedure->run(row);
  }

  bool drop(const std::string& name) { return catalogue_.drop(name); }

 private:
  static Row convert(const std::vector<std::string>& arguments, std::size_t count) {
    Row row;
    for (const std::string& one : arguments) row.push_back(std::stol(one));
    if (row.size() != count) throw std::invalid_argument("number of arguments");
    return row;
  }

  Catalogue& catalogue_;
};

std::unique_ptr<Procedure> sum_of_two() {
  auto procedure = std::make_unique<Procedure>("sum", 2);
  procedure->add(std::make_unique<Assign>(2, 0));
  procedure->add(std::make_unique<Add>(0, 1)).add(std::make_unique<Add>(0, 2));
  return procedure;
}

}  // namespace

int main() {
  Catalogue catalogue;
  catalogue.create("sum", sum_of_two());
  long result = 0;
  bool refused = false;
  std::thread caller([&] {
    try {
      result = Connection(catalogue).call("sum", {"20", "22"});
    } catch (const std::runtime_error&) {
      refused = true;
    }
  });
  std::thread administrator([&] { Connection(catalogue).drop("sum"); });
  caller.join();
  administrator.join();
  if (refused) return 0;
  std::printf("%ld\n", result);
  return result == 42 ? 0 : 1;
}
