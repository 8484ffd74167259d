#!/usr/bin/env bash
# One check of what the pass does to a program, named by the last argument.
# The folder of WORK_DIR has the stub runtime, stub.o.
# usage: run_check.sh CLANGXX PLUGIN WORK_DIR LLVM_BIN NAME
set -euo pipefail
clangxx=$1 plugin=$2 work=$3 llvm=$4 name=$5
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/programs
load=(-Xclang -load -Xclang "$plugin" "-fpass-plugin=$plugin")
rm -rf "$work" && mkdir -p "$work" && cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
same() { [[ $1 == "$2" ]] || fail "$3: expected '$2', got '$1'"; }
cc() { "$clangxx" -x c "$@"; }
stub() { ln -s ../stub.o stub.o; }
# The number of lines of standard input that match the pattern.
count() { grep -c -- "$1" || true; }

# Each point is one decrement in memory and one js, with the call out of line; nothing is spilled to memory outside the
# cold blocks; a function without points is untouched.
hot_path() {
  cc -O2 -fno-vectorize -fno-unroll-loops "${load[@]}" -S "$programs/hot.c" -o hot.s
  body() { sed -n "/^$1:/,/^.Lfunc_end/p" hot.s; }
  same "$(body leaf | count 'decq	%fs:(%r')" 1 "decrements in leaf"
  same "$(body leaf | count '	js	')" 1 "branches in leaf"
  same "$(body sum | count '	decq	%r.*')" 2 "decrements in sum"  # the countdown and what is left of n
  same "$(body sum | count '	js	')" 1 "branches in sum"
  same "$(body pure | count 'clew')" 0 "points in pure"
  # Up to the first return there is no call: the cold block comes after it.
  same "$(body leaf | sed '/retq/q' | count 'callq')" 0 "calls on leaf's hot path"
  # What is cleared below the frame is not a spill.
  same "$(body leaf | sed '/retq/q' | grep -v '%r11, -' | count 'Spill\|(%rsp)')" 0 "spills on leaf's hot path"
  same "$(body sum | sed -n '/=>This Inner Loop/,/jne/p' | count 'Spill\|Reload\|callq')" 0 "spills in sum's loop"
  same "$(body leaf | count 'callq.*__clew_yield_access')" 1 "hook calls in leaf"
  # A weak compare-exchange costs nothing extra: the branch still uses its flag.
  same "$(body claim_then_call | sed '/cmpxchg/q' | count 'callq')" 0 "calls before claim_then_call's instruction"
  same "$(body claim_then_call | grep -A1 'cmpxchg' | count '	j[n]\?e	')" 1 "branches behind claim_then_call's instruction"
  same "$(body claim | sed '/retq/q' | grep -v '%r11, -' | count 'callq\|set\|Spill\|(%rsp)')" 0 "other instructions on claim's hot path"
  same "$(body claim | count 'callq.*__clew_yield_cas')" 1 "hook calls in claim"
  same "$(body claim_strongly | count '__clew_yield_cas')" 0 "hook calls for weak ones in claim_strongly"
  # Neighbours are counted together, and a loop that calls nothing does not load the countdown.
  same "$(body two | sed '/retq/q' | count 'addq	$-2, %fs:(%r')" 1 "countdowns in two"
  same "$(body two | sed '/retq/q' | count '	js	')" 1 "branches in two"
  local loop; loop=$(body step | sed -n '/=>This Inner Loop/,/	j[a-rt-z]/p')
  same "$(count 'addq	$-3, %r' <<< "$loop")" 1 "countdowns in step's loop"
  same "$(count 'movq	%r.*, %fs:(%r' <<< "$loop")" 1 "stores of the countdown in step's loop"
  same "$(count '%fs:' <<< "$loop")" 1 "accesses to the countdown in step's loop"
  # Lazy binding does not preserve r10, preserve_most does: hooks are never called through the PLT.
  cc -O2 -fPIC "${load[@]}" -S "$programs/../traces/kinds.c" -o kinds.s
  same "$(count '__clew_\(yield\|spin\).*@PLT' < kinds.s)" 0 "hooks bound lazily"
  [[ $(count '__clew_.*@GOTPCREL' < kinds.s) -gt 0 ]] || fail "no hook calls in kinds.c"
}

# Both ways of loading, and the plugin given twice: one set of points, the option known.
loaded_twice() {
  ir() { cc -O1 -S -emit-llvm "$@" "$programs/plain.c" -o - | count 'call preserve_mostcc'; }
  local once; once=$(ir "${load[@]}" -mllvm -clew-yield=shared)
  same "$once" 4 "points"
  same "$(ir "${load[@]}" "-fpass-plugin=$plugin" -mllvm -clew-yield=shared)" 4 "points with the plugin twice"
  same "$(ir "-fpass-plugin=$plugin")" 4 "points with -fpass-plugin alone"
  same "$(ir "${load[@]}" -mllvm -clew-yield=sync)" 0 "points at sync"
  same "$(ir "${load[@]}" -mllvm -clew-yield=line)" 6 "points at line, without -g"
  if ir "${load[@]}" -mllvm -clew-yield=nonsense &> /dev/null; then fail "took a wrong granularity"; fi
}

# The table needs no dynamic relocation and is read-only, in a PIE and in a shared object. Where points are in the source is
# not loaded.
no_relocations() {
  stub
  cc -O1 -g -fPIC "${load[@]}" -c "$programs/plain.c" -o plain.o
  cc -O1 -g -fPIC "${load[@]}" -c "$programs/many.c" -o many.o
  "$clangxx" -pie many.o plain.o stub.o -o pie
  "$clangxx" -shared plain.o -o plain.so
  for image in pie plain.so; do
    local flags; flags=$("$llvm/llvm-readelf" -SW $image | sed -n 's/.*clew_kinds *PROGBITS *[0-9a-f]* [0-9a-f]* [0-9a-f]* 00 *\([A-Za-z]*\) .*/\1/p')
    [[ $flags == *A* && $flags != *W* ]] || fail "$image: section flags '$flags'"
    flags=$("$llvm/llvm-readelf" -SW $image | sed -n 's/.*\.clew_lines *PROGBITS *[0-9a-f]* [0-9a-f]* [0-9a-f]* 00\(.*\) 0 *0 *1$/[\1]/p')
    [[ $flags == \[*\] && $flags != *A* ]] || fail "$image: flags of the lines '$flags'"
    read -r begin size <<< "$("$llvm/llvm-readelf" -SW $image | sed -n 's/.*clew_kinds *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')"
    while read -r offset; do
      if ((16#$offset >= 16#$begin && 16#$offset < 16#$begin + 16#$size)); then fail "$image: relocation at $offset"; fi
    done < <("$llvm/llvm-readelf" -rW $image | sed -n 's/^\([0-9a-f]\{16\}\) .*/\1/p')
  done
}

# Each linker keeps the tables it needs, one registration for each image.
gc_sections() {
  stub
  for linker in bfd lld; do
    for source in many only_main; do
      cc -O1 -ffunction-sections -fdata-sections "${load[@]}" -c "$programs/$source.c" -o $source.o
    done
    cc -O1 -ffunction-sections -fdata-sections "${load[@]}" -c "$programs/plain.c" -o plain.o
    "$clangxx" -fuse-ld="$linker" --ld-path="$( [[ $linker == lld ]] && echo "$llvm/ld.lld" || command -v ld )" \
      -Wl,--gc-sections many.o plain.o stub.o -o many
    same "$(STUB_IMAGES=1 ./many | tr '\n' ';')" "images 1;0 Load;0 Store;" "$linker"
    "$clangxx" --ld-path="$( [[ $linker == lld ]] && echo "$llvm/ld.lld" || command -v ld )" \
      -Wl,--gc-sections only_main.o stub.o -o only_main
    same "$(STUB_IMAGES=1 ./only_main | tr '\n' ';')" "images 1;" "$linker, all functions dropped"
  done
}

# A program with points, a library it is linked to and one it opens: three images.
shared_objects() {
  stub
  "$clangxx" -shared stub.o -o libstub.so
  cc -O1 -fPIC "${load[@]}" -shared "$programs/plain.c" -L. -lstub -o libplain.so
  cc -O1 -fPIC "${load[@]}" -shared "$programs/plain.c" -L. -lstub -o libopened.so
  cc -O1 -g "${load[@]}" -c "$programs/load.c" -o load.o
  cc -O1 -g "${load[@]}" -c "$programs/only_main.c" -o own.o -Dmain=unused_main
  "$clangxx" load.o own.o -Wl,--no-as-needed -L. -lplain -lstub -Wl,-rpath,"$work" -o load
  same "$(STUB_IMAGES=1 ./load "$work/libopened.so" | tr '\n' ';')" "images 3;0 Load;0 Store;" "images"
}

# Points are made before the link, once; the program runs.
lto() {
  stub
  [[ -x $llvm/ld.lld ]] || { echo "no lld: nothing checked"; return; }
  for mode in full thin; do
    for source in many plain; do cc -O2 -flto=$mode "${load[@]}" -c "$programs/$source.c" -o $source.o; done
    "$clangxx" -O2 -flto=$mode --ld-path="$llvm/ld.lld" many.o plain.o stub.o -o lto.$mode
    same "$(STUB_IMAGES=1 ./lto.$mode | tr '\n' ';')" "images 1;0 Load;0 Store;" "LTO $mode"
  done
}

archive() {
  stub
  for source in many plain; do cc -O1 "${load[@]}" -c "$programs/$source.c" -o $source.o; done
  "$llvm/llvm-ar" rc libplain.a plain.o
  "$clangxx" many.o stub.o -L. -lplain -o many
  same "$(STUB_IMAGES=1 ./many | tr '\n' ';')" "images 1;0 Load;0 Store;" "archive"
}

# Unusual control flow stays valid, and does the same when every point calls the runtime.
odd_ir() {
  stub
  for source in odd.c odd.cc; do
    local language=(-x c); [[ $source == *.cc ]] && language=(-x c++ -std=c++20)
    "$clangxx" "${language[@]}" -O1 "$programs/$source" -o native
    ./native > expected
    for level in -O0 "-O2 -g"; do
      for yield in sync shared line; do
        local flags=(); read -r -a flags <<< "$level"
        "$clangxx" "${language[@]}" "${flags[@]}" "${load[@]}" -mllvm -clew-yield=$yield -S -emit-llvm "$programs/$source" -o odd.ll
        "$llvm/opt" -passes=verify -disable-output odd.ll || fail "$source $level $yield"
        "$clangxx" "${flags[@]}" -Wno-override-module -c odd.ll -o odd.o
        "$clangxx" odd.o stub.o -o odd
        STUB_SILENT=1 ./odd > actual
        diff -u expected actual || fail "$source $level $yield: output"
      done
    done
  done
}

# Points that are counted together: whichever of them fires, the clock at each point is the same as when each is counted
# by itself.
batch() {
  stub
  for source in batch.cc odd.c odd.cc; do
    local language=(-x c); [[ $source == *.cc ]] && language=(-x c++ -std=c++20)
    "$clangxx" "${language[@]}" -O1 "$programs/$source" -o native
    ./native > output
    for variant in "-O1 -g -mllvm -clew-yield=line" "-O2 -g" "-O3 -mllvm -clew-yield=sync" "-O3"; do
      local flags=(); read -r -a flags <<< "$variant"
      for batched in 0 1; do
        "$clangxx" "${language[@]}" "${flags[@]}" "${load[@]}" -mllvm -clew-batch=$batched \
          -S -emit-llvm "$programs/$source" -o batch$batched.ll
        "$llvm/opt" -passes=verify -disable-output batch$batched.ll || fail "$source $variant: invalid"
        "$clangxx" "${flags[@]:0:1}" -Wno-override-module -c batch$batched.ll -o batch.o
        "$clangxx" batch.o stub.o -o batch$batched
      done
      STUB_EVERY=1 ./batch0 > all
      diff <(head -n "$(wc -l < output)" all) output > /dev/null || fail "$source $variant: output"
      for every in 1 2 3 5 7 64 1000 100000000; do
        awk -v every=$every 'FNR == NR { lines++; next } FNR <= lines || $1 == "end" || $1 % every == 0' output all > expected
        STUB_EVERY=$every ./batch1 > actual
        cmp expected actual || fail "$source $variant: every $every points"
      done
      if [[ $source == batch.cc && $variant == -O2* ]]; then
        [[ $(count 'add i64 .*, -\?[0-9][0-9]' < batch1.ll) -gt 0 ]] || fail "nothing batched"
      fi
    done
  done
}

# A weak compare-exchange fails when the runtime says so, and only then: with the current value, without storing,
# whatever its type, batched or not. The program checks itself and prints how often.
weak_cas() {
  stub
  for variant in "-O0" "-O1 -mllvm -clew-yield=line" "-O2" "-O2 -mllvm -clew-batch=0" "-O3 -mllvm -clew-yield=sync"; do
    local flags=(); read -r -a flags <<< "$variant"
    "$clangxx" -std=c++20 -mcx16 "${flags[@]}" "${load[@]}" -S -emit-llvm "$programs/weak.cc" -o weak.ll
    "$llvm/opt" -passes=verify -disable-output weak.ll || fail "$variant: invalid"
    "$clangxx" -mcx16 "${flags[@]:0:1}" -Wno-override-module -c weak.ll -o weak.o
    "$clangxx" weak.o stub.o -latomic -o weak
    same "$(STUB_SILENT=1 ./weak)" "0 of 700" "$variant: spurious failures"
    same "$(STUB_SILENT=1 STUB_FAIL_CAS=1 ./weak)" "700 of 700" "$variant: failures of all"
    same "$(STUB_SILENT=1 STUB_FAIL_CAS=7 ./weak)" "100 of 700" "$variant: failures of every seventh"
    STUB_SILENT=1 STUB_EVERY=11 STUB_FAIL_CAS=1 ./weak > some
    [[ $(cut -d' ' -f1 some) -lt 700 ]] || fail "$variant: $(cat some) of those that ask"
  done
}

# Random numbers of the processor come from the runtime.
random_numbers() {
  stub
  for variant in "-O0" "-O2" "-O2 -g -mllvm -clew-yield=line"; do
    local flags=(); read -r -a flags <<< "$variant"
    cc -mrdrnd -mrdseed "${flags[@]}" "${load[@]}" -S "$programs/random.c" -o random.s
    same "$(count '	rd\(rand\|seed\)' < random.s)" 0 "$variant: instructions"
    "$clangxx" -c random.s -o random.o
    "$clangxx" random.o stub.o -o random
    same "$(STUB_SILENT=1 ./random)" "6 5678 5678 12345678 12345678 1234567812345678 1234567812345678" "$variant"
  done
}

# Of a vector of addresses each is a point, with the size of its element.
vectors() {
  "$llvm/opt" -load-pass-plugin="$plugin" -passes=clew,verify -S "$programs/gather.ll" -o gather.out.ll
  same "$(count 'extractelement <4 x ptr> %from, i[0-9]* [0-3]$' < gather.out.ll)" 4 "addresses of the gather"
  same "$(count 'call.*@__clew_yield_access[_next]*_4(ptr .*)' < gather.out.ll)" 4 "points of the gather"
  same "$(count 'extractelement <2 x ptr> %to, i[0-9]* [01]$' < gather.out.ll)" 2 "addresses of the scatter"
  same "$(count 'call.*@__clew_yield_access[_next]*_8(ptr .*)' < gather.out.ll)" 2 "points of the scatter"
}

# Linear in the size of a block and of a function.
long_block() {
  {
    echo 'extern volatile int a[]; int f(int); void g(int x) {'
    for ((i = 0; i < 20000; i++)); do echo "a[$((i % 97))] = x + $i;"; done
    echo '} void h(int x) {'
    for ((i = 0; i < 3000; i++)); do echo "while (x > $i) { if (a[x]) x = f(x); x--; }"; done
    echo '}'
  } > long.c
  local TIMEFORMAT=%U seconds
  seconds=$({ time cc -O0 -g "${load[@]}" -mllvm -clew-yield=line -S -emit-llvm long.c -o /dev/null; } 2>&1)
  ((${seconds%.*} < 15)) || fail "took $seconds s of CPU"
}

"$name"
