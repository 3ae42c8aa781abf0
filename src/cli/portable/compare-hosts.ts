import { AppError } from '../../errors/app-error.js'
import {
  evaluateDocument,
  evaluateValue,
  evaluateWithAnswers,
  pathKey,
  planDocument,
  printDataRef,
  RegoNumber,
  RegoObject,
  RegoSet,
  printJson,
  type EvaluationCall,
  type PolicyRequests,
  type Snapshot,
  type RegoValue,
} from '../../rego/index.js'
import type { PlainHost } from '../../main/threads/plain-host-thread.js'
import type { PortableModule } from './portable-modules.js'
import { isRecord } from '../../lib/validation/record.js'

/** A path and input to evaluate on both hosts. */
export interface HostQuery {
  readonly path: readonly string[]
  readonly input: Uint8Array | undefined
  /** Origin of the input. */
  readonly subject: string
}

/** A result that differs on the plain host or is missing there. */
export interface PortabilityFinding {
  readonly rule: string
  readonly subject: string
  readonly kind: 'different' | 'lacking' | 'failed' | 'unnamed'
  readonly message: string
}

export interface Portability {
  readonly same: number
  /** Queries that fail here and are not compared. */
  readonly skipped: number
  readonly findings: readonly PortabilityFinding[]
}

/** Longer values are truncated. */
const MAX_SHOWN_CHARACTERS = 200

/**
 * Evaluates each query on both hosts. Queries that fail here are skipped, since the plain host has
 * no limits.
 */
export async function compareHosts(
  snapshot: Snapshot,
  modules: readonly PortableModule[],
  questions: readonly HostQuery[],
  { host, requests }: { host: PlainHost; requests: PolicyRequests },
): Promise<Portability> {
  const findings: PortabilityFinding[] = []
  let [same, skipped] = [0, 0]
  for (const question of questions) {
    const ours = await answerHere(snapshot, question, requests)
    if (ours === undefined) {
      skipped += 1
      continue
    }
    const found = await compareWith(ours, modules, question, host)
    if (found === undefined) same += 1
    else findings.push({ rule: printDataRef(question.path), subject: question.subject, ...found })
  }
  return { same, skipped, findings }
}

interface Answer {
  readonly value: ReturnType<typeof evaluateValue>
  readonly json: string | undefined
}

async function answerHere(
  snapshot: Snapshot,
  { path, input }: HostQuery,
  requests: PolicyRequests,
): Promise<Answer | undefined> {
  const plan = planDocument(snapshot, path)
  const evaluate = (call: EvaluationCall): Answer => ({
    value: evaluateValue(plan, input, call),
    json: evaluateDocument(plan, input, call),
  })
  try {
    return await evaluateWithAnswers(evaluate, requests)
  } catch (raw) {
    if (raw instanceof AppError) return undefined
    throw raw
  }
}

async function compareWith(
  { value, json }: Answer,
  modules: readonly PortableModule[],
  { path, input }: HostQuery,
  host: PlainHost,
): Promise<Pick<PortabilityFinding, 'kind' | 'message'> | undefined> {
  const key = pathKey(path)
  const from = modules.find(({ entrypoints }) => entrypoints.has(key))
  const entrypoint = from?.entrypoints.get(key)
  if (from === undefined || entrypoint === undefined)
    return { kind: 'unnamed', message: 'the module has no entrypoint of this name' }
  const text = input === undefined ? undefined : Buffer.from(input).toString()
  const { module, data } = from
  const answer = await host.evaluate({ module, data, entrypoint, input: text })
  if (answer.kind === 'lacking') return { kind: 'lacking', message: `it has no built-in ${answer.builtin}` }
  if (answer.kind === 'failed') return { kind: 'failed', message: shown(answer.message) }
  const theirs: unknown = answer.json === undefined ? undefined : JSON.parse(answer.json)
  if (isSameValue(value, theirs)) return undefined
  return { kind: 'different', message: `here ${shown(json)}, there ${shown(answer.json)}` }
}

function shown(text = 'undefined'): string {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

/**
 * Returns whether a Rego value equals the plain host's JSON, which has sets as arrays in any order,
 * numbers as doubles, and other keys than strings as JSON.
 */
function isSameValue(ours: RegoValue | undefined, theirs: unknown): boolean {
  if (ours === undefined || theirs === undefined) return ours === theirs
  if (ours instanceof RegoNumber) return Number(ours.text) === theirs
  if (ours instanceof RegoSet) return Array.isArray(theirs) && sameMembers([...ours.members], theirs)
  if (ours instanceof RegoObject) return isRecord(theirs) && sameObject(ours, theirs)
  if (!Array.isArray(ours)) return ours === theirs
  return (
    Array.isArray(theirs) &&
    theirs.length === ours.length &&
    ours.every((element: RegoValue, index) => isSameValue(element, theirs[index]))
  )
}

function sameMembers(members: readonly RegoValue[], array: readonly unknown[]): boolean {
  const left = [...array]
  return (
    members.length === left.length &&
    members.every((member) => {
      const at = left.findIndex((element) => isSameValue(member, element))
      if (at === -1) return false
      left.splice(at, 1)
      return true
    })
  )
}

function sameObject(ours: RegoObject, theirs: Readonly<Record<string, unknown>>): boolean {
  return (
    ours.entries.length === Object.keys(theirs).length &&
    ours.entries.every(([key, value]) => {
      const name = typeof key === 'string' ? key : printJson(key)
      return Object.hasOwn(theirs, name) && isSameValue(value, theirs[name])
    })
  )
}
