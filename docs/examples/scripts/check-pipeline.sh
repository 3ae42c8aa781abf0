#!/bin/sh
# Asks the static policies about pipeline definitions: check-pipeline.sh FILE...
# TIDEGATE_URL names the service; TIDEGATE_TOKEN, where tokens are listed, has the role orchestrator.
# Ends with 1 where a policy denies, with 2 where nobody could say: only 0 lets anything go on.
set -eu
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
denied=0
for file in "$@"; do
  status=$(jq '{input: {new: .}}' "$file" |
    curl -sS -o "$answer" -w '%{http_code}' --max-time 30 -X POST "$TIDEGATE_URL/v1/staticPolicy/eval" \
      -H 'Content-Type: application/json' ${TIDEGATE_TOKEN:+-H "Authorization: Bearer $TIDEGATE_TOKEN"} \
      --data-binary @-) || exit 2
  case $status in
    200) echo "$file: allowed" ;;
    401) denied=1 && jq -r --arg file "$file" '.deny[] | "\($file): \(.)"' "$answer" ;;
    *) echo "$file: not decided ($status)" >&2 && cat "$answer" >&2 && exit 2 ;;
  esac
done
exit $denied
