import { z } from 'zod'
import { AppError, toAppError } from '../../errors/app-error.js'
import { mergeJson, readMergeValue } from '../../lib/json/edit/merge-json.js'
import { OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { mergedTooLarge } from '../exchange/body-errors.js'
import { errorAnswer, errorBody } from '../exchange/error-body.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody } from '../input/read-body.js'
import { checkParsable, checkedJson } from '../input/read-json-body.js'
import { WarningAnswer, json } from '../pipeline/answer-schemas.js'
import { routesOf } from '../pipeline/define-routes.js'
import type { AnswerDescription, DirectRow, Route } from '../pipeline/route.js'
import {
  AccessAnswer,
  AccessRequest,
  AccessRequests,
  answerAccessEvaluation,
  answerAccessEvaluations,
} from './access-evaluation.js'
import { prettyJson, sendNegotiated } from './data-answer.js'
import { answerBareDocument, answerDataGet, answerDataPost, decideDocument } from './data-api.js'
import { parseDataQuery, resolveDataPath, searchParams, yamlToJson } from './data-query.js'
import { Decision } from './decision.js'
import { isOverTime, overTime } from './request-time.js'
import type { PolicyContext } from './decision.js'
import { answerStaticPolicy } from './verdicts.js'

/** Maximum number of inputs in a batch. */
const MAX_INPUTS = 1000
const [SOME_FAILED, ALL_FAILED] = [207, 500]

interface Item {
  readonly id: string
  /** The status that the evaluation alone would have. */
  readonly status: number
  /** JSON members without the braces. */
  readonly members: readonly string[]
}

/**
 * `POST /v1/batch/data/{path}`: evaluates one document with each of several inputs (the batch API
 * of Enterprise OPA, which OPA's client libraries call). Each input is a decision of its own, and
 * waits for its turn like a request. After the time of a request the others fail without an
 * evaluation. Responds with 200; with 207 if some evaluations failed, and 500
 * if all did.
 */
async function answerBatch(context: PolicyContext, exchange: Exchange, path: string): Promise<void> {
  const parameters = searchParams(exchange)
  const query = parseDataQuery(parameters)
  const rawPath = resolveDataPath(path, parameters)
  const body = await yamlToJson(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const inputs = readInputs(checkedJson(body), context.maxBodyBytes)
  const batchId = context.nextDecisionId(Date.now())
  const items: Item[] = []
  for (const [id, input] of inputs) {
    await exchange.takeTurn(0)
    if (items.length > 0 && isOverTime(context, exchange)) {
      items.push(failedItem(id, overTime(context)))
      continue
    }
    const bytes = input()
    const decision = new Decision(context, exchange, 'data', rawPath, bytes)
    items.push(await evaluateItem(decision, { id, rawPath, input: bytes, query }))
  }
  const failures = items.filter(({ status }) => status !== 200).length
  const status = statusOf(failures, items.length)
  const text = `{"batch_decision_id":"${batchId}","responses":{${items.map((item) => itemText(item, status)).join(',')}}}`
  await sendNegotiated(exchange, `${query.pretty ? prettyJson(text) : text}\n`, status)
}

async function evaluateItem(
  decision: Decision,
  { id, ...request }: { readonly id: string } & Parameters<typeof decideDocument>[1],
): Promise<Item> {
  const decisionId = `"decision_id":"${decision.id}"`
  try {
    const { result } = await decideDocument(decision, request)
    return {
      id,
      status: 200,
      members: [decisionId, ...(result === undefined ? [] : [`"result":${result}`])],
    }
  } catch (raw) {
    return failedItem(id, toAppError(raw), [decisionId])
  }
}

function failedItem(id: string, error: AppError, members: readonly string[] = []): Item {
  const { status } = errorAnswer(error)
  return { id, status, members: [...members, JSON.stringify(errorBody(error)).slice(1, -1)] }
}

function statusOf(failures: number, count: number): number {
  if (failures === 0) return 200
  return failures < count ? SOME_FAILED : ALL_FAILED
}

/** Responses of a batch in which something failed have a status each. */
function itemText({ id, status, members }: Item, ofAll: number): string {
  const own = ofAll === 200 ? [] : [`"http_status_code":"${status}"`]
  return `${JSON.stringify(id)}:{${[...members, ...own].join(',')}}`
}

/**
 * Returns the inputs by id, each merged with `common_input` when it is called. Raises `invalid` with
 * every problem, and `too_large` if the merged inputs exceed `maxBytes` in total.
 */
function readInputs(body: Uint8Array, maxBytes: number): ReadonlyMap<string, () => Uint8Array> {
  const members = readMembers(body)
  const part = (name: string): Uint8Array | undefined => {
    const extent = members?.get(name)
    return extent === undefined ? undefined : body.subarray(extent.start, extent.end)
  }
  const [inputs, common] = [part('inputs'), part('common_input')]
  const extents = inputs === undefined ? undefined : readMembers(inputs)
  const problems: string[] = []
  if (inputs === undefined || extents === undefined)
    problems.push('inputs must be an object of inputs by id, such as {"inputs": {"a": {"user": "ana"}}}')
  else if (extents.size > MAX_INPUTS)
    problems.push(`inputs may have ${MAX_INPUTS} members and has ${extents.size}: send several batches`)
  if (common !== undefined && common[0] !== OPEN_OBJECT) problems.push('common_input must be an object')
  if (inputs === undefined || extents === undefined || problems.length > 0)
    throw new AppError('invalid', problems.join('; '))
  const texts = [...extents].map(([id, { start, end }]) => [id, inputs.subarray(start, end)] as const)
  if (common === undefined) return new Map(texts.map(([id, own]) => [id, () => own]))
  checkParsable(body)
  if (inputs.length + texts.length * common.length > maxBytes) throw mergedTooLarge('common_input', maxBytes)
  const base = readMergeValue(common)
  return new Map(texts.map(([id, own]) => [id, () => mergeJson(base, readMergeValue(own))]))
}

const Packages = z
  .array(z.object({ package: z.string(), deny: z.array(z.string()) }))
  .optional()
  .describe('With `explain=packages`: each denying package with its reasons.')
const Warnings = z
  .array(WarningAnswer)
  .optional()
  .describe('Reasons that do not deny. Absent if there are none.')
const Allowed = z.object({
  status: z.literal('ALLOW'),
  code: z.literal('policy_allowed'),
  message: z.string(),
  decisionId: z.string(),
  warnings: Warnings,
  packages: Packages,
})
const Denied = z.object({
  status: z.literal('DENY'),
  code: z.literal('policy_denied'),
  message: z.string(),
  decisionId: z.string(),
  deny: z.array(z.string()),
  warnings: Warnings,
  packages: Packages,
})
const DENIED = json('A policy denies.', Denied)
const DataAnswer = z.looseObject({
  result: z.unknown().describe('Absent for an undefined document.'),
  decision_id: z.string().optional(),
  warning: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})

const Switch = z.string().optional()
const DataQuery = z.looseObject({
  pretty: Switch.describe('Indents the response. Like all flags, it is on if empty or true.'),
  metrics: Switch.describe('Adds the duration of the decision.'),
  provenance: Switch.describe('Adds the policies that decided.'),
  explain: Switch.describe(
    'Adds why the document has no value, and for callers with the role auditor or author its rules: `notes` those that fired, `fails` those that did not, `full` both. `packages` adds the denying packages to a verdict.',
  ),
  'strict-builtin-errors': Switch.describe('Makes failing built-ins errors.'),
})
const StaticQuery = z.looseObject({
  explain: Switch.describe('`packages` adds the denying packages.'),
  'strict-builtin-errors': Switch.describe(
    'Makes failing built-ins errors, whatever `policies.strictBuiltinErrors` is.',
  ),
})
const InputQuery = DataQuery.extend({ input: z.string().optional().describe('The input, as JSON.') })
const PostQuery = DataQuery.extend({
  requestUri: z.string().optional().describe('The real path, if the request path is the literal **.'),
})

const BatchBody = z.looseObject({
  inputs: z.record(z.string(), z.unknown()).describe('Inputs by id.'),
  common_input: z
    .looseObject({})
    .optional()
    .describe('Merged deeply into each input; members of the input take precedence.'),
})
const BatchAnswer = z.looseObject({
  batch_decision_id: z.string(),
  responses: z.record(z.string(), z.looseObject({ decision_id: z.string().optional(), result: z.unknown() })),
})

const JSON_OR_YAML = ['application/json', 'application/yaml']
const DATA_BODY = {
  description:
    'The input in `input`; or, with `executionId` or `payloadConstraint` and without `input`, the whole body as input of a verdict.',
  schema: z.looseObject({ input: z.unknown() }),
  types: JSON_OR_YAML,
  isOptional: true,
} as const
const BARE_BODY = {
  description: 'The input itself; null if empty.',
  schema: z.unknown(),
  types: JSON_OR_YAML,
  isOptional: true,
} as const

/** Headers of Data API responses and errors, which depend on Accept-Encoding. */
const NEGOTIATED = ['Vary', 'Accept-Encoding']
const ORCHESTRATOR = { roles: ['orchestrator'], reserves401ForDenials: true } as const
const UNDEFINED: AnswerDescription = { description: 'The document is undefined.' }
const BARE_ANSWERS = { 200: json('The document.', z.unknown()), 404: UNDEFINED }
const NO_ACCESS_DECISION: AnswerDescription = { description: '`policies.accessDecision` is not set.' }
const { directRoute } = routesOf<PolicyContext>()

/** Decision routes: OPA's Data API, with the orchestrator's flat body, and static policies. */
export const policyRoutes: readonly Route<PolicyContext>[] = [
  ...withPathsBelow('/v1/data', (path) => ({
    ...ORCHESTRATOR,
    method: 'POST',
    path,
    handler: 'v1/data',
    summary: 'Evaluate a document or a verdict',
    query: PostQuery,
    body: DATA_BODY,
    answers: {
      200: json('The document, or an allow.', z.union([Allowed, DataAnswer])),
      401: DENIED,
    },
    errorHeaders: NEGOTIATED,
    answerOn: answerDataPost,
  })),
  ...withPathsBelow('/v1/data', (path) => ({
    ...ORCHESTRATOR,
    method: 'GET',
    path,
    handler: 'v1/data',
    summary: 'Evaluate a document',
    query: InputQuery,
    answers: { 200: json('The document.', DataAnswer) },
    errorHeaders: NEGOTIATED,
    answerOn: answerDataGet,
  })),
  directRoute({
    ...ORCHESTRATOR,
    method: 'POST',
    path: '/v1/staticPolicy/eval',
    showsErrors: true,
    handler: 'v1/staticPolicy',
    summary: 'Evaluate all static policies',
    query: StaticQuery,
    body: {
      schema: z.looseObject({
        input: z.union([z.looseObject({}), z.string()]).describe('An object, or a string that contains one.'),
      }),
    },
    answers: { 200: json('All policies allow.', Allowed), 401: DENIED },
    answerOn: answerStaticPolicy,
  }),
  directRoute({
    roles: ORCHESTRATOR.roles,
    method: 'POST',
    path: '/v1/batch/data/*',
    handler: 'v1/batch/data',
    summary: 'Evaluate a document with each of several inputs',
    query: DataQuery,
    body: { schema: BatchBody, types: JSON_OR_YAML },
    answers: {
      200: json('The document for each input.', BatchAnswer),
      207: json('Some evaluations failed.', BatchAnswer),
      500: json('All evaluations failed.', BatchAnswer),
    },
    errorHeaders: NEGOTIATED,
    answerOn: answerBatch,
  }),
  directRoute({
    roles: ORCHESTRATOR.roles,
    method: 'POST',
    path: '/access/v1/evaluation',
    handler: 'access/v1/evaluation',
    summary: 'Evaluate an access request (AuthZEN 1.0)',
    body: { schema: AccessRequest },
    answers: { 200: json('The decision.', AccessAnswer), 404: NO_ACCESS_DECISION },
    answerOn: answerAccessEvaluation,
  }),
  directRoute({
    roles: ORCHESTRATOR.roles,
    method: 'POST',
    path: '/access/v1/evaluations',
    handler: 'access/v1/evaluations',
    summary: 'Evaluate several access requests (AuthZEN 1.0)',
    body: { schema: AccessRequests },
    answers: {
      200: json(
        'A decision for each request.',
        z.union([z.object({ evaluations: z.array(AccessAnswer) }), AccessAnswer]),
      ),
      404: NO_ACCESS_DECISION,
    },
    answerOn: answerAccessEvaluations,
  }),
  ...withPathsBelow('/v0/data', (path) => ({
    ...ORCHESTRATOR,
    method: 'POST',
    path,
    handler: 'v0/data',
    summary: 'Evaluate a document; the body is the input, the response the bare document',
    query: DataQuery,
    body: BARE_BODY,
    answers: BARE_ANSWERS,
    errorHeaders: NEGOTIATED,
    answerOn: (context, exchange, rest) => answerBareDocument(context, exchange, rest, 'data'),
  })),
]

/** `POST /`, the default decision. */
export const defaultDecisionRoutes: readonly Route<PolicyContext>[] = [
  directRoute({
    ...ORCHESTRATOR,
    method: 'POST',
    path: '/',
    handler: 'index',
    summary: 'Evaluate the default decision; the body is the input, the response the bare document',
    query: DataQuery,
    body: BARE_BODY,
    answers: BARE_ANSWERS,
    answerOn: (context, exchange) =>
      answerBareDocument(context, exchange, context.defaultDecision, 'default'),
  }),
]

/**
 * Creates a row for a path, which stands for the whole of `data`, and a row for everything below
 * it.
 */
function withPathsBelow(
  path: string,
  row: (path: string) => DirectRow<PolicyContext>,
): readonly Route<PolicyContext>[] {
  return [directRoute(row(path)), directRoute(row(`${path}/*`))]
}
