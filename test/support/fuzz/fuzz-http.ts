import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'

import { seededRandom, mutate } from '../random-bytes.js'
import { allRoutes } from './routes.js'
import type { FuzzRoute } from './routes.js'

/** A request as bytes, and whether it is complete, so that a response is expected. */
export interface EvilRequest {
  readonly bytes: Buffer
  readonly isWhole: boolean
}

type Random = () => number

const TEXT = JSON.stringify({
  input: { new: { application: 'shop', stages: [{ type: 'wait', refId: '1' }] } },
  application: 'shop',
  executionId: 'e',
  eventId: 'one',
  name: 'n',
  action: 'approve',
  metrics: { source: 'a', canaryConfig: { metrics: [{ name: 'm' }] } },
  canaryDeployments: [{ canary: { metric: { shop: { template: 't' } } } }],
})
const BOMB = gzipSync(Buffer.alloc(16 * 1024 * 1024))
const BODIES: readonly (string | Buffer)[] = [
  '',
  'null',
  '[]',
  '[[[[',
  '['.repeat(5000),
  '{"a":'.repeat(5000),
  `${'['.repeat(3000)}${']'.repeat(3000)}`,
  `{${'"a":1,'.repeat(3000)}"b":2}`,
  '{"__proto__":{"x":1},"constructor":1,"toString":null}',
  `{"input":1e999999999,"executionId":${'9'.repeat(5000)}}`,
  '{"input":"\\ud800\\u0000"}',
  '- - - - a: &a [*a]\n',
  '&a [*a]',
  '%YAML 3.0\n---\n',
  Buffer.from([0xff, 0xfe, 0x00, 0x22]),
  BOMB,
]
const HEADERS: readonly string[] = [
  'Content-Encoding: gzip',
  'Content-Encoding: br, gzip',
  'Content-Type: application/yaml',
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=utf-7',
  'Authorization: Bearer x',
  'Authorization: Basic Og==',
  'X-Request-Id: %00{}"',
  'Accept: */*;q=nonsense, text/html',
  'Accept-Encoding: gzip;q=0, *',
  'X-Spinnaker-User: "><script>',
  'X-Gitlab-Token: no',
  'X-Forwarded-Host: [::1',
  `X-Long: ${'x'.repeat(6000)}`,
  'Expect: 200-maybe',
  'Upgrade: websocket',
]
const PATHS: readonly string[] = [
  '%',
  '%zz',
  '%2F',
  '%00',
  '..',
  '//',
  'é',
  '1e3',
  '-1',
  '9'.repeat(30),
  '*',
  ';',
  '__proto__',
]
const QUERIES: readonly string[] = [
  'limit=-1',
  'limit=1e9&cursor=x',
  'from=yesterday&to=9999999999999999999',
  'input=%7B%22a%22:[[[',
  'templateType=LOG&templateName=__proto__',
  'type=policy',
  'q=%22%22%22*&source=event',
  '&&&=&=',
  'pretty&metrics&provenance&explain=full',
  'expected=1:zz',
  'look=999999999',
]

/** One of very many requests: of a seed always the same. */
export function evilRequest(routes: readonly FuzzRoute[], random: Random): EvilRequest {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const route = pick(routes)
  const method =
    random() < 0.9 ? route.method : pick(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'])
  const path = random() < 0.3 ? oddPath(route.path, random, pick) : route.path
  const body = random() < 0.5 ? mutate(Buffer.from(TEXT), random) : Buffer.from(pick(BODIES))
  const extra = random() < 0.4 ? [pick(HEADERS)] : []
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...extra]
  const kind = random()
  if (kind < 0.75) {
    const lines = [...head, `Content-Length: ${body.length}`, 'Connection: close', '', '']
    return { bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]), isWhole: true }
  }
  const framed = Buffer.concat([
    Buffer.from([...head, framing(body, random, pick), '', ''].join('\r\n'), 'latin1'),
    body,
  ])
  return { bytes: kind < 0.85 ? framed : mutate(framed, random), isWhole: false }
}

function oddPath(path: string, random: Random, pick: <T>(from: readonly T[]) => T): string {
  if (random() < 0.5) return `${path}${path.includes('?') ? '&' : '?'}${pick(QUERIES)}`
  const [plain = '/', query] = path.split('?')
  const segments = plain.split('/')
  segments[Math.floor(random() * segments.length)] = pick(PATHS)
  return `/${segments.join('/')}${query === undefined ? '' : `?${query}`}`
}

/** Lengths that do not fit, twice, or contradict each other; chunks that are none. */
function framing(body: Buffer, random: Random, pick: <T>(from: readonly T[]) => T): string {
  return pick([
    `Content-Length: ${body.length + 1 + Math.floor(random() * 9)}`,
    `Content-Length: ${Math.floor(body.length / 2)}`,
    `Content-Length: ${body.length}\r\nContent-Length: ${body.length + 1}`,
    `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked`,
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, identity',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Content-Length: 0x10',
  ])
}

interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  readonly atOnce: number
}

interface FuzzOutcome {
  readonly sent: number
  /** Number of responses by status. 0 counts requests without an expected response. */
  readonly statuses: ReadonlyMap<number, number>
  /** Violations, with the request that caused them. */
  readonly complaints: readonly string[]
}

const NOT_DUE_MS = 150
const DUE_MS = 30_000
/** Answers of 500 that say why nothing was decided (docs/reference/api.md, "Errors"). */
const DOCUMENTED =
  /"code":\s?"(?:undefined_policy|evaluation_budget_exceeded)"|eval_(?:conflict|builtin)_error|rego_type_error|plugins are not up/

/**
 * Sends malformed requests to all routes of a service on loopback, some at a time, each over a
 * separate connection.
 */
export async function fuzzHttp(url: string, { requests, seed, atOnce }: FuzzOptions): Promise<FuzzOutcome> {
  const routes = allRoutes()
  const statuses = new Map<number, number>()
  const complaints: string[] = []
  let sent = 0
  const send = async (): Promise<void> => {
    while (sent < requests && complaints.length < 100) {
      sent += 1
      const own = seed + sent
      const request = evilRequest(routes, seededRandom(own))
      const answer = await exchange(url, request)
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (isMeant(status, answer, request)) continue
      complaints.push(`seed ${own}: ${answer.slice(0, 300)} for ${request.bytes.toString('latin1', 0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, send))
  return { sent, statuses, complaints }
}

function isMeant(status: number, answer: string, { isWhole }: EvilRequest): boolean {
  if (status === 0) return !isWhole
  if (status < 500 || status === 501 || status === 505) return true
  return status === 503 ? /\r\nRetry-After: /i.test(answer) : status === 500 && DOCUMENTED.test(answer)
}

/**
 * Reads everything until the connection ends for a complete request, and only what arrives soon for
 * an incomplete one.
 */
function exchange(url: string, { bytes, isWhole }: EvilRequest): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    const timer = setTimeout(() => socket.destroy(), isWhole ? DUE_MS : NOT_DUE_MS)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      if (received.length < 4096) received += text
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(received)
    })
    socket.write(bytes)
  })
}
