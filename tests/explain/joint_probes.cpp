// A monitor asks two probes whether a unit is fit. Each probe looks at its own reading, and both readings come from one thread, which has
// not measured yet when the monitor asks. Either probe alone takes the unit out of service.
// ROOT CAUSE: joint_probes.cpp:37, joint_probes.cpp:40, joint_probes.cpp:23, joint_probes.cpp:24 (readings used before they were made); KIND: order-violation
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Readings {
  int pressure = -1;
  int voltage = -1;
  mutable std::mutex mutex;
};

class Sensor {
 public:
  explicit Sensor(Readings& readings) : readings_(readings) {}
  void measure() {
    const int pressure = 40 + calibration();
    const int voltage = 220 + calibration();
    const std::scoped_lock lock(readings_.mutex);
    readings_.pressure = pressure;
    readings_.voltage = voltage;
  }

 private:
  static int calibration() { return 2; }
  Readings& readings_;
};

struct Probe {
  virtual ~Probe() = default;
  virtual bool fit(const Readings& readings) const = 0;
};
struct PressureProbe final : Probe {
  bool fit(const Readings& readings) const override { return readings.pressure > 0; }
};
struct VoltageProbe final : Probe {
  bool fit(const Readings& readings) const override { return readings.voltage > 0; }
};

class Monitor {
 public:
  explicit Monitor(const Readings& readings) : readings_(readings) {
    probes_.push_back(std::make_unique<PressureProbe>());
    probes_.push_back(std::make_unique<VoltageProbe>());
  }
  void ask() {
    const std::scoped_lock lock(readings_.mutex);
    for (const auto& probe : probes_) unfit_ += !probe->fit(readings_);
  }
  bool in_service() const { return unfit_ == 0; }

 private:
  const Readings& readings_;
  std::vector<std::unique_ptr<Probe>> probes_;
  int unfit_ = 0;
};

int main() {
  Readings readings;
  Sensor sensor(readings);
  Monitor monitor(readings);
  std::thread measuring([&] { sensor.measure(); });
  std::thread watching([&] { monitor.ask(); });
  measuring.join();
  watching.join();
  if (!monitor.in_service()) std::fputs("out of service\n", stderr);
  return monitor.in_service() ? 0 : 1;
}
