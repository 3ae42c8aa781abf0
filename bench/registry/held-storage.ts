import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A storage service that keeps a reconciliation waiting until it may begin. */
export interface HeldStorage {
  readonly origin: string
  /** Lets one reconciliation begin: the one that waits, else the next one. */
  readonly release: () => void
  readonly close: () => void
}

interface Lists {
  readonly applications: Buffer
  readonly pipelines: Buffer
}

/** Serves both lists; each reconciliation begins with the applications, and is held there. */
export async function serveHeld({ applications, pipelines }: Lists): Promise<HeldStorage> {
  const waiting: (() => void)[] = []
  let released = 0
  const letGo = (): void => {
    while (released > 0 && waiting.length > 0) {
      released -= 1
      waiting.shift()?.()
    }
  }
  const server = createServer(({ url }, response) => {
    if (url?.startsWith('/v2/applications') === true) {
      waiting.push(() => answer(response, applications))
      letGo()
    } else answer(response, pipelines)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: () => {
      released += 1
      letGo()
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(response: ServerResponse, list: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(list.length) })
  response.end(list)
}
