import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** What is asked, over how many connections, and how often by all of them. */
export interface ProbeRequest {
  readonly url: string
  readonly connections: number
  readonly perSecond: number
}

/** What one request brought. */
export interface ProbeAnswer {
  /** Its connection. */
  readonly place: number
  readonly answer: string
  readonly tookMs: number
}

async function probe(place: number, { url, connections, perSecond }: ProbeRequest): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const pauseMs = (1000 * connections) / perSecond
  await sleep((pauseMs * place) / connections)
  for (;;) {
    const begun = performance.now()
    const answer = await ask(agent, url)
    const tookMs = performance.now() - begun
    const told: ProbeAnswer = { place, answer, tookMs }
    parentPort?.postMessage(told)
    await sleep(Math.max(0, pauseMs - tookMs))
  }
}

function ask(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end('{"input":{}}')
  })
}

const asked = workerData as ProbeRequest
await Promise.all(Array.from({ length: asked.connections }, (_, place) => probe(place, asked)))
