import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { JSON_TYPE } from '../exchange/exchange.js'
import type { Exchange } from '../exchange/exchange.js'

const gzipAsync = promisify(gzip)
/** OPA's `server.encoding.gzip.min_length`. */
const MIN_GZIP_BYTES = 1024
const REFUSED = /gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)/
const VARY: readonly string[] = ['Vary', 'Accept-Encoding']

/** Sends a 200 of the Data API, gzipped when the caller takes that and the body is worth it. */
export function sendNegotiated(exchange: Exchange, body: string): void | Promise<void> {
  if (body.length >= MIN_GZIP_BYTES && acceptsGzip(exchange)) return sendPacked(exchange, body)
  exchange.send(200, body, JSON_TYPE, VARY)
}

async function sendPacked(exchange: Exchange, body: string): Promise<void> {
  exchange.send(200, await gzipAsync(body), JSON_TYPE, [...VARY, 'Content-Encoding', 'gzip'])
}

function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.header('accept-encoding')
  return accepted?.includes('gzip') === true && !REFUSED.test(accepted)
}
