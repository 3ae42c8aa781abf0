import type { Explanation } from '../../rego/index.js'
import { canonicalJson } from '../../lib/json/edit/canonical.js'

/** Output formats. All but `text` are named as in `opa eval`. */
export const EVAL_FORMATS = ['text', 'json', 'raw', 'pretty', 'values', 'bindings', 'discard'] as const
export type EvalFormat = (typeof EVAL_FORMATS)[number]

/**
 * Returns the output of `opa eval` for a reference such as `data.a.b`, including the line end.
 * `bindings` are empty, since a reference has no variables. An undefined result is `{}`,
 * `undefined` or nothing, depending on the format. `json` includes the explanation.
 */
export function showQueryResult(
  query: string,
  value: string | undefined,
  format: EvalFormat,
  explanation?: Explanation,
): string {
  switch (format) {
    case 'raw':
      return value === undefined ? '' : `${rawText(value)}\n`
    case 'values':
      return value === undefined ? '' : `${indented(`[${value}]`)}\n`
    case 'bindings':
      return value === undefined ? '' : '{}\n'
    case 'pretty':
    case 'text':
      return value === undefined ? 'undefined\n' : `${indented(value)}\n`
    case 'discard':
      return value === undefined ? '{}\n' : `${indented('{"result":"discarded"}')}\n`
    case 'json':
      return withExplanation(value === undefined ? '{}' : documentText(query, value), explanation)
  }
}

/** Returns the response of the Data API on one line. */
export function showAnswer(
  value: string | undefined,
  isIndented?: boolean,
  explanation?: Explanation,
): string {
  const members = [
    ...(explanation === undefined ? [] : [`"explanation":${JSON.stringify(explanation)}`]),
    ...(value === undefined ? [] : [`"result":${value}`]),
  ]
  const answer = `{${members.join(',')}}`
  return `${isIndented ? indented(answer) : answer}\n`
}

/** Adds an explanation to an object of JSON on several lines. */
function withExplanation(json: string, explanation: Explanation | undefined): string {
  if (explanation === undefined) return `${json}\n`
  const member = `"explanation": ${JSON.stringify(explanation)}`
  return json === '{}' ? `{${member}}\n` : `${json.slice(0, -2)},\n  ${member}\n}\n`
}

/** OPA does not sort these members, so only the value is canonical. */
function documentText(query: string, value: string): string {
  const shown = indented(value).replaceAll('\n', '\n          ')
  const text = indented(JSON.stringify(query))
  return `{
  "result": [
    {
      "expressions": [
        {
          "value": ${shown},
          "text": ${text},
          "location": {
            "row": 1,
            "col": 1
          }
        }
      ]
    }
  ]
}`
}

/** Returns a string verbatim, anything else as JSON on one line. */
function rawText(value: string): string {
  return value.startsWith('"') ? String(JSON.parse(value)) : value
}

function indented(json: string): string {
  const bytes = Buffer.from(json)
  return canonicalJson(bytes, 0, bytes.length, { pretty: true }).toString()
}
