#!/bin/sh
# Has a canary compared with its baseline and waits for the verdict: analyse-canary.sh APPLICATION MINUTES
# TIDEGATE_URL names the service; TIDEGATE_TOKEN, where tokens are listed, has the role orchestrator.
# Ends with 0 for Success alone; with 1 for Review, Fail and a cancelled run; with 2 where nobody could say.
set -eu
call() {
  curl -sS --max-time 30 -H 'Content-Type: application/json' \
    ${TIDEGATE_TOKEN:+-H "Authorization: Bearer $TIDEGATE_TOKEN"} "$@"
}
body=$(jq -n --arg application "$1" --arg minutes "$2" --arg execution "${EXECUTION_ID:-by-hand}" \
  '{application: $application, executionId: $execution, canaryConfig: {lifetimeMinutes: $minutes}}')
registered=$(call -X POST "$TIDEGATE_URL/autopilot/api/v5/registerCanary" -d "$body") || exit 2
id=$(echo "$registered" | jq -r '.canaryId // empty')
[ -n "$id" ] || { echo "not registered: $registered" >&2; exit 2; }
while :; do
  # What is not answered once is asked again: the run goes on meanwhile.
  status=$(call "$TIDEGATE_URL/autopilot/v5/canaries/$id" || echo '{}')
  [ "$(echo "$status" | jq -r '.status.complete // false')" = true ] && break
  sleep "${POLL_SECONDS:-10}"
done
echo "$status" | jq -r '.canaryResult | "\(.overallResult), score \(.overallScore): \(.canaryReportURL)"'
[ "$(echo "$status" | jq -r '.status.status + " " + .canaryResult.overallResult')" = 'COMPLETED Success' ]
