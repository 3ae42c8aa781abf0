import fc from 'fast-check'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoNumber, RegoObject, equalValues } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../default-limits.js'
import { ask } from '../http-client.js'
import { loadPolicies } from '../load-policies.js'
import { startOpa } from '../opa-server.js'
import { makeWorkspace } from '../workspace.js'
import { LETTERS, SIGNATURES } from './signatures.js'
import type { Signature } from './signatures.js'
import { value as anyValue } from './values.js'

/** A call that is answered in two ways. */
export interface Difference {
  readonly name: string
  readonly operands: string
  readonly ours: string
  readonly theirs: string
}

type Operands = readonly RegoValue[]
/** A value, nothing, or the error of the evaluation. */
type Answer = RegoValue | undefined | Error

const BATCH = 400
/** Limits that soon end an endless evaluation. */
const LIMITS = { ...DEFAULT_LIMITS, loopIterations: 30_000_000 }

/**
 * Calls every native built-in with this many generated operands, in OPA and here, and gives the
 * calls with another value, or with a value on one side only. A call that ends in a panic of OPA is
 * skipped.
 */
export async function compareWithOpa(
  callsEach: number,
  seed: number,
  program: string,
  signatures: readonly Signature[] = SIGNATURES,
): Promise<{ calls: number; differences: Difference[] }> {
  const policy = policyOf(signatures)
  const workspace = makeWorkspace({ 'policies/p.rego': policy })
  const opa = await startOpa(`${workspace.path}/policies`, program)
  const differences: Difference[] = []
  let calls = 0
  try {
    const snapshot = await loadPolicies({ 'p.rego': policy }, LIMITS)
    for (let from = 0; from < callsEach; from += BATCH) {
      const numRuns = Math.min(BATCH, callsEach - from)
      for (const [rule, { name, operands }] of signatures.entries()) {
        const lists = fc.sample(fc.tuple(...operands.map(withStrays)), { numRuns, seed: seed + from + rule })
        const theirs = await evaluateEach(lists, (some) => evaluateWithOpa(opa.url, rule, some))
        const ours = await evaluateEach(lists, (some) => evaluateWithTidegate(snapshot, rule, some))
        calls += lists.length
        for (const [call, list] of lists.entries()) {
          const [mine, opas] = [ours[call], theirs[call]]
          if (opas instanceof Error || isSame(mine, opas)) continue
          differences.push({
            name,
            operands: list.map(printJson).join(', '),
            ours: shown(mine),
            theirs: shown(opas),
          })
        }
      }
    }
    return { calls, differences }
  } finally {
    await opa.stop()
    workspace.remove()
  }
}

/**
 * Now and then an operand of another type; a number in the place of another may be of any size,
 * which OPA does not survive.
 */
const stray = anyValue.filter((one) => !(one instanceof RegoNumber))

function withStrays(operand: fc.Arbitrary<RegoValue>): fc.Arbitrary<RegoValue> {
  return fc.oneof({ weight: 40, arbitrary: operand }, { weight: 1, arbitrary: stray })
}

/** One rule for each built-in, with a value for each call of `input.calls` that has one. */
function policyOf(signatures: readonly Signature[]): string {
  const rules = signatures.map(({ call, operands }, rule) => {
    const names = LETTERS.slice(0, operands.length)
    return `r${rule}[i] := v if {\n\tsome i, [${names.join(', ')}] in input.calls\n\tv := (${call})\n}\n`
  })
  return `package p\n\nimport rego.v1\n\n${rules.join('\n')}`
}

/**
 * The answers to all calls of one evaluation. If an error ends it, the halves are evaluated
 * separately.
 */
async function evaluateEach(
  lists: readonly Operands[],
  ask: (lists: readonly Operands[]) => Promise<RegoValue> | RegoValue,
): Promise<Answer[]> {
  try {
    const answers = await ask(lists)
    return lists.map((_, call) => (answers instanceof RegoObject ? answers.get(String(call)) : undefined))
  } catch (raw) {
    if (!(raw instanceof Error)) throw raw
    if (lists.length === 1) return [raw]
    const middle = lists.length >> 1
    return [
      ...(await evaluateEach(lists.slice(0, middle), ask)),
      ...(await evaluateEach(lists.slice(middle), ask)),
    ]
  }
}

async function evaluateWithOpa(url: string, rule: number, lists: readonly Operands[]): Promise<RegoValue> {
  const { text } = await ask(url, {
    path: `/v1/data/p/r${rule}`,
    headers: { 'content-type': 'application/json' },
    body: `{"input":${inputOf(lists)}}`,
  })
  const answer = parseRegoText(text)
  const result = answer instanceof RegoObject ? answer.get('result') : undefined
  if (result === undefined) throw new Error(text)
  return result
}

function evaluateWithTidegate(snapshot: Snapshot, rule: number, lists: readonly Operands[]): RegoValue {
  const plan = planDocument(snapshot, ['p', `r${rule}`])
  const text = evaluateDocument(plan, Buffer.from(inputOf(lists)), newCall({ strictBuiltinErrors: false }))
  return parseRegoText(text ?? '{}')
}

function inputOf(lists: readonly Operands[]): string {
  return `{"calls":${printJson(lists)}}`
}

function isSame(ours: Answer, theirs: RegoValue | undefined): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs
  // The texts of numbers count too: 1 and 1.0 are equal values.
  return !(ours instanceof Error) && equalValues(ours, theirs) && printJson(ours) === printJson(theirs)
}

function shown(answer: Answer): string {
  if (answer === undefined) return 'undefined'
  return answer instanceof Error ? `${answer.name}: ${answer.message}` : printJson(answer)
}
