import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'

import type { AppError } from '../../../src/errors/app-error.js'
import { compilePolicies } from '../../../src/rego/compile/compile-policies.js'
import { readData } from '../../../src/rego/data/base-document.js'
import type { PartData } from '../../../src/rego/data/base-document.js'
import { findConflict } from '../../../src/rego/data/data-conflicts.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { makeWorkspace } from '../../support/workspace.js'

const opa = await findOpa({ env: process.env })
const workspace = makeWorkspace()
afterAll(workspace.remove)

type Files = Readonly<Record<string, string>>
let directories = 0

function writeDirectory(files: Files): string {
  const name = `set${directories++}`
  workspace.write(Object.fromEntries(Object.entries(files).map(([file, text]) => [`${name}/${file}`, text])))
  return join(workspace.path, name)
}

async function refusal(directory: string): Promise<AppError | undefined> {
  try {
    await compilePolicies(opa, [directory])
    return undefined
  } catch (raw) {
    return raw as AppError
  }
}

/** Whether OPA's own loader refuses the directory. */
async function isRefusedByOpa(directory: string): Promise<boolean> {
  const { exitCode } = await runOpa(opa, ['eval', '--data', '.', 'data'], { cwd: directory })
  return exitCode !== 0
}

const RULE = 'package static.q\nallow = true\n'
const REFUSED: readonly Files[] = [
  { 'p.rego': RULE, 'data.json': '{"static":{"q":{"allow":true}}}' },
  { 'p.rego': RULE, 'data.json': '{"static":{"q":{"allow":null}}}' },
  { 'p.rego': RULE, 'data.json': '{"static":{"q":{"allow":{}}}}' },
  { 'p.rego': RULE, 'data.json': '{"static":{"q":7}}' },
  { 'p.rego': RULE, 'data.json': '{"static":[1]}' },
  { 'p.rego': RULE, 'data.json': '{"static":"text"}' },
  { 'p.rego': RULE, 'data.yaml': 'static: {q: {allow: {below: 1}}}' },
  { 'p.rego': RULE, 'static/data.json': '{"q":{"allow":1}}' },
  { 'p.rego': RULE, 'static/q/data.yaml': 'allow: yes' },
  { 'p.rego': RULE, 'static/q/allow/data.json': '{}' },
  { 'p.rego': RULE, 'static/q/allow/below/data.json': '{"a":1}' },
  { 'p.rego': RULE, 'static/q/allow/data.json': '[]' },
  { 'p.rego': RULE, 'static/data.json': '3' },
  { 'p.rego': 'package a\ndefault allow = false\n', 'data.json': '{"a":{"allow":true}}' },
  { 'p.rego': 'package a\nf(x) = 1 { x }\n', 'data.json': '{"a":{"f":1}}' },
  { 'p.rego': 'package a\np[x] { x := 1 }\n', 'data.json': '{"a":{"p":[]}}' },
  { 'p.rego': 'package a\np[x] = y { x := "k"; y := 1 }\n', 'data.json': '{"a":{"p":{"other":1}}}' },
  { 'p.rego': 'package a\nb[x].c = 1 { x := "k" }\n', 'data.json': '{"a":{"b":{"z":1}}}' },
  { 'p.rego': 'package a\nb.c.d = 1\n', 'data.json': '{"a":{"b":{"c":{"d":1}}}}' },
  { 'p.rego': 'package a\nb.c.d = 1\n', 'data.json': '{"a":{"b":{"c":{"d":{"inside":1}}}}}' },
  { 'p.rego': 'package a\nb.c.d = 1\n', 'data.json': '{"a":{"b":{"c":3}}}' },
  { 'p.rego': 'package a\nb = {"y": 1}\n', 'data.json': '{"a":{"b":{"x":1}}}' },
  { 'p.rego': 'package a["x-y"]\nallow = 1\n', 'data.json': '{"a":{"x-y":{"allow":1}}}' },
  { 'p.rego': 'package a\nimport rego.v1\ndeny contains "x" if input.y\n', 'data.json': '{"a":{"deny":1}}' },
  { 'p.rego': 'package a\nb = 1\n', 'a/q.rego': 'package a\nc = 1\n', 'data.json': '{"a":{"c":1}}' },
  // No rule is concerned, and yet no data.
  { 'p.rego': RULE, 'data.json': '[1]' },
  { 'p.rego': RULE, 'data.json': 'null' },
  { 'p.rego': RULE, 'data.json': '{"x":{"k":1}}', 'x/data.json': '{"k":1}' },
  { 'p.rego': RULE, 'data.json': '{"x":1}', 'x/data.json': '{"k":1}' },
  { 'p.rego': RULE, 'data.json': '{"x":{"k":{}}}', 'data.yaml': 'x: {k: 1}' },
]
const ACCEPTED: readonly Files[] = [
  { 'p.rego': RULE, 'data.json': '{"static":{"q":{"limit":true}}}' },
  { 'p.rego': RULE, 'data.json': '{"static":{"q":{}}}', 'static/q/data.yaml': 'limit: 3' },
  { 'p.rego': RULE, 'data.json': '{"allow":1,"q":{"allow":1},"statics":1}' },
  { 'p.rego': 'package a\nb.c.d = 1\n', 'data.json': '{"a":{"b":{"c":{"x":1}}}}' },
  { 'p.rego': 'package a.b.c\n', 'data.json': '{"a":{"b":3}}' },
  { 'p.rego': 'package a\nb[1].c = 2\n', 'data.json': '{"a":{"b":{"z":1}}}' },
  { 'p.rego': RULE, 'sub/data.json': '[1]' },
  { 'p.rego': RULE, 'data.json': '{"x":{"a":1}}', 'x/data.json': '{"b":1}', 'x/data.yaml': 'c: 1' },
]

describe('data next to policies', () => {
  test.each(REFUSED)('%j is refused, as OPA does', async (files) => {
    const directory = writeDirectory(files)
    expect(await isRefusedByOpa(directory)).toBe(true)
    expect(await refusal(directory)).toMatchObject({ kind: 'invalid' })
  })

  test.each(ACCEPTED)('%j is accepted, as OPA does', async (files) => {
    const directory = writeDirectory(files)
    expect(await isRefusedByOpa(directory)).toBe(false)
    expect(await refusal(directory)).toBeUndefined()
  })

  test('is refused with the places of every rule and the file of the data', async () => {
    const rego =
      'package static.q\nimport rego.v1\n\nallow if input.x\n  deny contains "no" if input.y\nlimit := 3\n'
    const directory = writeDirectory({
      'q/p.rego': rego,
      'data.json': '{"static":{"q":{"allow":1}}}',
      'static/q/data.yaml': 'deny: 2',
    })
    const at = (row: number, col: number) => ({ file: join(directory, 'q/p.rego'), row, col })
    const message = (rule: string, file: string) =>
      `conflicting rule for data path static/q/${rule} found: ${join(directory, file)} has a value there`
    expect(await refusal(directory)).toMatchObject({
      message: 'the data gives values to paths that rules define: remove one of the two',
      details: [
        { code: 'rego_compile_error', message: message('allow', 'data.json'), location: at(4, 1) },
        { code: 'rego_compile_error', message: message('deny', 'static/q/data.yaml'), location: at(5, 3) },
      ],
    })
  })

  test('that gives one path two values is refused with both files', async () => {
    const directory = writeDirectory({ 'data.json': '{"x":{"k":{"a":1}}}', 'x/data.json': '{"k":1}' })
    expect((await refusal(directory))?.message).toBe(
      `data.x.k is given by both ${join(directory, 'data.json')} and ${join(directory, 'x/data.json')}: remove one of them`,
    )
  })
})

/** The reads of OPA's compiler from its store, which contains all data merged. */
function hasValueInTheWay(data: RegoValue, path: readonly string[]): boolean {
  if (path.length === 0) return true
  if (!(data instanceof RegoObject)) return true
  const member = data.get(path[0] ?? '')
  return member !== undefined && hasValueInTheWay(member, path.slice(1))
}

test('looking file by file finds what looking at the merged data finds', () => {
  const name = fc.constantFrom('a', 'b')
  const path = fc.array(name, { maxLength: 3 })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.constant(1), fc.dictionary(name, tie('value'), { maxKeys: 2 })),
  }))
  const file = fc.record({ at: path, value })
  fc.assert(
    fc.property(
      fc.array(file, { maxLength: 3 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (files, rule) => {
        let read: PartData
        try {
          read = readData(
            files.map((given, index) => ({
              at: given.at,
              content: Buffer.from(JSON.stringify(given.value)),
              file: `${index}.json`,
            })),
          )
        } catch {
          return
        }
        expect(findConflict(read.documents, rule) !== undefined).toBe(hasValueInTheWay(read.data, rule))
      },
    ),
    { numRuns: 500 },
  )
})
