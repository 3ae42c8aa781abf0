import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import type { RunningBenchServer } from '../servers.js'

/** After so long all are answered that will be. */
const ANSWERED_MS = 3000
/** Three times as long as a connection may stand still; node looks a second time before it ends one. */
const LONGEST_STALL_MS = 180_000
const POLL_MS = 500

/** What exports cost that nobody reads. */
export interface UnreadExports {
  readonly asked: number
  readonly running: number
  readonly refused: number
  /** Until the last refusal, in milliseconds. */
  readonly refusedMs: number
  /** Until another export was served, since those that nobody reads had been ended; undefined when it was not within three minutes. */
  readonly servedAgainSeconds: number | undefined
  readonly beforeMb: number
  readonly peakMb: number
  readonly afterMb: number
}

/** Asks for this many exports with bodies at once, reads the first bytes of each and nothing more, until another one is served. */
export async function leaveUnread(
  url: string,
  service: RunningBenchServer,
  asked: number,
): Promise<UnreadExports> {
  const beforeMb = service.residentMb()
  service.resetPeak()
  const startedAt = performance.now()
  const readers = Array.from({ length: asked }, () => new UnreadExport(url))
  await sleep(ANSWERED_MS)
  const refused = readers.filter(({ status }) => status === 503)
  const running = readers.filter(({ status }) => status === 200).length
  const isServed = await untilServed(url)
  const servedAgainSeconds = isServed ? (performance.now() - startedAt) / 1000 : undefined
  const peakMb = service.peakMb()
  for (const reader of readers) reader.leave()
  await service.idle()
  return {
    asked,
    running,
    refused: refused.length,
    refusedMs: Math.max(0, ...refused.map(({ answeredAt }) => answeredAt - startedAt)),
    servedAgainSeconds,
    beforeMb,
    peakMb,
    afterMb: service.residentMb(),
  }
}

async function untilServed(url: string): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < LONGEST_STALL_MS; waitedMs += POLL_MS) {
    const reader = new UnreadExport(url)
    await sleep(POLL_MS)
    reader.leave()
    if (reader.status === 200) return true
  }
  return false
}

/** An export whose reader stops after the first bytes, unless it is refused. */
class UnreadExport {
  readonly #socket: Socket
  /** 0 before the answer. */
  status = 0
  answeredAt = 0

  constructor(url: string) {
    const { hostname, port, host } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('error', () => undefined)
    this.#socket.once('data', (piece: Buffer) => {
      this.status = Number(piece.toString('latin1', 9, 12))
      this.answeredAt = performance.now()
      this.#socket.pause()
    })
    this.#socket.write(`GET /audit/export?bodies=true HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  }

  leave(): void {
    this.#socket.destroy()
  }
}
