import { expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { packSnapshot, unpackSnapshot } from '../../../src/rego/slow/packed-snapshot.js'
import { ArrivingSnapshots, toPortable } from '../../../src/rego/slow/portable-snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { loadPolicies } from '../../support/load-policies.js'

const NAMES = ['plain', 'a/b', '100%', '%2F', '', ' ', '1']

test('a slow thread asks the same packages as the deciding one, whatever they are called', async () => {
  const files = Object.fromEntries(
    NAMES.map((name, index) => [
      `${index}.rego`,
      `package static[${JSON.stringify(name)}]\nimport rego.v1\ndeny contains "${index}"\n`,
    ]),
  )
  const data = { 'static/based/data.json': '{"deny": ["base"]}' }
  const allow = { 'allow.rego': 'package static.based\nimport rego.v1\nallow := true\n' }
  const snapshot = await loadPolicies({ ...files, ...data, ...allow })
  const unpacked = await unpackSnapshot(structuredClone(packSnapshot(snapshot)), hostBuiltins, DEFAULT_LIMITS)
  for (const asked of [snapshot, unpacked]) {
    const { denials } = evaluateStaticPolicies(asked, asked.packages, Buffer.from('{}'), newCall())
    expect(denials.map(({ text }) => text).sort()).toEqual(
      [...NAMES.map((_, index) => String(index)), 'base'].sort(),
    )
  }
})

test('worker processes know the name and revision of each source, for provenance', async () => {
  const snapshot = await loadPolicies({ 'app.rego': 'package app\nimport rego.v1\nallow := true\n' })
  const { base, root, bytes } = snapshot.image
  const arriving = new ArrivingSnapshots(hostBuiltins, DEFAULT_LIMITS)
  const arrived = await arriving.take(structuredClone(toPortable(snapshot, () => 1)), { base, root, bytes })
  expect(arrived.sources).toHaveLength(1)
  expect(arrived.sources).toEqual(snapshot.sources)
})
