#!/bin/sh
# Sends pipeline definitions, one JSON object a file, to the static policies: check-pipeline.sh FILE...
# TIDEGATE_URL is the address of the service. TIDEGATE_TOKEN is a token with the role orchestrator, if the service has tokens.
# Exit codes: 0 if all are allowed, 1 if one is denied, 2 if a decision was not possible.
set -eu
[ $# -gt 0 ] || { echo "check-pipeline.sh FILE..." >&2; exit 2; }
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
denied=0
for file in "$@"; do
  # Policies read one definition. They would deny nothing in a list, and a second object would be ignored.
  body=$(jq -s 'if map(type) == ["object"] then {input: {new: .[0]}} else error("one JSON object is needed") end' "$file") ||
    { echo "$file: not decided" >&2; exit 2; }
  status=$(printf '%s' "$body" |
    curl -sS -o "$answer" -w '%{http_code}' --max-time 30 -X POST "$TIDEGATE_URL/v1/staticPolicy/eval" \
      -H 'Content-Type: application/json' ${TIDEGATE_TOKEN:+-H "Authorization: Bearer $TIDEGATE_TOKEN"} \
      --data-binary @-) || exit 2
  case $status in
    200) echo "$file: allowed" ;;
    401) denied=1 && jq -er --arg file "$file" '.deny[] | "\($file): \(.)"' "$answer" || exit 2 ;;
    *) echo "$file: not decided ($status)" >&2; cat "$answer" >&2; exit 2 ;;
  esac
done
exit $denied
