#!/usr/bin/env bash
# fuzz.sh TARGET [SECONDS]: a libFuzzer target for a few seconds, from a fixed seed. The target itself writes valid inputs into the
# corpus it starts from, made by what the unit tests use (host/schedule/fuzz_seed.h).
set -euo pipefail
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
# How much is tried in that time differs from machine to machine; what is tried first does not.
"$1" -seed=1 -max_total_time="${2:-5}" -max_len=4096 -print_final_stats=1 -artifact_prefix="${1}_" "$corpus" </dev/null
seeds=$(find "$corpus" -name 'seed*' | wc -l)
[ "$seeds" -gt 0 ] || { echo "fuzz.sh: $1 started without a valid input" >&2; exit 1; }
