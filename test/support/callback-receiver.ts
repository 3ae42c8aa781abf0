import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A callback as it arrived. */
export interface ReceivedCallback {
  readonly path: string
  readonly webhookId: string
  readonly headers: IncomingHttpHeaders
  /** The raw message and its parsed content. */
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A receiver that accepts all callbacks by default. */
export interface CallbackReceiver {
  readonly url: string
  readonly received: readonly ReceivedCallback[]
  /** Makes further callbacks wait without an answer, or answers them again. */
  readonly keepWaiting: (isWaiting: boolean) => void
  readonly close: () => Promise<void>
}

/** Listens on loopback for callbacks. */
export async function startReceiver(): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = []
  let isKeptWaiting = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const body = JSON.parse(text) as Record<string, unknown>
      const { headers, url: path = '' } = request
      received.push({ path, webhookId: String(headers['webhook-id']), headers, text, body })
      if (!isKeptWaiting) response.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    keepWaiting: (isWaiting) => {
      isKeptWaiting = isWaiting
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
