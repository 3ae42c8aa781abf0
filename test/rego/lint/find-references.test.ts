import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { findReferences } from '../../../src/rego/lint/find-references.js'
import { readTokens } from '../../../src/rego/modules/tokens/read-tokens.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { readCases } from '../../support/conformance/read-cases.js'
import { referencedPaths } from '../../support/referenced-paths.js'
import { regoModule } from '../../support/rego-modules.js'

const opa = await findOpa({ env: process.env })

function ownPaths(text: string): string[] {
  const { reads, replaced } = findReferences(readTokens(text).tokens)
  return [...reads, ...replaced]
    .map(({ path }) => path.join('.'))
    .filter((path) => path !== '')
    .sort()
}

describe('the references into data are those that OPA sees', () => {
  test.each(['policies', 'test/cases/http/parity/policies'])('in %s', async (directory) => {
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.rego'),
    )
    const modules = Object.fromEntries(
      files.map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
    )
    const seen = await referencedPaths(opa, modules)
    expect(seen?.size).toBe(files.length)
    for (const [name, paths] of seen ?? []) expect(ownPaths(modules[name] ?? ''), name).toEqual(paths)
  })

  test('in the modules of the Rego test suite', async () => {
    const texts = readCases().flatMap(({ modules }) => modules)
    const modules = Object.fromEntries(texts.map((text, index) => [`m${index}`, text]))
    let compared = 0
    for (const chunk of chunks(Object.entries(modules), 100)) {
      const seen = await referencedPaths(opa, Object.fromEntries(chunk))
      for (const [name, paths] of seen ?? []) {
        compared++
        expect(ownPaths(modules[name] ?? ''), modules[name]).toEqual(paths)
      }
    }
    expect(compared).toBeGreaterThanOrEqual(texts.length > 0 ? 300 : 0)
  }, 300_000)

  test('in generated modules', async () => {
    const generated = fc.sample(regoModule(), { numRuns: 400, seed: 7 })
    const modules = Object.fromEntries(generated.map((text, index) => [`m${index}`, text]))
    const seen = await referencedPaths(opa, modules)
    expect(seen?.size).toBe(generated.length)
    for (const [name, paths] of seen ?? [])
      expect(ownPaths(modules[name] ?? ''), modules[name]).toEqual(paths)
  }, 60_000)
})

test('no text at all makes the reader raise or run on', () => {
  const word = fc.constantFrom(
    'data',
    '.',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '"',
    '`',
    ':=',
    'some',
    'import',
    'as',
    '\n',
    ' ',
    '$"',
    '#',
    'h',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word).map((words) => words.join('')),
      ),
      (text) => {
        const { tokens } = readTokens(text)
        findReferences(tokens)
        expect(tokens.length).toBeLessThanOrEqual(text.length * 50 + 50)
      },
    ),
    { numRuns: 500 },
  )
})

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
}
