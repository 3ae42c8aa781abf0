import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { selectPackages } from '../../../src/rego/evaluation/select-packages.js'
import { loadPolicies } from '../../support/load-policies.js'

test.each(['a b', 'a\tb', 'a;b', 'a#b', 'package x', 'a"b', 'a]b', 'a\\b', 'é', ''])(
  'the static policy of a package with the segment %j is asked',
  async (segment) => {
    const rego = `package static[${JSON.stringify(segment)}]\n\ndeny contains "no" if input.bad\n`
    const snapshot = await loadPolicies({ 'odd.rego': rego, 'ok.rego': 'package static.ok\n\ndeny := []\n' })
    const packages = selectPackages(snapshot, ['static.**'])
    const { denials } = evaluateStaticPolicies(snapshot, packages, Buffer.from('{"bad":1}'), newCall())
    expect(denials.map(({ text }) => text)).toEqual(['no'])
  },
)

test.each(['a b', 'é'])(
  'a rule of a package with the segment %j that reads another one answers at its own path alone',
  async (segment) => {
    const rego = `package odd[${JSON.stringify(segment)}]\n\nread := data.plain.value\n`
    const snapshot = await loadPolicies({ 'odd.rego': rego, 'plain.rego': 'package plain\n\nvalue := 1\n' })
    const answer = (...path: string[]): string | undefined =>
      evaluateDocument(planDocument(snapshot, ['odd', ...path]), undefined, newCall())
    expect(answer(segment, 'read')).toBe('1')
    expect(answer(encodeURIComponent(segment), 'read')).toBeUndefined()
  },
)
