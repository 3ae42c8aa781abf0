import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { ROOT } from '../support/run-tidegate.js'
import { untilQuiet } from '../support/until-quiet.js'
import { waitUntil } from '../support/wait-until.js'

const MIB = 1024 * 1024
const LINE = Buffer.from(`${'x'.repeat(MIB - 1)}\n`)
const END = Buffer.from('{"end":{"records":256}}\n')
/** Exceeds the socket and pipe buffers between two processes. */
const ALL_LINES = 256
const FEW_LINES = 64

/** A service with a long trail, which it sends at the pace of its reader. */
let service: Server
let linesSent: number
let hasEnd: boolean
let answer: ServerResponse | undefined

beforeEach(async () => {
  linesSent = 0
  hasEnd = true
  service = createServer((_, response) => {
    answer = response
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    Readable.from(lines(), { objectMode: false }).pipe(response)
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
})

afterEach(() => {
  service.closeAllConnections()
  service.close()
})

function* lines(): Generator<Buffer> {
  while (linesSent < ALL_LINES) {
    linesSent += 1
    yield LINE
  }
  if (hasEnd) yield END
}

type Exporting = ChildProcessByStdio<null, Readable, Readable>

/** Starts `tidegate audit export` without reading its output yet. */
function startExport(): { readonly child: Exporting; readonly complaint: () => string } {
  const { port } = service.address() as AddressInfo
  const child = spawn(
    process.execPath,
    [join(ROOT, 'dist/cli.js'), 'audit', 'export', '--url', `http://127.0.0.1:${port}`],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const chunks: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { child, complaint: () => Buffer.concat(chunks).toString() }
}

async function exitCodeOf(child: Exporting): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

async function stalled(): Promise<number> {
  await waitUntil(
    () => (linesSent > 0 ? true : undefined),
    () => 'nothing is exported',
  )
  return await untilQuiet(() => linesSent)
}

describe('tidegate audit export', () => {
  it('takes no more than its reader does, and gives all of it in the end', async () => {
    const { child, complaint } = startExport()
    expect(await stalled()).toBeLessThan(FEW_LINES)
    let bytes = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) bytes += chunk.length
    expect(bytes).toBe(ALL_LINES * LINE.length + END.length)
    expect([await exitCodeOf(child), complaint()]).toEqual([0, ''])
  })

  it('ends quietly, and early, when its reader goes away', async () => {
    const { child, complaint } = startExport()
    await once(child.stdout, 'readable')
    child.stdout.destroy()
    expect([await exitCodeOf(child), complaint()]).toEqual([0, ''])
    expect(linesSent).toBeLessThan(FEW_LINES)
  })

  it('says that what came is not all when its last line does not say how many records there are', async () => {
    hasEnd = false
    const { child, complaint } = startExport()
    child.stdout.resume()
    expect(await exitCodeOf(child)).toBe(2)
    expect(complaint()).toMatch(/^tidegate: The export from \S+ is incomplete: its last line[^\n]*\n$/)
  })

  it('says that what came is not all when the service breaks off', async () => {
    const { child, complaint } = startExport()
    await stalled()
    answer?.destroy()
    child.stdout.resume()
    expect(await exitCodeOf(child)).toBe(2)
    expect(complaint()).toMatch(
      /^tidegate: The response of the service at http:\/\/127\.0\.0\.1:\d+ is incomplete: the connection was closed.\n$/,
    )
  })
})
