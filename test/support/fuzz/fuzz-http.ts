import { connect } from 'node:net'

import { seededRandom } from '../random-bytes.js'
import { evilRequest } from './evil-request.js'
import type { EvilRequest } from './evil-request.js'
import { allRoutes } from './routes.js'

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  readonly atOnce: number
}

export interface FuzzOutcome {
  readonly sent: number
  /** How many answers had each status; 0 for none where none was due. */
  readonly statuses: ReadonlyMap<number, number>
  /** What must not be, with the request that brought it about. */
  readonly complaints: readonly string[]
}

const NOT_DUE_MS = 150
const DUE_MS = 30_000
/** Answers of 500 that say why nothing was decided (docs/reference/api.md, "Errors"). */
const DOCUMENTED =
  /"code":\s?"(?:undefined_policy|evaluation_budget_exceeded)"|eval_(?:conflict|builtin)_error|rego_type_error|plugins are not up/

/** Sends malformed requests over all routes to a service on loopback, so many at a time, each on a connection of its own. */
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

/** All that comes for a whole request, until the connection ends; of another what comes soon. */
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
