#!/usr/bin/env bash
# What others have made is not run, and what has more rights than its caller does not obey it.
. "$(dirname "$0")/lib.sh"
printf '#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n' >p.c
"$clew" cc -g p.c -o p || exit 1
"$clew" run ./p >/dev/null 2>&1 || exit 1

# refused WORDS ARGS...: one clear line and a hint, and nothing was run
refused() {
  local words=$1
  shift
  run 125 "$@" && says err.txt "$words" && says err.txt hint && [ "$(grep -c '^clew: ' err.txt)" = 1 ] && ! grep -q ran out.txt
}
chmod 777 .clew/1
check "a recording that everybody can write to" refused "written to by other users" replay 1
check "... show" refused "written to by other users" show 1
chmod 700 .clew/1
chmod 777 .clew
check "a folder .clew that everybody can write to" refused "written to by other users" replay 1
check "... run" refused "written to by other users" run ./p
check "... list" refused "written to by other users" list
chmod 700 .clew
check "as it was" run 0 replay 1

check "the help names what to set" bash -c '"$0" --help | grep -q CLEW_SAFE_DIRECTORY' "$clew"

# The path that is executed is not the one that was checked.
cp p other
python3 - <<'P'
import ctypes, json
lib = ctypes.CDLL("libxxhash.so.0")
lib.XXH3_64bits.restype = ctypes.c_uint64
lib.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
meta = json.load(open(".clew/1/meta.json"))
meta["program"]["started_as"] = "./other"
del meta["checksum"]
body = json.dumps(meta, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
meta["checksum"] = f"{lib.XXH3_64bits(body, len(body)):016x}"
json.dump(meta, open(".clew/1/meta.json", "w"))
P
check "another program than the one that it names" refused "which is not" replay 1
check "... show" refused "which is not" show 1
ln -f p other
check "another name of the same program" run 0 replay 1

# Links
mkdir kept && mv .clew kept/ && ln -s kept/.clew .clew
check "rm --all does not follow a link" run 124 rm --all
check "... and says so" says err.txt "symbolic link"
check "... the recording is there" [ -d kept/.clew/1 ]
check "... and can be removed by its number" run 0 rm 1
rm .clew

if [ "$(id -u)" != 0 ]; then
  echo "skipped: files of other users need root"
  finish
fi
"$clew" run ./p >/dev/null 2>&1
chown -R 4711 .clew
check "recordings of another user" refused "belongs to another user" replay
check "... unless the user trusts the folder" env CLEW_SAFE_DIRECTORY="$PWD" "$clew" replay >/dev/null 2>&1
rm -r .clew

# A set-user-ID program of somebody else's: neither by clew nor by a caller who imitates it.
cp p set_user_id && chown 4711 set_user_id && chmod 4755 set_user_id
check "a program with more rights" refused "more rights than you" run ./set_user_id
if [ "$(stat -c %u set_user_id)" = 4711 ] && ! grep -q " ${work%/*} .*nosuid" /proc/mounts; then
  check "its runtime does not obey its environment" bash -c 'CLEW_CONTROL=000003 ./set_user_id 3</dev/null | grep -qx ran'
fi
finish
