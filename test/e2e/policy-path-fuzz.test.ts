import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { parseDataPath } from '../../src/rego/values/data-path.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import { runOpa } from '../../src/rego/opa/run-opa.js'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { OpaServer } from '../support/opa-server.js'
import { dataText, flatInput, moduleText, pathFor, policySet } from '../support/policy-paths.js'
import type { GeneratedPackage } from '../support/policy-paths.js'
import { statedVerdict } from '../support/stated-verdict.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

/** Number of paths requested in both dialects. The sets grow with it. */
const PATHS = Number(process.env['POLICY_PATHS'] ?? 600)
const SEED = Number(process.env['POLICY_PATHS_SEED'] ?? 20_240_610)
const SETS = Math.min(80, Math.max(12, Math.round(PATHS / 100)))
const BATCH = 8
const PATH_ERROR = /rego_(?:type|parse)_error/

const workspace = makeWorkspace()
let packages: readonly GeneratedPackage[]
let opa: OpaServer
let tidegate: TidegateProcess

beforeAll(async () => {
  packages = await writeSets()
  const directory = `${workspace.path}/policies`
  ;[opa, tidegate] = await Promise.all([
    startOpa(directory),
    startTidegate({ workspace, config: { decisions: { enabled: false } } }),
  ])
}, 300_000)

afterAll(async () => {
  await Promise.all([opa.stop(), tidegate.end('SIGTERM')])
  workspace.remove()
})

test(
  'whatever the policies and the path, the Data API answers as OPA, and a flat body is 200 only where its document allows',
  async () => {
    const question = fc.record({ path: pathFor(packages), input: flatInput })
    const questions = fc.sample(question, { numRuns: PATHS, seed: SEED })
    const faults: unknown[] = []
    const outcomes = { compared: 0, allowed: 0, denied: 0, refused: 0, unlike: 0 }
    for (let from = 0; from < questions.length; from += BATCH) {
      await Promise.all(
        questions.slice(from, from + BATCH).map(async ({ path, input }) => {
          const [theirs, ours, flat] = await requestAll(path, input)
          outcomes.compared += 2
          if (flat.status === 200) outcomes.allowed++
          else if (flat.status === 401) outcomes.denied++
          else outcomes.refused++
          const isMeant = !isSame(ours, theirs) && isMeantDifference(path, ours, theirs)
          if (isMeant) outcomes.unlike++
          else if (!isSame(ours, theirs))
            faults.push({ path, input, ours: shown(ours), theirs: shown(theirs) })
          if (flat.status === 200 && (hasDotSegments(path) || theirVerdict(path, theirs) !== 'allow'))
            faults.push({ path, input, flat: shown(flat), theirs: shown(theirs) })
        }),
      )
    }
    process.stdout.write(`policy paths: ${JSON.stringify({ packages: packages.length, ...outcomes })}\n`)
    expect(faults.slice(0, 5)).toEqual([])
    expect(outcomes.allowed).toBeGreaterThan(0)
    expect(outcomes.denied).toBeGreaterThan(0)
  },
  PATHS * 100 + 60_000,
)

function requestAll(path: string, input: object): Promise<[Answered, Answered, Answered]> {
  const target = `/v1/data/${path}`
  const headers = { 'content-type': 'application/json' }
  const wrapped = { path: target, headers, body: JSON.stringify({ input }) }
  const flat = { path: target, headers, body: JSON.stringify(input) }
  // OPA redirects from empty segments, and escapes a percent sign once more on the way.
  const tidy = { ...wrapped, path: target.replace(/\/+/g, '/').replace(/\/$/, '') }
  return Promise.all([ask(opa.url, tidy), ask(tidegate.url, wrapped), ask(tidegate.url, flat)])
}

function theirVerdict(path: string, { status, text }: Answered): string {
  if (status !== 200) return 'none'
  const document = (JSON.parse(text) as { readonly result?: unknown }).result
  return statedVerdict(document, parseDataPath(path), packages)
}

function isSame(ours: Answered, theirs: Answered): boolean {
  return ours.status === theirs.status && (ours.status !== 200 || ours.text === theirs.text)
}

/** The differences documented in docs/reference/differences-from-opa.md. None of them is an allow. */
function isMeantDifference(path: string, ours: Answered, theirs: Answered): boolean {
  if (hasDotSegments(path)) return theirs.status === 301 && ours.status === 400
  const isPathError = theirs.status === 500 && PATH_ERROR.test(theirs.text)
  return isPathError && (isText(path) ? ours.text === '{}\n' : ours.status === 400)
}

/** Whether the escapes of a path are UTF-8. */
function isText(path: string): boolean {
  try {
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}

function hasDotSegments(path: string): boolean {
  return path.split('/').some((segment) => segment === '.' || segment === '..')
}

function shown({ status, text }: Answered): object {
  return { status, text: text.slice(0, 300) }
}

/** Generated sets, each below a root of its own; the modules that OPA refuses are taken out. */
async function writeSets(): Promise<readonly GeneratedPackage[]> {
  const sets = fc.sample(policySet, { numRuns: SETS, seed: SEED })
  let left = sets.flatMap((set, root) =>
    set.map(({ path: [, ...below], rules, data }) => ({ path: [`p${root}`, ...below], rules, data })),
  )
  const program = await findOpa({ env: process.env })
  for (let round = 0; round < 10; round++) {
    workspace.remove()
    workspace.write(
      Object.fromEntries(left.map((one, index) => [`policies/m${index}.rego`, moduleText(one)])),
    )
    const run = await runOpa(program, ['check', '--format', 'json', '--max-errors', '-1', 'policies'], {
      cwd: workspace.path,
    })
    if (run.exitCode === 0) {
      workspace.write({ 'policies/data.json': dataText(left) })
      return left
    }
    const bad = new Set(
      [...`${run.stdout}${run.stderr}`.matchAll(/m(\d+)\.rego/g)].map(([, index]) => Number(index)),
    )
    left = left.filter((_, index) => !bad.has(index))
  }
  throw new Error('OPA refuses what is left of the generated policies')
}
