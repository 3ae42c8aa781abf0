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
import type { Snapshot } from '../../rego/index.js'
import type { DataQuery } from './data-query.js'
import { JSON_TYPE } from '../exchange/exchange.js'
import type { Exchange } from '../exchange/exchange.js'

/** OPA's warning for a POST whose `input` is missing or null. */
const MISSING_INPUT = '{"code":"api_usage_warning","message":"\'input\' key missing from the request"}'

/** Durations of a decision in nanoseconds, and its evaluation cost. */
export interface Timings {
  readonly evalNs: number
  readonly handlerNs: number
  /** Loop iterations, counted against `policies.limits.loopIterations`. */
  readonly fuel: number
  readonly instancesReplaced: number
}

/** A Data API response. */
export interface DataAnswer {
  readonly decisionId: string | undefined
  /** JSON; undefined for an undefined document. */
  readonly result: string | undefined
  readonly isInputMissing: boolean
  /** Texts of the explanation; undefined if none was requested. */
  readonly explanation: readonly string[] | undefined
  /** Present only if metrics were requested. */
  readonly timings: Timings | undefined
  readonly snapshot: Snapshot
  readonly version: string
}

/** Returns the response body as one line of JSON, with members in OPA's order. */
export function dataAnswerBody(answer: DataAnswer, query: DataQuery): string {
  const members: string[] = []
  if (answer.decisionId !== undefined) members.push(`"decision_id":"${answer.decisionId}"`)
  if (query.provenance) members.push(`"provenance":${provenance(answer)}`)
  if (answer.explanation !== undefined) members.push(`"explanation":${events(answer.explanation, query)}`)
  if (answer.timings !== undefined) members.push(`"metrics":${metrics(answer.timings)}`)
  if (answer.result !== undefined) members.push(`"result":${answer.result}`)
  if (answer.isInputMissing) members.push(`"warning":${MISSING_INPUT}`)
  const compact = `{${members.join(',')}}`
  return `${query.pretty ? prettyJson(compact) : compact}\n`
}

const NO_EXPRESSION = '{"index":0,"terms":{"type":"boolean","value":true}}'

/**
 * Returns the explanation in the format of OPA's trace: lines if `pretty` is set, otherwise notes with
 * an expression.
 */
function events(texts: readonly string[], { pretty }: DataQuery): string {
  const found = pretty
    ? texts.flatMap((text) => text.split('\n')).map((line) => goJsonString(line))
    : texts.map(
        (text) =>
          `{"op":"note","query_id":0,"parent_id":0,"type":"expr","node":${NO_EXPRESSION},"locals":[],"message":${goJsonString(text)}}`,
      )
  return `[${found.join(',')}]`
}

/**
 * Maximum size of indented output. Indentation makes deeply nested lists thousands of times longer.
 */
const MAX_PRETTY_BYTES = 4 * 1024 * 1024
/** Maximum size of JSON to indent; indenting more would block other requests. */
const MAX_COMPACT_BYTES = 1024 * 1024

/**
 * Indents JSON by two spaces per level, or returns it unchanged if the result would be too long.
 */
export function prettyJson(compact: string): string {
  const bytes = Buffer.from(compact)
  if (bytes.length > MAX_COMPACT_BYTES || prettyLength(bytes) > MAX_PRETTY_BYTES) return compact
  return canonicalJson(bytes, 0, bytes.length, { pretty: true }).toString()
}

/** Returns an upper bound for the size of indented JSON, in bytes. */
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

/** Queries are compiled at load time, so there is no parse or compile time to report. */
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

/** Sends a 200 response, gzipped if the client accepts it and the body is large enough. */
export async function sendNegotiated(exchange: Exchange, body: string, status = 200): Promise<void> {
  if (body.length >= MIN_GZIP_BYTES && acceptsGzip(exchange)) {
    exchange.send(status, await gzipAsync(body), JSON_TYPE, [...VARY, 'Content-Encoding', 'gzip'])
  } else exchange.send(status, body, JSON_TYPE, VARY)
}

/** Whether the client accepts a gzipped response. */
export function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.header('accept-encoding')
  return accepted?.includes('gzip') === true && !REFUSED.test(accepted)
}
