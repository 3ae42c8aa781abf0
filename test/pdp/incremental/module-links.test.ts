import { describe, expect, test } from 'vitest'

import { ShortTurns } from '../../../src/lib/turns/short-turns.js'
import { findLinkGraph } from '../../../src/pdp/incremental/link-graph.js'
import { dependsOn, linksOf } from '../../../src/pdp/incremental/module-links.js'
import type { ModuleLinks } from '../../../src/pdp/incremental/module-links.js'
import { outlineModule } from '../../../src/pdp/lint/outline-module.js'
import type { RegoModule } from '../../../src/pdp/compile/rego-module.js'

function depends(one: string, other: string): boolean {
  return dependsOn(linksOf(parsed(one)), linksOf(parsed(other)))
}

function parsed(text: string): RegoModule {
  const module = outlineModule({ file: 'a.rego', text: `${text}\n` })
  if (module === undefined) throw new Error(`not a module: ${text}`)
  return module
}

const DEPENDING = [
  ['of its own package', 'package a\np := q', 'package a\nq := 1'],
  ['whose rule it reads', 'package a\np := data.b.q', 'package b\nq := 1'],
  ['whose function it calls', 'package a\np := data.b.f(1)', 'package b\nf(x) := x'],
  ['that it imports', 'package a\nimport data.b\np := b.q', 'package b\nq := 1'],
  ['that it imports by another name', 'package a\nimport data.b as c\np := c.q', 'package b\nq := 1'],
  ['whose rule it reads into', 'package a\np := data.b.q.r.s', 'package b\nq := {}'],
  ['that is below what it reads', 'package a\np := data.b', 'package b.c.d\nq := 1'],
  ['that is found by a variable', 'package a\np := data.b[x].q', 'package b.c\nq := 1'],
  ['whichever, where all of data is read', 'package a\np := data[x]', 'package b.c\nq := 1'],
  ['that it replaces', 'package a\np := data.x.q with data.b.q as 2', 'package b\nq := 1'],
  ['whose package stands below a rule of its own', 'package a\nb := 1', 'package a.b\nq := 1'],
  ['below whose rule its package stands', 'package a.b\nq := 1', 'package a\nb := 1'],
  ['into whose package a rule of its own leads', 'package a\nb.c := 1', 'package a.b\nd := 2'],
  ['whose annotations it reads', 'package a.b\np := rego.metadata.chain()', 'package a\nq := 1'],
]

const APART = [
  ['that is beside it', 'package a.b\np := 1', 'package a.c\nq := 1'],
  ['that is above it, and names nothing of it', 'package a.b\np := 1', 'package a\nq := 1'],
  ['of which it reads what is not there', 'package a\np := data.b.r', 'package b\nq := 1'],
  ['that a text or a comment names', 'package a\np := "data.b.q" # data.b.q', 'package b\nq := 1'],
  ['that depends on it', 'package b\nq := 1', 'package a\np := data.b.q'],
]

describe('a module depends on another', () => {
  test.each(DEPENDING)('%s', (_, one = '', other = '') => expect(depends(one, other)).toBe(true))

  test.each(APART)('not %s', (_, one = '', other = '') => expect(depends(one, other)).toBe(false))
})

test('which modules depend on which is found without holding each against each', async () => {
  const links = [...DEPENDING, ...APART].flatMap(([, one = '', other = '']) =>
    [one, other].map((text) => linksOf(parsed(text))),
  )
  const { needs, users } = await findLinkGraph(
    links.map((link) => [link]),
    new ShortTurns(),
  )
  const places = [...links.keys()]
  const related = (isRelated: (one: ModuleLinks, other: ModuleLinks) => boolean): number[][] =>
    links.map((one, place) =>
      places.filter((other) => other !== place && isRelated(one, links[other] ?? one)),
    )
  const inOrder = (edges: readonly (readonly number[])[]): number[][] =>
    edges.map((found) => [...found].sort((one, other) => one - other))
  expect(inOrder(needs)).toEqual(related(dependsOn))
  expect(inOrder(users)).toEqual(related((one, other) => dependsOn(other, one)))
})
