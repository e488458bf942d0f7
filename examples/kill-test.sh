#!/usr/bin/env bash
# Kills the job with SIGKILL at random moments and runs it again, until it is done; then checks that
# nothing was lost and nothing happened twice.
#
#   examples/kill-test.sh [JAR [KILLS [SEED]]]
#
# Triage is killed KILLS times (20 unless given), approve a few times more. A quarter of the kills
# comes at any moment from the start of the process on, the others in the middle of the work. Takes
# java 25 or newer from JAVA, JAVA_HOME or the PATH, and CONCURRENCY (4 unless set) from the
# environment. Exit code 0 if all is well; else 1, and the folder with everything is kept.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jar=${1:-$here/target/warpwright-examples.jar}
kills=${2:-20}
seed=${3:-$RANDOM}
concurrency=${CONCURRENCY:-4}
java=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
RANDOM=$seed

version=$("$java" -XshowSettings:properties -version 2>&1 |
  sed -n 's/^ *java\.specification\.version = //p')
if ((${version%%.*} < 25)); then
  echo "kill-test: needs java 25 or newer, but $java is $version; set JAVA" >&2
  exit 1
fi

work=$(mktemp -d)
out=$work/out
db=jdbc:h2:async:$work/db/runs
effects=$out/effects.jsonl
starts=0
killed=0
mkdir -p "$out"
touch "$effects"

fail() {
  echo "kill-test: $1 (seed $seed); everything is in $work" >&2
  tail -n 20 "$work/log" >&2
  exit 1
}

job() {
  "$java" -jar "$jar" "$@" --db "$db" --out "$out" --concurrency "$concurrency" --no-progress >>"$work/log" 2>&1
}

lines() {
  wc -l <"$effects"
}

between() { # a random number from $1 to $2
  echo $(($1 + RANDOM % ($2 - $1 + 1)))
}

pause() { # milliseconds
  sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

# Starts the command and kills it; or lets it end, if it ends before.
# Sets status: 137 if it was killed, else its own exit code.
start_and_kill() {
  starts=$((starts + 1))
  "$java" -jar "$jar" "$@" --db "$db" --out "$out" --concurrency "$concurrency" --no-progress \
    >>"$work/log" 2>&1 &
  local pid=$!
  if (($(between 1 4) == 1)); then
    pause "$(between 0 1500)"
  else
    local enough=$(($(lines) + $(between 1 12))) waited=0
    while kill -0 "$pid" 2>/dev/null && (($(lines) < enough)); do
      pause 20
      waited=$((waited + 1))
      ((waited < 3000)) || fail "the job does nothing"
    done
    pause "$(between 0 60)"
  fi
  kill -KILL "$pid" 2>/dev/null || true
  status=0
  wait "$pid" 2>/dev/null || status=$?
  if ((status == 137)); then
    killed=$((killed + 1))
  fi
}

# Runs the command again and again, killed at most $1 times, until it ends by itself with 0.
until_done() {
  local left=$1 status
  shift
  while ((left > 0)); do
    start_and_kill "$@"
    case $status in
      137) left=$((left - 1)) ;;
      0) return ;;
      *) fail "$1 ended with $status" ;;
    esac
  done
  starts=$((starts + 1))
  job "$@" || fail "$1 ended with $?"
}

echo "kill-test: seed $seed, $kills kills"
until_done "$kills" triage
echo "kill-test: triage is done: $starts starts, $killed of them killed"
if ((killed < kills)); then
  fail "triage was done before it was killed $kills times"
fi
until_done 3 approve --all
echo "kill-test: approve is done: $starts starts, $killed of them killed"

job triage || fail "the last triage ended with $?"
"$java" -jar "$jar" runs --db "$db" >"$work/runs" 2>>"$work/log" || fail "runs ended with $?"
"$java" "$here/kill-test/Check.java" "$effects" "$out/report.json" "$work/runs" \
  "$here/data/tickets.jsonl" "$here/data/orders.jsonl" \
  "$here/src/main/resources/dev/warpwright/examples/primary.json" ||
  fail "the check found differences"
rm -rf "$work"
