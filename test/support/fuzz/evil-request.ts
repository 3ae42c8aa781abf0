import { gzipSync } from 'node:zlib'

import { mutate } from '../random-bytes.js'
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
