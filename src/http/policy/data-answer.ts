import { canonicalJson } from '../../lib/json/edit/canonical.js'
import type { Snapshot } from '../../pdp/snapshot/snapshot.js'
import type { DataQuery } from './data-query.js'

/** OPA's text when a POST has no `input` member, or a null one. */
const MISSING_INPUT = '{"code":"api_usage_warning","message":"\'input\' key missing from the request"}'

/** What a decision took, in nanoseconds: the evaluation alone, and all of it. */
export interface Timings {
  readonly evalNs: number
  readonly handlerNs: number
}

/** What an answer of the Data API can hold. */
export interface DataAnswer {
  readonly decisionId: string | undefined
  /** JSON text; undefined when the document is. */
  readonly result: string | undefined
  readonly isInputMissing: boolean
  /** Measured only when the caller asks for metrics. */
  readonly timings: Timings | undefined
  readonly snapshot: Snapshot
  readonly version: string
}

/** The body of a Data API answer: one line of JSON with its members in the order that OPA writes. */
export function dataAnswerBody(answer: DataAnswer, query: DataQuery): string {
  const members: string[] = []
  if (answer.decisionId !== undefined) members.push(`"decision_id":"${answer.decisionId}"`)
  if (query.provenance) members.push(`"provenance":${provenance(answer)}`)
  if (query.explain) members.push('"explanation":[]')
  if (answer.timings !== undefined) members.push(`"metrics":${metrics(answer.timings)}`)
  if (answer.result !== undefined) members.push(`"result":${answer.result}`)
  if (answer.isInputMissing) members.push(`"warning":${MISSING_INPUT}`)
  const compact = `{${members.join(',')}}`
  return `${query.pretty ? prettyJson(compact) : compact}\n`
}

/** JSON text with two spaces per level. */
export function prettyJson(compact: string): string {
  const bytes = Buffer.from(compact)
  return canonicalJson(bytes, 0, bytes.length, { pretty: true }).toString()
}

/** Queries are compiled when the policies load, so there is no parse or compile time to tell. */
function metrics({ evalNs, handlerNs }: Timings): string {
  return JSON.stringify({
    counter_server_query_cache_hit: 1,
    timer_rego_query_eval_ns: evalNs,
    timer_server_handler_ns: handlerNs,
  })
}

function provenance({ snapshot, version }: DataAnswer): string {
  const bundles = Object.fromEntries(snapshot.sources.map(({ name, revision }) => [name, { revision }]))
  return JSON.stringify({ version, build_commit: '', build_timestamp: '', build_hostname: '', bundles })
}
