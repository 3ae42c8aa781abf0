import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { AppError } from '../../../src/errors/app-error.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { ask } from '../http-client.js'
import { loadPolicies } from '../load-policies.js'
import { startOpa } from '../opa-server.js'
import { makeWorkspace } from '../workspace.js'
import { Choices } from './choices.js'
import { writePolicy } from './write-policy.js'
import type { GeneratedPolicy } from './write-policy.js'

/** A request that is answered in two ways. */
interface PolicyDifference {
  readonly policy: GeneratedPolicy
  readonly path: string
  readonly input: string
  readonly isStrict: boolean
  readonly ours: string
  readonly theirs: string
}

interface PolicyComparison {
  readonly packages: number
  readonly questions: number
  /** Where this program gives a value, or none, and OPA another: nothing excuses these. */
  readonly answers: readonly PolicyDifference[]
  /**
   * Cases in which Tidegate ends with an error and OPA does not, or with another one in every
   * evaluation order.
   */
  readonly errors: readonly PolicyDifference[]
  /** Errors that OPA reports at another line. */
  readonly rows: number
  /** Where OPA refuses the path, since no value of the rule can have it. */
  readonly refusedPaths: number
}

const ERROR = 'error: '
const DATA = '{"base": {"n": 1, "o": {"a": 2, "b": "x"}, "l": [1, [2, "a"], {"a": 1}]}}'
const INPUTS = [
  '{"a": 1, "b": "a", "k": "a", "z": 0, "l": [1, 2], "o": {"a": 1, "b": 2}, "c": {"d": true}}',
  '{"a": 2, "b": "2", "k": "b", "z": 1, "l": [[1, "a"], [2, "b"]], "o": {"a": [1]}, "c": {"d": false}}',
  '{"a": "a", "b": null, "k": 1, "z": 2, "l": {"a": 1}, "o": [1, 2], "c": {}}',
  '{"a": [1, 2], "b": {"a": 1}, "l": [[1, 2], {"a": 1}, "a"], "c": 1, "o": {"a": {"b": 2}, "b": 1}}',
  '{}',
  '"a"',
]

/** Evaluates every rule of generated packages with OPA and with Tidegate. */
export async function comparePolicies(
  packages: number,
  seed: number,
  program: string,
): Promise<PolicyComparison> {
  const written = Array.from({ length: packages }, (_, at) =>
    writePolicy(`p${at}`, new Choices(seed * 100_003 + at)),
  )
  const policies = keepCompiling(written, program)
  const files = {
    'data.json': DATA,
    ...Object.fromEntries(policies.map(({ name, text }) => [`${name}.rego`, text])),
  }
  const workspace = makeWorkspace(files)
  const opa = await startOpa(workspace.path, program)
  const differences: PolicyDifference[] = []
  const questions = policies.flatMap((policy) =>
    policy.paths.flatMap((path) =>
      INPUTS.flatMap((input) => [false, true].map((isStrict) => ({ policy, path, input, isStrict }))),
    ),
  )
  try {
    const snapshot = await loadPolicies(files)
    for (const { policy, path, input, isStrict } of questions) {
      const ours = evaluateWithTidegate(snapshot, path, input, isStrict)
      const theirs = await evaluateWithOpa(opa.url, path, input, isStrict)
      if (ours !== theirs) differences.push({ policy, path: path.join('/'), input, isStrict, ours, theirs })
    }
    const typed = differences.filter(({ theirs }) => theirs.includes('rego_type_error'))
    const [rows, others] = partition(
      differences.filter((one) => !typed.includes(one)),
      ({ ours, theirs }) => withoutRow(ours) === withoutRow(theirs),
    )
    const [errors, answers] = partition(others, ({ ours }) => ours.startsWith(ERROR))
    return {
      packages: policies.length,
      questions: questions.length,
      answers,
      errors: errors.filter((one) => !isBelowRule(one) && !isSameWithoutIndex(one, program, workspace.path)),
      rows: rows.length,
      refusedPaths: typed.length,
    }
  } finally {
    await opa.stop()
    workspace.remove()
  }
}

function partition<T>(list: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [list.filter(isFirst), list.filter((one) => !isFirst(one))]
}

function withoutRow(answer: string): string {
  return answer.replace(/ at \S+$/, '')
}

/** Tidegate evaluates rules as a whole, OPA only the requested part. */
function isBelowRule({ path }: PolicyDifference): boolean {
  return path.split('/').length > 2
}

/**
 * Whether OPA ends with the same error if it calls in the order of the bodies, without checking
 * first which rules may apply.
 */
function isSameWithoutIndex(
  { policy, path, input, isStrict, ours }: PolicyDifference,
  program: string,
  directory: string,
): boolean {
  const { stdout } = spawnSync(
    program,
    [
      ...['eval', '--format', 'json', '--stdin-input', '--disable-indexing', '--disable-early-exit'],
      ...(isStrict ? ['--strict-builtin-errors'] : []),
      ...['--data', join(directory, `${policy.name}.rego`), '--data', join(directory, 'data.json')],
      `data.${path.replaceAll('/', '.')}`,
    ],
    { input, encoding: 'utf8' },
  )
  const { errors } = JSON.parse(stdout) as { errors?: { code: string; message: string }[] }
  const [first] = errors ?? []
  return withoutRow(ours) === `${ERROR}${first?.code ?? ''}: ${first?.message ?? ''}`
}

/** Those of them that OPA compiles, one by one: they have nothing in common. */
function keepCompiling(written: readonly GeneratedPolicy[], program: string): GeneratedPolicy[] {
  const workspace = makeWorkspace(Object.fromEntries(written.map(({ name, text }) => [`${name}.rego`, text])))
  let left = [...written]
  try {
    while (left.length > 0) {
      const refused = refusedFiles(program, workspace.path)
      if (refused.size === 0) return left
      for (const name of refused) rmSync(join(workspace.path, `${name}.rego`))
      left = left.filter(({ name }) => !refused.has(name))
    }
    return left
  } finally {
    workspace.remove()
  }
}

function refusedFiles(program: string, directory: string): Set<string> {
  try {
    execFileSync(program, ['check', '--max-errors', '1000000', directory], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Set()
  } catch (raw) {
    const { stderr = '' } = raw as { stderr?: Buffer }
    const found = new Set(
      [...stderr.toString().matchAll(/\/(p\d+)\.rego:\d+/g)].map(([, name]) => name ?? ''),
    )
    if (found.size === 0) throw raw
    return found
  }
}

function evaluateWithTidegate(
  snapshot: Snapshot,
  path: readonly string[],
  input: string,
  isStrict: boolean,
): string {
  try {
    const text = evaluateDocument(
      planDocument(snapshot, path),
      Buffer.from(input),
      newCall({ strictBuiltinErrors: isStrict }),
    )
    return text ?? 'undefined'
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    const [detail] = raw.details
    return `${ERROR}${detail?.code ?? raw.code}: ${detail?.message ?? raw.message} at ${String(detail?.location?.row)}`
  }
}

async function evaluateWithOpa(
  url: string,
  path: readonly string[],
  input: string,
  isStrict: boolean,
): Promise<string> {
  const { status, text } = await ask(url, {
    path: `/v1/data/${path.join('/')}${isStrict ? '?strict-builtin-errors' : ''}`,
    headers: { 'content-type': 'application/json' },
    body: `{"input":${input}}`,
  })
  if (status === 200) return /^\{"result":(.*)\}\n$/s.exec(text)?.[1] ?? 'undefined'
  const { message, errors = [] } = JSON.parse(text) as {
    message: string
    errors?: { code: string; message: string; location?: { row: number } }[]
  }
  const [first] = errors
  return `${ERROR}${first?.code ?? ''}: ${first?.message ?? message} at ${String(first?.location?.row)}`
}
