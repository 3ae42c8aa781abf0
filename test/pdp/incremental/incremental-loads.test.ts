import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import type { ErrorDetail } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/pdp/builtins/index.js'
import { evaluateDocument, planDocument } from '../../../src/pdp/evaluation/evaluate-document.js'
import { evaluateStaticPolicies } from '../../../src/pdp/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/pdp/evaluation/new-call.js'
import { loadSnapshot } from '../../../src/pdp/loading/load-snapshot.js'
import type { LoadOptions } from '../../../src/pdp/loading/load-snapshot.js'
import { Policies } from '../../../src/pdp/loading/policies.js'
import type { LoadFailure } from '../../../src/pdp/loading/policies.js'
import type { ChangeLimits } from '../../../src/pdp/incremental/find-changes.js'
import { IncrementalCompiler } from '../../../src/pdp/incremental/incremental-compiler.js'
import { findOpa } from '../../../src/pdp/opa/find-opa.js'
import { pathOfKey } from '../../../src/pdp/rego/path-key.js'
import { packSnapshot, unpackSnapshot } from '../../../src/pdp/slow/packed-snapshot.js'
import type { Snapshot } from '../../../src/pdp/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

const OPTIONS: LoadOptions = {
  findOpa: () => findOpa({ env: process.env }),
  builtins: hostBuiltins,
  limits: DEFAULT_LIMITS,
  analysis: { staticPackages: ['static.*'], undefinedData: 'warn' },
  // As policies with hundreds of paths are compiled.
  mostEntrypoints: 0,
}

const FILES: Readonly<Record<string, string>> = {
  'one.rego': `package static.one
import rego.v1
deny contains sprintf("one: %v", [input.n]) if data.lib.numbers.double(input.n) > 4
`,
  'two.rego': `package static.two
import rego.v1
import data.static.common
deny contains "two" if common.is_odd
limit := data.limits.most
`,
  'older.rego': `package static.older
deny[message] { input.n == 1; message := "older" }
`,
  'common.rego': `package static.common
import rego.v1
is_odd if input.n % 2 == 1
`,
  'lib/numbers.rego': `package lib.numbers
import rego.v1
double(x) := x * factor
factor := 2
`,
  'all.rego': `package report
import rego.v1
denials contains message if {
	some name
	some message in data.static[name].deny
}
`,
  'apart.rego': `package apart
import rego.v1
default allow := false
allow if input.n == 3
value := 1 if input.n > 6
value := 2 if input.n > 7
`,
  'limits/data.json': '{"most": 3}',
}

/** What is saved, one after the other; null is a file that is removed. */
type Save = Readonly<Record<string, string | null>>
const one = (rest: string): string => `package static.one\nimport rego.v1\n${rest}\n`

const SAVES: readonly (readonly [name: string, save: Save, modules: number])[] = [
  ['a rule is changed', { 'apart.rego': 'package apart\nimport rego.v1\nallow if input.n == 4\n' }, 2],
  ['another is, of a package that others read', { 'one.rego': one('deny contains "ONE" if input.n > 1') }, 2],
  [
    'a function is changed that others call',
    { 'lib/numbers.rego': 'package lib.numbers\nimport rego.v1\ndouble(x) := x * 3\n' },
    2,
  ],
  [
    'a function is called again',
    { 'one.rego': one('deny contains "tripled" if data.lib.numbers.double(input.n) > 5') },
    2,
  ],
  [
    'a package is new',
    { 'three.rego': 'package static.three\nimport rego.v1\ndeny contains "three" if input.n == 3\n' },
    2,
  ],
  [
    'a package has one more file',
    {
      'more.rego':
        'package static.three\nimport rego.v1\ndeny contains "more" if is_big\nis_big if input.n > 5\n',
    },
    2,
  ],
  ['a file is gone', { 'three.rego': null }, 2],
  ['a package is gone', { 'more.rego': null }, 2],
  [
    'a package is written in the older version',
    { 'two.rego': 'package static.two\ndeny[m] { input.n > 6; m := "older two" }\n' },
    2,
  ],
  ['a file has another name', { 'older.rego': null, 'renamed.rego': FILES['older.rego'] ?? '' }, 2],
  [
    'a rule leads into the package of another',
    { 'heads.rego': 'package static\nimport rego.v1\nthree.deny contains "from above" if input.n == 2\n' },
    2,
  ],
  ['data are changed', { 'limits/data.json': '{"most": 4, "least": 1}' }, 2],
  [
    'a verdict is behind a variable',
    { 'hidden.rego': 'package static.hidden\nimport rego.v1\nby[x].deny contains "h" if some x in ["a"]\n' },
    2,
  ],
  ['a warning is mended', { 'hidden.rego': null }, 2],
  [
    'a rule fails',
    { 'apart.rego': 'package apart\nimport rego.v1\nvalue := 1 if input.n > 0\nvalue := 2 if input.n > 1\n' },
    2,
  ],
  ['everything is as it was compiled first', { ...FILES, 'renamed.rego': null, 'heads.rego': null }, 1],
]

const MISTAKES: readonly (readonly [name: string, save: Save])[] = [
  ['does not parse', { 'one.rego': one('deny contains {') }],
  ['does not compile', { 'one.rego': one('deny contains x if input.n') }],
  ['calls a function that is gone', { 'lib/numbers.rego': 'package lib.numbers\n' }],
  [
    'calls with more operands than there are',
    { 'one.rego': one('deny contains "x" if data.lib.numbers.double(1, 2, 3)') },
  ],
  [
    'depends on itself by another',
    { 'common.rego': 'package static.common\nimport rego.v1\nis_odd if count(data.static.two.deny) > 1\n' },
  ],
  ['is where a package is', { 'static.rego': 'package static\none := 1\n' }],
  ['is where data are', { 'limits.rego': 'package limits\nmost := 1\n' }],
  ['calls a built-in that is not there', { 'apart.rego': 'package apart\nvalue := no.such.function(1)\n' }],
]

/** How much is compiled at once: as usual, or in so small pieces that nearly each change is several modules. */
const LIMITS: readonly (readonly [how: string, limits: ChangeLimits | undefined])[] = [
  ['at once', undefined],
  ['in groups', { filesOfGroup: 1, groups: 3 }],
]

const INPUTS = [0, 1, 2, 3, 7, 8].map((n) => Buffer.from(JSON.stringify({ n })))
const workspace = makeWorkspace(FILES)
afterAll(workspace.remove)

function save(files: Save): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(workspace.path, name)
    if (text === null) rmSync(file, { force: true })
    else {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }
}

const locations = { directories: [workspace.path], bundles: [] }
const failures: AppError[] = []
/** Of how many modules policies consisted after each save. */
const counts: number[] = []
let policies: Policies

async function begin(limits: ChangeLimits | undefined): Promise<void> {
  rmSync(workspace.path, { recursive: true })
  save(FILES)
  const observer = { loaded: () => undefined, failed: ({ error }: LoadFailure) => failures.push(error) }
  policies = await Policies.open(locations, OPTIONS, observer, limits)
}

function outcomeOf(ask: () => unknown): unknown {
  try {
    return ask() ?? 'undefined'
  } catch (raw) {
    return raw instanceof AppError ? { message: raw.message, details: raw.details } : raw
  }
}

/** All that can be told from outside of policies. */
function described(snapshot: Snapshot): unknown {
  const { revision, sources, packages, unanswered, baseDenials, warnings } = snapshot
  const asked = packages.filter((key) => key.startsWith('static/'))
  const keys = [...snapshot.entrypoints.keys()].sort()
  const rest = ['', 'limits/most', 'nowhere', 'static/one/deny/x']
  return {
    about: { revision, sources, packages, unanswered, baseDenials, warnings, keys },
    kinds: keys.map((key) => snapshot.entrypoints.get(key)?.map(({ kind }) => kind)),
    answers: INPUTS.map((input) => ({
      verdict: outcomeOf(() => evaluateStaticPolicies(snapshot, asked, input, newCall({ nowMs: 0 }))),
      documents: [...keys, ...rest].map((key) => [
        key,
        outcomeOf(() =>
          evaluateDocument(planDocument(snapshot, pathOfKey(key)), input, newCall({ nowMs: 0 })),
        ),
      ]),
    })),
  }
}

const sorted = (details: readonly ErrorDetail[] = []): string[] =>
  details.map((detail) => JSON.stringify(detail)).sort()

const modulesOf = (snapshot: Snapshot): number =>
  new Set([...snapshot.entrypoints.values()].flat().map(({ module }) => module)).size

describe.each(LIMITS)('policies of which only a part is compiled again, %s,', (_how, limits) => {
  beforeAll(() => begin(limits))

  test.each(SAVES)('say what those say that are compiled as a whole when %s', async (_, files, modules) => {
    save(files)
    await policies.reload()
    const whole = await loadSnapshot(locations, OPTIONS)
    expect(described(policies.current)).toEqual(described(whole))
    if (limits === undefined) expect(modulesOf(policies.current)).toBe(modules)
    else counts.push(modulesOf(policies.current))
  })

  test.skipIf(limits === undefined)('are several modules more after many of these saves', () => {
    expect(counts.filter((count) => count > 2).length).toBeGreaterThan(SAVES.length / 3)
  })

  test('are found again by another thread', async () => {
    save({ 'one.rego': one('deny contains "sent" if input.n > 1') })
    await policies.reload()
    const packed = structuredClone(packSnapshot(policies.current))
    const unpacked = await unpackSnapshot(packed, hostBuiltins, DEFAULT_LIMITS)
    for (const key of policies.current.entrypoints.keys())
      for (const input of INPUTS) {
        const answer = (snapshot: Snapshot): unknown =>
          outcomeOf(() =>
            evaluateDocument(planDocument(snapshot, pathOfKey(key)), input, newCall({ nowMs: 0 })),
          )
        // Errors are located where the sources are.
        if (typeof answer(policies.current) === 'string')
          expect(answer(unpacked)).toEqual(answer(policies.current))
      }
  })

  test.each(MISTAKES)('are refused with the same words and places when a rule %s', async (_, files) => {
    const before = policies.current
    save(files)
    await policies.reload()
    const refusal = await loadSnapshot(locations, OPTIONS).then(
      () => undefined,
      (raw: unknown) => raw,
    )
    const failure = failures.at(-1)
    expect(policies.current).toBe(before)
    expect(refusal).toBeInstanceOf(AppError)
    expect(failure).toMatchObject({
      code: (refusal as AppError).code,
      message: (refusal as AppError).message,
    })
    // OPA tells what leads to itself in no fixed order.
    expect(sorted(failure?.details)).toEqual(sorted((refusal as AppError).details))
    save({ 'static.rego': null, 'limits.rego': null, ...FILES })
    await policies.reload()
    expect(policies.failure).toBeUndefined()
  })

  test('are compiled together when nothing changes any more', async () => {
    save({ 'one.rego': one('deny contains "last" if input.n > 1') })
    await policies.reload()
    expect(modulesOf(policies.current)).toBeGreaterThan(1)
    const { revision } = policies.current
    const answers = described(policies.current)
    await waitUntil(
      () => (modulesOf(policies.current) === 1 ? true : undefined),
      () => 'they still are two modules',
    )
    expect(policies.current.revision).toBe(revision)
    expect(described(policies.current)).toEqual(answers)
  })
})

test('what goes on being compiled together is given up for a save, and nothing that was compiled is lost', async () => {
  rmSync(workspace.path, { recursive: true })
  save(FILES)
  const compiler = new IncrementalCompiler()
  const load = async (): Promise<number> => modulesOf(await loadSnapshot(locations, { ...OPTIONS, compiler }))
  expect(await load()).toBe(1)
  save({ 'one.rego': one('deny contains "first" if input.n > 1') })
  expect(await load()).toBe(2)
  await expect(compiler.catchUp(AbortSignal.abort())).rejects.toThrow(AppError)
  expect(compiler.isBehind).toBe(true)
  save({ 'one.rego': one('deny contains "second" if input.n > 1') })
  expect(await load()).toBe(2)
})

test('each of several modules is given on as soon as it is built, and so is what has been compiled as a whole', async () => {
  rmSync(workspace.path, { recursive: true })
  save(FILES)
  const given: Uint8Array[] = []
  const compiler = new IncrementalCompiler((wasm) => given.push(wasm), { filesOfGroup: 1, groups: 4 })
  const options = { ...OPTIONS, compiler }
  await loadSnapshot(locations, options)
  save({ 'one.rego': one('deny contains "first" if input.n > 1') })
  const compiled = modulesOf(await loadSnapshot(locations, options))
  expect(given).toHaveLength(compiled - 1)
  expect(given.length).toBeGreaterThan(0)
  await compiler.catchUp(new AbortController().signal)
  expect(given).toHaveLength(compiled)
})
