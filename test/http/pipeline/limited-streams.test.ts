import { describe, expect, it } from 'vitest'

import { LimitedStreams } from '../../../src/http/pipeline/limited-streams.js'

async function* chunks(count: number): AsyncGenerator<Uint8Array, void> {
  for (let n = 0; n < count; n += 1) yield await Promise.resolve(new Uint8Array(10))
}

async function* failing(error: Error): AsyncGenerator<Uint8Array, void> {
  yield await Promise.reject(error)
}

const failed = (): void => undefined

describe('streams that are limited in number', () => {
  it('are refused beyond it, and taken again when one has ended or its reader has gone', async () => {
    const streams = new LimitedStreams(2, 'exports')
    const whole = await streams.start(chunks(3), failed)
    const left = await streams.start(chunks(3), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow(
      '2 exports are already running; retry later',
    )
    expect((await new Response(whole).arrayBuffer()).byteLength).toBe(30)
    const third = await streams.start(chunks(1), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow('running already')
    await left.cancel()
    await third.cancel()
    await streams.start(chunks(1), failed)
    await streams.start(chunks(1), failed)
    await expect(streams.start(chunks(1), failed)).rejects.toThrow('running already')
  })

  it('raise what happens before anything of them is there, and make room again', async () => {
    const streams = new LimitedStreams(1, 'exports')
    const away = new Error('the database is away')
    await expect(streams.start(failing(away), failed)).rejects.toBe(away)
    const whole = await streams.start(chunks(2), failed)
    expect((await new Response(whole).arrayBuffer()).byteLength).toBe(20)
  })

  it('are empty where there is nothing', async () => {
    const none = await new LimitedStreams(1, 'exports').start(chunks(0), failed)
    expect((await new Response(none).arrayBuffer()).byteLength).toBe(0)
  })
})
