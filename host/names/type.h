// A type of the program under test, as its debug information describes it: plain values, read when
// they are asked for.
//
// Typedefs and qualifiers are gone: a Type is what is behind them. Everything here comes from a
// file that anybody may have written: sizes, offsets and counts are claims, a type may contain
// itself, and who walks types bounds the walk.
#ifndef CLEW_HOST_NAMES_TYPE_H_
#define CLEW_HOST_NAMES_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clew {

class Type;

struct Member {
  std::string name;  // empty: anonymous, or a base class
  std::uint64_t offset = 0;
  const Type* type = nullptr;  // never null
  std::uint32_t bits = 0;      // of a bit-field; 0: it is none
  std::uint32_t bit_offset = 0;
  bool is_base = false;
};

struct Enumerator {
  std::string name;
  std::int64_t value = 0;
};

struct TemplateArgument {
  std::string name;
  const Type* type = nullptr;  // null: a value
  std::int64_t value = 0;
};

class Type {
 public:
  enum class Kind : std::uint8_t {
    kUnknown,  // or nothing that has a value: a function, void
    kBool,
    kSigned,
    kUnsigned,
    kCharacter,
    kFloat,
    kPointer,
    kReference,
    kArray,
    kRecord,  // struct and class
    kUnion,
    kEnum,
  };

  // What an aggregate consists of.
  struct Parts {
    std::vector<Member> members;  // bases first; no static ones
    std::vector<Enumerator> enumerators;
    std::vector<TemplateArgument> arguments;
  };

  // Reads what a type consists of.
  class Reader {
   public:
    virtual ~Reader() = default;
    virtual Parts parts_of(const Type& type) = 0;
    // What it points to, or consists of; null: void, or not known.
    virtual const Type* target_of(const Type& type) = 0;
  };

  Type(Kind kind, std::string name, std::optional<std::uint64_t> size, std::uint64_t key,
       Reader* reader)
      : kind_(kind), name_(std::move(name)), size_(size), key_(key), reader_(reader) {}

  Kind kind() const { return kind_; }
  // With its scopes: "std::vector<int, std::allocator<int> >", "int *"; empty: it has none.
  const std::string& name() const { return name_; }
  std::optional<std::uint64_t> size() const { return size_; }
  std::uint64_t key() const { return key_; }  // the reader's
  // kArray: elements, if that is known. An array of arrays has one Type for each dimension.
  std::optional<std::uint64_t> count() const { return count_; }
  void set_count(std::optional<std::uint64_t> count) { count_ = count; }

  const Type* target() const;
  const std::vector<Member>& members() const { return parts().members; }
  const std::vector<Enumerator>& enumerators() const { return parts().enumerators; }
  const std::vector<TemplateArgument>& arguments() const { return parts().arguments; }

  bool is_aggregate() const {
    return kind_ == Kind::kRecord || kind_ == Kind::kUnion || kind_ == Kind::kArray;
  }
  bool is_pointer() const { return kind_ == Kind::kPointer || kind_ == Kind::kReference; }
  // A class of the C or C++ library, whose members are nobody's business but its own.
  bool is_library() const;

 private:
  const Parts& parts() const;

  Kind kind_;
  std::string name_;
  std::optional<std::uint64_t> size_;
  std::uint64_t key_;
  Reader* reader_;
  std::optional<std::uint64_t> count_;
  mutable std::optional<Parts> parts_;
  mutable std::optional<const Type*> target_;
};

// A member of the class itself or of its bases; null: there is none.
const Member* find_member(const Type& type, std::string_view name);

// A name that the standard leaves to compilers and libraries: "__data", "_M_impl".
bool is_reserved(std::string_view name);

// Where in an object an access lies, in the terms of its source.
struct MemberPath {
  std::string text;            // ".items_[3].next"; empty: all of it
  const Type* type = nullptr;  // of what lies there; never null
  std::uint64_t offset = 0;    // into that: not 0 if it is no member but the middle of something
};

// The member of a `type` at [offset, offset + size). Ends at what has this size, at scalars, at
// classes of libraries, and where the members of a union are several that it could be. Size 0: not
// known; then it ends at the first that is no array and begins there. Nothing: it lies outside.
[[nodiscard]] std::optional<MemberPath> member_path(const Type& type, std::uint64_t offset,
                                                    std::uint64_t size);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_TYPE_H_
