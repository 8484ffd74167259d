// A recursive ray tracer: spheres over a chequered plane, two lights, shadows, reflections.
// Threads fetch scan lines from a shared counter. The checksum does not depend on the number of
// threads.
// Usage: ray_tracer [threads] [size]; the picture has size x size pixels.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

struct Vector {
  double x = 0, y = 0, z = 0;
};

static Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vector operator*(Vector a, double s) { return {a.x * s, a.y * s, a.z * s}; }
static double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vector blend(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
static Vector normalized(Vector a) { return a * (1 / std::sqrt(dot(a, a))); }

struct Ray {
  Vector origin;
  Vector direction;  // of length one
};

struct Material {
  Vector color;
  double reflection = 0;
  double gloss = 0;
};

struct Hit {
  double distance;
  Vector point;
  Vector normal;
  Material material;
};

struct Sphere {
  Vector center;
  double radius;
  Material material;
};

struct Light {
  Vector position;
  Vector color;
};

static constexpr double kNear = 1e-6;
static constexpr double kFar = std::numeric_limits<double>::infinity();
static constexpr int kMaxDepth = 5;

class Scene {
 public:
  Scene() {
    for (int i = 0; i < 24; i++) {
      double angle = i * 0.7;
      double ring = 1.5 + i * 0.22;
      double radius = 0.25 + 0.05 * (i % 5);
      Material material{
          {0.3 + 0.7 * (i % 3 == 0), 0.3 + 0.7 * (i % 3 == 1), 0.3 + 0.7 * (i % 3 == 2)},
          0.15 + 0.1 * (i % 4),
          20.0 + 10 * (i % 6)};
      Vector center{ring * std::cos(angle), radius, 6 + ring * std::sin(angle)};
      spheres_.push_back({center, radius, material});
    }
    spheres_.push_back({{0, 1.2, 6}, 1.2, {{0.9, 0.9, 0.95}, 0.7, 120}});
    lights_.push_back({{-6, 9, -2}, {0.9, 0.85, 0.8}});
    lights_.push_back({{7, 6, 1}, {0.35, 0.4, 0.5}});
  }

  Vector trace(const Ray& ray, int depth) const {
    std::optional<Hit> hit = nearest(ray);
    if (!hit) return sky(ray);
    Vector color = shade(ray, *hit);
    double reflection = hit->material.reflection;
    if (reflection > 0 && depth < kMaxDepth) {
      Vector direction = reflected(ray.direction, hit->normal);
      Vector mirrored = trace({hit->point + direction * kNear, direction}, depth + 1);
      color = color * (1 - reflection) + blend(mirrored, hit->material.color) * reflection;
    }
    return color;
  }

 private:
  static Vector reflected(Vector direction, Vector normal) {
    return normalized(direction - normal * (2 * dot(direction, normal)));
  }

  static Vector sky(const Ray& ray) {
    double height = std::max(0.0, ray.direction.y);
    return Vector{0.75, 0.8, 0.9} * (1 - height) + Vector{0.2, 0.35, 0.7} * height;
  }

  // The distance to where the ray enters, or leaves, the sphere; kFar if it misses.
  static double distance_to(const Sphere& sphere, const Ray& ray) {
    Vector to_center = sphere.center - ray.origin;
    double along = dot(to_center, ray.direction);
    double miss_squared = dot(to_center, to_center) - along * along;
    double radius_squared = sphere.radius * sphere.radius;
    if (miss_squared > radius_squared) return kFar;
    double half_chord = std::sqrt(radius_squared - miss_squared);
    if (along - half_chord > kNear) return along - half_chord;
    if (along + half_chord > kNear) return along + half_chord;
    return kFar;
  }

  static double distance_to_plane(const Ray& ray) {
    if (ray.direction.y > -kNear) return kFar;
    return -ray.origin.y / ray.direction.y;
  }

  std::optional<Hit> nearest(const Ray& ray) const {
    double distance = kFar;
    const Sphere* found = nullptr;
    for (const Sphere& sphere : spheres_) {
      double candidate = distance_to(sphere, ray);
      if (candidate < distance) {
        distance = candidate;
        found = &sphere;
      }
    }
    double plane = distance_to_plane(ray);
    if (plane > kNear && plane < distance) {
      Vector point = ray.origin + ray.direction * plane;
      bool dark =
          (static_cast<long>(std::floor(point.x)) + static_cast<long>(std::floor(point.z))) & 1;
      Vector color = dark ? Vector{0.15, 0.15, 0.2} : Vector{0.85, 0.85, 0.8};
      return Hit{plane, point, {0, 1, 0}, {color, 0.2, 10}};
    }
    if (found == nullptr) return std::nullopt;
    Vector point = ray.origin + ray.direction * distance;
    return Hit{distance, point, normalized(point - found->center), found->material};
  }

  bool in_shadow(const Ray& ray, double light_distance) const {
    for (const Sphere& sphere : spheres_) {
      if (distance_to(sphere, ray) < light_distance) return true;
    }
    return false;
  }

  Vector shade(const Ray& ray, const Hit& hit) const {
    Vector color = hit.material.color * 0.12;
    for (const Light& light : lights_) {
      Vector to_light = light.position - hit.point;
      double distance = std::sqrt(dot(to_light, to_light));
      Vector direction = to_light * (1 / distance);
      double facing = dot(direction, hit.normal);
      if (facing <= 0 || in_shadow({hit.point + direction * kNear, direction}, distance)) continue;
      color = color + blend(hit.material.color, light.color) * facing;
      double shine = dot(reflected(ray.direction, hit.normal), direction);
      if (shine > 0) color = color + light.color * (0.5 * std::pow(shine, hit.material.gloss));
    }
    return color;
  }

  std::vector<Sphere> spheres_;
  std::vector<Light> lights_;
};

static std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 1.0) * 255 + 0.5);
}

static void render_line(const Scene& scene, int size, int line, std::uint8_t* pixels) {
  const Vector eye{0, 2.2, -3};
  for (int column = 0; column < size; column++) {
    double right = (2.0 * column - size) / size;
    double up = (size - 2.0 * line) / size - 0.2;
    Vector color = scene.trace({eye, normalized({right, up, 1.6})}, 0);
    *pixels++ = to_byte(color.x);
    *pixels++ = to_byte(color.y);
    *pixels++ = to_byte(color.z);
  }
}

int main(int argc, char** argv) {
  int thread_count = argc > 1 ? std::atoi(argv[1]) : 4;
  int size = argc > 2 ? std::atoi(argv[2]) : 1600;

  Scene scene;
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(size) * size * 3);
  std::atomic<int> next_line = 0;
  std::atomic<int> lines_done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; i++) {
    threads.emplace_back([&] {
      for (int line = next_line++; line < size; line = next_line++) {
        render_line(scene, size, line, &picture[static_cast<std::size_t>(line) * size * 3]);
        lines_done++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  // Exactly one thread rendered each line, and a fresh rendering of some lines gives the same
  // bytes.
  bool good = lines_done == size;
  std::vector<std::uint8_t> again(static_cast<std::size_t>(size) * 3);
  for (int line = 0; line < size; line += std::max(1, size / 7)) {
    render_line(scene, size, line, again.data());
    good &=
        std::equal(again.begin(), again.end(), &picture[static_cast<std::size_t>(line) * size * 3]);
  }
  std::uint64_t checksum = 14695981039346656037u;
  for (std::uint8_t byte : picture) checksum = (checksum ^ byte) * 1099511628211u;
  std::printf("checksum %016lx %s\n", checksum, good ? "ok" : "WRONG");
  return good ? 0 : 1;
}
