import { AppError, toAppError } from '../../errors/app-error.js'
import { mergeJson, readMergeValue } from '../../lib/json/edit/merge-json.js'
import { OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { errorAnswer, errorBody } from '../exchange/error-body.js'
import { mergedTooLarge } from '../exchange/body-errors.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody } from '../input/read-body.js'
import { checkParsable, checkedJson } from '../input/read-json-body.js'
import { decideDocument } from './data-api.js'
import { prettyJson, sendNegotiated } from './data-answer.js'
import { parseDataQuery, resolveDataPath, searchParams, yamlToJson } from './data-query.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'

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
 * waits for its turn like a request. Responds with 200; with 207 if some evaluations failed, and 500
 * if all did.
 */
export async function answerBatch(context: PolicyContext, exchange: Exchange, path: string): Promise<void> {
  const parameters = searchParams(exchange)
  const query = parseDataQuery(parameters)
  const rawPath = resolveDataPath(path, parameters)
  const body = await yamlToJson(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const inputs = readInputs(checkedJson(body), context.maxBodyBytes)
  const batchId = context.nextDecisionId(Date.now())
  const items: Item[] = []
  for (const [id, input] of inputs) {
    await exchange.takeTurn(0)
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
    const error = toAppError(raw)
    return {
      id,
      status: errorAnswer(error).status,
      members: [decisionId, JSON.stringify(errorBody(error)).slice(1, -1)],
    }
  }
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
