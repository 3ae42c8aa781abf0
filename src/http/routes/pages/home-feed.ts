import { setTimeout } from 'node:timers/promises'

import { toAppError } from '../../../errors/app-error.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { SharedHome } from '../../pages/home-page.js'
import { LimitedStreams } from '../../pipeline/limited-streams.js'

/** Maximum number of open home pages that update themselves. */
const MAX_OPEN = 200
const INTERVAL_MS = 5000
/** The session of a viewer is checked once in this many intervals. */
const INTERVALS_PER_CHECK = 5
/** Then the viewer must reload the page, so that an open page does not extend a session forever. */
const MAX_INTERVALS = 360

/** What a stream needs for its viewer. */
export interface HomeViewer {
  /** Renders the part of the page that changes. */
  readonly render: () => Promise<string>
  /** Raises `unauthenticated` or `forbidden` when the session has ended. */
  readonly authenticate: () => Promise<void>
}

/** Streams of changes to open home pages. All share one look at the store in each interval. */
export class HomeFeed {
  readonly #streams = new LimitedStreams(MAX_OPEN, 'open home pages that update themselves')
  readonly #stopping = new AbortController()
  readonly #intervalMs: number
  #shared: Promise<SharedHome> | undefined
  #sharedAt = -Infinity

  constructor(intervalMs = INTERVAL_MS) {
    this.#intervalMs = intervalMs
  }

  /** Returns the part of the page that all viewers share, at most half an interval old. */
  shared(collect: () => Promise<SharedHome>): Promise<SharedHome> {
    const now = performance.now()
    if (this.#shared !== undefined && now - this.#sharedAt < this.#intervalMs / 2) return this.#shared
    const shared = collect()
    this.#shared = shared
    this.#sharedAt = now
    shared.catch(() => {
      if (this.#shared === shared) this.#shared = undefined
    })
    return shared
  }

  /** Responds with a stream of changes. Raises `unavailable` if too many are open. */
  async open(exchange: Exchange, viewer: HomeViewer): Promise<Response> {
    const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }
    if (exchange.method === 'HEAD') return new Response(null, { headers })
    const body = await this.#streams.start(this.#events(viewer), (raw) => exchange.breakOff(toAppError(raw)))
    return new Response(body, { headers })
  }

  /** Ends all streams, so that they do not hold up the end of the service. */
  close(): void {
    this.#stopping.abort()
  }

  async *#events({ render, authenticate }: HomeViewer): AsyncGenerator<Uint8Array, void> {
    let last = await render()
    yield toBytes(': open\n\n')
    for (let interval = 1; interval <= MAX_INTERVALS; interval++) {
      // Pages that were opened together are rendered at different times.
      if (!(await this.#wait(interval === 1 ? Math.random() : 1))) return
      if (interval % INTERVALS_PER_CHECK === 0 && !(await isSignedIn(authenticate))) break
      const page = await render()
      // A comment shows whether the client is still there.
      yield toBytes(page === last ? ': unchanged\n\n' : event('page', page))
      last = page
    }
    yield toBytes(event('end', ''))
  }

  /** Waits for this share of an interval. Returns false if the service stops. */
  async #wait(share: number): Promise<boolean> {
    const { signal } = this.#stopping
    await setTimeout(this.#intervalMs * share, undefined, { signal, ref: false }).catch(() => undefined)
    return !signal.aborted
  }
}

async function isSignedIn(authenticate: () => Promise<void>): Promise<boolean> {
  try {
    await authenticate()
    return true
  } catch (raw) {
    const { kind } = toAppError(raw)
    if (kind === 'unauthenticated' || kind === 'forbidden') return false
    throw raw
  }
}

/** Formats an event (HTML Living Standard, 9.2.6). */
function event(name: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `event: ${name}\n${lines.join('')}\n`
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
