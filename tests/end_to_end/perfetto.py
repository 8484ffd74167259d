"""perfetto.py FILE: reads what `clew trace --perfetto` wrote with protobuf's own decoder, and holds it to what a trace has to be.
Prints the slices: begin, end, track, name."""
import os, re, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
text = subprocess.run(["protoc", "--decode=Trace", "-I" + here, "perfetto.proto"], stdin=open(sys.argv[1], "rb"), capture_output=True,
                      check=True).stdout.decode()


def parse(lines):
    """Protobuf's text as a list of (name, value)."""
    fields = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        if line.endswith("{"):
            fields.append((line[:-2], parse(lines)))
        else:
            name, value = line.split(": ", 1)
            # A field that the description does not know has a number for a name.
            if name.isdigit():
                sys.exit("unknown field: " + line)
            fields.append((name, value.strip('"')))
    return fields


tracks, parents, opened, slices, last = {}, {}, {}, [], 0
for kind, packet in parse(iter(text.splitlines())):
    packet = dict(packet)
    if "track_descriptor" in packet:
        track = dict(packet["track_descriptor"])
        inner = dict(track.get("thread") or track.get("process") or [])
        tracks[track["uuid"]] = track.get("name") or inner.get("thread_name") or inner["process_name"]
        parents[track["uuid"]] = track.get("parent_uuid")
        if track.get("parent_uuid") not in (None, *tracks):
            sys.exit("a track before its parent")
        continue
    event, time = dict(packet["track_event"]), int(packet["timestamp"])
    if time < last:
        sys.exit("time runs backwards")
    last = time
    if event["track_uuid"] not in tracks:
        sys.exit("an event of an unknown track")
    stack = opened.setdefault(event["track_uuid"], [])
    if event["type"] == "TYPE_SLICE_BEGIN":
        stack.append((time, event["name"]))
    else:
        if not stack:
            sys.exit("an end without a begin on " + tracks[event["track_uuid"]])
        begin, name = stack.pop()
        uuid = event["track_uuid"]
        where = tracks[uuid]
        if parents.get(uuid) in tracks and tracks[parents[uuid]] != "program":
            where = tracks[parents[uuid]] + "/" + where
        slices.append((begin, time, where, name))
if any(opened.values()):
    sys.exit("slices without an end")
# One thread runs at a time, all of the time.
runs = sorted(s for s in slices if s[3] == "runs")
if not runs or runs[0][0] != 0 or runs[-1][1] != last or any(a[1] != b[0] for a, b in zip(runs, runs[1:])):
    sys.exit("the slices of running threads are not the run")
for begin, end, track, name in sorted(slices):
    print(begin, end, track, name)
