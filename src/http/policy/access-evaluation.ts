import { z } from 'zod'

import { AppError, toAppError } from '../../errors/app-error.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import { printMembers } from '../../lib/json/edit/merge-json.js'
import { readMembers, scanElements } from '../../lib/json/scan/scan-members.js'
import { mergedTooLarge } from '../exchange/body-errors.js'
import { errorAnswer } from '../exchange/error-body.js'
import type { Exchange } from '../exchange/exchange.js'
import { JSON_TYPE } from '../exchange/exchange.js'
import { parseJsonBody } from '../input/read-json-body.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'
import { planFor } from './plan-cache.js'
import { isOverTime, overTime } from './request-time.js'

/** Maximum number of evaluations in one request. */
const MAX_EVALUATIONS = 1000
const BODY = { name: 'the body', code: 'invalid_field' }
const NOTHING = Buffer.alloc(0)

const Entity = z.looseObject({ type: z.string(), id: z.string() })
/** A request of AuthZEN 1.0, 6. */
export const AccessRequest = z.looseObject({
  subject: Entity,
  action: z.looseObject({ name: z.string() }),
  resource: Entity,
  context: z.looseObject({}).optional(),
})
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const
const Parts = z.looseObject({
  subject: z.unknown().optional(),
  action: z.unknown().optional(),
  resource: z.unknown().optional(),
  context: z.unknown().optional(),
})
/** A request of AuthZEN 1.0, 7: the parts outside `evaluations` are defaults. */
export const AccessRequests = Parts.extend({
  evaluations: z.array(Parts).max(MAX_EVALUATIONS).optional(),
  options: z.looseObject({ evaluations_semantic: z.enum(SEMANTICS).default('execute_all') }).optional(),
})
export const AccessAnswer = z.looseObject({ decision: z.boolean(), context: z.looseObject({}).optional() })

/** The value of the document: a boolean, or an AuthZEN response. */
const Verdict = z.union([z.boolean(), AccessAnswer])

interface Answer {
  readonly decision: boolean
  /** JSON, with numbers as the policy wrote them. */
  readonly text: string
}

/**
 * `POST /access/v1/evaluation` (AuthZEN 1.0, 6): evaluates `policies.accessDecision` with the
 * request as input.
 */
export async function answerAccessEvaluation(context: PolicyContext, exchange: Exchange): Promise<void> {
  const path = requireDocument(context)
  const { bytes } = await parseJsonBody(exchange, AccessRequest, context.maxBodyBytes)
  send(exchange, (await evaluate(context, exchange, path, bytes)).text)
}

/**
 * `POST /access/v1/evaluations` (AuthZEN 1.0, 7). Each evaluation waits for its turn like a request.
 * One that fails is a denial with the error in its context, and so is one that has not begun after
 * the time of a request. Without `evaluations` the request is a
 * single one.
 */
export async function answerAccessEvaluations(context: PolicyContext, exchange: Exchange): Promise<void> {
  const path = requireDocument(context)
  const { bytes, body } = await parseJsonBody(exchange, AccessRequests, context.maxBodyBytes)
  const { evaluations = [], options, ...defaults } = body
  if (evaluations.length === 0) {
    readBySchema(AccessRequest, body, BODY)
    send(exchange, (await evaluate(context, exchange, path, bytes)).text)
    return
  }
  const endsOn = { execute_all: undefined, deny_on_first_deny: false, permit_on_first_permit: true }
  const last = endsOn[options?.evaluations_semantic ?? 'execute_all']
  const answers: string[] = []
  for (const [index, input] of readInputs(bytes, context.maxBodyBytes).entries()) {
    await exchange.takeTurn(0)
    const request = { ...defaults, ...evaluations[index] }
    const { decision, text } =
      index > 0 && isOverTime(context, exchange)
        ? failedItem(overTime(context))
        : await evaluateItem(context, exchange, path, { request, input })
    answers.push(text)
    if (decision === last) break
  }
  send(exchange, `{"evaluations":[${answers.join(',')}]}`)
}

/**
 * Returns the requests of `evaluations` as they are written, with the parts outside of it as
 * defaults. Raises `too_large` if they exceed `maxBytes` in total.
 */
function readInputs(bytes: Uint8Array, maxBytes: number): readonly (() => Uint8Array)[] {
  const defaults = membersOf(bytes)
  const evaluations = defaults.get('evaluations') ?? NOTHING
  for (const name of ['evaluations', 'options']) defaults.delete(name)
  const items: Uint8Array[] = []
  scanElements(evaluations, 0, (_, start, end) => void items.push(evaluations.subarray(start, end)))
  const shared = bytes.length - evaluations.length
  if (evaluations.length + items.length * shared > maxBytes)
    throw mergedTooLarge('the part outside of evaluations', maxBytes)
  return items.map((own) => () => printMembers(new Map([...defaults, ...membersOf(own)])))
}

function membersOf(bytes: Uint8Array): Map<string, Uint8Array> {
  const members = [...(readMembers(bytes) ?? [])]
  return new Map(members.map(([key, { start, end }]) => [key, bytes.subarray(start, end)]))
}

interface AccessItem {
  readonly request: unknown
  readonly input: () => Uint8Array
}

async function evaluateItem(
  context: PolicyContext,
  exchange: Exchange,
  path: string,
  { request, input }: AccessItem,
): Promise<Answer> {
  try {
    readBySchema(AccessRequest, request, { ...BODY, name: 'the evaluation' })
    return await evaluate(context, exchange, path, input())
  } catch (raw) {
    return failedItem(toAppError(raw))
  }
}

function failedItem(error: AppError): Answer {
  const context = { error: { status: errorAnswer(error).status, message: error.message } }
  return { decision: false, text: JSON.stringify({ decision: false, context }) }
}

/** Undefined is a denial. A built-in that fails is an error, as for all verdicts. */
async function evaluate(
  context: PolicyContext,
  exchange: Exchange,
  path: string,
  input: Uint8Array,
): Promise<Answer> {
  const decision = new Decision(context, exchange, 'data', path, input)
  const { answer } = await decision.decide(
    input,
    (evaluations, options) => evaluations.document(planFor(decision.snapshot, path), input, options),
    (result) => {
      const answer = readVerdict(path, result)
      return { outcome: answer.decision ? 'allow' : 'deny', result, answer } as const
    },
    true,
  )
  return answer
}

function readVerdict(path: string, result = 'false'): Answer {
  const verdict = Verdict.safeParse(JSON.parse(result))
  if (!verdict.success) {
    throw new AppError(
      'evaluation_failed',
      `data/${path} must be true, false or an object with a boolean "decision" (policies.accessDecision)`,
    )
  }
  if (typeof verdict.data === 'object') return { decision: verdict.data.decision, text: result }
  return { decision: verdict.data, text: JSON.stringify({ decision: verdict.data }) }
}

function requireDocument({ accessDecision }: PolicyContext): string {
  if (accessDecision !== undefined) return accessDecision
  throw new AppError(
    'not_found',
    'No document answers access evaluations. Set policies.accessDecision to the path of a rule.',
  )
}

function send(exchange: Exchange, text: string): void {
  exchange.send(200, `${text}\n`, JSON_TYPE)
}
