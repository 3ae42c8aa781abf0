import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { parseDataPath } from '../../../src/rego/values/data-path.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'

let snapshot: Snapshot
beforeAll(async () => {
  snapshot = await loadPolicies({
    'pkg/p.rego': 'package pkg\n\nimport rego.v1\n\nlist := [10, {"a": 1}]\n\nset := {1, "1"}\n',
    'deep/p.rego': 'package pkg.deep.er\n\nimport rego.v1\n\np := 1\n',
    'none/p.rego': 'package none\n',
    'data.json': '{"base": [1, {"01": "x", "1": "y"}]}',
  })
})

const ask = (path: string): string | undefined =>
  evaluateDocument(planDocument(snapshot, parseDataPath(path)), undefined, newCall())

describe('a number where only names of packages and rules can be', () => {
  test.each([
    ['0', 'data[0]', 5, '["pkg"]'],
    ['-01', 'data[-1]', 5, '["pkg"]'],
    ['+1.0/a/2', 'data[1].a[2]', 5, '["pkg"]'],
    ['pkg/0', 'data.pkg[0]', 9, '["deep" "list" "set"]'],
    ['pkg/007/x%20y', 'data.pkg[7]["x y"]', 9, '["deep" "list" "set"]'],
  ])('is refused as OPA 1.x refuses it: %s', (path, ref, column, names) => {
    const indent = ' '.repeat(column)
    expect(() => ask(path)).toThrow(
      expect.objectContaining({
        kind: 'evaluation_failed',
        code: 'internal_error',
        message: `1 error occurred: 1:1: rego_type_error: undefined ref: ${ref}\n\t${ref}\n\t${indent}^\n\t${indent}have (type): number\n\t${indent}want (one of): ${names}`,
      }) as Error,
    )
  })

  test.each([
    'nobody/0',
    'none/0',
    'pkg/deep/0',
    'pkg/deep/er/0',
    'pkg/1e0',
    'pkg/0x1',
    'pkg/12345678901234567890',
  ])('is undefined further below, and where no rules are: %s', (path) => expect(ask(path)).toBeUndefined())

  test.each([
    ['pkg/list/1.0', '{"a":1}'],
    ['pkg/list/+1.', '{"a":1}'],
    ['pkg/set/1.00', '1'],
    ['base/1.0/01.0', '"y"'],
    ['base/1.5', undefined],
  ])('finds elements and members where they are: %s', (path, value) => expect(ask(path)).toBe(value))
})
