// Choi and Zeller 2002, section 6 and figure 9: a ray tracer counts the scenes it loads without a
// lock. Every worker helps to render an opening sequence, loads a scene of the main feature, and
// renders it. `load_scene` reads the counter at its beginning and writes it back, one higher, at
// its end: if another worker reads or writes it in between, a scene is not counted.
//   clew c++ -O2 -g ray_tracer.cpp -o ray_tracer -pthread
// Usage: ray_tracer [frames] [size]; frames of the opening, size x size pixels each.
// ROOT CAUSE: ray_tracer.cpp:180 (the read), ray_tracer.cpp:183 (the write)
// PREEMPTIONS: 1 (between the two)
// EXPECT: fail exit
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

static constexpr int kWorkers = 3;
static constexpr int kMaxDepth = 4;
static constexpr double kNear = 1e-6;
static constexpr double kFar = std::numeric_limits<double>::infinity();

struct Vector {
  double x = 0, y = 0, z = 0;
};

static Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vector operator*(Vector a, double s) { return {a.x * s, a.y * s, a.z * s}; }
static double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vector blend(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
static double length(Vector a) { return std::sqrt(dot(a, a)); }
static Vector normalized(Vector a) { return a * (1 / length(a)); }
static Vector reflected(Vector direction, Vector normal) {
  return normalized(direction - normal * (2 * dot(direction, normal)));
}

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
  double distance = kFar;
  Vector point;
  Vector normal;
  Material material;
};

struct Sphere {
  Vector center;
  double radius = 0;
  Material material;

  // The distance to where the ray enters, or leaves, the sphere; kFar if it misses.
  double distance(const Ray& ray) const {
    const Vector to_center = center - ray.origin;
    const double along = dot(to_center, ray.direction);
    const double half_chord_squared = radius * radius - (dot(to_center, to_center) - along * along);
    if (half_chord_squared < 0) return kFar;
    const double half_chord = std::sqrt(half_chord_squared);
    if (along - half_chord > kNear) return along - half_chord;
    return along + half_chord > kNear ? along + half_chord : kFar;
  }
};

struct Plane {
  Vector normal;
  double offset = 0;  // points p with dot(p, normal) == offset
  Material material;

  double distance(const Ray& ray) const {
    const double slope = dot(ray.direction, normal);
    if (std::abs(slope) < kNear) return kFar;
    const double along = (offset - dot(ray.origin, normal)) / slope;
    return along > kNear ? along : kFar;
  }
};

struct Light {
  Vector position;
  Vector color;
};

// How many scenes of the main feature have been loaded, by all workers.
int scenes_loaded = 0;
#ifdef FIXED
static std::mutex loading;  // Java: LoadScene is synchronized
#endif

class Scene {
 public:
  int load_scene(const std::string& file);
  void parse(std::string_view text);
  Vector trace(const Ray& ray, int depth) const;
  Ray ray_to(double right, double up) const { return {eye_, normalized({right, up - 0.2, 1.6})}; }
  void move_eye(Vector by) { eye_ = eye_ + by; }

 private:
  Hit nearest(const Ray& ray) const;
  bool in_shadow(const Ray& ray, double light_distance) const;
  Vector shade(const Ray& ray, const Hit& hit) const;
  void sort_by_distance();

  Vector eye_;
  Vector sky_;
  std::vector<Sphere> spheres_;
  std::vector<Plane> planes_;
  std::vector<Light> lights_;
};

// Reads words and numbers of a scene file: "sphere 0 1 6 0.5 ...", "#" begins a comment.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string_view word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  double number() {
    skip();
    const double sign = peek() == '-' ? -1 : 1;
    if (peek() == '-') ++at_;
    double value = 0;
    for (; is_digit(peek()); ++at_) value = value * 10 + (peek() - '0');
    if (peek() == '.') ++at_;
    for (double unit = 0.1; is_digit(peek()); ++at_, unit /= 10) value += unit * (peek() - '0');
    return sign * value;
  }

  Vector vector() {
    const double x = number();
    const double y = number();
    return {x, y, number()};
  }

  Material material() {
    const Vector color = vector();
    const double reflection = number();
    return {color, reflection, number()};
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip() {
    while (is_space(peek()) || peek() == '#') {
      if (peek() == '#')
        while (at_ < text_.size() && peek() != '\n') ++at_;
      else
        ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Returns how many scenes are loaded with this one. Figure 9.
int Scene::load_scene(const std::string& file) {
#ifdef FIXED
  std::lock_guard<std::mutex> guard(loading);
#endif
  int old_scenes_loaded = scenes_loaded;  // the read
  parse(file);
  sort_by_distance();
  scenes_loaded = old_scenes_loaded + 1;  // the write
  return old_scenes_loaded + 1;
}

void Scene::parse(std::string_view text) {
  Scanner in(text);
  for (std::string_view word = in.word(); !word.empty(); word = in.word()) {
    if (word == "sphere") {
      const Vector center = in.vector();
      const double radius = in.number();
      spheres_.push_back({center, radius, in.material()});
    } else if (word == "plane") {
      const Vector normal = normalized(in.vector());
      const double offset = in.number();
      planes_.push_back({normal, offset, in.material()});
    } else if (word == "light") {
      const Vector position = in.vector();
      lights_.push_back({position, in.vector()});
    } else if (word == "eye") {
      eye_ = in.vector();
    } else if (word == "sky") {
      sky_ = in.vector();
    }
  }
}

// The nearest spheres first: they hide most of the others.
void Scene::sort_by_distance() {
  for (std::size_t i = 1; i < spheres_.size(); i++)
    for (std::size_t k = i; k > 0; k--) {
      if (length(spheres_[k - 1].center - eye_) <= length(spheres_[k].center - eye_)) break;
      std::swap(spheres_[k - 1], spheres_[k]);
    }
}

Hit Scene::nearest(const Ray& ray) const {
  Hit hit;
  const Sphere* sphere = nullptr;
  for (const Sphere& candidate : spheres_) {
    const double distance = candidate.distance(ray);
    if (distance >= hit.distance) continue;
    hit.distance = distance;
    sphere = &candidate;
  }
  const Plane* plane = nullptr;
  for (const Plane& candidate : planes_) {
    const double distance = candidate.distance(ray);
    if (distance >= hit.distance) continue;
    hit.distance = distance;
    plane = &candidate;
  }
  hit.point = ray.origin + ray.direction * hit.distance;
  if (plane != nullptr) {
    hit.normal = plane->normal;
    hit.material = plane->material;
    const long square = std::lround(hit.point.x) + std::lround(hit.point.z);
    if ((square & 1) != 0) hit.material.color = hit.material.color * 0.3;
  } else if (sphere != nullptr) {
    hit.normal = normalized(hit.point - sphere->center);
    hit.material = sphere->material;
  }
  return hit;
}

bool Scene::in_shadow(const Ray& ray, double light_distance) const {
  for (const Sphere& sphere : spheres_)
    if (sphere.distance(ray) < light_distance) return true;
  return false;
}

Vector Scene::shade(const Ray& ray, const Hit& hit) const {
  Vector color = hit.material.color * 0.12;
  for (const Light& light : lights_) {
    const Vector to_light = light.position - hit.point;
    const double distance = length(to_light);
    const Vector direction = to_light * (1 / distance);
    const double facing = dot(direction, hit.normal);
    if (facing <= 0 || in_shadow({hit.point + direction * kNear, direction}, distance)) continue;
    color = color + blend(hit.material.color, light.color) * facing;
    const double shine = dot(reflected(ray.direction, hit.normal), direction);
    if (shine > 0) color = color + light.color * (0.5 * std::pow(shine, hit.material.gloss));
  }
  return color;
}

Vector Scene::trace(const Ray& ray, int depth) const {
  const Hit hit = nearest(ray);
  if (hit.distance == kFar) return sky_ * (1 - 0.5 * std::max(0.0, ray.direction.y));
  Vector color = shade(ray, hit);
  const double reflection = hit.material.reflection;
  if (reflection > 0 && depth < kMaxDepth) {
    const Vector direction = reflected(ray.direction, hit.normal);
    const Vector mirrored = trace({hit.point + direction * kNear, direction}, depth + 1);
    color = color * (1 - reflection) + blend(mirrored, hit.material.color) * reflection;
  }
  return color;
}

static std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 1.0) * 255 + 0.5);
}

// A picture of size x size pixels, of which different threads may render different lines.
struct Picture {
  explicit Picture(int edge) : size(edge), bytes(static_cast<std::size_t>(edge) * edge * 3) {}

  void render(const Scene& scene, int first_line, int end_line) {
    std::uint8_t* pixel = &bytes[static_cast<std::size_t>(first_line) * size * 3];
    for (int line = first_line; line < end_line; line++)
      for (int column = 0; column < size; column++) {
        const double right = (2.0 * column - size) / size;
        const double up = (size - 2.0 * line) / size;
        const Vector color = scene.trace(scene.ray_to(right, up), 0);
        for (const double channel : {color.x, color.y, color.z}) *pixel++ = to_byte(channel);
      }
  }

  int size;
  std::vector<std::uint8_t> bytes;
};

// The text of a scene: spheres in rings around a large one, on a floor.
static std::string scene_file(int number, int spheres) {
  std::string text = "# scene " + std::to_string(number) + "\n";
  const auto add = [&](const char* format, auto... values) {
    char line[160];
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  add("eye %.3f %.3f %.3f\nsky 0.7 0.8 0.9\n", 0.1 * number, 2.2, -3.0);
  add("light %.3f %.3f %.3f 0.9 0.85 0.8\nlight 7 6 1 0.35 0.4 0.5\n", -6.0 + number, 9.0, -2.0);
  text += "plane 0 1 0 0 0.85 0.85 0.8 0.2 10\nplane 0 0 1 16 0.5 0.6 0.7 0 8\n";
  text += "sphere 0 1.2 6 1.2 0.9 0.9 0.95 0.6 120\n";
  for (int i = 1; i < spheres; i++) {
    const double angle = 0.7 * i + number;
    const double ring = 1.5 + 0.2 * (i % 25);
    const double radius = 0.2 + 0.04 * (i % 6);
    add("sphere %.3f %.3f %.3f %.3f ", ring * std::cos(angle), radius, 6 + ring * std::sin(angle),
        radius);
    add("%.2f %.2f %.2f %.2f %d\n", 0.3 + 0.2 * (i % 4), 0.3 + 0.3 * (i % 3), 0.9 - 0.1 * (i % 5),
        0.1 * (i % 4), 20 + 10 * (i % 6));
  }
  return text;
}

// Hands out bands of lines of the opening's frames.
class Tiles {
 public:
  Tiles(int frames, int size) : size_(size), count_(frames * kBands) {}

  struct Tile {
    int frame, first_line, end_line;
  };

  bool take(Tile& tile) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (next_ == count_) return false;
    const int band = next_ % kBands;
    tile = {next_ / kBands, size_ * band / kBands, size_ * (band + 1) / kBands};
    next_++;
    return true;
  }

 private:
  static constexpr int kBands = 3;
  const int size_;
  const int count_;
  int next_ = 0;
  std::mutex mutex_;
};

struct Film {
  Film(int frames, int size)
      : tiles(frames, size), opening(frames, Picture(size)), feature(kWorkers, Picture(size / 4)) {
    opening_scene.parse(scene_file(0, 24));
    for (int i = 0; i < kWorkers; i++) files.push_back(scene_file(i + 1, 100));
  }

  Scene opening_scene;
  std::vector<std::string> files;  // of the main feature, one for each worker
  Tiles tiles;
  std::vector<Picture> opening;
  std::vector<Picture> feature;
};

static void work(Film& film, int self) {
  for (Tiles::Tile tile; film.tiles.take(tile);) {
    Scene scene = film.opening_scene;
    scene.move_eye({0.02 * tile.frame, 0, -0.01 * tile.frame});
    film.opening[tile.frame].render(scene, tile.first_line, tile.end_line);
  }
  Scene scene;
  scene.load_scene(film.files[self]);
  film.feature[self].render(scene, 0, film.feature[self].size);
}

static std::uint64_t checksum(const Film& film) {
  std::uint64_t sum = 14695981039346656037u;
  for (const std::vector<Picture>* part : {&film.opening, &film.feature})
    for (const Picture& picture : *part)
      for (const std::uint8_t byte : picture.bytes) sum = (sum ^ byte) * 1099511628211u;
  return sum;
}

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 32;
  const int size = argc > 2 ? std::atoi(argv[2]) : 140;
  Film film(frames, size);
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; i++) workers.emplace_back([&film, i] { work(film, i); });
  for (std::thread& worker : workers) worker.join();
  std::printf("%d scenes loaded, checksum %016lx\n", scenes_loaded, checksum(film));
  return scenes_loaded == kWorkers ? 0 : 1;
}
