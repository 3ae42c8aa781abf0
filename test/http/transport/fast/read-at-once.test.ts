import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

import { afterEach, describe, expect, it } from 'vitest'

import { endReadingAtOnce, readAtOnce } from '../../../../src/http/transport/fast/read-at-once.js'
import { waitUntil } from '../../../support/wait-until.js'

let server: Server | undefined
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server?.close()
})

/** A socket that a server took, and the one that sends to it. */
async function pair(): Promise<{ readonly taken: Socket; readonly sender: Socket }> {
  const listening = createServer()
  server = listening
  const connected = new Promise<Socket>((resolve) => listening.once('connection', resolve))
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const sender = connect((listening.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  const taken = await connected
  sockets.push(taken, sender)
  return { taken, sender }
}

async function until(seen: () => boolean): Promise<void> {
  await waitUntil(
    () => seen() || undefined,
    () => 'it did not come',
  )
}

describe('a socket that is read at once', () => {
  it('gives what comes, past the stream, and what came while it was paused, in order and once', async () => {
    const { taken, sender } = await pair()
    const chunks: string[] = []
    let emitted = 0
    readAtOnce(taken, (chunk) => chunks.push(chunk.toString()))
    taken.on('data', () => (emitted += 1))
    sender.write('one ')
    await until(() => chunks.length === 1)
    expect(emitted).toBe(0)
    taken.pause()
    sender.write('two ')
    await until(() => taken.readableLength > 0)
    expect(chunks).toEqual(['one '])
    sender.write('three ')
    await until(() => taken.readableLength > 'two '.length)
    taken.resume()
    sender.write('four')
    await until(() => chunks.join('').length >= 'one two three four'.length)
    expect(chunks.join('')).toBe('one two three four')
  })

  it('tells its end', async () => {
    const { taken, sender } = await pair()
    const chunks: string[] = []
    readAtOnce(taken, (chunk) => chunks.push(chunk.toString()))
    sender.end('last')
    await new Promise((resolve) => taken.once('end', resolve))
    expect(chunks).toEqual(['last'])
  })

  it('is read as others are once somebody else has it', async () => {
    const { taken, sender } = await pair()
    const [own, others]: [string[], string[]] = [[], []]
    const take = (chunk: Buffer): void => {
      own.push(chunk.toString())
      endReadingAtOnce(taken, take)
      taken.pause()
      taken.unshift(chunk)
      taken.on('data', (next: Buffer) => others.push(next.toString()))
      taken.resume()
    }
    readAtOnce(taken, take)
    sender.write('one ')
    await until(() => others.length === 1)
    sender.write('two')
    await until(() => others.length === 2)
    expect([own, others]).toEqual([['one '], ['one ', 'two']])
  })
})
