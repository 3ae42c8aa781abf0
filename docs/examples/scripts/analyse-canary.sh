#!/bin/sh
# Has a canary compared with its baseline and waits for the verdict: analyse-canary.sh APPLICATION MINUTES
# TIDEGATE_URL names the service; TIDEGATE_TOKEN, where tokens are listed, has the role orchestrator.
# Ends with 0 for Success alone; with 1 for Review, Fail and a cancelled run; with 2 where nobody could say.
set -eu
[ $# -eq 2 ] || { echo "analyse-canary.sh APPLICATION MINUTES" >&2; exit 2; }
# Answers in $answer, with their status in $code: 000 where nobody answered.
call() {
  reply=$(curl -sS --max-time 30 -w '\n%{http_code}' -H 'Content-Type: application/json' \
    ${TIDEGATE_TOKEN:+-H "Authorization: Bearer $TIDEGATE_TOKEN"} "$@") || :
  code=${reply##*
}
  answer=${reply%
*}
}
# Not by echo, which reads the backslashes of JSON in some shells.
field() { printf '%s\n' "$answer" | jq -r "$1 // empty" 2>/dev/null || :; }
body=$(jq -n --arg application "$1" --arg minutes "$2" --arg execution "${EXECUTION_ID:-by-hand}" \
  '{application: $application, executionId: $execution, canaryConfig: {lifetimeMinutes: $minutes}}')
call -X POST "$TIDEGATE_URL/autopilot/api/v5/registerCanary" -d "$body"
id=$(field .canaryId)
[ -n "$id" ] || { printf 'not registered (%s): %s\n' "$code" "$answer" >&2; exit 2; }
unanswered=0
while :; do
  call "$TIDEGATE_URL/autopilot/v5/canaries/$id"
  case $code/$(field .status.status) in
    200/RUNNING) unanswered=0 ;;
    200/?*) break ;;
    # What is not answered is asked again, since the run goes on meanwhile: for ten minutes, longer where each try takes its time.
    200/ | 000/* | 408/* | 429/* | 5??/*) unanswered=$((unanswered + 1)) ;;
    # A token that ended, or a run that nobody knows: asking again changes nothing.
    *) unanswered=60 ;;
  esac
  [ "$unanswered" -lt 60 ] || { printf 'analysis %s is not told (%s): %s\n' "$id" "$code" "$answer" >&2; exit 2; }
  sleep "${POLL_SECONDS:-10}"
done
field '.canaryResult | "\(.overallResult), score \(.overallScore): \(.message)\n\(.canaryReportURL)"'
[ "$(field '.status.status + " " + .canaryResult.overallResult')" = 'COMPLETED Success' ]
