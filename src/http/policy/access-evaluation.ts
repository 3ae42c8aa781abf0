import { z } from 'zod'

import { AppError, toAppError } from '../../errors/app-error.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { errorAnswer } from '../exchange/error-body.js'
import type { Exchange } from '../exchange/exchange.js'
import { JSON_TYPE } from '../exchange/exchange.js'
import { parseJsonBody } from '../input/read-json-body.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'
import { planFor } from './plan-cache.js'

/** Maximum number of evaluations in one request. */
const MAX_EVALUATIONS = 1000

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
type Answer = z.output<typeof AccessAnswer>

/**
 * `POST /access/v1/evaluation` (AuthZEN 1.0, 6): evaluates `policies.accessDecision` with the
 * request as input.
 */
export async function answerAccessEvaluation(context: PolicyContext, exchange: Exchange): Promise<void> {
  const path = requireDocument(context)
  const { bytes } = await parseJsonBody(exchange, AccessRequest, context.maxBodyBytes)
  send(exchange, await evaluate(context, exchange, path, bytes))
}

/**
 * `POST /access/v1/evaluations` (AuthZEN 1.0, 7). An evaluation that fails is a denial with the
 * error in its context. Without `evaluations` the request is a single one.
 */
export async function answerAccessEvaluations(context: PolicyContext, exchange: Exchange): Promise<void> {
  const path = requireDocument(context)
  const { bytes, body } = await parseJsonBody(exchange, AccessRequests, context.maxBodyBytes)
  const { evaluations = [], options, ...defaults } = body
  if (evaluations.length === 0) {
    readBySchema(AccessRequest, body, { name: 'the body', code: 'invalid_field' })
    send(exchange, await evaluate(context, exchange, path, bytes))
    return
  }
  const endsOn = { execute_all: undefined, deny_on_first_deny: false, permit_on_first_permit: true }
  const last = endsOn[options?.evaluations_semantic ?? 'execute_all']
  const turns = new ShortTurns()
  const answers: Answer[] = []
  for (const own of evaluations) {
    const answer = await evaluateItem(context, exchange, path, { ...defaults, ...own })
    answers.push(answer)
    if (answer.decision === last) break
    await turns.pause()
  }
  send(exchange, { evaluations: answers })
}

async function evaluateItem(
  context: PolicyContext,
  exchange: Exchange,
  path: string,
  request: unknown,
): Promise<Answer> {
  try {
    readBySchema(AccessRequest, request, { name: 'the evaluation', code: 'invalid_field' })
    return await evaluate(context, exchange, path, Buffer.from(JSON.stringify(request)))
  } catch (raw) {
    const { status, body } = errorAnswer(toAppError(raw))
    const { message } = z.looseObject({ message: z.string() }).parse(JSON.parse(body))
    return { decision: false, context: { error: { status, message } } }
  }
}

/** Undefined is a denial. A built-in that fails is an error, as for all verdicts. */
async function evaluate(
  context: PolicyContext,
  exchange: Exchange,
  path: string,
  input: Uint8Array,
): Promise<Answer> {
  const decision = new Decision(context, exchange, 'data', path)
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

function readVerdict(path: string, result: string | undefined): Answer {
  if (result === undefined) return { decision: false }
  const verdict = Verdict.safeParse(JSON.parse(result))
  if (verdict.success) return typeof verdict.data === 'boolean' ? { decision: verdict.data } : verdict.data
  throw new AppError(
    'evaluation_failed',
    `data/${path} must be true, false or an object with a boolean "decision" (policies.accessDecision)`,
  )
}

function requireDocument({ accessDecision }: PolicyContext): string {
  if (accessDecision !== undefined) return accessDecision
  throw new AppError(
    'not_found',
    'No document answers access evaluations. Set policies.accessDecision to the path of a rule.',
  )
}

function send(exchange: Exchange, answer: object): void {
  exchange.send(200, `${JSON.stringify(answer)}\n`, JSON_TYPE)
}
