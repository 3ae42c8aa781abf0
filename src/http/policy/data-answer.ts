import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { canonicalJson } from '../../lib/json/edit/canonical.js'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../lib/json/scan/json-bytes.js'
import { goJsonString } from '../../lib/json/text/escape.js'
import { type Snapshot } from '../../rego/index.js'
import type { DataQuery } from './data-query.js'
import { JSON_TYPE } from '../exchange/exchange.js'
import type { Exchange } from '../exchange/exchange.js'

/** OPA's text when a POST has no `input` member, or a null one. */
const MISSING_INPUT = '{"code":"api_usage_warning","message":"\'input\' key missing from the request"}'

/** What a decision took: the evaluation alone and all of it in nanoseconds, and its cost whatever the machine. */
export interface Timings {
  readonly evalNs: number
  readonly handlerNs: number
  /** What the evaluation took of `policies.limits.loopIterations`. */
  readonly fuel: number
  readonly instancesReplaced: number
}

/** What an answer of the Data API can hold. */
export interface DataAnswer {
  readonly decisionId: string | undefined
  /** JSON text; undefined when the document is. */
  readonly result: string | undefined
  readonly isInputMissing: boolean
  /** Why there is no value, told to whoever asks for an explanation. */
  readonly explanation: string | undefined
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
  if (query.explain) members.push(`"explanation":[${note(answer, query)}]`)
  if (answer.timings !== undefined) members.push(`"metrics":${metrics(answer.timings)}`)
  if (answer.result !== undefined) members.push(`"result":${answer.result}`)
  if (answer.isInputMissing) members.push(`"warning":${MISSING_INPUT}`)
  const compact = `{${members.join(',')}}`
  return `${query.pretty ? prettyJson(compact) : compact}\n`
}

/** The note as OPA tells what a policy traces: a line in an answer that is laid out, else an event about an expression. */
function note({ explanation }: DataAnswer, { pretty }: DataQuery): string {
  if (explanation === undefined) return ''
  if (pretty) return goJsonString(`query:1  | Note ${JSON.stringify(explanation)}`)
  const expression = '{"index":0,"terms":{"type":"boolean","value":true}}'
  return `{"op":"note","query_id":0,"parent_id":0,"type":"expr","node":${expression},"locals":[],"message":${goJsonString(explanation)}}`
}

/** Laid out, an answer may have so many bytes: deeply nested lists become thousands of times as long. */
const MAX_PRETTY_BYTES = 4 * 1024 * 1024
/** Whoever reads an answer reads less than this; laying it out would hold others up. */
const MAX_COMPACT_BYTES = 1024 * 1024

/** JSON text with two spaces per level; as it is where that would become too long. */
export function prettyJson(compact: string): string {
  const bytes = Buffer.from(compact)
  if (bytes.length > MAX_COMPACT_BYTES || prettyLength(bytes) > MAX_PRETTY_BYTES) return compact
  return canonicalJson(bytes, 0, bytes.length, { pretty: true }).toString()
}

/** How many bytes JSON has at the most when it is laid out. */
function prettyLength(bytes: Uint8Array): number {
  let depth = 0
  let length = 0
  let isText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    length += 1
    if (byte === BACKSLASH && isText) {
      at += 1
      length += 1
    } else if (byte === QUOTE) isText = !isText
    else if (isText) continue
    else if (byte === COMMA) length += 1 + 2 * depth
    else if (byte === COLON) length += 1
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) length += 1 + 2 * ++depth
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) length += 1 + 2 * --depth
  }
  return length
}

/** Queries are compiled when the policies load, so there is no parse or compile time to tell. */
function metrics({ evalNs, handlerNs, fuel, instancesReplaced }: Timings): string {
  return JSON.stringify({
    counter_evaluation_fuel: fuel,
    counter_evaluator_instances_replaced: instancesReplaced,
    counter_server_query_cache_hit: 1,
    timer_rego_query_eval_ns: evalNs,
    timer_server_handler_ns: handlerNs,
  })
}

function provenance({ snapshot, version }: DataAnswer): string {
  const bundles = Object.fromEntries(snapshot.sources.map(({ name, revision }) => [name, { revision }]))
  return JSON.stringify({ version, build_commit: '', build_timestamp: '', build_hostname: '', bundles })
}

const gzipAsync = promisify(gzip)
/** OPA's `server.encoding.gzip.min_length`. */
const MIN_GZIP_BYTES = 1024
const REFUSED = /gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)/
const VARY: readonly string[] = ['Vary', 'Accept-Encoding']

/** Sends a 200 of the Data API, gzipped when the caller takes that and the body is worth it. */
export async function sendNegotiated(exchange: Exchange, body: string): Promise<void> {
  if (body.length >= MIN_GZIP_BYTES && acceptsGzip(exchange)) {
    exchange.send(200, await gzipAsync(body), JSON_TYPE, [...VARY, 'Content-Encoding', 'gzip'])
  } else exchange.send(200, body, JSON_TYPE, VARY)
}

function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.header('accept-encoding')
  return accepted?.includes('gzip') === true && !REFUSED.test(accepted)
}
