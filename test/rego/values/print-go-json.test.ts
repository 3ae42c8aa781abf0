import { expect, test } from 'vitest'

import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printGoJson } from '../../../src/rego/values/print-go-json.js'

test.each([
  ['{["<é"]: 1}', String.raw`{"[\"\\u003cé\"]":1}`],
  ['{{"k": "&"}: {2}}', String.raw`{"{\"k\":\"\\u0026\"}":[2]}`],
  ['{"<": "&"}', String.raw`{"\u003c":"\u0026"}`],
])('the keys of %s are escaped as OPA escapes them, those that are no texts twice', (value, json) => {
  expect(printGoJson(parseRegoText(value))).toBe(json)
})
