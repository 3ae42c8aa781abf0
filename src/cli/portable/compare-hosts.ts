import { AppError } from '../../errors/app-error.js'
import {
  evaluateDocument,
  evaluateValue,
  evaluateWithAnswers,
  pathKey,
  planDocument,
  printDataRef,
  type EvaluationCall,
  type PolicyRequests,
  type Snapshot,
} from '../../rego/index.js'
import type { PlainHost } from '../../main/threads/plain-host-thread.js'
import type { PortableModule } from './portable-modules.js'
import { saysTheSame } from './same-answer.js'

/** One path that both hosts are asked, over one input. */
export interface HostQuestion {
  readonly path: readonly string[]
  readonly input: Uint8Array | undefined
  /** Where the input is from. */
  readonly subject: string
}

/** An answer that the plain host gives otherwise, or not at all. */
export interface PortabilityFinding {
  readonly rule: string
  readonly subject: string
  readonly kind: 'different' | 'lacking' | 'failed' | 'unnamed'
  readonly message: string
}

export interface Portability {
  readonly same: number
  /** Questions that are not compared, since they end in an error here. */
  readonly skipped: number
  readonly findings: readonly PortabilityFinding[]
}

/** Beyond that, a value is shown no further. */
const MOST_SHOWN = 200

/** Asks both hosts each question. One that ends in an error here is not asked there: the plain host has no limits. */
export async function compareHosts(
  snapshot: Snapshot,
  modules: readonly PortableModule[],
  questions: readonly HostQuestion[],
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
  { path, input }: HostQuestion,
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
  { path, input }: HostQuestion,
  host: PlainHost,
): Promise<Pick<PortabilityFinding, 'kind' | 'message'> | undefined> {
  const key = pathKey(path)
  const from = modules.find(({ entrypoints }) => entrypoints.has(key))
  const entrypoint = from?.entrypoints.get(key)
  if (from === undefined || entrypoint === undefined)
    return { kind: 'unnamed', message: 'no entrypoint of the module is called so' }
  const text = input === undefined ? undefined : Buffer.from(input).toString()
  const { module, data } = from
  const answer = await host.evaluate({ module, data, entrypoint, input: text })
  if (answer.kind === 'lacking') return { kind: 'lacking', message: `it has no built-in ${answer.builtin}` }
  if (answer.kind === 'failed') return { kind: 'failed', message: shown(answer.message) }
  const theirs: unknown = answer.json === undefined ? undefined : JSON.parse(answer.json)
  if (saysTheSame(value, theirs)) return undefined
  return { kind: 'different', message: `here ${shown(json)}, there ${shown(answer.json)}` }
}

function shown(text = 'undefined'): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}
