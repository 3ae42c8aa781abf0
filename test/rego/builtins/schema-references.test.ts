import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const NUMBER = '"type": "number"'

/** Each accepts a number for x and refuses a string, in OPA 0.70 and 1.20.2. */
const SCHEMAS: readonly string[] = [
  `{"$id": "http://e.org/root.json", "properties": {"x": {"$ref": "http://e.org/n.json"}}, "definitions": {"n": {"$id": "http://e.org/n.json", ${NUMBER}}}}`,
  `{"$id": "http://e.org/root.json", "properties": {"x": {"$ref": "n.json"}}, "definitions": {"n": {"$id": "n.json", ${NUMBER}}}}`,
  `{"$id": "http://e.org/a/b/root.json", "properties": {"x": {"$ref": "../n.json"}}, "definitions": {"n": {"$id": "/a/n.json", ${NUMBER}}}}`,
  `{"properties": {"x": {"$ref": "#n"}}, "definitions": {"n": {"$id": "#n", ${NUMBER}}}}`,
  `{"properties": {"x": {"$ref": "urn:n"}}, "definitions": {"n": {"$id": "urn:n", ${NUMBER}}}}`,
  `{"properties": {"x": {"$ref": "n.json"}}, "definitions": {"n": {"$id": "n.json", ${NUMBER}}}}`,
  `{"$id": "http://e.org/r", "properties": {"x": {"$ref": "http://e.org/r#/definitions/n"}}, "definitions": {"n": {${NUMBER}}}}`,
  `{"id": "http://e.org/r", "properties": {"x": {"$ref": "http://e.org/r#/definitions/n"}}, "definitions": {"n": {${NUMBER}}}}`,
  `{"properties": {"x": {"$ref": "o.json#/definitions/q"}}, "definitions": {"n": {"$id": "o.json", "definitions": {"q": {${NUMBER}}}}, "q": {"type": "string"}}}`,
  `{"properties": {"x": {"$ref": "o.json"}}, "definitions": {"n": {"$id": "o.json", "$ref": "#/definitions/q", "definitions": {"q": {${NUMBER}}}}, "q": {"type": "string"}}}`,
  `{"properties": {"x": {"$ref": "#/definitions/a%25b"}}, "definitions": {"a%b": {${NUMBER}}}}`,
  `{"properties": {"x": {"$ref": "#/definitions/a b"}}, "definitions": {"a b": {${NUMBER}}}}`,
]

test.each(SCHEMAS)('a reference resolves to the schema with its $id as in OPA: %s', async (schema) => {
  const text = `package s\n\nimport rego.v1\n\nok := json.match_schema(input, ${schema})[0]\n`
  const plan = planDocument(await loadPolicies({ 's.rego': text }), ['s', 'ok'])
  expect(evaluateDocument(plan, Buffer.from('{"x": "t"}'), newCall())).toBe('false')
  expect(evaluateDocument(plan, Buffer.from('{"x": 1}'), newCall())).toBe('true')
})
