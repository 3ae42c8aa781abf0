#!/bin/sh
# Asks the static policies about pipeline definitions, one JSON object a file: check-pipeline.sh FILE...
# TIDEGATE_URL names the service; TIDEGATE_TOKEN, where tokens are listed, has the role orchestrator.
# Ends with 1 where a policy denies, with 2 where nobody could say: only 0 lets anything go on.
set -eu
[ $# -gt 0 ] || { echo "check-pipeline.sh FILE..." >&2; exit 2; }
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
denied=0
for file in "$@"; do
  # Policies look at one definition: they would find nothing wrong with a list of them, and nobody would read a second one.
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
