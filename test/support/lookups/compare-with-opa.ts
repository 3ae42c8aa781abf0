import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../../src/errors/app-error.js'
import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { opaRegoVersion } from '../../../src/rego/opa/opa-release.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { loadPolicies } from '../load-policies.js'
import type { LookupSet } from './random-lookups.js'

export interface Comparison {
  /** Questions that both answered, a question being a rule with an input. */
  readonly asked: number
  /** Rules that are not loaded. */
  readonly refused: number
  readonly differences: readonly string[]
}

/** Number of times that refused parts are removed and the rest is loaded again. */
const MAX_LOADS = 20

/**
 * Evaluates a set with the evaluator of one OPA, and with Tidegate after compiling it with another.
 */
export async function compareWithOpa(
  opa: OpaProgram,
  evaluator: OpaProgram,
  set: LookupSet,
): Promise<Comparison> {
  const compiled = await leaveOut(set.questions, (questions) => checkByOpa(opa, set, questions))
  const valid = await leaveOut(compiled, (questions) => checkByOpa(evaluator, set, questions))
  const loaded = await leaveOut(valid, (questions) => loadRows(set, questions))
  const asked = loaded.length * set.inputs.length
  const refused = valid.length - loaded.length
  if (loaded.length === 0) return { asked, refused, differences: [] }
  const snapshot = await loadPolicies(filesOf(set, loaded))
  const plan = planDocument(snapshot, ['q'])
  const expected = await answersOfOpa(evaluator, set, loaded)
  // The evaluator of OPA 0.70 gives members of sets twice.
  const isOlder = (await opaRegoVersion(evaluator)) === 0
  const differences = set.inputs.flatMap((input, at) => {
    const answer = evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall())
    const [ours, theirs] = [toRules(answer, isOlder), toRules(JSON.stringify(expected[at]), isOlder)]
    return loaded.flatMap((question) => {
      const name = nameOf(question)
      if (ours.get(name) === theirs.get(name)) return []
      return [`${question}\n  input ${JSON.stringify(input)}: ${ours.get(name)}, OPA ${theirs.get(name)}`]
    })
  })
  return { asked, refused, differences }
}

/** The queries without those whose lines are refused. */
async function leaveOut(
  questions: readonly string[],
  refusedRows: (questions: readonly string[]) => Promise<readonly number[]>,
): Promise<readonly string[]> {
  let left = questions
  for (let load = 0; load < MAX_LOADS && left.length > 0; load += 1) {
    const rows = await refusedRows(left)
    if (rows.length === 0) return left
    left = left.filter((_, at) => !rows.includes(at))
  }
  throw new Error(`still refused: ${left.join('\n')}`)
}

function filesOf({ packages, head }: LookupSet, questions: readonly string[]): Record<string, string> {
  return { ...packages, 'q.rego': `${head}\n${questions.join('\n')}\n` }
}

/** The places of questions by the rows of their file that errors name. */
function placesOf({ head }: LookupSet, rows: readonly number[]): number[] {
  const first = head.split('\n').length + 1
  const places = rows.map((row) => row - first)
  if (places.some((place) => place < 0)) throw new Error(`refused in the head: rows ${rows.join(', ')}`)
  return places
}

async function loadRows(set: LookupSet, questions: readonly string[]): Promise<number[]> {
  try {
    await loadPolicies(filesOf(set, questions))
    return []
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
    const rows = raw.details.map(({ location }) => location?.row ?? 0)
    if (rows.length === 0) throw raw
    return placesOf(set, rows)
  }
}

async function inFiles<T>(files: Record<string, string>, use: (cwd: string) => Promise<T>): Promise<T> {
  return await inTemporaryDirectory(async (cwd) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
    return await use(cwd)
  })
}

async function checkByOpa(opa: OpaProgram, set: LookupSet, questions: readonly string[]): Promise<number[]> {
  return await inFiles(filesOf(set, questions), async (cwd) => {
    const run = await runOpa(opa, ['check', '--max-errors', '0', '--format', 'json', '.'], { cwd })
    if (run.exitCode === 0) return []
    const found = [...run.stderr.matchAll(/"row": (\d+)/g), ...run.stdout.matchAll(/"row": (\d+)/g)]
    if (found.length === 0) throw new Error(run.stderr + run.stdout)
    return placesOf(
      set,
      found.map(([, row]) => Number(row)),
    )
  })
}

async function answersOfOpa(
  opa: OpaProgram,
  set: LookupSet,
  questions: readonly string[],
): Promise<unknown[]> {
  const files = { ...filesOf(set, questions), 'inputs.json': JSON.stringify({ inputs: set.inputs }) }
  return await inFiles(files, async (cwd) => {
    const query = '[x | i := data.inputs[_]; x := data.q with input as i]'
    const run = await runOpa(opa, ['eval', '--format', 'json', '--data', '.', query], { cwd })
    const answer = JSON.parse(run.stdout) as { result?: { expressions: { value: unknown[] }[] }[] }
    const value = answer.result?.[0]?.expressions[0]?.value
    if (value?.length !== set.inputs.length) throw new Error(`${run.stdout}${run.stderr}`)
    return value
  })
}

function toRules(document: string | undefined, isOlder: boolean): Map<string, string> {
  const rules = Object.entries(JSON.parse(document ?? '{}') as Record<string, unknown>)
  return new Map(rules.map(([name, value]) => [name, JSON.stringify(inOrder(value, isOlder))]))
}

/**
 * A value with the members of arrays sorted: packages and base documents are gone through in no
 * certain order.
 */
function inOrder(value: unknown, isOlder: boolean): unknown {
  if (!Array.isArray(value)) return value
  const members = value.map((item) => JSON.stringify(inOrder(item, isOlder))).toSorted()
  return isOlder ? [...new Set(members)] : members
}

function nameOf(question: string): string {
  return /^\w+/.exec(question)?.[0] ?? ''
}
