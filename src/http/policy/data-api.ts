import { AppError, toAppError } from '../../errors/app-error.js'
import {
  explainUndefined,
  printDataRef,
  type DocumentPlan,
  type ExplainMode,
  type Snapshot,
} from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody } from '../input/read-body.js'
import { dataAnswerBody, prettyJson, sendNegotiated } from './data-answer.js'
import type { Timings } from './data-answer.js'
import {
  resolveDataPath,
  parseDataQuery,
  searchParams,
  parseInputBody,
  parseInputParameter,
  yamlToJson,
} from './data-query.js'
import type { DataQuery } from './data-query.js'
import { Decision } from './decision.js'
import type { Outcome, PolicyContext } from './decision.js'
import { planFor, rememberedPlan } from './plan-cache.js'
import { answerRuntimePolicy, readFlatBody } from './verdicts.js'
import { locateInput } from '../../lib/json/scan/locate-input.js'

/** A request for a document. */
interface DocumentRequest {
  readonly rawPath: string
  readonly input: Uint8Array | undefined
  readonly isInputMissing: boolean
  readonly query: DataQuery
}

/** `POST /v1/data/{path}`, in OPA's dialect or with the orchestrator's flat body. */
export async function answerDataPost(
  context: PolicyContext,
  exchange: Exchange,
  path: string,
): Promise<void> {
  const parameters = searchParams(exchange)
  const rawPath = resolveDataPath(path, parameters)
  const body = await yamlToJson(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const input = readRequestInput(context.policies.current, rawPath, body)
  const flat = readFlatBody(body, input)
  if (flat !== undefined) {
    await answerRuntimePolicy(context, exchange, rawPath, body, flat)
    return
  }
  const query = parseDataQuery(parameters)
  await answerDocument(context, exchange, { rawPath, input, isInputMissing: input === undefined, query })
}

/** `GET /v1/data/{path}`. The query may contain the raw input document. */
export async function answerDataGet(context: PolicyContext, exchange: Exchange, path: string): Promise<void> {
  const parameters = searchParams(exchange)
  const query = parseDataQuery(parameters)
  const input = query.input === undefined ? undefined : parseInputParameter(query.input)
  const rawPath = resolveDataPath(path, parameters)
  await answerDocument(context, exchange, { rawPath, input, isInputMissing: false, query })
}

/**
 * `POST /v0/data/{path}` and `POST /`. The body is the input, the response is the bare value, and
 * an undefined document is 404.
 */
export async function answerBareDocument(
  context: PolicyContext,
  exchange: Exchange,
  rawPath: string,
  kind: 'data' | 'default',
): Promise<void> {
  const query = parseDataQuery(searchParams(exchange))
  const input = await parseInputBody(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const decision = new Decision(context, exchange, kind, rawPath, input)
  const { result } = await decideDocument(decision, { rawPath, input, query })
  if (result === undefined) throw undefinedDocument(planFor(decision.snapshot, rawPath))
  await sendNegotiated(exchange, `${query.pretty ? prettyJson(result) : result}\n`)
}

async function answerDocument(
  context: PolicyContext,
  exchange: Exchange,
  request: DocumentRequest,
): Promise<void> {
  const { query } = request
  const decision = new Decision(context, exchange, 'data', request.rawPath, request.input)
  const evalStartNs = query.metrics ? decision.elapsedNs : 0
  decision.wantsCost = query.metrics
  const made = await decideDocument(decision, request)
  const { result } = made
  const answer = {
    decisionId: context.isLogging ? decision.id : undefined,
    result,
    isInputMissing: request.isInputMissing,
    timings: query.metrics ? timings(evalStartNs, decision) : undefined,
    snapshot: decision.snapshot,
    version: context.version,
  }
  const explanation =
    query.explain && (await explainDocument(context, exchange, { decision, request, made }, query.explain))
  await sendNegotiated(exchange, dataAnswerBody({ ...answer, explanation }, query))
}

/** Evaluates the document at a path and records the decision. */
export function decideDocument(
  decision: Decision,
  { rawPath, input, query }: Pick<DocumentRequest, 'rawPath' | 'input' | 'query'>,
): Promise<Outcome> {
  return decision.decide<string | undefined, Outcome>(
    input,
    (evaluations, options) => evaluations.document(planFor(decision.snapshot, rawPath), input, options),
    (result) => ({ outcome: result === undefined ? 'undefined' : 'defined', result }),
    query.strictBuiltinErrors,
  )
}

interface MadeDecision {
  readonly decision: Decision
  readonly request: DocumentRequest
  readonly made: Outcome
}

/**
 * Returns texts about an undefined document, and about the rules of a document. Those show policies
 * and data, so the caller needs a role that may read them. The decision has been made and recorded; a
 * failed explanation is a text.
 */
async function explainDocument(
  { explain }: PolicyContext,
  { caller: { isAdmin, roles = [] } }: Exchange,
  { decision, request: { rawPath, input }, made }: MadeDecision,
  mode: ExplainMode,
): Promise<readonly string[]> {
  const { path } = planFor(decision.snapshot, rawPath)
  // Does not search data members, of which there may be millions.
  const notes = made.result === undefined ? [explainUndefined(decision.snapshot, path, false)] : []
  if (explain === undefined) return notes
  if (!isAdmin && !EXPLAINING_ROLES.some((role) => roles.includes(role))) return [...notes, NEEDS_ROLE]
  try {
    const explanation = await explain(decision.explainable(input, made), { mode })
    const { ruleTexts } = await import('../../explain/explanation-text.js')
    return [...notes, ...explanation.notes.map(({ message }) => message), ...ruleTexts(explanation)]
  } catch (raw) {
    const error = toAppError(raw)
    if (error.kind === 'internal') throw error
    return [...notes, error.message]
  }
}

const EXPLAINING_ROLES = ['auditor', 'author'] as const
const NEEDS_ROLE = 'The rules are explained to callers with the role auditor or author.'

function timings(evalStartNs: number, { elapsedNs, fuel, instancesReplaced }: Decision): Timings {
  return { evalNs: elapsedNs - evalStartNs, handlerNs: elapsedNs, fuel, instancesReplaced }
}

/** OPA distinguishes an undefined rule from an unknown path. */
function undefinedDocument({ path, target }: DocumentPlan): AppError {
  const problem = target?.entrypoint.kind === 'rule' ? 'undefined' : 'missing'
  return new AppError('not_found', `document ${problem}: ${printDataRef(path)}`, {
    code: 'undefined_document',
  })
}

/**
 * Returns the `input` of a Data API body as UTF-8; undefined if it is missing or null. If the
 * module for the path is known, it parses the input into its memory right away. Raises the errors
 * of `locateInput`.
 */
function readRequestInput(snapshot: Snapshot, rawPath: string, body: Uint8Array): Uint8Array | undefined {
  const taken = rememberedPlan(snapshot, rawPath)?.target?.entrypoint.module.readRequest(body)
  if (taken !== undefined) return taken
  const extent = locateInput(body)
  return extent === undefined ? undefined : body.subarray(extent.start, extent.end)
}
