import { AppError, toAppError } from '../../errors/app-error.js'
import { mergeJson } from '../../lib/json/edit/merge-json.js'
import { locateValue } from '../../lib/json/scan/locate-value.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { Exchange } from '../exchange/exchange.js'
import { errorAnswer } from '../exchange/error-body.js'
import { readBody } from '../input/read-body.js'
import { decideDocument } from './data-api.js'
import { prettyJson, sendNegotiated } from './data-answer.js'
import { parseDataQuery, resolveDataPath, searchParams, yamlToJson } from './data-query.js'
import { Decision } from './decision.js'
import type { PolicyContext } from './decision.js'

/** Maximum number of inputs in a batch. */
const MAX_INPUTS = 1000
const [SOME_FAILED, ALL_FAILED] = [207, 500]

interface Batch {
  readonly inputs: ReadonlyMap<string, Uint8Array>
  readonly common: Uint8Array | undefined
}

interface Item {
  readonly id: string
  readonly failed: boolean
  /** JSON members without the braces. */
  readonly members: readonly string[]
}

/**
 * `POST /v1/batch/data/{path}`: evaluates one document with each of several inputs (the batch API
 * of Enterprise OPA, which OPA's client libraries call). Each input is a decision of its own.
 * Responds with 200; with 207 if some evaluations failed, and 500 if all did.
 */
export async function answerBatch(context: PolicyContext, exchange: Exchange, path: string): Promise<void> {
  const parameters = searchParams(exchange)
  const query = parseDataQuery(parameters)
  const rawPath = resolveDataPath(path, parameters)
  const body = await yamlToJson(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const { inputs, common } = readBatch(body)
  const batchId = context.nextDecisionId(Date.now())
  const turns = new ShortTurns()
  const items: Item[] = []
  for (const [id, own] of inputs) {
    const input = common === undefined ? own : mergeJson(common, own)
    const decision = new Decision(context, exchange, 'data', rawPath)
    items.push(await evaluateItem(decision, { id, rawPath, input, query }))
    await turns.pause()
  }
  const failures = items.filter(({ failed }) => failed).length
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
      failed: false,
      members: [decisionId, ...(result === undefined ? [] : [`"result":${result}`])],
    }
  } catch (raw) {
    const error: unknown = JSON.parse(errorAnswer(toAppError(raw)).body)
    return { id, failed: true, members: [decisionId, JSON.stringify(error).slice(1, -1)] }
  }
}

function statusOf(failures: number, count: number): number {
  if (failures === 0) return 200
  return failures < count ? SOME_FAILED : ALL_FAILED
}

/** Responses of a batch in which something failed have a status each. */
function itemText({ id, failed, members }: Item, status: number): string {
  const own = status === 200 ? [] : [`"http_status_code":"${failed ? ALL_FAILED : 200}"`]
  return `${JSON.stringify(id)}:{${[...members, ...own].join(',')}}`
}

/** Parses the body. Raises `invalid` with every problem. */
function readBatch(body: Uint8Array): Batch {
  const { start, end } = locateValue(body)
  const members = readMembers(body.subarray(start, end)) ?? new Map<string, Extent>()
  const part = (name: string): Uint8Array | undefined => {
    const extent = members.get(name)
    return extent === undefined ? undefined : body.subarray(start + extent.start, start + extent.end)
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
  const byId = [...extents].map(([id, at]) => [id, inputs.subarray(at.start, at.end)] as const)
  return { inputs: new Map(byId), common }
}
