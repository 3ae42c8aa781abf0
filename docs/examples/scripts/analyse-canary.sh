#!/bin/sh
# Starts an analysis and waits for its verdict: analyse-canary.sh APPLICATION MINUTES
# TIDEGATE_URL is the address of the service. TIDEGATE_TOKEN is a token with the role orchestrator, if the service has tokens.
# Exit codes: 0 for Success only, 1 for Review, Fail and a cancelled run, 2 without a verdict.
set -eu
[ $# -eq 2 ] || { echo "analyse-canary.sh APPLICATION MINUTES" >&2; exit 2; }
# Sets $answer to the body of the response and $code to its status, 000 without a response.
call() {
  reply=$(curl -sS --max-time 30 -w '\n%{http_code}' -H 'Content-Type: application/json' \
    ${TIDEGATE_TOKEN:+-H "Authorization: Bearer $TIDEGATE_TOKEN"} "$@") || :
  code=${reply##*
}
  answer=${reply%
*}
}
# printf, because echo interprets the backslashes of JSON in some shells.
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
    # The run continues without the service, so polling continues for 60 tries: ten minutes, more if tries are slow.
    200/ | 000/* | 408/* | 429/* | 5??/*) unanswered=$((unanswered + 1)) ;;
    # An expired token or an unknown run: another try changes nothing.
    *) unanswered=60 ;;
  esac
  [ "$unanswered" -lt 60 ] || { printf 'analysis %s: no verdict (%s): %s\n' "$id" "$code" "$answer" >&2; exit 2; }
  sleep "${POLL_SECONDS:-10}"
done
field '.canaryResult | "\(.overallResult), score \(.overallScore): \(.message)\n\(.canaryReportURL)"'
[ "$(field '.status.status + " " + .canaryResult.overallResult')" = 'COMPLETED Success' ]
