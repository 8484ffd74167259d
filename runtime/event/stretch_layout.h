// Where the hooks find what they compare (stretch.h), for C++ and for the assembler.
#ifndef CLEW_RUNTIME_EVENT_STRETCH_LAYOUT_H_
#define CLEW_RUNTIME_EVENT_STRETCH_LAYOUT_H_

// Slots by the address of a granule of 8 bytes; one more for the second half of the last one's access.
#define CLEW_STRETCH_SLOT_BITS 16
#define CLEW_STRETCH_SLOT_SIZE 16
// In Stretch.
#define CLEW_STRETCH_NOW 0
#define CLEW_STRETCH_SLOTS 8

// abi::Point, one byte: its kind, and above that the memory order, which a plain access has not.
#define CLEW_POINT_KIND_MASK 31
#define CLEW_POINT_KIND_LOAD 3
#define CLEW_POINT_KIND_STORE 4
#define CLEW_POINT_KIND_FENCE 9

// The bit of a countdown that tells a point at which nothing is due from one at which something is, if
// all points call their hooks (EventClock::kHooked).
#define CLEW_HOOKED_BIT 62
#define CLEW_DUE_BIT 61

// QuietPoints (sharing.h).
#define CLEW_QUIET_BEGIN 0
#define CLEW_QUIET_SIZE 8
#define CLEW_QUIET_SEEN 16
#define CLEW_QUIET_FROM 24
#define CLEW_QUIET_PASS 28
#define CLEW_QUIET_PASS_YES 1
// How often more a point passes before the slow side looks at how often it was seen.
#define CLEW_QUIET_MORE 62

#endif  // CLEW_RUNTIME_EVENT_STRETCH_LAYOUT_H_
